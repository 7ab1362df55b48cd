//! The conditions under which runs can be compared.

use crate::is_whole;
use loadline_plan::Plan;
use loadline_record::{RoleKind, RunFile};
use std::path::{Path, PathBuf};

/// A saved run, and where it was read from.
#[derive(Clone, Debug)]
pub struct SavedRun {
    /// The file.
    pub path: PathBuf,
    /// The number of the run in its file, counted from 1, if the file holds several.
    pub number: Option<usize>,
    /// The contents of the run.
    pub run: RunFile,
}

impl SavedRun {
    /// Returns the runs of this file in the form of a comparison's side: without those of a series
    /// that broke off, unless all of them did.
    pub fn all(path: &Path, runs: Vec<RunFile>) -> Vec<SavedRun> {
        let several = runs.len() > 1;
        let any_whole = runs.iter().any(|run| is_whole(run.summary()));
        let saved = |(index, run): (usize, RunFile)| SavedRun {
            path: path.to_owned(),
            number: several.then_some(index + 1),
            run,
        };
        let is_kept = |saved: &SavedRun| {
            let run = &saved.run;
            !any_whole || is_whole(run.summary()) || run.header().role.is_none()
        };
        let saved = runs.into_iter().enumerate().map(saved);
        saved.filter(is_kept).collect()
    }
}

/// Fewer runs than this can't be compared with more of them: of two against ten that are alike, one
/// pair of sides in ten was called different at 95 %, by this method and by Welch's t-test alike.
const FEWEST_RUNS: usize = 3;

/// The reason why runs can't be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ComparisonError {
    /// The runs had different loads.
    #[error(
        "{} and {} had different loads ({difference}), so that their times can't be compared; run \
         both with the same load.",
        first.display(), other.display()
    )]
    DifferentLoads {
        /// The first run of A.
        first: PathBuf,
        /// The one that is different.
        other: PathBuf,
        /// The difference.
        difference: &'static str,
    },
    /// The baseline of a run that had another load.
    #[error(
        "the baseline {} had another load ({difference}), so that this run can't be compared with \
         it; run the same load, or keep a baseline of this one.",
        baseline.display()
    )]
    OtherBaseline {
        /// The baseline.
        baseline: PathBuf,
        /// The difference.
        difference: &'static str,
    },
    /// Both of two targets that took turns, on one side.
    #[error(
        "{} is an A/B test of two targets; `loadline report` compares them. Give repeats of one \
         run for each side here.",
        path.display()
    )]
    BothSides {
        /// The file.
        path: PathBuf,
    },
    /// The trials of a search.
    #[error(
        "{} is a search, whose trials had many loads; `loadline report` shows its result. Compare \
         runs with one load.",
        path.display()
    )]
    Search {
        /// The file.
        path: PathBuf,
    },
    /// A run without a response.
    #[error("{} has no responses; leave it out, or run it again.", path.display())]
    NoAnswer {
        /// The file.
        path: PathBuf,
    },
    /// One run against several.
    #[error(
        "{base} of A can't be compared with {with} of B; give one run of each, or several of each."
    )]
    OneAgainstSeveral {
        /// The number of runs of A.
        base: usize,
        /// The number of runs of B.
        with: usize,
    },
    /// Two runs against more, which are called different too often.
    #[error(
        "{base} runs of A can't be compared with {with} of B: two runs show too little of what \
         differs between runs; give at least {FEWEST_RUNS} of each, or two of each."
    )]
    TwoAgainstMore {
        /// The number of runs of A.
        base: usize,
        /// The number of runs of B.
        with: usize,
    },
    /// The same run twice.
    #[error("{} and {} are the same run; compare it with another \
             one.", first.display(), other.display())]
    SameRun {
        /// The file that came first.
        first: PathBuf,
        /// The other file.
        other: PathBuf,
    },
    /// A run of less than two seconds with responses.
    #[error(
        "{} has responses in less than two seconds, which is too short to compare a single run; \
         run it longer, or several times.",
        path.display()
    )]
    TooShort {
        /// The file.
        path: PathBuf,
    },
}

