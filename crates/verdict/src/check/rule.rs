//! The decision on a check that unfinished requests or few samples may leave open.

use super::{CheckOutcome, Condition, Observed, WhyUndecided, times};
use crate::comparison::CONFIDENCE;
use crate::{Quantity, confidence_interval};
use loadline_plan::{Clocked, Comparison, Statistic};
use loadline_record::{Blocks, Bounded, Censored};
use loadline_stats::least_samples;
use loadline_stats::slo::{Proof, proof};

/// The outcome of a check, and the figure that decided it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ruling {
    pub(super) outcome: CheckOutcome,
    pub(super) undecided: Option<WhyUndecided>,
    pub(super) actual: Option<Bounded<Quantity>>,
}

impl Ruling {
    fn decided(holds: bool, actual: Option<Bounded<Quantity>>) -> Ruling {
        let outcome = match holds {
            true => CheckOutcome::Passed,
            false => CheckOutcome::Failed,
        };
        Ruling {
            outcome,
            undecided: None,
            actual,
        }
    }

    fn open(undecided: WhyUndecided, actual: Bounded<Quantity>) -> Ruling {
        Ruling {
            outcome: CheckOutcome::Undecided,
            undecided: Some(undecided),
            actual: Some(actual),
        }
    }

    /// The same, which this many unfinished requests leave open.
    pub(super) fn left_open(self, unfinished: u64) -> Ruling {
        Ruling {
            outcome: CheckOutcome::Undecided,
            undecided: Some(WhyUndecided::Unfinished(unfinished)),
            ..self
        }
    }

    /// Decides a check by a number. Without a number the check is broken.
    pub(super) fn plain(condition: Condition, actual: Option<Quantity>) -> Ruling {
        let holds = actual.is_some_and(|actual| condition.holds(actual));
        Ruling::decided(holds, actual.map(Bounded::Exactly))
    }

    /// Decides a check by a number that this many unfinished requests will move to a value between
    /// these ends.
    pub(super) fn between(
        condition: Condition,
        actual: Option<Quantity>,
        ends: Option<(Quantity, Quantity)>,
        open: u64,
    ) -> Ruling {
        match (actual, ends) {
            (Some(actual), Some((one, other)))
                if condition.holds(one) != condition.holds(other) =>
            {
                Ruling::open(WhyUndecided::Unfinished(open), Bounded::Exactly(actual))
            }
            _ => Ruling::plain(condition, actual),
        }
    }
}

/// The ruling on a statistic of a time, and how many times there are.
pub(super) fn time(
    clocked: Clocked,
    statistic: Statistic,
    condition: Condition,
    observed: &Observed<'_>,
) -> (Ruling, u64) {
    let censored = times(observed, clocked);
    let samples = censored.times.len();
    if samples == 0 {
        return (Ruling::plain(condition, None), 0);
    }
    let exactly = |ns: f64| Ruling::plain(condition, Some(Quantity::TimeNs(ns)));
    let open = censored.ages.len() + censored.ageless;
    let ruling = match statistic {
        Statistic::Min => exactly(censored.times.min_ns() as f64),
        Statistic::Mean => {
            let most_ns = most_mean_ns(censored, clocked, observed);
            bounded(condition, censored.mean_ns(), most_ns, open)
        }
        // The largest time is no share of the requests that an interval could be told of.
        Statistic::Max | Statistic::Percentile(100.0) => {
            let max_ns = censored.max_ns().map(|ns| ns as f64);
            bounded(condition, max_ns, None, open)
        }
        Statistic::Stdev => bounded(condition, censored.stdev_ns(), None, open),
        Statistic::Percentile(percentile) => {
            Percentile::of(percentile, clocked, censored, condition, observed).ruling()
        }
    };
    (ruling, samples)
}

/// The mean if every unfinished request took as long as it may; `None` if that is not known, as of
/// arrivals that were never sent.
fn most_mean_ns(times: Censored<'_>, clocked: Clocked, observed: &Observed<'_>) -> Option<f64> {
    let (unfinished, timeout) = (observed.unfinished?, observed.timeout?);
    if clocked == Clocked::Response && unfinished.unsent > 0 {
        return None;
    }
    let longest_ns = timeout.as_nanos() as f64 + unfinished.oldest_ns as f64;
    let ended = times.times.mean_ns() * times.times.len() as f64;
    let open = (times.ages.len() + times.ageless) as f64 * longest_ns;
    Some((ended + open) / (times.len() + times.ageless) as f64)
}

/// A figure that may be a lower bound, and what it is at most, if that is known.
fn bounded(
    condition: Condition,
    actual_ns: Bounded<f64>,
    most_ns: Option<f64>,
    open: u64,
) -> Ruling {
    let actual = actual_ns.map(Quantity::TimeNs);
    let Bounded::AtLeast(least) = actual else {
        return Ruling::plain(condition, Some(actual.value()));
    };
    let at_most = most_ns.map(|ns| condition.holds(Quantity::TimeNs(ns)));
    let holds = condition.holds(least);
    if holds == at_most.unwrap_or(!condition.is_upper()) {
        Ruling::decided(holds, Some(actual))
    } else {
        Ruling::open(WhyUndecided::Unfinished(open), actual)
    }
}

