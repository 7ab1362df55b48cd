//! Is B slower than A? Saved runs compared.
//!
//! Each side is one run, or a set of repeats. Repeats are compared by their *runs*, so that the
//! differences from run to run are in the intervals; if both sides took turns, in *pairs*, so that
//! drift is not. A single run is compared by its *seconds*. Percentiles of response time and the
//! achieved rate are each a [`ComparedFigure`] with the ratio B / A, its interval, and the
//! conclusion. All intervals together hold at 95 %: two equal runs are called different in one case
//! of twenty, however many figures there are.

mod conditions;
mod fit;
mod looks;
mod metrics;
mod names;
mod rule_figures;
mod tolerance;
mod visible;

pub use conditions::{MachineProperty, Mismatch, mismatches};
pub use fit::{ComparisonError, SavedRun, check_baseline};
pub use looks::Looks;
pub use metrics::{ComparedMetrics, SideMetrics};
pub use names::{ComparedName, ComparedNames};
pub use tolerance::{NoTolerance, Tolerance, ToleranceResult, parse_figure};
pub use visible::{Against, VisibleChange, visible_changes};

use crate::spread::is_whole;
use loadline_record::{Distribution, Role, RunFile, Summary};
use loadline_stats::compare::{
    Decision, Ratio, Stretches, compare_means, compare_pairs, compare_quantiles, compare_runs,
    confidence_of_each,
};
use loadline_stats::least_samples;
use std::collections::BTreeMap;

/// The percentiles of response time that are compared by default, each if every run has enough
/// samples.
pub const COMPARED_PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];
/// The confidence of every interval that is reported; of a comparison's that of all together.
pub const CONFIDENCE: f64 = 0.95;
/// Differences below this share are not looked at: each side is known to three digits.
const PRECISION: f64 = 0.002;
/// The seed of the resampling: the same runs always give the same result.
const SEED: u64 = 1;
/// Seconds that were cut short by more than half are left out of the rate.
const SHORTEST_NS: u64 = 500_000_000;

/// A compared figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// A percentile of response time, in nanoseconds.
    Percentile(f64),
    /// The mean response time, in nanoseconds: what few long stalls do shows here before a
    /// percentile.
    Mean,
    /// The longest response time, in nanoseconds.
    Max,
    /// Answers a second.
    Rate,
}

/// The relation of B to A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Shorter times, or a higher rate.
    Faster,
    /// Longer times, or a lower rate.
    Slower,
    /// A difference, if there is one, is lost in the noise.
    CannotTell,
}

/// One figure of both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedFigure {
    /// The figure.
    pub figure: Figure,
    /// A's; of several runs the geometric mean.
    pub base: f64,
    /// B's; of several runs the geometric mean.
    pub with: f64,
    /// B / A, with its interval.
    pub ratio: Ratio,
    /// The conclusion from the interval.
    pub standing: Standing,
    /// The approximate number of further runs of each side that would decide a difference of this
    /// size; 0 if it is decided already, `None` if a thousand would not suffice.
    pub more_runs: Option<u64>,
}

/// Two sides compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The number of runs of A.
    pub base_runs: usize,
    /// The number of runs of B.
    pub with_runs: usize,
    /// True if both took turns, so that runs were compared in pairs.
    pub paired: bool,
    /// The figures, the rate last.
    pub figures: Vec<ComparedFigure>,
    /// The percentiles that are left out, because unfinished requests make them a lower bound in a
    /// run.
    pub bounds: Vec<f64>,
    /// The share of A's requests that failed.
    pub base_failed: f64,
    /// The share of B's requests that failed.
    pub with_failed: f64,
    /// The same by name, where both sides have names.
    pub names: ComparedNames,
    /// The figures of some requests that rules are on, by their text.
    pub of_rules: BTreeMap<String, ComparedFigure>,
    /// The metrics that the scripts of both sides counted.
    pub metrics: ComparedMetrics,
}

impl Comparison {
    /// Compares B with A.
    ///
    /// # Errors
    ///
    /// If the runs do not belong together, or hold too little.
    pub fn of(base: &[SavedRun], with: &[SavedRun]) -> Result<Comparison, ComparisonError> {
        Comparison::of_percentiles(base, with, &COMPARED_PERCENTILES)
    }

