//! `loadline compare`.

use crate::closing::{Grounds, print_reason};
use crate::commands::report::read_all;
use crate::exit::Exit;
use crate::flags::compare::{CompareFlags, FailOn, rules_of, with_those_of};
use crate::flags::run::judgement::Trust;
use crate::output::{Format, Output, Sink};
use crate::publish::{Style, job_report, options, prepare_runner, write_each};
use anyhow::Result;
use loadline_report::{
    ComparedFiles, Extent, FileRun, JobReport, comparison_of_files, comparison_of_files_json,
    tolerance_sentence,
};
use loadline_runner::preflight::refuse_overwriting;
use loadline_verdict::{CheckOutcome, Comparison, RunResult, SavedRun, Standing, ToleranceResult};
use std::path::{Path, PathBuf};

/// Compares saved runs.
pub(crate) fn run(flags: &CompareFlags) -> Result<Exit> {
    let (base, with) = flags.sides();
    refuse_overwriting(
        flags.output.iter().filter_map(Output::file),
        base.iter().chain(with).map(PathBuf::as_path),
    )?;
    prepare_runner(&flags.output)?;
    let (base, with) = (read(base)?, read(with)?);
    let percentiles = with_those_of(&flags.fail_on, &flags.percentiles);
    let rules = rules_of(&flags.fail_on);
    let comparison = Comparison::of_rules(&base, &with, &percentiles, &rules)?;
    let sides = Sides::new(base, with, comparison);
    publish(flags, &sides.compared(&flags.fail_on))?;
    let of_sides = exit(&flags.fail_on, &sides.comparison);
    print_failed_rules(&flags.fail_on, &sides.comparison);
    let results = || sides.base_results.iter().chain(&sides.with_results);
    let of_runs = results().map(|run| exit_of_run(run, flags.trust));
    let named = (sides.base.iter())
        .chain(&sides.with)
        .zip(results())
        .map(|(saved, result)| {
            let number = saved
                .number
                .map_or_else(String::new, |n| format!(", run {n}"));
            let name = format!("{}{number}: ", saved.path.display());
            (name, result)
        });
    let grounds = Grounds {
        runs: named.collect(),
        checks: Vec::new(),
        trust: flags.trust,
    };
    let worst = of_runs.chain([of_sides]).max_by_key(|exit| exit.severity());
    let worst = worst.unwrap_or(of_sides);
    grounds.print_reason(worst);
    Ok(worst)
}

/// Two sides, compared.
pub(crate) struct Sides {
    base: Vec<SavedRun>,
    with: Vec<SavedRun>,
    base_results: Vec<RunResult>,
    with_results: Vec<RunResult>,
    /// Their comparison.
    pub(crate) comparison: Comparison,
}

impl Sides {
    /// These, of which the comparison is made.
    pub(crate) fn new(base: Vec<SavedRun>, with: Vec<SavedRun>, comparison: Comparison) -> Sides {
        Sides {
            base_results: results(&base),
            with_results: results(&with),
            base,
            with,
            comparison,
        }
    }

    /// As reports take them, with what comes of these rules.
    pub(crate) fn compared(&self, rules: &[FailOn]) -> ComparedFiles<'_> {
        ComparedFiles {
            comparison: &self.comparison,
            base: file_runs(&self.base, &self.base_results),
            with: file_runs(&self.with, &self.with_results),
            tolerances: tolerances(rules, &self.comparison),
            slower_fails: rules.contains(&FailOn::Slower),
        }
    }
}

/// The reason why a comparison fails the command by this rule.
const SLOWER: &str = "B is slower, which --fail-on slower does not allow.";

fn results(saved: &[SavedRun]) -> Vec<RunResult> {
    let summaries = saved.iter().map(|saved| saved.run.summary().clone());
    summaries.map(RunResult::new).collect()
}

fn file_runs<'a>(saved: &'a [SavedRun], results: &'a [RunResult]) -> Vec<FileRun<'a>> {
    let file_run = |(saved, result): (&'a SavedRun, &'a RunResult)| FileRun {
        file: &saved.path,
        number: saved.number,
        result,
    };
    saved.iter().zip(results).map(file_run).collect()
}

fn publish(flags: &CompareFlags, compared: &ComparedFiles<'_>) -> Result<()> {
    let style = Style {
        color: flags.color,
        percentiles: Vec::new(),
        extent: Extent::Full,
        saved: None,
    };
    let text = Output {
        format: Format::Text,
        to: Sink::Stdout,
    };
    let outputs = match flags.output.as_slice() {
        [] => std::slice::from_ref(&text),
        outputs => outputs,
    };
    write_each(outputs, |output| match output.format {
        Format::Junit | Format::Markdown | Format::Github => {
            let report = JobReport {
                runs: &[],
                compared: Some(compared),
                thresholds: &[],
                worst_accepted: flags.trust.worst_accepted(),
            };
            job_report(output.format, &report)
        }
        Format::Json => {
            let json = comparison_of_files_json(compared);
            Ok(format!("{json:#}\n").into_bytes())
        }
        Format::Text | Format::Csv | Format::Html | Format::Sqlite => {
            let options = options(&style, &output.to);
            Ok(comparison_of_files(compared, &options).into_bytes())
        }
    })
}

/// Returns the exit of the command by a run that is compared. Its checks applied to another day.
fn exit_of_run(run: &RunResult, trust: Trust) -> Exit {
    if trust.believes(run.grade()) {
        Exit::Good
    } else {
        Exit::Invalid
    }
}

/// Returns the exit of the command by a comparison: an undecided tolerance is not success.
pub(crate) fn exit(rules: &[FailOn], comparison: &Comparison) -> Exit {
    let is_slower = rules.contains(&FailOn::Slower) && comparison.standing() == Standing::Slower;
    let tolerances = tolerances(rules, comparison);
    let any = |outcome| tolerances.iter().any(|result| result.outcome == outcome);
    match () {
        () if is_slower || any(CheckOutcome::Failed) => Exit::CheckFailed,
        () if any(CheckOutcome::Undecided) => Exit::CannotTell,
        () => Exit::Good,
    }
}

/// Prints on stderr, for each rule that is not kept, the reason.
pub(crate) fn print_failed_rules(rules: &[FailOn], comparison: &Comparison) {
    if exit(&[FailOn::Slower], comparison) != Exit::Good && rules.contains(&FailOn::Slower) {
        print_reason(SLOWER);
    }
    let sentences = tolerances(rules, comparison);
    for sentence in sentences.iter().filter_map(tolerance_sentence) {
        print_reason(&sentence);
    }
}

fn tolerances(rules: &[FailOn], comparison: &Comparison) -> Vec<ToleranceResult> {
    let rules = rules_of(rules);
    rules.iter().map(|rule| rule.judge(comparison)).collect()
}

fn read(files: &[PathBuf]) -> Result<Vec<SavedRun>> {
    let runs: Vec<Vec<SavedRun>> = files
        .iter()
        .map(|path| read_one(path))
        .collect::<Result<_>>()?;
    Ok(runs.into_iter().flatten().collect())
}

/// The runs of one file. Of a series those that were cut short are left out, unless all were.
pub(crate) fn read_one(path: &Path) -> Result<Vec<SavedRun>> {
    Ok(SavedRun::all(path, read_all(path)?))
}
