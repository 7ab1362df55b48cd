//! The kind of body that follows a head, and the reuse of the connection after it (RFC 9112,
//! sections 6.3 and 9.3).

use crate::head::{Coding, Head};

/// The kind of request, because its method decides whether the response may have a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expect {
    /// The response to a HEAD request: never a body, whatever its head announces.
    Head,
    /// The response to a CONNECT request: a 2xx turns the connection into a tunnel after its head.
    Connect,
    /// The response to any other request.
    #[default]
    Other,
}

/// The end of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// No body.
    None,
    /// After this many bytes, never 0.
    Length(u64),
    /// After the last chunk and the trailers.
    Chunked,
    /// At the end of the connection.
    UntilClose,
}

impl Expect {
    /// Returns the kind of request for a method.
    pub fn for_method(method: &str) -> Self {
        match method {
            "HEAD" => Expect::Head,
            "CONNECT" => Expect::Connect,
            _ => Expect::Other,
        }
    }

    /// Returns the kind of body after a final head. A transfer coding takes precedence over a
    /// length.
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

    /// True if the connection may serve another request after this head and its body.
    ///
    /// A coding in an HTTP/1.0 response is treated as faulty framing, as RFC 9112 section 6.1
    /// requires: the body is read, but the connection is not used again.
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