    /// The same in these percentiles.
    ///
    /// # Errors
    ///
    /// As [`of`](Comparison::of).
    pub fn of_percentiles(
        base: &[SavedRun],
        with: &[SavedRun],
        percentiles: &[f64],
    ) -> Result<Comparison, ComparisonError> {
        Comparison::of_rules(base, with, percentiles, &[])
    }

    /// The same, with the figures by name that these rules are on. Their intervals hold together at
    /// 95 %, apart from all others.
    ///
    /// # Errors
    ///
    /// As [`of`](Comparison::of).
    pub fn of_rules(
        base: &[SavedRun],
        with: &[SavedRun],
        percentiles: &[f64],
        rules: &[Tolerance],
    ) -> Result<Comparison, ComparisonError> {
        fit::check(base, with)?;
        let sides = (Side::of(base)?, Side::of(with)?);
        let all: Vec<&Summary> = base
            .iter()
            .chain(with)
            .map(|run| run.run.summary())
            .collect();
        let comparable = match base.len() {
            1 => comparable(&all, percentiles),
            _ => comparable_of_several(&all, percentiles),
        };
        let confidence = confidence_of_each(comparable.len(), CONFIDENCE);
        let compared = |figure: &Figure| sides.0.compare(&sides.1, *figure, confidence);
        Ok(Comparison {
            base_runs: base.len(),
            with_runs: with.len(),
            paired: false,
            figures: comparable.iter().filter_map(compared).collect(),
            bounds: bounds_among(&all, percentiles),
            base_failed: failed(base.iter().map(|run| run.run.summary())),
            with_failed: failed(with.iter().map(|run| run.run.summary())),
            names: ComparedNames::of(base, with),
            of_rules: rule_figures::of(base, with, rules),
            metrics: ComparedMetrics::of(
                base.iter().map(|run| run.run.summary()),
                with.iter().map(|run| run.run.summary()),
            ),
        })
    }

    /// Compares the sides of a series, those named `B` with those named `A`, in the pairs in which
    /// they alternated. Pairs with a run that is missing or was cut short are left out; `None` if
    /// fewer than two are left.
    pub fn of_sides(runs: &[&Summary]) -> Option<Comparison> {
        Comparison::of_sides_in(runs, &COMPARED_PERCENTILES, &[])
    }

    /// The same in these percentiles, and in the figures by name that these rules are on.
    pub fn of_sides_in(
        runs: &[&Summary],
        percentiles: &[f64],
        rules: &[Tolerance],
    ) -> Option<Comparison> {
        let of = |name: &str, number: u32| {
            let is = |role: &Role| role.number == number && role.name.as_deref() == Some(name);
            let mut whole = runs.iter().filter(|run| is_whole(run));
            whole.find(|run| run.role.as_ref().is_some_and(is)).copied()
        };
        let numbers = 1..=runs.len() as u32;
        let pairs = numbers.filter_map(|number| Some((of("A", number)?, of("B", number)?)));
        let (base, with): (Vec<_>, Vec<_>) = pairs.unzip();
        Comparison::of_pairs_in(&base, &with, percentiles, rules)
    }

    /// Compares runs of B with the runs of A that they alternated with, pair by pair; what one side
    /// has more is left out. `None` if there are fewer than two pairs, or a run without a response.
    pub fn of_pairs(base: &[&Summary], with: &[&Summary]) -> Option<Comparison> {
        Comparison::of_pairs_in(base, with, &COMPARED_PERCENTILES, &[])
    }

    fn of_pairs_in(
        base: &[&Summary],
        with: &[&Summary],
        percentiles: &[f64],
        rules: &[Tolerance],
    ) -> Option<Comparison> {
        let pairs = base.len().min(with.len());
        let (base, with) = (&base[..pairs], &with[..pairs]);
        let both: Vec<&Summary> = base.iter().chain(with).copied().collect();
        if pairs < 2 || both.iter().any(|run| run.total.times.response.is_empty()) {
            return None;
        }
        let comparable = comparable_of_several(&both, percentiles);
        let confidence = confidence_of_each(comparable.len(), CONFIDENCE);
        let compared = |figure: &Figure| compared_pairs(base, with, *figure, confidence);
        Some(Comparison {
            base_runs: pairs,
            with_runs: pairs,
            paired: true,
            figures: comparable.iter().filter_map(compared).collect(),
            bounds: bounds_among(&both, percentiles),
            base_failed: failed(base.iter().copied()),
            with_failed: failed(with.iter().copied()),
            names: ComparedNames::of_pairs(base, with),
            of_rules: rule_figures::of_pairs(base, with, rules),
            metrics: ComparedMetrics::of(base.iter().copied(), with.iter().copied()),
        })
    }

