//! A target with several servers and random service times.

use super::{Answers, Kept};
use crate::measure::{Descent, Measure, Observation, Purpose, Trial};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, StandardNormal};
use std::convert::Infallible;

/// A queue of Kendall's kind M/M/c: random arrivals, each served by the first free of c servers for
/// an exponential time.
pub(crate) struct Queue {
    pub(crate) servers: usize,
    /// Requests per second that one server serves.
    pub(crate) service_rate: f64,
    /// The share by which the service rate varies from trial to trial.
    pub(crate) noise: f64,
    /// The check: the 99th percentile of the response time is below this.
    pub(crate) p99_s: f64,
    pub(crate) random: ChaCha8Rng,
    pub(crate) kept: Kept,
}

impl Queue {
    /// The most arrivals that are simulated in a trial: with more of them every check fails anyway.
    const MOST_ARRIVALS: f64 = 100_000.0;

    /// Returns the response times of the requests that ended in time, and the number of arrivals.
    fn responses(&mut self, rate: f64, seconds: f64) -> (Vec<f64>, usize) {
        let off: f64 = StandardNormal.sample(&mut self.random);
        let service_rate = self.service_rate * (1.0 + self.noise * off);
        let mut free_at = vec![0.0_f64; self.servers];
        let (mut now, mut arrivals, mut times) = (0.0, 0, Vec::new());
        let exponential = |random: &mut ChaCha8Rng| -> f64 { Exp1.sample(random) };
        loop {
            now += exponential(&mut self.random) / rate;
            if now > seconds {
                return (times, arrivals);
            }
            arrivals += 1;
            let server = (1..self.servers).fold(0, |best, other| {
                if free_at[other] < free_at[best] {
                    other
                } else {
                    best
                }
            });
            let end = free_at[server].max(now) + exponential(&mut self.random) / service_rate;
            free_at[server] = end;
            if end <= seconds {
                times.push(end - now);
            }
        }
    }
}

impl Measure for Queue {
    type Error = Infallible;

    fn trial(
        &mut self,
        _: Purpose,
        level: f64,
        seconds: f64,
    ) -> Result<Option<Observation>, Infallible> {
        let seconds = seconds.min(Queue::MOST_ARRIVALS / level);
        let (mut times, arrivals) = self.responses(level, seconds);
        times.sort_by(f64::total_cmp);
        let rank = |share: f64| ((times.len() as f64 * share).ceil() as usize).max(1) - 1;
        let at = |share: f64| times.get(rank(share)).copied().unwrap_or(f64::MAX);
        self.kept.last = Answers {
            all: times.len() as f64,
            over: times.iter().filter(|time| **time >= self.p99_s).count() as f64,
        };
        let outstanding = (arrivals - times.len()) as f64;
        Ok(Some(Observation {
            checks: vec![at(0.99) < self.p99_s],
            answers_per_s: times.len() as f64 / seconds,
            p50_ns: (at(0.5) * 1e9) as u64,
            p99_ns: (at(0.99) * 1e9) as u64,
            mean_s: times.iter().sum::<f64>() / times.len().max(1) as f64,
            outstanding_s: outstanding / level,
            grown: outstanding,
            in_flight: outstanding as u64,
            ..Observation::default()
        }))
    }

    fn descend(
        &mut self,
        over: (f64, f64),
        back: (f64, f64),
    ) -> Result<Option<Descent>, Infallible> {
        let purpose = Purpose::Search;
        let Ok(over) = self.trial(purpose, over.0, over.1);
        let Ok(back) = self.trial(purpose, back.0, back.1);
        Ok(over.zip(back).map(|(over, back)| Descent {
            over,
            back,
            intervals: Vec::new(),
        }))
    }

    fn ended(&mut self, trial: &Trial) {
        self.kept.ended(trial);
    }

    fn together(&mut self, level: f64) -> Vec<bool> {
        self.kept.together(level)
    }
}
