//! What is heard of a run while it lasts: what its users recorded, and how far it is.

use super::natives::Said;
use super::running::Running;
use super::stop::{Interrupt, Reason};
use loadline_engine::AnyTally;
use loadline_k6_metrics::{Portion, Recorder, Tags, Thresholds, aborting, builtin};
use loadline_record::{Header, Summary};
use loadline_runner::{End, Interval, Observed, Observer, Wants};
use loadline_script_js::{Measured, RunState, Stage};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often the clock of the test is looked at.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long before a second is over users are counted. k6's clock begins before the load, so that
/// it counts the users of a load of whole seconds before they go.
const EARLY: Duration = Duration::from_millis(60);
/// Every how many seconds thresholds are judged.
const JUDGED_EACH: u64 = 2;

/// Is told how a test goes: a terminal, outputs.
pub(super) trait Watcher {
    /// What users recorded, before it is added up.
    fn portion(&mut self, portion: &Portion);

    /// A little time has passed in a pause before the test.
    fn paused(&mut self);

    /// A little time has passed in `setup()`.
    fn setting_up(&mut self);

    /// A little time has passed in the load, or in `teardown()`.
    fn moment(&mut self, moment: &Moment<'_>);

    /// The test has ended.
    fn ended(&mut self, moment: &Moment<'_>);
}

/// How a test stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment<'a> {
    /// What its users share.
    pub(super) state: &'a RunState,
    /// Its scenarios.
    pub(super) stages: &'a [Arc<Stage>],
    /// What the REST API made of it.
    pub(super) running: &'a Running,
    /// When its load began, if it has.
    pub(super) load_began: Option<Instant>,
    /// When its load ended, if it has.
    pub(super) load_ended: Option<Instant>,
}

/// Which run of a test it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Setup,
    Load,
    Teardown,
}

/// The clocks of a test.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clocks {
    /// When its load began, if it has.
    pub(super) load_began: Option<Instant>,
    /// When its load ended, if it has.
    pub(super) load_ended: Option<Instant>,
    /// When an interval of the run was heard of last.
    pub(super) heard: Option<Instant>,
    /// Seconds of the test that were looked at.
    pub(super) seconds: u64,
    /// How many users were active at the last look.
    active: u32,
}

/// Hears what comes of a run.
pub(super) struct Listener<'a> {
    pub(super) running: &'a Running,
    pub(super) thresholds: &'a Thresholds,
    pub(super) state: &'a RunState,
    pub(super) stages: &'a [Arc<Stage>],
    pub(super) interrupt: &'a Interrupt,
    /// Users that are ready when the load begins.
    pub(super) ready: u32,
    pub(super) phase: Phase,
    /// What judges the run, if it is judged.
    pub(super) judge: Option<fn(&End<'_>) -> Vec<Said>>,
    pub(super) verdict: &'a mut Vec<Said>,
    pub(super) clocks: &'a mut Clocks,
    pub(super) watcher: &'a mut dyn Watcher,
}

impl Observer for Listener<'_> {
    fn wants(&self) -> Wants {
        Wants {
            idle_after: Some(POLL_INTERVAL),
            ..Wants::default()
        }
    }

    fn begun(&mut self, _: &Header) -> Observed {
        let now = Instant::now();
        self.state.execution.begin_part(now);
        if self.phase == Phase::Load {
            self.clocks.load_began = Some(now);
            self.running.begin_load();
        }
        // What ended the test before this run could be told ends it now.
        let may_end = self.phase != Phase::Teardown;
        if let Some(reason) = self.interrupt.reason().filter(|_| may_end) {
            self.interrupt.end(reason);
        }
        Ok(())
    }

    fn tally(&mut self, tally: &AnyTally) -> Observed {
        if let Some(Measured { portion, .. }) = tally.get() {
            self.add(portion);
        }
        Ok(())
    }

    fn interval(&mut self, _: &Interval<'_>) -> Observed {
        // The last one comes with the end.
        self.clocks.heard = Some(Instant::now());
        self.look();
        Ok(())
    }

    fn idle(&mut self, _: &Summary) -> Observed {
        self.look();
        Ok(())
    }

    fn ended(&mut self, end: &End<'_>) -> Observed {
        let heard = self.clocks.heard.take();
        let ended = heard.unwrap_or_else(Instant::now);
        self.state.execution.end_part(ended);
        if self.phase == Phase::Load {
            self.clocks.load_ended = Some(ended);
        }
        if let Some(judge) = self.judge {
            *self.verdict = judge(end);
        }
        Ok(())
    }
}

impl Listener<'_> {
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

    /// A second is nearly over, with so many users.
    fn second(&mut self, active: u32) {
        self.gauge(active);
        if self.clocks.seconds.is_multiple_of(JUDGED_EACH) {
            self.judge();
        }
    }

    /// Notes how many users there are.
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

    /// Ends the test if a threshold was crossed that asks for it.
    fn judge(&mut self) {
        let elapsed = self.state.execution.elapsed();
        let totals = self.running.totals();
        let outcomes = self.thresholds.evaluate(&totals, elapsed.as_nanos() as u64);
        drop(totals);
        self.running.judged(outcomes.clone());
        if let Some(sentence) = aborting(&outcomes) {
            self.interrupt.end(Reason::Thresholds(sentence));
        }
    }
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
