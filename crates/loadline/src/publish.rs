//! Reports, each written to its destination.

use crate::github::Runner;
use crate::output::{Color, Format, Output, Sink};
use crate::session::Needs;
use crate::terminal::{draws, speaks_utf8};
use anyhow::{Context, Result};
use loadline_export::sqlite;
use loadline_page::{AddedTables, FileChart, Heat, Page};
use loadline_plot::FileFormat;
use loadline_report::{CapacityReport, ComparedFiles, Extent, JobReport, TextOptions};
use loadline_runner::Prints;
use loadline_runner::preflight::{Reserved, refuse_overwriting, write_whole};
use loadline_verdict::{Grade, RunResult};
use serde_json::Value;
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::slice;

/// The reports of a result.
#[derive(Clone, Debug)]
pub(crate) struct Reports {
    /// The outputs, in the order of the flags; at most one goes to stdout.
    pub(crate) outputs: Vec<Output>,
    /// The style of the outputs in text.
    pub(crate) style: Style,
    /// Tables that are added to the page of a run.
    pub(crate) tables: Option<AddedTables>,
    /// The worst grade of a run that is accepted.
    pub(crate) worst_accepted: Grade,
}

/// The style of text reports.
#[derive(Clone, Debug)]
pub(crate) struct Style {
    /// The colours.
    pub(crate) color: Color,
    /// The percentiles they show: above 0, at most 100.
    pub(crate) percentiles: Vec<f64>,
    /// The extent of printed reports. A first report is for users who wait for it: a file has the
    /// full report.
    pub(crate) extent: Extent,
    /// The file that the run is saved into.
    pub(crate) saved: Option<PathBuf>,
}

impl Reports {
    /// Opens their files, before anything is sent.
    ///
    /// # Errors
    /// If one can't be opened.
    pub(crate) fn prepare(&self) -> Result<()> {
        if self.has_page() {
            loadline_page::ready()?;
        }
        for output in &self.outputs {
            check_replaceable(output)?;
        }
        prepare_runner(&self.outputs)?;
        for path in self.outputs.iter().filter_map(Output::file) {
            // A named pipe must be opened only once: its reader takes our closing it for the end.
            let is_pipe = path.metadata().is_ok_and(|file| file.file_type().is_fifo());
            if !is_pipe {
                drop(Reserved::open(path)?);
            }
        }
        Ok(())
    }

    /// Returns the data that the outputs need from a session. The output of a script stays out of a
    /// report that a program reads from stdout.
    pub(crate) fn needs(&self) -> Needs {
        let for_programs =
            |output: &Output| output.to == Sink::Stdout && output.format != Format::Text;
        Needs {
            prints: match self.outputs.iter().any(for_programs) {
                true => Prints::Stderr,
                false => Prints::Stdout,
            },
            heat_maps: self.has_page(),
        }
    }

    /// True if an output goes to stdout.
    pub(crate) fn uses_stdout(&self) -> bool {
        self.outputs.iter().any(|output| output.to == Sink::Stdout)
    }

    /// True if one of them is a page.
    pub(crate) fn has_page(&self) -> bool {
        let mut formats = self.outputs.iter().map(|output| output.format);
        formats.any(|format| format == Format::Html)
    }

    /// Writes every requested report; `heat` is for those in HTML, and else may be empty. The
    /// comparison with a baseline is in text reports, and in those for jobs. A report that can't be
    /// written does not keep the others from being written.
    pub(crate) fn publish(
        &self,
        run: &RunResult,
        heat: &Heat,
        compared: Option<&ComparedFiles<'_>>,
    ) -> Result<()> {
        let job = self.job(slice::from_ref(run), compared);
        write_each(&self.outputs, |output| {
            let text = match output.format {
                Format::Text => {
                    let options = options(&self.style, &output.to);
                    loadline_report::text(run, &options) + &beside(compared, &options)
                }
                Format::Json => format!("{:#}\n", loadline_report::json(run)),
                Format::Csv => loadline_report::csv(run),
                Format::Html => {
                    let page = loadline_report::run_page(run, heat);
                    let page = page.with_added(self.tables.clone());
                    loadline_page::html(&Page::Run(Box::new(page)))?
                }
                Format::Sqlite => return Ok(sqlite::report(slice::from_ref(run))?),
                format @ (Format::Junit | Format::Markdown | Format::Github) => {
                    return job_report(format, &job);
                }
            };
            Ok(text.into_bytes())
        })
    }

