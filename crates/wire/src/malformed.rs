//! Reasons why a response could not be read.

use thiserror::Error;

use crate::excerpt::Excerpt;

/// A reason why a response could not be read. Its connection can't be used again.
///
/// The length of an excerpt depends on how many bytes had arrived when the fault was found.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// A chunk's data isn't followed by a line end.
    #[error("the data of a chunk is followed by {0} instead of a line end")]
    ChunkEnd(Excerpt),
    /// A chunk's size isn't a hexadecimal number.
    #[error("a hexadecimal chunk size was expected at {0}")]
    ChunkSize(Excerpt),
    /// A chunk's size is 2^63 or more.
    #[error("a chunk size is too large, at {0}")]
    ChunkSizeTooLarge(Excerpt),
    /// A `Content-Length` isn't a decimal number below 2^63.
    #[error("Content-Length is not a length: {0}")]
    ContentLength(Excerpt),
    /// Several lengths that differ.
    #[error("Content-Length is given twice, as {0} and as {1}")]
    ContentLengths(u64, u64),
    /// The head doesn't end within [`MAX_HEAD_BYTES`](crate::MAX_HEAD_BYTES).
    #[error("the head is longer than 256 KiB")]
    HeadTooLong,
    /// The connection ended before the first byte of the response.
    #[error("the connection ended before a response began")]
    NoAnswer,
    /// The response doesn't begin with `HTTP/1.`.
    #[error("the response is not HTTP/1: it begins with {0}")]
    NotHttp(Excerpt),
    /// The status line has no version or no three-digit status.
    #[error("the status line is malformed: {0}")]
    StatusLine(Excerpt),
    /// The trailers don't end within [`MAX_HEAD_BYTES`](crate::MAX_HEAD_BYTES).
    #[error("the trailers are longer than 256 KiB")]
    TrailersTooLong,
    /// The connection ended within the response.
    #[error("the connection ended before the response was complete")]
    Truncated,
}
