//! A run that still goes on, as the rows of a screen: the words and figures of the text report,
//! of the latest interval and of the run so far.
//!
//! Rows are plain texts. Which of them a screen has room for, and where they stand, is the
//! business of the one that draws them.

use crate::{layout, names, percentiles, quantity, text, wording};
use loadline_plan::Plan;
use loadline_record::watched::{TreeUsage, rate};
use loadline_record::{ErrorKind, Failures, Model, Snapshot, Summary};
use loadline_units as units;
use loadline_units::rounding::per_second;
use loadline_verdict::{CheckOutcome, CheckResult, Grade, SoFar};
use std::cmp::Reverse;

/// The percentiles of the table, from the median up; the largest is the last row.
const SHOWN: [f64; 6] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9];
/// The most names that are kept: a screen has room for fewer.
const MOST_NAMES: usize = 64;
/// The most lines of the histogram.
const MOST_BINS: usize = 24;

/// The description of a run, in the two lines of the text report's head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveHead {
    /// The requests: `GET http://127.0.0.1:8080/`.
    pub target: String,
    /// The load and its model: `open loop: 2 000/s constant, 50 connections, for 10 s`.
    pub load: String,
}

/// The state of a run, as rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveReport {
    /// The rate of the latest interval: `2 000/s asked, 1 998/s achieved`.
    pub rate: String,
    /// The latest change of the load: `105 % of the plan`.
    pub level: Option<String>,
    /// The percentiles of the response time, and the largest.
    pub percentiles: Vec<PercentileRow>,
    /// The histogram of the response time so far, from the shortest to the longest.
    pub histogram: Vec<HistogramRow>,
    /// The counts so far, each with its name; the most important comes first.
    pub counted: Vec<(&'static str, String)>,
    /// Statuses and errors so far, the most frequent first; errors before statuses.
    pub outcomes: Vec<OutcomeRow>,
    /// The requests by name so far, the busiest first; empty where all have the same.
    pub names: Vec<NameRow>,
    /// The usage of the generator, the target and the host in the latest interval.
    pub used: Vec<UsedRow>,
    /// The checks as they stand.
    pub checks: Vec<CheckRow>,
    /// The grade of the result if the run ended now.
    pub grade: Grade,
    /// The reasons to doubt it, each with advice.
    pub reasons: Vec<String>,
}

/// A percentile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PercentileRow {
    /// `p99`, or `max`.
    pub name: String,
    /// The value in the latest interval; `–` if it has too few samples.
    pub latest: String,
    /// The value in the run so far, likewise.
    pub so_far: String,
}

/// A bin of the histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramRow {
    /// The longest time in it, in nanoseconds.
    pub up_to_ns: u64,
    /// The same as text: `≤ 1.00 ms`.
    pub edge: String,
    /// The number of times in it.
    pub count: u64,
}

/// A status, or a kind of error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeRow {
    /// `200`, or the error's kind.
    pub name: String,
    /// The number of requests with this outcome.
    pub count: String,
    /// As a share of all that ended.
    pub share: String,
    /// True for a status below 400.
    pub is_good: bool,
    /// The text of the first error of this kind; empty for a status.
    pub example: String,
}

/// The requests of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameRow {
    /// The name, without the host that all have.
    pub name: String,
    /// Under [`LiveReport::NAME_COLUMNS`].
    pub cells: [String; 6],
    /// True if some of them failed.
    pub has_failed: bool,
}

/// The usage of a process or the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedRow {
    /// `generator`, the name by which the target was requested, or `host`.
    pub name: String,
    /// CPU, in percent of one core.
    pub cpu: String,
    /// Memory.
    pub memory: String,
    /// Sockets; empty for the host.
    pub sockets: String,
}

/// A check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRow {
    /// Its condition.
    pub text: String,
    /// The outcome so far.
    pub outcome: CheckOutcome,
    /// The measured value.
    pub measured: String,
}

impl LiveHead {
    /// The head of a run of this plan.
    pub fn of(plan: &Plan) -> LiveHead {
        LiveHead {
            target: layout::harmless(&wording::target(plan)),
            load: layout::harmless(&wording::load(plan)),
        }
    }
}

