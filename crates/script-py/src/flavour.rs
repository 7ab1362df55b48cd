//! The HTTP client of Locust that a client imitates: its statuses of success, its redirects.

use loadline_engine::Resend;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The HTTP client to imitate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Flavour {
    /// `requests.Session`, of an HttpUser.
    Requests,
    /// geventhttpclient's, of a FastHttpUser.
    Fast,
}

impl Flavour {
    pub(crate) fn parse(text: &str) -> PyResult<Flavour> {
        match text {
            "requests" => Ok(Flavour::Requests),
            "fast" => Ok(Flavour::Fast),
            _ => Err(PyValueError::new_err(
                "a client's flavour is \"requests\" or \"fast\"",
            )),
        }
    }

    /// True if a response of this status is a success.
    pub(crate) fn is_success(self, status: u16) -> bool {
        match self {
            Flavour::Requests => (1..400).contains(&status),
            Flavour::Fast => matches!(status, 200..=208 | 226 | 301..=304 | 307 | 308),
        }
    }

    /// True if a request of this method follows redirects by default.
    pub(crate) fn follows(self, method: &str) -> bool {
        self == Flavour::Fast || method != "HEAD"
    }

    /// Returns the method of the request that follows a redirect of this status.
    pub(crate) fn next_method(self, status: u16, method: &str) -> &str {
        let becomes_get = match (self, status) {
            (_, 302 | 303) | (Flavour::Fast, 301) => method != "HEAD",
            (Flavour::Requests, 301) => method == "POST",
            _ => false,
        };
        if becomes_get { "GET" } else { method }
    }

    /// Returns the rule for sending a request of this method again. `HttpUser`'s urllib3 sends
    /// nothing twice; geventhttpclient repeats idempotent requests if the connection ends without a
    /// response.
    pub(crate) fn resend(self, method: &str) -> Resend {
        let is_idempotent = matches!(
            method,
            "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE"
        );
        match self {
            Flavour::Fast if is_idempotent => Resend::Unanswered,
            Flavour::Fast | Flavour::Requests => Resend::Unwritten,
        }
    }

    /// True if a request is sent with an empty body rather than without one.
    pub(crate) fn has_empty_body(self, method: &str) -> bool {
        match self {
            Flavour::Requests => !matches!(method, "GET" | "HEAD"),
            Flavour::Fast => matches!(method, "POST" | "PUT" | "PATCH"),
        }
    }

    /// Returns the content type of a body given as text or bytes, where no header has it.
    pub(crate) fn content_type(self, is_text: bool) -> Option<&'static str> {
        match (self, is_text) {
            (Flavour::Requests, _) => None,
            (Flavour::Fast, true) => Some("text/plain; charset=utf-8"),
            (Flavour::Fast, false) => Some("application/octet-stream"),
        }
    }
}
