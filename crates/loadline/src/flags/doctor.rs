//! The flags of `loadline doctor`.

use crate::output::{Format, Output};
use clap::Args;

/// The exit codes, for the help.
pub(crate) const EXIT_CODES: &str =
    "Exit codes: 0 nothing to change, 1 something to change, 2 usage error.";

/// How the machine is reported.
#[derive(Debug, Args)]
pub(crate) struct DoctorFlags {
    /// Report as text or json, to stdout or a file (repeatable) [default: text]
    #[arg(short, long, value_name = "FORMAT[=FILE]",
        value_parser = |text: &str| text_or_json(text, "a machine is reported"))]
    pub(crate) output: Vec<Output>,
}

/// Parses an output of what is only `done` as text or JSON.
pub(super) fn text_or_json(text: &str, done: &str) -> Result<Output, String> {
    let output: Output = text.parse().map_err(|error| format!("{error}"))?;
    match output.format {
        Format::Text | Format::Json => Ok(output),
        Format::Csv
        | Format::Html
        | Format::Sqlite
        | Format::Junit
        | Format::Markdown
        | Format::Github => Err(format!("{done} as text or json.")),
    }
}
