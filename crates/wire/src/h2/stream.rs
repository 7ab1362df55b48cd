//! One stream: a request and its response.

use std::sync::Arc;

use super::error::StreamError;
use super::frame::FRAME_HEAD_BYTES;
use super::head::Facts;
use super::hpack::FieldList;
use super::sink::{Ended, Outcome, Sink};
use super::window::{ReceiveWindow, SendWindow};
use crate::body::Expect;

/// The most interim responses before a final one.
const MAX_INTERIM: u32 = 100;

/// One request and its response.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) key: usize,
    pub(crate) expect: Expect,
    /// The status of the final head; 0 until it arrives.
    pub(crate) status: u16,
    /// The announced length of the body, if there is one, in bytes.
    pub(crate) content_length: Option<u64>,
    pub(crate) head_len: u64,
    pub(crate) body_len: u64,
    pub(crate) interim: u32,
    pub(crate) receive_window: ReceiveWindow,
    pub(crate) send_window: SendWindow,
    /// The part of the request's body that is still to be sent.
    pub(crate) unsent: Option<Unsent>,
}

/// A body that waits for the windows.
#[derive(Debug)]
pub(crate) struct Unsent {
    pub(crate) body: Arc<[u8]>,
    pub(crate) sent: usize,
}

impl Stream {
    /// Handles a header block: an interim or final head, or trailers.
    #[inline]
    pub(crate) fn take_block<S: Sink>(
        &mut self,
        fields: &FieldList,
        facts: &Facts,
        ends_stream: bool,
        sink: &mut S,
    ) -> Result<(), StreamError> {
        if self.status > 0 {
            if !ends_stream {
                return Err(StreamError::Trailers);
            }
            facts.trailers()?;
            self.show(fields, sink);
            return Ok(());
        }
        let head = facts.head()?;
        if head.status == 101 {
            // Status 101 is forbidden (RFC 9113, section 8.6).
            return Err(StreamError::SwitchingProtocols);
        }
        if head.is_interim() {
            self.interim += 1;
            let is_good = !ends_stream && self.interim <= MAX_INTERIM;
            return is_good.then_some(()).ok_or(StreamError::Interim);
        }
        self.status = head.status;
        self.content_length = head.content_length.filter(|_| !self.is_bodiless());
        sink.head(self.key, head.status);
        self.show(fields, sink);
        Ok(())
    }

    #[inline]
    fn show<S: Sink>(&self, fields: &FieldList, sink: &mut S) {
        if S::NEEDS_FIELDS {
            for (name, value) in fields.iter().filter(|(name, _)| !name.starts_with(b":")) {
                sink.field(self.key, name, value);
            }
        }
    }

    /// Handles the head of a DATA frame of this length. Returns the increment by which the window
    /// should be opened, if it should.
    #[inline]
    pub(crate) fn begin_data(&mut self, length: u32) -> Result<Option<u32>, StreamError> {
        self.head_len += FRAME_HEAD_BYTES as u64;
        if self.status == 0 {
            return Err(StreamError::DataBeforeHead);
        }
        if !self.receive_window.take(length) {
            return Err(StreamError::WindowExceeded);
        }
        Ok(self.receive_window.update())
    }

    /// Reports bytes of the body to the sink, up to the body's announced length.
    #[inline]
    pub(crate) fn show_body<S: Sink>(&self, part: &[u8], sink: &mut S) {
        if S::NEEDS_BODY {
            let shown = self.room().min(part.len() as u64) as usize;
            if shown > 0 {
                sink.body(self.key, &part[..shown]);
            }
        }
    }

    /// Returns the number of further bytes that the body may have.
    #[inline]
    fn room(&self) -> u64 {
        if self.is_bodiless() {
            return 0;
        }
        self.content_length
            .map_or(u64::MAX, |length| length - self.body_len)
    }

    /// Counts bytes of the body.
    #[inline]
    pub(crate) fn count_data(&mut self, bytes: u64) -> Result<(), StreamError> {
        let room = self.room();
        self.body_len += bytes.min(room);
        if bytes <= room {
            return Ok(());
        }
        Err(self
            .content_length
            .map_or(StreamError::Body, StreamError::TooLong))
    }

    /// Checks that the response may end here.
    #[inline]
    pub(crate) fn check_length(&self) -> Result<(), StreamError> {
        match self.content_length {
            Some(expected) if expected != self.body_len => Err(StreamError::Length {
                expected,
                received: self.body_len,
            }),
            _ if self.status == 0 => Err(StreamError::Status),
            _ => Ok(()),
        }
    }

    /// True if the response has no body, whatever its head announces.
    fn is_bodiless(&self) -> bool {
        self.expect == Expect::Head || matches!(self.status, 204 | 304)
    }

    pub(crate) fn ended(&self, outcome: Outcome) -> Ended {
        Ended {
            outcome,
            status: self.status,
            is_sent: self.unsent.is_none(),
            head_len: self.head_len,
            body_len: self.body_len,
            interim: self.interim,
        }
    }
}
