//! The handling of each kind of frame.

use super::reading::Data;
use super::{Connection, Continued, GoAway};
use crate::MAX_HEAD_BYTES;
use crate::h2::error::{ConnectionError, ErrorCode, StreamError};
use crate::h2::frame::{self, FRAME_HEAD_BYTES, FrameHead, FrameKind, flags};
use crate::h2::head::Facts;
use crate::h2::settings;
use crate::h2::sink::{Outcome, Sink};
use std::mem;

impl Connection {
    /// Handles a whole frame of any kind but DATA.
    #[inline]
    pub(super) fn take_frame<S: Sink>(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        sink: &mut S,
    ) -> Result<(), ConnectionError> {
        match head.kind {
            FrameKind::HEADERS => self.take_headers(head, payload, sink),
            FrameKind::CONTINUATION => self.take_continuation(head, payload, sink),
            FrameKind::RST_STREAM => self.take_reset(head, payload, sink),
            FrameKind::SETTINGS => self.take_settings(head, payload),
            FrameKind::PUSH_PROMISE => Err(ConnectionError::Push),
            FrameKind::PING => self.take_ping(head, payload),
            FrameKind::GOAWAY => self.take_go_away(head, payload, sink),
            FrameKind::WINDOW_UPDATE => self.take_window_update(head, payload, sink),
            FrameKind::PRIORITY if head.stream == 0 => Err(wrong_stream(head)),
            FrameKind::PRIORITY if payload.len() != 5 => Err(wrong_size(head)),
            _ => Ok(()),
        }
    }

    fn take_headers<S: Sink>(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        sink: &mut S,
    ) -> Result<(), ConnectionError> {
        self.check_begun(head)?;
        let payload = frame::without_padding(head.has(flags::PADDED), payload)
            .ok_or(ConnectionError::Padding)?;
        let priority = if head.has(flags::PRIORITY) { 5 } else { 0 };
        let fragment = payload.get(priority..).ok_or_else(|| wrong_size(head))?;
        let block = Continued {
            stream: head.stream,
            ends_stream: head.has(flags::END_STREAM),
            len: frame_len(head),
        };
        if head.has(flags::END_HEADERS) {
            return self.take_block(block, fragment, sink);
        }
        self.block.clear();
        self.block.extend_from_slice(fragment);
        self.continued = Some(block);
        Ok(())
    }

    #[cold]
    fn take_continuation<S: Sink>(
        &mut self,
        head: FrameHead,
        fragment: &[u8],
        sink: &mut S,
    ) -> Result<(), ConnectionError> {
        let Some(block) = &mut self.continued else {
            return Err(ConnectionError::Interrupted(head.kind));
        };
        block.len += frame_len(head);
        let block = *block;
        self.block.extend_from_slice(fragment);
        if self.block.len() > MAX_HEAD_BYTES {
            return Err(ConnectionError::BlockTooLong);
        }
        if head.has(flags::END_HEADERS) {
            self.continued = None;
            let bytes = mem::take(&mut self.block);
            self.take_block(block, &bytes, sink)?;
            self.block = bytes;
        }
        Ok(())
    }

    /// Handles a whole header block: an interim or final head, or trailers. The block is decoded in
    /// any case, to keep the header table in step with the server's.
    #[inline]
    fn take_block<S: Sink>(
        &mut self,
        block: Continued,
        bytes: &[u8],
        sink: &mut S,
    ) -> Result<(), ConnectionError> {
        let number = block.stream;
        let (fields, facts) = self.blocks.read(bytes, Facts::of)?;
        let Some(stream) = self.streams.get_mut(number) else {
            return self.check_reset(FrameKind::HEADERS, number);
        };
        self.idle_frames = 0;
        stream.head_len += block.len;
        match stream.take_block(fields, facts, block.ends_stream, sink) {
            Ok(()) if block.ends_stream => self.end_response(number, sink),
            Ok(()) => (),
            Err(error) => self.refuse(number, error, sink),
        }
        Ok(())
    }

