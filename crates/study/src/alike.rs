//! The test whether targets do the same work: the same requests must have the same responses from
//! all of them, byte for byte, before anything is measured.
//!
//! What is compared is the status and the body; header fields (a date, the server's name) may
//! differ.

use crate::problem::{FileError, Problem};
use crate::study::{Alike, Study};
use crate::target::Serving;
use loadline_plan::Target;
use loadline_wire::{Expect, RequestHead, ResponseParser, Sink, Version, write_request};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The longest time for one of these responses: a target's first ones may be slow.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes of a body on either side of the first that differs, as a message shows them.
const SHOWN: usize = 24;

/// The responses of targets so far.
#[derive(Debug)]
pub(crate) struct Likeness<'a> {
    study: &'a Study,
    /// For each request the target that received it first, and its response.
    first: Vec<Option<(String, Response)>>,
}

/// The compared parts of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Response {
    status: u16,
    body: Vec<u8>,
}

impl Sink for Response {
    const NEEDS_HEAD: bool = true;
    const NEEDS_BODY: bool = true;

    fn status(&mut self, status: u16) {
        self.status = status;
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }
}

impl<'a> Likeness<'a> {
    pub(crate) fn new(study: &'a Study) -> Self {
        Likeness {
            study,
            first: vec![None; study.alike.len()],
        }
    }

    /// Sends the requests to a target, and compares its responses with those of the first target.
    pub(crate) fn check(&mut self, target: &Serving<'_>) -> Result<(), FileError> {
        for (alike, first) in self.study.alike.iter().zip(&mut self.first) {
            let refuse = |problem| self.study.refuse(alike.line, problem);
            let response = exchange(target.url(), alike).map_err(|why| {
                refuse(Problem::NoResponse {
                    target: target.name().to_owned(),
                    method: alike.method.clone(),
                    path: alike.path.clone(),
                    why,
                })
            })?;
            match first {
                None => *first = Some((target.name().to_owned(), response)),
                Some((one, known)) => {
                    if let Some(difference) = difference(known, &response) {
                        return Err(refuse(Problem::NotAlike {
                            method: alike.method.clone(),
                            path: alike.path.clone(),
                            one: one.clone(),
                            other: target.name().to_owned(),
                            difference,
                        }));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Sends a request to a target, and reads its response. The error is a phrase.
fn exchange(url: &str, alike: &Alike) -> Result<Response, String> {
    let target: Target = url.parse().map_err(|_| "its URL is none".to_owned())?;
    if target.url.scheme() != "http" {
        return Err("only http URLs can be compared".to_owned());
    }
    let host = target.url.host_str().unwrap_or_default();
    let port = target.url.port_or_known_default().unwrap_or(80);
    let headers: &[(&str, &str)] = match alike.body {
        Some(_) => &[
            ("Content-Type", "application/json"),
            ("Accept", "application/json"),
        ],
        None => &[("Accept", "application/json")],
    };
    let mut request = Vec::new();
    let head = RequestHead {
        method: &alike.method,
        target: &alike.path,
        host: &format!("{host}:{port}"),
        headers,
        body: alike.body.as_deref().map(str::as_bytes),
        keepalive: false,
        version: Version::Http11,
    };
    write_request(&head, &mut request).map_err(|error| error.to_string())?;
    let expect = match alike.method.as_str() {
        "HEAD" => Expect::Head,
        _ => Expect::Other,
    };
    let address = (host.trim_matches(['[', ']']), port);
    let connected = TcpStream::connect(address);
    let received = connected.and_then(|stream| receive(stream, &request, expect));
    received.map_err(|error| error.to_string())
}

fn receive(mut stream: TcpStream, request: &[u8], expect: Expect) -> io::Result<Response> {
    stream.set_read_timeout(Some(RESPONSE_TIMEOUT))?;
    stream.write_all(request)?;
    let mut parser = ResponseParser::new();
    parser.begin(expect);
    let mut response = Response::default();
    let mut bytes = [0; 16 << 10];
    loop {
        let count = stream.read(&mut bytes)?;
        if count == 0 {
            parser.close().map_err(io::Error::other)?;
            return Ok(response);
        }
        let mut rest = &bytes[..count];
        while !rest.is_empty() {
            let fed = parser.feed(rest, &mut response).map_err(io::Error::other)?;
            if fed.done {
                return Ok(response);
            }
            rest = &rest[fed.used..];
        }
    }
}

/// Returns the difference of two responses as a phrase.
fn difference(one: &Response, other: &Response) -> Option<String> {
    if one.status != other.status {
        return Some(format!("status {} and {}", one.status, other.status));
    }
    if one.body == other.body {
        return None;
    }
    let pairs = one.body.iter().zip(&other.body);
    let place = pairs.take_while(|(one, other)| one == other).count();
    let shown = |body: &[u8]| {
        let (begin, end) = (place.saturating_sub(SHOWN), body.len().min(place + SHOWN));
        String::from_utf8_lossy(&body[begin..end]).into_owned()
    };
    Some(format!(
        "from byte {place} on the bodies are {:?} and {:?}",
        shown(&one.body),
        shown(&other.body)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(status: u16, body: &str) -> Response {
        Response {
            status,
            body: body.as_bytes().to_vec(),
        }
    }

    #[test]
    fn responses_differ_by_status_or_by_any_byte() {
        let one = response(200, "{\"id\":1,\"name\":\"a\"}");
        assert_eq!(difference(&one, &one.clone()), None);
        let other = response(404, "");
        assert_eq!(difference(&one, &other).unwrap(), "status 200 and 404");
        let other = response(200, "{\"id\":1, \"name\":\"a\"}");
        let told = "from byte 8 on the bodies are \"{\\\"id\\\":1,\\\"name\\\":\\\"a\\\"}\" and \
                    \"{\\\"id\\\":1, \\\"name\\\":\\\"a\\\"}\"";
        assert_eq!(difference(&one, &other).unwrap(), told);
        let longer = response(200, "{\"id\":1,\"name\":\"a\"}\n");
        assert!(
            difference(&one, &longer)
                .unwrap()
                .starts_with("from byte 19 on")
        );
    }
}
