//! What the server answers, option by option.
//!
//! A server has one [`Answer`] for every request that asks for nothing else; a request changes it
//! by its query and its headers (see [`crate::options`]).

use crate::delay::Delay;
use crate::fault::Fault;
use crate::h2_fault::H2Fault;
use crate::values;
use hyper::StatusCode;
use hyper::body::Bytes;
use hyper::header::HeaderValue;
use std::num::NonZeroU64;
use std::str::FromStr;
use std::time::Duration;

/// One answer, from its delay to its last byte.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Bytes in the body, before any chunking.
    pub size: u64,
    /// The body instead, which is JSON.
    pub json: Option<Bytes>,
    /// The status code, 200 to 999.
    pub status: StatusCode,
    /// The value of its Location.
    pub location: Option<HeaderValue>,
    /// The value of its Set-Cookie.
    pub set_cookie: Option<HeaderValue>,
    /// How its body is compressed.
    pub encoding: Option<Encoding>,
    /// The version in the status line.
    pub version: Version,
    /// Whether the body comes in chunks of at most 4 096 bytes instead of with a length.
    pub chunked: bool,
    /// Whether the body is chunked and followed by the trailer `X-Trailer: end`, whether or not
    /// the client said that it takes trailers.
    pub trailers: bool,
    /// Whether the body has neither length nor chunks and ends with the connection.
    pub until_close: bool,
    /// Interim answers (1xx) sent before this one.
    pub interim: Vec<StatusCode>,
    /// `Some(true)`: announce the end of the connection with `Connection: close` and close it.
    /// `Some(false)`: keep it open, and say so in an HTTP/1.0 answer. `None`: as is usual, so
    /// HTTP/1.1 stays open and HTTP/1.0 is closed.
    pub close: Option<bool>,
    /// Announce the end of the connection in its n-th answer, and close it.
    pub close_after: Option<NonZeroU64>,
    /// The wait between the whole request and the answer's first byte.
    pub delay: Option<Delay>,
    /// The body in small pieces, one at a time.
    pub drip: Option<Drip>,
    /// What goes wrong over HTTP/1.1.
    pub fault: Option<Fault>,
    /// What goes wrong over HTTP/2.
    pub h2_fault: Option<H2Fault>,
    /// Freeze the whole server for this long when the request has arrived, before its answer.
    pub freeze_now: Option<Duration>,
    /// Limits `status`, faults and `freeze_now` to each n-th request of the server; the requests
    /// between get status 200 and no fault.
    pub every: NonZeroU64,
    /// Limits `status`, faults and `freeze_now` to this share of requests (0 to 1), drawn from
    /// the server's seed; where `every` is set too, both must agree.
    pub probability: f64,
}

impl Default for Answer {
    /// Status 200 and 60 bytes, at once.
    fn default() -> Self {
        Self {
            size: 60,
            json: None,
            status: StatusCode::OK,
            location: None,
            set_cookie: None,
            encoding: None,
            version: Version::Http11,
            chunked: false,
            trailers: false,
            until_close: false,
            interim: Vec::new(),
            close: None,
            close_after: None,
            delay: None,
            drip: None,
            fault: None,
            h2_fault: None,
            freeze_now: None,
            every: NonZeroU64::MIN,
            probability: 1.0,
        }
    }
}

impl Answer {
    /// This answer as it is where `every` or `probability` passed the request over.
    pub(crate) fn spared(mut self) -> Self {
        self.status = StatusCode::OK;
        self.fault = None;
        self.h2_fault = None;
        self.freeze_now = None;
        self
    }

    /// Whether this asks for what only the other version of HTTP can do.
    pub(crate) fn is_of_other_version(&self, is_http2: bool) -> bool {
        let is_old = self.version == Version::Http10;
        if is_http2 {
            is_old || self.fault.is_some() || self.until_close || !self.interim.is_empty()
        } else {
            self.h2_fault.is_some()
        }
    }

    /// Whether an HTTP library would refuse to send this: it is sent on the bare connection.
    pub(crate) fn is_raw(&self) -> bool {
        self.fault.is_some() || self.trailers || self.until_close || !self.interim.is_empty()
    }
}

/// How a body is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// RFC 1952.
    Gzip,
    /// RFC 1950.
    Deflate,
}

impl Encoding {
    /// Its name in Content-Encoding.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Gzip => "gzip",
            Encoding::Deflate => "deflate",
        }
    }
}

/// The version of HTTP that an answer says it speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0: closed after the answer unless [`Answer::close`] is `Some(false)`; never chunked.
    Http10,
    /// HTTP/1.1.
    Http11,
}

/// A body that comes in small pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drip {
    /// Bytes in each piece.
    pub bytes: NonZeroU64,
    /// From one piece to the next; the first comes at once.
    pub every: Duration,
}

/// The text was no drip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Write the bytes of a piece and the time between two, such as 10/5ms.")]
pub struct DripError;

impl FromStr for Drip {
    type Err = DripError;

    /// Reads `10/5ms`: ten bytes every five milliseconds.
    fn from_str(text: &str) -> Result<Self, DripError> {
        let (bytes, every) = text.split_once('/').ok_or(DripError)?;
        let bytes = values::count(bytes)
            .and_then(NonZeroU64::new)
            .ok_or(DripError)?;
        Ok(Self {
            bytes,
            every: values::duration(every).ok_or(DripError)?,
        })
    }
}
