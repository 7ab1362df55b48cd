//! The pieces that are resampled: runs, seconds, or stretches of a run.

/// At most this many stretches are drawn from; neighbours are joined until there are no more, so
/// that what lasts longer than a second stays in one piece.
const MOST_STRETCHES: usize = 30;

/// A measurement in pieces that can be resampled.
pub(super) trait Pieces {
    /// Returns the number of pieces.
    fn count(&self) -> usize;

    /// The logarithm of the estimate if each piece had been there this many times.
    fn logarithm(&self, weights: &[u32]) -> f64;
}

/// Runs by their logarithms; the estimate is the geometric mean.
pub(super) struct Logarithms(Vec<f64>);

impl Logarithms {
    pub(super) fn of(runs: &[f64]) -> Option<Logarithms> {
        let positive = runs.iter().all(|run| *run > 0.0);
        positive.then(|| Logarithms(runs.iter().map(|run| run.ln()).collect()))
    }
}

impl Pieces for Logarithms {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn logarithm(&self, weights: &[u32]) -> f64 {
        weighted_mean(&self.0, weights)
    }
}

/// Values of stretches; the estimate is their mean.
pub(super) struct Means(Vec<f64>);

impl Means {
    pub(super) fn of(values: &[f64]) -> Option<Means> {
        let each = values.len().div_ceil(MOST_STRETCHES).max(1);
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let means: Vec<f64> = values.chunks(each).map(mean).collect();
        (means.iter().sum::<f64>() > 0.0).then_some(Means(means))
    }
}

impl Pieces for Means {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn logarithm(&self, weights: &[u32]) -> f64 {
        let mean = weighted_mean(&self.0, weights);
        mean.max(f64::MIN_POSITIVE).ln()
    }
}

/// A run cut into stretches, each a histogram: how many samples were at most each of some values.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretches {
    /// The values that occur, rising.
    values: Vec<u64>,
    /// For each stretch, how many samples were at most each of the values.
    cumulative: Vec<Vec<u64>>,
}

impl Stretches {
    /// Stretches from seconds in the order of time, each second its distinct values (in any unit)
    /// with their counts, rising. Seconds without a sample are left out, and neighbours are joined
    /// until there are at most 30.
    pub fn of(seconds: impl IntoIterator<Item = Vec<(u64, u64)>>) -> Stretches {
        let seconds: Vec<_> = seconds.into_iter().filter(|s| !s.is_empty()).collect();
        let mut values: Vec<u64> = seconds.iter().flatten().map(|(value, _)| *value).collect();
        values.sort_unstable();
        values.dedup();
        let each = seconds.len().div_ceil(MOST_STRETCHES).max(1);
        let parts = seconds.chunks(each);
        let cumulative = parts.map(|part| cumulative(&values, part)).collect();
        Stretches { values, cumulative }
    }

    /// Returns the number of stretches.
    pub fn len(&self) -> usize {
        self.cumulative.len()
    }

    /// True if there is no sample.
    pub fn is_empty(&self) -> bool {
        self.cumulative.is_empty()
    }
}

/// Counts the samples of these seconds that were at most each of the values.
fn cumulative(values: &[u64], seconds: &[Vec<(u64, u64)>]) -> Vec<u64> {
    let mut counts = vec![0; values.len()];
    for (value, count) in seconds.iter().flatten() {
        let index = values.binary_search(value);
        counts[index.expect("every value was collected")] += count;
    }
    let mut sum = 0;
    for count in &mut counts {
        sum += *count;
        *count = sum;
    }
    counts
}

/// Stretches of a run; the estimate is a quantile of all of them together.
pub(super) struct Quantile<'a> {
    stretches: &'a Stretches,
    quantile: f64,
}

impl Quantile<'_> {
    pub(super) fn of(stretches: &Stretches, quantile: f64) -> Option<Quantile<'_>> {
        let found = Quantile {
            stretches,
            quantile,
        };
        let measured = (!stretches.is_empty()).then(|| found.value(&vec![1; stretches.len()]));
        measured.filter(|value| *value > 0).map(|_| found)
    }

    /// The value of the nearest rank.
    pub(super) fn value(&self, weights: &[u32]) -> u64 {
        let Stretches { values, cumulative } = self.stretches;
        let at_most = |index: usize| -> u64 {
            let each = cumulative.iter().zip(weights);
            each.map(|(counts, weight)| counts[index] * u64::from(*weight))
                .sum()
        };
        let rank = self.quantile * at_most(values.len() - 1) as f64;
        let (mut low, mut high) = (0, values.len() - 1);
        while low < high {
            let middle = (low + high) / 2;
            if (at_most(middle) as f64) < rank * (1.0 - 1e-12) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        values[low]
    }
}

impl Pieces for Quantile<'_> {
    fn count(&self) -> usize {
        self.stretches.len()
    }

    fn logarithm(&self, weights: &[u32]) -> f64 {
        (self.value(weights).max(1) as f64).ln()
    }
}

fn weighted_mean(values: &[f64], weights: &[u32]) -> f64 {
    let total: u32 = weights.iter().sum();
    let each = values.iter().zip(weights);
    each.map(|(value, weight)| value * f64::from(*weight))
        .sum::<f64>()
        / f64::from(total)
}
