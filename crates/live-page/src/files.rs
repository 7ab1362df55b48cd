//! The files of a run that has ended.

use loadline_record::{MOST_RUN_BYTES, run_element_within};
use std::path::Path;

/// The paths of the files.
pub(crate) const REPORT: &str = "/report.html";
pub(crate) const REPORT_JSON: &str = "/report.json";
pub(crate) const REPORT_CSV: &str = "/report.csv";
pub(crate) const SAVED_RUN: &str = "/saved.run";

/// The longest saved run that a report holds: reading it takes seconds.
const LONGEST: u64 = 256 << 20;

/// The files of a run that has ended, but for the saved run.
#[derive(Debug)]
pub struct Finished {
    /// The HTML report, if this program can write one.
    pub html: Option<String>,
    /// The JSON report.
    pub json: String,
    /// The figures of each second, and by name, as CSV; a search has none.
    pub csv: Option<String>,
}

/// Returns the element that holds the saved run in its report; `None` if it can't be read, or is
/// too long for that.
pub(crate) fn within_report(path: &Path) -> Option<String> {
    let about = path.metadata().ok()?;
    if !about.is_file() || about.len() > LONGEST {
        return None;
    }
    run_element_within(path, MOST_RUN_BYTES).ok()?
}

/// The paths of the files of a run.
pub(crate) fn paths(is_saved: bool) -> Vec<&'static str> {
    let report = loadline_page::ready().is_ok().then_some(REPORT);
    let run = is_saved.then_some(SAVED_RUN);
    [report, Some(REPORT_JSON), Some(REPORT_CSV), run]
        .into_iter()
        .flatten()
        .collect()
}
