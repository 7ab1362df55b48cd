//! The data of the HTML report of several runs.

use super::{run_page, tables};
use crate::comparison::{
    MOST_NAMES, compared_metrics, conclusion, figure_cells, known_ends, metrics_notes, name_label,
    names_notes,
};
use crate::series::{checks_of_side, compared};
use crate::text::{label, spread_cells, spread_note, validity_sentences};
use crate::{layout, percentiles, quantity, wording};
use loadline_page::{
    CheckRow, Heat, RatioBar, SeriesPage, SeriesRun, SeriesVerdict, Table, TableRow, Tone,
};
use loadline_record::{RoleKind, Summary};
use loadline_units as units;
use loadline_verdict::{
    ComparedFigure, Comparison, RunResult, Standing, checks_together, spreads, whole_runs,
};

/// The percentiles in the line of a run.
const PERCENTILES: [f64; 2] = [50.0, 99.0];

/// Returns the data of the HTML report of a series; each run has its response times over time.
pub fn series_page(runs: &[RunResult], heats: &[Heat]) -> SeriesPage {
    let Some(first) = runs.first().map(|run| &run.summary) else {
        return SeriesPage::default();
    };
    let found = compared(runs).map(|(found, _)| found);
    SeriesPage {
        version: first.version.clone(),
        started_at: humantime::format_rfc3339_seconds(first.started_at).to_string(),
        title: title(runs),
        load: format!(
            "{}; {}",
            wording::load(&first.plan),
            units::counted(runs.len() as u64, "run")
        ),
        verdict: found.as_ref().map(verdict),
        together: found.as_ref().map(comparison).or_else(|| spread(runs)),
        notes: notes(runs, found.as_ref()),
        checks: checks(runs),
        validity_findings: validity_sentences(runs),
        columns: columns(),
        runs: each(runs, heats),
    }
}

/// Returns the requests; of two sides both.
fn title(runs: &[RunResult]) -> String {
    let named = |name: &str| {
        let side = runs.iter().find(|run| {
            let role = run.summary.role.as_ref();
            role.is_some_and(|role| role.name.as_deref() == Some(name))
        });
        side.map(|run| wording::target(&run.summary.plan))
    };
    layout::harmless(&match (named("A"), named("B")) {
        (Some(a), Some(b)) => format!("A: {a}, B: {b}"),
        _ => wording::target(&runs[0].summary.plan),
    })
}

fn are_repeats(runs: &[RunResult]) -> bool {
    let is = |run: &RunResult| {
        let role = run.summary.role.as_ref();
        role.is_some_and(|role| role.kind == RoleKind::Repeat)
    };
    runs.iter().all(is)
}

/// Returns the differences from run to run.
fn spread(runs: &[RunResult]) -> Option<Table> {
    let summaries: Vec<&Summary> = whole_runs(runs).iter().map(|run| &run.summary).collect();
    are_repeats(runs).then(|| Table {
        caption: "Across the runs".to_owned(),
        columns: ["median", "least", "most", "most/least", "95 % interval"]
            .map(str::to_owned)
            .to_vec(),
        rows: spreads(&summaries)
            .iter()
            .map(|found| row(spread_cells(found)))
            .collect(),
    })
}

fn verdict(found: &Comparison) -> SeriesVerdict {
    SeriesVerdict {
        tone: tone(found.standing()),
        text: conclusion(found).into_iter().next().unwrap_or_default(),
        ratios: found.figures.iter().map(bar).collect(),
    }
}

fn tone(standing: Standing) -> Tone {
    match standing {
        Standing::Faster => Tone::Good,
        Standing::Slower => Tone::Bad,
        Standing::CannotTell => Tone::Plain,
    }
}

fn bar(compared: &ComparedFigure) -> RatioBar {
    let [name, _, _, ratio, interval, _] = figure_cells(compared);
    let (lower, upper) = known_ends(&compared.ratio);
    RatioBar {
        name,
        ratio: compared.ratio.ratio,
        lower,
        upper,
        tone: tone(compared.standing),
        text: format!("{ratio} ({})", interval.trim()),
    }
}

