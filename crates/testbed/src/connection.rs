//! One connection: requests in, answers out, until one of both sides has enough.
//!
//! The HTTP library serves the connection for as long as it can. A response that it would not send
//! makes the service fail on purpose; the connection is then taken back from the library, the raw
//! response sent, and the library started anew where the connection goes on.

use crate::answer::{self, Answer};
use crate::body::AnswerBody;
use crate::content::Content;
use crate::context::Context;
use crate::echo;
use crate::head::{GAP_HEADER, TEXT};
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
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

/// How long a closed connection is read on, so that a client that is still sending reads an end
/// and no reset.
const LINGER: Duration = Duration::from_secs(1);

/// One connection that is being served.
struct Connection {
    context: Context,
    line: Line,
    /// Requests that have come on this connection.
    requests: AtomicU64,
    /// The reply for whose sake the connection was taken back from the library.
    raw: Mutex<Option<Reply>>,
}

/// Why the service gives the library no response.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum Unanswered {
    #[error("the response is a raw one")]
    Raw,
    #[error("the client aborted its request")]
    Cut,
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
            Arc::new(Connection::new(socket, context)).serve().await;
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

    /// Receives one request whole, and answers it.
    async fn respond(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<AnswerBody>, Unanswered> {
        let arrival = self.context.state.note_arrival(self.line.request_arrived());
        let (request, body) = request.into_parts();
        let (is_kept, is_shown) = (
            self.context.state.keeps(arrival),
            !self.context.state.ignore_options && request_options::wants_echo(&request),
        );
        let copy = (is_kept || is_shown).then(|| echo::head(&self.line, &request));
        let copy = self.receive_body(body, copy).await?;
        if is_kept && let Some(copy) = &copy {
            self.context.state.keep(arrival, copy.clone());
        }
        let echo = copy.filter(|_| is_shown);
        let nth = self.requests.fetch_add(1, Relaxed) + 1;
        let (answer, content) = self.answer_to(&request, echo);
        let (answer, wait) = self.context.state.decide(answer, arrival.number);
        let whole = self.line.last_read();
        self.wait_until(whole, self.context.state.serve(whole) + wait)
            .await;
        if let Some(length) = answer.freeze_now {
            self.context.state.freeze(length);
        }
        self.give(Reply::new(&request, answer, content, arrival.gap_ns, nth))
            .await
    }

    /// Reads the request's body to its end, and adds it to the copy if there is to be one.
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

    /// The response with the request's options, or a refusal that says what is wrong with them.
    fn answer_to(&self, request: &request::Parts, echo: Option<Vec<u8>>) -> (Answer, Content) {
        let state = &self.context.state;
        let answer = match state.ignore_options {
            true => Ok(Cow::Borrowed(&state.defaults)),
            false => request_options::apply(request, &state.defaults),
        };
        match (answer, echo) {
            (Err(error), _) => refusal(StatusCode::BAD_REQUEST, error.to_string()),
            (Ok(answer), None) => {
                let content = Content::Filler(answer.size);
                (answer.into_owned(), content)
            }
            (Ok(_), Some(echo)) if echo.len() > echo::MOST_BYTES => {
                let most = format!("An echo holds at most {} bytes.", echo::MOST_BYTES);
                refusal(StatusCode::PAYLOAD_TOO_LARGE, most)
            }
            (Ok(answer), Some(echo)) => (answer.into_owned(), Content::Text(Bytes::from(echo))),
        }
    }

    /// Waits until then, if that is after the request was whole.
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
        headers.insert(CONTENT_TYPE, TEXT);
        headers.insert(GAP_HEADER, HeaderValue::from(reply.gap_ns));
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

    /// Ends the connection in good order: what the client still sends is read, for a while.
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
