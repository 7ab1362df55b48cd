//! The server: one thread, one event loop, bounded in all that a client can hold.

use crate::access::{Access, Ruling};
use crate::hosts::{self, Hosts};
use crate::patient::Patient;
use crate::secured;
use crate::service::{Answer, Content, Refusal, Request, Service};
use crate::tls::Certificate;
use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::header::{HeaderValue, LOCATION, SET_COOKIE, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::poll_fn;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{fmt, io};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{sleep, timeout};

/// The most connections at once; further ones are closed at once.
pub const MOST_CONNECTIONS: usize = 256;
/// The most requests that are answered at once; further ones wait. As many threads as connections
/// would take the cores of a run from its workers.
const MOST_ANSWERING: usize = 8;
/// How long a connection may take for the head of a request, and may be idle before it.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// How long the body of a request may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// The pause before a wrong secret is refused: secrets can't be tried at speed.
const DENIAL: Duration = Duration::from_millis(300);
/// The pause after a failure to accept a connection, for example for lack of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// What a server accepts.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The names by which requests may address it.
    pub hosts: Hosts,
    /// True if requests of pages of other origins are refused.
    pub same_origin: bool,
    /// The rules of access.
    pub access: Access,
    /// The most bytes of a request's body.
    pub most_body_bytes: usize,
    /// True if the names of fields are written as Go does: `Content-Type`.
    pub title_case: bool,
    /// The certificate of a server that speaks TLS.
    pub certificate: Option<Certificate>,
}

/// A server, which serves until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves at this listener, on a thread of this name.
    ///
    /// # Errors
    /// If the system provides no thread, or no descriptor to wait on.
    pub fn start(
        name: &str,
        listener: TcpListener,
        rules: Rules,
        service: Arc<dyn Service>,
    ) -> io::Result<Server> {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = Builder::new_current_thread()
            .thread_name(format!("{name} pool"))
            .max_blocking_threads(MOST_ANSWERING)
            .enable_all()
            .build()?;
        let (end, ended) = oneshot::channel();
        let responder = Arc::new(Responder {
            port: address.port(),
            rules,
            service,
            long_bodies: Semaphore::new(1),
        });
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || serve(runtime, listener, responder, ended))?;
        Ok(Server {
            address,
            end: Some(end),
            thread: Some(thread),
        })
    }

    /// Returns the address of the server; with the port that the system chose, if the given address
    /// had port 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A panic on that thread has been printed already; another one must not disturb the end
            // of the run.
            let _ = thread.join();
        }
    }
}

/// The rules for requests, and the service that answers them.
struct Responder {
    port: u16,
    rules: Rules,
    service: Arc<dyn Service>,
    /// The place for a body that may be long: many of them at once would take the memory of a run.
    long_bodies: Semaphore,
}

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responder")
            .field("port", &self.port)
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

fn serve(
    runtime: Runtime,
    listener: TcpListener,
    responder: Arc<Responder>,
    ended: oneshot::Receiver<()>,
) {
    runtime.spawn(accept(listener, responder));
    // A sent message and a dropped sender both end the server.
    let _ = runtime.block_on(ended);
    // A request that is being answered is not awaited.
    runtime.shutdown_background();
}

async fn accept(listener: TcpListener, responder: Arc<Responder>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        // Without a place the connection is closed here.
        if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
            let responder = Arc::clone(&responder);
            drop(tokio::spawn(async move {
                converse(stream, responder).await;
                drop(place);
            }));
        }
    }
}

/// Serves one connection until it ends.
async fn converse(stream: TcpStream, responder: Arc<Responder>) {
    let is_loopback = stream.local_addr().is_ok_and(|own| own.ip().is_loopback());
    // Events are small, and are to be seen when they are sent.
    let _ = stream.set_nodelay(true);
    let Some(certificate) = &responder.rules.certificate else {
        return talk(Patient::new(stream), responder, is_loopback, false).await;
    };
    let is_clear = timeout(HEAD_TIMEOUT, secured::is_clear(&stream)).await;
    let stream = Patient::new(stream);
    match is_clear {
        Ok(true) => talk(stream, responder, is_loopback, true).await,
        Ok(false) => {
            if let Ok(Some(stream)) = timeout(HEAD_TIMEOUT, certificate.secure(stream)).await {
                talk(stream, responder, is_loopback, false).await;
            }
        }
        // Nothing came.
        Err(_) => {}
    }
}

/// Answers the requests of one connection, in the clear or within TLS. Requests that come in the
/// clear, but should be `misled` no longer, are led to TLS.
async fn talk<S>(stream: S, responder: Arc<Responder>, is_loopback: bool, misled: bool)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .title_case_headers(responder.rules.title_case);
    let service = service_fn(move |request| {
        let responder = Arc::clone(&responder);
        async move {
            let answer = match misled {
                true => responder.lead(&request, is_loopback),
                false => respond(request, responder, is_loopback).await,
            };
            Ok::<_, Infallible>(response(answer))
        }
    });
    let connection = server.serve_connection(TokioIo::new(stream), service);
    // A client that disconnects is not a problem of the run.
    let _ = connection.await;
}

