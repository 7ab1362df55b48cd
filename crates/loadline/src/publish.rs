//! Reports, each to where it was asked for.

use crate::invocation::{Color, Format, Output, Sink};
use crate::live::{draws, speaks_utf8};
use anyhow::{Context, Result};
use loadline_record::Summary;
use loadline_report::{Judged, TextOptions};
use loadline_verdict::CheckResult;
use std::io::{self, IsTerminal, Write};

/// How text reports look.
#[derive(Clone, Debug)]
pub(crate) struct Style<'a> {
    /// Whether they have colours.
    pub(crate) color: Color,
    /// The percentiles they show.
    pub(crate) percentiles: &'a [f64],
}

/// Writes every report that was asked for. One that can't be written does not keep the others
/// from being.
pub(crate) fn publish(
    outputs: &[Output],
    style: &Style<'_>,
    summary: &Summary,
    checks: &[CheckResult],
) -> Result<()> {
    write_each(outputs, |output| match output.format {
        Format::Text => loadline_report::text(summary, checks, &options(style, &output.to)),
        Format::Json => format!("{:#}\n", loadline_report::json(summary, checks)),
        Format::Csv => loadline_report::csv(summary),
    })
}

/// As [`publish`], of all runs of a series.
pub(crate) fn publish_series(
    outputs: &[Output],
    style: &Style<'_>,
    series: &[Judged],
) -> Result<()> {
    write_each(outputs, |output| match output.format {
        Format::Text => loadline_report::series_text(series, &options(style, &output.to)),
        Format::Json => format!("{:#}\n", loadline_report::series_json(series)),
        Format::Csv => loadline_report::series_csv(series),
    })
}

/// Writes the report that `make` makes for each output.
pub(crate) fn write_each(outputs: &[Output], make: impl Fn(&Output) -> String) -> Result<()> {
    let write = |output: &Output| write(output, &make(output));
    let results: Vec<_> = outputs.iter().map(write).collect();
    results.into_iter().collect()
}

fn write(output: &Output, report: &str) -> Result<()> {
    match &output.to {
        Sink::Stdout => print(report),
        Sink::File(path) => std::fs::write(path, report)
            .with_context(|| format!("{} can't be written", path.display())),
    }
}

/// How text looks there.
pub(crate) fn options(style: &Style<'_>, to: &Sink) -> TextOptions {
    let to_terminal = *to == Sink::Stdout && io::stdout().is_terminal();
    let usual = TextOptions::default();
    let width = terminal_size::terminal_size_of(io::stdout())
        .filter(|_| to_terminal)
        .map_or(usual.width, |(width, _)| usize::from(width.0));
    TextOptions {
        color: match style.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                to_terminal && draws(&io::stdout()) && std::env::var_os("NO_COLOR").is_none()
            }
        },
        ascii: !speaks_utf8(),
        percentiles: style.percentiles.to_vec(),
        width,
    }
}

/// A reader that has gone has seen enough.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("stdout can't be written")
        }
        _ => Ok(()),
    }
}
