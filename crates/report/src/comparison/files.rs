//! Saved runs on both sides of a comparison, and the facts in their files other than the figures.

use loadline_plan::Plan;
use loadline_record::Summary;
use loadline_verdict::{
    Comparison, MachineProperty, Mismatch, RunResult, ToleranceResult, mismatches,
};
use std::path::Path;

/// A run that was read from a file.
#[derive(Clone, Copy, Debug)]
pub struct FileRun<'a> {
    /// The file.
    pub file: &'a Path,
    /// The number of the run in its file, counted from 1, if the file holds several.
    pub number: Option<usize>,
    /// The run.
    pub result: &'a RunResult,
}

/// Saved runs, and how B stands to A. Neither side is empty.
#[derive(Clone, Debug)]
pub struct ComparedFiles<'a> {
    /// Their comparison.
    pub comparison: &'a Comparison,
    /// The runs of A.
    pub base: Vec<FileRun<'a>>,
    /// The runs of B.
    pub with: Vec<FileRun<'a>>,
    /// The results of the tolerances that the user set.
    pub tolerances: Vec<ToleranceResult>,
    /// True if B may not be slower in any figure.
    pub slower_fails: bool,
}

impl ComparedFiles<'_> {
    /// The plans of the first run of A and of B.
    pub(crate) fn plans(&self) -> [&Plan; 2] {
        [
            &self.base[0].result.summary.plan,
            &self.with[0].result.summary.plan,
        ]
    }

    /// Every run with the name of its side.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&'static str, &FileRun<'_>)> {
        let base = self.base.iter().map(|run| ("A", run));
        base.chain(self.with.iter().map(|run| ("B", run)))
    }

    /// Returns the other differences between the runs.
    pub(crate) fn mismatches(&self) -> Vec<Mismatch> {
        let runs: Vec<&Summary> = self.each().map(|(_, run)| &run.result.summary).collect();
        mismatches(&runs)
    }
}

/// Returns the difference, and advice.
pub(crate) fn mismatch_sentence(mismatch: &Mismatch) -> String {
    match mismatch {
        Mismatch::Clock => "Some of these runs time a response by the kernel's timestamp, others \
                          when Loadline read it (--clock user), so part of a difference may come \
                          from the clock: make all of them with the same --clock."
            .to_owned(),
        Mismatch::Counting => "Some of these files are of an earlier version. It left requests \
                             without a response at the end out of percentiles, and requests begun \
                             in the warm-up out of the rate. Compare runs of one version."
            .to_owned(),
        Mismatch::Threads(numbers) => format!(
            "These runs had different numbers of worker threads ({}), so part of a difference may \
             come from Loadline: make all of them with the same --threads.",
            numbers
                .iter()
                .map(u32::to_string)
                .collect::<Vec<_>>()
                .join(" and ")
        ),
        Mismatch::Machine(properties) => format!(
            "These runs were not all made on one machine with one setup ({}), so part of a \
             difference may come from the machine: make all of them on the same machine with the \
             same setup.",
            properties
                .iter()
                .map(differing)
                .collect::<Vec<_>>()
                .join("; ")
        ),
    }
}

fn differing(of_machine: &MachineProperty) -> String {
    format!("{} {}", of_machine.name, of_machine.values.join(" and "))
}