async fn respond(
    request: hyper::Request<Incoming>,
    responder: Arc<Responder>,
    is_loopback: bool,
) -> Answer {
    match responder.admit(&request, is_loopback) {
        Admission::Granted => responder.answer_by_service(request).await,
        Admission::Answered(answer) => answer,
        Admission::Refused(refusal) => {
            if matches!(refusal, Refusal::Token | Refusal::Password) {
                sleep(DENIAL).await;
            }
            responder.refuse(refusal)
        }
    }
}

fn response(answer: Answer) -> Response<Content> {
    let mut response = Response::new(answer.content);
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.fields;
    response
}

/// What becomes of a request before its body is read.
enum Admission {
    Granted,
    Answered(Answer),
    Refused(Refusal),
}

impl Responder {
    fn admit<B>(&self, request: &hyper::Request<B>, is_loopback: bool) -> Admission {
        let (uri, fields) = (request.uri(), request.headers());
        if !self.rules.hosts.are_named(uri, fields, is_loopback) {
            return Admission::Refused(Refusal::Host);
        }
        if self.rules.same_origin && !hosts::is_same_origin(uri, fields) {
            return Admission::Refused(Refusal::Origin);
        }
        let access = &self.rules.access;
        match access.rule(uri, fields, self.port) {
            Ruling::Granted => Admission::Granted,
            Ruling::Welcomed { location, cookie } => welcome(&location, &self.kept(cookie)),
            Ruling::Denied if access.offers_password() => Admission::Refused(Refusal::Password),
            Ruling::Denied => Admission::Refused(Refusal::Token),
        }
    }

    /// Answers a request in the clear to a server that speaks TLS.
    fn lead<B>(&self, request: &hyper::Request<B>, is_loopback: bool) -> Answer {
        match (self.rules.hosts).are_named(request.uri(), request.headers(), is_loopback) {
            true => secured::lead(request),
            false => self.refuse(Refusal::Host),
        }
    }

    /// A cookie that came by TLS goes back by TLS alone.
    fn kept(&self, cookie: String) -> String {
        match self.rules.certificate {
            Some(_) => cookie + "; Secure",
            None => cookie,
        }
    }

    fn refuse(&self, refusal: Refusal) -> Answer {
        let answer = self.service.refuse(refusal);
        match refusal {
            Refusal::Password => {
                let challenge =
                    HeaderValue::from_static("Basic realm=\"loadline\", charset=\"UTF-8\"");
                answer.with(WWW_AUTHENTICATE, challenge)
            }
            Refusal::Host
            | Refusal::Origin
            | Refusal::Token
            | Refusal::TooLong
            | Refusal::CutOff
            | Refusal::Broken => answer,
        }
    }

    /// Receives the body of a request for this path.
    async fn receive(&self, body: Incoming, path: &str) -> Result<Bytes, Refusal> {
        let Some(most) = self.service.most_body_bytes(path) else {
            return receive(body, self.rules.most_body_bytes).await;
        };
        let place = self.long_bodies.acquire().await;
        let body = receive(body, most).await;
        drop(place);
        body
    }

    /// Receives the rest of a request, and has it answered on a thread of the pool.
    async fn answer_by_service(self: Arc<Self>, request: hyper::Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        let received = timeout(BODY_TIMEOUT, self.receive(body, head.uri.path()));
        let body = match received.await {
            Ok(Ok(body)) => body,
            Ok(Err(refusal)) => return self.refuse(refusal),
            Err(_) => return self.refuse(Refusal::CutOff),
        };
        let request = Request {
            method: head.method,
            uri: head.uri,
            fields: head.headers,
            body,
        };
        let service = Arc::clone(&self.service);
        let answered = tokio::task::spawn_blocking(move || service.answer(&request)).await;
        answered.unwrap_or_else(|_| self.refuse(Refusal::Broken))
    }
}

fn welcome(location: &str, cookie: &str) -> Admission {
    let fields = HeaderValue::from_str(location).and_then(|location| {
        let cookie = HeaderValue::from_str(cookie)?;
        Ok((location, cookie))
    });
    let Ok((location, cookie)) = fields else {
        return Admission::Refused(Refusal::Token);
    };
    let answer = Answer::empty(StatusCode::SEE_OTHER);
    Admission::Answered(answer.with(LOCATION, location).with(SET_COOKIE, cookie))
}

/// Receives the whole body of a request.
async fn receive(mut body: Incoming, most: usize) -> Result<Bytes, Refusal> {
    let most_bytes = u64::try_from(most).unwrap_or(u64::MAX);
    if body.size_hint().lower() > most_bytes {
        return Err(Refusal::TooLong);
    }
    let mut whole = Vec::new();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        if let Ok(data) = frame.map_err(|_| Refusal::CutOff)?.into_data() {
            whole.extend_from_slice(&data);
        }
        if whole.len() > most {
            return Err(Refusal::TooLong);
        }
    }
    Ok(Bytes::from(whole))
}

#[cfg(test)]
mod tests;