    /// As [`publish`](Self::publish), of all runs of a series, each with its response times over
    /// time.
    pub(crate) fn publish_series(
        &self,
        series: &[RunResult],
        heats: &[Heat],
        compared: Option<&ComparedFiles<'_>>,
    ) -> Result<()> {
        let job = self.job(series, compared);
        write_each(&self.outputs, |output| {
            let text = match output.format {
                Format::Text => {
                    let options = options(&self.style, &output.to);
                    loadline_report::series_text(series, &options) + &beside(compared, &options)
                }
                Format::Json => format!("{:#}\n", loadline_report::series_json(series)),
                Format::Csv => loadline_report::series_csv(series),
                Format::Html => {
                    let page = loadline_report::series_page(series, heats);
                    loadline_page::html(&Page::Series(Box::new(page)))?
                }
                Format::Sqlite => return Ok(sqlite::report(series)?),
                format @ (Format::Junit | Format::Markdown | Format::Github) => {
                    return job_report(format, &job);
                }
            };
            Ok(text.into_bytes())
        })
    }

    fn job<'a>(
        &self,
        runs: &'a [RunResult],
        compared: Option<&'a ComparedFiles<'a>>,
    ) -> JobReport<'a> {
        JobReport {
            runs,
            compared,
            thresholds: &[],
            worst_accepted: self.worst_accepted,
        }
    }

    /// As [`publish`](Self::publish), of a search. It has no rows or tables of its own, and is
    /// refused in these formats before: JSON is what is left of them.
    pub(crate) fn publish_search(&self, report: &CapacityReport<'_>) -> Result<()> {
        write_each(&self.outputs, |output| {
            let text = match output.format {
                Format::Text => {
                    loadline_report::capacity(report, &options(&self.style, &output.to))
                }
                Format::Html => {
                    let page = loadline_report::search_page(report);
                    loadline_page::html(&Page::Search(Box::new(page)))?
                }
                Format::Json
                | Format::Csv
                | Format::Sqlite
                | Format::Junit
                | Format::Markdown
                | Format::Github => {
                    format!("{:#}\n", loadline_report::capacity_json(report))
                }
            };
            Ok(text.into_bytes())
        })
    }
}

/// Returns the comparison of a run with its baseline, as printed below its report.
fn beside(compared: Option<&ComparedFiles<'_>>, options: &TextOptions) -> String {
    compared.map_or_else(String::new, |compared| {
        let text = loadline_report::comparison_of_files(compared, options);
        format!("\nCompared with the baseline (A)\n\n{text}")
    })
}

/// Checks that the files of GitHub Actions' runner can be written, if a report is for them.
///
/// # Errors
/// If there is none, or its files can't be written.
pub(crate) fn prepare_runner(outputs: &[Output]) -> Result<()> {
    match outputs.iter().any(|output| output.to == Sink::Runner) {
        true => Runner::of_this_step()?.prepare(),
        false => Ok(()),
    }
}

/// Returns the report for a job in this format. It is empty if the runner of GitHub Actions
/// receives it directly.
pub(crate) fn job_report(format: Format, report: &JobReport<'_>) -> Result<Vec<u8>> {
    match format {
        Format::Github => Runner::of_this_step()?.publish(report).map(|()| Vec::new()),
        Format::Junit => Ok(loadline_report::junit(report).into_bytes()),
        Format::Markdown
        | Format::Text
        | Format::Json
        | Format::Csv
        | Format::Html
        | Format::Sqlite => Ok(loadline_report::markdown(report).into_bytes()),
    }
}

/// Writes the report that `make` makes for each output.
pub(crate) fn write_each(
    outputs: &[Output],
    make: impl Fn(&Output) -> Result<Vec<u8>>,
) -> Result<()> {
    let write = |output: &Output| write(output, &make(output)?);
    let results: Vec<_> = outputs.iter().map(write).collect();
    results.into_iter().collect()
}

