//! k6's results of a test for Loadline's page: its thresholds, checks and metrics as tables, and a
//! short verdict for the head of the page. The JSON has the form of `loadline report --tables`, in
//! docs/guide/html.md.

use loadline_k6_metrics::summary::{self, Described, Ended};
use loadline_k6_metrics::{Outcome, Sink, Totals, builtin};
use serde_json::{Value, json};

/// Returns the verdicts and the tables of a test that has ended.
pub(super) fn tables(ended: &Ended<'_>, machine: &Described) -> Value {
    let document = summary::machine_readable(ended, true, machine);
    let found = document["results"]["metrics"].as_array();
    let metrics = metrics(found.map_or(&[], Vec::as_slice));
    of(ended.totals, ended.outcomes, Some(metrics))
}

/// Returns the verdicts and tables of a test that goes on: without metrics, which take longer.
pub(super) fn so_far(totals: &Totals, outcomes: &[Outcome]) -> Value {
    of(totals, outcomes, None)
}

fn of(totals: &Totals, outcomes: &[Outcome], metrics: Option<Value>) -> Value {
    let checks = summary::check_results(&totals.tally);
    let verdicts = [
        failed(totals),
        thresholds_in_short(outcomes),
        checks_in_short(&checks),
    ];
    let tables = [
        Some(thresholds(outcomes)),
        Some(checks_table(&checks)),
        metrics,
    ];
    let tables = tables.into_iter().flatten();
    let has_rows = |table: &Value| {
        table["rows"]
            .as_array()
            .is_some_and(|rows| !rows.is_empty())
    };
    json!({
        "title": "k6's results",
        "verdicts": verdicts.into_iter().flatten().collect::<Vec<_>>(),
        "tables": tables.filter(has_rows).collect::<Vec<_>>(),
    })
}

fn verdict(name: &str, figure: &str, note: &str, is_bad: bool) -> Option<Value> {
    Some(json!({ "name": name, "figure": figure, "note": note, "is_bad": is_bad }))
}

/// Returns the share of requests that k6 counts as failed; the page shows it in place of the
/// requests without a response.
fn failed(totals: &Totals) -> Option<Value> {
    let Some(Sink::Rate(rate)) = totals.sink(builtin::HTTP_REQ_FAILED) else {
        return None;
    };
    let share = 100.0 * rate.passes as f64 / rate.total.max(1) as f64;
    let note = format!(
        "{} of {} requests (http_req_failed)",
        rate.passes, rate.total
    );
    verdict("Failed", &format!("{share:.2} %"), &note, rate.passes > 0)
}

fn thresholds_in_short(outcomes: &[Outcome]) -> Option<Value> {
    let crossed: Vec<String> = outcomes
        .iter()
        .filter(|outcome| !outcome.is_ok)
        .map(|outcome| format!("{} {}", outcome.metric, outcome.expression))
        .collect();
    match (outcomes.len(), crossed.len()) {
        (0, _) => None,
        (all, 0) => verdict("Thresholds", &format!("all {all} hold"), "", false),
        (all, count) => {
            let figure = format!("{count} of {all} crossed");
            verdict("Thresholds", &figure, &crossed.join(", "), true)
        }
    }
}

fn checks_in_short(checks: &[Value]) -> Option<Value> {
    let sum = |key: &str| -> u64 { checks.iter().filter_map(|check| check[key].as_u64()).sum() };
    let (passes, fails) = (sum("passes"), sum("fails"));
    let failed = checks.iter().filter(|check| check["fails"] != 0);
    let names: Vec<&str> = failed.filter_map(|check| check["name"].as_str()).collect();
    match (passes + fails, fails) {
        (0, _) => None,
        (all, 0) => verdict("Checks", &format!("all {all} passed"), "", false),
        (all, fails) => {
            let figure = format!("{fails} of {all} failed");
            verdict("Checks", &figure, &names.join(", "), true)
        }
    }
}

/// Creates a table with these columns; the columns after the first `texts` ones are numbers.
fn table(title: &str, columns: &[&str], texts: usize, rows: Vec<Value>) -> Value {
    let columns = columns.iter().enumerate();
    let columns = columns.map(|(at, name)| json!({ "name": name, "is_number": at >= texts }));
    json!({ "title": title, "columns": columns.collect::<Vec<_>>(), "rows": rows })
}

fn thresholds(outcomes: &[Outcome]) -> Value {
    let row = |outcome: &Outcome| {
        let measured = outcome.value.map_or_else(
            || "-".to_owned(),
            |value| format!("{} = {}", outcome.label, rounded(value)),
        );
        let result = if outcome.is_ok { "✓" } else { "✗ crossed" };
        json!([outcome.metric, outcome.expression, result, measured])
    };
    table(
        "Thresholds",
        &["Metric", "Threshold", "Result", "Measured"],
        3,
        outcomes.iter().map(row).collect(),
    )
}

fn checks_table(checks: &[Value]) -> Value {
    let row = |check: &Value| {
        let count = |key: &str| check[key].as_u64().unwrap_or(0).to_string();
        json!([check["name"], count("passes"), count("fails")])
    };
    let rows = checks.iter().map(row).collect();
    table("Checks", &["Check", "Passed", "Failed"], 1, rows)
}

fn metrics(metrics: &[Value]) -> Value {
    let row = |metric: &Value| {
        let unit = match metric["contains"].as_str() {
            Some("time") => " ms",
            Some("data") => " B",
            _ => "",
        };
        let values = metric["values"].as_object().into_iter().flatten();
        let figure = |(name, value): (&String, &Value)| {
            let number = value.as_f64().map(rounded).unwrap_or_default();
            let unit = if name == "rate" { "" } else { unit };
            format!("{name}={number}{unit}")
        };
        let figures: Vec<String> = values.map(figure).collect();
        json!([metric["name"], metric["type"], figures.join(", ")])
    };
    let rows = metrics.iter().map(row).collect();
    table("Metrics", &["Metric", "Kind", "Values"], 3, rows)
}

/// Formats a number with at most two decimals.
fn rounded(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}
