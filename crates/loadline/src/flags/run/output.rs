//! What comes out of a run, and where it goes.

use crate::invocation::{Color, Output};
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueHint};
use loadline_plan::parse_percentile;
use std::path::PathBuf;

/// What comes out of a run, and where it goes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputFlags {
    #[command(flatten)]
    pub(crate) report: ReportStyle,

    /// Save the run, to report it again later
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = a_file())]
    pub(crate) save: Option<PathBuf>,

    /// Write one record per request while the run lasts
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = a_file())]
    pub(crate) log: Option<PathBuf>,

    /// Print nothing but errors and what --output asks for
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Show no progress
    #[arg(long)]
    pub(crate) no_progress: bool,
}

/// A path as typed, but for a dash, which elsewhere stands for standard output and would make a file
/// of that name here.
fn a_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.as_os_str() == "-" {
        true => Err("`-` is no file; /dev/stdout is standard output, and ./- a file of that name."),
        false => Ok(path),
    })
}

/// How a result is shown, by a run or by the report of a saved one.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ReportStyle {
    /// Report as text, json, csv or html, on stdout or to a file (repeatable) [default: text]
    #[arg(short, long, value_name = "FORMAT[=FILE]")]
    pub(crate) output: Vec<Output>,

    /// The percentiles of the text report
    #[arg(
        long,
        value_name = "P,…",
        value_delimiter = ',',
        default_value = "50,75,90,95,99,99.9,99.99",
        value_parser = parse_percentile
    )]
    pub(crate) percentiles: Vec<f64>,

    /// A text report of five lines: rate, response time, failures, validity and checks
    #[arg(long)]
    pub(crate) short: bool,

    /// Whether to print in colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}
