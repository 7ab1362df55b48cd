//! The request writer: checks a request and appends its bytes (RFC 9112, sections 3 and 5).
//!
//! It adds the three fields without which a request would be invalid or have another meaning
//! (`Host`, `Content-Length`, `Connection: close`), each only if the given fields lack it, and
//! nothing else. Given fields that describe the body's end must be correct.

mod framing;

use std::io::Write;

use thiserror::Error;

use crate::excerpt::Excerpt;

/// A request, not yet written.
#[derive(Clone, Copy, Debug)]
pub struct RequestHead<'a> {
    /// The method, a token; case matters.
    pub method: &'a str,
    /// The target: `/path?query`, an absolute URL (to a proxy), `host:port` (CONNECT) or `*`.
    pub target: &'a str,
    /// The value of `Host` if the headers have none. May be empty if the target has no name.
    pub host: &'a str,
    /// Fields in the order in which they are written, including duplicates.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body, written unchanged after the head. `None` writes no `Content-Length`, except for
    /// methods that usually have a body; an empty body writes 0. If the headers have a
    /// `Transfer-Encoding`, the body must already be encoded accordingly.
    pub body: Option<&'a [u8]>,
    /// If false, `Connection: close` is added unless the headers have a `Connection` field. If
    /// true, nothing is added: HTTP/1.1 keeps connections open by default, and HTTP/1.0 needs a
    /// field among the headers.
    pub keepalive: bool,
    /// The version in the request line. It affects nothing else.
    pub version: Version,
}

/// A version of HTTP/1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1.
    #[default]
    Http11,
}

/// A reason why a request can't be written: the server would read something else than was meant.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidRequest {
    /// A given `Content-Length` differs from the body's.
    #[error(
        "The header Content-Length says {given}, and the body has {length} bytes: leave it out."
    )]
    ContentLength {
        /// The field's value.
        given: Excerpt,
        /// The length of the body, in bytes.
        length: usize,
    },
    /// A given `Transfer-Encoding` that does not define the body's end.
    #[error(
        "The header Transfer-Encoding ends in {0} instead of chunked, so that no server could tell \
         where the body ends: leave it out."
    )]
    Encoding(Excerpt),
    /// A field that HTTP/2 forbids, because it describes a connection of HTTP/1.1.
    #[error("HTTP/2 forbids the header {0}: leave it out, or use HTTP/1.1.")]
    ForbiddenInHttp2(Excerpt),
    /// A field's name that is not a token.
    #[error("{0} is not a header name: use letters, digits and the signs !#$%&'*+-.^_`|~ only.")]
    HeaderName(Excerpt),
    /// A field's value with a control character.
    #[error("The value of header {name} has a control character, which must be taken out: {value}")]
    HeaderValue {
        /// The field's name.
        name: Excerpt,
        /// The value as given.
        value: Excerpt,
    },
    /// A host with a blank or a control character.
    #[error(
        "The host {0} has a space or a control character: give a name or address with its port."
    )]
    Host(Excerpt),
    /// Two fields that both define the body's end.
    #[error(
        "The headers Content-Length and Transfer-Encoding contradict each other: leave one out."
    )]
    LengthAndEncoding,
    /// A method that is not a token.
    #[error(
        "{0} is not a method: use letters, digits and the signs !#$%&'*+-.^_`|~ only, as in GET."
    )]
    Method(Excerpt),
    /// A target that is not a path, which HTTP/2 requires.
    #[error("HTTP/2 asks for a path, and {0} isn't one: begin it with “/”.")]
    NoPath(Excerpt),
    /// An empty target.
    #[error("The request's target is empty: give at least “/”.")]
    NoTarget,
    /// A body that is not chunked although a given `Transfer-Encoding` requires it.
    #[error(
        "The header Transfer-Encoding says that the body is chunked, and it is not: leave the \
         header out, or write the body with the size of each chunk before it."
    )]
    NotChunked,
    /// A target with a blank or a control character.
    #[error(
        "The target {0} has a space or a control character: percent-encode it, a space as %20."
    )]
    Target(Excerpt),
}

/// Appends a request to `out`: request line, `Host`, the given fields, `Content-Length`,
/// `Connection`, an empty line, the body.
///
/// A `Host` among the given fields is written in its place; otherwise `Host` is the first field.
/// Bytes from 0x80 on are written unchanged in targets and values, although URLs shouldn't contain
/// any: the server's response to them may be what is tested.
///
/// # Errors
/// If a part would break the request; `out` is then unchanged.
pub fn write_request(head: &RequestHead<'_>, out: &mut Vec<u8>) -> Result<(), InvalidRequest> {
    out.reserve(head.size_hint() + head.body.map_or(0, <[u8]>::len));
    write_request_head(head, out)?;
    out.extend_from_slice(head.body.unwrap_or_default());
    Ok(())
}

