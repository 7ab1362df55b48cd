//! How sure a percentile is: its 95 % interval, adjusted for dependence.
//!
//! Times that follow each other resemble each other, so that there are fewer independent ones than
//! there are. How many shows in the stretches of the run ([`Blocks`]), for each percentile apart: a
//! stall hardly moves the median, and is all that there is of the p99.

use crate::comparison::CONFIDENCE;
use loadline_record::{Blocks, Distribution};
use loadline_stats::SampleSize;
use loadline_stats::dependence::{Block, effective_by_blocks};

/// The confidence interval of a percentile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceInterval {
    /// Its lower end in nanoseconds, if there are enough samples for one.
    pub lower_ns: Option<u64>,
    /// Its upper end in nanoseconds, if there are enough samples for one.
    pub upper_ns: Option<u64>,
    /// How many independent samples there are.
    pub independent: u64,
    /// Whether that was found out; a short run does not show it, and each sample counts as one.
    pub adjusted: bool,
    /// How many more samples such as these it takes to an upper end.
    pub still_needed: u64,
}

/// The interval of `percentile` (above 0 and below 100) of these times, which came in these blocks.
pub fn confidence_interval(
    times: &Distribution,
    blocks: &Blocks,
    percentile: f64,
) -> ConfidenceInterval {
    let quantile = percentile / 100.0;
    let found = dependence(times, blocks, percentile);
    let size = found.unwrap_or_else(|| SampleSize::independent(times.len()));
    let ranks = size.ranks(quantile, CONFIDENCE);
    ConfidenceInterval {
        lower_ns: ranks.lower.map(|rank| times.rank_ns(rank).0),
        upper_ns: ranks.upper.map(|rank| times.rank_ns(rank).1),
        independent: size.effective(),
        adjusted: found.is_some(),
        still_needed: size.still_needed(quantile, CONFIDENCE),
    }
}

impl ConfidenceInterval {
    /// How far the further end lies from the percentile, as a share of it; `None` if an end is not
    /// known, or the percentile is zero.
    pub fn half_width(&self, percentile_ns: u64) -> Option<f64> {
        let (lower, upper) = (self.lower_ns?, self.upper_ns?);
        let further = upper
            .saturating_sub(percentile_ns)
            .max(percentile_ns.saturating_sub(lower));
        (percentile_ns > 0).then(|| further as f64 / percentile_ns as f64)
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
