//! The outcome of a request.

use crate::template::Template;
use loadline_reactor::monotonic_ns;
use std::sync::Arc;

/// The outcome of a request with all its redirects.
#[derive(Debug)]
pub(crate) struct Fetched {
    /// The last request.
    pub(crate) sent: Arc<Template>,
    /// The status; 0 if there is no response.
    pub(crate) status: u16,
    /// The head as it was received, with the fields of the content coding.
    pub(crate) head: Vec<u8>,
    /// The body, decoded from its content coding.
    pub(crate) body: Vec<u8>,
    /// The redirects before it, the first one first.
    pub(crate) history: Vec<Fetched>,
    /// The reason why there is no response.
    pub(crate) failure: Option<Failure>,
    /// The start of the call, on `CLOCK_MONOTONIC`.
    pub(crate) started_ns: u64,
    /// The time from the first request's start to the last response's end.
    pub(crate) response_ns: u64,
    /// The time from this request's start to the first byte of its response.
    pub(crate) first_byte_ns: u64,
}

/// The failure of a request.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// The kind of error: the engine's name, or one of this crate.
    pub(crate) kind: &'static str,
    /// The error number of the system.
    pub(crate) os_error: Option<i32>,
    /// The engine's message.
    pub(crate) text: String,
    /// The limit that was exceeded: seconds, or a number of redirects.
    pub(crate) limit: Option<f64>,
    /// The received part of the response.
    pub(crate) seen: PartialResponse,
}

/// The part of a response that was received before it failed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PartialResponse {
    /// All bytes.
    pub(crate) bytes: u64,
    /// The bytes of the body.
    pub(crate) body: usize,
    /// The length of the body that the head announced.
    pub(crate) announced: Option<usize>,
}

impl Failure {
    /// Creates a failure that is not one of an exchange.
    pub(crate) fn of(kind: &'static str, text: String) -> Self {
        Failure {
            kind,
            os_error: None,
            text,
            limit: None,
            seen: PartialResponse::default(),
        }
    }
}

impl Fetched {
    /// Creates the outcome of a request that was cancelled from outside.
    pub(crate) fn interrupted(sent: Arc<Template>, started_ns: u64, text: String) -> Self {
        let passed_ns = monotonic_ns().saturating_sub(started_ns);
        Fetched {
            sent,
            status: 0,
            head: Vec::new(),
            body: Vec::new(),
            history: Vec::new(),
            failure: Some(Failure::of("interrupted", text)),
            started_ns,
            response_ns: passed_ns,
            first_byte_ns: passed_ns,
        }
    }

    /// Returns the reason phrase of the status line.
    pub(crate) fn reason(&self) -> String {
        let line = self.head.split(|byte| *byte == b'\n').next();
        let mut parts = line.unwrap_or_default().splitn(3, |byte| *byte == b' ');
        let reason = parts.nth(2).unwrap_or_default();
        text(reason.trim_ascii())
    }

    /// Returns the fields of the head, in the order in which they were received.
    pub(crate) fn headers(&self) -> Vec<(String, String)> {
        let mut fields: Vec<(String, String)> = Vec::new();
        for line in self.head.split(|byte| *byte == b'\n').skip(1) {
            let is_folded = line
                .first()
                .is_some_and(|byte| matches!(byte, b' ' | b'\t'));
            let line = line.trim_ascii();
            if let Some((_, value)) = fields.last_mut().filter(|_| is_folded) {
                value.push(' ');
                value.push_str(&text(line));
            } else if let Some(colon) = line.iter().position(|byte| *byte == b':') {
                let value = line[colon + 1..].trim_ascii();
                fields.push((text(&line[..colon]), text(value)));
            }
        }
        fields
    }

    /// Returns the first value of a field.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let fields = self.headers().into_iter();
        let mut of_name = fields.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        of_name.next().map(|(_, value)| value)
    }
}

/// Decodes bytes of a head as Latin-1, as Python does: each byte is the character of its number.
fn text(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}
