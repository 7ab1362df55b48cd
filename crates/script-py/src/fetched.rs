//! What came of a request.

use crate::template::Template;
use loadline_reactor::monotonic_ns;
use std::sync::Arc;

/// What came of a request with all its redirects.
#[derive(Debug)]
pub(crate) struct Fetched {
    /// The last request.
    pub(crate) sent: Arc<Template>,
    /// The status; 0 if there is no response.
    pub(crate) status: u16,
    /// The head as it came, without the coding's fields taken out.
    pub(crate) head: Vec<u8>,
    /// The body without its content coding.
    pub(crate) body: Vec<u8>,
    /// Redirects that led here, the first first.
    pub(crate) history: Vec<Fetched>,
    /// Why there is no response.
    pub(crate) failure: Option<Failure>,
    /// When the request was made, on `CLOCK_MONOTONIC`.
    pub(crate) started_ns: u64,
    /// From the first request's start to the last response's end.
    pub(crate) response_ns: u64,
    /// From this request's start to the first byte of its response.
    pub(crate) first_byte_ns: u64,
}

/// Why a request failed.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// Its kind, by a name of the engine's.
    pub(crate) kind: &'static str,
    /// The system's number.
    pub(crate) os_error: Option<i32>,
    /// The engine's words.
    pub(crate) text: String,
    /// What was not to be exceeded: seconds, or a count of redirects.
    pub(crate) limit: Option<f64>,
    /// How much of the response had come.
    pub(crate) seen: Seen,
}

/// How much of a response had come when it failed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// All bytes.
    pub(crate) bytes: u64,
    /// Those of the body.
    pub(crate) body: usize,
    /// How many of these the head announced.
    pub(crate) announced: Option<usize>,
}

impl Failure {
    /// A failure that is no exchange's.
    pub(crate) fn of(kind: &'static str, text: String) -> Self {
        Failure {
            kind,
            os_error: None,
            text,
            limit: None,
            seen: Seen::default(),
        }
    }
}

impl Fetched {
    /// What is left of a request that was given up from outside.
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

    /// The reason in the status line.
    pub(crate) fn reason(&self) -> String {
        let line = self.head.split(|byte| *byte == b'\n').next();
        let mut parts = line.unwrap_or_default().splitn(3, |byte| *byte == b' ');
        let reason = parts.nth(2).unwrap_or_default();
        text(reason.trim_ascii())
    }

    /// The fields of the head, in the order they came.
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

    /// The first value of a field.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let fields = self.headers().into_iter();
        let mut of_name = fields.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        of_name.next().map(|(_, value)| value)
    }
}

/// Bytes of a head as Python reads them: each stands for the character of its number.
fn text(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}
