//! The saved runs of a folder: a row for each, their reports, comparisons.

use crate::commands::compare::{Sides, read_one};
use crate::commands::report::page_of;
use crate::exit::sentence;
use crate::flags::compare::USUAL_PERCENTILES;
use anyhow::Result;
use loadline_live_page::{Baseline, EarlierRun};
use loadline_page::{Heat, Page};
use loadline_record::RunFile;
use loadline_report::{TextOptions, comparison_of_files, run_page};
use loadline_units::rounding::per_second;
use loadline_verdict::{Cause, CheckOutcome, Comparison, RunResult};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// The most runs that are listed, the latest of all.
const MOST_RUNS: usize = 50;
/// A longer file takes too long to read for a list.
const MOST_BYTES: u64 = 256 << 20;
/// A report from a live page may hold the saved run.
const ENDINGS: [&str; 2] = ["run", "html"];

/// The state of a file when it was read.
type FileState = (PathBuf, SystemTime, u64);

/// The saved runs of the current folder. A file is read again when it has changed.
#[derive(Default)]
pub(super) struct Earlier(Mutex<HashMap<FileState, Option<EarlierRun>>>);

impl Earlier {
    /// Returns a row for each, the latest first.
    pub(super) fn rows(&self) -> Vec<EarlierRun> {
        let mut files: Vec<FileState> = saved_runs();
        files.sort_by_key(|(_, changed, _)| Reverse(*changed));
        files.truncate(MOST_RUNS);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|seen, _| files.contains(seen));
        let rows = files.into_iter().filter_map(|seen| {
            let path = seen.0.clone();
            known.entry(seen).or_insert_with(|| row(&path)).clone()
        });
        rows.collect()
    }
}

/// Returns the report of a saved run.
///
/// # Errors
/// The reason why there is none.
pub(super) fn report(name: &str) -> Result<Page, String> {
    page_of(&known(name)?).map_err(|error| sentence(&error))
}

/// Returns a saved run as a baseline.
///
/// # Errors
/// The reason why it is none.
pub(super) fn baseline(name: &str) -> Result<Baseline, String> {
    let runs = read_one(&known(name)?).map_err(|error| sentence(&error))?;
    Ok(Baseline::new(name, runs))
}

/// Compares two saved runs; returns the report as text.
///
/// # Errors
/// The reason why they can't be compared.
pub(super) fn compare(base: &str, with: &str) -> Result<String, String> {
    let sides = sides(&known(base)?, &known(with)?).map_err(|error| sentence(&error))?;
    Ok(comparison_of_files(
        &sides.compared(&[]),
        &TextOptions::default(),
    ))
}

fn sides(base: &Path, with: &Path) -> Result<Sides> {
    let (base, with) = (read_one(base)?, read_one(with)?);
    let comparison = Comparison::of_rules(&base, &with, &USUAL_PERCENTILES, &[])?;
    Ok(Sides::new(base, with, comparison))
}

/// The file of this name in the current folder; nothing else is read.
fn known(name: &str) -> Result<PathBuf, String> {
    let mut files = saved_runs().into_iter().map(|(path, _, _)| path);
    let found = files.find(|path| path == Path::new(name));
    found.ok_or_else(|| format!("There is no saved run {name} in this folder."))
}

fn saved_runs() -> Vec<FileState> {
    let entries = std::fs::read_dir(".").into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| {
        let path = PathBuf::from(entry.file_name());
        let about = path.metadata().ok()?;
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_saved = ending.is_some_and(|ending| ENDINGS.contains(&ending));
        let is_read = is_saved && about.is_file() && about.len() <= MOST_BYTES;
        is_read.then(|| Some((path, about.modified().ok()?, about.len())))?
    });
    files.collect()
}

/// The row of a file, by its last run; `None` if it can't be read.
fn row(path: &Path) -> Option<EarlierRun> {
    let mut runs = RunFile::read_all(path).ok()?;
    let count = runs.len();
    let result = RunResult::new(runs.pop()?.into_summary());
    let page = run_page(&result, &Heat::default());
    let (counts, times) = (
        &result.summary.total.counts,
        &result.summary.total.times.response,
    );
    let duration_ns = result.summary.duration_ns;
    let load = match count {
        1 => page.load,
        several => format!("{}; the last of {several} runs", page.load),
    };
    Some(EarlierRun {
        name: path.to_str()?.to_owned(),
        started_at: page.started_at,
        title: page.title,
        load,
        duration_s: duration_ns as f64 / 1e9,
        rate_per_s: per_second(counts.completed, duration_ns),
        p99_us: (!times.is_empty()).then(|| times.percentile_ns(99.0) as f64 / 1e3),
        failed_percent: (counts.sent > 0)
            .then(|| 100.0 * counts.failed as f64 / counts.sent as f64),
        unanswered: unanswered(&result).map(str::to_owned),
        validity: result.grade().name().to_owned(),
        checks: checks(&result),
    })
}

/// The warning about a run without any response.
fn unanswered(run: &RunResult) -> Option<&'static str> {
    let mut found = run.findings.list.iter();
    found.find_map(|finding| {
        let Cause::NothingAnswered { sent, .. } = finding.cause else {
            return None;
        };
        Some(match sent {
            0 => "nothing was sent",
            _ => "nothing was answered",
        })
    })
}

/// The outcome of the checks together.
fn checks(run: &RunResult) -> Option<String> {
    let outcomes = || run.checks.iter().map(|check| check.outcome);
    let has = |one| outcomes().any(|outcome| outcome == one);
    let outcome = [
        CheckOutcome::Failed,
        CheckOutcome::Undecided,
        CheckOutcome::Passed,
    ];
    let found = outcome.into_iter().find(|outcome| has(*outcome));
    found.map(|outcome| outcome.word().to_owned())
}
