//! How sure a percentile is: its 95 % interval, adjusted for dependence.
//!
//! Times that follow each other resemble each other, so that there are fewer independent ones than
//! there are. How many shows in the stretches of the run ([`Blocks`]), for each percentile apart: a
//! stall hardly moves the median, and is all that there is of the p99.

use loadline_record::{Blocks, Distribution};
use loadline_stats::SampleSize;
use loadline_stats::dependence::{Block, effective_by_blocks};

/// The level of every confidence interval that is reported.
pub(crate) const LEVEL: f64 = 0.95;

/// The confidence interval of a percentile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ConfidenceInterval {
    /// Its lower end in nanoseconds, if there are enough samples for one.
    pub(crate) lower_ns: Option<u64>,
    /// Its upper end in nanoseconds, if there are enough samples for one.
    pub(crate) upper_ns: Option<u64>,
    /// How many independent samples there are.
    pub(crate) independent: u64,
    /// Whether that was found out; a short run does not show it, and each sample counts as one.
    pub(crate) adjusted: bool,
    /// How many more samples such as these it takes to an upper end.
    pub(crate) still_needed: u64,
}

/// The interval of `percentile` (above 0 and below 100) of these times, which came in these blocks.
pub(crate) fn confidence_interval(
    times: &Distribution,
    blocks: &Blocks,
    percentile: f64,
) -> ConfidenceInterval {
    let quantile = percentile / 100.0;
    let found = dependence(times, blocks, percentile);
    let size = found.unwrap_or_else(|| SampleSize::independent(times.len()));
    let ranks = size.ranks(quantile, LEVEL);
    ConfidenceInterval {
        lower_ns: ranks.lower.map(|rank| times.rank_ns(rank).0),
        upper_ns: ranks.upper.map(|rank| times.rank_ns(rank).1),
        independent: size.effective(),
        adjusted: found.is_some(),
        still_needed: size.still_needed(quantile, LEVEL),
    }
}

fn dependence(times: &Distribution, blocks: &Blocks, percentile: f64) -> Option<SampleSize> {
    let counts = blocks.up_to_ns(times.percentile_ns(percentile));
    let blocks: Vec<Block> = counts
        .map(|(samples, within)| Block { samples, within })
        .collect();
    let size = effective_by_blocks(&blocks)?;
    let worth = size.effective() as f64 / size.samples() as f64;
    Some(SampleSize::dependent(
        times.len(),
        times.len() as f64 * worth,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn an_interval_holds_its_percentile() {
        let summary = samples::steady();
        let times = &summary.total.times.response;
        for percentile in [50.0, 90.0, 99.0, 99.9] {
            let found = confidence_interval(times, &summary.response_blocks, percentile);
            let value_ns = times.percentile_ns(percentile);
            assert!(found.lower_ns.unwrap() <= value_ns, "p{percentile}");
            assert!(found.upper_ns.unwrap() >= value_ns, "p{percentile}");
            assert!(found.adjusted && found.still_needed == 0);
            assert!((5_000..=20_000).contains(&found.independent), "{found:?}");
        }
    }

    #[test]
    fn one_stall_is_one_event_to_the_percentiles_above_it() {
        let summary = samples::stalled();
        let times = &summary.total.times.response;
        let found = |percentile| confidence_interval(times, &summary.response_blocks, percentile);
        assert!(found(50.0).upper_ns.is_some(), "{:?}", found(50.0));
        assert!(found(99.0).independent < 368, "{:?}", found(99.0));
        assert_eq!(found(99.0).upper_ns, None);
        assert!(found(99.0).still_needed > 10_000);
    }

    #[test]
    fn a_short_run_does_not_show_dependence() {
        let summary = samples::closed();
        let times = &summary.total.times.response;
        let found = confidence_interval(times, &summary.response_blocks, 99.0);
        assert!(!found.adjusted);
        assert_eq!(found.independent, times.len());
    }
}
