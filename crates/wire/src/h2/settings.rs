//! Settings of the client and of the server (RFC 9113, section 6.5).

use super::error::ConnectionError;
use super::frame::{self, FrameKind, MAX_PAYLOAD, flags};
use super::hpack::DEFAULT_TABLE_SIZE;
use super::window::{DEFAULT_WINDOW, MAX_WINDOW};
use crate::MAX_HEAD_BYTES;

/// The highest number of a stream (RFC 9113, section 5.1.1).
const MAX_STREAM: u32 = (1 << 31) - 1;

/// The bytes that a client sends before all else (RFC 9113, section 3.4).
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

mod id {
    pub(super) const HEADER_TABLE_SIZE: u16 = 1;
    pub(super) const ENABLE_PUSH: u16 = 2;
    pub(super) const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub(super) const INITIAL_WINDOW_SIZE: u16 = 4;
    pub(super) const MAX_FRAME_SIZE: u16 = 5;
    pub(super) const MAX_HEADER_LIST_SIZE: u16 = 6;
}

/// The limits of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The receive window of each stream, in bytes of DATA; at most 2^31 − 1.
    pub stream_window: u32,
    /// The receive window of the connection, in bytes of DATA; at most 2^31 − 1. A connection
    /// begins with 65,535, so a smaller window takes effect only after that.
    pub connection_window: u32,
    /// The size, in bytes, of the table with which the server compresses its header fields.
    pub table_size: u32,
    /// The highest stream number; at most 2^31 − 1.
    pub last_stream: u32,
}

impl Default for Config {
    /// Windows of 1 GiB, which are opened again when half is used, so that no server waits for
    /// them; and a header table of the usual size, so that servers send the same as to browsers.
    fn default() -> Self {
        Self {
            stream_window: 1 << 30,
            connection_window: 1 << 30,
            table_size: DEFAULT_TABLE_SIZE as u32,
            last_stream: MAX_STREAM,
        }
    }
}

impl Config {
    /// Appends the preface and the settings with which a client begins a connection.
    pub(crate) fn write_preface(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(PREFACE);
        let settings = [
            (id::HEADER_TABLE_SIZE, self.table_size),
            (id::ENABLE_PUSH, 0),
            (id::INITIAL_WINDOW_SIZE, self.stream_window.min(MAX_WINDOW)),
            (id::MAX_HEADER_LIST_SIZE, MAX_HEAD_BYTES as u32),
        ];
        let payload = settings.map(|(id, value)| {
            let ([a, b], [c, d, e, f]) = (id.to_be_bytes(), value.to_be_bytes());
            [a, b, c, d, e, f]
        });
        frame::write(FrameKind::SETTINGS, 0, 0, payload.as_flattened(), out);
    }
}

/// Appends the acknowledgement of the server's settings.
pub(crate) fn write_ack(out: &mut Vec<u8>) {
    frame::write(FrameKind::SETTINGS, flags::ACK, 0, &[], out);
}

/// The server's settings that affect sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PeerSettings {
    /// The most streams that may be open at the same time.
    pub(crate) max_streams: u32,
    /// The send window of a new stream, in bytes.
    pub(crate) initial_window: u32,
    /// The largest payload that may be sent, in bytes.
    pub(crate) max_payload: u32,
}

impl Default for PeerSettings {
    /// The values that apply before the server's settings arrive.
    fn default() -> Self {
        Self {
            max_streams: u32::MAX,
            initial_window: DEFAULT_WINDOW,
            max_payload: MAX_PAYLOAD,
        }
    }
}

impl PeerSettings {
    /// Applies the payload of a SETTINGS frame, in its order. Unknown settings, and settings that
    /// restrict things which the client never does, are ignored.
    pub(crate) fn update(&mut self, payload: &[u8]) -> Result<(), ConnectionError> {
        let (settings, rest) = payload.as_chunks::<6>();
        if !rest.is_empty() {
            let (kind, length) = (FrameKind::SETTINGS, payload.len() as u32);
            return Err(ConnectionError::FrameSize { kind, length });
        }
        for &[a, b, c, d, e, f] in settings {
            let (id, value) = (u16::from_be_bytes([a, b]), u32::from_be_bytes([c, d, e, f]));
            if !self.set(id, value) {
                return Err(ConnectionError::Setting { id, value });
            }
        }
        Ok(())
    }

    /// Applies one setting. Returns false if its value is invalid.
    fn set(&mut self, id: u16, value: u32) -> bool {
        match id {
            id::ENABLE_PUSH => return value == 0,
            id::MAX_CONCURRENT_STREAMS => self.max_streams = value,
            id::INITIAL_WINDOW_SIZE if value > MAX_WINDOW => return false,
            id::INITIAL_WINDOW_SIZE => self.initial_window = value,
            id::MAX_FRAME_SIZE if !(MAX_PAYLOAD..1 << 24).contains(&value) => return false,
            id::MAX_FRAME_SIZE => self.max_payload = value,
            _ => (),
        }
        true
    }
}
