//! Splits bytes into frames. A frame that is complete in the input is read in place. If a frame
//! arrives in pieces, DATA is passed on piece by piece, and any other frame is gathered first.

use super::{Connection, MAX_IDLE_FRAMES};
use crate::excerpt::Excerpt;
use crate::h2::error::ConnectionError;
use crate::h2::frame::{FRAME_HEAD_BYTES, FrameHead, FrameKind, MAX_PAYLOAD, flags};
use crate::h2::sink::Sink;
use std::mem;

/// The meaning of the next bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reading {
    /// The head of a frame, or its remainder.
    Head,
    /// The remainder of this frame's payload.
    Payload(FrameHead),
    /// The length of the padding, and then the remainder of a DATA frame, of this length.
    PaddingLength(Data),
    /// The remainder of a DATA frame.
    Data(Data),
}

/// The remainder of a DATA frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    pub(super) stream: u32,
    /// Bytes of the body that are left; the padding follows them.
    pub(super) left: u32,
    pub(super) padding: u32,
    pub(super) ends_stream: bool,
}

impl Reading {
    #[inline]
    pub(super) fn discardable(&self) -> u64 {
        match self {
            Self::Data(data) => u64::from(data.left) + u64::from(data.padding),
            Self::Head | Self::Payload(_) | Self::PaddingLength(_) => 0,
        }
    }
}

impl Connection {
    /// Makes one step on input that isn't empty. Returns the number of bytes used, never 0.
    #[inline]
    pub(super) fn read<S: Sink>(
        &mut self,
        input: &[u8],
        sink: &mut S,
    ) -> Result<usize, ConnectionError> {
        match self.reading {
            Reading::Head => self.read_head(input, sink),
            Reading::Payload(head) => self.gather_payload(head, input, sink),
            Reading::PaddingLength(data) => self.read_padding_length(data, input[0], sink),
            Reading::Data(data) => Ok(self.read_data(data, input, sink)),
        }
    }

    #[inline]
    fn read_head<S: Sink>(&mut self, input: &[u8], sink: &mut S) -> Result<usize, ConnectionError> {
        let Some((bytes, rest)) = input.split_first_chunk() else {
            return self.gather_head(input, sink);
        };
        if !self.gathered.is_empty() {
            return self.gather_head(input, sink);
        }
        let head = self.parse_head(bytes)?;
        let length = head.length as usize;
        match rest.get(..length) {
            Some(payload) if head.kind != FrameKind::DATA => {
                self.take_frame(head, payload, sink)?;
            }
            Some(payload) if !head.has(flags::PADDED) => self.take_data(head, payload, sink)?,
            _ => {
                self.begin_payload(head, sink)?;
                return Ok(FRAME_HEAD_BYTES);
            }
        }
        Ok(FRAME_HEAD_BYTES + length)
    }

    #[cold]
    fn gather_head<S: Sink>(
        &mut self,
        input: &[u8],
        sink: &mut S,
    ) -> Result<usize, ConnectionError> {
        let used = input.len().min(FRAME_HEAD_BYTES - self.gathered.len());
        self.gathered.extend_from_slice(&input[..used]);
        if let Some(&bytes) = self.gathered.first_chunk() {
            self.gathered.clear();
            let head = self.parse_head(&bytes)?;
            self.begin_payload(head, sink)?;
        }
        Ok(used)
    }

    #[inline]
    fn begin_payload<S: Sink>(
        &mut self,
        head: FrameHead,
        sink: &mut S,
    ) -> Result<(), ConnectionError> {
        if head.kind == FrameKind::DATA {
            let data = self.begin_data(head, sink)?;
            if head.has(flags::PADDED) {
                self.reading = Reading::PaddingLength(data);
            } else {
                self.go_on_with(data, sink);
            }
            return Ok(());
        }
        if head.length == 0 {
            return self.take_frame(head, &[], sink);
        }
        self.reading = Reading::Payload(head);
        Ok(())
    }

    #[cold]
    fn gather_payload<S: Sink>(
        &mut self,
        head: FrameHead,
        input: &[u8],
        sink: &mut S,
    ) -> Result<usize, ConnectionError> {
        let length = head.length as usize;
        let used = input.len().min(length - self.gathered.len());
        self.gathered.extend_from_slice(&input[..used]);
        if self.gathered.len() == length {
            self.reading = Reading::Head;
            let mut payload = mem::take(&mut self.gathered);
            self.take_frame(head, &payload, sink)?;
            payload.clear();
            self.gathered = payload;
        }
        Ok(used)
    }

    fn read_padding_length<S: Sink>(
        &mut self,
        mut data: Data,
        padding: u8,
        sink: &mut S,
    ) -> Result<usize, ConnectionError> {
        data.padding = padding.into();
        let body = data.left.checked_sub(1 + data.padding);
        data.left = body.ok_or(ConnectionError::Padding)?;
        self.go_on_with(data, sink);
        Ok(1)
    }

    #[inline]
    fn read_data<S: Sink>(&mut self, data: Data, input: &[u8], sink: &mut S) -> usize {
        let used = input.len().min(data.left as usize);
        if used == 0 {
            let padding = input.len().min(data.padding as usize);
            self.drop_data(padding as u64, sink);
            return padding;
        }
        if S::NEEDS_BODY
            && let Some(stream) = self.streams.get(data.stream)
        {
            stream.show_body(&input[..used], sink);
        }
        self.drop_data(used as u64, sink);
        used
    }

    /// Counts `n` bytes of DATA that were shown or dropped.
    #[inline]
    pub(super) fn drop_data<S: Sink>(&mut self, n: u64, sink: &mut S) {
        let Reading::Data(mut data) = self.reading else {
            debug_assert!(n == 0, "what was dropped was no DATA");
            return;
        };
        let body = n.min(data.left.into()) as u32;
        data.left -= body;
        data.padding -= (n - u64::from(body)).min(data.padding.into()) as u32;
        self.count_data(data.stream, body, sink);
        self.go_on_with(data, sink);
    }

    /// Continues with the remainder of a DATA frame, or ends the frame if nothing is left.
    #[inline]
    fn go_on_with<S: Sink>(&mut self, data: Data, sink: &mut S) {
        if data.left > 0 || data.padding > 0 {
            self.reading = Reading::Data(data);
            return;
        }
        self.reading = Reading::Head;
        if data.ends_stream {
            self.end_response(data.stream, sink);
        }
    }

    /// Reads the head of a frame, and refuses heads that are wrong whatever the payload.
    #[inline]
    fn parse_head(&mut self, bytes: &[u8; FRAME_HEAD_BYTES]) -> Result<FrameHead, ConnectionError> {
        let head = FrameHead::parse(bytes);
        let FrameHead { length, kind, .. } = head;
        let is_ack = head.has(flags::ACK);
        if !self.is_ready && (kind != FrameKind::SETTINGS || head.stream != 0 || is_ack) {
            return Err(ConnectionError::NotHttp2(Excerpt::of(bytes)));
        }
        if length > MAX_PAYLOAD {
            return Err(ConnectionError::FrameSize { kind, length });
        }
        let continued = self.continued.map(|block| block.stream);
        if (kind == FrameKind::CONTINUATION) != continued.is_some()
            || continued.is_some_and(|stream| stream != head.stream)
        {
            return Err(ConnectionError::Interrupted(kind));
        }
        self.idle_frames += 1;
        if self.idle_frames > MAX_IDLE_FRAMES {
            return Err(ConnectionError::Flood);
        }
        Ok(head)
    }
}
