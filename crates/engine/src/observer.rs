//! The receiver of responses, and the data that it receives of each.

use loadline_record::{ErrorKind, Exchange};
use loadline_transport::{Agreed, Blocked};
use loadline_wire::{Sink, h2};
use std::fmt;
use std::net::SocketAddr;

/// The properties of a whole response that its exchange does not contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Bytes of its head, including interim responses.
    pub head_bytes: u64,
    /// Bytes of its payload, without the framing of chunks.
    pub body_bytes: u64,
    /// True if the connection can serve another request afterwards.
    pub keeps_connection: bool,
}

/// An observer's refusal of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The error kind of the failed exchange.
    pub kind: ErrorKind,
    /// The error text.
    pub reason: String,
}

/// The connection that carries an exchange.
#[derive(Clone, Copy)]
pub struct Carrier<'a> {
    /// The address that was dialled: the proxy's if there is a proxy; `None` for a Unix socket.
    pub remote: Option<SocketAddr>,
    /// True if the protocol is HTTP/2, false if it is HTTP/1.1.
    pub is_http2: bool,
    /// True if it carried another exchange before.
    pub is_reused: bool,
    /// Describes its TLS session; expensive, so called on demand.
    pub(crate) tls: &'a dyn Fn() -> Option<Agreed>,
}

impl Carrier<'_> {
    /// Returns the agreed TLS parameters; `None` without TLS.
    pub fn tls(&self) -> Option<Agreed> {
        (self.tls)()
    }
}

impl fmt::Debug for Carrier<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Carrier")
            .field("remote", &self.remote)
            .field("is_http2", &self.is_http2)
            .field("is_reused", &self.is_reused)
            .finish_non_exhaustive()
    }
}

/// An event within an exchange of a [`Protocol`](crate::Protocol), such as a message that was sent
/// or has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExchangeEvent<'a> {
    /// Its kind, in the protocol's words.
    pub name: &'a str,
    /// Its instant: nanoseconds since the begin of the measured part, 0 before it.
    pub at_ns: u64,
    /// The bytes that belong to it, if there are any.
    pub bytes: &'a [u8],
}

/// Receives the responses of a behaviour's requests. `()` receives nothing and costs nothing.
pub trait Observer: Sink {
    /// True if [`secured`](Observer::secured) is called.
    const NEEDS_TLS: bool = false;
    /// True if [`carried`](Observer::carried) is called.
    const NEEDS_CARRIER: bool = false;
    /// True if the clock is read at the end of sending, for [`Exchange::sent_ns`].
    const NEEDS_SENT: bool = false;
    /// True if [`refusal`](Observer::refusal) is called.
    const MAY_REFUSE: bool = false;

    /// Receives the agreed TLS parameters of a connection that was dialled for the exchange.
    fn secured(&mut self, agreed: &Agreed) {
        let _ = agreed;
    }

    /// Receives the connection on which the exchange is sent, new or reused. Called once per
    /// attempt if an exchange is sent again.
    fn carried(&mut self, carrier: &Carrier<'_>) {
        let _ = carrier;
    }

    /// Returns the reason to refuse the response, if there is one; the exchange then fails. Called
    /// while a response arrives, which is not read to its end if it is refused, and once more when
    /// it `is_whole`; only if [`MAY_REFUSE`](Observer::MAY_REFUSE). Over HTTP/2, only when it is
    /// whole.
    fn refusal(&mut self, is_whole: bool) -> Option<Refusal> {
        let _ = is_whole;
        None
    }

    /// Receives a whole response; [`ended`](Observer::ended) follows.
    fn answered(&mut self, answer: &Answer) {
        let _ = answer;
    }

    /// Receives an event within the exchange, which goes on; only of a
    /// [`Protocol`](crate::Protocol).
    fn event(&mut self, event: &ExchangeEvent<'_>) {
        let _ = event;
    }

    /// Receives the rule of the plan ([`Naming`](loadline_plan::Naming)) that blocks the host or
    /// address of the exchange; [`failed`](Observer::failed) follows.
    fn blocked(&mut self, by: &Blocked) {
        let _ = by;
    }

    /// Receives the error code of HTTP/2 with which the server ended the exchange's stream or
    /// connection; [`failed`](Observer::failed) follows.
    fn given_up(&mut self, code: h2::ErrorCode) {
        let _ = code;
    }

    /// Receives the reason of a failed exchange, and the system's error number if there is one;
    /// [`ended`](Observer::ended) follows.
    fn failed(&mut self, reason: &str, os_error: Option<i32>) {
        let _ = (reason, os_error);
    }

    /// Receives an exchange that has ended, to which all calls since the last one belong.
    fn ended(&mut self, exchange: &Exchange) {
        let _ = exchange;
    }
}

impl Observer for () {}
