//! What a user does in one iteration.

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

/// What a user does in one iteration.
///
/// Iterations run as tasks of the worker's loop and wait through [`Requester::send`] and
/// [`Iteration::pause`]. A behaviour may call back into a script between two waits, wait on a stack
/// of its own, or be driven by another loop: all that the engine asks is a future.
pub trait Behaviour<H: Host>: 'static {
    /// Whether its iterations can be interrupted: the future of one that has used up the time of a
    /// graceful ramp-down is dropped, and the behaviour goes on with the next one in its user's
    /// next window. Those that the end of the run cuts off are counted as interrupted, too.
    const IS_INTERRUPTIBLE: bool = false;

    /// How many exchanges of an iteration have a start of their own in the schedule: the depth of
    /// a pipeline. Exchanges beyond that start when they are sent.
    fn depth(&self) -> u32 {
        1
    }

    /// Whether an iteration sends what it sends first at once, or after a pause. Otherwise the
    /// clock is read again when it sends, as a closed load must not count the work of its behaviour
    /// in the service time.
    fn is_prompt(&self) -> bool {
        false
    }

    /// Whether its iterations are timed, beside their requests: not if each is one request, whose
    /// response time that would be.
    fn times_iterations(&self) -> bool {
        false
    }

    /// Runs one iteration.
    fn iterate(&mut self, iteration: Iteration<'_, H>) -> impl Future<Output = ()>;
}

/// Makes the behaviours of one worker's users, on the worker's own thread.
pub trait Scenario<H: Host>: 'static {
    /// Whether its users compose requests, whose hosts may be others than those of the plan: TLS is
    /// set up for them whether the plan's own need it or not.
    const COMPOSES: bool = false;
    /// Whether it has a [tally](Self::take_tally).
    const COUNTS: bool = false;

    /// The behaviour it makes.
    type Behaviour: Behaviour<H>;

    /// The behaviour of the next user.
    fn user(&mut self) -> Self::Behaviour;

    /// Where all connections of this worker go, instead of in turn to the addresses of the URLs'
    /// hosts. Asked for once, before the first dial.
    fn address(&self) -> Option<SocketAddr> {
        None
    }

    /// Whether its users name requests ([`Requester::series`]) beside those of the plan, so that
    /// the run has series although the plan's requests have one name. Asked for once.
    fn names_requests(&self) -> bool {
        false
    }

    /// What its users count by themselves
    /// ([`CustomRecorder`](loadline_metrics::CustomRecorder)), if they do: the worker takes it at
    /// the end of each interval. Asked for once.
    fn metrics(&self) -> Option<SharedMetrics> {
        None
    }

    /// What its users counted since the last call, if anything. The worker takes it with the
    /// snapshot of each interval, when a user [asks](Iteration::report_tally) for that, and at the
    /// end, when all users are gone; only if the scenario [`COUNTS`](Self::COUNTS).
    fn take_tally(&mut self) -> Option<AnyTally> {
        None
    }

    /// A tick of its worker has ended. Ticks are about 100 ms long, at most about twice that, and
    /// never overlap; the first begins with the measured part.
    fn ticked(&mut self, tick: Tick) {
        let _ = tick;
    }

    /// So many arrivals of the measured part were dropped since this was told last, in a load whose
    /// [late arrivals](loadline_plan::LateArrivals) are.
    fn dropped(&mut self, count: u64) {
        let _ = count;
    }

    /// Whether users of a closed load wait after a dial that failed. Asked for once. Where the
    /// number of requests bounds the run, there is no need to.
    fn backs_off(&self) -> bool {
        true
    }
}

/// Requests that are sent together on one connection.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The endpoint's index in the run's list.
    pub endpoint: usize,
    /// All requests, one after the other; none with HTTP/2.
    pub bytes: &'a [u8],
    /// What follows them as it is: the body of the last request, where it is long and shared.
    pub tail: &'a [u8],
    /// The one request, where it is sent over HTTP/2; its part ends behind its last byte.
    pub http2: Option<&'a h2::Request>,
    /// Where each ends; never empty.
    pub parts: &'a [Part],
    /// When they may be sent once more.
    pub resend: Resend,
}

