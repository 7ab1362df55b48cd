//! A request in the bytes that oha would send: header names in lower case, Host and Content-Length
//! last.

use super::options::{Options, Version};
use super::signature::Unsigned;
use chrono::{DateTime, Utc};
use loadline_plan::Content;
use loadline_wire::{Expect, InvalidRequest, RequestHead, h2, write_request_head};
use std::time::SystemTime;
use url::{Position, Url};

/// Headers that only the server of the user's URL may receive.
const SECRETS: [&str; 4] = [
    "authorization",
    "cookie",
    "proxy-authorization",
    "x-amz-security-token",
];

/// The size from which a body is not copied into messages, but sent from the memory that all
/// workers share. In bytes.
const LONG_BODY: usize = 64 << 10;

/// A request, ready to be sent.
#[derive(Clone, Debug)]
pub(super) struct Message {
    /// The bytes sent over HTTP/1, without a long body; empty with HTTP/2.
    pub(super) bytes: Vec<u8>,
    /// A long body, which is not copied; empty for short ones and with HTTP/2.
    pub(super) body: Content,
    pub(super) http2: Option<h2::Request>,
    /// The kind of response to expect.
    pub(super) expect: Expect,
    /// The second of the signature, if the request is signed: it is valid in that second only.
    pub(super) signed_at: Option<u64>,
}

impl Message {
    /// Creates the request for a URL with this body. `is_elsewhere` is true after a redirect to
    /// another server than the one of the user's URL; that server must not receive the user's
    /// secrets.
    ///
    /// # Errors
    /// If a part of it can't be sent.
    pub(super) fn new(
        options: &Options,
        url: &Url,
        body: &Content,
        is_elsewhere: bool,
    ) -> Result<Self, InvalidRequest> {
        let is_forwarded = options.arguments.proxy.is_some() && url.scheme() == "http";
        let mut headers = options.headers.clone();
        if is_elsewhere {
            headers.retain(|(name, _)| !SECRETS.contains(&name.as_str()) && name != "host");
        }
        if is_forwarded {
            headers.extend(options.proxy_headers.iter().cloned());
        }
        if !has(&headers, "host") {
            let authority = &url[Position::BeforeHost..Position::AfterPort];
            headers.push(("host".to_owned(), authority.to_owned()));
        }
        if !body.is_empty() && !has(&headers, "content-length") {
            headers.push(("content-length".to_owned(), body.len().to_string()));
        }
        let signed_at = sign(options, url, body, &mut headers, is_elsewhere);
        let parts = Parts {
            method: &options.method,
            target: match is_forwarded {
                true => &url[Position::BeforeScheme..Position::AfterQuery],
                false => &url[Position::BeforePath..Position::AfterQuery],
            },
            headers: &headers,
            body,
        };
        let is_http2 = options.version == Version::Http2;
        let is_apart = !is_http2 && body.len() >= LONG_BODY;
        Ok(Message {
            http2: is_http2
                .then(|| parts.write_http2(url.scheme()))
                .transpose()?,
            bytes: match (is_http2, is_forwarded) {
                (true, _) => Vec::new(),
                (false, true) => parts.write(options.proxy_version, is_apart)?,
                (false, false) => parts.write(options.version, is_apart)?,
            },
            body: match is_apart {
                true => body.clone(),
                false => Content::default(),
            },
            expect: Expect::for_method(&options.method),
            signed_at,
        })
    }

    /// Returns the length in bytes, as a part of a batch.
    pub(super) fn size(&self) -> usize {
        self.http2
            .as_ref()
            .map_or(self.bytes.len() + self.body.len(), h2::Request::size)
    }

    /// True if the message can be sent unchanged now.
    pub(super) fn holds(&self) -> bool {
        self.signed_at.is_none_or(|second| second == now_s())
    }
}

fn has(headers: &[(String, String)], name: &str) -> bool {
    headers.iter().any(|(other, _)| other == name)
}

/// Adds the headers that sign a request; returns the second of the signature.
fn sign(
    options: &Options,
    url: &Url,
    body: &[u8],
    headers: &mut Vec<(String, String)>,
    is_elsewhere: bool,
) -> Option<u64> {
    let signer = options.signer.as_ref().filter(|_| !is_elsewhere)?;
    let second = now_s();
    let time = DateTime::<Utc>::from_timestamp(second as i64, 0)?;
    let time = time.format("%Y%m%dT%H%M%SZ").to_string();
    let unsigned = Unsigned {
        method: &options.method,
        url,
        headers,
        body,
    };
    let added = signer.sign(&unsigned, &time);
    headers.retain(|(name, _)| added.iter().all(|(other, _)| other != name));
    headers.extend(added);
    Some(second)
}

fn now_s() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

struct Parts<'a> {
    method: &'a str,
    target: &'a str,
    headers: &'a [(String, String)],
    body: &'a [u8],
}