/// Returns the table of a comparison. The most important column comes first, because a narrow
/// screen shows no more.
fn comparison(found: &Comparison) -> Table {
    Table {
        caption: "B compared with A".to_owned(),
        columns: ["B is", "B / A", "95 % interval", "A", "B"]
            .map(str::to_owned)
            .to_vec(),
        rows: found
            .figures
            .iter()
            .map(compared_row)
            .chain(named_rows(found))
            .chain(metric_rows(found))
            .collect(),
    }
}

/// A row for each figure of the names that both sides have.
fn named_rows(found: &Comparison) -> impl Iterator<Item = TableRow> {
    let shown = found.names.common.iter().take(MOST_NAMES);
    shown.flat_map(|name| {
        let label = name_label(name);
        let named = move |mut row: TableRow| {
            row.name = format!("{label}: {}", row.name);
            row
        };
        let rows = name.figures.iter().map(compared_row);
        rows.map(named)
    })
}

/// A row for each figure of the metrics that both sides have.
fn metric_rows(found: &Comparison) -> impl Iterator<Item = TableRow> {
    let metrics = compared_metrics(&found.metrics).into_iter();
    metrics.flat_map(|(label, rows)| {
        let empty = String::new;
        let rows = rows.into_iter();
        rows.map(move |[name, base, with]| {
            let name = format!("{label}: {name}");
            row([name, empty(), empty(), empty(), base, with])
        })
    })
}

/// A figure, in the order of the table's columns.
fn compared_row(figure: &ComparedFigure) -> TableRow {
    let [name, base, with, ratio, interval, standing] = figure_cells(figure);
    row([name, standing, ratio, interval, base, with])
}

/// The first cell is the name.
fn row(cells: [String; 6]) -> TableRow {
    let mut cells = cells.map(|cell| cell.trim().to_owned()).into_iter();
    TableRow {
        name: cells.next().unwrap_or_default(),
        cells: cells.collect(),
    }
}

fn notes(runs: &[RunResult], found: Option<&Comparison>) -> Vec<String> {
    match found {
        Some(found) => {
            let names = names_notes(&found.names, MOST_NAMES);
            let metrics = metrics_notes(&found.metrics);
            // The first is the verdict.
            conclusion(found)
                .into_iter()
                .skip(1)
                .chain(names)
                .chain(metrics)
                .collect()
        }
        None if are_repeats(runs) => vec![spread_note(whole_runs(runs).len())],
        None => Vec::new(),
    }
}

fn checks(runs: &[RunResult]) -> Vec<CheckRow> {
    let of_side = |name: &str| {
        let named = |mut row: CheckRow| {
            row.text = format!("{name}: {}", row.text);
            row
        };
        let checks = checks_of_side(runs, name);
        checks
            .iter()
            .map(tables::check)
            .map(named)
            .collect::<Vec<_>>()
    };
    let sides = [of_side("A"), of_side("B")].concat();
    match sides.is_empty() && are_repeats(runs) {
        true => checks_together(&whole_runs(runs))
            .iter()
            .map(tables::check)
            .collect(),
        false => sides,
    }
}

fn columns() -> Vec<String> {
    let percentiles = PERCENTILES.map(quantity::percentile);
    let all = ["rate".to_owned()].into_iter().chain(percentiles);
    all.chain(["max", "failed", "validity"].map(str::to_owned))
        .collect()
}

fn each(runs: &[RunResult], heats: &[Heat]) -> Vec<SeriesRun> {
    let none = Heat::default();
    let run = |(index, run): (usize, &RunResult)| SeriesRun {
        name: format!("Run {}", label(index, &run.summary)),
        cells: cells(run),
        page: run_page(run, heats.get(index).unwrap_or(&none)),
    };
    runs.iter().enumerate().map(run).collect()
}

fn cells(run: &RunResult) -> Vec<String> {
    let times = run.summary.response();
    let mut cells = vec![units::rate(run.summary.answers_per_s())];
    // Where there are too few samples, the run's own page says how many more it takes.
    cells.extend(PERCENTILES.map(|p| match percentiles::missing(times, p) {
        0 => percentiles::cell(times, p).trim().to_owned(),
        _ => String::new(),
    }));
    cells.push(quantity::bounded_time(times.max_ns().map(|ns| ns as f64)));
    cells.push(units::count(run.summary.total.counts.failures()));
    cells.push(run.grade().name().to_owned());
    cells
}
