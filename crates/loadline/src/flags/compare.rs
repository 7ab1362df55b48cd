//! The flags of `loadline compare`.

use super::run::judgement::Trust;
use crate::output::{Color, Format, Output};
use clap::{Args, ValueHint};
use loadline_plan::parse_percentile;
use loadline_verdict::{NoTolerance, Tolerance};
use std::path::PathBuf;
use std::str::FromStr;

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

    /// Exit with 1 if B is slower in any figure (slower), or a figure changed by more for certain
    /// (p95:+10%, rate:-5%, 'p95{name:login}:+10%'); with 4 if that is not known; repeatable
    #[arg(long, value_name = "RULE", allow_hyphen_values = true)]
    pub(crate) fail_on: Vec<FailOn>,

    /// The percentiles that are compared
    #[arg(
        long,
        value_name = "P,…",
        value_delimiter = ',',
        default_value = "50,90,95,99,99.9",
        value_parser = parse_percentile
    )]
    pub(crate) percentiles: Vec<f64>,

    /// Report as text, json, junit, markdown or github, to stdout or a file (repeatable) [default:
    /// text]
    #[arg(short, long, value_name = "FORMAT[=FILE]", value_parser = no_rows)]
    pub(crate) output: Vec<Output>,

    /// When to print in colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,

    #[command(flatten)]
    pub(crate) trust: Trust,
}

/// The percentiles that are compared where none are named.
pub(crate) const USUAL_PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

/// A rule that ends a comparison with exit code 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FailOn {
    /// B is slower in any figure.
    Slower,
    /// A figure differs by more.
    Beyond(Tolerance),
}

impl FromStr for FailOn {
    type Err = NoTolerance;

    fn from_str(text: &str) -> Result<FailOn, NoTolerance> {
        match text {
            "slower" => Ok(FailOn::Slower),
            text => text.parse().map(FailOn::Beyond),
        }
    }
}

/// The tolerances among these rules.
pub(crate) fn rules_of(rules: &[FailOn]) -> Vec<Tolerance> {
    let tolerances = rules.iter().filter_map(|rule| match rule {
        FailOn::Slower => None,
        FailOn::Beyond(tolerance) => Some(tolerance.clone()),
    });
    tolerances.collect()
}

/// These percentiles, with those that a rule is on.
pub(crate) fn with_those_of(rules: &[FailOn], percentiles: &[f64]) -> Vec<f64> {
    let of_rules = rules.iter().filter_map(|rule| match rule {
        FailOn::Slower => None,
        FailOn::Beyond(tolerance) => tolerance.percentile(),
    });
    let mut all: Vec<f64> = percentiles.iter().copied().chain(of_rules).collect();
    all.retain(|percentile| *percentile < 100.0);
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// A comparison has no rows.
fn no_rows(text: &str) -> Result<Output, String> {
    let output: Output = text.parse().map_err(|error| format!("{error}"))?;
    match output.format {
        Format::Csv | Format::Html | Format::Sqlite => {
            Err("a comparison is printed as text, json, junit, markdown or github.".to_owned())
        }
        Format::Text | Format::Json | Format::Junit | Format::Markdown | Format::Github => {
            Ok(output)
        }
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
