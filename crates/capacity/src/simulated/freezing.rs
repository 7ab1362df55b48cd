//! A target that freezes repeatedly.

use super::{Answers, Kept, SETTLING_S};
use crate::measure::{Descent, Measure, Observation, Purpose, Trial};
use std::convert::Infallible;

/// A single server that freezes repeatedly for a moment, and otherwise serves this many requests a
/// second.
pub(crate) struct Freezing {
    pub(crate) capacity: f64,
    pub(crate) freeze_s: f64,
    pub(crate) every_s: f64,
    /// The check: the 99th percentile of the response time is below this.
    pub(crate) p99_s: f64,
    now_s: f64,
    /// The time at which the server has finished all requests so far.
    free_s: f64,
    kept: Kept,
}

impl Freezing {
    pub(crate) fn new(capacity: f64, freeze_s: f64, every_s: f64, p99_s: f64) -> Freezing {
        Freezing {
            capacity,
            freeze_s,
            every_s,
            p99_s,
            now_s: 0.0,
            free_s: 0.0,
            kept: Kept::default(),
        }
    }

    /// Returns the response time of a request that arrives at this time.
    fn response_s(&mut self, at_s: f64) -> f64 {
        let start_s = self.free_s.max(at_s);
        let into_s = start_s % self.every_s;
        let start_s = start_s + (self.freeze_s - into_s).max(0.0);
        self.free_s = start_s + 1.0 / self.capacity;
        self.free_s - at_s
    }

    /// Returns the response times at this level for this many seconds.
    pub(crate) fn responses(&mut self, level: f64, seconds: f64) -> Vec<f64> {
        let start_s = self.now_s;
        self.now_s += seconds;
        let arrivals = 0..(level * seconds) as usize;
        let times = arrivals.map(|index| self.response_s(start_s + index as f64 / level));
        times.collect()
    }
}

impl Measure for Freezing {
    type Error = Infallible;

    fn trial(
        &mut self,
        _: Purpose,
        level: f64,
        seconds: f64,
    ) -> Result<Option<Observation>, Infallible> {
        self.responses(level, SETTLING_S);
        let times = self.responses(level, seconds);
        let outstanding = ((self.free_s - self.now_s).max(0.0) * self.capacity).floor();
        self.kept.last = Answers {
            all: times.len() as f64,
            over: times.iter().filter(|time| **time >= self.p99_s).count() as f64,
        };
        self.free_s = self.free_s.min(self.now_s + 1_000.0 / self.capacity);
        Ok(Some(Observation {
            checks: vec![self.kept.last.hold()],
            answers_per_s: (level * seconds - outstanding).max(0.0) / seconds,
            mean_s: times.iter().sum::<f64>() / times.len() as f64,
            outstanding_s: outstanding / level,
            grown: outstanding,
            in_flight: outstanding.min(1_000.0) as u64,
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
        self.now_s += seconds;
    }

    fn ended(&mut self, trial: &Trial) {
        self.kept.ended(trial);
    }

    fn together(&mut self, level: f64) -> Vec<bool> {
        self.kept.together(level)
    }
}
