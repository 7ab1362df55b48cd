//! The observation of one exchange.

use super::answer::Timings;
use loadline_engine::{Blocked, Carrier, Observer};
use loadline_record::{ErrorKind, Exchange};
use loadline_wire::Sink;
use loadline_wire::h2::ErrorCode;
use std::borrow::Cow;
use std::net::SocketAddr;

const NS_PER_MS: f64 = 1e6;

/// Collects the data of one exchange of a script's request.
#[derive(Debug, Default)]
pub(crate) struct Hop {
    /// The status; 0 if there is no response.
    pub(crate) status: u16,
    /// The reason phrase in the status line.
    pub(crate) reason: Cow<'static, str>,
    /// The fields as lines.
    pub(crate) fields: Vec<u8>,
    /// The value of `Location`.
    pub(crate) location: Option<Vec<u8>>,
    /// The value of `Content-Encoding`.
    pub(crate) coding: Option<Vec<u8>>,
    /// The values of `Set-Cookie`.
    pub(crate) set_cookies: Vec<Vec<u8>>,
    /// The values of `WWW-Authenticate`.
    pub(crate) challenges: Vec<Vec<u8>>,
    /// The body as it was received.
    pub(crate) body: Vec<u8>,
    /// True if the body is kept.
    pub(crate) keeps_body: bool,
    /// True if the request uses HTTPS, so that TLS is recorded.
    pub(crate) is_https: bool,
    /// True if the exchange used HTTP/2.
    pub(crate) is_http2: bool,
    /// The address of the server.
    pub(crate) remote: Option<SocketAddr>,
    /// The version and the cipher suite of TLS.
    pub(crate) tls: Option<(String, String)>,
    /// The reason of the failure and the system's error number, if it failed.
    pub(crate) failure: Option<(String, Option<i32>)>,
    /// The server's error code of HTTP/2, if it failed with one.
    pub(crate) code: Option<ErrorCode>,
    /// The rule of the options that blocked the request, if it failed for that.
    pub(crate) blocked: Option<Blocked>,
    /// The times and bytes.
    pub(crate) exchange: Option<Exchange>,
    has_body: bool,
}

impl Hop {
    /// Creates the observer of a request. `keeps_body` is true if the body is needed.
    pub(crate) fn new(keeps_body: bool, is_https: bool) -> Self {
        Hop {
            keeps_body,
            is_https,
            ..Hop::default()
        }
    }

    /// Returns the kind of error, if the exchange failed.
    pub(crate) fn failed(&self) -> Option<ErrorKind> {
        use loadline_record::Outcome;
        match self.exchange.as_ref()?.outcome {
            Outcome::Failed(kind) => Some(kind),
            Outcome::Answered { .. } => None,
        }
    }

    /// Returns the time from the intended start to the end in milliseconds. The intended start of
    /// an iteration's first request is that of the iteration.
    pub(crate) fn response_ms(&self) -> Option<f64> {
        let exchange = self.exchange.as_ref()?;
        Some(exchange.response_ns() as f64 / NS_PER_MS)
    }

    /// True if there was no connection to send on: then k6 has no times.
    fn failed_before_sending(&self) -> bool {
        let kind = self.failed();
        kind.is_some_and(|kind| ErrorKind::BEFORE_SENDING.contains(&kind))
    }

    /// Returns the times in k6's terms.
    pub(crate) fn timings(&self) -> Timings {
        let Some(exchange) = self
            .exchange
            .as_ref()
            .filter(|_| !self.failed_before_sending())
        else {
            return Timings::default();
        };
        let ms = |ns: u64| ns as f64 / NS_PER_MS;
        let connected = exchange.start_ns + exchange.dial_ns;
        let sent = exchange.sent_ns.max(connected);
        let first = exchange.first_byte_ns.max(sent);
        let part = exchange.resolve_ns + exchange.tls_ns;
        Timings {
            blocked: ms(exchange.dial_ns),
            connecting: ms(exchange.dial_ns.saturating_sub(part)),
            tls_handshaking: ms(exchange.tls_ns),
            sending: ms(sent.min(exchange.end_ns).saturating_sub(connected)),
            waiting: ms(first.min(exchange.end_ns).saturating_sub(sent)),
            receiving: ms(exchange.end_ns.saturating_sub(first)),
        }
    }
}

impl Sink for Hop {
    const NEEDS_HEAD: bool = true;
    const NEEDS_BODY: bool = true;

    fn head(&mut self, bytes: &[u8]) {
        self.fields.reserve(bytes.len());
        self.reason = match reason_of(bytes) {
            b"OK" => Cow::Borrowed("OK"),
            reason => Cow::Owned(String::from_utf8_lossy(reason).into_owned()),
        };
    }

    /// Resets the data, which may be of an earlier response to a request that was sent again.
    fn status(&mut self, status: u16) {
        self.status = status;
        self.fields.clear();
        self.body.clear();
        self.set_cookies.clear();
        self.challenges.clear();
        (self.location, self.coding, self.has_body) = (None, None, false);
    }

    fn header(&mut self, name: &[u8], value: &[u8]) {
        if self.has_body {
            return;
        }
        self.fields.extend_from_slice(name);
        self.fields.push(b':');
        self.fields.extend_from_slice(value);
        self.fields.push(b'\n');
        let is = |known: &[u8]| name.eq_ignore_ascii_case(known);
        match name.len() {
            8 if is(b"location") => self.location = Some(value.to_vec()),
            10 if is(b"set-cookie") => self.set_cookies.push(value.to_vec()),
            16 if is(b"content-encoding") => self.coding = Some(value.to_vec()),
            16 if is(b"www-authenticate") => self.challenges.push(value.to_vec()),
            _ => {}
        }
    }

    fn body(&mut self, part: &[u8]) {
        self.has_body = true;
        if self.keeps_body {
            self.body.extend_from_slice(part);
        }
    }
}

/// Returns the reason phrase of a head; empty if it has none.
fn reason_of(head: &[u8]) -> &[u8] {
    let line = head.split(|byte| *byte == b'\r' || *byte == b'\n').next();
    let mut words = line.unwrap_or_default().splitn(3, |byte| *byte == b' ');
    words.nth(2).unwrap_or_default()
}

impl Observer for Hop {
    const NEEDS_SENT: bool = true;
    const NEEDS_CARRIER: bool = true;

    fn carried(&mut self, carrier: &Carrier<'_>) {
        self.remote = carrier.remote;
        self.is_http2 = carrier.is_http2;
        if self.is_https {
            self.tls = carrier.tls().map(|agreed| (agreed.version, agreed.suite));
        }
    }

    fn blocked(&mut self, by: &Blocked) {
        self.blocked = Some(by.clone());
    }

    fn given_up(&mut self, code: ErrorCode) {
        self.code = Some(code);
    }

    fn failed(&mut self, reason: &str, os_error: Option<i32>) {
        self.failure = Some((reason.to_owned(), os_error));
    }

    fn ended(&mut self, exchange: &Exchange) {
        self.exchange = Some(*exchange);
    }
}
