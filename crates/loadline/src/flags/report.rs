//! The flags of `loadline report`.

use super::run::judgement::Trust;
use super::run::output::ReportStyle;
use clap::{Args, ValueHint};
use loadline_plan::parse_small_count;
use std::path::PathBuf;

/// Which saved runs are printed, and how.
#[derive(Debug, Args)]
pub(crate) struct ReportFlags {
    /// Saved runs; several files are merged into one result
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Report only this run of a file with several, counted from 1
    #[arg(long, value_name = "N", value_parser = parse_small_count)]
    pub(crate) run: Option<u32>,

    /// Write a page with plots, one file that works offline; short for -o html=FILE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,

    /// Add the tables of this JSON file to the page of a run
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tables: Option<PathBuf>,

    /// Write each plot as SVG and PNG into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) plots: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) style: ReportStyle,

    /// What this command prints anyway; the last line of a run's first report names it
    #[arg(long, hide = true)]
    #[allow(dead_code, reason = "it changes nothing")]
    pub(crate) full: bool,

    #[command(flatten)]
    pub(crate) trust: Trust,
}
