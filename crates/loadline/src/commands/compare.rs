//! `loadline compare`.

use crate::exit::Exit;
use crate::flags::compare::{CompareFlags, FailOn};
use crate::invocation::{Format, Output, Sink};
use crate::publish::{Style, options, write_each};
use anyhow::Result;
use loadline_plan::Plan;
use loadline_record::RunFile;
use loadline_verdict::{Comparison, SavedRun, Standing, is_whole};
use std::path::{Path, PathBuf};

/// Holds saved runs against each other.
pub(crate) fn run(flags: &CompareFlags) -> Result<Exit> {
    let (base, with) = flags.sides();
    let (base, with) = (read(base)?, read(with)?);
    let comparison = Comparison::of(&base, &with)?;
    let plan = |side: &[SavedRun]| side[0].run.header().plan.clone();
    publish(flags, &comparison, [&plan(&base), &plan(&with)])?;
    Ok(exit(flags.fail_on, comparison.standing()))
}

fn publish(flags: &CompareFlags, comparison: &Comparison, plans: [&Plan; 2]) -> Result<()> {
    let style = Style {
        color: flags.color,
        percentiles: &[],
    };
    let text = Output {
        format: Format::Text,
        to: Sink::Stdout,
    };
    let outputs = match flags.output.as_slice() {
        [] => std::slice::from_ref(&text),
        outputs => outputs,
    };
    let [base, with] = plans;
    write_each(outputs, |output| match output.format {
        Format::Json => {
            let json = loadline_report::comparison_json(comparison, base, with);
            Ok(format!("{json:#}\n"))
        }
        _ => {
            let options = options(&style, &output.to);
            Ok(loadline_report::comparison(
                comparison, base, with, &options,
            ))
        }
    })
}

/// How a comparison ends the command.
pub(crate) fn exit(fail_on: Option<FailOn>, standing: Standing) -> Exit {
    match (fail_on, standing) {
        (Some(FailOn::Slower), Standing::Slower) => Exit::CheckFailed,
        _ => Exit::Good,
    }
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
    let mut runs = RunFile::read_all(path)?;
    if runs.iter().any(|run| is_whole(run.summary())) {
        runs.retain(|run| is_whole(run.summary()) || run.header().role.is_none());
    }
    let saved = |run| SavedRun {
        path: path.to_owned(),
        run,
    };
    Ok(runs.into_iter().map(saved).collect())
}
