//! The flags of `loadline compare`.

use super::run::judgement::Trust;
use crate::output::{Color, Format, Output};
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Which saved runs are compared, and what fails.
#[derive(Debug, Args)]
pub(crate) struct CompareFlags {
    /// Two saved runs or series of --repeat: the baseline A, and B
    #[arg(
        num_args = 2,
        value_names = ["A.run", "B.run"],
        value_hint = ValueHint::FilePath,
        required_unless_present_all = ["base", "with"],
        conflicts_with_all = ["base", "with"]
    )]
    pub(crate) files: Vec<PathBuf>,

    /// The saved runs of A, repeats of one run
    #[arg(long, value_name = "FILE", num_args = 1.., value_hint = ValueHint::FilePath,
        requires = "with")]
    pub(crate) base: Vec<PathBuf>,

    /// The saved runs of B, repeats of one run
    #[arg(long, value_name = "FILE", num_args = 1.., value_hint = ValueHint::FilePath,
        requires = "base")]
    pub(crate) with: Vec<PathBuf>,

    /// Exit with 1 if B is this in any figure
    #[arg(long, value_name = "STANDING")]
    pub(crate) fail_on: Option<FailOn>,

    /// Report as text or json, to stdout or a file (repeatable) [default: text]
    #[arg(short, long, value_name = "FORMAT[=FILE]", value_parser = no_csv)]
    pub(crate) output: Vec<Output>,

    /// When to print in colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,

    #[command(flatten)]
    pub(crate) trust: Trust,
}

/// What makes exit code 1 of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// B is slower.
    Slower,
}

/// A comparison has no rows.
fn no_csv(text: &str) -> Result<Output, String> {
    let output: Output = text.parse().map_err(|error| format!("{error}"))?;
    match output.format {
        Format::Text | Format::Json => Ok(output),
        _ => Err("a comparison is printed as text or json.".to_owned()),
    }
}

impl CompareFlags {
    /// The files of A and of B.
    pub(crate) fn sides(&self) -> (&[PathBuf], &[PathBuf]) {
        match self.files.as_slice() {
            [base, with] => (std::slice::from_ref(base), std::slice::from_ref(with)),
            _ => (&self.base, &self.with),
        }
    }
}