impl Parts<'_> {
    /// Writes the head, and the body unless it is sent separately. The head is checked by writing
    /// it as Loadline's own runs do, which may add a length of zero.
    fn write(&self, version: Version, is_apart: bool) -> Result<Vec<u8>, InvalidRequest> {
        self.with_head(|head| write_request_head(head, &mut Vec::new()))?;
        let version = match version {
            Version::Http10 => "HTTP/1.0",
            Version::Http11 | Version::Http2 => "HTTP/1.1",
        };
        let mut text = format!("{} {} {version}\r\n", self.method, self.target);
        for (name, value) in self.headers {
            text += &format!("{name}: {value}\r\n");
        }
        let mut bytes = (text + "\r\n").into_bytes();
        if !is_apart {
            bytes.extend_from_slice(self.body);
        }
        Ok(bytes)
    }

    fn write_http2(&self, scheme: &str) -> Result<h2::Request, InvalidRequest> {
        self.with_head(|head| h2::Request::new(head, scheme))
    }

    fn with_head<T>(&self, write: impl FnOnce(&RequestHead<'_>) -> T) -> T {
        let fields = self.headers.iter();
        let headers: Vec<(&str, &str)> = fields
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        write(&RequestHead {
            method: self.method,
            target: self.target,
            host: "",
            headers: &headers,
            body: (!self.body.is_empty()).then_some(self.body),
            keepalive: true,
            version: loadline_wire::Version::Http11,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::arguments::Arguments;
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    fn message(line: &str, is_elsewhere: bool) -> Message {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let arguments = Arguments::read(&words).expect("arguments");
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let options = Options::of(arguments, &mut random).expect("options");
        let (url, _) = options.urls.draw(&mut random).expect("a URL");
        let super::super::options::Bodies::One(body) = &options.bodies else {
            panic!("a body for each line");
        };
        Message::new(&options, &url, body, is_elsewhere).expect("a message")
    }

    fn text(line: &str) -> String {
        String::from_utf8(message(line, false).bytes).expect("text")
    }

    #[test]
    fn a_request_is_ohas_to_the_byte() {
        assert_eq!(
            text("http://127.0.0.1:8080/a?b=1#c"),
            "GET /a?b=1 HTTP/1.1\r\naccept: */*\r\n\
             accept-encoding: gzip, compress, deflate, br\r\nuser-agent: oha/1.16.0\r\n\
             host: 127.0.0.1:8080\r\n\r\n"
        );
        assert_eq!(
            text("-m POST -d xyz -H X-A:1 --http-version 1.0 http://a/"),
            "POST / HTTP/1.0\r\naccept: */*\r\n\
             accept-encoding: gzip, compress, deflate, br\r\nuser-agent: oha/1.16.0\r\n\
             x-a: 1\r\nhost: a\r\ncontent-length: 3\r\n\r\nxyz"
        );
        assert!(!text("-m POST http://a/").contains("content-length"));
    }

    #[test]
    fn a_proxy_is_asked_for_the_whole_url() {
        let asked = text("-x http://p:1 --proxy-header P:2 http://a/b");
        assert!(asked.starts_with("GET http://a/b HTTP/1.1\r\n"), "{asked}");
        assert!(asked.contains("\r\np: 2\r\n"), "{asked}");
        let tunnelled = text("-x http://p:1 --proxy-header P:2 https://a/b");
        assert!(tunnelled.starts_with("GET /b HTTP/1.1\r\n"), "{tunnelled}");
        assert!(!tunnelled.contains("p: 2"), "{tunnelled}");
    }

    #[test]
    fn another_server_does_not_see_secrets() {
        let line = "-a u:p -H Cookie:x --host b http://a/";
        let own = String::from_utf8(message(line, false).bytes).expect("text");
        assert!(
            own.contains("authorization: ") && own.contains("cookie: ") && own.contains("host: b")
        );
        let other = String::from_utf8(message(line, true).bytes).expect("text");
        assert!(!other.contains("authorization: ") && !other.contains("cookie: "));
        assert!(other.contains("host: a\r\n"));
    }

    #[test]
    fn a_signature_covers_host_and_length_and_holds_for_its_second() {
        let line = "-a k:s --aws-sigv4 aws:amz:r:s --aws-session t -d xyz http://a:81/";
        let signed = message(line, false);
        let text = String::from_utf8(signed.bytes.clone()).expect("text");
        let names = "SignedHeaders=content-length;host;x-amz-date;x-amz-security-token,";
        assert!(text.contains(names), "{text}");
        assert!(text.contains("x-amz-security-token: t\r\n"));
        assert!(signed.signed_at.is_some());
        let stale = Message {
            signed_at: Some(1),
            ..signed
        };
        assert!(!stale.holds());
    }
}
