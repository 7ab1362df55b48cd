//! Which body follows a head, and what becomes of the connection after it
//! (RFC 9112, sections 6.3 and 9.3).

use crate::head::{Coding, Head};

/// What was asked: whether a response has a body depends on the request's method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expect {
    /// The response to a HEAD request: never a body, whatever its head says.
    Head,
    /// The response to a CONNECT request: a 2xx turns the connection into a tunnel after its head.
    Connect,
    /// The response to any other request.
    #[default]
    Other,
}

/// How the body's end is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// There is none.
    None,
    /// After this many bytes, never 0.
    Length(u64),
    /// After the last chunk and the trailers.
    Chunked,
    /// With the connection.
    UntilClose,
}

impl Expect {
    /// What to expect of the response to a request with this method.
    pub fn for_method(method: &str) -> Self {
        match method {
            "HEAD" => Expect::Head,
            "CONNECT" => Expect::Connect,
            _ => Expect::Other,
        }
    }

    /// The body after a final head. A transfer coding wins over a length.
    pub(crate) fn body_after(self, head: &Head) -> Body {
        if self.forbids_body(head.status) {
            return Body::None;
        }
        match (head.framing.coding, head.framing.length) {
            (Some(Coding::Chunked), _) => Body::Chunked,
            (None, Some(0)) => Body::None,
            (None, Some(length)) => Body::Length(length),
            (Some(Coding::Other), _) | (None, None) => Body::UntilClose,
        }
    }

    fn forbids_body(self, status: u16) -> bool {
        self == Expect::Head || matches!(status, 101 | 204 | 304) || self.opens_tunnel(status)
    }

    fn opens_tunnel(self, status: u16) -> bool {
        self == Expect::Connect && (200..300).contains(&status)
    }

    /// Whether the connection may serve another request after this head and its body.
    ///
    /// A coding in an HTTP/1.0 response is taken for a mistake in its framing, as RFC 9112 section
    /// 6.1 asks: the body is read, the connection is not used again.
    pub(crate) fn keeps_connection(self, head: &Head, body: Body) -> bool {
        let framing = &head.framing;
        let agreed = !head.is_http10 || (framing.keep_alive && framing.coding.is_none());
        agreed
            && !framing.close
            && body != Body::UntilClose
            && head.status != 101
            && !self.opens_tunnel(head.status)
    }
}
