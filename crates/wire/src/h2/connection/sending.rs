//! Writes requests to the output: header blocks at once, bodies as the windows open.

use std::sync::Arc;

use super::Connection;
use crate::h2::frame::{self, FrameHead, FrameKind, flags};
use crate::h2::hpack::NO_TABLE;
use crate::h2::request::Request;
use crate::h2::stream::{Stream, Unsent};
use crate::h2::window::{MAX_WINDOW, ReceiveWindow, SendWindow};

/// The size of the output, in bytes, from which on bodies wait until some of it is sent.
const MUCH: usize = 256 * 1024;

/// Bytes to be sent to the socket.
#[derive(Debug, Default)]
pub(super) struct Output {
    bytes: Vec<u8>,
    sent: usize,
}

impl Output {
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    /// Returns the buffer to which further bytes are appended.
    #[inline]
    pub(super) fn end(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    #[inline]
    pub(super) fn sent(&mut self, n: usize) {
        self.sent += n;
        debug_assert!(
            self.sent <= self.bytes.len(),
            "more was sent than there was"
        );
        if self.sent == self.bytes.len() {
            self.bytes.clear();
            self.sent = 0;
        } else if self.sent > MUCH {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
    }

    fn is_full(&self) -> bool {
        self.bytes.len() - self.sent >= MUCH
    }
}

impl Connection {
    #[inline]
    pub(super) fn send_request(&mut self, request: &Request, key: usize) -> u32 {
        let number = self.next_stream;
        self.next_stream += 2;
        self.idle_frames = 0;
        self.send_block(number, request);
        let stream_window = self.config.stream_window.min(MAX_WINDOW);
        let mut stream = Stream {
            key,
            expect: request.expect,
            status: 0,
            content_length: None,
            head_len: 0,
            body_len: 0,
            interim: 0,
            receive_window: ReceiveWindow::new(stream_window, stream_window),
            send_window: SendWindow::new(self.peer.initial_window),
            unsent: None,
        };
        if !request.body.is_empty() {
            self.begin_body(number, &mut stream, &request.body);
        }
        self.streams.insert(number, stream);
        number
    }

    #[inline]
    fn send_block(&mut self, number: u32, request: &Request) {
        let (is_bodiless, max_payload) = (request.body.is_empty(), self.peer.max_payload);
        let out = self.output.end();
        if number == 1 {
            let block = [&[NO_TABLE], &request.block[..]].concat();
            frame::write_block(number, is_bodiless, max_payload, &block, out);
        } else {
            frame::write_block(number, is_bodiless, max_payload, &request.block, out);
        }
    }

    fn begin_body(&mut self, number: u32, stream: &mut Stream, body: &Arc<[u8]>) {
        let sent = self.send_data(number, &mut stream.send_window, body, 0);
        if sent < body.len() {
            let body = Arc::clone(body);
            stream.unsent = Some(Unsent { body, sent });
            self.waiting.push_back(number);
        }
    }

    /// Continues with the bodies that wait, as far as windows and output allow.
    pub(super) fn send_waiting(&mut self) {
        for _ in 0..self.waiting.len() {
            if self.output.is_full() || self.send_window.left() == 0 {
                return;
            }
            let Some(number) = self.waiting.pop_front() else {
                return;
            };
            if self.send_more(number) {
                self.waiting.push_back(number);
            }
        }
    }

    /// Appends more of a stream's body. Returns true if the body still has to wait.
    fn send_more(&mut self, number: u32) -> bool {
        let Some(stream) = self.streams.get_mut(number) else {
            return false;
        };
        let Some(unsent) = stream.unsent.take() else {
            return false;
        };
        let mut window = stream.send_window;
        let sent = self.send_data(number, &mut window, &unsent.body, unsent.sent);
        let is_waiting = sent < unsent.body.len();
        if let Some(stream) = self.streams.get_mut(number) {
            stream.send_window = window;
            stream.unsent = is_waiting.then_some(Unsent { sent, ..unsent });
        }
        is_waiting
    }

    /// Appends as much of `body` as may be sent, starting at `sent`. Returns how much of it has
    /// then been sent in all.
    fn send_data(
        &mut self,
        number: u32,
        window: &mut SendWindow,
        body: &[u8],
        mut sent: usize,
    ) -> usize {
        while sent < body.len() && !self.output.is_full() {
            let most = window.left().min(self.send_window.left());
            let most = most.min(self.peer.max_payload as usize);
            let part = &body[sent..body.len().min(sent + most)];
            if part.is_empty() {
                break;
            }
            sent += part.len();
            window.take(part.len());
            self.send_window.take(part.len());
            self.idle_frames = 0;
            let head = FrameHead {
                length: part.len() as u32,
                kind: FrameKind::DATA,
                flags: if sent == body.len() {
                    flags::END_STREAM
                } else {
                    0
                },
                stream: number,
            };
            head.write(self.output.end());
            self.output.end().extend_from_slice(part);
        }
        sent
    }
}
