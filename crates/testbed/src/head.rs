//! The head of a raw response, and the header fields that every response has.

use crate::answer::{Answer, Version};
use crate::fault::Fault;
use crate::reply::Reply;
use hyper::StatusCode;
use hyper::header::{CONTENT_ENCODING, HeaderName, HeaderValue, LOCATION, SET_COOKIE};
use std::fmt::Write;

/// The header with the time since the previous request's arrival, in nanoseconds.
pub(crate) const GAP_HEADER: HeaderName = HeaderName::from_static("x-arrival-gap-ns");

/// Returns the content type of a response's body.
pub(crate) fn content_type(answer: &Answer) -> HeaderValue {
    HeaderValue::from_static(match answer.json {
        Some(_) => "application/json",
        None => "text/plain",
    })
}

/// The trailer of every response that has one.
pub(crate) const TRAILER: &str = "X-Trailer: end\r\n";

/// The least number of bytes of a huge head.
const HUGE_HEAD_BYTES: usize = 1_000_000;

/// Returns the fields of a response that its options add.
pub(crate) fn option_fields(answer: &Answer) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    let encoding = answer.encoding.map(|encoding| encoding.name());
    let fields = [
        (LOCATION, answer.location.clone()),
        (SET_COOKIE, answer.set_cookie.clone()),
        (CONTENT_ENCODING, encoding.map(HeaderValue::from_static)),
    ];
    let fields = fields.into_iter();
    fields.filter_map(|(name, value)| Some((name, value?)))
}

/// The end of a response's body (RFC 9112, section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    Chunked,
    /// After a length, which may be wrong.
    Length(u64),
    /// No body, and no field that describes it.
    Nothing,
    UntilClose,
}

impl Framing {
    pub(crate) fn of(reply: &Reply) -> Self {
        let (answer, size) = (&reply.answer, reply.content.size());
        let is_chunked = answer.chunked || answer.trailers;
        match answer.fault {
            Some(Fault::BadChunk | Fault::Endless) => Self::Chunked,
            Some(Fault::LongLength) => Self::Length(size + 1),
            Some(Fault::ShortLength) => Self::Length(size / 2),
            _ if !reply.has_body() && !reply.is_head_only => Self::Nothing,
            _ if answer.until_close => Self::UntilClose,
            _ if is_chunked && answer.version == Version::Http11 => Self::Chunked,
            _ if is_chunked => Self::UntilClose,
            _ => Self::Length(size),
        }
    }
}

/// Returns the head of `reply`, after the heads of its interim responses.
pub(crate) fn write(reply: &Reply, framing: Framing) -> Vec<u8> {
    let answer = &reply.answer;
    let mut head = String::new();
    for interim in &answer.interim {
        push_status_line(&mut head, Version::Http11, *interim);
        head.push_str("\r\n");
    }
    push_status_line(&mut head, answer.version, answer.status);
    let content_type = content_type(answer);
    let content_type = String::from_utf8_lossy(content_type.as_bytes());
    push(&mut head, format_args!("Content-Type: {content_type}\r\n"));
    push(
        &mut head,
        format_args!("{GAP_HEADER}: {}\r\n", reply.gap_ns),
    );
    for (name, value) in option_fields(answer) {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        push(&mut head, format_args!("{name}: {value}\r\n"));
    }
    push_framing(&mut head, answer, framing);
    push_connection(&mut head, reply);
    if answer.fault == Some(Fault::HugeHead) {
        push_filler(&mut head);
    }
    head.push_str("\r\n");
    head.into_bytes()
}

fn push_status_line(head: &mut String, version: Version, status: StatusCode) {
    let version = match version {
        Version::Http10 => "1.0",
        Version::Http11 => "1.1",
    };
    let reason = status.canonical_reason().unwrap_or_default();
    push(
        head,
        format_args!("HTTP/{version} {} {reason}\r\n", status.as_str()),
    );
}

fn push_framing(head: &mut String, answer: &Answer, framing: Framing) {
    match framing {
        Framing::Chunked => head.push_str("Transfer-Encoding: chunked\r\n"),
        Framing::Length(length) => push(head, format_args!("Content-Length: {length}\r\n")),
        Framing::Nothing | Framing::UntilClose => (),
    }
    if framing == Framing::Chunked && answer.trailers {
        head.push_str("Trailer: X-Trailer\r\n");
    }
}

fn push_connection(head: &mut String, reply: &Reply) {
    if reply.closes || !reply.client_stays {
        head.push_str("Connection: close\r\n");
    } else if reply.answer.version == Version::Http10 {
        head.push_str("Connection: keep-alive\r\n");
    }
}

fn push_filler(head: &mut String) {
    while head.len() < HUGE_HEAD_BYTES {
        push(head, format_args!("X-Filler: {:x<1000}\r\n", ""));
    }
}

fn push(head: &mut String, text: std::fmt::Arguments<'_>) {
    head.write_fmt(text)
        .expect("a String takes whatever is written to it");
}
