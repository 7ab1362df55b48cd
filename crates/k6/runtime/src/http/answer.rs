//! The outcome of a request: the plain data of a script's `Response`.

use super::fields::Fields;
use super::target::Target;
use std::borrow::Cow;
use std::net::SocketAddr;
use std::rc::Rc;

/// The outcome of a request and of the redirects that were followed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    /// The status of the last response; 0 if there is none.
    pub(crate) status: u16,
    /// The reason phrase of the status, such as `OK`.
    pub(crate) reason: Cow<'static, str>,
    /// `HTTP/1.1` or `HTTP/2.0`; empty if there is no response.
    pub(crate) proto: &'static str,
    /// The fields of the last response as lines, with names as they were received.
    pub(crate) fields: Vec<u8>,
    /// The body, decoded from its content coding.
    pub(crate) body: Body,
    /// The address that sent the last response.
    pub(crate) remote: Option<SocketAddr>,
    /// Times of the last request.
    pub(crate) timings: Timings,
    /// The error, and k6's error code; empty and 0 if there was no error.
    pub(crate) error: (String, u16),
    /// The version and cipher suite of TLS; empty without TLS.
    pub(crate) tls: (&'static str, String),
    /// The last request, as it was sent; `None` if it could not be made.
    pub(crate) request: Option<Sent>,
    /// The origin of the response: the target after redirects, not that of the first request.
    pub(crate) target: Option<Rc<Target>>,
}

/// A body in the form that the script requested.
#[derive(Clone, Debug, Default)]
pub(crate) enum Body {
    /// `null`.
    None,
    /// An empty list: for a request that could not be made.
    #[default]
    Empty,
    /// A text.
    Text(Vec<u8>),
    /// An `ArrayBuffer`.
    Binary(Vec<u8>),
}

impl Body {
    /// Returns the bytes; `None` if the body is `null`.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Body::None => None,
            Body::Empty => Some(&[]),
            Body::Text(bytes) | Body::Binary(bytes) => Some(bytes),
        }
    }
}

/// Times of a request, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timings {
    /// The time until a connection was available.
    pub(crate) blocked: f64,
    /// The time to connect.
    pub(crate) connecting: f64,
    /// The time of the TLS handshake.
    pub(crate) tls_handshaking: f64,
    /// The time to send the request.
    pub(crate) sending: f64,
    /// The time from the end of the request to the first byte of the response.
    pub(crate) waiting: f64,
    /// The time from the first to the last byte of the response.
    pub(crate) receiving: f64,
}

/// A request as it was sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sent {
    /// The method.
    pub(crate) method: Cow<'static, str>,
    /// The target.
    pub(crate) target: Option<Rc<Target>>,
    /// The fields.
    pub(crate) headers: Fields,
    /// The body.
    pub(crate) body: Vec<u8>,
}

impl Sent {
    /// Returns the URL, with its credentials; empty for a request that was not sent.
    pub(crate) fn url(&self) -> &str {
        whole_url(self.target.as_ref())
    }
}

fn whole_url(target: Option<&Rc<Target>>) -> &str {
    target.map_or("", |target| target.whole.as_str())
}

impl Answer {
    /// Returns the URL that the response came from, with its credentials; empty for a request that
    /// was not sent.
    pub(crate) fn url(&self) -> &str {
        whole_url(self.target.as_ref())
    }

    /// Returns the status with its reason, such as `200 OK`; empty if there is no response.
    pub(crate) fn status_text(&self) -> String {
        match self.status {
            0 => String::new(),
            status => format!("{status} {}", self.reason),
        }
    }

    /// Returns the fields of the response, in the order in which they were received.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let lines = self.fields.split(|byte| *byte == b'\n');
        lines.filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            Some((&line[..colon], &line[colon + 1..]))
        })
    }
}
