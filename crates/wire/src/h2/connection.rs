//! A connection from the client's side: requests in, bytes out; bytes in, responses out.
//!
//! The caller owns the socket. It sends [`output`](Connection::output) and reports how much the
//! socket accepted; it feeds the bytes that it receives. Each stream has a key, which identifies it
//! to the [`Sink`]. In steady state nothing is allocated.

mod frames;
mod reading;
mod sending;

use std::collections::VecDeque;

use thiserror::Error;

use self::reading::Reading;
use self::sending::Output;
use super::error::{ConnectionError, ErrorCode};
use super::frame;
use super::head::Facts;
use super::hpack::BlockReader;
use super::request::Request;
use super::settings::{Config, PeerSettings};
use super::sink::{Outcome, Sink};
use super::streams::Streams;
use super::window::{DEFAULT_WINDOW, MAX_WINDOW, ReceiveWindow, SendWindow};
use crate::MAX_HEAD_BYTES;

/// The most useless frames in a row: frames that neither belong to a response nor open a window
/// that a request waits for.
const MAX_IDLE_FRAMES: u32 = 10_000;

/// A client's connection: see the module's documentation.
#[derive(Debug)]
pub struct Connection {
    config: Config,
    peer: PeerSettings,
    /// True once the server's settings have arrived.
    is_ready: bool,
    going_away: Option<GoAway>,
    streams: Streams,
    /// The number of the next stream.
    next_stream: u32,
    /// The last stream that was reset or abandoned: frames for it and earlier streams may still
    /// arrive.
    latest_reset: u32,
    blocks: BlockReader<Facts>,
    receive_window: ReceiveWindow,
    send_window: SendWindow,
    /// Streams whose bodies wait for a window, or for room in the output.
    waiting: VecDeque<u32>,
    reading: Reading,
    /// Bytes of a frame's head or payload that has not arrived completely.
    gathered: Vec<u8>,
    /// Bytes of a header block that is continued; `continued` describes the block.
    block: Vec<u8>,
    continued: Option<Continued>,
    /// Useless frames since the last useful one.
    idle_frames: u32,
    output: Output,
}

/// The server's announcement that it accepts no more requests on this connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoAway {
    /// The last stream that the server processed, or may process.
    pub last_stream: u32,
    /// The reason.
    pub code: ErrorCode,
}

/// A header block that is continued.
#[derive(Clone, Copy, Debug)]
struct Continued {
    stream: u32,
    ends_stream: bool,
    /// The length of the block's frames so far, in bytes.
    len: u64,
}

/// A reason why no stream can begin on a connection, for now or for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// The server's settings, which limit the number of open streams, have not arrived.
    #[error("the server's settings have not come")]
    NotReady,
    /// As many streams are open as the server's settings allow.
    #[error("as many streams are open as the server allows")]
    Full,
    /// The server accepts no more requests on this connection.
    #[error("the server takes no more requests on this connection")]
    GoingAway,
    /// All stream numbers have been used.
    #[error("all stream numbers of this connection have been used")]
    NumbersExhausted,
}

impl Connection {
    /// Creates a connection for a socket that has just been opened. The first output must be sent
    /// at once: the server responds to it with its settings.
    pub fn new(config: Config) -> Self {
        let connection_window = config.connection_window.min(MAX_WINDOW);
        let mut connection = Self {
            config,
            peer: PeerSettings::default(),
            is_ready: false,
            going_away: None,
            streams: Streams::default(),
            next_stream: 1,
            latest_reset: 0,
            blocks: BlockReader::new(config.table_size as usize, MAX_HEAD_BYTES),
            receive_window: ReceiveWindow::new(connection_window, DEFAULT_WINDOW),
            send_window: SendWindow::new(DEFAULT_WINDOW),
            waiting: VecDeque::new(),
            reading: Reading::Head,
            gathered: Vec::new(),
            block: Vec::new(),
            continued: None,
            idle_frames: 0,
            output: Output::default(),
        };
        config.write_preface(connection.output.end());
        connection.open_receive_window();
        connection
    }

    /// Returns the bytes to be sent. They remain until [`sent`](Self::sent) removes them.
    #[inline]
    pub fn output(&self) -> &[u8] {
        self.output.bytes()
    }

    /// Removes the first `n` bytes of the output, which have been sent. Bodies that waited for room
    /// are appended.
    #[inline]
    pub fn sent(&mut self, n: usize) {
        self.output.sent(n);
        if !self.waiting.is_empty() {
            self.send_waiting();
        }
    }

