//! Targets of known capacity, in virtual time and from a seed.

use crate::measure::{Descent, Measure, OwnLimit, Purpose, Seen};
use crate::settings::Settings;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, StandardNormal};
use std::convert::Infallible;
use std::ops::Range;

/// As the command searches where nothing else is said.
pub(crate) fn settings() -> Settings {
    Settings {
        lowest: 1.0,
        highest: 1e6,
        first: 100.0,
        step: 1.0,
        checks: 1,
        trial_s: Settings::TRIAL_S,
        settling_s: 0.5,
        warm_up_s: 5.0,
        recovery_s: 5.0,
        width: Settings::WIDTH,
        trials: Settings::TRIALS,
        budget_s: 1e9,
        floor_per_s: None,
    }
}

/// A target that holds up to a threshold, which varies from trial to trial by a normal share.
pub(crate) struct Wavering {
    pub(crate) threshold: f64,
    pub(crate) noise: f64,
    pub(crate) random: ChaCha8Rng,
    /// From this level on the generator is busy, and the checks break for that.
    pub(crate) generator_ends: f64,
    /// What disturbs the machine, so that in this share of the trials the checks break for it.
    pub(crate) disturbed: Option<(OwnLimit, f64)>,
    /// The trials, from 1, in which it is disturbed.
    pub(crate) burst: Range<usize>,
    /// The user interrupts before this trial.
    pub(crate) interrupted_after: usize,
    pub(crate) trials: usize,
}

impl Wavering {
    pub(crate) fn new(threshold: f64, noise: f64, seed: u64) -> Wavering {
        Wavering {
            threshold,
            noise,
            random: ChaCha8Rng::seed_from_u64(seed),
            generator_ends: f64::INFINITY,
            disturbed: None,
            burst: 0..usize::MAX,
            interrupted_after: usize::MAX,
            trials: 0,
        }
    }

    fn seen(&mut self, level: f64) -> Seen {
        let off: f64 = StandardNormal.sample(&mut self.random);
        let holds = level <= self.threshold * (1.0 + self.noise * off);
        let busy = level >= self.generator_ends;
        let disturbed = self.disturbed.filter(|_| self.burst.contains(&self.trials));
        let breaks = disturbed.is_some_and(|(_, share)| self.random.random::<f64>() < share);
        Seen {
            checks: vec![holds && !busy && !breaks],
            answers_per_s: level,
            mean_s: 0.001,
            target_cores: Some(level / self.threshold),
            own_limit: busy.then_some(OwnLimit::Busy { share: 0.97 }),
            lost_time: matches!(disturbed, Some((OwnLimit::Stolen { .. }, _))),
            disturbance: disturbed.map(|(what, _)| what),
            ..Seen::default()
        }
    }
}

impl Measure for Wavering {
    type Error = Infallible;

    fn trial(&mut self, _: Purpose, level: f64, _: f64) -> Result<Option<Seen>, Infallible> {
        self.trials += 1;
        let goes_on = self.trials <= self.interrupted_after;
        Ok(goes_on.then(|| self.seen(level)))
    }

    fn descend(
        &mut self,
        over: (f64, f64),
        back: (f64, f64),
    ) -> Result<Option<Descent>, Infallible> {
        self.trials += 1;
        Ok(Some(Descent {
            over: self.seen(over.0),
            back: self.seen(back.0),
            intervals: vec![(1.0, false), (2.0, true)],
        }))
    }
}

/// A queue of Kendall's kind M/M/c: arrivals at random, served by the first free of c servers for an
/// exponential time.
pub(crate) struct Queue {
    pub(crate) servers: usize,
    /// Requests a second that one server serves.
    pub(crate) service_rate: f64,
    /// By which share the service rate varies from trial to trial.
    pub(crate) noise: f64,
    /// The check: the 99th percentile of the response time is below this.
    pub(crate) p99_s: f64,
    pub(crate) random: ChaCha8Rng,
}

impl Queue {
    /// The largest number of arrivals that is simulated in a trial: from there on all breaks anyway.
    const MOST_ARRIVALS: f64 = 100_000.0;

    /// Response times of what ended in time, and how many arrivals there were.
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

    fn trial(&mut self, _: Purpose, level: f64, seconds: f64) -> Result<Option<Seen>, Infallible> {
        let seconds = seconds.min(Queue::MOST_ARRIVALS / level);
        let (mut times, arrivals) = self.responses(level, seconds);
        times.sort_by(f64::total_cmp);
        let rank = |share: f64| ((times.len() as f64 * share).ceil() as usize).max(1) - 1;
        let at = |share: f64| times.get(rank(share)).copied().unwrap_or(f64::MAX);
        Ok(Some(Seen {
            checks: vec![at(0.99) < self.p99_s],
            answers_per_s: times.len() as f64 / seconds,
            failed_share: 0.0,
            p50_ns: (at(0.5) * 1e9) as u64,
            p99_ns: (at(0.99) * 1e9) as u64,
            mean_s: times.iter().sum::<f64>() / times.len().max(1) as f64,
            outstanding_s: (arrivals - times.len()) as f64 / level,
            in_flight: (arrivals - times.len()) as u64,
            lost_time: false,
            target_cores: None,
            own_limit: None,
            disturbance: None,
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
}

/// A target that serves so many requests a second, in order, and goes on after a trial with what that
/// left behind.
pub(crate) struct Lasting {
    pub(crate) capacity: f64,
    /// The check: the longest response time is below this.
    pub(crate) most_s: f64,
    /// How long it yet takes for what came so far.
    pub(crate) backlog_s: f64,
}

impl Lasting {
    /// Between two trials, in seconds.
    const GAP_S: f64 = 0.1;
    /// What a response takes behind no other, in seconds.
    const AT_EASE_S: f64 = 0.001;

    fn pass(&mut self, level: f64, seconds: f64) {
        let grown_s = (level / self.capacity - 1.0) * seconds;
        self.backlog_s = (self.backlog_s + grown_s).max(0.0);
    }
}

impl Measure for Lasting {
    type Error = Infallible;

    fn trial(&mut self, _: Purpose, level: f64, seconds: f64) -> Result<Option<Seen>, Infallible> {
        self.pass(0.0, Self::GAP_S);
        let before_s = self.backlog_s;
        self.pass(level, seconds);
        let longest_s = before_s.max(self.backlog_s);
        let waiting = self.backlog_s * self.capacity;
        let answered = level * seconds + before_s * self.capacity - waiting;
        Ok(Some(Seen {
            checks: vec![longest_s < self.most_s],
            answers_per_s: answered / seconds,
            p99_ns: (longest_s * 1e9) as u64,
            mean_s: Self::AT_EASE_S + (before_s + self.backlog_s) / 2.0,
            outstanding_s: Self::AT_EASE_S + waiting / level,
            in_flight: waiting as u64,
            ..Seen::default()
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
}
