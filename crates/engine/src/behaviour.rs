//! The behaviour of a user: its actions in one iteration.

use crate::Iteration;
#[cfg(doc)]
use crate::Requester;
use crate::event::Tick;
use crate::tally::AnyTally;
use loadline_reactor::Host;
use loadline_record::SharedMetrics;
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
    /// True if users finish their iterations after a stop, with all requests of these: that time is
    /// part of the measured part then.
    const FINISHES_ITERATIONS: bool = false;

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
    /// in a load whose [late arrivals](loadline_plan::LateArrivals) are dropped; `grows` is true if
    /// the worker has users left that it can add for later ones.
    fn dropped(&mut self, count: u64, grows: bool) {
        let _ = (count, grows);
    }

    /// True if users of a closed load wait after a dial that failed. Called once. Not needed if the
    /// number of requests limits the run.
    fn backs_off(&self) -> bool {
        true
    }
}
