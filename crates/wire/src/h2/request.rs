//! Requests that are written before the run: a header block and a body (RFC 9113, section 8.3.1).
//!
//! The block is valid on every connection, so that sending it costs a stream number and a copy.
//! `Content-Length` is added as in HTTP/1.1; `Host` becomes `:authority`.

use std::sync::Arc;

use super::head::CONNECTION_FIELDS;
use super::hpack::encode_field;
use crate::body::Expect;
use crate::excerpt::Excerpt;
use crate::request::{InvalidRequest, RequestHead};

/// A request that can be sent on any stream of any connection.
#[derive(Clone, Debug)]
pub struct Request {
    pub(super) block: Box<[u8]>,
    pub(super) body: Arc<[u8]>,
    pub(super) expect: Expect,
}

impl Request {
    /// Writes a request to a server that is reached by `scheme`, `http` or `https`. The head's
    /// version and `keepalive` have no effect.
    ///
    /// # Errors
    /// If a part would break the request, or does not exist in HTTP/2.
    pub fn new(head: &RequestHead<'_>, scheme: &str) -> Result<Self, InvalidRequest> {
        head.check()?;
        let mut block = Vec::new();
        write_pseudo_fields(head, scheme, &mut block)?;
        for (name, value) in head.headers {
            let name = name.to_ascii_lowercase();
            let value = value.trim_matches([' ', '\t']);
            check_field(&name, value)?;
            if name != "host" {
                encode_field(&name, value, &mut block);
            }
        }
        if let Some(length) = head.missing_length() {
            encode_field("content-length", &length.to_string(), &mut block);
        }
        Ok(Self {
            block: block.into(),
            body: head.body.unwrap_or_default().into(),
            expect: Expect::for_method(head.method),
        })
    }

    /// Returns the same request with one more field after the others. Its name is in lower case,
    /// and both are as HTTP/2 allows them.
    pub fn with_field(&self, name: &str, value: &str) -> Self {
        let mut block = self.block.to_vec();
        encode_field(name, value, &mut block);
        Self {
            block: block.into(),
            body: Arc::clone(&self.body),
            expect: self.expect,
        }
    }

    /// Returns the length of the header block and the body in bytes, without the frames around
    /// them.
    pub fn size(&self) -> usize {
        self.block.len() + self.body.len()
    }
}

fn write_pseudo_fields(
    head: &RequestHead<'_>,
    scheme: &str,
    block: &mut Vec<u8>,
) -> Result<(), InvalidRequest> {
    let given = head.headers.iter();
    let mut hosts = given.filter(|(name, _)| name.eq_ignore_ascii_case("host"));
    let authority = hosts.next().map_or(head.host, |(_, value)| value.trim());
    encode_field(":method", head.method, block);
    if head.method == "CONNECT" {
        encode_field(":authority", head.target, block);
        return Ok(());
    }
    if !head.target.starts_with('/') && head.target != "*" {
        return Err(InvalidRequest::NoPath(Excerpt::of(head.target.as_bytes())));
    }
    encode_field(":scheme", scheme, block);
    if !authority.is_empty() {
        encode_field(":authority", authority, block);
    }
    encode_field(":path", head.target, block);
    Ok(())
}

/// Refuses fields of connections (RFC 9113, section 8.2.2). `name` is in lower case.
fn check_field(name: &str, value: &str) -> Result<(), InvalidRequest> {
    let is_forbidden = CONNECTION_FIELDS.contains(&name);
    if is_forbidden || (name == "te" && !value.eq_ignore_ascii_case("trailers")) {
        return Err(InvalidRequest::ForbiddenInHttp2(Excerpt::of(
            name.as_bytes(),
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Version;
    use crate::h2::hpack::BlockReader;

    const GET: RequestHead<'static> = RequestHead {
        method: "GET",
        target: "/",
        host: "here:80",
        headers: &[],
        body: None,
        keepalive: true,
        version: Version::Http11,
    };

    fn written(head: &RequestHead<'_>) -> Result<Vec<String>, InvalidRequest> {
        let request = Request::new(head, "http")?;
        let mut reader = BlockReader::<()>::new(0, 1 << 16);
        let (fields, ()) = reader.read(&request.block, |_| ()).unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let lines = fields
            .iter()
            .map(|(name, value)| [text(name), text(value)].join(": "));
        Ok(lines.collect())
    }

    #[test]
    fn a_request_has_its_pseudo_fields_first() {
        let headers = [("Accept", "*/*"), ("HOST", "there"), ("X-A", " b ")];
        let head = RequestHead {
            headers: &headers,
            ..GET
        };
        let expected = [
            ":method: GET",
            ":scheme: http",
            ":authority: there",
            ":path: /",
            "accept: */*",
            "x-a: b",
        ];
        assert_eq!(written(&head).unwrap(), expected);
        assert_eq!(written(&GET).unwrap()[2], ":authority: here:80");
    }

    #[test]
    fn a_further_field_stands_behind_the_others() {
        let request = Request::new(&GET, "http").unwrap();
        let more = request.with_field("traceparent", "00-ab-01");
        let mut reader = BlockReader::<()>::new(0, 1 << 16);
        let (fields, ()) = reader.read(&more.block, |_| ()).unwrap();
        let fields: Vec<_> = fields.iter().collect();
        let expected = (&b"traceparent"[..], &b"00-ab-01"[..]);
        assert_eq!(fields[fields.len() - 1], expected);
        assert!(more.size() > request.size());
    }

    #[test]
    fn a_body_has_its_length() {
        let post = RequestHead {
            method: "POST",
            body: Some(b"abc"),
            ..GET
        };
        assert_eq!(written(&post).unwrap().last().unwrap(), "content-length: 3");
        let empty = RequestHead { body: None, ..post };
        assert_eq!(
            written(&empty).unwrap().last().unwrap(),
            "content-length: 0"
        );
    }

    #[test]
    fn connect_has_an_authority_and_no_path() {
        let head = RequestHead {
            method: "CONNECT",
            target: "there:443",
            ..GET
        };
        assert_eq!(
            written(&head).unwrap(),
            [":method: CONNECT", ":authority: there:443"]
        );
    }

    #[test]
    fn what_http2_has_no_place_for_is_refused() {
        for (name, value) in [
            ("Connection", "close"),
            ("Keep-Alive", "5"),
            ("Upgrade", "h2c"),
            ("Proxy-Connection", "close"),
            ("TE", "gzip"),
        ] {
            let headers = [(name, value)];
            let refused = written(&RequestHead {
                headers: &headers,
                ..GET
            })
            .unwrap_err();
            let name = Excerpt::of(name.to_lowercase().as_bytes());
            assert_eq!(refused, InvalidRequest::ForbiddenInHttp2(name));
        }
        let trailers = [("te", "trailers")];
        assert!(
            written(&RequestHead {
                headers: &trailers,
                ..GET
            })
            .is_ok()
        );
        let absolute = RequestHead {
            target: "http://here/",
            ..GET
        };
        assert!(matches!(written(&absolute), Err(InvalidRequest::NoPath(_))));
    }
}