impl LiveReport {
    /// The names of the columns of [`NameRow::cells`].
    pub const NAME_COLUMNS: [&str; 6] = text::NAME_COLUMNS;

    /// Returns the state of a run with this latest interval.
    pub fn of(summary: &Summary, latest: &Snapshot) -> LiveReport {
        let SoFar { checks, findings } = SoFar::of(summary);
        LiveReport {
            rate: rates(summary, latest),
            level: summary
                .changes
                .last()
                .map(|change| wording::change_text(change, &summary.plan)),
            percentiles: percentile_rows(summary, latest),
            histogram: histogram(summary),
            counted: counted(summary, latest),
            outcomes: outcomes(summary),
            names: name_rows(summary),
            used: used(summary),
            checks: checks.iter().map(check).collect(),
            grade: findings.grade(),
            reasons: findings.validity_sentences().collect(),
        }
    }
}

fn rates(summary: &Summary, latest: &Snapshot) -> String {
    let rate = |count| units::rate(per_second(count, latest.length_ns()));
    let achieved = rate(latest.counts.completed);
    match summary.model {
        Model::Open => format!("{} asked, {achieved} achieved", rate(latest.counts.planned)),
        Model::Closed => achieved,
    }
}

fn percentile_rows(summary: &Summary, latest: &Snapshot) -> Vec<PercentileRow> {
    let (now, all) = (&latest.times.response, &summary.total.times.response);
    let each = SHOWN.iter().map(|percentile| {
        let cell = |times| match percentiles::missing(times, *percentile) {
            0 => percentiles::cell(times, *percentile),
            _ => "–".to_owned(),
        };
        PercentileRow {
            name: quantity::percentile(*percentile),
            latest: cell(now),
            so_far: cell(all),
        }
    });
    let max = |times: &loadline_record::Distribution| match times.is_empty() {
        true => "–".to_owned(),
        false => units::time_cell(times.max_ns() as f64),
    };
    let largest = PercentileRow {
        name: "max".to_owned(),
        latest: max(now),
        so_far: max(all),
    };
    each.chain([largest]).collect()
}

fn histogram(summary: &Summary) -> Vec<HistogramRow> {
    let bins = text::bins(&summary.total.times.response, MOST_BINS);
    bins.iter()
        .map(|bin| HistogramRow {
            up_to_ns: bin.up_to_ns,
            edge: format!("≤ {}", units::time_cell(bin.up_to_ns as f64)),
            count: bin.count,
        })
        .collect()
}

/// Returns the requests in flight in the latest second, on average and at most.
fn in_flight(latest: &Snapshot) -> String {
    let counts = &latest.counts;
    let mean = counts.in_flight_mean(latest.length_ns());
    match mean.zip(counts.most_in_flight()) {
        Some((mean, most)) => {
            let mean = units::count(mean.round() as u64);
            format!("{mean}, max {}", units::count(most))
        }
        None => units::count(counts.in_flight),
    }
}

fn counted(summary: &Summary, latest: &Snapshot) -> Vec<(&'static str, String)> {
    let counts = &summary.total.counts;
    let bytes = |n: u64| units::bytes(per_second(n, latest.length_ns())) + "/s";
    let mut rows = vec![
        ("answered", units::count(counts.answered)),
        ("failed", units::count(counts.failed)),
        ("in flight", in_flight(latest)),
    ];
    if summary.model == Model::Open {
        let unsent = counts.planned.saturating_sub(counts.sent);
        rows.push(("unsent", units::count(unsent)));
    }
    rows.extend([
        ("connections", units::count(counts.connections)),
        ("reconnects", units::count(counts.reconnects)),
    ]);
    if counts.resent > 0 {
        rows.push(("sent again", units::count(counts.resent)));
    }
    rows.extend([
        ("received", bytes(latest.counts.bytes_in)),
        ("sent", bytes(latest.counts.bytes_out)),
    ]);
    rows
}