    /// A figure of all requests, if it was compared.
    pub fn figure(&self, figure: Figure) -> Option<&ComparedFigure> {
        let mut figures = self.figures.iter();
        figures.find(|compared| compared.figure == figure)
    }

    /// Returns the overall relation of B to A: slower if any figure is, faster if some are and none
    /// is slower.
    pub fn standing(&self) -> Standing {
        let any = |standing| {
            self.figures
                .iter()
                .any(|figure| figure.standing == standing)
        };
        match () {
            () if any(Standing::Slower) => Standing::Slower,
            () if any(Standing::Faster) => Standing::Faster,
            () => Standing::CannotTell,
        }
    }
}

/// Returns the percentiles, among these, for which every run has enough samples and a figure, and
/// the rate.
pub(crate) fn comparable(runs: &[&Summary], percentiles: &[f64]) -> Vec<Figure> {
    let bounds = bounds_among(runs, percentiles);
    let percentiles = of_enough_samples(runs, percentiles);
    let known = percentiles.filter(|percentile| !bounds.contains(percentile));
    known
        .map(Figure::Percentile)
        .chain([Figure::Rate])
        .collect()
}

/// The percentiles that are only a lower bound in one of these runs, because so many of its
/// requests had no response when it ended.
pub fn bounds_in(runs: &[&Summary]) -> Vec<f64> {
    bounds_among(runs, &COMPARED_PERCENTILES)
}

fn bounds_among(runs: &[&Summary], percentiles: &[f64]) -> Vec<f64> {
    let is_bound = |percentile: &f64| {
        let mut each = runs.iter().map(|run| run.response());
        each.any(|times| times.percentile(*percentile).is_at_least())
    };
    of_enough_samples(runs, percentiles)
        .filter(is_bound)
        .collect()
}

fn of_enough_samples(runs: &[&Summary], percentiles: &[f64]) -> impl Iterator<Item = f64> {
    let samples = runs.iter().map(|run| run.response().len());
    let fewest = samples.min().unwrap_or(0);
    let enough = |p: &f64| least_samples(*p / 100.0, CONFIDENCE) <= fewest;
    let enough: Vec<f64> = percentiles.iter().copied().filter(enough).collect();
    enough.into_iter()
}

/// The same, with the mean and the longest time where every run knows them: figures that one run
/// alone has no interval of.
fn comparable_of_several(runs: &[&Summary], percentiles: &[f64]) -> Vec<Figure> {
    let mut figures = comparable(runs, percentiles);
    let rate = figures.len() - 1;
    let every = |is_bound: fn(&Summary) -> bool| !runs.iter().any(|run| is_bound(run));
    let mean = every(|run| run.response().mean_ns().is_at_least()).then_some(Figure::Mean);
    let max = every(|run| run.response().max_ns().is_at_least()).then_some(Figure::Max);
    figures.splice(rate..rate, mean.into_iter().chain(max));
    figures
}

fn failed<'a>(runs: impl Iterator<Item = &'a Summary>) -> f64 {
    let add = |(failed, ended): (u64, u64), run: &Summary| {
        let counts = &run.total.counts;
        (failed + counts.failures(), ended + counts.ended())
    };
    let (failed, ended) = runs.fold((0, 0), add);
    failed as f64 / ended.max(1) as f64
}

fn compared_pairs(
    base: &[&Summary],
    with: &[&Summary],
    figure: Figure,
    confidence: f64,
) -> Option<ComparedFigure> {
    let values =
        |runs: &[&Summary]| -> Vec<f64> { runs.iter().map(|run| value(run, figure)).collect() };
    let (base, with) = (values(base), values(with));
    let ratio = compare_pairs(&base, &with, confidence)?;
    let means = (geometric_mean(&base), geometric_mean(&with));
    Some(compared(figure, means, ratio, base.len()))
}

/// Returns the conclusion from a ratio of a figure; `means` are the means of A and of B.
fn compared(figure: Figure, means: (f64, f64), ratio: Ratio, runs: usize) -> ComparedFigure {
    let ratio = ratio.widened(PRECISION);
    ComparedFigure {
        figure,
        base: means.0,
        with: means.1,
        ratio,
        standing: standing(figure, ratio.decision()),
        more_runs: ratio.more_runs(runs),
    }
}

