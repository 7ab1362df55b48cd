//! The REST API of a running test, version 1, with exactly k6's JSON.
//!
//! It has a thread of its own, so that it responds while workers are busy, and shares no data with
//! them: all data of the test comes from a [`Control`]. A call of a `Control` may take long (a
//! setup), so each runs on a thread of tokio's pool; `stop` is accepted meanwhile.
//!
//! Terms: a *document* is a JSON text in the form of JSON:API, which k6 uses.

mod control;
mod documents;
pub(super) mod figures;
mod patch;
mod routes;
#[cfg(test)]
mod tests;

pub use control::{Check, Control, Group, Metric, Scale, ScaleError, Status};

use super::go_words;
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_TYPE, HOST, HeaderValue};
use hyper::http::uri::Authority;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use routes::Answer;
use std::convert::Infallible;
use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{io, mem};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

/// The maximum size of a request's body in bytes: setup data.
const MOST_BYTES: usize = 64 << 20;

/// The pause after a failure to accept a connection, for example for lack of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// The reason why the API can't be served, in Go's words.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address has no port.
    #[error("listen tcp: address {0}: missing port in address")]
    NoPort(String),
    /// The port is not a valid number.
    #[error("listen tcp: address {0}: invalid port")]
    NoNumber(String),
    /// The address can't be bound.
    #[error("listen tcp {address}: bind: {problem}")]
    Bind {
        /// The address.
        address: String,
        /// The system's message.
        problem: String,
    },
    /// The host or port of the address is unknown.
    #[error("listen tcp: lookup {address}: {problem}")]
    Unknown {
        /// The address.
        address: String,
        /// The system's message.
        problem: String,
    },
    /// The system provides no thread, or no descriptor to wait on.
    #[error("listen tcp: {0}")]
    System(#[from] io::Error),
}

/// The API, served until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves the API at an address such as `localhost:6565`.
    ///
    /// # Errors
    /// If the address can't be bound. If `--address` was given, the run ends with
    /// [`CANNOT_SERVE`](super::CANNOT_SERVE).
    pub fn start(address: &str, control: Arc<dyn Control>) -> Result<Server, ServeError> {
        let listener = listen(address)?;
        listener.set_nonblocking(true)?;
        let names = Arc::new(Names::of(address));
        let address = listener.local_addr()?;
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let (end, ended) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("rest".to_owned())
            .spawn(move || serve(runtime, listener, control, names, ended))?;
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

fn listen(address: &str) -> Result<TcpListener, ServeError> {
    let mut last = None;
    for place in places(address)? {
        match TcpListener::bind(place) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = last.or(Some((place, error))),
        }
    }
    let (address, problem) = match last {
        Some((place, error)) => (place.to_string(), go_words::system(&error)),
        None => (address.to_owned(), "no such host".to_owned()),
    };
    Err(ServeError::Bind { address, problem })
}

/// Resolves an address, IPv4 first; to all addresses of this machine if it has only a port.
fn places(address: &str) -> Result<Vec<SocketAddr>, ServeError> {
    let Some((host, port)) = address.rsplit_once(':') else {
        return Err(ServeError::NoPort(address.to_owned()));
    };
    let Ok(number) = port.parse() else {
        return Err(ServeError::NoNumber(port.to_owned()));
    };
    let host = match host {
        "" => "0.0.0.0",
        host => host.trim_matches(['[', ']']),
    };
    let found = loadline_reactor::look_up(host, number);
    let mut places = found.map_err(|error| ServeError::Unknown {
        address: address.to_owned(),
        problem: go_words::system(&error),
    })?;
    places.sort_by_key(SocketAddr::is_ipv6);
    Ok(places)
}

/// The names that a request over loopback may have in its `Host` header. A page in a browser of
/// this machine can send requests there under a host name of its own, which it resolves to this
/// machine (DNS rebinding); so only names are accepted that no other host can have. A user who
/// serves the API to a network has accepted requests from others.
struct Names {
    /// The host of the given address.
    own: String,
}

impl Names {
    fn of(address: &str) -> Self {
        let host = address.rsplit_once(':').map_or("", |(host, _)| host);
        Names {
            own: host.to_ascii_lowercase(),
        }
    }

    fn are_those_of<B>(&self, request: &Request<B>) -> bool {
        let field = request.headers().get(HOST);
        let field = field.map(|field| field.to_str().unwrap_or_default());
        let named = request.uri().authority().map(Authority::as_str).or(field);
        named.is_none_or(|named| self.has(named))
    }

    /// True if this is a name of this machine's loopback, with or without a port.
    fn has(&self, named: &str) -> bool {
        let host = match named.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => named,
        };
        let host = host.to_ascii_lowercase();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let address = bare.parse::<IpAddr>();
        bare == "localhost" || address.is_ok_and(|ip| ip.is_loopback()) || host == self.own
    }
}

fn serve(
    runtime: Runtime,
    listener: TcpListener,
    control: Arc<dyn Control>,
    names: Arc<Names>,
    ended: oneshot::Receiver<()>,
) {
    runtime.spawn(accept(listener, control, names));
    // A sent message and a dropped sender both end the server.
    let _ = runtime.block_on(ended);
    // A setup that is running is not awaited.
    runtime.shutdown_background();
}

async fn accept(listener: TcpListener, control: Arc<dyn Control>, names: Arc<Names>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let names = Arc::clone(&names);
                drop(tokio::spawn(converse(stream, Arc::clone(&control), names)));
            }
            // This thread runs only the API.
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

/// Serves one connection until it ends.
async fn converse(stream: TcpStream, control: Arc<dyn Control>, names: Arc<Names>) {
    let is_loopback = stream.local_addr().is_ok_and(|own| own.ip().is_loopback());
    let service = service_fn(move |request| {
        let is_meant = !is_loopback || names.are_those_of(&request);
        respond(request, Arc::clone(&control), is_meant)
    });
    let connection = http1::Builder::new()
        .title_case_headers(true)
        .serve_connection(TokioIo::new(stream), service);
    // A client that disconnects is not a problem of the test.
    let _ = connection.await;
}

async fn respond(
    request: Request<Incoming>,
    control: Arc<dyn Control>,
    is_meant: bool,
) -> Result<Response<String>, Infallible> {
    if !is_meant {
        return Ok(response(Answer::misdirected()));
    }
    let (head, body) = request.into_parts();
    let Some(body) = receive(body).await else {
        return Ok(response(Answer::too_long()));
    };
    let asked = move || routes::answer(control.as_ref(), &head.method, head.uri.path(), &body);
    let answer = tokio::task::spawn_blocking(asked).await;
    Ok(response(answer.unwrap_or_else(|_| Answer::broken())))
}

/// Receives the whole body of a request; `None` if it is cut off or too long.
async fn receive(mut body: Incoming) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        if let Ok(data) = frame.ok()?.into_data() {
            whole.extend_from_slice(&data);
        }
        if whole.len() > MOST_BYTES {
            return None;
        }
    }
    Some(whole)
}

fn response(mut answer: Answer) -> Response<String> {
    let mut response = Response::new(mem::take(&mut answer.body));
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if let Some(kind) = answer.content_type {
        let kind = HeaderValue::from_static(kind);
        response.headers_mut().insert(CONTENT_TYPE, kind);
    }
    response
}
