//! What is seen of one exchange.

use crate::fetched::{Failure, Seen};
use loadline_engine::Observer;
use loadline_record::{ErrorKind, Exchange, Outcome};
use loadline_wire::Sink;

/// A timeout that came before anything was sent.
const CONNECT_TIMEOUT: &str = "connect_timeout";
/// The most room that is made for a body before it comes.
const MOST_AHEAD: usize = 1 << 20;

/// Sees one exchange.
#[derive(Debug, Default)]
pub(crate) struct Hop {
    pub(crate) status: u16,
    pub(crate) head: Vec<u8>,
    pub(crate) body: Vec<u8>,
    /// The values of `Location`, `Content-Encoding` and `Set-Cookie`.
    pub(crate) location: Option<Vec<u8>>,
    pub(crate) codings: Option<Vec<u8>>,
    pub(crate) set_cookies: Vec<Vec<u8>>,
    pub(crate) exchange: Option<Exchange>,
    /// What the head says of the body's length.
    announced: Option<usize>,
    reason: Option<(String, Option<i32>)>,
}

impl Hop {
    /// Why there is no response.
    pub(crate) fn failure(&mut self) -> Option<Failure> {
        let Some(exchange) = &self.exchange else {
            let text = "the request was not sent".to_owned();
            return Some(Failure::of(ErrorKind::Aborted.name(), text));
        };
        let Outcome::Failed(kind) = exchange.outcome else {
            return None;
        };
        let (text, os_error) = self.reason.take().unwrap_or_default();
        let was_connecting = kind == ErrorKind::Timeout && exchange.bytes_out == 0;
        Some(Failure {
            kind: match was_connecting {
                true => CONNECT_TIMEOUT,
                false => kind.name(),
            },
            os_error,
            text,
            limit: None,
            seen: Seen {
                bytes: exchange.bytes_in,
                body: self.body.len(),
                announced: self.announced,
            },
        })
    }
}

impl Sink for Hop {
    const WANTS_HEAD: bool = true;
    const WANTS_BODY: bool = true;

    fn head(&mut self, bytes: &[u8]) {
        self.head.extend_from_slice(bytes);
    }

    fn status(&mut self, status: u16) {
        self.status = status;
    }

    fn header(&mut self, name: &[u8], value: &[u8]) {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        // Most fields are told apart by their length.
        match name.len() {
            8 if is("Location") => self.location = Some(value.to_vec()),
            10 if is("Set-Cookie") => self.set_cookies.push(value.to_vec()),
            14 if is("Content-Length") => {
                let length = std::str::from_utf8(value).ok();
                let length = length.and_then(|text| text.parse::<usize>().ok());
                self.body.reserve(length.unwrap_or(0).min(MOST_AHEAD));
                self.announced = length;
            }
            16 if is("Content-Encoding") => {
                let codings = self.codings.get_or_insert_default();
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
        self.reason = Some((reason.to_owned(), os_error));
    }

    fn ended(&mut self, exchange: &Exchange) {
        self.exchange = Some(*exchange);
    }
}