fn outcomes(summary: &Summary) -> Vec<OutcomeRow> {
    let counts = &summary.total.counts;
    let ended = (counts.answered + counts.failed).max(1) as f64;
    let share = |count: u64| units::share(count as f64 / ended);
    let mut errors: Vec<(&ErrorKind, &Failures)> = summary.total.errors.iter().collect();
    errors.sort_by_key(|(_, failures)| Reverse(failures.count));
    let mut statuses: Vec<(&u16, &u64)> = summary.total.statuses.iter().collect();
    statuses.sort_by_key(|(_, count)| Reverse(**count));
    let errors = errors.into_iter().map(|(kind, failures)| OutcomeRow {
        name: kind.name().to_owned(),
        count: units::count(failures.count),
        share: share(failures.count),
        is_good: false,
        example: layout::harmless(&failures.example),
    });
    let statuses = statuses.into_iter().map(|(status, count)| OutcomeRow {
        name: status.to_string(),
        count: units::count(*count),
        share: share(*count),
        is_good: *status < 400,
        example: String::new(),
    });
    errors.chain(statuses).collect()
}

fn name_rows(summary: &Summary) -> Vec<NameRow> {
    let shown = names::with_scenarios(&summary.total.series);
    let mut busiest = shown.busiest();
    busiest.truncate(MOST_NAMES);
    let labels = names::labels(&busiest);
    let rows = busiest.iter().zip(labels);
    rows.map(|((_, series), name)| NameRow {
        name,
        cells: text::name_cells(series, summary.rated_ns()),
        has_failed: series.failed > 0,
    })
    .collect()
}

fn used(summary: &Summary) -> Vec<UsedRow> {
    let watch = &summary.watch;
    let Some(look) = watch.rows.last() else {
        return Vec::new();
    };
    let known = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let cpu = |cpu_ns| known(rate(cpu_ns, look.length_ns).map(units::share));
    let memory = |bytes: Option<u64>| known(bytes.map(|bytes| units::bytes(bytes as f64)));
    let tree = |(usage, name): (&TreeUsage, String)| UsedRow {
        name,
        cpu: cpu(usage.cpu_ns),
        memory: memory(usage.rss_bytes),
        sockets: known(usage.sockets.map(units::count)),
    };
    let names = watch.trees.iter().map(text::tree_title);
    let mut rows: Vec<UsedRow> = look.trees.iter().zip(names).map(tree).collect();
    let cores = watch.host.cores.unwrap_or(1).max(1);
    rows.push(UsedRow {
        name: format!("host, {}", units::counted(cores, "core")),
        cpu: cpu(look.host.cpu_ns),
        memory: memory(look.host.memory_used_bytes),
        sockets: String::new(),
    });
    rows
}

fn check(check: &CheckResult) -> CheckRow {
    CheckRow {
        text: layout::harmless(&check.text),
        outcome: check.outcome,
        measured: quantity::actual(check).unwrap_or_else(|| "no samples".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn of(summary: &Summary) -> LiveReport {
        LiveReport::of(summary, &summary.total)
    }

    #[test]
    fn figures_are_those_of_the_text_report() {
        let summary = samples::watched();
        let live = of(&summary);
        let report = text::text(&samples::result(&summary, Vec::new()), &Default::default());
        for row in live.percentiles.iter().take(5) {
            assert!(report.contains(row.so_far.trim()), "{row:?}\n{report}");
        }
        assert_eq!(live.used.len(), 3, "{:?}", live.used);
        assert_eq!(live.used[0].name, "generator");
    }

    #[test]
    fn nothing_recorded_has_no_figures_and_does_no_harm() {
        let summary = Summary {
            total: Snapshot::empty(0),
            rows: Vec::new(),
            ..samples::steady()
        };
        let live = of(&summary);
        assert!(live.percentiles.iter().all(|row| row.so_far == "–"));
        assert!(live.histogram.is_empty() && live.outcomes.is_empty() && live.names.is_empty());
    }

    #[test]
    fn errors_come_before_statuses_and_have_an_example() {
        let live = of(&samples::failing());
        let is_error: Vec<bool> = live
            .outcomes
            .iter()
            .map(|row| !row.example.is_empty())
            .collect();
        assert!(
            is_error[0] && is_error.is_sorted_by(|a, b| a >= b),
            "{:?}",
            live.outcomes
        );
    }

    #[test]
    fn names_are_the_busiest_first() {
        let names = of(&samples::named()).names;
        assert!(names.len() > 1 && names.iter().all(|row| !row.name.is_empty()));
    }
}
