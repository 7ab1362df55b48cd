//! Encoded requests.

use crate::engine::Engine;
use loadline_wire::{Expect, InvalidRequest, RequestHead, Version, write_request};
use std::sync::Arc;
use url::{Position, Url};

/// Fields in the order in which they are written.
pub(crate) type Fields = Vec<(String, String)>;

/// A request that is encoded once, and sent any number of times.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) method: String,
    pub(crate) url: Url,
    pub(crate) fields: Arc<Fields>,
    pub(crate) body: Option<Vec<u8>>,
    /// The bytes to send, without cookies.
    pub(crate) bytes: Vec<u8>,
    /// The number of the endpoint in the engine.
    pub(crate) endpoint: usize,
    /// The engine that has the endpoint.
    pub(crate) engine: u32,
}

impl Template {
    /// Encodes a request.
    ///
    /// # Errors
    /// If a server would read it differently than intended.
    pub(crate) fn write(
        engine: &Engine,
        method: &str,
        url: Url,
        fields: Arc<Fields>,
        body: Option<Vec<u8>>,
    ) -> Result<Template, InvalidRequest> {
        Ok(Template {
            bytes: write(method, &url, &fields, None, body.as_deref())?,
            endpoint: engine.endpoint_of(&url),
            engine: engine.serial,
            method: method.to_owned(),
            url,
            fields,
            body,
        })
    }

    /// Returns the bytes with these cookies; `None` if the request sets its own.
    pub(crate) fn with_cookies(&self, cookies: &str) -> Option<Vec<u8>> {
        if has_field(&self.fields, "Cookie") {
            return None;
        }
        let (method, body) = (&self.method, self.body.as_deref());
        write(method, &self.url, &self.fields, Some(cookies), body).ok()
    }

    /// Returns the kind of response that follows the request.
    pub(crate) fn expect(&self) -> Expect {
        Expect::for_method(&self.method)
    }
}

/// True if there is a field of this name.
pub(crate) fn has_field(fields: &Fields, name: &str) -> bool {
    let mut names = fields.iter().map(|(name, _)| name);
    names.any(|known| known.eq_ignore_ascii_case(name))
}

fn write(
    method: &str,
    url: &Url,
    fields: &Fields,
    cookies: Option<&str>,
    body: Option<&[u8]>,
) -> Result<Vec<u8>, InvalidRequest> {
    let own = fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let cookies = cookies.map(|cookies| ("Cookie", cookies));
    let headers: Vec<(&str, &str)> = own.chain(cookies).collect();
    let head = RequestHead {
        method,
        target: &url[Position::BeforePath..Position::AfterQuery],
        host: &url[Position::BeforeHost..Position::AfterPort],
        headers: &headers,
        body,
        keepalive: true,
        version: Version::Http11,
    };
    let mut bytes = Vec::new();
    write_request(&head, &mut bytes)?;
    Ok(bytes)
}
