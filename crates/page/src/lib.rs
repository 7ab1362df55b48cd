//! The contents of HTML reports as data, and the page that shows them.
//!
//! The front end in `web/` is built once, into a single file without any data. A [`Page`] is the
//! data that it draws: [`RunPage`] for one run, [`SeriesPage`] for several, [`StudyPage`] for a
//! study, [`SearchPage`] for a search, [`LivePage`] for a run that goes on. [`html`] writes the
//! page's data into that file, which is then a report that needs no server and no network. The
//! front end imports the same types from `web/src/generated/page.ts`, which a test writes and
//! compares.
//!
//! A plot is described once, as a [`Chart`]: by `charts/run.rs`, `charts/study.rs` or
//! `charts/search.rs`. The page draws it, and `loadline-plot` draws the charts that [`charts`]
//! returns to files.
//!
//! Times are microseconds, and numbers are rounded to four digits, enough for a screen. The JSON
//! report has all digits. This crate does not depend on the recording of runs.
//!
//! ## To change
//!
//! - the data of a page: `run.rs`, `series.rs`, `study.rs`, `search.rs`; tables of another program
//!   `added.rs`, a baseline `against.rs`; afterwards
//!   `GENERATE=1 cargo test -p loadline-page typescript`
//! - a plot: its description `charts/run.rs`, `charts/study.rs`, `charts/search.rs`,
//!   `charts/names.rs`; its numbers `Measure` in `timeline.rs`
//! - a kind of mark or axis: `chart.rs`, then both renderers: `web/src/charts/` and the crate
//!   `plot`
//! - a heatmap: `heatmap.rs`
//! - how data gets into the page: `template.rs`; the numbers in it `number.rs`
//! - the charts of a page: `charts.rs`; the page of a run that goes on: `live.rs`; the types for
//!   the front end: `typescript.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod added;
mod against;
mod chart;
mod charts;
mod heatmap;
mod live;
mod number;
mod run;
mod search;
mod series;
mod study;
mod template;
mod timeline;
#[cfg(test)]
mod typescript;

pub use added::{AddedColumn, AddedTable, AddedTables, AddedVerdict, NoTables};
pub use against::{Against, AgainstFigure, AgainstRow, Relation};
pub use chart::{Axis, Chart, Mark, ReferenceLine, Scale, Series, SharedX, Unit, XValues};
pub use charts::{FileChart, RunNumbers, RunPlots, ScatterPlots, SearchPlots, StudyPlots, charts};
pub use heatmap::{Heat, HeatCell, HeatColumn, Heatmap};
pub use live::LivePage;
pub use run::{
    CheckRow, ErrorResponseRow, ErrorRow, ExceptionRow, Fact, Headline, MetricRow, NameGroup,
    NameRow, NoteRow, Outcome, PercentileRow, Resource, RunPage, StatusRow, TimeRow, TimedFigure,
    Tone, ValidityText,
};
pub use search::{AnswerKind, LoadLine, SearchAnswer, SearchPage, TrialEnd, TrialRow};
pub use series::{RatioBar, SeriesPage, SeriesRun, SeriesVerdict, Table, TableRow};
pub use study::{Cell, Column, Scatter, StudyPage, StudyRow};
pub use template::{TemplateMissing, html, html_of_data, html_with_nonce, ready};
pub use timeline::{Measure, Spectrum, Timeline, Track};

use serde::Serialize;

/// The data of a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Page {
    /// One run.
    Run(Box<RunPage>),
    /// Several runs.
    Series(Box<SeriesPage>),
    /// A study: a table of runs, and plots of it.
    Study(Box<StudyPage>),
    /// A search for the load line.
    Search(Box<SearchPage>),
    /// A run that goes on, whose data comes from the server of the page.
    Live(LivePage),
}
