//! `loadline report`.

use crate::commands::run::{exit, judge};
use crate::exit::Exit;
use crate::flags::report::ReportFlags;
use crate::invocation::Output;
use crate::publish::{Style, publish};
use anyhow::Result;
use loadline_record::{Ended, RunFile, Summary};

/// Prints saved runs again.
pub(crate) fn run(flags: &ReportFlags) -> Result<Exit> {
    let summary = read(flags)?;
    let outputs = match flags.style.output.as_slice() {
        [] => &[Output::TEXT][..],
        outputs => outputs,
    };
    let checks = judge(&summary);
    let style = Style {
        color: flags.style.color,
        percentiles: &flags.style.percentiles,
    };
    publish(outputs, &style, &summary, &checks)?;
    Ok(match summary.ended {
        // It was the run that was interrupted, not this report of it.
        Ended::Interrupted => Exit::Good,
        _ => exit(&summary, &checks, flags.trust),
    })
}

fn read(flags: &ReportFlags) -> Result<Summary> {
    let parts = flags.files.iter().map(|path| RunFile::read(path));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    Ok(RunFile::merge(parts)?.into_summary())
}
