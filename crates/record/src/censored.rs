//! Censored times, of which only a lower bound is known: the Kaplan–Meier estimator.
//!
//! A request without a response at the end of a run takes longer than it has waited, that is,
//! longer than its *age*. It is *censored* at this age. Excluding it would make every figure too
//! good, because the slowest requests are the likeliest to be unfinished.
//!
//! The estimator (E. L. Kaplan, P. Meier, "Nonparametric estimation from incomplete observations",
//! *Journal of the American Statistical Association* 53, 1958) counts each request as long as it is
//! known: if n requests took at least t and d of them ended at t, then the share of unfinished
//! requests falls by the factor 1 − d/n at t. Beyond the last response it only gives a lower bound:
//! the remaining requests take longer than the greatest age ([`Bounded::AtLeast`]).
//!
//! If a response and an age fall into the same step of the histogram, the response counts as the
//! earlier one. Without ages every figure is exactly that of the [`Distribution`].

use crate::Distribution;

/// The largest rounding error of a share.
const ROUNDING: f64 = 1e-12;

/// The distribution that stands for no ages.
static NO_AGES: Distribution = Distribution::EMPTY;

/// A figure, or a lower bound of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounded<T = u64> {
    /// The figure.
    Exactly(T),
    /// A lower bound: the figure is greater than all known values.
    AtLeast(T),
}

impl<T: Copy> Bounded<T> {
    /// Returns the figure or its lower bound.
    pub fn value(self) -> T {
        match self {
            Bounded::Exactly(value) | Bounded::AtLeast(value) => value,
        }
    }

    /// True if it is a lower bound.
    pub fn is_at_least(self) -> bool {
        matches!(self, Bounded::AtLeast(_))
    }

    /// Converts the value, and keeps the kind of bound.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Bounded<U> {
        match self {
            Bounded::Exactly(value) => Bounded::Exactly(convert(value)),
            Bounded::AtLeast(value) => Bounded::AtLeast(convert(value)),
        }
    }
}

/// The times of requests that have ended, and the ages of those that have not. In nanoseconds, with
/// three significant digits.
#[derive(Clone, Copy, Debug)]
pub struct Censored<'a> {
    /// The durations of the requests that have ended.
    pub times: &'a Distribution,
    /// The ages of the requests that have not ended.
    pub ages: &'a Distribution,
    /// The number of further requests that have not ended, with unknown ages. They turn the mean,
    /// the standard deviation and the maximum into lower bounds, and do not affect other figures.
    pub ageless: u64,
}

/// Times without ages: every request has ended.
impl<'a> From<&'a Distribution> for Censored<'a> {
    fn from(times: &'a Distribution) -> Censored<'a> {
        Censored {
            times,
            ages: &NO_AGES,
            ageless: 0,
        }
    }
}

/// One step of the estimate: a step of the histogram that contains responses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The shortest time of the step, in nanoseconds.
    pub lowest_ns: u64,
    /// The longest time of the step, in nanoseconds.
    pub highest_ns: u64,
    /// The number of requests known to take at least the time of the step.
    pub at_risk: u64,
    /// The estimated share of all requests that take at least the time of the step.
    pub no_less: f64,
    /// The number of responses within the step.
    pub answered: u64,
    /// The estimated share of all requests that take longer than the step.
    pub longer: f64,
}

impl Step {
    /// Returns the number of requests that would give an estimate of the same precision here if all
    /// of them had ended: the requests at risk, divided by their estimated share (R. Peto et al.,
    /// "Design and analysis of randomized clinical trials requiring prolonged observation of each
    /// patient", *British Journal of Cancer* 35, 1977). Without ages it is the number of all
    /// requests.
    pub fn worth(&self) -> f64 {
        self.at_risk as f64 / self.no_less
    }
}

impl<'a> Censored<'a> {
    /// Returns the number of requests, ended or not.
    pub fn len(&self) -> u64 {
        self.times.len() + self.ages.len()
    }

