//! HTTP/1.1 on bytes: a request writer and a response parser that own no socket and read no clock.
//!
//! The wire is the hot path of every exchange, so it does as little as the response allows: a head
//! that is complete in one input is parsed in place, in one pass over its lines, and only the
//! fields that determine the framing are evaluated. To receive more, pass a [`Sink`].
//!
//! Terms:
//! - *message*: one response, from its status line to the last byte of its body; it includes the
//!   1xx responses before it, which are skipped.
//! - *head*: status line and fields, through the empty line that ends them.
//! - *framing*: how the body's end is found: a length, chunks, or the connection's end.
//! - *block*: field lines ended by an empty line: a head, or the trailers after the last chunk.
//!
//! The grammar is that of RFC 9112 (messages) and RFC 9110 (fields); where this crate is more
//! tolerant than they require, the item's documentation mentions it.
//!
//! ```
//! use loadline_wire::{Expect, ResponseParser};
//!
//! let mut parser = ResponseParser::new();
//! parser.begin(Expect::Other);
//! let fed = parser.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", &mut ())?;
//! assert!(fed.done);
//! assert_eq!((parser.status(), parser.body_len()), (200, 2));
//! assert!(parser.reusable());
//! # Ok::<(), loadline_wire::Malformed>(())
//! ```
//!
//! ## To change
//!
//! - what is written of a request: HTTP/1.1 `request.rs`, `request/framing.rs`; HTTP/2
//!   `h2/request.rs`, `h2/connection/sending.rs`
//! - what is read as HTTP/1.1: `head.rs`, `fields.rs`, `chunk.rs`, `body.rs`, `response.rs`; then
//!   `make fuzz`
//! - what is read as HTTP/2: `h2/connection/reading.rs`, `h2/connection/frames.rs`, `h2/stream.rs`,
//!   `h2/streams.rs`; its rules as text `h2/tests/cases.txt`
//! - limits and settings of HTTP/2: `h2/connection.rs`, `h2/settings.rs`, `h2/window.rs`,
//!   `h2/error.rs`
//! - header compression: `h2/hpack/`
//! - the receiver of a response's parts: `sink.rs`, `h2/sink.rs`
//! - HTTP/2: `h2.rs`
//! - parsing of a response: the last head `memo.rs`, one in pieces `partial.rs`; why it can not be
//!   read: `malformed.rs`, `excerpt.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod body;
mod chunk;
mod excerpt;
mod fields;
pub mod h2;
mod head;
mod malformed;
mod memo;
mod partial;
mod request;
mod response;
mod sink;
#[cfg(test)]
mod tests;

pub use crate::body::Expect;
pub use crate::excerpt::Excerpt;
pub use crate::malformed::Malformed;
pub use crate::memo::HeadMemo;
pub use crate::request::{InvalidRequest, RequestHead, Version, write_request, write_request_head};
pub use crate::response::{Fed, ResponseParser};
pub use crate::sink::Sink;

/// The most bytes of a head, or of the trailers of a chunked body: 256 KiB.
pub const MAX_HEAD_BYTES: usize = 256 * 1024;
