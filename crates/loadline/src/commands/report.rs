//! `loadline report`.

use crate::commands::run::{exit, exit_of_repeats, judge};
use crate::exit::Exit;
use crate::flags::report::ReportFlags;
use crate::flags::run::judgement::Trust;
use crate::invocation::Output;
use crate::overwriting::refuse_overwriting;
use crate::publish::{Style, publish, publish_series};
use anyhow::{Result, bail};
use loadline_record::{Ended, RoleKind, RunFile, Summary};
use loadline_report::Judged;
use loadline_verdict::is_whole;
use std::path::{Path, PathBuf};

/// Prints saved runs again.
pub(crate) fn run(flags: &ReportFlags) -> Result<Exit> {
    let outputs = match flags.style.output.as_slice() {
        [] => &[Output::TEXT][..],
        outputs => outputs,
    };
    let written = outputs.iter().filter_map(Output::file);
    refuse_overwriting(written, flags.files.iter().map(PathBuf::as_path))?;
    let style = Style {
        color: flags.style.color,
        percentiles: &flags.style.percentiles,
    };
    let judged: Vec<Judged> = read(flags)?.into_iter().map(judged).collect();
    match judged.as_slice() {
        [Judged { summary, checks }] => publish(outputs, &style, summary, checks)?,
        series => publish_series(outputs, &style, series)?,
    }
    Ok(exit_of_all(&judged, flags.trust))
}

fn exit_of_all(runs: &[Judged], trust: Trust) -> Exit {
    let is_repeat = |run: &Judged| {
        let role = run.summary.role.as_ref();
        role.is_some_and(|role| role.kind == RoleKind::Repeat) && is_whole(&run.summary)
    };
    let repeats: Vec<Judged> = runs.iter().filter(|run| is_repeat(run)).cloned().collect();
    match repeats.as_slice() {
        [_, _, ..] => exit_of_repeats(&repeats, trust),
        _ => {
            let exits = runs.iter().map(|run| exit_of(run, trust));
            exits.max_by_key(|exit| exit.code()).unwrap_or(Exit::Good)
        }
    }
}

fn judged(summary: Summary) -> Judged {
    let checks = judge(&summary);
    Judged { summary, checks }
}

fn exit_of(run: &Judged, trust: Trust) -> Exit {
    match run.summary.ended {
        // It was the run that ended so, not this report of it.
        Ended::Interrupted | Ended::Threw(_) => Exit::Good,
        _ => exit(&run.summary, &run.checks, trust),
    }
}

/// All runs of the only file, or the run of which these files are parts.
fn read(flags: &ReportFlags) -> Result<Vec<Summary>> {
    if let [only] = flags.files.as_slice() {
        let runs = picked(RunFile::read_all(only)?, flags.run, only)?;
        if runs.len() > 1 {
            return Ok(runs.into_iter().map(RunFile::into_summary).collect());
        }
        return Ok(vec![RunFile::merge(runs)?.into_summary()]);
    }
    let parts = flags.files.iter().map(|path| RunFile::read(path));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    Ok(vec![RunFile::merge(parts)?.into_summary()])
}

/// The run that was asked for, or all.
fn picked(runs: Vec<RunFile>, number: Option<u32>, path: &Path) -> Result<Vec<RunFile>> {
    let Some(number) = number else {
        return Ok(runs);
    };
    let (path, count) = (path.display(), runs.len());
    let index = (number as usize).checked_sub(1);
    match index.and_then(|index| runs.into_iter().nth(index)) {
        Some(run) => Ok(vec![run]),
        None => bail!("{path} holds {count} runs; give --run a number from 1 to {count}."),
    }
}
