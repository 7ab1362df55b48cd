//! `-o github`: the output for the runner of GitHub Actions, and for the compatible ones (Gitea,
//! Forgejo, act).
//!
//! The runner names two files by variables: Markdown goes to the end of one, outputs of the step to
//! the end of the other. Annotations are lines of a form that it looks for in what is printed. They
//! go to stderr, which it reads as it does stdout, so that a report on stdout stays what it is.

use anyhow::{Context, Result, bail};
use loadline_report::{JobReport, annotations, job_outputs, step_summary};
use loadline_units::visible;
use std::env;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The variables that name the files of the summary and of the outputs.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";
const OUTPUTS: &str = "GITHUB_OUTPUT";

/// The files of the runner.
pub(crate) struct Runner {
    summary: PathBuf,
    outputs: PathBuf,
}

impl Runner {
    /// Returns the runner of this step.
    ///
    /// # Errors
    /// If no runner runs it.
    pub(crate) fn of_this_step() -> Result<Runner> {
        Ok(Runner {
            summary: named_by(SUMMARY)?,
            outputs: named_by(OUTPUTS)?,
        })
    }

    /// Checks that its files can be written, before anything is sent.
    ///
    /// # Errors
    /// If they can't.
    pub(crate) fn prepare(&self) -> Result<()> {
        open(&self.summary).and(open(&self.outputs)).map(drop)
    }

    /// Reports a result to it.
    ///
    /// # Errors
    /// If a file can't be written.
    pub(crate) fn publish(&self, report: &JobReport<'_>) -> Result<()> {
        let lines = annotations(report);
        let lines: Vec<String> = lines.lines().map(|line| visible(line).into()).collect();
        // If stderr is closed, the summary says it all.
        let _ = writeln!(io::stderr(), "{}", lines.join("\n"));
        append(&self.outputs, &job_outputs(report))?;
        append(&self.summary, &step_summary(report))
    }
}

fn named_by(variable: &str) -> Result<PathBuf> {
    match env::var_os(variable) {
        Some(path) if !path.is_empty() => Ok(path.into()),
        _ => bail!(
            "-o github writes to the files that the runner of GitHub Actions names, and \
             {variable} names none here; run it in a step of a workflow, or write -o \
             markdown=FILE."
        ),
    }
}

fn open(path: &Path) -> Result<File> {
    let opened = OpenOptions::new().create(true).append(true).open(path);
    opened.with_context(|| format!("{} can't be written", path.display()))
}

fn append(path: &Path, text: &str) -> Result<()> {
    let written = open(path)?.write_all(text.as_bytes());
    written.with_context(|| format!("{} can't be written to its end", path.display()))
}