/// Refuses a baseline for a run that is not made yet, of which the plan is known and how often it
/// is repeated: what [`Comparison::of`](super::Comparison::of) would refuse when the run has been
/// made.
///
/// # Errors
///
/// If the baseline is of another load, or can't be compared at all.
pub fn check_baseline(base: &[SavedRun], plan: &Plan, runs: usize) -> Result<(), ComparisonError> {
    for run in base {
        refuse_trial(run)?;
        refuse_other_side(&base[0], run)?;
        refuse_empty(run)?;
        if let Some(difference) = difference(&run.run.header().plan, plan) {
            let baseline = run.path.clone();
            return Err(ComparisonError::OtherBaseline {
                baseline,
                difference,
            });
        }
    }
    refuse_counts(base.len(), runs)
}

/// Refuses runs that don't belong together.
pub(super) fn check(base: &[SavedRun], with: &[SavedRun]) -> Result<(), ComparisonError> {
    for run in base.iter().chain(with) {
        refuse_trial(run)?;
    }
    for side in [base, with] {
        side.iter()
            .try_for_each(|run| refuse_other_side(&side[0], run))?;
    }
    refuse_counts(base.len(), with.len())?;
    let runs: Vec<&SavedRun> = base.iter().chain(with).collect();
    for (index, run) in runs.iter().enumerate() {
        refuse_empty(run)?;
        refuse_other_load(runs[0], run)?;
        for earlier in &runs[..index] {
            refuse_same(earlier, run)?;
        }
    }
    Ok(())
}

/// Refuses so many runs of A and of B.
fn refuse_counts(base: usize, with: usize) -> Result<(), ComparisonError> {
    if (base == 1) != (with == 1) {
        return Err(ComparisonError::OneAgainstSeveral { base, with });
    }
    let (fewer, more) = (base.min(with), base.max(with));
    match fewer < FEWEST_RUNS && fewer < more {
        true => Err(ComparisonError::TwoAgainstMore { base, with }),
        false => Ok(()),
    }
}

fn refuse_empty(run: &SavedRun) -> Result<(), ComparisonError> {
    let summary = run.run.summary();
    if summary.total.counts.answered > 0 && !summary.total.times.response.is_empty() {
        return Ok(());
    }
    let path = run.path.clone();
    Err(ComparisonError::NoAnswer { path })
}

fn refuse_trial(run: &SavedRun) -> Result<(), ComparisonError> {
    let role = run.run.header().role.as_ref();
    if role.is_none_or(|role| role.kind != RoleKind::Trial) {
        return Ok(());
    }
    let path = run.path.clone();
    Err(ComparisonError::Search { path })
}

fn refuse_other_side(first: &SavedRun, other: &SavedRun) -> Result<(), ComparisonError> {
    let name = |run: &SavedRun| {
        run.run
            .header()
            .role
            .as_ref()
            .and_then(|role| role.name.clone())
    };
    if name(first) == name(other) {
        return Ok(());
    }
    let path = other.path.clone();
    Err(ComparisonError::BothSides { path })
}

fn refuse_other_load(first: &SavedRun, other: &SavedRun) -> Result<(), ComparisonError> {
    match difference(&first.run.header().plan, &other.run.header().plan) {
        None => Ok(()),
        Some(difference) => Err(ComparisonError::DifferentLoads {
            first: first.path.clone(),
            other: other.path.clone(),
            difference,
        }),
    }
}

/// Returns the difference that prevents a comparison. Targets, requests and seeds may differ: they
/// are the subject of the comparison, or chance.
fn difference(first_plan: &Plan, other_plan: &Plan) -> Option<&'static str> {
    let (first, other) = (&first_plan.load, &other_plan.load);
    match () {
        () if first.shape.is_open() != other.shape.is_open() => {
            Some("one is an open loop, one a closed loop")
        }
        () if first.shape != other.shape => Some("the rate, the stages or the bursts"),
        () if first.users != other.users => Some("the number of connections"),
        () if first.max_users != other.max_users => Some("the greatest number of connections"),
        () if first_plan.think != other_plan.think => Some("the think time"),
        () => None,
    }
}

fn refuse_same(first: &SavedRun, other: &SavedRun) -> Result<(), ComparisonError> {
    if first.run.header().started_at != other.run.header().started_at {
        return Ok(());
    }
    Err(ComparisonError::SameRun {
        first: first.path.clone(),
        other: other.path.clone(),
    })
}
