//! A target that goes on with what a trial left behind.

use super::SETTLING_S;
use crate::measure::{Descent, Measure, Observation, Purpose};
use std::convert::Infallible;

/// A target that serves so many requests a second, in order, and goes on after a trial with what
/// that left behind.
pub(crate) struct Lasting {
    pub(crate) capacity: f64,
    /// What a response takes behind no other, in seconds.
    pub(crate) at_ease_s: f64,
    /// The check: the longest response time is below this.
    pub(crate) most_s: f64,
    /// How long it yet takes for what came so far.
    pub(crate) backlog_s: f64,
    /// The most connections: no more requests are in flight than these.
    pub(crate) connections: f64,
    /// Seconds that all of it took.
    pub(crate) elapsed_s: f64,
}

impl Lasting {
    pub(crate) fn new(capacity: f64, at_ease_s: f64, most_s: f64) -> Lasting {
        Lasting {
            capacity,
            at_ease_s,
            most_s,
            backlog_s: 0.0,
            connections: 1_000.0,
            elapsed_s: 0.0,
        }
    }

    fn pass(&mut self, level: f64, seconds: f64) {
        let grown_s = (level / self.capacity - 1.0) * seconds;
        self.backlog_s = (self.backlog_s + grown_s).max(0.0);
        self.elapsed_s += seconds;
    }

    /// What is under way after this many seconds of this level, in requests.
    fn outstanding(&self, level: f64, seconds: f64) -> f64 {
        self.backlog_s * self.capacity + level * self.at_ease_s.min(seconds)
    }
}

impl Measure for Lasting {
    type Error = Infallible;

    fn trial(
        &mut self,
        _: Purpose,
        level: f64,
        seconds: f64,
    ) -> Result<Option<Observation>, Infallible> {
        self.pass(level, SETTLING_S);
        let (before_s, before) = (self.backlog_s, self.outstanding(level, SETTLING_S));
        self.pass(level, seconds);
        let longest_s = before_s.max(self.backlog_s) + self.at_ease_s;
        let outstanding = self.outstanding(level, SETTLING_S + seconds).floor();
        let mean_s = self.at_ease_s + (before_s + self.backlog_s) / 2.0;
        // What could not be sent is not sent any more.
        self.backlog_s = self.backlog_s.min(self.connections / self.capacity);
        Ok(Some(Observation {
            checks: vec![longest_s < self.most_s],
            answers_per_s: (level * seconds - (outstanding - before)).floor() / seconds,
            p99_ns: (longest_s * 1e9) as u64,
            mean_s,
            outstanding_s: outstanding / level,
            grown: outstanding - before.floor(),
            in_flight: outstanding.min(self.connections) as u64,
            ..Observation::default()
        }))
    }

    fn descend(
        &mut self,
        over: (f64, f64),
        back: (f64, f64),
    ) -> Result<Option<Descent>, Infallible> {
        let Ok(over) = self.trial(Purpose::Search, over.0, over.1);
        let Ok(back) = self.trial(Purpose::Search, back.0, back.1);
        Ok(over.zip(back).map(|(over, back)| Descent {
            over,
            back,
            intervals: Vec::new(),
        }))
    }

    fn pause(&mut self, seconds: f64) {
        self.pass(0.0, seconds);
    }

    fn together(&mut self, _: f64) -> Vec<bool> {
        vec![true]
    }
}
