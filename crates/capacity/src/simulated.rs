//! Targets of known capacity, in virtual time and from a seed.

use crate::measure::{Descent, Measure, Observation, OwnLimit, Purpose, Trial};
use crate::settings::Settings;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, StandardNormal};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::Range;

/// As the command searches where nothing else is said, with all the time that it wants.
pub(crate) fn settings() -> Settings {
    Settings {
        lowest: 1.0,
        highest: 1e6,
        first: 100.0,
        whole: false,
        checks: 1,
        samples: 100.0,
        trial_s: Settings::TRIAL_S,
        overhead_s: SETTLING_S,
        warm_up_s: 5.0,
        spent_s: 2.5,
        recovery_s: 5.0,
        width: Settings::WIDTH,
        trials: Settings::TRIALS,
        budget_s: 1e9,
        floor_per_s: None,
    }
}

/// As the command searches where nothing else is said.
pub(crate) fn usual() -> Settings {
    Settings {
        budget_s: Settings::BUDGET_S,
        ..settings()
    }
}

/// What a trial takes besides, in seconds.
pub(crate) const SETTLING_S: f64 = 0.4;
/// The share of the answers that take too long in a stretch of a trial's length that breaks.
const OVER: f64 = 0.03;
/// The share that may take too long.
const ALLOWED: f64 = 0.01;

/// How many answers there were at a level, and how many of them took too long.
#[derive(Clone, Copy, Default)]
struct Answers {
    all: f64,
    over: f64,
}

impl Answers {
    fn hold(self) -> bool {
        self.over <= ALLOWED * self.all
    }
}

/// The answers of all trials that count, for each level.
#[derive(Default)]
pub(crate) struct Kept {
    last: Answers,
    levels: BTreeMap<u64, Answers>,
}

impl Kept {
    fn ended(&mut self, trial: &Trial) {
        if trial.counts() {
            let level = self.levels.entry(trial.level.to_bits()).or_default();
            level.all += self.last.all;
            level.over += self.last.over;
        }
    }

    fn together(&self, level: f64) -> Vec<bool> {
        let answers = self.levels.get(&level.to_bits());
        vec![answers.is_none_or(|answers| answers.hold())]
    }
}

/// A target that holds up to a threshold, which varies from stretch to stretch of a trial's length
/// by a normal share.
pub(crate) struct Wavering {
    pub(crate) threshold: f64,
    pub(crate) noise: f64,
    /// How alike stretches are that follow one another.
    pub(crate) likeness: f64,
    /// The share of the stretches that break at any level.
    pub(crate) lapses: f64,
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
    /// How far the threshold is off, in standard deviations.
    off: f64,
    kept: Kept,
    /// Seconds that all of it took.
    pub(crate) elapsed_s: f64,
}

impl Wavering {
    pub(crate) fn new(threshold: f64, noise: f64, seed: u64) -> Wavering {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        Wavering {
            threshold,
            noise,
            likeness: 0.0,
            lapses: 0.0,
            off: StandardNormal.sample(&mut random),
            random,
            generator_ends: f64::INFINITY,
            disturbed: None,
            burst: 0..usize::MAX,
            interrupted_after: usize::MAX,
            trials: 0,
            kept: Kept::default(),
            elapsed_s: 0.0,
        }
    }

    /// Whether the next stretch holds.
    fn holds(&mut self, level: f64) -> bool {
        let new: f64 = StandardNormal.sample(&mut self.random);
        self.off = self.likeness * self.off + (1.0 - self.likeness.powi(2)).sqrt() * new;
        let lapses = self.random.random::<f64>() < self.lapses;
        level <= self.threshold * (1.0 + self.noise * self.off) && !lapses
    }

