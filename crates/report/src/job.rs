//! The report for a job of continuous integration: JUnit XML, Markdown, and the formats of GitHub's
//! runner.
//!
//! All of them list the same *cases*: each check, each rule of a comparison, each threshold of
//! another tool, and the validity of each run. A case that did not pass has a sentence with the
//! finding, and advice. A case that can't be decided is *undecided*, never *failed*: a job that
//! cries wolf is soon not read. An invalid result is an error, whatever its checks are.

mod cases;
mod github;
mod junit;
mod markdown;

pub use github::{annotations, job_outputs, step_summary};
pub use junit::junit;
pub use markdown::markdown;

use crate::ComparedFiles;
use crate::series::series_text;
use crate::text::{Extent, TextOptions, text};
use crate::{comparison_of_files, layout, wording};
use cases::{Case, Outcome};
use loadline_record::Summary;
use loadline_verdict::{Grade, RunResult};

/// The contents of a job's report. There is a run, or a comparison.
#[derive(Clone, Copy, Debug)]
pub struct JobReport<'a> {
    /// The runs, in their order; none where only saved runs are compared.
    pub runs: &'a [RunResult],
    /// The comparison with a baseline, if there is one.
    pub compared: Option<&'a ComparedFiles<'a>>,
    /// The thresholds of another tool.
    pub thresholds: &'a [Threshold],
    /// The worst grade of a run that is accepted.
    pub worst_accepted: Grade,
}

/// A threshold of another tool, which has judged it by its own rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Threshold {
    /// The metric of the threshold.
    pub metric: String,
    /// The condition, in the words of that tool.
    pub expression: String,
    /// True if the threshold holds.
    pub holds: bool,
}

impl<'a> JobReport<'a> {
    fn cases(&self) -> Vec<Case> {
        cases::of(self)
    }

    /// The first run that the report is about.
    fn first(&self) -> Option<&'a Summary> {
        let compared = || Some(&self.compared?.with.first()?.result.summary);
        let run = self.runs.first().map(|run| &run.summary);
        run.or_else(compared)
    }

    /// Returns the worst grade of the runs, those that are compared included.
    fn grade(&self) -> Grade {
        let compared = self.compared.into_iter().flat_map(ComparedFiles::each);
        let compared = compared.map(|(_, run)| run.result.grade());
        let grades = self.runs.iter().map(RunResult::grade).chain(compared);
        grades.max().unwrap_or_default()
    }

    /// Returns the target.
    fn target(&self) -> String {
        let target = self.first().map(|run| wording::target(&run.plan));
        layout::harmless(&target.unwrap_or_default())
    }

    /// Returns the load.
    fn load(&self) -> String {
        let load = self.first().map(|run| wording::load(&run.plan));
        layout::harmless(&load.unwrap_or_default())
    }

    /// The report for people, without colours.
    fn text(&self) -> String {
        let options = TextOptions {
            extent: Extent::Short,
            ..TextOptions::default()
        };
        match (self.runs, self.compared) {
            ([], Some(compared)) => comparison_of_files(compared, &options),
            ([run], _) => text(run, &options),
            (runs, _) => series_text(runs, &options),
        }
    }
}

/// Returns the worst outcome of all cases.
fn verdict(cases: &[Case]) -> Outcome {
    let outcomes = cases.iter().map(|case| case.outcome);
    outcomes.max().unwrap_or(Outcome::Passed)
}

#[cfg(test)]
mod tests;
