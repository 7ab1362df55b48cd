//! The comparison of a run with a baseline, and the history that keeps it: `--baseline`,
//! `--fail-on`, `--history`, `--keep`.
//!
//! Everything that can be wrong with a baseline or a history is reported before anything is sent.
//! The run is compared from its saved file, which is a temporary one unless `--save` names one, so
//! that it is compared as `loadline compare` would do it.

use crate::closing::print_reason;
use crate::commands::compare::{self, Sides, read_one};
use crate::exit::Exit;
use crate::flags::compare::{FailOn, rules_of, with_those_of};
use crate::flags::run::baseline::BaselineFlags;
use crate::session::Session;
use crate::terminal::print_line;
use anyhow::{Context, Result, bail};
use loadline_export::history::{History, NewRun, check_name};
use loadline_live_page::Baseline;
use loadline_plan::Plan;
use loadline_record::RunFile;
use loadline_report::{test_name, visible_sentence};
use loadline_verdict::{
    Against, COMPARED_PERCENTILES, Comparison, RunResult, SavedRun, check_baseline, is_whole,
    visible_changes,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;

/// The variables in which pipelines name the commit: GitHub's and GitLab's kind.
const COMMITS: [&str; 2] = ["GITHUB_SHA", "CI_COMMIT_SHA"];

/// The comparison that the flags require, prepared before the run.
#[derive(Default)]
pub(crate) struct Prepared {
    base: Vec<SavedRun>,
    rules: Vec<FailOn>,
    history: Option<History>,
    keep: Option<String>,
    test: String,
    commit: Option<String>,
    /// The file of the saved run, if it is compared or kept.
    saved: Option<PathBuf>,
    /// Holds that file where it is a temporary one.
    _folder: Option<TempDir>,
}

impl Prepared {
    /// Reads the baseline, opens the history, and has the session save what is compared or kept.
    ///
    /// # Errors
    /// If the baseline or the history can't be used.
    pub(crate) fn new(
        flags: &BaselineFlags,
        plan: &Plan,
        runs: u32,
        session: &mut Session,
    ) -> Result<Prepared> {
        refuse_contradictions(flags)?;
        let history = flags.history.as_deref().map(opened).transpose()?;
        let base = match &flags.baseline {
            Some(named) => baseline(named, history.as_ref(), flags.keep.as_deref())?,
            None => Vec::new(),
        };
        if !base.is_empty() {
            check_baseline(&base, plan, runs as usize)?;
        }
        if let (Some(history), Some(keep)) = (&history, &flags.keep) {
            refuse_other_load(history, keep, plan)?;
        }
        let mut prepared = Prepared {
            base,
            rules: flags.fail_on.clone(),
            history,
            keep: flags.keep.clone(),
            test: flags.test.clone().unwrap_or_else(|| test_name(plan)),
            commit: flags.commit.clone(),
            ..Prepared::default()
        };
        if !prepared.base.is_empty() || prepared.keep.is_some() {
            prepared.save(session)?;
        }
        if session.web.is_some()
            && let Some(named) = &flags.baseline
        {
            session.baseline = beside(named, &prepared.base);
        }
        Ok(prepared)
    }

    fn save(&mut self, session: &mut Session) -> Result<()> {
        if session.save.is_none() {
            let folder = TempDir::new().context("a temporary folder can't be made")?;
            session.save = Some(folder.path().join("this.run"));
            self._folder = Some(folder);
        }
        self.saved = session.save.clone();
        Ok(())
    }

    /// Prints the changes that these rules can detect, given the baseline's noise, before the run.
    pub(crate) fn print_detectable_changes(&self, plan: &Plan, runs: u32) {
        if self.base.is_empty() {
            return;
        }
        let rules = rules_of(&self.rules);
        let percentiles = with_those_of(&self.rules, &COMPARED_PERCENTILES);
        let against = Against {
            runs: runs as usize,
            length_ns: plan.duration.map(|length| length.as_nanos() as u64),
        };
        for visible in visible_changes(&self.base, &percentiles, &rules, against) {
            print_line(&visible_sentence(&visible, runs));
        }
    }

    /// True if there is a baseline to compare with.
    pub(crate) fn compares(&self) -> bool {
        !self.base.is_empty()
    }

    /// Returns the comparison of the saved run with the baseline; `None` without a baseline, and if
    /// the run did not reach its end.
    ///
    /// # Errors
    /// If it can't be read or compared.
    pub(crate) fn sides(&self) -> Result<Option<Sides>> {
        let Some(saved) = self.saved.as_deref().filter(|_| self.compares()) else {
            return Ok(None);
        };
        let runs = read_one(saved)?;
        if !runs.iter().any(|run| is_whole(run.run.summary())) {
            return Ok(None);
        }
        let rules = rules_of(&self.rules);
        let percentiles = with_those_of(&self.rules, &COMPARED_PERCENTILES);
        let comparison = Comparison::of_rules(&self.base, &runs, &percentiles, &rules)?;
        Ok(Some(Sides::new(self.base.clone(), runs, comparison)))
    }

    /// The rules of `--fail-on`.
    pub(crate) fn rules(&self) -> &[FailOn] {
        &self.rules
    }

    /// Returns the exit of the command by the comparison, and prints the reason. A comparison that
    /// failed counts as undecided.
    pub(crate) fn end(&self, sides: &Result<Option<Sides>>) -> Exit {
        match sides {
            Ok(Some(sides)) => {
                compare::print_failed_rules(&self.rules, &sides.comparison);
                compare::exit(&self.rules, &sides.comparison)
            }
            Ok(None) => Exit::Good,
            Err(error) => {
                print_reason(&format!("not compared with the baseline: {error}"));
                Exit::CannotTell
            }
        }
    }

    /// Adds whole runs to the history, and keeps them as a baseline if all was good.
    ///
    /// # Errors
    /// If the history can't be written.
    pub(crate) fn keep(mut self, results: &[RunResult], exit: Exit) -> Result<()> {
        let Some(history) = &mut self.history else {
            return Ok(());
        };
        let commit = self.commit.take().or_else(commit_of_this_place);
        let whole = results.iter().filter(|result| is_whole(&result.summary));
        let runs: Vec<NewRun<'_>> = whole
            .map(|result| NewRun {
                test: &self.test,
                commit: commit.as_deref(),
                verdict: exit.word(),
                result,
            })
            .collect();
        history.add(&runs)?;
        match (&self.keep, &self.saved) {
            (Some(name), Some(saved)) if exit == Exit::Good && !runs.is_empty() => {
                let bytes = std::fs::read(saved);
                let bytes = bytes.with_context(|| format!("{} can't be read", saved.display()))?;
                Ok(history.keep(name, &bytes)?)
            }
            _ => Ok(()),
        }
    }
}

/// The baseline as the live page shows it; `None` if there is none yet.
fn beside(named: &str, base: &[SavedRun]) -> Option<Arc<Baseline>> {
    if base.is_empty() {
        return None;
    }
    Some(Arc::new(Baseline::new(named, base.to_vec())))
}

fn refuse_contradictions(flags: &BaselineFlags) -> Result<()> {
    if !flags.fail_on.is_empty() && flags.baseline.is_none() {
        bail!("--fail-on compares with a baseline; give --baseline A.run, or leave it out.");
    }
    match &flags.keep {
        Some(name) => Ok(check_name(name)?),
        None => Ok(()),
    }
}

/// A history that can be added to.
fn opened(place: &Path) -> Result<History> {
    let history = History::open(place)?;
    history.check_writable()?;
    Ok(history)
}

/// The runs of this file, or else of the baseline of this name. There may be none yet, if the run
/// is kept by this name.
fn baseline(named: &str, history: Option<&History>, keep: Option<&str>) -> Result<Vec<SavedRun>> {
    let path = Path::new(named);
    if path.exists() {
        return read_one(path);
    }
    let Some(history) = history else {
        bail!(
            "the baseline {named} is no file; give a saved run, or the --history in which it is \
             kept by this name."
        );
    };
    match kept(history, named)? {
        Some(runs) => Ok(runs),
        None if keep == Some(named) => {
            print_line(&format!(
                "There is no baseline {named} yet: nothing is compared, and this run is kept as it."
            ));
            Ok(Vec::new())
        }
        None => {
            bail!("the history has no baseline {named}; keep a run as it first: --keep {named}.")
        }
    }
}

/// The runs of the baseline of this name.
fn kept(history: &History, name: &str) -> Result<Option<Vec<SavedRun>>> {
    let Some(bytes) = history.baseline(name)? else {
        return Ok(None);
    };
    let path = history.place_of(name);
    let runs = RunFile::parse_all(&path, bytes.as_slice())?;
    Ok(Some(SavedRun::all(&path, runs)))
}

/// Refuses to put a run of one load in the place of a baseline of another.
fn refuse_other_load(history: &History, name: &str, plan: &Plan) -> Result<()> {
    let Some(runs) = kept(history, name)? else {
        return Ok(());
    };
    let checked = check_baseline(&runs, plan, runs.len());
    checked.with_context(|| {
        format!("this run is not kept as {name}; give --keep another name, or run its load")
    })
}

/// The commit that the pipeline names, or that of the git repository around this folder.
fn commit_of_this_place() -> Option<String> {
    let named = COMMITS.iter().filter_map(|name| std::env::var(name).ok());
    let mut named = named.filter(|commit| !commit.is_empty());
    named.next().or_else(|| {
        let output = Command::new("git").args(["rev-parse", "HEAD"]).output();
        let output = output.ok().filter(|output| output.status.success())?;
        let commit = String::from_utf8(output.stdout).ok()?;
        Some(commit.trim().to_owned())
    })
}
