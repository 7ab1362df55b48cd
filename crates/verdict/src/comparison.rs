//! Is B slower than A? Saved runs held against each other.
//!
//! Each side is one run, or a set of repeats. Of repeats the *runs* are compared, so that what
//! differs from run to run is in the intervals; of one run a side its *seconds* are, for want of
//! better. Percentiles of response time and the achieved rate are each a [`ComparedFigure`] with the
//! ratio B / A, its interval, and what it says. All intervals together hold at 95 %: a run that is
//! compared with its like is called different in one case of twenty, however many figures there are.

mod fit;

pub use fit::{ComparisonError, SavedRun};

use loadline_record::{RunFile, Summary};
use loadline_stats::compare::{
    Decision, Ratio, Stretches, compare_means, compare_quantiles, compare_runs, confidence_of_each,
};
use loadline_stats::least_samples;

/// The percentiles of response time that are compared, where every run has enough samples.
const PERCENTILES: [f64; 4] = [50.0, 90.0, 99.0, 99.9];
/// The confidence of all intervals together.
const CONFIDENCE: f64 = 0.95;
/// Differences below this share are not looked at: each side is known to three digits.
const PRECISION: f64 = 0.002;
/// What is drawn is the same each time, so that the same runs give the same answer.
const SEED: u64 = 1;
/// Seconds that were cut short by more than half are left out of the rate.
const SHORTEST_NS: u64 = 500_000_000;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// A percentile of response time, in nanoseconds.
    Percentile(f64),
    /// Answers a second.
    Rate,
}

/// How B stands to A.
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
    /// Which one.
    pub figure: Figure,
    /// A's; of several runs the geometric mean.
    pub base: f64,
    /// B's; of several runs the geometric mean.
    pub with: f64,
    /// B / A, with its interval.
    pub ratio: Ratio,
    /// What the interval says.
    pub standing: Standing,
    /// About how many more runs of each side would tell a difference of this size; 0 if it is told,
    /// `None` if a thousand would not.
    pub more_runs: Option<u64>,
}

/// Two sides held against each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// How many runs A has.
    pub base_runs: usize,
    /// How many runs B has.
    pub with_runs: usize,
    /// The figures, the rate last.
    pub figures: Vec<ComparedFigure>,
    /// The share of A's requests that failed.
    pub base_failed: f64,
    /// The share of B's requests that failed.
    pub with_failed: f64,
}

impl Comparison {
    /// Holds B against A.
    ///
    /// # Errors
    ///
    /// If the runs do not belong together, or hold too little.
    pub fn of(base: &[SavedRun], with: &[SavedRun]) -> Result<Comparison, ComparisonError> {
        fit::check(base, with)?;
        let sides = (Side::of(base)?, Side::of(with)?);
        let wanted = wanted(base.iter().chain(with));
        let confidence = confidence_of_each(wanted.len(), CONFIDENCE);
        let compared = |figure: &Figure| sides.0.compare(&sides.1, *figure, confidence);
        Ok(Comparison {
            base_runs: base.len(),
            with_runs: with.len(),
            figures: wanted.iter().filter_map(compared).collect(),
            base_failed: failed(base),
            with_failed: failed(with),
        })
    }

    /// How B stands to A in all: slower if any figure is, faster if some are and none is slower.
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

/// The percentiles for which every run has enough samples, and the rate.
fn wanted<'a>(runs: impl Iterator<Item = &'a SavedRun>) -> Vec<Figure> {
    let samples = |run: &SavedRun| run.run.summary().total.times.response.len();
    let fewest = runs.map(samples).min().unwrap_or(0);
    let enough = |p: &f64| least_samples(*p / 100.0, CONFIDENCE) <= fewest;
    let percentiles = PERCENTILES
        .into_iter()
        .filter(enough)
        .map(Figure::Percentile);
    percentiles.chain([Figure::Rate]).collect()
}

fn failed(runs: &[SavedRun]) -> f64 {
    let counts = || runs.iter().map(|run| &run.run.summary().total.counts);
    let failed: u64 = counts().map(|counts| counts.failed).sum();
    let ended: u64 = counts().map(|counts| counts.failed + counts.answered).sum();
    failed as f64 / ended.max(1) as f64
}

/// What is drawn from.
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
        let ratio = self.ratio(with, figure, confidence)?.widened(PRECISION);
        Some(ComparedFigure {
            figure,
            base: self.value(figure),
            with: with.value(figure),
            ratio,
            standing: standing(figure, ratio.decision()),
            more_runs: ratio.more_runs(self.runs().min(with.runs())),
        })
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
        let values = self.values(figure);
        let sum: f64 = values.iter().map(|value| value.ln()).sum();
        (sum / values.len() as f64).exp()
    }
}

/// The figure of one run: nanoseconds, or answers a second.
fn value(run: &Summary, figure: Figure) -> f64 {
    match figure {
        Figure::Percentile(p) => run.total.times.response.percentile_ns(p) as f64,
        Figure::Rate => run.total.counts.answered as f64 / (run.rated_ns().max(1) as f64 / 1e9),
    }
}

fn standing(figure: Figure, decision: Decision) -> Standing {
    match (figure, decision) {
        (_, Decision::CannotTell) => Standing::CannotTell,
        (Figure::Percentile(_), Decision::Smaller) | (Figure::Rate, Decision::Larger) => {
            Standing::Faster
        }
        (Figure::Percentile(_), Decision::Larger) | (Figure::Rate, Decision::Smaller) => {
            Standing::Slower
        }
    }
}

fn stretches(run: &RunFile) -> Stretches {
    Stretches::of(
        run.snapshots()
            .map(|second| second.times.response.steps().collect()),
    )
}

/// Answers a second, second by second.
fn rates(summary: &Summary) -> Vec<f64> {
    let length = |row: &loadline_record::Row| row.end_ns.saturating_sub(row.start_ns);
    let whole = summary.rows.iter().filter(|row| length(row) >= SHORTEST_NS);
    whole
        .map(|row| row.counts.answered as f64 * 1e9 / length(row) as f64)
        .collect()
}

#[cfg(test)]
mod tests;