fn geometric_mean(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().map(|value| value.ln()).sum();
    (sum / values.len() as f64).exp()
}

/// The data that is resampled.
enum Side<'a> {
    One {
        summary: &'a Summary,
        stretches: Stretches,
        rates: Vec<f64>,
    },
    Repeats(Vec<&'a Summary>),
}

impl Side<'_> {
    fn of(runs: &[SavedRun]) -> Result<Side<'_>, ComparisonError> {
        let [one] = runs else {
            return Ok(Side::Repeats(
                runs.iter().map(|run| run.run.summary()).collect(),
            ));
        };
        let stretches = stretches(&one.run);
        if stretches.len() < 2 {
            return Err(ComparisonError::TooShort {
                path: one.path.clone(),
            });
        }
        Ok(Side::One {
            summary: one.run.summary(),
            stretches,
            rates: rates(one.run.summary()),
        })
    }

    fn compare(&self, with: &Side<'_>, figure: Figure, confidence: f64) -> Option<ComparedFigure> {
        let ratio = self.ratio(with, figure, confidence)?;
        let means = (self.value(figure), with.value(figure));
        Some(compared(figure, means, ratio, self.runs().min(with.runs())))
    }

    fn ratio(&self, with: &Side<'_>, figure: Figure, confidence: f64) -> Option<Ratio> {
        match (self, with, figure) {
            (
                Side::One {
                    stretches: base, ..
                },
                Side::One {
                    stretches: with, ..
                },
                Figure::Percentile(p),
            ) => compare_quantiles(base, with, p / 100.0, confidence, SEED),
            (Side::One { rates: base, .. }, Side::One { rates: with, .. }, Figure::Rate) => {
                compare_means(base, with, confidence, SEED)
            }
            _ => compare_runs(&self.values(figure), &with.values(figure), confidence, SEED),
        }
    }

    fn runs(&self) -> usize {
        match self {
            Side::One { .. } => 1,
            Side::Repeats(runs) => runs.len(),
        }
    }

    fn values(&self, figure: Figure) -> Vec<f64> {
        match self {
            Side::One { summary, .. } => vec![value(summary, figure)],
            Side::Repeats(runs) => runs.iter().map(|run| value(run, figure)).collect(),
        }
    }

    /// The geometric mean of the runs.
    fn value(&self, figure: Figure) -> f64 {
        geometric_mean(&self.values(figure))
    }
}

/// The figure of one run: nanoseconds, or answers a second.
pub(crate) fn value(run: &Summary, figure: Figure) -> f64 {
    match figure {
        Figure::Percentile(p) => run.response().percentile(p).value() as f64,
        Figure::Mean => run.response().mean_ns().value(),
        Figure::Max => run.response().max_ns().value() as f64,
        Figure::Rate => run.answers_per_s(),
    }
}

fn standing(figure: Figure, decision: Decision) -> Standing {
    match (figure, decision) {
        (_, Decision::CannotTell) => Standing::CannotTell,
        (Figure::Rate, Decision::Larger) => Standing::Faster,
        (Figure::Rate, Decision::Smaller) => Standing::Slower,
        (_, Decision::Smaller) => Standing::Faster,
        (_, Decision::Larger) => Standing::Slower,
    }
}

/// The response times second by second. Those of the drain stand in the last one, and unfinished
/// requests with the times at which they are expected to end.
fn stretches(run: &RunFile) -> Stretches {
    let seconds = run.snapshots().map(|second| second.times.response.clone());
    let mut seconds: Vec<Distribution> = seconds.collect();
    if let Some(last) = seconds.last_mut() {
        if let Some(drain) = run.drain() {
            last.merge(&drain.times.response);
        }
        last.merge(&run.summary().response().expected());
    }
    Stretches::of(seconds.iter().map(|second| second.steps().collect()))
}

/// Answers a second, second by second.
fn rates(summary: &Summary) -> Vec<f64> {
    let length = |row: &loadline_record::Row| row.end_ns.saturating_sub(row.start_ns);
    let whole = summary.rows.iter().filter(|row| length(row) >= SHORTEST_NS);
    whole
        .map(|row| row.counts.completed as f64 * 1e9 / length(row) as f64)
        .collect()
}

#[cfg(test)]
mod simulations;
#[cfg(test)]
pub(crate) mod tests;
