//! JUnit XML, as Jenkins, GitLab and most others read it.
//!
//! There is no standard. The elements and attributes are those of the schema that Jenkins' xUnit
//! plug-in checks files against: `testsuites`, `testsuite`, `properties`, `testcase` with
//! `failure`,
//! `error` or `skipped`, and `system-out`, in this order.

use super::cases::{Case, Outcome, Suite};
use super::{JobReport, verdict};
use crate::layout;
use humantime::format_rfc3339_seconds;
use std::fmt::Write;

/// The report as JUnit XML: a suite for each kind of case, undecided ones skipped, invalid ones
/// errors; the short report is what the last suite printed.
pub fn junit(report: &JobReport<'_>) -> String {
    let cases = report.cases();
    let counts = Counts::of(cases.iter());
    let time = seconds(report);
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let attributes = counts
        .attributes()
        .replace(&format!(" skipped=\"{}\"", counts.skipped), "");
    let _ = writeln!(
        xml,
        "<testsuites name=\"loadline\" {attributes} time=\"{time}\">"
    );
    let suites = Suite::ALL.map(|suite| {
        let those = cases.iter().filter(|case| case.suite == suite);
        (suite, those.collect::<Vec<_>>())
    });
    let last = suites.iter().rposition(|(_, cases)| !cases.is_empty());
    for (index, (suite, cases)) in suites.iter().enumerate() {
        if !cases.is_empty() {
            suite_of(&mut xml, report, *suite, cases, Some(index) == last);
        }
    }
    xml + "</testsuites>\n"
}

/// The numbers of cases by outcome.
struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl Counts {
    fn of<'a>(cases: impl Iterator<Item = &'a Case> + Clone) -> Counts {
        let count = |outcome| cases.clone().filter(|case| case.outcome == outcome).count();
        Counts {
            tests: cases.clone().count(),
            failures: count(Outcome::Failed),
            errors: count(Outcome::Invalid),
            skipped: count(Outcome::Undecided),
        }
    }

    fn attributes(&self) -> String {
        format!(
            "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
            self.tests, self.failures, self.errors, self.skipped
        )
    }
}

fn seconds(report: &JobReport<'_>) -> String {
    let runs = report.runs.iter().map(|run| run.summary.duration_ns);
    format!("{:.3}", runs.sum::<u64>() as f64 / 1e9)
}

fn suite_of(xml: &mut String, report: &JobReport<'_>, suite: Suite, cases: &[&Case], last: bool) {
    let counts = Counts::of(cases.iter().copied()).attributes();
    let name = suite.name();
    let started = report.first().map(|run| run.started_at);
    let started = started.map_or_else(String::new, |at| {
        let at = format_rfc3339_seconds(at).to_string();
        format!(" timestamp=\"{}\"", at.trim_end_matches('Z'))
    });
    let time = seconds(report);
    let _ = writeln!(
        xml,
        "  <testsuite name=\"{name}\" {counts} time=\"{time}\"{started}>"
    );
    properties(xml, report);
    for case in cases {
        testcase(xml, case);
    }
    if last {
        let _ = writeln!(
            xml,
            "    <system-out>{}</system-out>",
            escaped(&report.text())
        );
    }
    xml.push_str("  </testsuite>\n");
}

fn properties(xml: &mut String, report: &JobReport<'_>) {
    let verdict = verdict(&report.cases()).word().to_owned();
    let version = report.first().map(|run| run.version.clone());
    let properties = [
        ("target", report.target()),
        ("load", report.load()),
        ("loadline", version.unwrap_or_default()),
        ("verdict", verdict),
    ];
    xml.push_str("    <properties>\n");
    for (name, value) in properties {
        let value = escaped(&value);
        let _ = writeln!(xml, "      <property name=\"{name}\" value=\"{value}\"/>");
    }
    xml.push_str("    </properties>\n");
}

fn testcase(xml: &mut String, case: &Case) {
    let class = format!("loadline.{}", case.suite.name().replace(' ', "-"));
    let name = escaped(&case.name);
    let _ = write!(xml, "    <testcase classname=\"{class}\" name=\"{name}\"");
    let element = match case.outcome {
        Outcome::Passed => {
            xml.push_str("/>\n");
            return;
        }
        Outcome::Undecided => "skipped",
        Outcome::Failed => "failure",
        Outcome::Invalid => "error",
    };
    let message = match (case.suite, case.outcome) {
        // As k6's own JUnit has it.
        (Suite::Thresholds, _) => "failed".to_owned(),
        _ => escaped(&case.found),
    };
    let kind = match case.outcome {
        // `skipped` has no type in the schema.
        Outcome::Undecided => String::new(),
        Outcome::Passed | Outcome::Failed | Outcome::Invalid => {
            format!(" type=\"{}\"", case.suite.name().replace(' ', "-"))
        }
    };
    let _ = writeln!(
        xml,
        ">\n      <{element} message=\"{message}\"{kind}>{}</{element}>",
        body(case)
    );
    xml.push_str("    </testcase>\n");
}

/// Returns the condition, the measured value, and the advice.
fn body(case: &Case) -> String {
    let lines = [
        format!("expected: {}", case.name),
        format!("actual: {}", case.measured),
        case.sentence(),
    ];
    let is_filled = |line: &&String| *line != "actual: ";
    let lines: Vec<&str> = lines.iter().filter(is_filled).map(String::as_str).collect();
    escaped(&lines.join("\n"))
}

/// Text in XML 1.0, in an element or an attribute: what XML can't have is spelled out.
fn escaped(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            '\n' => xml.push('\n'),
            '\u{fffe}' | '\u{ffff}' => xml.push('\u{fffd}'),
            other if other.is_control() => xml.push_str(&layout::harmless(&other.to_string())),
            other => xml.push(other),
        }
    }
    xml
}
