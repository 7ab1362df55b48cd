//! The flags of `loadline report`.

use super::run::judgement::Trust;
use super::run::output::ReportStyle;
use clap::{Args, ValueHint};
use loadline_plan::parse_small_count;
use std::path::PathBuf;

/// Which saved runs are printed, and how.
#[derive(Debug, Args)]
pub(crate) struct ReportFlags {
    /// The saved run; several files are merged when they are parts of one run
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Of a file with several runs, report this one alone, counted from 1
    #[arg(long, value_name = "N", value_parser = parse_small_count)]
    pub(crate) run: Option<u32>,

    #[command(flatten)]
    pub(crate) style: ReportStyle,

    #[command(flatten)]
    pub(crate) trust: Trust,
}
