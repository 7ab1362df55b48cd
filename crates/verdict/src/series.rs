//! A series judged: the checks look at all whole runs of one side together, or at all repeats.

use crate::check::{CheckResult, evaluate_together};
use crate::result::RunResult;
use crate::spread::is_whole;
use loadline_record::Summary;
use std::collections::BTreeMap;

/// The runs of one side of a series, with the results of its checks.
#[derive(Clone, Debug)]
pub struct Side<'a> {
    /// Its name; `None` for repeats, which are all of one side.
    pub name: Option<&'a str>,
    /// Its runs, in their order.
    pub runs: Vec<&'a RunResult>,
    /// The results of the checks over its whole runs together.
    pub checks: Vec<CheckResult>,
}

/// The sides of a series, by name.
pub fn sides(runs: &[RunResult]) -> Vec<Side<'_>> {
    let mut sides: BTreeMap<Option<&str>, Vec<&RunResult>> = BTreeMap::new();
    for run in runs {
        let role = run.summary.role.as_ref();
        let name = role.and_then(|role| role.name.as_deref());
        sides.entry(name).or_default().push(run);
    }
    let judged = |(name, runs): (_, Vec<_>)| Side {
        name,
        checks: checks_together(&whole_runs(runs.iter().copied())),
        runs,
    };
    sides.into_iter().map(judged).collect()
}

/// The runs that went on to the end that was planned; all of them if none did.
pub fn whole_runs<'a>(runs: impl IntoIterator<Item = &'a RunResult>) -> Vec<&'a RunResult> {
    let all: Vec<&RunResult> = runs.into_iter().collect();
    let is_whole = |run: &&RunResult| is_whole(&run.summary);
    let whole: Vec<&RunResult> = all.iter().copied().filter(is_whole).collect();
    if whole.is_empty() { all } else { whole }
}

/// The results of the first run's checks over the requests of all these runs together.
pub fn checks_together(runs: &[&RunResult]) -> Vec<CheckResult> {
    let Some(first) = runs.first() else {
        return Vec::new();
    };
    let summaries: Vec<&Summary> = runs.iter().map(|run| &run.summary).collect();
    evaluate_together(&first.summary.plan.checks, &summaries)
}
