//! `loadline compare`.

use crate::closing::{Grounds, tell};
use crate::exit::Exit;
use crate::flags::compare::{CompareFlags, FailOn, with_those_of};
use crate::flags::run::judgement::Trust;
use crate::output::{Format, Output, Sink};
use crate::publish::{Style, options, write_each};
use anyhow::Result;
use loadline_record::RunFile;
use loadline_report::{
    ComparedFiles, Extent, FileRun, comparison_of_files, comparison_of_files_json,
    tolerance_sentence,
};
use loadline_runner::preflight::refuse_overwriting;
use loadline_verdict::{
    CheckOutcome, Comparison, RunResult, SavedRun, Standing, ToleranceResult, is_whole,
};
use std::path::{Path, PathBuf};

/// Compares saved runs.
pub(crate) fn run(flags: &CompareFlags) -> Result<Exit> {
    let (base, with) = flags.sides();
    refuse_overwriting(
        flags.output.iter().filter_map(Output::file),
        base.iter().chain(with).map(PathBuf::as_path),
    )?;
    let (base, with) = (read(base)?, read(with)?);
    let percentiles = with_those_of(&flags.fail_on, &flags.percentiles);
    let comparison = Comparison::of_percentiles(&base, &with, &percentiles)?;
    let (base_results, with_results) = (results(&base), results(&with));
    let compared = ComparedFiles {
        comparison: &comparison,
        base: file_runs(&base, &base_results),
        with: file_runs(&with, &with_results),
        tolerances: tolerances(&flags.fail_on, &comparison),
        slower_fails: flags.fail_on.contains(&FailOn::Slower),
    };
    publish(flags, &compared)?;
    let of_sides = exit(&flags.fail_on, &comparison);
    tell_rules(&flags.fail_on, &comparison);
    let results = || base_results.iter().chain(&with_results);
    let of_runs = results().map(|run| exit_of_run(run, flags.trust));
    let named = base
        .iter()
        .chain(&with)
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
    grounds.tell(worst);
    Ok(worst)
}

/// Why a comparison fails the command by this rule.
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
        Format::Json => {
            let json = comparison_of_files_json(compared);
            Ok(format!("{json:#}\n").into_bytes())
        }
        _ => {
            let options = options(&style, &output.to);
            Ok(comparison_of_files(compared, &options).into_bytes())
        }
    })
}

/// How a run that is compared ends the command. Its checks were those of another day.
fn exit_of_run(run: &RunResult, trust: Trust) -> Exit {
    if trust.believes(run.grade()) {
        Exit::Good
    } else {
        Exit::Invalid
    }
}

/// How a comparison ends the command: what is not known of a tolerance is not good.
pub(crate) fn exit(rules: &[FailOn], comparison: &Comparison) -> Exit {
    let is_slower = rules.contains(&FailOn::Slower) && comparison.standing() == Standing::Slower;
    let tolerances = tolerances(rules, comparison);
    let any = |outcome| tolerances.iter().any(|result| result.outcome == outcome);
    match () {
        () if is_slower || any(CheckOutcome::Failed) => Exit::CheckFailed,
        () if any(CheckOutcome::Undecided) => Exit::NotKnown,
        () => Exit::Good,
    }
}

/// Says on stderr of each rule that is not kept why it is not.
pub(crate) fn tell_rules(rules: &[FailOn], comparison: &Comparison) {
    if exit(&[FailOn::Slower], comparison) != Exit::Good && rules.contains(&FailOn::Slower) {
        tell(SLOWER);
    }
    let sentences = tolerances(rules, comparison);
    for sentence in sentences.iter().filter_map(tolerance_sentence) {
        tell(&sentence);
    }
}

fn tolerances(rules: &[FailOn], comparison: &Comparison) -> Vec<ToleranceResult> {
    let tolerances = rules.iter().filter_map(|rule| match rule {
        FailOn::Slower => None,
        FailOn::Beyond(tolerance) => Some(tolerance),
    });
    tolerances
        .map(|tolerance| tolerance.judge(comparison))
        .collect()
}

fn read(files: &[PathBuf]) -> Result<Vec<SavedRun>> {
    let runs: Vec<Vec<SavedRun>> = files
        .iter()
        .map(|path| read_one(path))
        .collect::<Result<_>>()?;
    Ok(runs.into_iter().flatten().collect())
}

/// The runs of one file. Of a series those that were cut short are left out, unless all were.
fn read_one(path: &Path) -> Result<Vec<SavedRun>> {
    let runs = RunFile::read_all(path)?;
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
    Ok(saved.filter(is_kept).collect())
}
