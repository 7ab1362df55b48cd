//! A target that continues with the backlog of the last trial.

use super::SETTLING_S;
use crate::measure::{Descent, Measure, Observation, Purpose};
use std::convert::Infallible;

/// A target that serves this many requests a second, in order, and after a trial continues with the
/// trial's backlog.
pub(crate) struct Lasting {
    pub(crate) capacity: f64,
    /// The response time without a queue, in seconds.
    pub(crate) at_ease_s: f64,
    /// The check: the longest response time is below this.
    pub(crate) most_s: f64,
    /// The time needed for the requests so far, in seconds.
    pub(crate) backlog_s: f64,
    /// The most connections: no more requests are in flight.
    pub(crate) connections: f64,
    /// The total duration, in seconds.
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

    /// Returns the requests under way after this many seconds of this level.
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
        // Requests that could not be sent are dropped.
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
