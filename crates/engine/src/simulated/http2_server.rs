//! HTTP/2 in the scripted server: it reads frames as far as necessary to find the end of a request,
//! and responds with frames that a test composes.

use super::server::{Reply, Seen, Server, Then};
use loadline_reactor::{SimSocket, Socket};
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::task::{Poll, Waker};

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
pub(crate) const END_STREAM: u8 = 1;
const ACK: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const PREFACE_BYTES: usize = 24;
const FRAME_HEAD_BYTES: usize = 9;

/// `:status: 200`, from the static table (RFC 7541, appendix A).
pub(crate) const STATUS_200: u8 = 0x88;

/// REFUSED_STREAM and INTERNAL_ERROR (RFC 9113, section 7).
pub(crate) const REFUSED: u32 = 7;
pub(crate) const INTERNAL: u32 = 2;

/// Returns a small response on the request's stream.
pub(crate) fn ok(seen: &Seen) -> Reply {
    let head = frame(HEADERS, END_HEADERS, seen.stream, &[STATUS_200]);
    let body = frame(DATA, END_STREAM, seen.stream, b"ok");
    Reply::raw([head, body].concat())
}

/// Returns a reset of the request's stream.
pub(crate) fn reset(seen: &Seen, code: u32) -> Reply {
    Reply::raw(frame(RST_STREAM, 0, seen.stream, &code.to_be_bytes()))
}

/// Returns a GOAWAY, which reports the streams above `last` as unprocessed.
pub(crate) fn go_away(last: u32, code: u32) -> Vec<u8> {
    let payload = [last.to_be_bytes(), code.to_be_bytes()].concat();
    frame(GOAWAY, 0, 0, &payload)
}

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = (payload.len() as u32).to_be_bytes();
    let head = [a, b, c, kind, flags];
    [&head[..], &stream.to_be_bytes(), payload].concat()
}

/// A connection of the server.
struct Line {
    socket: Weak<SimSocket>,
    closing: Cell<bool>,
    reader: RefCell<Option<Waker>>,
}

impl Server {
    /// Serves a connection: the requests on its streams are answered concurrently.
    pub(super) async fn serve_http2(
        self: Rc<Self>,
        socket: Rc<SimSocket>,
        door: usize,
        connection: usize,
    ) {
        let line = Rc::new(Line {
            socket: Rc::downgrade(&socket),
            closing: Cell::new(false),
            reader: RefCell::default(),
        });
        let mut settings = Vec::new();
        if let Some(most) = self.most_streams.get() {
            settings = [&3_u16.to_be_bytes()[..], &most.to_be_bytes()].concat();
        }
        line.send(&frame(SETTINGS, 0, 0, &settings));
        let (mut input, mut place) = (Vec::new(), 0);
        let mut skipped = PREFACE_BYTES;
        while let Some(at_ns) = self.receive(&line, &socket, &mut input).await {
            let preface = skipped.min(input.len());
            input.drain(..preface);
            skipped -= preface;
            while let Some((kind, flags, stream)) = take_frame(&mut input) {
                if kind == SETTINGS && flags & ACK == 0 {
                    line.send(&frame(SETTINGS, ACK, 0, &[]));
                }
                if matches!(kind, HEADERS | DATA) && flags & END_STREAM > 0 {
                    let seen = Seen {
                        at_ns: at_ns - self.begin_ns.get(),
                        number: self.count_seen(),
                        door,
                        connection,
                        place,
                        stream,
                        target: String::new(),
                        text: String::new(),
                    };
                    place += 1;
                    let reply = self.reply(seen);
                    let answer = Rc::clone(&self).answer_stream(Rc::clone(&line), reply);
                    self.keep(answer);
                }
            }
        }
        self.saw_end();
    }

    /// Reads more bytes; returns the time of their arrival, or `None` at the end.
    async fn receive(&self, line: &Line, socket: &SimSocket, input: &mut Vec<u8>) -> Option<u64> {
        let mut buffer = [0; 16_384];
        self.thaw().await;
        let received = poll_fn(|cx| {
            if line.closing.get() {
                return Poll::Ready(None);
            }
            line.reader.replace(Some(cx.waker().clone()));
            socket.poll_recv(cx, &mut buffer).map(Result::ok)
        });
        let received = received.await.filter(|received| received.bytes > 0)?;
        input.extend_from_slice(&buffer[..received.bytes]);
        received.at_ns
    }

    async fn answer_stream(self: Rc<Self>, line: Rc<Line>, reply: Reply) {
        self.thaw().await;
        self.pause(reply.after_ns).await;
        self.thaw().await;
        line.send(&reply.bytes);
        match reply.then {
            Then::Stay | Then::Sleep => {}
            Then::Close { after_ns } => {
                self.pause(after_ns).await;
                line.closing.set(true);
                line.reader.take().inspect(Waker::wake_by_ref);
            }
            Then::Reset { after_ns } => {
                self.pause(after_ns).await;
                line.socket.upgrade().inspect(|socket| socket.reset());
            }
        }
    }
}

impl Line {
    /// Sends bytes, which must fit into the simulated network.
    fn send(&self, bytes: &[u8]) {
        if let Some(socket) = self.socket.upgrade()
            && !bytes.is_empty()
        {
            let cx = &mut std::task::Context::from_waker(Waker::noop());
            let sent = socket.poll_send(cx, bytes);
            assert!(
                !matches!(sent, Poll::Ready(Ok(sent)) if sent < bytes.len()),
                "a window is too small for a frame of the scripted server"
            );
        }
    }
}

/// Removes the first frame, if it is complete; returns its kind, flags and stream.
pub(crate) fn take_frame(input: &mut Vec<u8>) -> Option<(u8, u8, u32)> {
    let head: [u8; FRAME_HEAD_BYTES] = *input.first_chunk()?;
    let [a, b, c, kind, flags, stream @ ..] = head;
    let end = FRAME_HEAD_BYTES + u32::from_be_bytes([0, a, b, c]) as usize;
    if input.len() < end {
        return None;
    }
    input.drain(..end);
    Some((kind, flags, u32::from_be_bytes(stream)))
}
