//! The response to one request, with everything decided, before it is sent in either way.

use crate::answer::{Answer, Version};
use crate::content::Content;
use hyper::body::Bytes;
use hyper::header::CONNECTION;
use hyper::http::request;
use hyper::{HeaderMap, Method, StatusCode};

/// The response to one request.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) answer: Answer,
    pub(crate) content: Content,
    /// The time since the previous arrival, for the response's head.
    pub(crate) gap_ns: u64,
    /// True if the response announces the end of the connection, which then ends.
    pub(crate) closes: bool,
    /// True if the client expects the connection to continue.
    pub(crate) client_stays: bool,
    /// True if the request was HEAD: the response has the head of one to GET, and no body.
    pub(crate) is_head_only: bool,
}

impl Reply {
    /// Creates the reply to `request`, the n-th of its connection.
    pub(crate) fn new(
        request: &request::Parts,
        answer: Answer,
        content: Content,
        gap_ns: u64,
        nth: u64,
    ) -> Self {
        Self {
            closes: closes(&answer, nth),
            client_stays: client_stays(request),
            is_head_only: request.method == Method::HEAD,
            answer,
            content,
            gap_ns,
        }
    }

    /// True if body bytes follow the head; HTTP forbids them for some methods and statuses (RFC
    /// 9112, section 6.3).
    pub(crate) fn has_body(&self) -> bool {
        let bodiless = [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED];
        !self.is_head_only && !bodiless.contains(&self.answer.status)
    }
}

/// Returns a response with `text` that replaces the requested one.
pub(crate) fn refusal(status: StatusCode, text: String) -> (Answer, Content) {
    let text = Content::Text(Bytes::from(text + "\n"));
    (
        Answer {
            status,
            ..Answer::default()
        },
        text,
    )
}

fn closes(answer: &Answer, nth: u64) -> bool {
    let closes_by_itself = match answer.close {
        Some(closes) => closes,
        None => answer.version == Version::Http10,
    };
    let is_last = answer.close_after.is_some_and(|last| nth >= last.get());
    closes_by_itself || is_last || answer.until_close
}

/// True if the client intends to continue (RFC 9112, section 9.3).
fn client_stays(request: &request::Parts) -> bool {
    if request.version == hyper::Version::HTTP_10 {
        has_option(&request.headers, "keep-alive")
    } else {
        !has_option(&request.headers, "close")
    }
}

fn has_option(headers: &HeaderMap, option: &str) -> bool {
    let values = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .any(|word| word.trim().eq_ignore_ascii_case(option))
}