/// When requests are sent once more whose connection of HTTP/1.1, which had served a response
/// before, ended without a byte of theirs.
///
/// Requests of which nothing was written are, in any case. So are those behind a response that
/// announces the close. Over HTTP/2 it depends on the code of the reset as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resend {
    /// If it is known that the server has read nothing of them. So a request is processed once.
    #[default]
    Unread,
    /// Never, if a byte of them was written; not over HTTP/2 either, as hyper has it.
    Never,
    /// Never, if a byte of them was written; over HTTP/2 as Go has it.
    Unwritten,
    /// Always: the server may have processed them. Over HTTP/2 as Go has it.
    Unanswered,
}

impl Resend {
    /// Whether a request goes out again whose stream of HTTP/2 ended so. A server that says that it
    /// did not look at it is believed; Go also sends again what was reset with PROTOCOL_ERROR
    /// (`canRetryError` in its `http2/transport.go`).
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
    /// The offset behind its last byte.
    pub end: usize,
    /// What kind of response it gets.
    pub expect: Expect,
    /// The series that counts it, where the run has series.
    pub series: SeriesId,
    /// Its index among the plan's requests; `None` if it is none of them.
    pub request: Option<u32>,
}

/// A whole response, as far as its exchange does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Bytes of its head, those of interim answers among them.
    pub head_bytes: u64,
    /// Bytes of its payload, without the framing of chunks.
    pub body_bytes: u64,
    /// Whether it lets the connection serve another request.
    pub keeps_connection: bool,
}

/// Why a response is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// How its exchange failed.
    pub kind: ErrorKind,
    /// Why.
    pub reason: String,
}

/// The connection that carries an exchange.
#[derive(Clone, Copy)]
pub struct Carrier<'a> {
    /// The address that was dialled, which is the proxy's behind a proxy; `None` of a Unix socket.
    pub remote: Option<SocketAddr>,
    /// Whether it speaks HTTP/2, as opposed to HTTP/1.1.
    pub is_http2: bool,
    /// Whether it carried another exchange before.
    pub is_reused: bool,
    /// Describes its TLS, which takes a moment.
    pub(crate) tls: &'a dyn Fn() -> Option<Agreed>,
}

impl Carrier<'_> {
    /// What its TLS agreed on; `None` without TLS.
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

/// Sees the responses of a behaviour's requests. `()` sees nothing and costs nothing.
pub trait Observer: Sink {
    /// Whether [`secured`](Observer::secured) is called.
    const WANTS_TLS: bool = false;
    /// Whether [`carried`](Observer::carried) is called.
    const WANTS_CARRIER: bool = false;
    /// Whether the end of sending is read from the clock, for [`Exchange::sent_ns`].
    const WANTS_SENT: bool = false;
    /// Whether [`refusal`](Observer::refusal) is called.
    const MAY_REFUSE: bool = false;

    /// A connection was dialled for the exchange, and this is what its TLS agreed on.
    fn secured(&mut self, agreed: &Agreed) {
        let _ = agreed;
    }

    /// The exchange goes out on this connection, be it a new one or one that served before. Told
    /// again where an exchange is sent again.
    fn carried(&mut self, carrier: &Carrier<'_>) {
        let _ = carrier;
    }

    /// Why the response is none that it takes, if it is not: its exchange fails so. Asked for while
    /// a response comes, which is not read to its end then, and once more when it `is_whole`; only
    /// if [`MAY_REFUSE`](Observer::MAY_REFUSE), and over HTTP/1.1.
    fn refusal(&mut self, is_whole: bool) -> Option<Refusal> {
        let _ = is_whole;
        None
    }

    /// A whole response has come; [`ended`](Observer::ended) follows.
    fn answered(&mut self, answer: &Answer) {
        let _ = answer;
    }

    /// The plan blocks the host or address of the exchange ([`Naming`](loadline_plan::Naming));
    /// [`failed`](Observer::failed) follows.
    fn blocked(&mut self, by: &Blocked) {
        let _ = by;
    }

    /// The server ended the exchange's stream, or its connection, with this error code of HTTP/2;
    /// [`failed`](Observer::failed) follows.
    fn given_up(&mut self, code: h2::ErrorCode) {
        let _ = code;
    }

    /// An exchange failed for this reason, with this number of the system's if it was the system
    /// that told; [`ended`](Observer::ended) follows.
    fn failed(&mut self, reason: &str, os_error: Option<i32>) {
        let _ = (reason, os_error);
    }

    /// An exchange has ended; what the sink was told before belongs to it.
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

    // `tests/dropped.rs` holds the last three to the tools that they stand for.
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
