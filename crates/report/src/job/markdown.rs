//! Markdown, for the comment on a pull request: verdict, what to do next, figures, cases, changes
//! against the baseline, names.
//!
//! It is GitHub's dialect, which GitLab and others read as well. Texts from elsewhere (URLs, names,
//! a server's words) are in code spans, or escaped: they must not format the page, mention people
//! or load pictures.

use super::cases::{Case, Outcome, Suite};
use super::{JobReport, verdict};
use crate::comparison::{figure_cells, name_label};
use crate::text::name_cells;
use crate::wording::lost_text;
use crate::{layout, names, percentiles, quantity};
use loadline_record::{Model, Row, Summary};
use loadline_units as units;
use loadline_verdict::{Comparison, Grade, RunResult};

/// The percentiles of a run that are shown, those of which there are enough samples.
const PERCENTILES: [f64; 4] = [50.0, 90.0, 95.0, 99.0];
/// The most names that are listed, and runs.
const MOST: usize = 20;
/// The most columns of a course over time.
const COURSE: usize = 40;
/// The signs of a course, the lowest first.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The report as Markdown, ending in a line feed.
pub fn markdown(report: &JobReport<'_>) -> String {
    let cases = report.cases();
    let mut parts = vec![head(report, &cases)];
    parts.extend(to_do(&cases));
    parts.extend(report.runs.iter().take(MOST).zip(1..).map(|(run, number)| {
        let title = match report.runs {
            [_] => String::new(),
            _ => format!("Run {number}\n\n"),
        };
        title + &figures(run)
    }));
    parts.extend(case_table(&cases));
    parts.extend(report.compared.map(|compared| changes(compared.comparison)));
    if let [run] = report.runs {
        parts.extend(by_name(&run.summary));
    }
    parts.join("\n\n") + "\n"
}

fn head(report: &JobReport<'_>, cases: &[Case]) -> String {
    let verdict = verdict(cases);
    format!(
        "### {} Loadline: {}\n\n{}  \n{}",
        sign_of_all(verdict, report.grade()),
        in_words(verdict, report.grade(), cases),
        code(&report.target()),
        plain(&report.load())
    )
}

fn sign_of_all(verdict: Outcome, grade: Grade) -> &'static str {
    let is_doubtful = verdict == Outcome::Passed && grade != Grade::Valid;
    sign(if is_doubtful {
        Outcome::Invalid
    } else {
        verdict
    })
}

fn sign(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "✅",
        Outcome::Undecided => "❔",
        Outcome::Failed => "❌",
        Outcome::Invalid => "⚠️",
    }
}

/// The verdict in a heading.
pub(super) fn in_words(verdict: Outcome, grade: Grade, cases: &[Case]) -> String {
    let judged = || cases.iter().filter(|case| case.suite != Suite::Validity);
    let all = judged().count();
    let count = judged().filter(|case| case.outcome == verdict).count();
    match verdict {
        Outcome::Passed if all == 0 => {
            format!(
                "a result that is {}, and nothing to judge it by",
                grade.name()
            )
        }
        Outcome::Passed if grade != Grade::Valid => {
            format!(
                "passed ({all} of {all}) on a result that is {}",
                grade.name()
            )
        }
        Outcome::Passed => format!("passed ({all} of {all})"),
        Outcome::Invalid => "the result is invalid".to_owned(),
        Outcome::Undecided | Outcome::Failed => format!("{} ({count} of {all})", verdict.word()),
    }
}

/// Returns the findings that need attention, with advice.
fn to_do(cases: &[Case]) -> Option<String> {
    let open = cases.iter().filter(|case| case.outcome != Outcome::Passed);
    let lines: Vec<String> = open
        .map(|case| format!("- {}: {}", code(&case.name), plain(&case.sentence())))
        .collect();
    (!lines.is_empty()).then(|| format!("**What to do next**\n\n{}", lines.join("\n")))
}

fn figures(run: &RunResult) -> String {
    let summary = &run.summary;
    let counts = &summary.total.counts;
    let rate = match summary.model {
        Model::Closed => units::rate(summary.answers_per_s()),
        Model::Open => format!(
            "{} of {} asked{}",
            units::rate(summary.answers_per_s()),
            units::rate(summary.asked_per_s()),
            lost_text(summary)
        ),
    };
    let mut rows = vec![
        ("rate".to_owned(), rate),
        ("answered".to_owned(), units::count(counts.answered)),
        ("failed".to_owned(), units::count(counts.failed)),
        ("statuses".to_owned(), statuses(summary)),
    ];
    rows.extend(PERCENTILES.iter().filter_map(|p| percentile(run, *p)));
    if !summary.total.times.response.is_empty() {
        let max = summary.response().max_ns().map(|ns| ns as f64);
        rows.push(("max".to_owned(), quantity::bounded_time(max)));
    }
    rows.push(("validity".to_owned(), run.grade().name().to_owned()));
    rows.extend(course(&summary.rows));
    let rows = rows.into_iter().map(|(name, value)| [name, value]);
    table(["", "response time from the intended start"], rows)
}

fn statuses(summary: &Summary) -> String {
    let statuses = summary.total.statuses.iter();
    let each = statuses.map(|(status, count)| format!("{status}: {}", units::count(*count)));
    each.collect::<Vec<_>>().join(", ")
}

