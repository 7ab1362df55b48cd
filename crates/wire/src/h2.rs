//! HTTP/2 on bytes (RFC 9113), from the client's side: like the rest of this crate it owns no
//! socket and reads no clock.
//!
//! A [`Request`] is written once, before the run. A [`Connection`] sends it on any number of
//! streams, and reports the responses to a [`Sink`]:
//!
//! ```text
//!  Request ──▶ Connection::begin ──▶ output ──▶ socket
//!     Sink ◀── Connection::feed  ◀───────────── socket
//! ```
//!
//! Header blocks that the server repeats are recognised by their bytes (`hpack`). DATA that the
//! sink does not need is counted, and may be dropped unread. Anything that a server could do
//! without end is bounded: each limit is a named [`ConnectionError`] or [`StreamError`] with its
//! code. Priorities are ignored, and the client's settings forbid pushed responses.
//!
//! ```
//! use loadline_wire::h2::{Config, Connection, Ended, Outcome, Request, Sink};
//! use loadline_wire::{RequestHead, Version};
//!
//! struct Statuses(Vec<(usize, u16)>);
//! impl Sink for Statuses {
//!     const NEEDS_FIELDS: bool = false;
//!     const NEEDS_BODY: bool = false;
//!     fn end(&mut self, key: usize, ended: Ended) {
//!         assert_eq!(ended.outcome, Outcome::Whole);
//!         self.0.push((key, ended.status));
//!     }
//! }
//!
//! let get = RequestHead {
//!     method: "GET",
//!     target: "/",
//!     host: "localhost",
//!     headers: &[],
//!     body: None,
//!     keepalive: true,
//!     version: Version::Http11,
//! };
//! let request = Request::new(&get, "http")?;
//! let mut connection = Connection::new(Config::default());
//! let mut statuses = Statuses(vec![]);
//! connection.feed(b"\0\0\0\x04\0\0\0\0\0", &mut statuses)?;
//! let stream = connection.begin(&request, 7)?;
//! connection.feed(b"\0\0\x01\x01\x05\0\0\0\x01\x88", &mut statuses)?;
//! assert_eq!((stream, statuses.0), (1, vec![(7, 200)]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod connection;
mod error;
mod frame;
mod head;
mod hpack;
mod request;
mod settings;
mod sink;
mod stream;
mod streams;
#[cfg(test)]
mod tests;
mod window;

pub use self::connection::{Connection, GoAway, Refused};
pub use self::error::{ConnectionError, ErrorCode, StreamError};
pub use self::frame::FrameKind;
pub use self::hpack::InvalidBlock;
pub use self::request::Request;
pub use self::settings::Config;
pub use self::sink::{Ended, Outcome, Sink};
