//! The behaviour of a user: its actions in one iteration.

use crate::Iteration;
#[cfg(doc)]
use crate::Requester;
use crate::event::Tick;
use crate::tally::AnyTally;
use loadline_metrics::SeriesId;
use loadline_reactor::Host;
use loadline_record::{ErrorKind, Exchange, SharedMetrics};
use loadline_transport::{Agreed, Blocked};
use loadline_wire::{Expect, Sink, h2};
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;

/// The actions of a user in one iteration.
///
/// Iterations run as tasks of the worker's loop and wait through [`Requester::send`] and
/// [`Iteration::pause`]. A behaviour may call back into a script between two waits, wait on a stack
/// of its own, or be driven by another loop: the engine requires nothing but a future.
pub trait Behaviour<H: Host>: 'static {
    /// True if iterations can be interrupted: the future of an iteration that has used up the time
    /// of a graceful ramp-down is dropped, and the behaviour goes on with the next iteration in its
    /// user's next window. Iterations that the end of the run cuts off count as interrupted, too.
    const IS_INTERRUPTIBLE: bool = false;

    /// Returns the number of exchanges per iteration that have a start of their own in the
    /// schedule: the depth of a pipeline. Further exchanges start when they are sent.
    fn depth(&self) -> u32 {
        1
    }

    /// True if an iteration sends its first request immediately, or after a pause. Otherwise the
    /// clock is read again before the send, because a closed load must not count the work of the
    /// behaviour in the service time.
    fn is_prompt(&self) -> bool {
        false
    }

    /// True if iterations are timed in addition to their requests. False if each iteration is one
    /// request, whose response time would be the same.
    fn times_iterations(&self) -> bool {
        false
    }

    /// Runs one iteration.
    fn iterate(&mut self, iteration: Iteration<'_, H>) -> impl Future<Output = ()>;
}

/// Creates the behaviours of one worker's users, on the worker's own thread.
pub trait Scenario<H: Host>: 'static {
    /// True if users compose requests. TLS is always configured then, because composed requests may
    /// use other hosts than the plan.
    const COMPOSES: bool = false;
    /// True if the scenario has a [tally](Self::take_tally).
    const COUNTS: bool = false;
    /// True if the [early tally](Self::take_early_tally) is taken at each check of the worker.
    const IS_LIVE: bool = false;

    /// The type of the behaviours.
    type Behaviour: Behaviour<H>;

    /// Returns the behaviour of the next user.
    fn user(&mut self) -> Self::Behaviour;

    /// Returns the address for all connections of this worker; `None` for the addresses of the
    /// URLs' hosts in turn. Called once, before the first dial.
    fn address(&self) -> Option<SocketAddr> {
        None
    }

    /// True if users name requests ([`Requester::series`]) in addition to those of the plan, so
    /// that the run has series although the plan's requests have one name. Called once.
    fn names_requests(&self) -> bool {
        false
    }

    /// Returns the recorder of the users' own metrics
    /// ([`CustomRecorder`](loadline_metrics::CustomRecorder)), if there is one: the worker takes
    /// the recorded values at the end of each interval. Called once.
    fn metrics(&self) -> Option<SharedMetrics> {
        None
    }

    /// Returns the counts of the users since the last call, if there are any. The worker takes them
    /// with the snapshot of each interval, and at the end, when all users are gone; only if the
    /// scenario [`COUNTS`](Self::COUNTS).
    fn take_tally(&mut self) -> Option<AnyTally> {
        None
    }

    /// Returns the part of the tally that its readers need before the interval ends, if there is
    /// any. The worker takes it when a user [requests](Iteration::report_tally) it, and about every
    /// 100 ms if the scenario [`IS_LIVE`](Self::IS_LIVE). What Loadline's own outputs report
    /// belongs to the tally of the interval.
    fn take_early_tally(&mut self) -> Option<AnyTally> {
        self.take_tally()
    }

    /// Receives a tick of its worker that has ended. Ticks are about 100 ms long, at most about
    /// twice that, and never overlap; the first begins with the measured part.
    fn ticked(&mut self, tick: Tick) {
        let _ = tick;
    }

    /// Receives the number of arrivals of the measured part that were dropped since the last call,
    /// in a load whose [late arrivals](loadline_plan::LateArrivals) are dropped.
    fn dropped(&mut self, count: u64) {
        let _ = count;
    }

    /// True if users of a closed load wait after a dial that failed. Called once. Not needed if the
    /// number of requests limits the run.
    fn backs_off(&self) -> bool {
        true
    }
}

