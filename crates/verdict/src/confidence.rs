//! The confidence of a percentile: its 95 % interval, adjusted for dependence.
//!
//! Times that follow each other resemble each other, so that there are fewer independent ones than
//! there are. How many shows in the stretches of the run ([`Blocks`]), for each percentile apart: a
//! stall hardly moves the median, and is all that there is of the p99.
//!
//! Unfinished requests are in it with their ages: an end is the time at which the estimate of
//! Kaplan and Meier ([`Censored`]) has reached the share of the rank, of as many requests as the
//! estimate is worth there. An end beyond all that is known is a lower bound.

use crate::comparison::CONFIDENCE;
use loadline_record::{Blocks, Bounded, Censored, Step};
use loadline_stats::dependence::{Block, effective_by_blocks};
use loadline_stats::{Ranks, SampleSize, least_samples};

/// The number of further searches for an end, because the estimate is worth less there.
const ROUNDS: usize = 8;

/// The confidence interval of a percentile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceInterval {
    /// Its lower end in nanoseconds, if there are enough samples for one.
    pub lower_ns: Option<Bounded>,
    /// Its upper end in nanoseconds, if there are enough samples for one.
    pub upper_ns: Option<Bounded>,
    /// The number of independent samples.
    pub independent: u64,
    /// True if that number was measured; a short run does not show it, and then each sample counts
    /// as one.
    pub adjusted: bool,
    /// The number of further samples of the same kind that an upper end requires.
    pub still_needed: u64,
}

/// Returns the number of independent samples that the 95 % interval of `percentile` (above 0, at
/// most 100) requires to have an upper end; the 100th percentile is the largest value, which one
/// sample has.
pub fn samples_needed(percentile: f64) -> u64 {
    least_samples(percentile / 100.0, CONFIDENCE)
}

/// The 95 % interval of `percentile` (above 0 and below 100) of these times, which came in these
/// blocks.
pub(crate) fn confidence_interval<'a>(
    times: impl Into<Censored<'a>>,
    blocks: &Blocks,
    percentile: f64,
) -> ConfidenceInterval {
    interval_at(CONFIDENCE, times, blocks, percentile)
}

/// The same at another confidence (0.99, say).
pub(crate) fn interval_at<'a>(
    confidence: f64,
    times: impl Into<Censored<'a>>,
    blocks: &Blocks,
    percentile: f64,
) -> ConfidenceInterval {
    let (times, quantile) = (times.into(), percentile / 100.0);
    let found = dependence(times, blocks, percentile);
    let size = found.unwrap_or_else(|| SampleSize::independent(times.len()));
    let (lower_ns, upper_ns) = if times.ages.is_empty() {
        let ranks = size.ranks(quantile, confidence);
        let at = |rank| times.times.rank_ns(rank);
        (
            ranks.lower.map(|rank| Bounded::Exactly(at(rank).0)),
            ranks.upper.map(|rank| Bounded::Exactly(at(rank).1)),
        )
    } else {
        let ends = Ends::of(times, size, quantile, confidence);
        (
            ends.end(|ranks| ranks.lower, |step| step.lowest_ns),
            ends.end(|ranks| ranks.upper, |step| step.highest_ns),
        )
    };
    ConfidenceInterval {
        lower_ns,
        upper_ns,
        independent: size.effective(),
        adjusted: found.is_some(),
        still_needed: size.still_needed(quantile, confidence),
    }
}

impl ConfidenceInterval {
    /// Returns the distance of the further end from the percentile, as a share of it; `None` if an
    /// end is not known, or the percentile is zero.
    pub fn half_width(&self, percentile_ns: u64) -> Option<f64> {
        let (Bounded::Exactly(lower), Bounded::Exactly(upper)) = (self.lower_ns?, self.upper_ns?)
        else {
            return None;
        };
        let further = upper
            .saturating_sub(percentile_ns)
            .max(percentile_ns.saturating_sub(lower));
        (percentile_ns > 0).then(|| further as f64 / percentile_ns as f64)
    }
}

/// The data for the search for the ends of an interval of censored times.
struct Ends<'a> {
    times: Censored<'a>,
    /// The number of independent samples that one is worth, as far as dependence goes.
    each: f64,
    /// The number of requests that the estimate is worth at the percentile.
    worth: f64,
    quantile: f64,
    confidence: f64,
}

impl<'a> Ends<'a> {
    fn of(times: Censored<'a>, size: SampleSize, quantile: f64, confidence: f64) -> Ends<'a> {
        let step = times.step_of(quantile).or_else(|| times.steps().last());
        Ends {
            times,
            each: size.effective() as f64 / size.samples().max(1) as f64,
            worth: step.map_or(0.0, |step| step.worth()),
            quantile,
            confidence,
        }
    }

    /// The end of this rank. Further out the estimate may be worth less than at the percentile, and
    /// the end lies still further out then.
    fn end(
        &self,
        rank: impl Fn(Ranks) -> Option<u64>,
        value_ns: impl Fn(Step) -> u64,
    ) -> Option<Bounded> {
        let mut worth = self.worth;
        for _ in 0..ROUNDS {
            let samples = (worth * self.each) as u64;
            let size = SampleSize::independent(samples);
            let rank = rank(size.ranks(self.quantile, self.confidence))?;
            let share = (rank as f64 - 0.5) / samples as f64;
            match self.times.step_of(share) {
                None => return Some(Bounded::AtLeast(self.times.oldest_ns())),
                Some(step) if step.worth() as u64 >= worth as u64 => {
                    return Some(Bounded::Exactly(value_ns(step)));
                }
                Some(step) => worth = step.worth(),
            }
        }
        None
    }
}

/// Returns the number of independent samples that the requests are worth. Requests without a
/// response that are older than the percentile take longer than it, and came in the last stretch. A
/// percentile beyond the last response leaves all older ones beyond it. `None` for a run that is
/// too short to show dependence.
pub(crate) fn dependence(
    times: Censored<'_>,
    blocks: &Blocks,
    percentile: f64,
) -> Option<SampleSize> {
    let value_ns = match times.percentile(percentile) {
        Bounded::Exactly(ns) => ns,
        Bounded::AtLeast(_) => times.times.max_ns(),
    };
    let older = times.ages.len() - times.ages.count_up_to_ns(value_ns);
    let counts = blocks.up_to_ns(value_ns);
    let mut blocks: Vec<Block> = counts
        .map(|(samples, within)| Block { samples, within })
        .collect();
    if let Some(last) = blocks.last_mut() {
        last.samples += older;
    }
    let size = effective_by_blocks(&blocks)?;
    let worth = size.effective() as f64 / size.samples() as f64;
    Some(SampleSize::dependent(
        times.len(),
        times.len() as f64 * worth,
    ))
}

#[cfg(test)]
mod tests;