    /// Handles a DATA frame that is complete in the input and has no padding.
    #[inline]
    pub(super) fn take_data<S: Sink>(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        sink: &mut S,
    ) -> Result<(), ConnectionError> {
        self.take_window(head)?;
        let number = head.stream;
        let Some(stream) = self.streams.get_mut(number) else {
            return self.check_reset(head.kind, number);
        };
        let ends_stream = head.has(flags::END_STREAM);
        let taken = stream.begin_data(head.length).and_then(|increment| {
            if let Some(increment) = increment.filter(|_| !ends_stream) {
                frame::write_window_update(number, increment, self.output.end());
            }
            stream.show_body(payload, sink);
            stream.count_data(payload.len() as u64)
        });
        if !payload.is_empty() {
            self.idle_frames = 0;
        }
        match taken {
            Err(error) => self.refuse(number, error, sink),
            Ok(()) if ends_stream => self.end_response(number, sink),
            Ok(()) => (),
        }
        Ok(())
    }

    /// Handles the head of a DATA frame whose payload follows in parts.
    #[inline]
    pub(super) fn begin_data<S: Sink>(
        &mut self,
        head: FrameHead,
        sink: &mut S,
    ) -> Result<Data, ConnectionError> {
        if head.has(flags::PADDED) && head.length == 0 {
            self.check_begun(head)?;
            return Err(ConnectionError::Padding);
        }
        self.take_window(head)?;
        let number = head.stream;
        let ends_stream = head.has(flags::END_STREAM);
        match self.streams.get_mut(number) {
            None => self.check_reset(head.kind, number)?,
            Some(stream) => match stream.begin_data(head.length) {
                Err(error) => self.refuse(number, error, sink),
                Ok(Some(increment)) if !ends_stream => {
                    frame::write_window_update(number, increment, self.output.end());
                }
                Ok(_) => (),
            },
        }
        Ok(Data {
            stream: number,
            left: head.length,
            padding: 0,
            ends_stream,
        })
    }

    /// Subtracts the length of a DATA frame, including its padding, from the connection's window.
    #[inline]
    fn take_window(&mut self, head: FrameHead) -> Result<(), ConnectionError> {
        self.check_begun(head)?;
        if !self.receive_window.take(head.length) {
            return Err(ConnectionError::WindowExceeded);
        }
        self.open_receive_window();
        Ok(())
    }

    /// Counts bytes of a body.
    #[inline]
    pub(super) fn count_data<S: Sink>(&mut self, number: u32, bytes: u32, sink: &mut S) {
        if bytes > 0
            && let Some(stream) = self.streams.get_mut(number)
        {
            self.idle_frames = 0;
            if let Err(error) = stream.count_data(bytes.into()) {
                self.refuse(number, error, sink);
            }
        }
    }

    /// Ends a stream whose response the server has completed.
    #[inline]
    pub(super) fn end_response<S: Sink>(&mut self, number: u32, sink: &mut S) {
        let Some(stream) = self.streams.get(number) else {
            return;
        };
        if let Err(error) = stream.check_length() {
            return self.refuse(number, error, sink);
        }
        if stream.unsent.is_some() {
            // The server has responded without reading the rest of the request.
            self.write_reset(number, ErrorCode::CANCEL);
        }
        self.end(number, Outcome::Whole, sink);
    }

    /// Resets a stream whose response can't be read.
    #[cold]
    fn refuse<S: Sink>(&mut self, number: u32, error: StreamError, sink: &mut S) {
        self.write_reset(number, error.code());
        self.end(number, Outcome::Malformed(error), sink);
    }

    #[inline]
    fn end<S: Sink>(&mut self, number: u32, outcome: Outcome, sink: &mut S) {
        if let Some(stream) = self.streams.get(number) {
            let (key, ended) = (stream.key, stream.ended(outcome));
            self.streams.remove(number);
            self.idle_frames = 0;
            sink.end(key, ended);
        }
    }

    fn take_reset<S: Sink>(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        sink: &mut S,
    ) -> Result<(), ConnectionError> {
        self.check_begun(head)?;
        let code = u32_payload(head, payload)?;
        self.end(head.stream, Outcome::Reset(ErrorCode(code)), sink);
        Ok(())
    }

