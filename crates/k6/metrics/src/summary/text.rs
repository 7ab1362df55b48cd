//! The summary as text, compact or full.

use super::block::{Check, block};
use super::format::{number, share, value};
use super::paint::{Paint, Part};
use super::{Ended, Shown};
use crate::tally::Sinks;
use crate::threshold::Aggregation;
use crate::{CheckCount, Contains, MetricType, Outcome, builtin};
use std::fmt::Write;

/// The prefixes of names that a compact summary omits.
const ONLY_FULL: [&str; 6] = [
    "http_req_blocked",
    "http_req_connecting",
    "http_req_receiving",
    "http_req_sending",
    "http_req_tls_handshaking",
    "http_req_waiting",
];

/// Formats the summary in k6's form. A full one shows all metrics, and blocks of groups and
/// scenarios.
pub fn text(ended: &Ended<'_>, is_full: bool) -> String {
    let shown = ended.shown();
    let mut text = "\n\n".to_owned();
    thresholds(ended, &shown, &mut text);
    let hides_response = !is_full && response_is_duration(ended, &shown);
    let all = shown
        .into_iter()
        .filter(|shown| is_shown(shown, is_full))
        .filter(|shown| !(hides_response && shown.id == builtin::HTTP_REQ_RESPONSE));
    let checks = by_name(ended.totals.tally.checks().iter());
    text.push_str(&title(ended, "  █ ", "TOTAL RESULTS"));
    text.push_str(&block(ended, &checks, &all.collect::<Vec<_>>(), 4));
    text.push_str("\n\n");
    if is_full {
        places(ended, &mut text);
    }
    text + "\n"
}

fn title(ended: &Ended<'_>, before: &str, name: &str) -> String {
    let name = Paint::of(ended, false).text(Part::Title, name);
    format!("{before}{name} \n\n")
}

/// True if the summary shows the metric.
pub(super) fn is_shown(shown: &Shown, is_full: bool) -> bool {
    let is_detail = ONLY_FULL
        .iter()
        .any(|prefix| shown.parent.starts_with(prefix));
    !matches!(shown.parent.as_str(), "checks" | "group_duration") && (is_full || !is_detail)
}

/// True if the response times from intended starts add nothing to the durations: each of their
/// statistics differs by at most a tenth or 50 µs.
fn response_is_duration(ended: &Ended<'_>, shown: &[Shown]) -> bool {
    let whole = |id| {
        let mut all = shown.iter();
        all.find(|one| one.id == id && one.suffix.is_none())
    };
    let both = whole(builtin::HTTP_REQ_RESPONSE).zip(whole(builtin::HTTP_REQ_DURATION));
    let Some((response, duration)) = both else {
        return true;
    };
    let stats = ended.trend_stats.iter();
    let mut stats = stats.filter_map(|name| Aggregation::parse(name));
    stats.all(|stat| {
        let [response, duration] = [response, duration].map(|one| stat.of(&one.sink, 0));
        let difference = (response - duration).abs();
        difference <= 0.05 || difference <= response.max(duration) / 10.0
    })
}

/// Adds up checks of the same name.
pub(super) fn by_name<'a>(counts: impl Iterator<Item = &'a CheckCount>) -> Vec<Check> {
    let mut checks: Vec<Check> = Vec::new();
    let mut index = std::collections::HashMap::new();
    for count in counts {
        let at = *index.entry(count.name.as_str()).or_insert(checks.len());
        if at == checks.len() {
            checks.push((count.name.clone(), 0, 0));
        }
        checks[at].1 += count.passes;
        checks[at].2 += count.fails;
    }
    checks
}

fn thresholds(ended: &Ended<'_>, shown: &[Shown], text: &mut String) {
    if ended.outcomes.is_empty() {
        return;
    }
    let paint = Paint::of(ended, false);
    text.push_str(&title(ended, "  █ ", "THRESHOLDS"));
    for shown in shown
        .iter()
        .filter(|shown| ended.has_thresholds(&shown.name()))
    {
        let name = shown.name();
        let (title, indent) = match &shown.suffix {
            Some(suffix) if ended.has_thresholds(&shown.parent) => (format!("{{{suffix}}}"), 6),
            _ => (name.clone(), 4),
        };
        let _ = writeln!(text, "{:indent$}{title}", "");
        for outcome in ended
            .outcomes
            .iter()
            .filter(|outcome| outcome.metric == name)
        {
            let mark = if outcome.is_ok { "✓" } else { "✗" };
            let mark = paint.text(Part::held(outcome.is_ok), mark);
            let expression = paint.text(Part::Condition, &format!("'{}'", outcome.expression));
            let label = paint.text(Part::Condition, &outcome.label);
            let value = threshold_value(ended, shown, outcome);
            let value = paint.text(Part::Value, &value);
            let _ = writeln!(text, "{:indent$}{mark} {expression} {label}={value}", "");
        }
        text.push('\n');
    }
    text.push('\n');
}

