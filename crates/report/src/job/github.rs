//! The formats of GitHub's runner: annotations as workflow commands, and the outputs of a step. Its
//! step summary is the [Markdown](super::markdown()).
//!
//! Formats: "Workflow commands for GitHub Actions" in GitHub's documentation. Data of a command
//! escapes `%` and line ends, a property also `:` and `,`.

use super::cases::{Case, Outcome, Suite};
use super::markdown::in_words;
use super::{JobReport, markdown, verdict};
use crate::percentiles;
use loadline_record::Summary;
use loadline_units::rounding;
use loadline_verdict::RunResult;

/// The percentiles that are outputs of a step.
const PERCENTILES: [(&str, f64); 4] = [
    ("p50_ms", 50.0),
    ("p90_ms", 90.0),
    ("p95_ms", 95.0),
    ("p99_ms", 99.0),
];
/// GitHub takes at most so many annotations of a kind from a step; what is left out is in the
/// summary.
const MOST_OF_A_KIND: usize = 10;

/// Returns the text that is appended to the step summary.
pub fn step_summary(report: &JobReport<'_>) -> String {
    markdown(report) + "\n"
}

/// An error for each case that failed or is invalid, a warning for each that is undecided; a notice
/// where all is good.
pub fn annotations(report: &JobReport<'_>) -> String {
    let cases = report.cases();
    let is_error = |case: &&Case| case.outcome > Outcome::Undecided;
    let is_warning = |case: &&Case| case.outcome == Outcome::Undecided;
    let annotation =
        |kind: &'static str| move |case: &Case| command(kind, &title(case), &case.sentence());
    let errors = cases.iter().filter(is_error).take(MOST_OF_A_KIND);
    let warnings = cases.iter().filter(is_warning).take(MOST_OF_A_KIND);
    let lines: Vec<String> = errors
        .map(annotation("error"))
        .chain(warnings.map(annotation("warning")))
        .collect();
    match lines.is_empty() {
        true => {
            let verdict = in_words(Outcome::Passed, report.grade(), &cases);
            command("notice", &format!("Loadline: {verdict}"), &in_short(report))
        }
        false => lines.concat(),
    }
}

fn title(case: &Case) -> String {
    match case.suite {
        Suite::Validity => format!("Loadline: {} is {}", case.name, case.outcome.word()),
        Suite::Checks | Suite::Thresholds | Suite::Regressions => {
            format!("Loadline: {} {}", case.name, case.outcome.word())
        }
    }
}

fn in_short(report: &JobReport<'_>) -> String {
    let first = report.text();
    let lines = first.lines().take(2).map(str::trim);
    let lines = lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("; ")
}

fn command(kind: &str, title: &str, message: &str) -> String {
    let message = message.replace('%', "%25").replace('\r', "%0D");
    let message = message.replace('\n', "%0A");
    let title = title.replace('%', "%25").replace(['\r', '\n'], " ");
    let title = title.replace(':', "%3A").replace(',', "%2C");
    format!("::{kind} title={title}::{message}\n")
}

/// The outputs of the step, a line `name=value` each: the verdict and the grade of the run, the
/// names of what failed, and the figures of a single run. What is not known is empty.
pub fn job_outputs(report: &JobReport<'_>) -> String {
    let cases = report.cases();
    let names = |outcome| {
        let those = cases.iter().filter(|case| case.outcome == outcome);
        let names: Vec<&str> = those.map(|case| case.name.as_str()).collect();
        names.join(", ")
    };
    let mut lines = vec![
        ("verdict", verdict(&cases).word().to_owned()),
        ("failed", names(Outcome::Failed)),
        ("undecided", names(Outcome::Undecided)),
    ];
    if let [run] = report.runs {
        lines.extend(figures(run));
    }
    let line = |(name, value): (&str, String)| format!("{name}={value}\n");
    lines.into_iter().map(line).collect()
}

fn figures(run: &RunResult) -> Vec<(&'static str, String)> {
    let summary = &run.summary;
    let counts = &summary.total.counts;
    let ended = (counts.answered + counts.failed).max(1);
    let mut lines = vec![
        ("validity", run.grade().name().to_owned()),
        (
            "rate",
            rounding::per_second(counts.completed, summary.rated_ns()).to_string(),
        ),
        ("errors", (counts.failed as f64 / ended as f64).to_string()),
    ];
    lines.extend(PERCENTILES.map(|(name, percentile)| (name, ms(summary, percentile))));
    lines
}

/// In milliseconds; empty where there are too few samples, or only a lower bound is known.
fn ms(summary: &Summary, percentile: f64) -> String {
    let times = summary.response();
    let found = times.percentile(percentile);
    match percentiles::missing(times, percentile) {
        0 if !found.is_at_least() => (found.value() as f64 / 1e6).to_string(),
        _ => String::new(),
    }
}