/// A condition on a percentile.
struct Percentile<'a> {
    percentile: f64,
    times: Censored<'a>,
    /// The stretches of these times, if they are known.
    stretches: Option<&'a Blocks>,
    condition: Condition,
    bound_ns: u64,
}

impl<'a> Percentile<'a> {
    fn of(
        percentile: f64,
        clocked: Clocked,
        times: Censored<'a>,
        condition: Condition,
        observed: &Observed<'a>,
    ) -> Percentile<'a> {
        let stretches = |(response, service)| match clocked {
            Clocked::Service => service,
            Clocked::Response | Clocked::Blocked | Clocked::Lateness => response,
        };
        Percentile {
            percentile,
            times,
            stretches: observed.stretches.map(stretches),
            condition,
            bound_ns: match condition.bound {
                Quantity::TimeNs(ns) => ns as u64,
                Quantity::Share(_)
                | Quantity::Count(_)
                | Quantity::PerSecond(_)
                | Quantity::Number(_) => 0,
            },
        }
    }

    fn ruling(&self) -> Ruling {
        let actual = self.times.percentile(self.percentile);
        let actual = actual.map(|ns| Quantity::TimeNs(ns as f64));
        match self.is_within() {
            Ok(within) if self.condition.is_upper() => Ruling::decided(within, Some(actual)),
            Ok(within) => Ruling::decided(!within, Some(actual)),
            Err(undecided) => Ruling::open(undecided, actual),
        }
    }

    /// Returns whether the percentile lies on the lower side of the bound.
    fn is_within(&self) -> Result<bool, WhyUndecided> {
        let (surely, open) = self.beyond();
        let needed = least_samples(self.percentile / 100.0, CONFIDENCE);
        if self.len() < needed {
            return self.proven(surely, surely + open, needed);
        }
        let leaves = self.leaves();
        match (surely <= leaves, surely + open <= leaves) {
            (best, worst) if best == worst => Ok(best),
            _ if self.times.ageless > 0 => Err(WhyUndecided::Unfinished(open)),
            _ => self.estimated().ok_or(WhyUndecided::Unfinished(open)),
        }
    }

    fn len(&self) -> u64 {
        self.times.len() + self.times.ageless
    }

    /// Returns the number of requests beyond a percentile.
    fn leaves(&self) -> u64 {
        let len = self.len() as f64;
        // As of the nearest rank: 99.9 % of 1 000 are no more than 999, whatever binary makes of
        // it.
        let rank = (self.percentile * len / 100.0 * (1.0 - 1e-13)).ceil();
        self.len() - rank.max(1.0) as u64
    }

    /// Returns the number of requests that are surely beyond the bound, and the number of those
    /// that may be.
    fn beyond(&self) -> (u64, u64) {
        let steps = self.times.times.steps();
        let within = steps.filter(|(ns, _)| self.is_short(*ns));
        let within: u64 = within.map(|(_, count)| count).sum();
        let ages = self.times.ages;
        // A response will be in the step of the age, or in a later one.
        let younger = ages.steps().filter(|(ns, _)| self.is_short(*ns));
        let younger: u64 = younger.map(|(_, count)| count).sum();
        let older = ages.len() - younger;
        (
            self.times.times.len() - within + older,
            younger + self.times.ageless,
        )
    }

    /// True if a time is on the lower side of the bound.
    fn is_short(&self, ns: u64) -> bool {
        match self.condition.comparison {
            Comparison::Less | Comparison::GreaterOrEqual => ns < self.bound_ns,
            Comparison::LessOrEqual | Comparison::Greater => ns <= self.bound_ns,
        }
    }

    /// Returns the proof by the binomial bound, with the fewest and with the most requests that can
    /// be beyond the bound.
    fn proven(&self, fewest: u64, most: u64, needed: u64) -> Result<bool, WhyUndecided> {
        let quantile = self.percentile / 100.0;
        let of = |beyond| proof(beyond, self.len(), quantile, CONFIDENCE);
        match (of(fewest), of(most)) {
            (_, Proof::Passed) => Ok(true),
            (Proof::Failed, _) => Ok(false),
            (best, worst) if best != worst => Err(WhyUndecided::Unfinished(most - fewest)),
            _ => Err(WhyUndecided::FewSamples(needed)),
        }
    }

    /// Returns the outcome by the estimate, if it is certain.
    fn estimated(&self) -> Option<bool> {
        if self.times.percentile(self.percentile).is_at_least() {
            let is_beyond = !self.is_short(self.times.ages.max_ns());
            return is_beyond.then_some(false);
        }
        let none = Blocks::default();
        let blocks = self.stretches.unwrap_or(&none);
        let found = confidence_interval(self.times, blocks, self.percentile);
        match (found.lower_ns, found.upper_ns) {
            (_, Some(Bounded::Exactly(upper))) if self.is_short(upper) => Some(true),
            (Some(lower), _) if !self.is_short(lower.value()) => Some(false),
            _ => None,
        }
    }
}
