//! Checks that given fields describe the end of a request's body correctly (RFC 9112, section 6).
//!
//! With a wrong description a server waits for bytes that never arrive, or reads the rest of a body
//! as the next request, and the measurement is meaningless.

use super::{InvalidRequest, excerpt};
use crate::body::Expect;
use crate::response::ResponseParser;

/// Returns the values of all fields of this name, in order.
pub(super) fn values<'a>(
    headers: &'a [(&str, &'a str)],
    name: &str,
) -> impl Iterator<Item = &'a str> {
    headers
        .iter()
        .filter(move |(given, _)| given.eq_ignore_ascii_case(name))
        .map(|(_, value)| *value)
}

/// Refuses fields that contradict the body, or each other.
pub(super) fn check(headers: &[(&str, &str)], body: &[u8]) -> Result<(), InvalidRequest> {
    let coding = values(headers, "transfer-encoding").last();
    for given in values(headers, "content-length") {
        if coding.is_some() {
            return Err(InvalidRequest::LengthAndEncoding);
        }
        if !is_length(given, body.len()) {
            let (given, length) = (excerpt(given), body.len());
            return Err(InvalidRequest::ContentLength { given, length });
        }
    }
    coding.map_or(Ok(()), |coding| check_coding(coding, body))
}

/// True if `text` is this number, as digits only.
fn is_length(text: &str, length: usize) -> bool {
    let text = text.trim_matches([' ', '\t']);
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse() == Ok(length)
}

/// Checks a request's transfer coding, the last of which must be chunked (RFC 9112, section 6.1).
fn check_coding(coding: &str, body: &[u8]) -> Result<(), InvalidRequest> {
    let last = coding.rsplit(',').next().unwrap_or(coding);
    let last = last.trim_matches([' ', '\t']);
    if !last.eq_ignore_ascii_case("chunked") {
        return Err(InvalidRequest::Encoding(excerpt(last)));
    }
    if !is_chunked(body) {
        return Err(InvalidRequest::NotChunked);
    }
    Ok(())
}

/// True if the body is chunked. It is checked with the response parser, because chunks are the same
/// in requests and responses.
fn is_chunked(body: &[u8]) -> bool {
    let mut parser = ResponseParser::new();
    parser.begin(Expect::Other);
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut feed = |bytes| parser.feed(bytes, &mut ());
    let begun = feed(head).is_ok();
    begun && feed(body).is_ok_and(|fed| fed.done && fed.used == body.len())
}
