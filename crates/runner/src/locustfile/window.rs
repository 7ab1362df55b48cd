//! A trial: some seconds of the run that the child writes, in the form of a separate run.

use super::State as Known;
use super::child::{Child, Gone, State};
use crate::commands::Control;
use crate::source::Source;
use loadline_engine::{EndReason, Event, StartError};
use loadline_plan::{HttpVersion, Level};
use loadline_reactor::{Address, monotonic_ns};
use loadline_record::{ErrorKind, Failures, Snapshot, Unfinished};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const NS_PER_SECOND: u64 = 1_000_000_000;
/// The example text of failures that only the locustfile detects.
const FAILED_BY_LOCUSTFILE: &str = "the locustfile counts the response as a failure";

/// A number of users, and a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) users: u32,
    pub(super) seconds: u64,
}

/// A trial.
pub(super) struct Window {
    child: Rc<Child>,
    known: Rc<Known>,
    /// The current step, and the later ones, the last first.
    step: Step,
    later: Vec<Step>,
    /// The earliest begin of its first interval, in nanoseconds of the child's run.
    from_ns: u64,
    /// The actual begin of its first interval, in nanoseconds of the child's run.
    zero_ns: Option<u64>,
    /// The requests in flight at the end of the interval before.
    in_flight: u64,
    /// The child's state at the end of the last interval.
    state: State,
    /// The merged record of this step.
    seen: Snapshot,
    stopped: Arc<AtomicBool>,
    is_over: bool,
    failure: Option<String>,
}

impl Window {
    /// Requests the users of the first step, new ones spread over `spread_s` seconds; measures when
    /// they have settled.
    pub(super) fn begin(
        child: Rc<Child>,
        known: Rc<Known>,
        mut steps: Vec<Step>,
        spread_s: f64,
        settling: Duration,
    ) -> Result<Window, StartError> {
        steps.reverse();
        let step = steps.pop().expect("a trial has a step");
        let changed = child.have_users(step.users, spread_s);
        changed.map_err(|_| StartError::Remote(child.end_message()))?;
        known.users.set(step.users);
        let now_ns = monotonic_ns().saturating_sub(child.begin_ns());
        Ok(Window {
            child,
            known,
            step,
            later: steps,
            from_ns: now_ns + settling.as_nanos() as u64,
            zero_ns: None,
            in_flight: 0,
            state: State::default(),
            seen: Snapshot::empty(0),
            stopped: Arc::default(),
            is_over: false,
            failure: None,
        })
    }

    /// Takes the next interval of the child's run.
    fn take(&mut self, interval: Snapshot) -> Option<Event> {
        let Some(zero_ns) = self.zero_ns else {
            self.look_ahead(&interval);
            return None;
        };
        let mut interval = self.of_this_run(interval, zero_ns);
        let now = self.child.state().unwrap_or_else(|_| self.state.clone());
        let failures = now.failures.saturating_sub(self.state.failures);
        count_failures(&mut interval, failures);
        self.state = now;
        self.seen.append(&interval);
        Some(Event::Interval(Box::new(interval)))
    }

    /// Checks an interval before the first one: after it the trial may begin.
    fn look_ahead(&mut self, interval: &Snapshot) {
        if interval.end_ns >= self.from_ns {
            self.zero_ns = Some(interval.end_ns);
            self.in_flight = interval.counts.in_flight;
            self.state = self.child.state().unwrap_or_default();
        }
    }

    /// Returns the interval relative to the begin of the window. Requests in flight at the begin
    /// count as sent in the first interval, so that all responses belong to requests of the run.
    fn of_this_run(&self, mut interval: Snapshot, zero_ns: u64) -> Snapshot {
        interval.start_ns = interval.start_ns.saturating_sub(zero_ns);
        interval.end_ns = interval.end_ns.saturating_sub(zero_ns);
        if interval.start_ns == 0 {
            interval.counts.sent += self.in_flight;
            interval.counts.planned += self.in_flight;
        }
        interval
    }

    /// Begins the next step if the current one was long enough; returns the end if it was the last
    /// one.
    fn step_on(&mut self) -> Option<Event> {
        if self.seen.length_ns() < self.step.seconds * NS_PER_SECOND {
            return None;
        }
        self.known.learn(self.step.users, &self.seen);
        let Some(next) = self.later.pop() else {
            return Some(self.end(EndReason::Duration));
        };
        self.seen = Snapshot::empty(self.seen.end_ns);
        self.step = next;
        self.known.users.set(next.users);
        match self.child.have_users(next.users, 0.0) {
            Ok(()) => None,
            Err(_) => Some(self.fail()),
        }
    }

