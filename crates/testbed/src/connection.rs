//! One connection: it reads requests and sends responses until one of both sides ends it.
//!
//! The HTTP library serves the connection as long as it can. For a response that it would not send
//! the service fails on purpose; the connection is then taken back from the library, the raw
//! response sent, and the library started again if the connection continues. The client's version
//! of HTTP is determined by TLS, or by the first bytes that it sends.

mod http2;

use crate::answer::{self, Answer};
use crate::body::AnswerBody;
use crate::content::{self, Content};
use crate::context::Context;
use crate::echo;
use crate::h2_fault::H2Fault;
use crate::h2_frames::PREFACE;
use crate::head::{GAP_HEADER, content_type, option_fields};
use crate::line::Line;
use crate::raw_response::{self, Onward};
use crate::reply::{Reply, refusal};
use crate::request_options;
use crate::socket::{Accepted, Socket};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue};
use hyper::http::request;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Version};
use hyper_util::rt::TokioIo;
use std::borrow::Cow;
use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// The time for which a closed connection is still read, so that a client that is sending receives
/// an end and not a reset.
const LINGER: Duration = Duration::from_secs(1);

/// The response's text for a request whose options belong to another version of HTTP.
const OTHER_VERSION: &str = "The option h2-fault belongs to HTTP/2; fault, until-close, interim \
    and version=1.0 belong to HTTP/1.1: ask over that version.";

/// One connection that is being served.
struct Connection {
    context: Context,
    line: Line,
    /// The number of requests that have arrived on this connection.
    requests: AtomicU64,
    /// The reply for which the connection was taken back from the library.
    raw: Mutex<Option<Reply>>,
    /// The fault for which a connection of HTTP/2 is taken back for good.
    broken: Mutex<Option<http2::Broken>>,
    /// Notified when a connection of HTTP/2 is to break or to end.
    ends: Notify,
}

/// A reason why the service returns no response to the library.
#[derive(Debug, thiserror::Error)]
enum Unanswered {
    #[error("the response is a raw one")]
    Raw,
    #[error("the client aborted its request")]
    Cut,
    #[error("the stream is reset")]
    Reset(#[source] h2::Error),
}

/// Serves one connection to its end.
pub(crate) async fn receive(accepted: Accepted, context: Context) {
    context.state.tally.connections.add(1);
    match Socket::open(accepted, context.tls.as_ref()).await {
        Ok(socket) => {
            context
                .state
                .tally
                .tls_resumed
                .add(u64::from(socket.is_resumed()));
            let is_agreed = socket.agreed_on_http2();
            let connection = Arc::new(Connection::new(socket, context));
            if is_agreed || connection.line.begins_with(PREFACE).await {
                connection.serve_http2().await;
            } else {
                connection.serve().await;
            }
        }
        Err(_) => context.state.tally.tls_failed.add(1),
    }
}

impl Connection {
    fn new(socket: Socket, context: Context) -> Self {
        Self {
            line: Line::new(socket, context.state.clone()),
            context,
            requests: AtomicU64::new(0),
            raw: Mutex::default(),
            broken: Mutex::default(),
            ends: Notify::new(),
        }
    }

    async fn serve(self: Arc<Self>) {
        while let Some(reply) = self.clone().serve_by_library().await {
            match raw_response::play(&self.line, &reply, &self.context).await {
                Ok(Onward::GoOn) => (),
                Ok(Onward::Close) => break,
                Ok(Onward::Gone) | Err(_) => return,
            }
        }
        self.close().await;
    }

    /// Lets the library serve the line until it ends or a reply has to be sent raw.
    async fn serve_by_library(self: Arc<Self>) -> Option<Reply> {
        let connection = self.clone();
        let service = service_fn(move |request| connection.clone().respond(request));
        let io = TokioIo::new(self.line.clone());
        let mut talk = http1::Builder::new().serve_connection(io, service);
        let turn = poll_fn(|cx| self.line.poll_turn(cx, |cx| Pin::new(&mut talk).poll(cx)));
        if let Ok(Err(error)) = turn.await {
            self.context
                .state
                .tally
                .malformed
                .add(u64::from(error.is_parse()));
        }
        let reply = self
            .raw
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()?;
        self.line.take_back(talk.into_parts().read_buf);
        Some(reply)
    }

