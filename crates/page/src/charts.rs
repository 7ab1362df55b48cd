//! The charts of each kind of page.

mod names;
mod run;
mod search;
mod study;

pub use run::{RunNumbers, RunPlots};
pub use search::SearchPlots;
pub use study::{ScatterPlots, StudyPlots};

use crate::{Chart, Page, RunPage, SharedX};

/// A chart of a page as its files need it.
#[derive(Clone, Debug, PartialEq)]
pub struct FileChart<'a> {
    /// What its files are called, without an ending.
    pub name: String,
    /// What it shows.
    pub chart: &'a Chart,
    /// Where its series stand.
    pub shared_x: &'a SharedX,
}

/// The charts that a page shows before a reader chooses, in its order. Those of several runs have
/// names that begin with the run's number: `run-2-rate`.
pub fn charts(page: &Page) -> Vec<FileChart<'_>> {
    match page {
        Page::Run(page) => of_run(page, ""),
        Page::Series(page) => {
            let runs = page.runs.iter().enumerate();
            runs.flat_map(|(index, run)| of_run(&run.page, &format!("run-{}-", index + 1)))
                .collect()
        }
        Page::Study(page) => {
            let plots = &page.plots;
            let scatters = plots.scatters.iter().flat_map(|scatter| &scatter.charts);
            named(scatters.chain(&plots.timelines), &plots.shared_x, "")
        }
        Page::Search(page) => named(&page.plots.charts, &page.plots.shared_x, ""),
    }
}

fn of_run<'a>(page: &'a RunPage, prefix: &str) -> Vec<FileChart<'a>> {
    let plots = &page.plots;
    named(
        plots.course.iter().chain(&plots.resources),
        &plots.shared_x,
        prefix,
    )
}

fn named<'a>(
    charts: impl IntoIterator<Item = &'a Chart>,
    shared_x: &'a SharedX,
    prefix: &str,
) -> Vec<FileChart<'a>> {
    let named = |chart: &'a Chart| FileChart {
        name: format!("{prefix}{}", chart.name),
        chart,
        shared_x,
    };
    let charts = charts.into_iter().filter(|chart| chart.is_shown());
    charts.map(named).collect()
}
