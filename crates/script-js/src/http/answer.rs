//! What came of a request: the plain data behind a script's `Response`.

use super::fields::Fields;
use super::target::Target;
use std::borrow::Cow;
use std::net::SocketAddr;
use std::rc::Rc;

/// What came of a request and of the redirects that were followed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    /// The status of the last response; 0 if there is none.
    pub(crate) status: u16,
    /// The reason behind the status, such as `OK`.
    pub(crate) reason: String,
    /// `HTTP/1.1` or `HTTP/2.0`; empty if there is no response.
    pub(crate) proto: &'static str,
    /// The fields of the last response as lines, names as they came.
    pub(crate) fields: Vec<u8>,
    /// The body without its content coding.
    pub(crate) body: Body,
    /// The address that answered last.
    pub(crate) remote: Option<SocketAddr>,
    /// Times of the last request.
    pub(crate) timings: Timings,
    /// What went wrong, and k6's number of it; empty and 0 if nothing did.
    pub(crate) error: (String, u16),
    /// The version and the cipher suite that TLS agreed on; empty without.
    pub(crate) tls: (&'static str, String),
    /// The last request, as it was sent; of none that was refused.
    pub(crate) request: Option<Sent>,
    /// Where the response came from: behind redirects, not where the request went.
    pub(crate) target: Option<Rc<Target>>,
}

/// A body, as the script wants it.
#[derive(Clone, Debug, Default)]
pub(crate) enum Body {
    /// `null`.
    None,
    /// A list of nothing: of a request that is refused.
    #[default]
    Empty,
    /// A text.
    Text(Vec<u8>),
    /// An `ArrayBuffer`.
    Binary(Vec<u8>),
}

impl Body {
    /// Its bytes; none of one that is `null`.
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
    /// Until a connection was there.
    pub(crate) blocked: f64,
    /// Connecting.
    pub(crate) connecting: f64,
    /// TLS' handshake.
    pub(crate) tls_handshaking: f64,
    /// Sending the request.
    pub(crate) sending: f64,
    /// Until the first byte of the response.
    pub(crate) waiting: f64,
    /// From there to its end.
    pub(crate) receiving: f64,
}

/// A request as it was sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sent {
    /// Its method.
    pub(crate) method: Cow<'static, str>,
    /// Where it went.
    pub(crate) target: Option<Rc<Target>>,
    /// Its fields.
    pub(crate) headers: Fields,
    /// Its body.
    pub(crate) body: Vec<u8>,
}

impl Sent {
    /// Its URL, with its credentials; empty of one that was not sent.
    pub(crate) fn url(&self) -> &str {
        whole_url(self.target.as_ref())
    }
}

fn whole_url(target: Option<&Rc<Target>>) -> &str {
    target.map_or("", |target| target.whole.as_str())
}

impl Answer {
    /// The URL that the response came from, with its credentials; empty of a request that was not
    /// sent.
    pub(crate) fn url(&self) -> &str {
        whole_url(self.target.as_ref())
    }

    /// The status with its reason, such as `200 OK`; empty if there is none.
    pub(crate) fn status_text(&self) -> String {
        match self.status {
            0 => String::new(),
            status => format!("{status} {}", self.reason),
        }
    }

    /// The fields of the response, in the order they came.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let lines = self.fields.split(|byte| *byte == b'\n');
        lines.filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            Some((&line[..colon], &line[colon + 1..]))
        })
    }
}
