//! A connection of HTTP/2: the HTTP library sends ordinary responses, each on its stream; for a
//! fault of the connection it is taken from the library for good.

use super::{Connection, Unanswered};
use crate::body::AnswerBody;
use crate::h2_fault::H2Fault;
use crate::h2_frames;
use crate::head::{GAP_HEADER, content_type, option_fields};
use crate::reply::Reply;
use h2::Reason;
use hyper::Response;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::{Arc, PoisonError};
use std::task::Poll;

/// The window of each stream in bytes: small enough for a fault to block a client with it.
const STREAM_WINDOW: u32 = 65_535;

/// A fault of the whole connection, and the response that it replaces.
#[derive(Debug)]
pub(super) struct Broken {
    fault: H2Fault,
    stream: u32,
    reply: Reply,
}

impl Connection {
    /// Serves the connection to its end.
    pub(super) async fn serve_http2(self: Arc<Self>) {
        let Some(broken) = self.clone().serve_streams().await else {
            return;
        };
        let Broken {
            fault,
            stream,
            reply,
        } = &broken;
        // A flood ends when the client has closed, which does not count as a failure.
        let played = h2_frames::play(&self.line, *fault, *stream, reply).await;
        self.context.state.tally.faults.add(1);
        match (played, fault) {
            (Ok(()), H2Fault::Silent) => self.line.swallow().await,
            (Ok(()), _) => self.close().await,
            (Err(_), _) => (),
        }
    }

    /// Lets the library serve all streams until the connection ends, or breaks by a fault.
    async fn serve_streams(self: Arc<Self>) -> Option<Broken> {
        let connection = self.clone();
        let service = service_fn(move |request| connection.clone().respond(request));
        let io = TokioIo::new(self.line.clone());
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(STREAM_WINDOW);
        let mut talk = pin!(builder.serve_connection(io, service));
        loop {
            let mut ends = pin!(self.ends.notified());
            let is_notified = poll_fn(|cx| {
                if ends.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(true);
                }
                let turn = self.line.poll_turn(cx, |cx| talk.as_mut().poll(cx));
                turn.map(|_| false)
            });
            if !is_notified.await {
                return None;
            }
            let broken = self
                .broken
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            if broken.is_some() {
                return broken;
            }
            talk.as_mut().graceful_shutdown();
        }
    }

    /// Passes a response to the library, or plays the fault in its place. `nth` is the position of
    /// the request on the connection, from which its stream follows: clients number their streams
    /// 1, 3, 5.
    pub(super) async fn give_http2(
        &self,
        reply: Reply,
        nth: u64,
    ) -> Result<Response<AnswerBody>, Unanswered> {
        let Some(fault) = reply.answer.h2_fault else {
            if reply.closes {
                self.ends.notify_one();
            }
            return Ok(self.http2_response(reply, None));
        };
        if fault.is_raw() {
            let stream = u32::try_from(2 * nth - 1).unwrap_or(u32::MAX);
            let broken = Broken {
                fault,
                stream,
                reply,
            };
            *self.broken.lock().unwrap_or_else(PoisonError::into_inner) = Some(broken);
            self.ends.notify_one();
            return pending().await;
        }
        self.context.state.tally.faults.add(1);
        match fault {
            H2Fault::Reset(code) => {
                self.line.request_closed();
                Err(Unanswered::Reset(Reason::from(code).into()))
            }
            H2Fault::ResetInBody(code) => Ok(self.http2_response(reply, Some(code.into()))),
            H2Fault::Silent
            | H2Fault::ClosedWindow
            | H2Fault::GoAway
            | H2Fault::GoAwayInBody
            | H2Fault::HeaderFlood
            | H2Fault::PingFlood
            | H2Fault::SettingsFlood
            | H2Fault::WrongFrame => pending().await,
        }
    }

    fn http2_response(&self, reply: Reply, reset: Option<Reason>) -> Response<AnswerBody> {
        let mut response = Response::new(());
        *response.status_mut() = reply.answer.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, content_type(&reply.answer));
        headers.insert(GAP_HEADER, HeaderValue::from(reply.gap_ns));
        headers.extend(option_fields(&reply.answer));
        if reply.is_head_only && !reply.answer.chunked {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(reply.content.size()));
        }
        let alarm = &self.context.alarm;
        response.map(|()| AnswerBody::on_stream(reply, self.line.clone(), alarm, reset))
    }
}
