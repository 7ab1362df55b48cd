//! The flags of `loadline history`.

use crate::output::Color;
use clap::{Args, ValueHint};
use loadline_plan::parse_small_count;
use loadline_verdict::{Figure, parse_figure};
use std::path::PathBuf;

/// Which history is shown, and what of it.
#[derive(Debug, Args)]
pub(crate) struct HistoryFlags {
    /// The history that runs were added to: a SQLite database, or a folder
    #[arg(value_name = "PLACE", value_hint = ValueHint::AnyPath)]
    pub(crate) place: PathBuf,

    /// The figure that is shown: a percentile, mean or rate
    #[arg(long, value_name = "FIGURE", default_value = "p95", value_parser = figure)]
    pub(crate) figure: Figure,

    /// Show the tests whose names have this in them alone
    #[arg(long, value_name = "TEXT")]
    pub(crate) test: Option<String>,

    /// Show the last runs of a test alone
    #[arg(long, value_name = "N", default_value = "100", value_parser = parse_small_count)]
    pub(crate) last: u32,

    /// When to print in colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

fn figure(text: &str) -> Result<Figure, String> {
    let is_kept = |figure: &Figure| *figure != Figure::Max;
    let found = parse_figure(text).filter(is_kept);
    found.ok_or_else(|| {
        format!(
            "`{text}` is no figure of a history; write p50, p95 or another percentile, mean or \
             rate."
        )
    })
}