/// Writes the listing of a command that makes no run: as JSON, or as text in every other format.
/// Without an output it is printed as text.
pub(crate) fn write_listing(
    outputs: &[Output],
    json: impl Fn() -> Value,
    text: impl Fn() -> String,
) -> Result<()> {
    let printed = [Output::TEXT];
    let outputs = match outputs {
        [] => &printed[..],
        outputs => outputs,
    };
    write_each(outputs, |output| {
        let listing = match output.format {
            Format::Json => format!("{:#}\n", json()),
            Format::Text
            | Format::Csv
            | Format::Html
            | Format::Sqlite
            | Format::Junit
            | Format::Markdown
            | Format::Github => text(),
        };
        Ok(listing.into_bytes())
    })
}

fn write(output: &Output, report: &[u8]) -> Result<()> {
    check_replaceable(output)?;
    match &output.to {
        Sink::Stdout => print_bytes(report),
        Sink::File(path) => write_file(path, report),
        Sink::Runner => Ok(()),
    }
}

/// Refuses to write a database over a file that is none of ours.
fn check_replaceable(output: &Output) -> Result<()> {
    match (output.format, &output.to) {
        (Format::Sqlite, Sink::File(path)) => Ok(sqlite::check_replaceable(path)?),
        _ => Ok(()),
    }
}

/// Writes a whole file, in place of the one that is there.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    write_whole(path, bytes).with_context(|| format!("{} can't be written", path.display()))
}

/// Writes each plot of a page in each format into a folder, which is made if it is not there.
///
/// # Errors
/// If one of them would be written over a file that was `read`, before any is.
pub(crate) fn write_plots(folder: &Path, page: &Page, read: &[PathBuf]) -> Result<()> {
    let place = |name: &str, format: FileFormat| folder.join(format!("{name}.{}", format.ending()));
    let charts = loadline_page::charts(page);
    let places: Vec<PathBuf> = (charts.iter())
        .flat_map(|chart| {
            FileFormat::ALL
                .iter()
                .map(|&format| place(&chart.name, format))
        })
        .collect();
    refuse_overwriting(
        places.iter().map(PathBuf::as_path),
        read.iter().map(PathBuf::as_path),
    )?;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{} can't be written", folder.display()))?;
    for FileChart {
        name,
        chart,
        shared_x,
    } in charts
    {
        for &format in FileFormat::ALL {
            write_file(&place(&name, format), &format.draw(chart, shared_x))?;
        }
    }
    Ok(())
}

/// Returns the options of text for this destination.
pub(crate) fn options(style: &Style, to: &Sink) -> TextOptions {
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
        percentiles: style.percentiles.clone(),
        width,
        extent: match (style.extent, to) {
            (Extent::First, Sink::File(_)) => Extent::Full,
            (extent, _) => extent,
        },
        terminal: to_terminal,
        saved: (style.saved.as_deref()).map(|path| path.display().to_string()),
    }
}

/// A reader that has gone has seen enough.
pub(crate) fn print(text: &str) -> Result<()> {
    print_bytes(text.as_bytes())
}

fn print_bytes(bytes: &[u8]) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("stdout can't be written")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_stay_out_of_what_programs_read() {
        let prints = |outputs: &[&str]| {
            let outputs = outputs.iter().map(|text| text.parse().expect("an output"));
            let reports = Reports {
                tables: None,
                worst_accepted: Grade::Suspect,
                outputs: outputs.collect(),
                style: Style {
                    color: Color::Never,
                    percentiles: Vec::new(),
                    extent: Extent::First,
                    saved: None,
                },
            };
            reports.needs().prints
        };
        assert_eq!(prints(&["text"]), Prints::Stdout);
        assert_eq!(prints(&["text", "json=file"]), Prints::Stdout);
        assert_eq!(prints(&["json"]), Prints::Stderr);
        assert_eq!(prints(&["csv=-"]), Prints::Stderr);
        assert_eq!(prints(&[]), Prints::Stdout);
    }
}
