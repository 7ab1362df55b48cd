//! The reports and files that a run produces.

use crate::output::{Color, GivenOut, Output};
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueHint};
use loadline_exporters::Requested;
use loadline_plan::parse_percentile;
use loadline_report::Extent;
use std::path::PathBuf;

/// The reports and files that a run produces.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputFlags {
    #[command(flatten)]
    pub(crate) report: ReportStyle,

    /// Print the full report of a run: also the histogram, times by name, where time went,
    /// resources, and all warnings
    ///
    /// Without it a run prints what one looks for first, on at most 20 lines. A text report in a
    /// file (-o text=FILE) and `loadline report` are always full. Several runs, searches and
    /// comparisons have one report, which is printed whole.
    #[arg(long)]
    pub(crate) full: bool,

    /// Save the run, for `loadline report` and `loadline compare`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = a_file())]
    pub(crate) save: Option<PathBuf>,

    /// Write one record per request during the run: CSV, or SQLite if FILE ends in .sqlite or .db
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = a_file())]
    pub(crate) log: Option<PathBuf>,

    /// Print only errors and the reports of --output
    ///
    /// A run without a report on stdout of which more than 1 % failed, or had a status other than
    /// 2xx, says so in one line on stderr.
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Do not show progress
    #[arg(long)]
    pub(crate) no_progress: bool,

    /// Show the live view on the terminal, even of a short run
    #[arg(long)]
    pub(crate) live: bool,

    /// Show progress in one line, not as a live view
    #[arg(long)]
    pub(crate) no_live: bool,
}

impl OutputFlags {
    /// Returns the extent of the printed result.
    pub(crate) fn extent(&self) -> Extent {
        match () {
            () if self.report.short => Extent::Short,
            () if self.full => Extent::Full,
            () => Extent::First,
        }
    }
}

/// A path as typed, except `-`: it means stdout elsewhere, and would make a file of that name here.
fn a_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.as_os_str() == "-" {
        true => {
            Err("`-` is not a file; write /dev/stdout for stdout, or ./- for a file of that name.")
        }
        false => Ok(path),
    })
}

/// How a result is shown, by a run or by the report of a saved run.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ReportStyle {
    /// Report as text, json, csv, html, sqlite, junit, markdown or github, to stdout or a file, or
    /// send metrics while a run lasts: prometheus-rw, influxdb, otlp, otlp-grpc, statsd, dogstatsd,
    /// scrape or webhook, and =ADDRESS (repeatable) [default: text]
    ///
    /// junit is JUnit XML of the checks, for a pipeline, and markdown is for the comment on a pull
    /// request. github writes the summary, the annotations and the outputs of a step of GitHub
    /// Actions, where its runner wants them.
    ///
    /// prometheus-rw pushes to a receiver of Prometheus remote write every 5 s, influxdb to
    /// http://HOST:8086/DATABASE or http://HOST:8086/?org=ORG&bucket=BUCKET every second, otlp
    /// to http://HOST:4318 and otlp-grpc to http://HOST:4317 every 5 s, statsd and dogstatsd to
    /// HOST:8125 every second. scrape is an endpoint for Prometheus at HOST:PORT, and webhook posts
    /// the JSON report to a URL at the end. Users, passwords and tokens are read from variables such
    /// as LOADLINE_INFLUXDB_TOKEN.
    #[arg(short, long, value_name = "FORMAT[=FILE]")]
    pub(crate) output: Vec<GivenOut>,

    /// The percentiles in the text report
    #[arg(
        long,
        value_name = "P,…",
        value_delimiter = ',',
        default_value = "50,75,90,95,99,99.9,99.99",
        value_parser = parse_percentile
    )]
    pub(crate) percentiles: Vec<f64>,

    /// Report in five lines: rate, response time, failures, validity and checks
    #[arg(long, conflicts_with = "full")]
    pub(crate) short: bool,

    /// When to print in colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

impl ReportStyle {
    /// Returns the requested reports.
    pub(crate) fn reports(&self) -> Vec<Output> {
        let report = |given: &GivenOut| match given {
            GivenOut::Report(output) => Some(output.clone()),
            GivenOut::Metrics(_) => None,
        };
        self.output.iter().filter_map(report).collect()
    }

    /// Returns the requested exporters.
    pub(crate) fn exporters(&self) -> Vec<Requested> {
        let exporter = |given: &GivenOut| match given {
            GivenOut::Report(_) => None,
            GivenOut::Metrics(requested) => Some(requested.clone()),
        };
        self.output.iter().filter_map(exporter).collect()
    }
}