/// A percentile with its 95 % interval, where there are enough samples for it.
fn percentile(run: &RunResult, percentile: f64) -> Option<(String, String)> {
    let times = run.summary.response();
    if percentiles::missing(times, percentile) > 0 {
        return None;
    }
    let value = quantity::bounded_time(times.percentile(percentile).map(|ns| ns as f64));
    let interval = run.response_interval(percentile);
    let interval = quantity::interval(interval.lower_ns, interval.upper_ns);
    Some((
        quantity::percentile(percentile),
        format!("{value} ({interval})"),
    ))
}

/// Returns the course of rate and p99, second by second: a page of GitHub shows no picture that is
/// not on the web.
fn course(rows: &[Row]) -> Vec<(String, String)> {
    if rows.len() < 3 {
        return Vec::new();
    }
    let rate = |row: &Row| {
        let length_ns = row.end_ns.saturating_sub(row.start_ns).max(1);
        row.counts.completed as f64 * 1e9 / length_ns as f64
    };
    let p99 = |row: &Row| row.response.p99_ns as f64;
    let drawn = |of: &dyn Fn(&Row) -> f64| sparkline(&rows.iter().map(of).collect::<Vec<_>>());
    vec![
        ("rate over time".to_owned(), drawn(&rate)),
        ("p99 over time".to_owned(), drawn(&p99)),
    ]
}

/// The values as a line of bars from zero, at most [`COURSE`] of them: of neighbours the largest.
pub(super) fn sparkline(values: &[f64]) -> String {
    let each = values.len().div_ceil(COURSE).max(1);
    let largest = |part: &[f64]| part.iter().copied().fold(0.0, f64::max);
    let bars: Vec<f64> = values.chunks(each).map(largest).collect();
    let top = largest(&bars);
    let level = |value: &f64| match top > 0.0 {
        true => LEVELS[((value / top * 7.0).round() as usize).min(7)],
        false => LEVELS[0],
    };
    bars.iter().map(level).collect()
}

fn case_table(cases: &[Case]) -> Option<String> {
    let judged = cases.iter().filter(|case| case.suite != Suite::Validity);
    let rows: Vec<[String; 3]> = judged
        .map(|case| {
            let outcome = format!("{} {}", sign(case.outcome), case.outcome.word());
            [code(&case.name), outcome, plain(&case.measured)]
        })
        .collect();
    (!rows.is_empty()).then(|| table(["judged", "outcome", "measured"], rows))
}

fn changes(comparison: &Comparison) -> String {
    let row = |figure| {
        let [name, base, with, ratio, interval, standing] = figure_cells(figure);
        [name, base, with, ratio, interval, standing].map(|cell| cell.trim().to_owned())
    };
    let head = [
        "",
        "baseline",
        "this run",
        "ratio",
        "95 % interval",
        "it is",
    ];
    let mut parts = vec![table(head, comparison.figures.iter().map(row))];
    let names = &comparison.names.common;
    if !names.is_empty() {
        let rows = names.iter().take(MOST).flat_map(|name| {
            let label = code(&name_label(name));
            name.figures.iter().map(move |figure| {
                let [figure, base, with, ratio, interval, standing] = figure_cells(figure);
                let cells = [figure, base, with, ratio, interval, standing];
                let [figure, base, with, ratio, interval, standing] =
                    cells.map(|cell| cell.trim().to_owned());
                [label.clone(), figure, base, with, ratio, interval, standing]
            })
        });
        let head = [
            "name",
            "",
            "baseline",
            "this run",
            "ratio",
            "95 % interval",
            "it is",
        ];
        parts.push(folded("Against the baseline, by name", &table(head, rows)));
    }
    parts.join("\n\n")
}

fn by_name(summary: &Summary) -> Option<String> {
    let shown = names::with_scenarios(&summary.total.series);
    let all = shown.busiest();
    if all.is_empty() {
        return None;
    }
    let labels = names::labels(&all);
    let rows = all
        .iter()
        .zip(&labels)
        .take(MOST)
        .map(|((_, series), label)| {
            let [ended, failed, rate, p50, p95, p99] = name_cells(series, summary.rated_ns());
            [code(label), ended, failed, rate, p50, p95, p99].map(|cell| cell.trim().to_owned())
        });
    let head = ["name", "ended", "failed", "rate", "p50", "p95", "p99"];
    let mut body = table(head, rows);
    if all.len() > MOST {
        body += &format!(
            "\n\n{} more names.",
            units::count((all.len() - MOST) as u64)
        );
    }
    Some(folded("By name", &body))
}

fn folded(title: &str, body: &str) -> String {
    format!("<details><summary>{title}</summary>\n\n{body}\n\n</details>")
}

fn table<const N: usize>(head: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let head = line(&head.map(str::to_owned));
    let rule = format!("|{}", "---|".repeat(N));
    let rows = rows.into_iter().map(|cells| line(&cells));
    let lines: Vec<String> = [head, rule].into_iter().chain(rows).collect();
    lines.join("\n")
}

/// Text as it stands, whatever is in it, also in a cell of a table.
fn code(text: &str) -> String {
    let text = layout::harmless(text).replace('|', "\\|");
    let longest = text.split(|letter| letter != '`').map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or(0) + 1);
    match text.starts_with('`') || text.ends_with('`') {
        true => format!("{fence} {text} {fence}"),
        false => format!("{fence}{text}{fence}"),
    }
}

/// A sentence of ours, in which there may be words from elsewhere.
fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in layout::harmless(text).chars() {
        match letter {
            '<' => shown.push_str("&lt;"),
            '&' => shown.push_str("&amp;"),
            // Nobody is mentioned.
            '@' => shown.push_str("@<!-- -->"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' => {
                shown.push('\\');
                shown.push(letter);
            }
            other => shown.push(other),
        }
    }
    shown
}
