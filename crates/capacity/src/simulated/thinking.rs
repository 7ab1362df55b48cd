//! A target whose users wait between their requests.

use crate::measure::{Descent, Measure, Observation, Purpose};
use std::convert::Infallible;

/// A server of one request at a time, whose users wait for a while after each response. Its
/// response time is computed by mean value analysis (Reiser and Lavenberg, 1980).
pub(crate) struct Thinking {
    /// The time that a user waits, in seconds.
    pub(crate) wait_s: f64,
    /// The time that the server needs for a request, in seconds.
    pub(crate) service_s: f64,
    /// The check: the mean response time is below this.
    pub(crate) most_s: f64,
}

impl Thinking {
    /// Returns the mean response time with this many users, in seconds.
    pub(crate) fn response_s(&self, users: f64) -> f64 {
        let (mut response_s, mut queue) = (self.service_s, 0.0);
        for number in 1..=users as u64 {
            response_s = self.service_s * (1.0 + queue);
            queue = number as f64 / (self.wait_s + response_s) * response_s;
        }
        response_s
    }

    fn seen(&self, users: f64) -> Observation {
        let mean_s = self.response_s(users);
        Observation {
            checks: vec![mean_s < self.most_s],
            answers_per_s: users / (self.wait_s + mean_s),
            mean_s,
            ..Observation::default()
        }
    }
}

impl Measure for Thinking {
    type Error = Infallible;

    fn trial(&mut self, _: Purpose, level: f64, _: f64) -> Result<Option<Observation>, Infallible> {
        Ok(Some(self.seen(level)))
    }

    fn descend(
        &mut self,
        over: (f64, f64),
        back: (f64, f64),
    ) -> Result<Option<Descent>, Infallible> {
        Ok(Some(Descent {
            over: self.seen(over.0),
            back: self.seen(back.0),
            intervals: Vec::new(),
        }))
    }

    fn together(&mut self, _: f64) -> Vec<bool> {
        vec![true]
    }
}