    fn seen(&mut self, level: f64, seconds: f64) -> Observation {
        self.elapsed_s += seconds + SETTLING_S;
        let stretches = (seconds / Settings::TRIAL_S).round().max(1.0);
        let broken = (0..stretches as usize)
            .filter(|_| !self.holds(level))
            .count();
        let busy = level >= self.generator_ends;
        let disturbed = self.disturbed.filter(|_| self.burst.contains(&self.trials));
        let breaks = disturbed.is_some_and(|(_, share)| self.random.random::<f64>() < share);
        let all = level * seconds;
        let broken = if busy || breaks {
            stretches
        } else {
            broken as f64
        };
        self.kept.last = Answers {
            all,
            over: all * OVER * broken / stretches,
        };
        Observation {
            checks: vec![self.kept.last.hold()],
            answers_per_s: level,
            mean_s: 0.001,
            target_cores: Some(level / self.threshold),
            own_limit: busy.then_some(OwnLimit::Busy { share: 0.97 }),
            lost_time: matches!(disturbed, Some((OwnLimit::Stolen { .. }, _))),
            disturbance: disturbed.map(|(what, _)| what),
            ..Observation::default()
        }
    }
}

impl Measure for Wavering {
    type Error = Infallible;

    fn trial(
        &mut self,
        _: Purpose,
        level: f64,
        seconds: f64,
    ) -> Result<Option<Observation>, Infallible> {
        self.trials += 1;
        let goes_on = self.trials <= self.interrupted_after;
        Ok(goes_on.then(|| self.seen(level, seconds)))
    }

    fn descend(
        &mut self,
        over: (f64, f64),
        back: (f64, f64),
    ) -> Result<Option<Descent>, Infallible> {
        self.trials += 1;
        Ok(Some(Descent {
            over: self.seen(over.0, over.1),
            back: self.seen(back.0, back.1),
            intervals: vec![(1.0, false), (2.0, true)],
        }))
    }

    fn pause(&mut self, seconds: f64) {
        self.elapsed_s += seconds;
    }

    fn ended(&mut self, trial: &Trial) {
        self.kept.ended(trial);
    }

    fn together(&mut self, level: f64) -> Vec<bool> {
        self.kept.together(level)
    }
}

/// A queue of Kendall's kind M/M/c: arrivals at random, served by the first free of c servers for
/// an exponential time.
pub(crate) struct Queue {
    pub(crate) servers: usize,
    /// Requests a second that one server serves.
    pub(crate) service_rate: f64,
    /// By which share the service rate varies from trial to trial.
    pub(crate) noise: f64,
    /// The check: the 99th percentile of the response time is below this.
    pub(crate) p99_s: f64,
    pub(crate) random: ChaCha8Rng,
    pub(crate) kept: Kept,
}

impl Queue {
    /// The largest number of arrivals that is simulated in a trial: from there on all breaks
    /// anyway.
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
            failed_share: 0.0,
            p50_ns: (at(0.5) * 1e9) as u64,
            p99_ns: (at(0.99) * 1e9) as u64,
            mean_s: times.iter().sum::<f64>() / times.len().max(1) as f64,
            outstanding_s: outstanding / level,
            grown: outstanding,
            in_flight: outstanding as u64,
            drained_s: 0.0,
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

    fn ended(&mut self, trial: &Trial) {
        self.kept.ended(trial);
    }

    fn together(&mut self, level: f64) -> Vec<bool> {
        self.kept.together(level)
    }
}

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

/// A single server that stops for a moment again and again, and serves this many requests a second
/// else.
pub(crate) struct Freezing {
    pub(crate) capacity: f64,
    pub(crate) freeze_s: f64,
    pub(crate) every_s: f64,
    /// The check: the 99th percentile of the response time is below this.
    pub(crate) p99_s: f64,
    now_s: f64,
    /// When the server is done with what came so far.
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

    /// How long a request takes that comes now.
    fn response_s(&mut self, at_s: f64) -> f64 {
        let start_s = self.free_s.max(at_s);
        let into_s = start_s % self.every_s;
        let start_s = start_s + (self.freeze_s - into_s).max(0.0);
        self.free_s = start_s + 1.0 / self.capacity;
        self.free_s - at_s
    }

    /// The response times at this level for so long.
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
