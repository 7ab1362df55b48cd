//! A connection from the client's side: requests in, bytes out; bytes in, responses out.
//!
//! The caller owns the socket. It sends [`output`](Connection::output) and says how much the
//! socket took; it feeds what came. Each stream has a key, by which the [`Sink`] is told of it.
//! In steady state nothing is allocated.

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

/// Frames without use that may come in a row: neither part of a response, nor room for a request
/// that is waited for.
const MAX_IDLE_FRAMES: u32 = 10_000;

/// A client's connection. See the module.
#[derive(Debug)]
pub struct Connection {
    config: Config,
    peer: PeerSettings,
    /// Whether the server's settings have come.
    is_ready: bool,
    going_away: Option<GoAway>,
    streams: Streams,
    /// The number of the next stream.
    next_stream: u32,
    /// The last stream that we reset or gave up: of it and those before, frames may still come.
    latest_reset: u32,
    blocks: BlockReader<Facts>,
    receive_window: ReceiveWindow,
    send_window: SendWindow,
    /// Streams whose bodies wait for a window, or for room in the output.
    waiting: VecDeque<u32>,
    reading: Reading,
    /// Bytes of a frame's head or payload that has not come whole.
    gathered: Vec<u8>,
    /// Bytes of a header block that is continued, and what it belongs to.
    block: Vec<u8>,
    continued: Option<Continued>,
    /// Frames without use since the last useful one.
    idle_frames: u32,
    output: Output,
}

/// That the server takes no more requests on this connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoAway {
    /// The last stream that it looked at, or may look at.
    pub last_stream: u32,
    /// Why.
    pub code: ErrorCode,
}

/// The header block that is continued.
#[derive(Clone, Copy, Debug)]
struct Continued {
    stream: u32,
    ends_stream: bool,
    /// Bytes of its frames so far.
    len: u64,
}

/// Why no stream can begin on a connection, for now or for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// The server's settings have not come, which say how many streams may be open.
    #[error("the server's settings have not come")]
    NotReady,
    /// As many streams are open as the server's settings allow.
    #[error("as many streams are open as the server allows")]
    Full,
    /// The server takes no more requests on this connection.
    #[error("the server takes no more requests on this connection")]
    GoingAway,
    /// All stream numbers have been used.
    #[error("all stream numbers of this connection have been used")]
    NumbersExhausted,
}

impl Connection {
    /// A connection that has just been opened. Its first output must be sent at once: the server's
    /// settings are the answer.
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

    /// Bytes to be sent. They stay until [`sent`](Self::sent) takes them off.
    #[inline]
    pub fn output(&self) -> &[u8] {
        self.output.bytes()
    }

    /// Says that the first `n` bytes of the output were sent. Bodies that waited for room follow.
    #[inline]
    pub fn sent(&mut self, n: usize) {
        self.output.sent(n);
        if !self.waiting.is_empty() {
            self.send_waiting();
        }
    }

    /// Begins a stream, whose request is appended to the output as far as the windows let it.
    /// Returns the stream's number.
    ///
    /// # Errors
    /// If no stream can begin; nothing has happened then.
    #[inline]
    pub fn begin(&mut self, request: &Request, key: usize) -> Result<u32, Refused> {
        self.check_begin()?;
        Ok(self.send_request(request, key))
    }

    /// How many more streams may begin: 0 before the server's settings have come, and when the
    /// connection takes none any more.
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

    /// Whether no stream will begin any more: the server goes away, or all numbers were used.
    pub fn takes_no_more(&self) -> bool {
        self.going_away.is_some() || self.next_stream > self.config.last_stream
    }

    /// Whether the server's settings have come.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// How many streams are open.
    #[inline]
    pub fn open_streams(&self) -> usize {
        self.streams.len()
    }

    /// What the server's GOAWAY said, if one came. Streams that it left open go on.
    pub fn going_away(&self) -> Option<GoAway> {
        self.going_away
    }

    /// Takes bytes, all of them, and tells `sink` what they say.
    ///
    /// # Errors
    /// If the server broke the protocol. The output then says so to the server; nothing more is to
    /// be fed, and open streams are to be given up with [`abandon`](Self::abandon).
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

    /// How many bytes, from the next one on, are DATA that may be dropped unseen; 0 where the
    /// next bytes must be fed.
    #[inline]
    pub fn discardable(&self) -> u64 {
        self.reading.discardable()
    }

    /// Says that the next `n` bytes, at most [`discardable`](Self::discardable), were dropped
    /// unseen.
    #[inline]
    pub fn discarded<S: Sink>(&mut self, n: u64, sink: &mut S) {
        self.drop_data(n, sink);
    }

    /// Resets an open stream, which then ends without a word to the sink. False if it was not
    /// open.
    pub fn reset(&mut self, stream: u32, code: ErrorCode) -> bool {
        let was_open = self.streams.remove(stream);
        if was_open {
            self.write_reset(stream, code);
        }
        was_open
    }

    /// Says to the server that no more requests come, as the last word.
    pub fn close(&mut self) {
        frame::write_go_away(ErrorCode::NO_ERROR, self.output.end());
    }

    /// Ends all open streams, in the order of their numbers, because the connection is over.
    pub fn abandon<S: Sink>(&mut self, sink: &mut S) {
        self.end_streams_after(0, &Outcome::ConnectionLost, sink);
    }

    /// Ends all streams above `last`, in their order.
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

    /// Opens the connection's window again, if it is time.
    #[inline]
    fn open_receive_window(&mut self) {
        if let Some(increment) = self.receive_window.update() {
            frame::write_window_update(0, increment, self.output.end());
        }
    }
}
