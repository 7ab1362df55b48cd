//! The files of a run that has ended.

/// The paths of the files.
pub(crate) const REPORT: &str = "/report.html";
pub(crate) const REPORT_JSON: &str = "/report.json";
pub(crate) const SAVED_RUN: &str = "/saved.run";

/// The files of a run that has ended, but for the saved run.
#[derive(Debug)]
pub struct Finished {
    /// The HTML report, if this program can write one.
    pub html: Option<String>,
    /// The JSON report.
    pub json: String,
}

/// The paths of the files of a run.
pub(crate) fn paths(is_saved: bool) -> Vec<&'static str> {
    let report = loadline_page::ready().is_ok().then_some(REPORT);
    let run = is_saved.then_some(SAVED_RUN);
    [report, Some(REPORT_JSON), run]
        .into_iter()
        .flatten()
        .collect()
}
