//! The REST API of a running test, version 1, with exactly k6's JSON.
//!
//! Its server (`loadline-web`) has a thread of its own, so that it responds while workers are busy,
//! and shares no data with them: all data of the test comes from a [`Control`]. A call of a
//! `Control` may take long (a setup), so each runs on a thread of a pool; `stop` is accepted
//! meanwhile.
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
use loadline_web::header::{CONTENT_TYPE, HeaderValue};
use loadline_web::{Access, Hosts, Refusal, Request, Rules, Service, StatusCode};
use routes::Answer;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

/// The maximum size of a request's body in bytes: setup data.
const MOST_BYTES: usize = 64 << 20;

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
pub struct Server(loadline_web::Server);

impl Server {
    /// Serves the API at an address such as `localhost:6565`.
    ///
    /// # Errors
    /// If the address can't be bound. If `--address` was given, the run ends with exit code 106.
    pub fn start(address: &str, control: Arc<dyn Control>) -> Result<Server, ServeError> {
        let listener = listen(address)?;
        let rules = Rules {
            // A user who serves the API to a network has accepted requests from others.
            hosts: Hosts::of(address).trusting_networks(),
            same_origin: false,
            access: Access::Open,
            most_body_bytes: MOST_BYTES,
            title_case: true,
            certificate: None,
        };
        let api = Arc::new(Api(control));
        Ok(Server(loadline_web::Server::start(
            "rest", listener, rules, api,
        )?))
    }

    /// Returns the address of the server; with the port that the system chose, if the given address
    /// had port 0.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

/// The API as the service of a server.
struct Api(Arc<dyn Control>);

impl Service for Api {
    fn answer(&self, request: &Request) -> loadline_web::Answer {
        let (method, path) = (&request.method, request.path());
        response(routes::answer(self.0.as_ref(), method, path, &request.body))
    }

    fn refuse(&self, refusal: Refusal) -> loadline_web::Answer {
        response(match refusal {
            Refusal::TooLong | Refusal::CutOff => Answer::too_long(),
            Refusal::Broken => Answer::broken(),
            Refusal::Host | Refusal::Origin | Refusal::Token | Refusal::Password => {
                Answer::misdirected()
            }
        })
    }
}

fn response(answer: Answer) -> loadline_web::Answer {
    let status = StatusCode::from_u16(answer.status);
    let response = loadline_web::Answer {
        content: loadline_web::Content::Whole(answer.body.into()),
        ..loadline_web::Answer::empty(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
    };
    match answer.content_type {
        Some(kind) => response.with(CONTENT_TYPE, HeaderValue::from_static(kind)),
        None => response,
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