    fn fail(&mut self) -> Event {
        self.failure = Some(self.child.end_message());
        self.end(EndReason::Failed)
    }

    fn end(&mut self, reason: EndReason) -> Event {
        self.is_over = true;
        let end_ns = self.child.begin_ns() + self.zero_ns.unwrap_or(0) + self.seen.end_ns;
        let unfinished = Box::new(self.unfinished(end_ns));
        Event::Ended { reason, unfinished }
    }

    /// Returns the requests in flight at this instant. Requests that were answered before the child
    /// reported have an age of 0.
    fn unfinished(&self, end_ns: u64) -> Unfinished {
        let in_flight = self.seen.counts.in_flight;
        let since_ns = self.state.in_flight_since_ns.iter();
        let mut ages_ns: Vec<u64> = since_ns
            .filter_map(|since_ns| end_ns.checked_sub(*since_ns))
            .collect();
        ages_ns.resize(in_flight as usize, 0);
        let mut unfinished = Unfinished {
            in_flight,
            oldest_ns: ages_ns.iter().copied().max().unwrap_or(0),
            ..Unfinished::default()
        };
        for age_ns in ages_ns {
            unfinished.ages.response.record_ns(age_ns);
            unfinished.ages.service.record_ns(age_ns);
        }
        unfinished
    }
}

/// Counts as failed as many exchanges as the locustfile does, including answered ones: those whose
/// responses it rejected among them.
fn count_failures(interval: &mut Snapshot, failures: u64) {
    interval.rejected.clear();
    let counts = &mut interval.counts;
    counts.rejected = 0;
    let more = failures.saturating_sub(counts.failed).min(counts.answered);
    if more == 0 {
        return;
    }
    counts.answered -= more;
    counts.failed += more;
    let others = interval.errors.entry(ErrorKind::Other);
    let others = others.or_insert_with(|| Failures {
        count: 0,
        example: FAILED_BY_LOCUSTFILE.to_owned(),
    });
    others.count += more;
}

impl Source for Window {
    fn next_event(&mut self, timeout: Duration) -> Option<Event> {
        if self.is_over {
            return None;
        }
        if self.stopped.load(Ordering::Relaxed) {
            return Some(self.end(EndReason::Stopped));
        }
        if let Some(event) = self.step_on() {
            return Some(event);
        }
        match self.child.next_interval(timeout) {
            Ok(interval) => self.take(interval?),
            Err(Gone) => Some(self.fail()),
        }
    }

    fn control(&self) -> Box<dyn Control> {
        Box::new(Stop(Arc::clone(&self.stopped)))
    }

    fn failure(&self, _: u64) -> Option<String> {
        self.failure.clone()
    }

    fn begin_ns(&self) -> u64 {
        self.child.begin_ns() + self.from_ns
    }

    fn addresses(&self) -> &[Address] {
        self.child.addresses()
    }

    fn left_out(&self) -> &[Address] {
        &[]
    }

    fn http(&self) -> HttpVersion {
        HttpVersion::V1_1
    }
}

/// Ends the trial. Users keep running; their later events belong to the next trial.
struct Stop(Arc<AtomicBool>);

impl Control for Stop {
    fn stop(&self) {
        self.abort();
    }

    fn abort(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn change(&self, _: Level) -> Option<u64> {
        None
    }

    fn change_scenario(&self, _: usize, _: Level) -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(answered: u64, failed: u64) -> Snapshot {
        let mut interval = Snapshot::empty(0);
        interval.counts.answered = answered;
        interval.counts.failed = failed;
        interval
    }

    #[test]
    fn a_response_that_the_locustfile_takes_for_a_failure_is_one() {
        let failed = |answered, failed, failures| {
            let mut interval = interval(answered, failed);
            count_failures(&mut interval, failures);
            let others = interval.errors.get(&ErrorKind::Other);
            let others = others.map_or(0, |failures| failures.count);
            (interval.counts.answered, interval.counts.failed, others)
        };
        assert_eq!(failed(10, 2, 2), (10, 2, 0), "they are all known");
        assert_eq!(failed(10, 2, 5), (7, 5, 3));
        assert_eq!(failed(10, 2, 50), (0, 12, 10), "no more than there were");
        assert_eq!(failed(10, 2, 0), (10, 2, 0));
    }
}