/// Appends a request up to the empty line, like [`write_request`] without the body, which is sent
/// from its own buffer.
///
/// # Errors
/// As for [`write_request`].
pub fn write_request_head(head: &RequestHead<'_>, out: &mut Vec<u8>) -> Result<(), InvalidRequest> {
    head.check()?;
    out.reserve(head.size_hint());
    head.write_request_line(out);
    head.write_fields(out);
    out.extend_from_slice(b"\r\n");
    Ok(())
}

impl RequestHead<'_> {
    pub(crate) fn check(&self) -> Result<(), InvalidRequest> {
        if !is_token(self.method) {
            return Err(InvalidRequest::Method(excerpt(self.method)));
        }
        if self.target.is_empty() {
            return Err(InvalidRequest::NoTarget);
        }
        if !self.target.bytes().all(is_visible) {
            return Err(InvalidRequest::Target(excerpt(self.target)));
        }
        if !self.host.bytes().all(is_visible) {
            return Err(InvalidRequest::Host(excerpt(self.host)));
        }
        self.headers
            .iter()
            .try_for_each(|(name, value)| check_field(name, value))?;
        framing::check(self.headers, self.body.unwrap_or_default())
    }

    /// Returns an estimate of the request's length in bytes, without its body.
    fn size_hint(&self) -> usize {
        let own_lines = self.method.len() + self.target.len() + self.host.len() + 128;
        let fields = self.headers.iter();
        let fields: usize = fields
            .map(|(name, value)| name.len() + value.len() + 4)
            .sum();
        own_lines + fields
    }

    fn write_request_line(&self, out: &mut Vec<u8>) {
        let version = match self.version {
            Version::Http10 => "HTTP/1.0",
            Version::Http11 => "HTTP/1.1",
        };
        for part in [self.method, " ", self.target, " ", version, "\r\n"] {
            out.extend_from_slice(part.as_bytes());
        }
    }

    fn write_fields(&self, out: &mut Vec<u8>) {
        if !self.has("host") {
            write_field("Host", self.host, out);
        }
        for (name, value) in self.headers {
            write_field(name, value, out);
        }
        if let Some(length) = self.missing_length() {
            write!(out, "Content-Length: {length}\r\n").expect("writing to memory can't fail");
        }
        if !self.keepalive && !self.has("connection") {
            write_field("Connection", "close", out);
        }
    }

    /// Returns the length to be written, if the given fields don't frame the body. For some methods
    /// a server expects a length even without a body (RFC 9110, section 8.6).
    pub(crate) fn missing_length(&self) -> Option<usize> {
        let framed = self.has("content-length") || self.has("transfer-encoding");
        let expected = matches!(self.method, "POST" | "PUT" | "PATCH").then_some(&[][..]);
        let body = self.body.or(expected);
        body.filter(|_| !framed).map(<[u8]>::len)
    }

    fn has(&self, name: &str) -> bool {
        framing::values(self.headers, name).next().is_some()
    }
}

fn check_field(name: &str, value: &str) -> Result<(), InvalidRequest> {
    if !is_token(name) {
        return Err(InvalidRequest::HeaderName(excerpt(name)));
    }
    if !value.bytes().all(is_value_byte) {
        let (name, value) = (excerpt(name), excerpt(value));
        return Err(InvalidRequest::HeaderValue { name, value });
    }
    Ok(())
}

fn write_field(name: &str, value: &str, out: &mut Vec<u8>) {
    for part in [name, ": ", value, "\r\n"] {
        out.extend_from_slice(part.as_bytes());
    }
}

fn excerpt(text: &str) -> Excerpt {
    Excerpt::of(text.as_bytes())
}

/// True if the text is a token (RFC 9110, section 5.6.2).
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_token_byte)
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// True if the byte is neither a blank nor a control character.
fn is_visible(byte: u8) -> bool {
    byte > b' ' && byte != 0x7f
}

/// True if a field's value may contain the byte (RFC 9110, section 5.5).
fn is_value_byte(byte: u8) -> bool {
    is_visible(byte) || matches!(byte, b' ' | b'\t')
}

#[cfg(test)]
mod tests;