    /// True if there is no request.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the time that `percentile` (0 to 100) of all requests do not exceed: the longest
    /// time of the first step at which this share of the requests is estimated to have ended; 0
    /// without requests.
    pub fn percentile(&self, percentile: f64) -> Bounded {
        if self.ages.is_empty() {
            return Bounded::Exactly(self.times.percentile_ns(percentile));
        }
        match self.step_of(percentile.clamp(0.0, 100.0) / 100.0) {
            Some(step) => Bounded::Exactly(step.highest_ns),
            None => Bounded::AtLeast(self.oldest_ns()),
        }
    }

    /// Returns the first step at which this share (0 to 1) of all requests has ended; `None` if it
    /// lies beyond all known times.
    pub fn step_of(&self, share: f64) -> Option<Step> {
        let is_reached = |step: &Step| 1.0 - step.longer >= share * (1.0 - ROUNDING);
        self.steps().find(is_reached)
    }

    /// Returns the longest time; a lower bound if an unfinished request is older.
    pub fn max_ns(&self) -> Bounded {
        self.at_least_if_ageless(self.percentile(100.0))
    }

    /// Returns the mean in nanoseconds. If unfinished requests are older than every response, it
    /// counts them with the greatest age, and is a lower bound.
    pub fn mean_ns(&self) -> Bounded<f64> {
        let mean = match self.ages.is_empty() {
            true => Bounded::Exactly(self.times.mean_ns()),
            false => self.moment(|ns| ns),
        };
        self.at_least_if_ageless(mean)
    }

    /// Returns the standard deviation in nanoseconds, a lower bound under the same conditions as
    /// the mean.
    pub fn stdev_ns(&self) -> Bounded<f64> {
        let mean = self.mean_ns().value();
        let stdev = match self.ages.is_empty() {
            true => Bounded::Exactly(self.times.stdev_ns()),
            false => self.moment(|ns| (ns - mean).powi(2)).map(f64::sqrt),
        };
        self.at_least_if_ageless(stdev)
    }

    fn at_least_if_ageless<T: Copy>(&self, figure: Bounded<T>) -> Bounded<T> {
        match self.ageless {
            0 => figure,
            _ => Bounded::AtLeast(figure.value()),
        }
    }

    /// Returns the greatest age in nanoseconds, rounded down; 0 without ages.
    pub fn oldest_ns(&self) -> u64 {
        match self.ages.len() {
            0 => 0,
            last => self.ages.rank_ns(last).0,
        }
    }

    /// Returns the times of the same requests, as if all unfinished ones had ended at their ages.
    #[cfg(test)]
    fn ending_now(&self) -> Distribution {
        let mut times = self.times.clone();
        times.merge(self.ages);
        times
    }

    /// Returns the times at which the unfinished requests are expected to end: in each step as many
    /// as give the percentiles of the estimate together with the responses. Requests beyond all
    /// known times count with the greatest age. There are as many times as ages.
    pub fn expected(&self) -> Distribution {
        let (mut expected, mut ended) = (Distribution::default(), 0);
        for step in self.steps() {
            ended += step.answered;
            let by_now = (1.0 - step.longer) * self.len() as f64 - ended as f64;
            let by_now = (by_now.round().max(0.0) as u64).min(self.ages.len());
            let more = by_now.saturating_sub(expected.len());
            if more > 0 {
                expected.record_many_ns(step.highest_ns, more);
            }
        }
        let rest = self.ages.len() - expected.len();
        if rest > 0 {
            expected.record_many_ns(self.oldest_ns(), rest);
        }
        expected
    }

    /// Returns the steps that contain responses, rising.
    pub fn steps(&self) -> impl Iterator<Item = Step> + 'a {
        let mut answers = self.times.steps().peekable();
        let mut ages = self.ages.steps().peekable();
        let times = self.times;
        let mut curve = Curve::of(self.len());
        std::iter::from_fn(move || {
            let (highest_ns, answered) = answers.next()?;
            // An age in the same step counts as the later one.
            while let Some((_, count)) = ages.next_if(|(age_ns, _)| *age_ns < highest_ns) {
                curve.censor(count);
            }
            let (at_risk, no_less) = (curve.at_risk, curve.longer());
            Some(Step {
                lowest_ns: times.lowest_of(highest_ns),
                highest_ns,
                at_risk,
                no_less,
                answered,
                longer: curve.end(answered),
            })
        })
    }

    /// Returns the mean of a function of the time. Requests beyond all known times count with the
    /// greatest age.
    fn moment(&self, of: impl Fn(f64) -> f64) -> Bounded<f64> {
        let (mut sum, mut left) = (0.0, 1.0);
        for step in self.steps() {
            let middle_ns = (step.lowest_ns + step.highest_ns) as f64 / 2.0;
            sum += (left - step.longer) * of(middle_ns);
            left = step.longer;
        }
        if left > ROUNDING {
            return Bounded::AtLeast(sum + left * of(self.oldest_ns() as f64));
        }
        Bounded::Exactly(sum)
    }
}