    /// Receives one whole request, and responds.
    async fn respond(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<AnswerBody>, Unanswered> {
        let arrival = self.context.state.note_arrival(self.line.request_arrived());
        let (request, body) = request.into_parts();
        let is_http2 = request.version == Version::HTTP_2;
        let nth = self.requests.fetch_add(1, Relaxed) + 1;
        if is_http2 {
            self.hold_window_closed(&request, arrival.number).await;
        }
        let (is_kept, is_shown) = (
            self.context.state.keeps(arrival),
            !self.context.state.ignore_options && request_options::is_echo(&request),
        );
        let copy = (is_kept || is_shown).then(|| echo::head(&self.line, &request));
        let copy = self.receive_body(body, copy).await?;
        if is_kept && let Some(copy) = &copy {
            self.context.state.keep(arrival, copy.clone());
        }
        let echo = copy.filter(|_| is_shown);
        let (answer, content) = self.answer_to(&request, echo);
        let (answer, wait) = self.context.state.decide(answer, arrival.number);
        let whole = self.line.last_read();
        self.wait_until(whole, self.context.state.serve(whole) + wait)
            .await;
        if let Some(length) = answer.freeze_now {
            self.context.state.freeze(length);
        }
        let reply = Reply::new(&request, answer, content, arrival.gap_ns, nth);
        if is_http2 {
            return self.give_http2(reply, nth).await;
        }
        self.give(reply).await
    }

    /// Waits for ever, with the request's body unread, if the request's options require that.
    async fn hold_window_closed(&self, request: &request::Parts, number: u64) {
        let (answer, _) = self.answer_to(request, None);
        let (answer, _) = self.context.state.decide(answer, number);
        if answer.h2_fault == Some(H2Fault::ClosedWindow) {
            self.context.state.tally.faults.add(1);
            pending().await
        }
    }

    /// Reads the request's body to its end, and appends it to the copy if there is one.
    async fn receive_body(
        &self,
        mut body: Incoming,
        mut copy: Option<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, Unanswered> {
        let mut size = 0;
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            let frame = frame.map_err(|_| Unanswered::Cut)?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            size += data.len() as u64;
            if let Some(copy) = copy.as_mut().filter(|copy| copy.len() <= echo::MOST_BYTES) {
                copy.extend_from_slice(&data);
            }
        }
        self.context.state.tally.body_bytes.add(size);
        self.context.state.tally.requests.add(1);
        Ok(copy)
    }

    /// Returns the response with the request's options, or a refusal that explains their error.
    fn answer_to(&self, request: &request::Parts, echo: Option<Vec<u8>>) -> (Answer, Content) {
        let state = &self.context.state;
        let answer = match state.ignore_options {
            true => Ok(Cow::Borrowed(&state.defaults)),
            false => request_options::apply(request, &state.defaults),
        };
        let is_http2 = request.version == Version::HTTP_2;
        match (answer, echo) {
            (Ok(answer), _) if answer.is_of_other_version(is_http2) => {
                refusal(StatusCode::BAD_REQUEST, OTHER_VERSION.to_owned())
            }
            (Err(error), _) => refusal(StatusCode::BAD_REQUEST, error.to_string()),
            (Ok(answer), None)
                if answer.encoding.is_some() && answer.size > content::MOST_COMPRESSED =>
            {
                let most = content::MOST_COMPRESSED;
                let most = format!("A compressed body stands for at most {most} bytes.");
                refusal(StatusCode::BAD_REQUEST, most)
            }
            (Ok(answer), None) => {
                let content = Content::of(&answer);
                (answer.into_owned(), content)
            }
            (Ok(_), Some(echo)) if echo.len() > echo::MOST_BYTES => {
                let most = format!("An echo holds at most {} bytes.", echo::MOST_BYTES);
                refusal(StatusCode::PAYLOAD_TOO_LARGE, most)
            }
            (Ok(answer), Some(echo)) => {
                let mut answer = answer.into_owned();
                (answer.encoding, answer.json) = (None, None);
                (answer, Content::Text(Bytes::from(echo)))
            }
        }
    }

    /// Waits until an instant, if that is after the request was complete.
    async fn wait_until(&self, whole: Instant, until: Instant) {
        if until > whole {
            self.context.alarm.sleep_until(until).await;
        }
    }

    async fn give(&self, reply: Reply) -> Result<Response<AnswerBody>, Unanswered> {
        if reply.answer.is_raw() {
            *self.raw.lock().unwrap_or_else(PoisonError::into_inner) = Some(reply);
            self.line.flushed().await;
            return Err(Unanswered::Raw);
        }
        Ok(self.response(reply))
    }

    fn response(&self, reply: Reply) -> Response<AnswerBody> {
        let mut response = Response::new(());
        *response.status_mut() = reply.answer.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, content_type(&reply.answer));
        headers.insert(GAP_HEADER, HeaderValue::from(reply.gap_ns));
        headers.extend(option_fields(&reply.answer));
        let is_old = reply.answer.version == answer::Version::Http10;
        if reply.closes {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        } else if is_old {
            headers.insert(CONNECTION, HeaderValue::from_static("keep-alive"));
        }
        if is_old {
            *response.version_mut() = Version::HTTP_10;
        }
        response.map(|()| AnswerBody::new(reply, self.line.clone(), &self.context.alarm))
    }

    /// Closes the connection in order: data that the client still sends is read, for a while.
    async fn close(&self) {
        if self.line.finish().await.is_err() {
            return;
        }
        let mut swallow = pin!(self.line.swallow());
        let mut limit = pin!(self.context.alarm.sleep_until(Instant::now() + LINGER));
        poll_fn(|cx| match swallow.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => limit.as_mut().poll(cx),
        })
        .await;
    }
}
