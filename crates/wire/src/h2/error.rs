//! Errors of a connection or of one stream, and their codes (RFC 9113, sections 5.4 and 7).

use std::fmt;

use thiserror::Error;

use super::frame::FrameKind;
use super::hpack::InvalidBlock;
use crate::excerpt::Excerpt;

/// The code of the reason why a stream was reset or a connection ended. Any number may arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ErrorCode(pub u32);

/// The names of the codes, by their numbers.
const NAMES: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

impl ErrorCode {
    /// No error.
    pub const NO_ERROR: Self = Self(0);
    /// The peer broke the protocol.
    pub const PROTOCOL_ERROR: Self = Self(1);
    /// The sender of the code is at fault.
    pub const INTERNAL_ERROR: Self = Self(2);
    /// The peer sent more than the window allows, or opened it too far.
    pub const FLOW_CONTROL_ERROR: Self = Self(3);
    /// A frame arrived for a stream that has ended.
    pub const STREAM_CLOSED: Self = Self(5);
    /// A frame has an invalid length.
    pub const FRAME_SIZE_ERROR: Self = Self(6);
    /// The request was not processed: it may be sent again.
    pub const REFUSED_STREAM: Self = Self(7);
    /// The rest of the stream is not needed.
    pub const CANCEL: Self = Self(8);
    /// A header block can't be decoded.
    pub const COMPRESSION_ERROR: Self = Self(9);
    /// The peer does something too often.
    pub const ENHANCE_YOUR_CALM: Self = Self(11);

    /// Returns the code's name in RFC 9113, section 7; `None` for an unknown number.
    pub fn name(self) -> Option<&'static str> {
        NAMES.get(usize::try_from(self.0).ok()?).copied()
    }

    /// Returns all codes that have a name.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..NAMES.len() as u32).map(Self)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "error code {:#x}", self.0),
        }
    }
}

/// A violation of the protocol by the server, after which the whole connection is unusable.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConnectionError {
    /// A header block can't be decoded.
    #[error("a header block can't be decoded: it has {0}")]
    Block(#[from] InvalidBlock),
    /// A header block, including its continuations, is longer than 256 KiB.
    #[error("a header block is longer than 256 KiB")]
    BlockTooLong,
    /// A frame arrived for a stream that has ended.
    #[error("a {kind} frame came for stream {stream}, which had ended")]
    ClosedStream {
        /// The frame's kind.
        kind: FrameKind,
        /// The frame's stream.
        stream: u32,
    },
    /// Too many frames in a row that carry no response, or that require one of the client.
    #[error("the server floods the connection with frames that carry no response")]
    Flood,
    /// A frame has an invalid length.
    #[error("a {kind} frame has {length} bytes, which it may not have")]
    FrameSize {
        /// The frame's kind.
        kind: FrameKind,
        /// The length of the frame's payload, in bytes.
        length: u32,
    },
    /// A second GOAWAY with a higher last stream than the first one.
    #[error("a GOAWAY frame names a later stream than the one before it")]
    GoAwayRaised,
    /// A header block is interrupted, or continued where there is no block.
    #[error("a {0} frame came where it would break or continue a header block")]
    Interrupted(FrameKind),
    /// The received bytes are not HTTP/2.
    #[error("the server doesn't speak HTTP/2: it began with {0}")]
    NotHttp2(Excerpt),
    /// A frame has more padding than payload.
    #[error("a frame has more padding than it is long")]
    Padding,
    /// The server pushed a response, which the client's settings forbid.
    #[error("the server pushes a response, which the settings forbid")]
    Push,
    /// A setting has an invalid value.
    #[error("setting {id:#x} has the value {value}, which it may not have")]
    Setting {
        /// The setting's number (RFC 9113, section 6.5.2).
        id: u16,
        /// The setting's value.
        value: u32,
    },
    /// More data arrived than the connection's window allows.
    #[error("more data came than the connection's flow-control window allows")]
    WindowExceeded,
    /// The server opened the connection's window by nothing, or to 2^31 bytes and more.
    #[error("the connection's flow-control window was opened by nothing or too far")]
    WindowUpdate {
        /// True if the increment was zero.
        is_zero: bool,
    },
    /// A frame arrived for a stream that it can't belong to.
    #[error("a {kind} frame came for stream {stream}, which it can't be for")]
    WrongStream {
        /// The frame's kind.
        kind: FrameKind,
        /// The frame's stream.
        stream: u32,
    },
}

