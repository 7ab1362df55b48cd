//! A target whose capacity varies.

use super::{Answers, Kept, OVER, SETTLING_S, settings};
use crate::measure::{Descent, Measure, Observation, OwnLimit, Purpose, Trial};
use crate::settings::Settings;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use std::convert::Infallible;
use std::ops::Range;

/// A target that passes up to a threshold, which varies from stretch to stretch, each as long as a
/// trial, by a normally distributed share.
pub(crate) struct Wavering {
    pub(crate) threshold: f64,
    pub(crate) noise: f64,
    /// The correlation from one stretch to the next.
    pub(crate) correlation: f64,
    /// The share of the stretches that fail at any level.
    pub(crate) lapses: f64,
    pub(crate) random: ChaCha8Rng,
    /// The level from which on the generator is busy, and the checks fail because of that.
    pub(crate) generator_ends: f64,
    /// The disturbance of the machine, and the share of trials in which the checks fail because of
    /// it.
    pub(crate) disturbed: Option<(OwnLimit, f64)>,
    /// The trials, from 1, that are disturbed.
    pub(crate) burst: Range<usize>,
    /// The number of trials after which the user interrupts.
    pub(crate) interrupted_after: usize,
    pub(crate) trials: usize,
    /// The deviation of the threshold, in standard deviations.
    off: f64,
    kept: Kept,
    /// The total duration, in seconds.
    pub(crate) elapsed_s: f64,
    /// The additional seconds of each trial, which are not known in advance; `None` without a
    /// clock.
    pub(crate) besides_s: Option<f64>,
}

impl Wavering {
    pub(crate) fn new(threshold: f64, noise: f64, seed: u64) -> Wavering {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        Wavering {
            threshold,
            noise,
            correlation: 0.0,
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
            besides_s: None,
        }
    }

    /// Returns true if the next stretch passes.
    fn holds(&mut self, level: f64) -> bool {
        let new: f64 = StandardNormal.sample(&mut self.random);
        self.off = self.correlation * self.off + (1.0 - self.correlation.powi(2)).sqrt() * new;
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
        self.elapsed_s += self.besides_s.unwrap_or(0.0);
        let goes_on = self.trials <= self.interrupted_after;
        Ok(goes_on.then(|| self.seen(level, seconds)))
    }

    fn descend(
        &mut self,
        over: (f64, f64),
        back: (f64, f64),
    ) -> Result<Option<Descent>, Infallible> {
        self.trials += 1;
        // Both levels are one trial, with one overhead.
        self.elapsed_s += self.besides_s.unwrap_or(0.0) - SETTLING_S;
        Ok(Some(Descent {
            over: self.seen(over.0, over.1),
            back: self.seen(back.0, back.1),
            intervals: vec![(1.0, false), (2.0, true)],
        }))
    }

    fn spent_s(&mut self) -> Option<f64> {
        self.besides_s.map(|_| settings().spent_s + self.elapsed_s)
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
