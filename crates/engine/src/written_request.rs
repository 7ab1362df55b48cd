//! The bytes of a request of the plan.

use crate::batch::Part;
use loadline_metrics::SeriesId;
use loadline_plan::{Body, Connection, Content, HttpVersion, Proxy, Request};
use loadline_wire::{
    Expect, InvalidRequest, RequestHead, Version, h2, write_request, write_request_head,
};
use std::ops::Range;
use url::{Position, Url};

/// The length from which a body is sent without a copy, in bytes: a copy would cost more than the
/// separate system call.
const LONG_BODY: usize = 64 << 10;
const PROXY_AUTHORIZATION: &str = "Proxy-Authorization";

/// One request in the form in which it is sent.
#[derive(Clone, Debug)]
pub(crate) struct WrittenRequest {
    /// The endpoint's index in the run's list.
    pub(crate) endpoint: usize,
    /// The bytes over HTTP/1.1, without a long body; empty with HTTP/2.
    pub(crate) bytes: Vec<u8>,
    /// A long body, which is not copied; empty with HTTP/2.
    pub(crate) body: Content,
    pub(crate) http2: Option<h2::Request>,
    pub(crate) part: Part,
    /// The number of times that it is sent in a round of the plan's requests.
    pub(crate) weight: u64,
}

impl WrittenRequest {
    pub(crate) fn new(
        request: &Request,
        endpoint: usize,
        series: SeriesId,
        connection: &Connection,
    ) -> Result<Self, InvalidRequest> {
        let own = request.headers.iter();
        let outgoing = Outgoing {
            method: &request.method,
            url: &request.url,
            headers: own
                .map(|header| (header.name.as_str(), header.value.as_str()))
                .collect(),
            body: match &request.body {
                Body::None => None,
                Body::Bytes(bytes) => Some(bytes),
            },
        };
        let long_body = match &request.body {
            Body::Bytes(bytes) if bytes.len() >= LONG_BODY => bytes.clone(),
            Body::Bytes(_) | Body::None => Content::default(),
        };
        let (bytes, body, http2) = match connection.http {
            HttpVersion::V2 => {
                let http2 = outgoing.write_http2(connection)?;
                (Vec::new(), Content::default(), Some(http2))
            }
            HttpVersion::V1_1 | HttpVersion::Auto if long_body.is_empty() => {
                (outgoing.write(connection)?, long_body, None)
            }
            HttpVersion::V1_1 | HttpVersion::Auto => {
                (outgoing.write_head(connection)?, long_body, None)
            }
        };
        let length = bytes.len() + body.len();
        let part = Part {
            end: http2.as_ref().map_or(length, h2::Request::size),
            expect: Expect::for_method(&request.method),
            series,
            request: None,
        };
        Ok(WrittenRequest {
            endpoint,
            bytes,
            body,
            http2,
            part,
            weight: u64::from(request.weight.max(1)),
        })
    }
}

/// Returns the range of path and query in the bytes of a request of HTTP/1.1.
pub(crate) fn requested_of(request: &Request, connection: &Connection) -> Range<usize> {
    let is_absolute = forwarding_proxy(&request.url, connection).is_some();
    let target = target_of(&request.url, is_absolute);
    let end = request.method.len() + 1 + target.len();
    end - target_of(&request.url, false).len()..end
}

/// A request that is about to be written.
pub(crate) struct Outgoing<'a> {
    pub(crate) method: &'a str,
    pub(crate) url: &'a Url,
    pub(crate) headers: Vec<(&'a str, &'a str)>,
    pub(crate) body: Option<&'a [u8]>,
}

impl<'a> Outgoing<'a> {
    /// Writes the request for a connection with these settings.
    pub(crate) fn write(self, connection: &'a Connection) -> Result<Vec<u8>, InvalidRequest> {
        let mut bytes = Vec::new();
        self.with_head(connection, |head| write_request(head, &mut bytes))?;
        Ok(bytes)
    }

    /// Writes the request like [`write`](Self::write), without the body.
    fn write_head(self, connection: &'a Connection) -> Result<Vec<u8>, InvalidRequest> {
        let mut bytes = Vec::new();
        self.with_head(connection, |head| write_request_head(head, &mut bytes))?;
        Ok(bytes)
    }

    /// Writes the request like [`write`](Self::write), for HTTP/2.
    pub(crate) fn write_http2(
        self,
        connection: &'a Connection,
    ) -> Result<h2::Request, InvalidRequest> {
        let scheme = self.url.scheme();
        self.with_head(connection, |head| h2::Request::new(head, scheme))
    }

    fn with_head<T>(
        mut self,
        connection: &'a Connection,
        write: impl FnOnce(&RequestHead<'_>) -> T,
    ) -> T {
        let proxy = forwarding_proxy(self.url, connection);
        let authorization = proxy.and_then(|proxy| proxy.authorization.as_deref());
        // The proxy's credentials, unless the request has its own.
        if let Some(value) = authorization
            && !self.has_header(PROXY_AUTHORIZATION)
        {
            self.headers.push((PROXY_AUTHORIZATION, value));
        }
        let head = RequestHead {
            method: self.method,
            target: target_of(self.url, proxy.is_some()),
            host: authority_of(self.url),
            headers: &self.headers,
            body: self.body,
            keepalive: connection.keepalive,
            version: Version::Http11,
        };
        write(&head)
    }

    fn has_header(&self, name: &str) -> bool {
        let mut names = self.headers.iter().map(|(name, _)| name);
        names.any(|given| given.eq_ignore_ascii_case(name))
    }
}

/// Returns the proxy that forwards the request itself; `None` if there is none, or it opens a
/// tunnel.
fn forwarding_proxy<'a>(url: &Url, connection: &'a Connection) -> Option<&'a Proxy> {
    let proxy = connection.proxy_for(url);
    proxy.filter(|_| url.scheme() == "http")
}

/// Returns path and query; with scheme and host before them if a proxy forwards the request (RFC
/// 9112, section 3.2.2).
fn target_of(url: &Url, is_absolute: bool) -> &str {
    let from = if is_absolute {
        Position::BeforeScheme
    } else {
        Position::BeforePath
    };
    &url[from..Position::AfterQuery]
}

/// Returns host and port, the port only if it is not the scheme's default.
fn authority_of(url: &Url) -> &str {
    &url[Position::BeforeHost..Position::AfterPort]
}
