//! The observation of one exchange.

use crate::fetched::{Failure, PartialResponse};
use loadline_engine::Observer;
use loadline_record::{ErrorKind, Exchange, Outcome};
use loadline_wire::Sink;

/// The kind of a timeout before anything was sent.
const CONNECT_TIMEOUT: &str = "connect_timeout";
/// The maximum capacity that is reserved for a body in advance.
const MOST_AHEAD: usize = 1 << 20;

/// Collects the data of one exchange. There is one for each request in flight, so it is small.
#[derive(Debug, Default)]
pub(crate) struct Hop {
    pub(crate) status: u16,
    pub(crate) head: Vec<u8>,
    pub(crate) body: Vec<u8>,
    /// The end of the exchange, once it has ended.
    pub(crate) end: Option<End>,
    /// The length of the body that the head announces.
    announced: Option<usize>,
    /// Data that most exchanges don't have.
    rare: Option<Box<Rare>>,
}

/// The data of an exchange's end that is needed here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) start_ns: u64,
    pub(crate) first_byte_ns: u64,
    pub(crate) end_ns: u64,
    bytes_in: u64,
    /// True if a byte of the request was sent.
    was_sent: bool,
    outcome: Outcome,
}

/// Data that most exchanges don't have.
#[derive(Debug, Default)]
struct Rare {
    /// The value of `Location`; below, those of `Content-Encoding`, joined by commas, and of
    /// `Set-Cookie`.
    location: Option<Vec<u8>>,
    codings: Option<Vec<u8>>,
    set_cookies: Vec<Vec<u8>>,
    /// The reason of a failure, and the system's error number.
    reason: Option<(String, Option<i32>)>,
}

impl Hop {
    /// Returns the value of `Location`.
    pub(crate) fn location(&self) -> Option<&[u8]> {
        self.rare.as_ref()?.location.as_deref()
    }

    /// Returns the values of `Content-Encoding`, joined by commas.
    pub(crate) fn codings(&self) -> Option<&[u8]> {
        self.rare.as_ref()?.codings.as_deref()
    }

    /// Returns the values of `Set-Cookie`.
    pub(crate) fn set_cookies(&self) -> &[Vec<u8>] {
        self.rare.as_ref().map_or(&[], |rare| &rare.set_cookies)
    }

    fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Returns the status, if the exchange was answered.
    pub(crate) fn answered(&self) -> Option<u16> {
        match self.end?.outcome {
            Outcome::Answered { status } => Some(status),
            Outcome::Failed(_) => None,
        }
    }

    /// Returns the failure, if there is no response.
    pub(crate) fn failure(&mut self) -> Option<Failure> {
        let Some(end) = self.end else {
            let text = "the request was not sent".to_owned();
            return Some(Failure::of(ErrorKind::Aborted.name(), text));
        };
        let Outcome::Failed(kind) = end.outcome else {
            return None;
        };
        let (text, os_error) = self.rare().reason.take().unwrap_or_default();
        let was_connecting = kind == ErrorKind::Timeout && !end.was_sent;
        Some(Failure {
            kind: match was_connecting {
                true => CONNECT_TIMEOUT,
                false => kind.name(),
            },
            os_error,
            text,
            limit: None,
            seen: PartialResponse {
                bytes: end.bytes_in,
                body: self.body.len(),
                announced: self.announced,
            },
        })
    }
}

impl Sink for Hop {
    const NEEDS_HEAD: bool = true;
    const NEEDS_BODY: bool = true;

    fn head(&mut self, bytes: &[u8]) {
        self.head.extend_from_slice(bytes);
    }

    fn status(&mut self, status: u16) {
        self.status = status;
    }

    fn header(&mut self, name: &[u8], value: &[u8]) {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        // Most fields are distinguished by their length.
        match name.len() {
            8 if is("Location") => self.rare().location = Some(value.to_vec()),
            10 if is("Set-Cookie") => self.rare().set_cookies.push(value.to_vec()),
            14 if is("Content-Length") => {
                let length = std::str::from_utf8(value).ok();
                let length = length.and_then(|text| text.parse::<usize>().ok());
                self.body.reserve(length.unwrap_or(0).min(MOST_AHEAD));
                self.announced = length;
            }
            16 if is("Content-Encoding") => {
                let codings = self.rare().codings.get_or_insert_default();
                if !codings.is_empty() {
                    codings.push(b',');
                }
                codings.extend_from_slice(value);
            }
            _ => {}
        }
    }

    fn body(&mut self, part: &[u8]) {
        self.body.extend_from_slice(part);
    }
}

impl Observer for Hop {
    fn failed(&mut self, reason: &str, os_error: Option<i32>) {
        self.rare().reason = Some((reason.to_owned(), os_error));
    }

    fn ended(&mut self, exchange: &Exchange) {
        self.end = Some(End {
            start_ns: exchange.start_ns,
            first_byte_ns: exchange.first_byte_ns,
            end_ns: exchange.end_ns,
            bytes_in: exchange.bytes_in,
            was_sent: exchange.bytes_out > 0,
            outcome: exchange.outcome,
        });
    }
}