/// Requests that are sent together on one connection.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The endpoint's index in the run's list.
    pub endpoint: usize,
    /// The bytes of all requests, one after the other; empty with HTTP/2.
    pub bytes: &'a [u8],
    /// Bytes that follow, sent without a copy: the body of the last request, if it is long and
    /// shared.
    pub tail: &'a [u8],
    /// The only request, if it is sent over HTTP/2; its part ends after its last byte.
    pub http2: Option<&'a h2::Request>,
    /// The end of each request; never empty.
    pub parts: &'a [Part],
    /// The condition for sending the requests again.
    pub resend: Resend,
}

/// The condition for sending requests again after their connection of HTTP/1.1, which had served a
/// response before, ended without a byte of their responses.
///
/// Requests of which no byte was written are always sent again. So are requests that follow a
/// response that announces the close. Over HTTP/2 the code of the reset matters as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resend {
    /// If it is known that the server has read nothing of them, so that a request is processed
    /// once.
    #[default]
    Unread,
    /// Never, if a byte of them was written; not over HTTP/2 either, like hyper.
    Never,
    /// Never, if a byte of them was written; over HTTP/2 by Go's rules.
    Unwritten,
    /// Always: the server may have processed them. Over HTTP/2 by Go's rules.
    Unanswered,
}

impl Resend {
    /// True if a request is sent again after its stream of HTTP/2 ended like this. A server that
    /// reports a request as unprocessed is believed; Go also sends again after a reset with
    /// PROTOCOL_ERROR (`canRetryError` in its `http2/transport.go`).
    pub(crate) fn goes_again(self, ended: &h2::Ended) -> bool {
        match self {
            Resend::Never => false,
            Resend::Unread => ended.is_unprocessed(),
            Resend::Unwritten | Resend::Unanswered => {
                let reset = h2::Outcome::Reset(h2::ErrorCode::PROTOCOL_ERROR);
                ended.is_unprocessed() || ended.outcome == reset && ended.is_unanswered()
            }
        }
    }
}

/// One request among the bytes of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The offset after its last byte.
    pub end: usize,
    /// The kind of response to expect.
    pub expect: Expect,
    /// The series that counts it, if the run has series.
    pub series: SeriesId,
    /// Its index among the plan's requests; `None` if the plan does not contain it.
    pub request: Option<u32>,
}

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

/// Receives the responses of a behaviour's requests. `()` receives nothing and costs nothing.
pub trait Observer: Sink {
    /// True if [`secured`](Observer::secured) is called.
    const WANTS_TLS: bool = false;
    /// True if [`carried`](Observer::carried) is called.
    const WANTS_CARRIER: bool = false;
    /// True if the clock is read at the end of sending, for [`Exchange::sent_ns`].
    const WANTS_SENT: bool = false;
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

#[cfg(test)]
mod tests {
    use super::h2::{Ended, ErrorCode, Outcome as End};
    use super::*;

    fn ended(outcome: End, status: u16, interim: u32) -> Ended {
        Ended {
            outcome,
            status,
            is_sent: true,
            head_len: 0,
            body_len: 0,
            interim,
        }
    }

    // `tests/dropped.rs` compares the last three with the tools that they imitate.
    #[test]
    fn whoever_sends_again_over_http2_does_so_before_a_response_alone() {
        let refused = End::Reset(ErrorCode::REFUSED_STREAM);
        let protocol = End::Reset(ErrorCode::PROTOCOL_ERROR);
        let gone = End::GoneAway(ErrorCode::NO_ERROR);
        let internal = End::Reset(ErrorCode::INTERNAL_ERROR);
        let of_all = [refused, gone, protocol, internal, End::ConnectionLost];
        for (resend, expected) in [
            (Resend::Unread, [true, true, false, false, false]),
            (Resend::Never, [false; 5]),
            (Resend::Unwritten, [true, true, true, false, false]),
            (Resend::Unanswered, [true, true, true, false, false]),
        ] {
            let untouched = of_all
                .clone()
                .map(|end| resend.goes_again(&ended(end, 0, 0)));
            assert_eq!(untouched, expected, "{resend:?}");
            for (status, interim) in [(200, 0), (0, 1)] {
                let begun = of_all
                    .clone()
                    .map(|end| resend.goes_again(&ended(end, status, interim)));
                assert_eq!(begun, [false; 5], "{resend:?}");
            }
        }
    }
}
