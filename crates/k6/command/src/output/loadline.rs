//! Loadline's own outputs in addition to k6's reports: the saved run, the HTML report, the verdict.
//!
//! They are written after `teardown()`; a page and JUnit XML again with k6's own results, which are
//! known later.

use loadline_page::{AddedTables, Heat, Page, RunPage};
use loadline_report::{JobReport, Threshold, heat_interval, judgement, junit, run_page};
use loadline_runner::preflight::{Reserved, write_whole};
use loadline_runner::{End, Interval, Observed, Observer, SavedRun};
use loadline_verdict::{Grade, RunResult};
use serde_json::Value;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// One of Loadline's own outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoadlineOutput {
    pub(crate) kind: Kind,
    pub(crate) path: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The saved run.
    Saved,
    /// The HTML report.
    Page,
    /// Thresholds and the validity as JUnit XML.
    Junit,
}

impl LoadlineOutput {
    /// Creates the observer that writes the output.
    pub(crate) fn writer(&self) -> Writer {
        let path = self.path.clone();
        match self.kind {
            Kind::Saved => Writer {
                observer: Box::new(SavedRun::new(path, judgement)),
                conclude: None,
            },
            Kind::Page => PageFile::writer(path),
            Kind::Junit => JunitFile::writer(path),
        }
    }
}

/// What writes an output.
pub(crate) struct Writer {
    /// Writes it at the end of the load.
    pub(crate) observer: Box<dyn Observer>,
    /// Writes it again, with k6's own results.
    pub(crate) conclude: Option<Conclude>,
}

/// Adds tables to an output that was written, as JSON in the form of `loadline report --tables`. An
/// error is the reason why it can't.
pub(crate) type Conclude = Box<dyn FnOnce(&Value) -> Result<(), String>>;

/// A sentence of a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sentence {
    /// True if it is a warning.
    pub(crate) is_warning: bool,
    pub(crate) text: String,
}

/// Returns the verdict on the validity of a run: its grade, and the reasons.
fn verdict(end: &End<'_>) -> Vec<Sentence> {
    let findings = &end.result.findings;
    let grade = findings.grade();
    let is_warning = grade != Grade::Valid;
    let sentence = |text| Sentence { is_warning, text };
    let grade = sentence(format!("the result is {}", grade.name()));
    let sentences = findings.validity_sentences().map(sentence);
    std::iter::once(grade).chain(sentences).collect()
}

/// Keeps the verdict on the load.
pub(crate) struct Judged<'a>(pub(crate) &'a mut Vec<Sentence>);

impl Observer for Judged<'_> {
    fn ended(&mut self, end: &End<'_>) -> Observed {
        *self.0 = verdict(end);
        Ok(())
    }
}

/// Writes the HTML report of a run.
struct PageFile {
    path: PathBuf,
    heat: Heat,
    /// The page that was written.
    written: Rc<RefCell<Option<RunPage>>>,
}

impl PageFile {
    fn writer(path: PathBuf) -> Writer {
        let written = Rc::default();
        Writer {
            observer: Box::new(PageFile {
                path: path.clone(),
                heat: Heat::default(),
                written: Rc::clone(&written),
            }),
            conclude: Some(Box::new(move |tables| {
                let Some(page) = written.take() else {
                    return Ok(());
                };
                let tables = AddedTables::parse(tables.to_string().as_bytes());
                let tables = tables.map_err(|error| error.to_string())?;
                write_page(&path, page.with_added(Some(tables))).map(drop)
            })),
        }
    }
}

fn write_page(path: &Path, page: RunPage) -> Result<RunPage, String> {
    let page = Page::Run(Box::new(page));
    let html = loadline_page::html(&page).map_err(|error| error.to_string())?;
    write_whole(path, html.as_bytes()).map_err(|error| error.to_string())?;
    match page {
        Page::Run(page) => Ok(*page),
        Page::Series(_) | Page::Study(_) | Page::Search(_) | Page::Live(_) => {
            unreachable!("it is the page of a run")
        }
    }
}

impl Observer for PageFile {
    fn prepare(&mut self) -> Observed {
        loadline_page::ready().map_err(|error| error.to_string())?;
        drop(Reserved::open(&self.path)?);
        Ok(())
    }

    fn interval(&mut self, interval: &Interval<'_>) -> Observed {
        heat_interval(&mut self.heat, interval.snapshot);
        Ok(())
    }

    fn ended(&mut self, end: &End<'_>) -> Observed {
        let page = write_page(&self.path, run_page(end.result, &self.heat))?;
        self.written.replace(Some(page));
        Ok(())
    }
}

/// Writes k6's thresholds and the validity of a run as JUnit XML.
struct JunitFile {
    path: PathBuf,
    /// The run that has ended.
    ended: Rc<RefCell<Option<RunResult>>>,
}

impl JunitFile {
    fn writer(path: PathBuf) -> Writer {
        let ended: Rc<RefCell<Option<RunResult>>> = Rc::default();
        Writer {
            observer: Box::new(JunitFile {
                path: path.clone(),
                ended: Rc::clone(&ended),
            }),
            conclude: Some(Box::new(move |tables| {
                let Some(run) = ended.take() else {
                    return Ok(());
                };
                let tables = AddedTables::parse(tables.to_string().as_bytes());
                let tables = tables.map_err(|error| error.to_string())?;
                write_junit(&path, run, &thresholds(&tables))
            })),
        }
    }
}

fn write_junit(path: &Path, run: RunResult, thresholds: &[Threshold]) -> Result<(), String> {
    let xml = junit(&JobReport {
        runs: &[run],
        compared: None,
        thresholds,
        worst_accepted: Grade::Suspect,
    });
    write_whole(path, xml.as_bytes()).map_err(|error| error.to_string())
}

/// The rows of k6's thresholds: metric, condition, and a tick where it holds.
fn thresholds(tables: &AddedTables) -> Vec<Threshold> {
    let of_thresholds = tables
        .tables
        .iter()
        .filter(|table| table.title == "Thresholds");
    let rows = of_thresholds.flat_map(|table| &table.rows);
    let threshold = |row: &Vec<String>| match row.as_slice() {
        [metric, expression, result, ..] => Some(Threshold {
            metric: metric.clone(),
            expression: expression.clone(),
            holds: result == "✓",
        }),
        _ => None,
    };
    rows.filter_map(threshold).collect()
}

impl Observer for JunitFile {
    fn prepare(&mut self) -> Observed {
        drop(Reserved::open(&self.path)?);
        Ok(())
    }

    fn ended(&mut self, end: &End<'_>) -> Observed {
        let run = end.result.clone();
        write_junit(&self.path, run.clone(), &[])?;
        self.ended.replace(Some(run));
        Ok(())
    }
}
