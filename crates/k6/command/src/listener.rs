//! The observer of a run: receives the records of its users, and follows its progress.

use super::running::Running;
use super::stop::{Interrupt, Reason};
use loadline_engine::AnyTally;
use loadline_k6_metrics::{Outcome, Portion, Recorder, Tags, Thresholds, aborting, builtin};
use loadline_reactor::monotonic_ns;
use loadline_record::{Header, Summary};
use loadline_runner::{End, Interests, Interval, Observed, Observer};
use loadline_script_js::{Measured, Program, RunState, Stage};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The time between two updates of the test's state.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The lead by which users are counted before the end of a second. k6's clock begins before the
/// load, so that it counts the users of a load of whole seconds before they end.
const EARLY: Duration = Duration::from_millis(60);
/// The interval between two evaluations of thresholds, in seconds.
const JUDGED_EACH: u64 = 2;

/// Is notified of the progress of a test: a terminal, outputs.
pub(super) trait Watcher {
    /// Receives the records of users, before they are added up.
    fn portion(&mut self, portion: &Portion);

    /// Is called repeatedly during a pause before the test.
    fn paused(&mut self);

    /// Is called repeatedly during `setup()`.
    fn setting_up(&mut self);

    /// Is called repeatedly during the load and `teardown()`.
    fn moment(&mut self, moment: &Moment<'_>);

    /// Is called when the test has ended.
    fn ended(&mut self, moment: &Moment<'_>);
}

/// The state of a test at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment<'a> {
    /// The state that its users share.
    pub(super) state: &'a RunState,
    /// The scenarios.
    pub(super) stages: &'a [Arc<Stage>],
    /// The state that the REST API can change.
    pub(super) running: &'a Running,
    /// The begin of the load, if it has begun.
    pub(super) load_began: Option<Instant>,
    /// The end of the load, if it has ended.
    pub(super) load_ended: Option<Instant>,
}

/// The run of a test: each test has three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Setup,
    Load,
    Teardown,
}

/// The clocks of a test.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clocks {
    /// The begin of the load, if it has begun.
    pub(super) load_began: Option<Instant>,
    /// The end of the load, if it has ended.
    pub(super) load_ended: Option<Instant>,
    /// The time at which the last interval of the run was received.
    pub(super) ended: Option<Instant>,
    /// The seconds of the test that were processed.
    pub(super) seconds: u64,
    /// The number of active users at the last update.
    active: u32,
}

/// Receives the events of a run.
pub(super) struct Listener<'a> {
    pub(super) running: &'a Running,
    pub(super) program: &'a Program,
    pub(super) thresholds: &'a Thresholds,
    pub(super) state: &'a RunState,
    pub(super) stages: &'a [Arc<Stage>],
    pub(super) interrupt: &'a Interrupt,
    /// The users that are ready when the load begins.
    pub(super) ready: u32,
    pub(super) phase: Phase,
    pub(super) clocks: &'a mut Clocks,
    pub(super) watcher: &'a mut dyn Watcher,
}

impl Observer for Listener<'_> {
    fn interests(&self) -> Interests {
        Interests {
            idle_after: Some(POLL_INTERVAL),
            ..Interests::default()
        }
    }

    fn begun(&mut self, header: &Header) -> Observed {
        let begin = not_before(header.started_monotonic_ns);
        self.state.execution.begin_part(begin);
        if self.phase == Phase::Load {
            self.clocks.load_began = Some(begin);
            self.running.begin_load();
        }
        // A reason that arrived before this run could receive commands ends it now.
        let may_end = self.phase != Phase::Teardown;
        if let Some(reason) = self.interrupt.reason().filter(|_| may_end) {
            self.interrupt.end(reason);
        }
        Ok(())
    }

    fn tally(&mut self, tally: &AnyTally) -> Observed {
        if let Some(measured) = tally.get::<Measured>() {
            measured.deliver_news(self.state, self.stages, self.program);
            if !measured.portion.is_empty() {
                self.measured(&measured.portion);
            }
        }
        Ok(())
    }

    fn interval(&mut self, _: &Interval<'_>) -> Observed {
        // The last interval arrives together with the end.
        self.clocks.ended = Some(Instant::now());
        self.look();
        Ok(())
    }

    fn idle(&mut self, _: &Summary) -> Observed {
        self.look();
        Ok(())
    }

    fn ended(&mut self, _: &End<'_>) -> Observed {
        self.over();
        Ok(())
    }
}

