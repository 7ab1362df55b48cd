//! `/echo`: the request as the server received it.

use crate::line::Line;
use hyper::header::HeaderMap;
use hyper::http::request::Parts;
use std::fmt::Write;

/// The largest request that is sent back, in bytes.
pub(crate) const MOST_BYTES: usize = 64 * 1024 * 1024;

/// Returns the head of `request`, including its blank line: byte for byte as received, or
/// reassembled, with its headers in lower case and equal names side by side, if the connection has
/// not stored it (because more than 64 KB of other bytes arrived at once before it).
pub(crate) fn head(line: &Line, request: &Parts) -> Vec<u8> {
    let first_line = request_line(request);
    line.take_head(&first_line)
        .unwrap_or_else(|| rebuilt(first_line, &request.headers))
}

fn request_line(request: &Parts) -> String {
    format!(
        "{} {} {:?}\r\n",
        request.method, request.uri, request.version
    )
}

fn rebuilt(first_line: String, headers: &HeaderMap) -> Vec<u8> {
    let mut head = first_line;
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        write!(head, "{name}: {value}\r\n").expect("a String takes whatever is written to it");
    }
    head.push_str("\r\n");
    head.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    #[test]
    fn a_head_that_was_not_kept_is_rebuilt() {
        let (request, ()) = Request::builder()
            .method("PUT")
            .uri("/echo?a=1")
            .header("X-A", "1")
            .header("x-b", "2")
            .body(())
            .expect("a request")
            .into_parts();
        let rebuilt = rebuilt(request_line(&request), &request.headers);
        assert_eq!(
            rebuilt,
            b"PUT /echo?a=1 HTTP/1.1\r\nx-a: 1\r\nx-b: 2\r\n\r\n"
        );
    }
}
