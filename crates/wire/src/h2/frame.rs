//! Frames (RFC 9113, sections 4.1 and 6): a head of nine bytes, and a payload.

use std::fmt;

use super::error::ErrorCode;

/// The length of a frame's head, in bytes.
pub(crate) const FRAME_HEAD_BYTES: usize = 9;

/// The largest payload, in bytes, that both sides accept by default, and that the client accepts.
pub(crate) const MAX_PAYLOAD: u32 = 16_384;

/// The kind of a frame. Unknown kinds must be ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameKind(pub u8);

impl FrameKind {
    pub(crate) const DATA: Self = Self(0);
    pub(crate) const HEADERS: Self = Self(1);
    pub(crate) const PRIORITY: Self = Self(2);
    pub(crate) const RST_STREAM: Self = Self(3);
    pub(crate) const SETTINGS: Self = Self(4);
    pub(crate) const PUSH_PROMISE: Self = Self(5);
    pub(crate) const PING: Self = Self(6);
    pub(crate) const GOAWAY: Self = Self(7);
    pub(crate) const WINDOW_UPDATE: Self = Self(8);
    pub(crate) const CONTINUATION: Self = Self(9);
}

impl fmt::Display for FrameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 10] = [
            "DATA",
            "HEADERS",
            "PRIORITY",
            "RST_STREAM",
            "SETTINGS",
            "PUSH_PROMISE",
            "PING",
            "GOAWAY",
            "WINDOW_UPDATE",
            "CONTINUATION",
        ];
        f.write_str(NAMES.get(usize::from(self.0)).unwrap_or(&"unknown"))
    }
}

/// Flags; each has a meaning for some kinds of frames only.
pub(crate) mod flags {
    pub(crate) const ACK: u8 = 0x1;
    pub(crate) const END_STREAM: u8 = 0x1;
    pub(crate) const END_HEADERS: u8 = 0x4;
    pub(crate) const PADDED: u8 = 0x8;
    pub(crate) const PRIORITY: u8 = 0x20;
}

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameHead {
    /// The length of the payload, in bytes.
    pub(crate) length: u32,
    pub(crate) kind: FrameKind,
    pub(crate) flags: u8,
    /// The stream's number; 0 for the connection.
    pub(crate) stream: u32,
}

impl FrameHead {
    /// Reads a frame's head; its reserved bit is ignored.
    #[inline]
    pub(crate) fn parse(bytes: &[u8; FRAME_HEAD_BYTES]) -> Self {
        let [a, b, c, kind, flags, stream @ ..] = *bytes;
        Self {
            length: u32::from_be_bytes([0, a, b, c]),
            kind: FrameKind(kind),
            flags,
            stream: u32::from_be_bytes(stream) & 0x7fff_ffff,
        }
    }

    #[inline]
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let [_, a, b, c] = self.length.to_be_bytes();
        let [d, e, f, g] = self.stream.to_be_bytes();
        out.extend_from_slice(&[a, b, c, self.kind.0, self.flags, d, e, f, g]);
    }

    #[inline]
    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Appends a frame.
#[inline]
pub(crate) fn write(kind: FrameKind, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    let length = payload.len() as u32;
    FrameHead {
        length,
        kind,
        flags,
        stream,
    }
    .write(out);
    out.extend_from_slice(payload);
}

/// Appends a frame that resets a stream.
pub(crate) fn write_reset(stream: u32, code: ErrorCode, out: &mut Vec<u8>) {
    write(FrameKind::RST_STREAM, 0, stream, &code.0.to_be_bytes(), out);
}

/// Appends a frame that opens the window of a stream, or of the connection (0).
pub(crate) fn write_window_update(stream: u32, increment: u32, out: &mut Vec<u8>) {
    let payload = increment.to_be_bytes();
    write(FrameKind::WINDOW_UPDATE, 0, stream, &payload, out);
}

/// Appends a frame that ends the connection. Its last stream is 0, because the server began no
/// stream.
pub(crate) fn write_go_away(code: ErrorCode, out: &mut Vec<u8>) {
    let [a, b, c, d] = code.0.to_be_bytes();
    write(FrameKind::GOAWAY, 0, 0, &[0, 0, 0, 0, a, b, c, d], out);
}

/// Appends a header block: HEADERS, and CONTINUATION if the block is longer than `max_payload`.
/// `end_stream` is true if no body follows.
pub(crate) fn write_block(
    stream: u32,
    end_stream: bool,
    max_payload: u32,
    block: &[u8],
    out: &mut Vec<u8>,
) {
    let mut kind = FrameKind::HEADERS;
    let mut flags = if end_stream { flags::END_STREAM } else { 0 };
    let mut rest = block;
    while rest.len() > max_payload as usize {
        let (part, more) = rest.split_at(max_payload as usize);
        write(kind, flags, stream, part, out);
        (kind, flags, rest) = (FrameKind::CONTINUATION, 0, more);
    }
    write(kind, flags | flags::END_HEADERS, stream, rest, out);
}

/// Returns the payload without its padding; `None` if there is more padding than payload.
pub(crate) fn without_padding(is_padded: bool, payload: &[u8]) -> Option<&[u8]> {
    if !is_padded {
        return Some(payload);
    }
    let (&padding, rest) = payload.split_first()?;
    rest.get(..rest.len().checked_sub(padding.into())?)
}

/// Returns the big-endian number in the first four bytes; `None` if there are fewer.
pub(crate) fn u32_of(payload: &[u8]) -> Option<u32> {
    payload
        .first_chunk()
        .map(|bytes| u32::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_block_goes_on_in_continuations() {
        let mut out = Vec::new();
        write_block(3, true, 4, b"123456789", &mut out);
        let expected = [
            &b"\0\0\x04\x01\x01\0\0\0\x031234"[..],
            b"\0\0\x04\x09\0\0\0\0\x035678",
            b"\0\0\x01\x09\x04\0\0\0\x039",
        ];
        assert_eq!(out, expected.concat());
    }

    #[test]
    fn padding_is_taken_off() {
        assert_eq!(without_padding(false, b"\x02abc"), Some(&b"\x02abc"[..]));
        assert_eq!(without_padding(true, b"\x02abc"), Some(&b"a"[..]));
        assert_eq!(without_padding(true, b"\x03abc"), Some(&b""[..]));
        assert_eq!(without_padding(true, b"\x04abc"), None);
        assert_eq!(without_padding(true, b""), None);
    }

    proptest! {
        #[test]
        fn what_was_written_is_read_back(
            length in 0_u32..1 << 24,
            kind in any::<u8>(),
            flags in any::<u8>(),
            stream in 0_u32..1 << 31,
        ) {
            let head = FrameHead { length, kind: FrameKind(kind), flags, stream };
            let mut out = Vec::new();
            head.write(&mut out);
            let mut bytes: [u8; FRAME_HEAD_BYTES] = out.try_into().unwrap();
            prop_assert_eq!(FrameHead::parse(&bytes), head);
            bytes[5] |= 0x80;
            prop_assert_eq!(FrameHead::parse(&bytes), head);
        }
    }
}
