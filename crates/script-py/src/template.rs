//! Requests in the bytes that go out.

use crate::engine::Engine;
use loadline_wire::{Expect, InvalidRequest, RequestHead, Version, write_request};
use std::sync::Arc;
use url::{Position, Url};

/// Fields in the order they are written.
pub(crate) type Fields = Vec<(String, String)>;

/// A request that was written once, and goes out any number of times.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) method: String,
    pub(crate) url: Url,
    pub(crate) fields: Arc<Fields>,
    pub(crate) body: Option<Vec<u8>>,
    /// What goes out, without cookies.
    pub(crate) bytes: Vec<u8>,
    /// Where it goes, by a number of this engine's.
    pub(crate) endpoint: usize,
    /// The engine that knows the endpoint.
    pub(crate) engine: u32,
}

impl Template {
    /// Writes a request.
    ///
    /// # Errors
    /// If it would be read as something else than was meant.
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

    /// Its bytes with these cookies; `None` if it says itself which ones it has.
    pub(crate) fn with_cookies(&self, cookies: &str) -> Option<Vec<u8>> {
        if has_field(&self.fields, "Cookie") {
            return None;
        }
        let (method, body) = (&self.method, self.body.as_deref());
        write(method, &self.url, &self.fields, Some(cookies), body).ok()
    }

    /// What kind of response it gets.
    pub(crate) fn expect(&self) -> Expect {
        Expect::for_method(&self.method)
    }
}

/// Whether a field of this name is among these.
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
