//! The short report: five lines for the log of a job. None of them is cut: a job shows its reader
//! no other reason why a result is doubtful.

use super::Canvas;
use super::head::MISSING;
use crate::closing::{checks_that_are, grade_and_reason};
use crate::wording::lost_text;
use crate::{layout, percentiles, quantity};
use loadline_record::{Model, Summary};
use loadline_units as units;
use loadline_verdict::{CheckOutcome, CheckResult, Grade, RunResult};
use std::time::Duration;

/// Columns of the lines' names.
const NAMES: usize = 11;
/// The percentiles that are shown.
const PERCENTILES: [f64; 2] = [50.0, 99.0];

/// Rate, response time, failures and statuses, validity, checks: one line each.
pub(super) fn lines(run: &RunResult, canvas: Canvas) -> Vec<String> {
    let (summary, checks) = (&run.summary, &run.checks);
    let line = |name: &str, text: String| layout::left(name, NAMES) + &layout::harmless(&text);
    if summary.lacks_figures() {
        return vec![line("figures", MISSING.to_owned())];
    }
    let mut lines = vec![
        line("rate", rate(summary, &length(summary))),
        line("response", response(summary)),
        line("failures", failures(summary)),
        line("validity", grade_and_reason(run)),
        line("checks", outcomes_text(checks)),
    ];
    if run.grade() > Grade::Valid {
        lines[3] = canvas.style.doubtful(&lines[3]);
    }
    if checks.iter().any(|check| !check.passed()) {
        lines[4] = canvas.style.bad(&lines[4]);
    }
    lines
}

fn length(summary: &Summary) -> String {
    units::elapsed(Duration::from_nanos(summary.duration_ns))
}

/// The rate that was achieved, and how many responses there were in a time of this length.
pub(super) fn rate(summary: &Summary, length: &str) -> String {
    let achieved = units::rate(summary.answers_per_s());
    let answered = units::count(summary.total.counts.answered);
    match summary.model {
        Model::Closed => format!("{achieved}, {answered} answered in {length}"),
        Model::Open => {
            let asked = units::rate(summary.asked_per_s());
            let lost = lost_text(summary);
            format!("{achieved} of {asked} asked, {answered} answered in {length}{lost}")
        }
    }
}

fn response(summary: &Summary) -> String {
    let times = summary.response();
    if summary.total.times.response.is_empty() {
        return "no response".to_owned();
    }
    let percentile = |p: f64| {
        let cell = percentiles::cell(times, p);
        let needs = if percentiles::missing(times, p) > 0 {
            "needs "
        } else {
            ""
        };
        format!("{} {needs}{}", quantity::percentile(p), cell.trim())
    };
    let [p50, p99] = PERCENTILES.map(percentile);
    let max = times.max_ns().map(|ns| ns as f64);
    format!("{p50}, {p99}, max {}", quantity::bounded_time(max))
}

fn failures(summary: &Summary) -> String {
    let counts = &summary.total.counts;
    let mut text = format!("{} failed", units::count(counts.failures()));
    if counts.in_flight > 0 {
        text += &format!(", {} in flight at the end", units::count(counts.in_flight));
    }
    let statuses = summary.total.statuses.iter();
    let statuses: Vec<String> = statuses
        .map(|(status, count)| format!("{status}: {}", units::count(*count)))
        .collect();
    if statuses.is_empty() {
        return text;
    }
    format!("{text}; statuses {}", statuses.join(", "))
}

fn outcomes_text(checks: &[CheckResult]) -> String {
    let texts = [CheckOutcome::Failed, CheckOutcome::Undecided].map(|outcome| {
        let those = checks_that_are(outcome, checks)?;
        Some(format!("{}: {those}", outcome.word()))
    });
    let texts: Vec<String> = texts.into_iter().flatten().collect();
    match (checks.len(), texts.is_empty()) {
        (0, _) => "none given".to_owned(),
        (1, true) => "passed".to_owned(),
        (count, true) => format!("all {count} passed"),
        (_, false) => texts.join("; "),
    }
}