impl Listener<'_> {
    /// Ends this part of the test.
    pub(super) fn over(&mut self) {
        let ended = self.clocks.ended.take();
        let ended = ended.unwrap_or_else(Instant::now);
        self.state.execution.end_part(ended);
        if self.phase == Phase::Load {
            self.clocks.load_ended = Some(ended);
        }
    }

    /// Adds measurements of users.
    fn measured(&mut self, portion: &Portion) {
        match self.phase {
            Phase::Load => self.add(portion),
            Phase::Setup | Phase::Teardown => {
                self.watcher.portion(portion);
                self.running.add_outside(portion);
            }
        }
    }

    fn look(&mut self) {
        match self.phase {
            Phase::Setup => self.watcher.setting_up(),
            Phase::Load | Phase::Teardown => self.watcher.moment(&Moment {
                state: self.state,
                stages: self.stages,
                running: self.running,
                load_began: self.clocks.load_began,
                load_ended: self.clocks.load_ended,
            }),
        }
        let active = self.state.execution.users_active.load(Ordering::Relaxed);
        let seconds = (self.state.execution.elapsed() + EARLY).as_secs();
        if seconds > self.clocks.seconds {
            self.clocks.seconds = seconds;
            self.second(active.max(self.clocks.active));
        }
        self.clocks.active = active;
    }

    fn add(&mut self, portion: &Portion) {
        self.watcher.portion(portion);
        self.running.totals().add(portion);
    }

    /// Records the users at the end of a second, and judges thresholds every [`JUDGED_EACH`]
    /// seconds.
    fn second(&mut self, active: u32) {
        self.gauge(active);
        if self.clocks.seconds.is_multiple_of(JUDGED_EACH) {
            self.judge();
        }
    }

    /// Records the numbers of users.
    fn gauge(&mut self, active: u32) {
        let mut recorder = Recorder::new(Arc::clone(&self.state.recording));
        let execution = &self.state.execution;
        let tags = RunTags(&self.state.options.tags);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let at_ns = now.map_or(0, |since| since.as_nanos() as u64);
        let ready = execution.users_ready.load(Ordering::Relaxed);
        let counts = [
            (builtin::VUS, active),
            (builtin::VUS_MAX, ready.max(self.ready)),
        ];
        for (metric, count) in counts {
            recorder.add(metric, f64::from(count), at_ns, &tags);
        }
        self.add(&recorder.take());
    }

    /// Judges thresholds; ends the test if one is crossed that aborts it.
    fn judge(&mut self) {
        let elapsed = self.state.execution.elapsed();
        let totals = self.running.totals();
        let outcomes = self.thresholds.evaluate(&totals, elapsed.as_nanos() as u64);
        drop(totals);
        self.running.judged(outcomes.clone());
        self.running.show_results(&outcomes);
        let Some(message) = aborting(&outcomes) else {
            return;
        };
        let ending = outcomes.iter().find(|outcome| outcome.aborts);
        let condition = ending.map_or_else(String::new, Outcome::condition);
        self.interrupt
            .end(Reason::Thresholds { message, condition });
    }
}

/// Returns now, or the later instant of this begin on the monotonic clock: agents begin together
/// some time after they are told.
fn not_before(begin_ns: Option<u64>) -> Instant {
    let ahead_ns = begin_ns.map_or(0, |begin_ns| begin_ns.saturating_sub(monotonic_ns()));
    Instant::now() + Duration::from_nanos(ahead_ns)
}

/// The tags of a whole run.
struct RunTags<'a>(&'a BTreeMap<String, String>);

impl Tags for RunTags<'_> {
    fn get(&self, key: &str) -> Option<Cow<'_, str>> {
        self.0.get(key).map(|value| Cow::Borrowed(value.as_str()))
    }

    fn for_each(&self, visit: &mut dyn FnMut(&str, &str)) {
        self.0.iter().for_each(|(name, value)| visit(name, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_a_load_that_begins_later_waits_for_its_begin() {
        let minute = Duration::from_secs(60);
        let later_ns = monotonic_ns() + minute.as_nanos() as u64;
        let now = Instant::now();
        let later = not_before(Some(later_ns));
        assert!(later > now + minute / 2 && later <= Instant::now() + minute);
        for past in [None, Some(0)] {
            let begin = not_before(past);
            assert!(begin >= now && begin <= Instant::now(), "{past:?}");
        }
    }
}
