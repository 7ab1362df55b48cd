//! Whose client it is that a client stands for: what is a success there, and where redirects lead.

use loadline_engine::Resend;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The client that a client stands for.
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

    /// Whether a response of this status is no failure.
    pub(crate) fn is_success(self, status: u16) -> bool {
        match self {
            Flavour::Requests => (1..400).contains(&status),
            Flavour::Fast => matches!(status, 200..=208 | 226 | 301..=304 | 307 | 308),
        }
    }

    /// Whether a request of this method follows redirects where it does not say.
    pub(crate) fn follows(self, method: &str) -> bool {
        self == Flavour::Fast || method != "HEAD"
    }

    /// The method that follows on a redirect of this status.
    pub(crate) fn next_method(self, status: u16, method: &str) -> &str {
        let becomes_get = match (self, status) {
            (_, 302 | 303) | (Flavour::Fast, 301) => method != "HEAD",
            (Flavour::Requests, 301) => method == "POST",
            _ => false,
        };
        if becomes_get { "GET" } else { method }
    }

    /// When a request of this method is sent once more. `HttpUser`'s urllib3 sends nothing twice;
    /// geventhttpclient sends what is idempotent again when its connection ends without a response.
    pub(crate) fn resend(self, method: &str) -> Resend {
        let is_idempotent = matches!(
            method,
            "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE"
        );
        match self {
            Flavour::Fast if is_idempotent => Resend::Unanswered,
            _ => Resend::Unwritten,
        }
    }

    /// Whether a request goes out with an empty body rather than without one.
    pub(crate) fn has_empty_body(self, method: &str) -> bool {
        match self {
            Flavour::Requests => !matches!(method, "GET" | "HEAD"),
            Flavour::Fast => matches!(method, "POST" | "PUT" | "PATCH"),
        }
    }

    /// The type of a body that was given as text or bytes, where no header says it.
    pub(crate) fn content_type(self, is_text: bool) -> Option<&'static str> {
        match (self, is_text) {
            (Flavour::Requests, _) => None,
            (Flavour::Fast, true) => Some("text/plain; charset=utf-8"),
            (Flavour::Fast, false) => Some("application/octet-stream"),
        }
    }
}
