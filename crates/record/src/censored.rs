//! Censored times, whose lower bound alone is known: the estimator of Kaplan and Meier.
//!
//! A request that has no response when a run ends takes longer than it has waited: longer than its
//! *age*. It is *censored* at this age. To leave it out would make every figure too good, because
//! the slowest requests are the likeliest to be unfinished.
//!
//! The estimator (E. L. Kaplan, P. Meier, "Nonparametric estimation from incomplete observations",
//! *Journal of the American Statistical Association* 53, 1958) counts each request as long as it is
//! known: if n requests took at least t and d of them ended at t, then the share of unfinished
//! requests falls by the factor 1 − d/n at t. Beyond the last response it knows that the rest takes
//! longer than the greatest age; a figure that lies there is a lower bound
//! ([`Bounded::AtLeast`]).
//!
//! Where a response and an age share a step of the histogram, the response counts as the earlier.
//! Without ages every figure is that of the [`Distribution`], exactly.

use crate::Distribution;

/// What rounding may take from a share.
const ROUNDING: f64 = 1e-12;

/// What there is where there are no ages.
static NO_AGES: Distribution = Distribution::EMPTY;

/// A figure, or what it is at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounded<T = u64> {
    /// The figure.
    Exactly(T),
    /// A lower bound: the figure is greater than all that is known.
    AtLeast(T),
}

impl<T: Copy> Bounded<T> {
    /// The figure, or what it is at least.
    pub fn value(self) -> T {
        match self {
            Bounded::Exactly(value) | Bounded::AtLeast(value) => value,
        }
    }

    /// Whether it is a lower bound.
    pub fn is_at_least(self) -> bool {
        matches!(self, Bounded::AtLeast(_))
    }

    /// The same of what `convert` makes of the value.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Bounded<U> {
        match self {
            Bounded::Exactly(value) => Bounded::Exactly(convert(value)),
            Bounded::AtLeast(value) => Bounded::AtLeast(convert(value)),
        }
    }
}

/// The times of what has ended, and the ages of what has not. Times are nanoseconds, to three
/// digits.
#[derive(Clone, Copy, Debug)]
pub struct Censored<'a> {
    /// How long it took what has ended.
    pub times: &'a Distribution,
    /// How long what has not ended has waited.
    pub ages: &'a Distribution,
    /// How many more have not ended, and have waited for an unknown time. They make
    /// the mean, the standard deviation and the maximum lower bounds, and are in nothing else.
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

/// One step of the estimate: a step of the histogram in which answers lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The shortest time of the step, in nanoseconds.
    pub lowest_ns: u64,
    /// The longest time of the step, in nanoseconds.
    pub highest_ns: u64,
    /// How many requests are known to take no less.
    pub at_risk: u64,
    /// The estimated share of all requests that take no less.
    pub no_less: f64,
    /// How many of them were answered within the step.
    pub answered: u64,
    /// The estimated share of all requests that take longer than the step.
    pub longer: f64,
}

impl Step {
    /// How many requests, all of them ended, the estimate is worth here: those at risk, divided by
    /// the share that is estimated to be (R. Peto et al., "Design and analysis of randomized
    /// clinical trials requiring prolonged observation of each patient", *British Journal of
    /// Cancer* 35, 1977). Without ages it is all of them.
    pub fn worth(&self) -> f64 {
        self.at_risk as f64 / self.no_less
    }
}

impl<'a> Censored<'a> {
    /// How many requests there are, ended or not.
    pub fn len(&self) -> u64 {
        self.times.len() + self.ages.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The time that `percentile` (0 to 100) of all requests do not exceed: the longest time of
    /// the first step at which that share of the requests is estimated to have ended; 0 without
    /// requests.
    pub fn percentile(&self, percentile: f64) -> Bounded {
        if self.ages.is_empty() {
            return Bounded::Exactly(self.times.percentile_ns(percentile));
        }
        match self.step_of(percentile.clamp(0.0, 100.0) / 100.0) {
            Some(step) => Bounded::Exactly(step.highest_ns),
            None => Bounded::AtLeast(self.oldest_ns()),
        }
    }

    /// The first step at which this share (0 to 1) of all requests has ended; `None` if it lies
    /// beyond all that is known.
    pub fn step_of(&self, share: f64) -> Option<Step> {
        let is_reached = |step: &Step| 1.0 - step.longer >= share * (1.0 - ROUNDING);
        self.steps().find(is_reached)
    }

    /// The longest time; a lower bound if an unfinished request is older.
    pub fn max_ns(&self) -> Bounded {
        self.at_least_if_ageless(self.percentile(100.0))
    }

    /// The mean in nanoseconds. Where unfinished requests are older than every response, it counts
    /// them with the greatest age, and is a lower bound.
    pub fn mean_ns(&self) -> Bounded<f64> {
        let mean = match self.ages.is_empty() {
            true => Bounded::Exactly(self.times.mean_ns()),
            false => self.moment(|ns| ns),
        };
        self.at_least_if_ageless(mean)
    }

    /// The standard deviation in nanoseconds, bounded as the mean is.
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

    /// The greatest age, in nanoseconds, rounded down; 0 without ages.
    pub fn oldest_ns(&self) -> u64 {
        match self.ages.len() {
            0 => 0,
            last => self.ages.rank_ns(last).0,
        }
    }

    /// The same requests, as if all that are unfinished had ended at the ages that they have.
    pub fn ending_now(&self) -> Distribution {
        let mut times = self.times.clone();
        times.merge(self.ages);
        times
    }

    /// The times at which the unfinished requests are expected to end: so many of each step that
    /// answers and these together have the percentiles of the estimate. What lies beyond all that
    /// is known counts with the greatest age. It is as many as there are ages.
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

    /// The steps in which answers lie, rising.
    pub fn steps(&self) -> impl Iterator<Item = Step> + 'a {
        let mut answers = self.times.steps().peekable();
        let mut ages = self.ages.steps().peekable();
        let times = self.times;
        let mut curve = Curve::of(self.len());
        std::iter::from_fn(move || {
            let (highest_ns, answered) = answers.next()?;
            // An age in the same step counts as the later.
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

    /// The mean of a function of the time. What lies beyond all that is known counts with the
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
    /// How many are known to take longer than all steps so far.
    at_risk: u64,
    /// The share that took longer when the last request was censored, and how many were at risk
    /// then: as long as none is, the share is a quotient of two counts and has no error of
    /// rounding.
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

    /// This many of those at risk have ended; the share that is left.
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
    /// with the estimate as every textbook prints it.
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
        // Half a request at 3 and one and a half at 4 and later, in whole ones.
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

        /// Redistribution to the right (B. Efron, 1967): each age moves its share to what is later,
        /// so no percentile is below that of all ending now.
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
