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
    /// Write a page with plots, one file that works offline; the same as -o html=FILE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,

    /// Write each plot as SVG and as PNG into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) plots: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) style: ReportStyle,

    #[command(flatten)]
    pub(crate) trust: Trust,
}
