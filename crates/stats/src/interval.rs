//! The distribution-free interval of a quantile, by order statistics.
//!
//! With `n` independent samples in rising order, the number of those that lie below the quantile
//! `q` is binomial with `n` and `q`, whatever the distribution. So the sample of rank j lies above
//! the quantile with probability P\[Bin(n, q) < j\], and that of rank k not below it with
//! probability 1 − P\[Bin(n, q) < k\]: an interval from ranks alone (G. J. Hahn, W. Q. Meeker,
//! *Statistical Intervals*, Wiley 1991, chapter 5). Its coverage is at least its confidence.

use crate::binomial::Binomial;

/// The ranks of the samples (the smallest has rank 1) between which a quantile lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// The rank of the lower end; none if there are too few samples for one.
    pub lower: Option<u64>,
    /// The rank of the upper end; none if there are too few samples for one.
    pub upper: Option<u64>,
}

/// A number of samples, and the number of independent samples that give as much information.
///
/// Samples that come after each other resemble each other, so that they have less information than
/// as many independent ones (see [`dependence`](crate::dependence)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleSize {
    samples: u64,
    effective: u64,
}

impl SampleSize {
    /// This many samples, each independent of the others.
    pub fn independent(samples: u64) -> SampleSize {
        SampleSize {
            samples,
            effective: samples,
        }
    }

    /// So many samples that are worth `effective` independent ones: at most as many as they are,
    /// and at least one if there are any.
    pub fn dependent(samples: u64, effective: f64) -> SampleSize {
        SampleSize {
            samples,
            effective: (effective as u64).max(1).min(samples),
        }
    }

    /// Returns the number of samples.
    pub fn samples(self) -> u64 {
        self.samples
    }

    /// Returns the number of independent samples that they are worth.
    pub fn effective(self) -> u64 {
        self.effective
    }

    /// The ranks of the interval of `quantile` (strictly between 0 and 1, else there is none) at
    /// this confidence (0.95, say).
    ///
    /// The lower rank j is the largest with P\[Bin(n, q) < j\] ≤ α/2, the upper rank k the smallest
    /// with P\[Bin(n, q) < k\] ≥ 1 − α/2, where α is 1 − confidence. Of dependent samples n is the
    /// effective number; a rank among n stands for the middle of its share among all samples.
    pub fn ranks(self, quantile: f64, confidence: f64) -> Ranks {
        if self.samples == 0 || quantile <= 0.0 || quantile >= 1.0 {
            return Ranks {
                lower: None,
                upper: None,
            };
        }
        let tail = (1.0 - confidence) / 2.0;
        let below = Binomial::new(self.effective, quantile);
        let lower = Some(below.count_up_to(tail)).filter(|rank| *rank >= 1);
        let upper = Some(below.quantile(1.0 - tail) + 1).filter(|rank| *rank <= self.effective);
        Ranks {
            lower: lower.map(|rank| self.spread(rank).round().max(1.0) as u64),
            upper: upper.map(|rank| (self.spread(rank).round() as u64).min(self.samples)),
        }
    }

    /// Returns the ends of the interval, where `value_at` returns the sample of a rank. It is
    /// called only for ranks that exist, so that a histogram's cumulative counts do as well as
    /// sorted samples.
    pub fn interval<T>(
        self,
        quantile: f64,
        confidence: f64,
        value_at: impl Fn(u64) -> T,
    ) -> (Option<T>, Option<T>) {
        let ranks = self.ranks(quantile, confidence);
        (ranks.lower.map(&value_at), ranks.upper.map(&value_at))
    }

    /// Returns how many more samples of the same kind the interval needs to have an upper end.
    pub fn still_needed(self, quantile: f64, confidence: f64) -> u64 {
        let needed = least_samples(quantile, confidence);
        if self.effective >= needed {
            return 0;
        }
        let each = self.samples.max(1) as f64 / self.effective.max(1) as f64;
        ((needed as f64 * each).ceil() as u64 - self.samples).max(1)
    }

    /// The middle of what the effective sample of this rank stands for, as a rank among all.
    fn spread(self, rank: u64) -> f64 {
        if self.effective == self.samples {
            return rank as f64;
        }
        let each = self.samples as f64 / self.effective as f64;
        (rank as f64 - 0.5) * each + 0.5
    }
}

/// The fewest independent samples for which the interval of `quantile` has an upper end: the
/// largest of n samples lies above the quantile with probability 1 − qⁿ, so n ≥ ln(α/2) / ln q.
///
/// `quantile` is above 0; for 1 (the largest value, which every sample has) the result is one.
pub fn least_samples(quantile: f64, confidence: f64) -> u64 {
    if quantile >= 1.0 {
        return 1;
    }
    let tail = (1.0 - confidence) / 2.0;
    (tail.ln() / quantile.ln()).ceil().max(1.0) as u64
}

#[cfg(test)]
mod tests;
