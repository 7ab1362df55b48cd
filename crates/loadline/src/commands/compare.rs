//! `loadline compare`.

use crate::exit::Exit;
use crate::flags::compare::{CompareFlags, FailOn};
use crate::invocation::Sink;
use crate::publish::{Style, options, print};
use anyhow::Result;
use loadline_record::RunFile;
use loadline_verdict::{Comparison, SavedRun, Standing};
use std::path::PathBuf;

/// Holds saved runs against each other.
pub(crate) fn run(flags: &CompareFlags) -> Result<Exit> {
    let (base, with) = flags.sides();
    let (base, with) = (read(base)?, read(with)?);
    let comparison = Comparison::of(&base, &with)?;
    let style = Style {
        color: flags.color,
        percentiles: &[],
    };
    let plan = |side: &[SavedRun]| side[0].run.header().plan.clone();
    print(&loadline_report::comparison(
        &comparison,
        &plan(&base),
        &plan(&with),
        &options(&style, &Sink::Stdout),
    ))?;
    Ok(match (flags.fail_on, comparison.standing()) {
        (Some(FailOn::Slower), Standing::Slower) => Exit::CheckFailed,
        _ => Exit::Good,
    })
}

fn read(files: &[PathBuf]) -> Result<Vec<SavedRun>> {
    let read = |path: &PathBuf| -> Result<SavedRun> {
        let run = RunFile::read(path)?;
        let path = path.clone();
        Ok(SavedRun { path, run })
    };
    files.iter().map(read).collect()
}