/// The estimated share of requests that take longer, step by step.
struct Curve {
    /// The number of requests known to take longer than all steps so far.
    at_risk: u64,
    /// The share that took longer, and the number at risk, at the last censored request. As long as
    /// no more are censored, the share is a quotient of two counts without rounding errors.
    since: (f64, u64),
}

impl Curve {
    fn of(requests: u64) -> Curve {
        Curve {
            at_risk: requests,
            since: (1.0, requests),
        }
    }

    fn longer(&self) -> f64 {
        let (longer, at_risk) = self.since;
        longer * (self.at_risk as f64 / at_risk.max(1) as f64)
    }

    fn censor(&mut self, count: u64) {
        let longer = self.longer();
        self.at_risk -= count;
        self.since = (longer, self.at_risk);
    }

    /// Ends this many of the requests at risk; returns the remaining share.
    fn end(&mut self, count: u64) -> f64 {
        self.at_risk -= count;
        self.longer()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Distribution {
        let mut times = Distribution::default();
        values.iter().for_each(|value| times.record_ns(*value));
        times
    }

    fn longer(times: &[u64], ages: &[u64]) -> Vec<f64> {
        let (times, ages) = (of(times), of(ages));
        let censored = Censored {
            times: &times,
            ages: &ages,
            ageless: 0,
        };
        censored.steps().map(|step| step.longer).collect()
    }

    fn near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    /// The remission times under 6-mercaptopurine of E. J. Freireich et al., *Blood* 21 (1963),
    /// with the estimate that every textbook prints.
    #[test]
    fn the_estimate_is_that_of_the_textbooks() {
        let times = [6, 6, 6, 7, 10, 13, 16, 22, 23];
        let ages = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35];
        let known = [
            18.0 / 21.0,
            18.0 / 21.0 * 16.0 / 17.0,
            0.752_941_176_470_588_2,
            0.690_196_078_431_372_5,
            0.627_450_980_392_156_9,
            0.537_815_126_050_420_2,
            0.448_179_271_708_683_5,
        ];
        near(&longer(&times, &ages), &known);
    }

    #[test]
    fn beyond_the_last_answer_a_figure_is_a_lower_bound() {
        let (times, ages) = (of(&[1, 2, 3]), of(&[2, 10]));
        let censored = Censored {
            times: &times,
            ages: &ages,
            ageless: 0,
        };
        assert_eq!(censored.percentile(40.0), Bounded::Exactly(2));
        assert_eq!(censored.percentile(70.0), Bounded::Exactly(3));
        assert_eq!(censored.percentile(71.0), Bounded::AtLeast(10));
        assert_eq!(censored.max_ns(), Bounded::AtLeast(10));
        // 0.2 · 1 + 0.2 · 2 + 0.3 · 3 + 0.3 · 10
        let mean = censored.mean_ns();
        assert!(mean.is_at_least() && (mean.value() - 4.5).abs() < 1e-12);
    }

    #[test]
    fn ages_below_the_last_answer_weigh_on_what_comes_after() {
        let (times, ages) = (of(&[1, 2, 3, 4]), of(&[2, 2]));
        let censored = Censored {
            times: &times,
            ages: &ages,
            ageless: 0,
        };
        near(
            &longer(&[1, 2, 3, 4], &[2, 2]),
            &[5.0 / 6.0, 4.0 / 6.0, 2.0 / 6.0, 0.0],
        );
        assert_eq!(censored.max_ns(), Bounded::Exactly(4));
        // (1 + 2 + 2 · 3 + 2 · 4) / 6
        assert!((censored.mean_ns().value() - 17.0 / 6.0).abs() < 1e-12);
        assert!(!censored.stdev_ns().is_at_least());
        // Half a request at 3 and one and a half at 4 and later, rounded to whole requests.
        assert_eq!(censored.expected().len(), 2);
        assert_eq!(censored.ending_now(), of(&[1, 2, 2, 2, 3, 4]));
    }