/// Formats the compared value. A statistic of a trend other than a percentile must be in the
/// summary.
fn threshold_value(ended: &Ended<'_>, shown: &Shown, outcome: &Outcome) -> String {
    let aggregation = Aggregation::parse(&outcome.label);
    let (Some(found), Some(aggregation)) = (outcome.value, aggregation) else {
        return String::new();
    };
    let text = |contains: Contains| value(found, contains, ended.time_unit);
    match (shown.sink.kind(), aggregation) {
        (MetricType::Rate, _) => share(found),
        (MetricType::Counter, Aggregation::Rate) => format!("{}/s", text(shown.contains)),
        (MetricType::Trend, Aggregation::Count) => number(found),
        (MetricType::Trend, Aggregation::Percentile(_)) => text(shown.contains),
        (MetricType::Trend, _) if !ended.trend_stats.contains(&outcome.label) => String::new(),
        _ => text(shown.contains),
    }
}

/// Formats the blocks of scenarios if there are named ones, otherwise those of groups.
fn places(ended: &Ended<'_>, text: &mut String) {
    let cells = ended.totals.tally.cells();
    let mut names: Vec<&str> = cells.iter().map(|cell| cell.scenario.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| !name.is_empty());
    if names.is_empty() || names == ["default"] {
        return groups(ended, None, text);
    }
    for name in names {
        let place = SummaryPart {
            scenario: Some(name),
            group: None,
        };
        text.push_str(&title(ended, "  █ ", &format!("SCENARIO: {name}")));
        text.push_str(&place.block(ended, 4));
        let nested = nested(ended, place, "", 4);
        if !nested.is_empty() {
            text.push('\n');
            text.push_str(&nested);
        }
        text.push_str("\n\n");
    }
}

fn groups(ended: &Ended<'_>, scenario: Option<&str>, text: &mut String) {
    for path in children(ended, scenario, "") {
        let place = SummaryPart {
            scenario,
            group: Some(&path),
        };
        let name = format!("GROUP: {}", last_part(&path));
        text.push_str(&title(ended, "  █ ", &name));
        let own = place.block(ended, 4);
        let nested = nested(ended, place, &path, 4);
        let gap = if own.is_empty() || nested.is_empty() {
            ""
        } else {
            "\n"
        };
        let _ = write!(text, "{own}{gap}{nested}\n\n");
    }
}

/// Formats the groups within this one, indented by this number of columns.
fn nested(ended: &Ended<'_>, place: SummaryPart<'_>, path: &str, indent: usize) -> String {
    let each = children(ended, place.scenario, path)
        .into_iter()
        .map(|path| {
            let child = SummaryPart {
                scenario: place.scenario,
                group: Some(&path),
            };
            let name = format!("GROUP: {}", last_part(&path));
            let title = title(ended, &format!("{:indent$}↳ ", ""), &name);
            let own = child.block(ended, indent + 2);
            let within = nested(ended, child, &path, indent + 2);
            let gap = if own.is_empty() || within.is_empty() {
                ""
            } else {
                "\n"
            };
            title + &own + gap + &within
        });
    each.collect::<Vec<_>>().join("\n")
}

fn last_part(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// Returns the paths of the groups directly within this one, in the order of their first values.
fn children(ended: &Ended<'_>, scenario: Option<&str>, path: &str) -> Vec<String> {
    let tally = &ended.totals.tally;
    let is_of = |name: &str| scenario.is_none_or(|own| own == name);
    let of_cells = tally
        .cells()
        .iter()
        .map(|cell| (&cell.scenario, &cell.group));
    let all = of_cells.filter(|(name, _)| is_of(name));
    let mut found: Vec<String> = Vec::new();
    for (_, group) in all {
        let below = group
            .strip_prefix(path)
            .and_then(|rest| rest.strip_prefix("::"));
        let Some(below) = below else { continue };
        let first = below.split("::").next().unwrap_or_default();
        let child = format!("{path}::{first}");
        if !found.contains(&child) {
            found.push(child);
        }
    }
    found
}

/// A part of the measurements.
#[derive(Clone, Copy)]
struct SummaryPart<'a> {
    scenario: Option<&'a str>,
    group: Option<&'a str>,
}

impl SummaryPart<'_> {
    fn has(&self, scenario: &str, group: &str) -> bool {
        self.scenario.is_none_or(|own| own == scenario) && self.group.is_none_or(|own| own == group)
    }

    fn block(&self, ended: &Ended<'_>, indent: usize) -> String {
        let tally = &ended.totals.tally;
        let cells = tally.cells().iter();
        let mut sinks = Sinks::default();
        let own = cells.filter(|cell| self.has(&cell.scenario, &cell.group));
        own.for_each(|cell| sinks.merge(&cell.sinks));
        let checks = tally.checks().iter();
        let checks = by_name(checks.filter(|check| self.has(&check.scenario, &check.group)));
        block(ended, &checks, &shown_of(ended, &sinks), indent)
    }
}

fn shown_of(ended: &Ended<'_>, sinks: &Sinks) -> Vec<Shown> {
    let metrics = ended.totals.setup.registry.all();
    let all = sinks.metrics().filter_map(|(id, sink)| {
        let metric = metrics.get(id.index())?;
        Some(Shown {
            id,
            parent: metric.name.clone(),
            suffix: None,
            contains: metric.contains,
            sink: sink.clone(),
        })
    });
    let mut shown: Vec<Shown> = all.filter(|shown| is_shown(shown, true)).collect();
    shown.sort_by(|a, b| a.parent.cmp(&b.parent));
    shown
}