    fn take_settings(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), ConnectionError> {
        if head.stream != 0 {
            return Err(wrong_stream(head));
        }
        if head.has(flags::ACK) {
            return if payload.is_empty() {
                Ok(())
            } else {
                Err(wrong_size(head))
            };
        }
        let before = self.peer.initial_window;
        self.peer.update(payload)?;
        self.is_ready = true;
        settings::write_ack(self.output.end());
        self.shift_send_windows(before)
    }

    /// Shifts the send windows of all open streams to a new initial window (RFC 9113, section
    /// 6.9.2).
    fn shift_send_windows(&mut self, before: u32) -> Result<(), ConnectionError> {
        let value = self.peer.initial_window;
        let by = i64::from(value) - i64::from(before);
        if by == 0 {
            return Ok(());
        }
        if !self
            .streams
            .iter_mut()
            .all(|stream| stream.send_window.shift(by))
        {
            return Err(ConnectionError::Setting { id: 4, value });
        }
        self.send_waiting();
        Ok(())
    }

    fn take_ping(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), ConnectionError> {
        if head.stream != 0 {
            return Err(wrong_stream(head));
        }
        if payload.len() != 8 {
            return Err(wrong_size(head));
        }
        if !head.has(flags::ACK) {
            frame::write(FrameKind::PING, flags::ACK, 0, payload, self.output.end());
        }
        Ok(())
    }

    fn take_go_away<S: Sink>(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        sink: &mut S,
    ) -> Result<(), ConnectionError> {
        if head.stream != 0 {
            return Err(wrong_stream(head));
        }
        let code = payload.get(4..).and_then(frame::u32_of);
        let (Some(last_stream), Some(code)) = (frame::u32_of(payload), code) else {
            return Err(wrong_size(head));
        };
        let last_stream = last_stream & 0x7fff_ffff;
        let code = ErrorCode(code);
        if self
            .going_away
            .is_some_and(|before| before.last_stream < last_stream)
        {
            return Err(ConnectionError::GoAwayRaised);
        }
        self.going_away = Some(GoAway { last_stream, code });
        self.end_streams_after(last_stream, &Outcome::GoneAway(code), sink);
        Ok(())
    }

    fn take_window_update<S: Sink>(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        sink: &mut S,
    ) -> Result<(), ConnectionError> {
        let increment = u32_payload(head, payload)? & 0x7fff_ffff;
        let is_zero = increment == 0;
        if head.stream == 0 {
            if is_zero || !self.send_window.shift(increment.into()) {
                return Err(ConnectionError::WindowUpdate { is_zero });
            }
        } else {
            self.check_begun(head)?;
            if let Some(stream) = self.streams.get_mut(head.stream)
                && (is_zero || !stream.send_window.shift(increment.into()))
            {
                self.refuse(head.stream, StreamError::WindowUpdate { is_zero }, sink);
            }
        }
        self.send_waiting();
        Ok(())
    }

    /// Refuses a frame for a stream that the client never began.
    #[inline]
    fn check_begun(&self, head: FrameHead) -> Result<(), ConnectionError> {
        let is_ours = head.stream % 2 == 1 && head.stream < self.next_stream;
        if is_ours {
            Ok(())
        } else {
            Err(wrong_stream(head))
        }
    }

    /// Refuses a frame for a stream that has ended, unless the client ended it and the server may
    /// not have known.
    #[cold]
    fn check_reset(&self, kind: FrameKind, stream: u32) -> Result<(), ConnectionError> {
        if stream <= self.latest_reset {
            return Ok(());
        }
        Err(ConnectionError::ClosedStream { kind, stream })
    }
}

fn frame_len(head: FrameHead) -> u64 {
    FRAME_HEAD_BYTES as u64 + u64::from(head.length)
}

/// Reads the payload of a frame that consists of one number.
fn u32_payload(head: FrameHead, payload: &[u8]) -> Result<u32, ConnectionError> {
    let number = frame::u32_of(payload).filter(|_| payload.len() == 4);
    number.ok_or_else(|| wrong_size(head))
}

fn wrong_stream(head: FrameHead) -> ConnectionError {
    ConnectionError::WrongStream {
        kind: head.kind,
        stream: head.stream,
    }
}

fn wrong_size(head: FrameHead) -> ConnectionError {
    ConnectionError::FrameSize {
        kind: head.kind,
        length: head.length,
    }
}
