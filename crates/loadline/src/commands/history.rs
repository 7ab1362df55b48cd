//! `loadline history`.

use crate::exit::Exit;
use crate::flags::history::HistoryFlags;
use crate::output::Sink;
use crate::publish::{Style, options, print};
use anyhow::{Result, bail};
use loadline_export::history::{History, KeptRun};
use loadline_report::{Extent, HistoryRun, TestHistory, figure_name, history_text};
use loadline_verdict::Grade;

/// Shows how a figure of each test went from run to run, and where it changed.
pub(crate) fn run(flags: &HistoryFlags) -> Result<Exit> {
    let history = History::open_existing(&flags.place)?;
    let all = history.tests()?;
    let is_selected = |test: &&String| {
        let part = flags.test.as_ref();
        part.is_none_or(|part| test.contains(part.as_str()))
    };
    let tests: Vec<&String> = all.iter().filter(is_selected).collect();
    if tests.is_empty() {
        bail!(
            "{} has no runs of such a test; it has {}.",
            flags.place.display(),
            in_words(&all)
        );
    }
    let shown = tests.iter().map(|test| shown(&history, test, flags));
    let shown = shown.collect::<Result<Vec<_>>>()?;
    print(&shown.join("\n"))?;
    Ok(Exit::Good)
}

fn in_words(tests: &[String]) -> String {
    match tests {
        [] => "none at all".to_owned(),
        tests => tests.join("; "),
    }
}

fn shown(history: &History, test: &str, flags: &HistoryFlags) -> Result<String> {
    let figure = figure_name(flags.figure);
    let kept = history.runs(test, &figure, flags.last)?;
    if kept.iter().all(|run| run.value.is_none()) {
        let figures = history.figures(test)?.join(", ");
        bail!("no run of {test} has a {figure}; its figures are {figures}.");
    }
    let style = Style {
        color: flags.color,
        percentiles: Vec::new(),
        extent: Extent::Full,
        saved: None,
    };
    let history = TestHistory {
        test,
        figure: flags.figure,
        runs: kept.iter().map(row_of).collect(),
    };
    Ok(history_text(&history, &options(&style, &Sink::Stdout)))
}

fn row_of(kept: &KeptRun) -> HistoryRun<'_> {
    HistoryRun {
        started_at: &kept.started_at,
        commit: kept.commit.as_deref(),
        machine: &kept.machine,
        verdict: &kept.verdict,
        is_believed: kept.validity != Grade::Invalid.name(),
        value: kept.value,
    }
}
