//! The server's responses, option by option.
//!
//! A server has one [`Answer`] for every request without options; a request changes it by its query
//! and its headers (see [`crate::options`]).

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

/// One response, from its delay to its last byte.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The length of the body in bytes, before any chunking.
    pub size: u64,
    /// A JSON body that replaces the filler, if there is one.
    pub json: Option<Bytes>,
    /// The status code, 200 to 999.
    pub status: StatusCode,
    /// The value of `Location`.
    pub location: Option<HeaderValue>,
    /// The value of `Set-Cookie`.
    pub set_cookie: Option<HeaderValue>,
    /// The compression of the body.
    pub encoding: Option<Encoding>,
    /// The version in the status line.
    pub version: Version,
    /// True if the body is sent in chunks of at most 4 096 bytes instead of with a length.
    pub chunked: bool,
    /// True if the body is chunked and followed by the trailer `X-Trailer: end`, whether or not the
    /// client announced that it accepts trailers.
    pub trailers: bool,
    /// True if the body has neither length nor chunks and ends with the connection.
    pub until_close: bool,
    /// Interim responses (1xx) sent before this one.
    pub interim: Vec<StatusCode>,
    /// The end of the connection. `Some(true)`: announced with `Connection: close`, and the
    /// connection is closed. `Some(false)`: the connection stays open, which an HTTP/1.0 response
    /// announces. `None`: the default, so HTTP/1.1 stays open and HTTP/1.0 is closed.
    pub close: Option<bool>,
    /// The number of the response on its connection that announces the connection's end, after
    /// which it is closed.
    pub close_after: Option<NonZeroU64>,
    /// The wait between the whole request and the first byte of the response.
    pub delay: Option<Delay>,
    /// The pieces in which the body is sent, one at a time.
    pub drip: Option<Drip>,
    /// The fault over HTTP/1.1.
    pub fault: Option<Fault>,
    /// The fault over HTTP/2.
    pub h2_fault: Option<H2Fault>,
    /// The time for which the whole server freezes after the request has arrived, before its
    /// response.
    pub freeze_now: Option<Duration>,
    /// Limits `status`, faults and `freeze_now` to each n-th request of the server; the requests
    /// between get status 200 and no fault.
    pub every: NonZeroU64,
    /// Limits `status`, faults and `freeze_now` to this share of requests (0 to 1), drawn from the
    /// server's seed; if `every` is set too, both must select the request.
    pub probability: f64,
}

impl Default for Answer {
    /// Status 200 and 60 bytes, without a delay.
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
    /// Returns this response for a request that `every` or `probability` did not select.
    pub(crate) fn spared(mut self) -> Self {
        self.status = StatusCode::OK;
        self.fault = None;
        self.h2_fault = None;
        self.freeze_now = None;
        self
    }

    /// True if the response needs something that only the other version of HTTP has.
    pub(crate) fn is_of_other_version(&self, is_http2: bool) -> bool {
        let is_old = self.version == Version::Http10;
        if is_http2 {
            is_old || self.fault.is_some() || self.until_close || !self.interim.is_empty()
        } else {
            self.h2_fault.is_some()
        }
    }

    /// True if an HTTP library would refuse to send this response: it is then sent on the bare
    /// connection.
    pub(crate) fn is_raw(&self) -> bool {
        self.fault.is_some() || self.trailers || self.until_close || !self.interim.is_empty()
    }
}

/// The compression of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// RFC 1952.
    Gzip,
    /// RFC 1950.
    Deflate,
}

impl Encoding {
    /// Returns the compression's name in `Content-Encoding`.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Gzip => "gzip",
            Encoding::Deflate => "deflate",
        }
    }
}

/// The version of HTTP in the status line of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0: closed after the response unless [`Answer::close`] is `Some(false)`; never
    /// chunked.
    Http10,
    /// HTTP/1.1.
    Http11,
}

/// A body that is sent in small pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drip {
    /// The length of each piece in bytes.
    pub bytes: NonZeroU64,
    /// The time from one piece to the next; the first is sent at once.
    pub every: Duration,
}

/// The error for a text that is not a drip.
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