impl ConnectionError {
    /// Returns the code that is sent to the server.
    pub fn code(&self) -> ErrorCode {
        const INITIAL_WINDOW_SIZE: u16 = 4;
        match self {
            Self::Block(InvalidBlock::TooLong) | Self::BlockTooLong | Self::Flood => {
                ErrorCode::ENHANCE_YOUR_CALM
            }
            Self::Block(_) => ErrorCode::COMPRESSION_ERROR,
            Self::ClosedStream { .. } => ErrorCode::STREAM_CLOSED,
            Self::FrameSize { .. } => ErrorCode::FRAME_SIZE_ERROR,
            Self::WindowExceeded
            | Self::WindowUpdate { is_zero: false }
            | Self::Setting {
                id: INITIAL_WINDOW_SIZE,
                ..
            } => ErrorCode::FLOW_CONTROL_ERROR,
            Self::GoAwayRaised
            | Self::Interrupted(_)
            | Self::NotHttp2(_)
            | Self::Padding
            | Self::Push
            | Self::Setting { .. }
            | Self::WindowUpdate { .. }
            | Self::WrongStream { .. } => ErrorCode::PROTOCOL_ERROR,
        }
    }
}

/// A violation of the protocol in one response. Its stream is reset; the connection goes on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StreamError {
    /// A body in a response that may have none: to HEAD, or with status 204 or 304.
    #[error("a body came where the response may have none")]
    Body,
    /// A field that describes a connection of HTTP/1.1.
    #[error("the response has the header {0}, which HTTP/2 forbids")]
    ConnectionField(Excerpt),
    /// A `Content-Length` isn't a decimal number below 2^63, or differs from another one.
    #[error("Content-Length isn't a length, or is given twice: {0}")]
    ContentLength(Excerpt),
    /// DATA arrived before the response's head.
    #[error("data came before the response's head")]
    DataBeforeHead,
    /// A field's name with a capital letter or another byte that no name may have.
    #[error("a header name has a byte that HTTP/2 forbids: {0}")]
    FieldName(Excerpt),
    /// A field's value with a line end or a zero byte.
    #[error("the value of header {0} has a line end or a zero byte")]
    FieldValue(Excerpt),
    /// An interim response that ends the stream, or too many of them.
    #[error("an interim response ends the stream, or too many of them came")]
    Interim,
    /// A body that is shorter than its `Content-Length`.
    #[error("Content-Length says {expected}, and the body has {received} bytes")]
    Length {
        /// The value of `Content-Length`.
        expected: u64,
        /// The length of the body, in bytes.
        received: u64,
    },
    /// A pseudo-header field that responses don't have, or in the wrong place.
    #[error("a pseudo-header field came where none may be: {0}")]
    PseudoField(Excerpt),
    /// An interim response with status 101, which changes the protocol; HTTP/2 forbids it.
    #[error("status 101 (Switching Protocols) came, which HTTP/2 forbids")]
    SwitchingProtocols,
    /// A missing, repeated or malformed status.
    #[error("the response has no status of three digits")]
    Status,
    /// A second header block that does not end the stream.
    #[error("the trailers don't end the response")]
    Trailers,
    /// More data arrived than the stream's window allows.
    #[error("more data came than the stream's flow-control window allows")]
    WindowExceeded,
    /// A body that is longer than its `Content-Length`, which is this.
    #[error("Content-Length says {0}, and the body has more bytes")]
    TooLong(u64),
    /// The server opened the stream's window by nothing, or to 2^31 bytes and more.
    #[error("the stream's flow-control window was opened by nothing or too far")]
    WindowUpdate {
        /// True if the increment was zero.
        is_zero: bool,
    },
}

impl StreamError {
    /// Returns the code that is sent to the server.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::WindowExceeded | Self::WindowUpdate { is_zero: false } => {
                ErrorCode::FLOW_CONTROL_ERROR
            }
            Self::Body
            | Self::ConnectionField(_)
            | Self::ContentLength(_)
            | Self::DataBeforeHead
            | Self::FieldName(_)
            | Self::FieldValue(_)
            | Self::Interim
            | Self::Length { .. }
            | Self::PseudoField(_)
            | Self::SwitchingProtocols
            | Self::Status
            | Self::Trailers
            | Self::TooLong(_)
            | Self::WindowUpdate { .. } => ErrorCode::PROTOCOL_ERROR,
        }
    }
}