    #[test]
    fn a_step_is_worth_the_requests_that_are_known_there() {
        let (times, ages) = (of(&[1, 2, 3, 4]), of(&[1, 1, 1, 1]));
        let censored = Censored {
            times: &times,
            ages: &ages,
            ageless: 0,
        };
        let worth: Vec<f64> = censored.steps().map(|step| step.worth()).collect();
        near(&worth, &[8.0, 24.0 / 7.0, 24.0 / 7.0, 24.0 / 7.0]);
    }

    #[test]
    fn what_has_no_known_age_makes_lower_bounds() {
        let times = of(&[1, 2, 3]);
        let ended = Censored::from(&times);
        let censored = Censored {
            ageless: 2,
            ..ended
        };
        assert_eq!(censored.max_ns(), Bounded::AtLeast(3));
        assert_eq!(censored.mean_ns(), Bounded::AtLeast(2.0));
        let stdev = Bounded::AtLeast(ended.stdev_ns().value());
        assert_eq!(censored.stdev_ns(), stdev);
        assert_eq!(censored.percentile(50.0), Bounded::Exactly(2));
    }

    #[test]
    fn nothing_and_ages_alone() {
        let (nothing, ages) = (Distribution::default(), of(&[5, 7]));
        let empty = Censored::from(&nothing);
        assert!(empty.is_empty());
        assert_eq!(empty.percentile(99.0), Bounded::Exactly(0));
        let unanswered = Censored {
            times: &nothing,
            ages: &ages,
            ageless: 0,
        };
        assert_eq!(unanswered.percentile(1.0), Bounded::AtLeast(7));
        assert_eq!(unanswered.mean_ns(), Bounded::AtLeast(7.0));
        assert_eq!(unanswered.len(), 2);
    }

    proptest! {
        #[test]
        fn without_ages_it_is_the_nearest_rank(
            values in prop::collection::vec(0u64..5_000_000_000, 1..300),
            percentile in 0.0..100.0,
        ) {
            let times = of(&values);
            let censored = Censored::from(&times);
            let step = censored.step_of(percentile / 100.0).unwrap();
            prop_assert_eq!(step.highest_ns, times.percentile_ns(percentile));
            prop_assert_eq!(censored.percentile(percentile), Bounded::Exactly(step.highest_ns));
            prop_assert_eq!(censored.max_ns(), Bounded::Exactly(times.max_ns()));
        }

        /// Redistribution to the right (B. Efron, 1967): each age moves its share to later times,
        /// so no percentile is below that of the same requests ending now.
        #[test]
        fn no_figure_is_below_that_of_all_ending_now(
            times in prop::collection::vec(0u64..1_000_000, 1..100),
            ages in prop::collection::vec(0u64..1_000_000, 0..100),
            percentile in 0.0..100.0,
        ) {
            let (times, ages) = (of(&times), of(&ages));
            let censored = Censored { times: &times, ages: &ages, ageless: 0 };
            let now = censored.ending_now();
            let lowest = now.percentile_ns(percentile) / 1001 * 1000;
            prop_assert!(censored.percentile(percentile).value() >= lowest);
            let mut ended = censored.expected();
            prop_assert_eq!(ended.len(), ages.len());
            ended.merge(&times);
            if let Bounded::Exactly(ns) = censored.percentile(percentile) {
                // Rounded to whole requests, the percentile is that of a neighbouring rank.
                let near = 100.0 / ended.len() as f64;
                prop_assert!(ended.percentile_ns(percentile - near) <= ns);
                prop_assert!(ended.percentile_ns(percentile + near) >= ns);
            }
            let longer: Vec<f64> = censored.steps().map(|step| step.longer).collect();
            prop_assert!(longer.is_sorted_by(|a, b| a >= b));
        }
    }
}
