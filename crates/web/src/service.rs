//! Requests to a service, and its answers.

use crate::broadcast::Stream;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::http::Uri;
use hyper::{HeaderMap, Method, StatusCode};
use std::convert::Infallible;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The content of a server. Called from several threads, and may take its time.
pub trait Service: Send + Sync + 'static {
    /// Answers a request that passed all rules.
    fn answer(&self, request: &Request) -> Answer;

    /// Returns the most bytes of the body of a request for this path, where it may be longer than
    /// the rules of the server allow. Such bodies are received one at a time.
    fn most_body_bytes(&self, _path: &str) -> Option<usize> {
        None
    }

    /// Answers a request that did not, in the service's own words.
    fn refuse(&self, refusal: Refusal) -> Answer {
        Answer::plain(refusal.status(), &refusal.to_string())
    }
}

/// A request, received as a whole.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The target.
    pub uri: Uri,
    /// The fields.
    pub fields: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Request {
    /// Returns the path of the target.
    pub fn path(&self) -> &str {
        self.uri.path()
    }

    /// Returns a field, if it is there and is text.
    pub fn field(&self, name: HeaderName) -> Option<&str> {
        self.fields.get(name)?.to_str().ok()
    }
}

/// Why a request is not handed to the service. Each is a sentence that says what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Its `Host` is no name of this server.
    #[error(
        "The Host field names another machine: ask localhost, or the address that the server was \
         started with.\n"
    )]
    Host,
    /// A page of another origin sent it.
    #[error("A page of another origin can't ask here: open the page of this server itself.\n")]
    Origin,
    /// It has no token, or a wrong one.
    #[error("Open the address that loadline printed: it has the token.\n")]
    Token,
    /// It has no name and password, or wrong ones.
    #[error("The name and the password are those that loadline was started with.\n")]
    Password,
    /// Its body is too long.
    #[error("The body is longer than this server takes.\n")]
    TooLong,
    /// Its body was cut off, or did not come in time.
    #[error("The body did not come as a whole: send it again.\n")]
    CutOff,
    /// Answering it failed.
    #[error("The request could not be carried out; the run goes on.\n")]
    Broken,
}

impl Refusal {
    /// Returns the usual status of it.
    pub fn status(self) -> StatusCode {
        match self {
            Refusal::Host | Refusal::Origin => StatusCode::FORBIDDEN,
            Refusal::Token | Refusal::Password => StatusCode::UNAUTHORIZED,
            Refusal::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
            Refusal::CutOff => StatusCode::BAD_REQUEST,
            Refusal::Broken => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The fields.
    pub fields: HeaderMap,
    /// The content.
    pub content: Content,
}

/// The content of an answer.
#[derive(Debug)]
pub enum Content {
    /// All of it.
    Whole(Bytes),
    /// Events, until their broadcast ends.
    Events(Stream),
}

impl Answer {
    /// Creates an answer without content.
    pub fn empty(status: StatusCode) -> Self {
        Answer {
            status,
            fields: HeaderMap::new(),
            content: Content::Whole(Bytes::new()),
        }
    }

    /// Creates an answer of this type.
    pub fn new(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let content = Content::Whole(body.into());
        Answer {
            content,
            ..Answer::empty(status)
        }
        .with(CONTENT_TYPE, HeaderValue::from_static(content_type))
    }

    /// Creates an answer of plain text.
    pub fn plain(status: StatusCode, text: &str) -> Self {
        Answer::new(status, "text/plain; charset=utf-8", text.to_owned())
    }

    /// Creates an answer of events.
    pub fn events(stream: Stream) -> Self {
        Answer {
            content: Content::Events(stream),
            ..Answer::new(StatusCode::OK, "text/event-stream", "")
        }
    }

    /// Sets a field.
    #[must_use]
    pub fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.fields.insert(name, value);
        self
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match self.get_mut() {
            Content::Whole(bytes) => {
                let bytes = mem::take(bytes);
                (!bytes.is_empty()).then_some(bytes)
            }
            Content::Events(stream) => match stream.poll_next(cx) {
                Poll::Ready(next) => next,
                Poll::Pending => return Poll::Pending,
            },
        };
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Content::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Content::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Events(_) => SizeHint::default(),
        }
    }
}
