//! The charts of each kind of page.

mod names;
mod run;
mod search;
mod study;

pub use run::{RunNumbers, RunPlots};
pub use search::SearchPlots;
pub use study::{ScatterPlots, StudyPlots};

use crate::{Chart, Page, RunPage, SharedX};

/// A chart of a page, with what is needed to draw it to a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileChart<'a> {
    /// The name of the chart's files, without an ending.
    pub name: String,
    /// The chart.
    pub chart: &'a Chart,
    /// The x values of its series.
    pub shared_x: &'a SharedX,
}

/// Returns the charts that a page shows before a reader selects series, in the page's order. In a
/// series of runs the names begin with the run's number: `run-2-rate`.
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
        // Its data is not part of it.
        Page::Live(_) => Vec::new(),
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