    /// Begins a stream, whose request is appended to the output as far as the windows allow.
    /// Returns the stream's number.
    ///
    /// # Errors
    /// If no stream can begin; the connection is then unchanged.
    #[inline]
    pub fn begin(&mut self, request: &Request, key: usize) -> Result<u32, Refused> {
        self.check_begin()?;
        Ok(self.send_request(request, key))
    }

    /// Returns the number of further streams that may begin: 0 before the server's settings have
    /// arrived, and once the connection accepts no more.
    #[inline]
    pub fn capacity(&self) -> usize {
        if !self.is_ready || self.takes_no_more() {
            return 0;
        }
        (self.peer.max_streams as usize).saturating_sub(self.streams.len())
    }

    fn check_begin(&self) -> Result<(), Refused> {
        if self.going_away.is_some() {
            Err(Refused::GoingAway)
        } else if !self.is_ready {
            Err(Refused::NotReady)
        } else if self.next_stream > self.config.last_stream {
            Err(Refused::NumbersExhausted)
        } else if self.streams.len() >= self.peer.max_streams as usize {
            Err(Refused::Full)
        } else {
            Ok(())
        }
    }

    /// True if no further stream will begin: the server sent GOAWAY, or all numbers were used.
    pub fn takes_no_more(&self) -> bool {
        self.going_away.is_some() || self.next_stream > self.config.last_stream
    }

    /// True once the server's settings have arrived.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Returns the number of open streams.
    #[inline]
    pub fn open_streams(&self) -> usize {
        self.streams.len()
    }

    /// Returns the server's GOAWAY, if one has arrived. Streams that it did not refuse go on.
    pub fn going_away(&self) -> Option<GoAway> {
        self.going_away
    }

    /// Reads all of `input`, and reports its contents to `sink`.
    ///
    /// # Errors
    /// If the server broke the protocol. A GOAWAY with the reason is then appended to the output;
    /// no more bytes may be fed, and open streams must be ended with [`abandon`](Self::abandon).
    #[inline]
    pub fn feed<S: Sink>(&mut self, input: &[u8], sink: &mut S) -> Result<(), ConnectionError> {
        let mut rest = input;
        while !rest.is_empty() {
            match self.read(rest, sink) {
                Ok(used) => rest = &rest[used..],
                Err(error) => {
                    frame::write_go_away(error.code(), self.output.end());
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Returns the number of bytes, from the next one on, that are DATA and may be dropped unread;
    /// 0 if the next bytes must be fed.
    #[inline]
    pub fn discardable(&self) -> u64 {
        self.reading.discardable()
    }

    /// Reports that the next `n` bytes, at most [`discardable`](Self::discardable), were dropped
    /// unread.
    #[inline]
    pub fn discarded<S: Sink>(&mut self, n: u64, sink: &mut S) {
        self.drop_data(n, sink);
    }

    /// Resets an open stream, which then ends without a call of the sink. Returns false if the
    /// stream was not open.
    pub fn reset(&mut self, stream: u32, code: ErrorCode) -> bool {
        let was_open = self.streams.remove(stream);
        if was_open {
            self.write_reset(stream, code);
        }
        was_open
    }

    /// Appends a GOAWAY, which announces that no more requests follow, as the last frame.
    pub fn close(&mut self) {
        frame::write_go_away(ErrorCode::NO_ERROR, self.output.end());
    }

    /// Ends all open streams, in the order of their numbers, because the connection has ended.
    pub fn abandon<S: Sink>(&mut self, sink: &mut S) {
        self.end_streams_after(0, &Outcome::ConnectionLost, sink);
    }

    /// Ends all streams above `last`, in the order of their numbers.
    fn end_streams_after<S: Sink>(&mut self, last: u32, outcome: &Outcome, sink: &mut S) {
        let above = self.streams.numbers().filter(|&number| number > last);
        let mut above: Vec<u32> = above.collect();
        above.sort_unstable();
        for number in above {
            if let Some(stream) = self.streams.get(number) {
                let (key, ended) = (stream.key, stream.ended(outcome.clone()));
                self.streams.remove(number);
                self.latest_reset = self.latest_reset.max(number);
                sink.end(key, ended);
            }
        }
    }

    fn write_reset(&mut self, stream: u32, code: ErrorCode) {
        self.latest_reset = self.latest_reset.max(stream);
        frame::write_reset(stream, code, self.output.end());
    }

    /// Opens the connection's receive window again, if enough of it has been used.
    #[inline]
    fn open_receive_window(&mut self) {
        if let Some(increment) = self.receive_window.update() {
            frame::write_window_update(0, increment, self.output.end());
        }
    }
}
