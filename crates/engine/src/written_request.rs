//! A request of the plan in the bytes that go out.

use crate::behaviour::Part;
use loadline_plan::{Body, Connection, Proxy, Request};
use loadline_wire::{Expect, InvalidRequest, RequestHead, Version, write_request};
use url::{Position, Url};

/// One request as it goes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenRequest {
    /// The endpoint's index in the run's list.
    pub(crate) endpoint: usize,
    pub(crate) bytes: Vec<u8>,
    pub(crate) part: Part,
    /// How often it is sent in a round of the plan's requests.
    pub(crate) weight: u64,
}

impl WrittenRequest {
    pub(crate) fn new(
        request: &Request,
        endpoint: usize,
        connection: &Connection,
    ) -> Result<Self, InvalidRequest> {
        let proxy = asked_proxy(&request.url, connection);
        let headers = headers_of(request, proxy);
        let body = match &request.body {
            Body::None => None,
            Body::Bytes(bytes) => Some(bytes.as_slice()),
        };
        let head = RequestHead {
            method: &request.method,
            target: target_of(&request.url, proxy.is_some()),
            host: authority_of(&request.url),
            headers: &headers,
            body,
            keepalive: connection.keepalive,
            version: Version::Http11,
        };
        let mut bytes = Vec::new();
        write_request(&head, &mut bytes)?;
        let part = Part {
            end: bytes.len(),
            expect: Expect::for_method(&request.method),
        };
        Ok(WrittenRequest {
            endpoint,
            bytes,
            part,
            weight: u64::from(request.weight.max(1)),
        })
    }
}

/// The proxy that a request is asked of, as opposed to one that opens a tunnel for it.
fn asked_proxy<'a>(url: &Url, connection: &'a Connection) -> Option<&'a Proxy> {
    connection.proxy.as_ref().filter(|_| url.scheme() == "http")
}

/// The request's fields, and who asks the proxy if the request does not say so itself.
fn headers_of<'a>(request: &'a Request, proxy: Option<&'a Proxy>) -> Vec<(&'a str, &'a str)> {
    const WHO_ASKS: &str = "Proxy-Authorization";
    let own = request.headers.iter();
    let mut headers: Vec<(&str, &str)> = own
        .map(|header| (header.name.as_str(), header.value.as_str()))
        .collect();
    let is_told = request.headers.iter().any(|header| header.is(WHO_ASKS));
    let authorization = proxy.and_then(|proxy| proxy.authorization.as_deref());
    headers.extend(
        authorization
            .filter(|_| !is_told)
            .map(|value| (WHO_ASKS, value)),
    );
    headers
}

/// Path and query; with scheme and host before them if a proxy is asked (RFC 9112, section 3.2.2).
fn target_of(url: &Url, is_absolute: bool) -> &str {
    let from = if is_absolute {
        Position::BeforeScheme
    } else {
        Position::BeforePath
    };
    &url[from..Position::AfterQuery]
}

/// Host and port, the port only where it is not the scheme's.
fn authority_of(url: &Url) -> &str {
    &url[Position::BeforeHost..Position::AfterPort]
}
