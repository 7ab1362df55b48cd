//! What is seen of one exchange.

use super::answer::Timings;
use loadline_engine::{Blocked, Carrier, Observer};
use loadline_record::{ErrorKind, Exchange};
use loadline_wire::Sink;
use loadline_wire::h2::ErrorCode;
use std::net::SocketAddr;

const NS_PER_MS: f64 = 1e6;

/// Sees one exchange of a script's request.
#[derive(Debug, Default)]
pub(crate) struct Hop {
    /// The status; 0 if there is no response.
    pub(crate) status: u16,
    /// The reason behind the status in the status line.
    pub(crate) reason: String,
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
    /// The body as it came.
    pub(crate) body: Vec<u8>,
    /// Whether the body is kept.
    pub(crate) keeps_body: bool,
    /// Whether TLS is asked about.
    pub(crate) is_https: bool,
    /// Whether it went over HTTP/2.
    pub(crate) is_http2: bool,
    /// The address it went to.
    pub(crate) remote: Option<SocketAddr>,
    /// The version and the suite of TLS.
    pub(crate) tls: Option<(String, String)>,
    /// Why it failed, if it did.
    pub(crate) failure: Option<(String, Option<i32>)>,
    /// The server's code of HTTP/2 for that, if it told one.
    pub(crate) code: Option<ErrorCode>,
    /// What the options block of it, if it failed for that.
    pub(crate) blocked: Option<Blocked>,
    /// Its times and bytes.
    pub(crate) exchange: Option<Exchange>,
    has_body: bool,
}

impl Hop {
    /// One of a request whose body is kept or not.
    pub(crate) fn new(keeps_body: bool, is_https: bool) -> Self {
        Hop {
            keeps_body,
            is_https,
            ..Hop::default()
        }
    }

    /// How it failed, if it did.
    pub(crate) fn failed(&self) -> Option<ErrorKind> {
        use loadline_record::Outcome;
        match self.exchange.as_ref()?.outcome {
            Outcome::Failed(kind) => Some(kind),
            _ => None,
        }
    }

    /// From its intended start to its end, in milliseconds: the first request of an iteration takes
    /// the iteration's.
    pub(crate) fn response_ms(&self) -> Option<f64> {
        let exchange = self.exchange.as_ref()?;
        Some(exchange.response_ns() as f64 / NS_PER_MS)
    }

    /// Whether there was no connection to send on: then k6 knows no times.
    fn failed_before_sending(&self) -> bool {
        let kind = self.failed();
        kind.is_some_and(|kind| ErrorKind::BEFORE_SENDING.contains(&kind))
    }

    /// Its times.
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
    const WANTS_HEAD: bool = true;
    const WANTS_BODY: bool = true;

    fn head(&mut self, bytes: &[u8]) {
        self.fields.reserve(bytes.len());
        let line = bytes.split(|byte| *byte == b'\r' || *byte == b'\n').next();
        let mut words = line.unwrap_or_default().splitn(3, |byte| *byte == b' ');
        self.reason.clear();
        if let Some(reason) = words.nth(2) {
            self.reason.push_str(&String::from_utf8_lossy(reason));
        }
    }

    /// What came before belongs to a response that was asked for again.
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

impl Observer for Hop {
    const WANTS_SENT: bool = true;
    const WANTS_CARRIER: bool = true;

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
