//! The phrases for the reason why a command ends with an exit code other than 0.

use crate::{layout, quantity};
use loadline_verdict::{CheckOutcome, CheckResult, RunResult, Section};

/// The checks that came out so, each with what was measured: `p99<50ms (61.2 ms)`; `None` where
/// there is none.
pub fn checks_that_are(outcome: CheckOutcome, checks: &[CheckResult]) -> Option<String> {
    let those = checks.iter().filter(|check| check.outcome == outcome);
    let texts: Vec<String> = those.map(measured).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

fn measured(check: &CheckResult) -> String {
    let actual = quantity::actual(check).unwrap_or_else(|| "no samples".to_owned());
    format!("{} ({actual})", layout::harmless(&check.text))
}

/// The grade of a result and the gravest reason for it: `invalid: The generator was …`.
pub fn grade_and_reason(run: &RunResult) -> String {
    let grade = run.grade().name();
    match run.findings.of(Section::Validity).next() {
        Some(finding) => format!("{grade}: {}", finding.cause.sentence()),
        None => grade.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use loadline_verdict::Quantity;

    #[test]
    fn checks_are_named_with_what_was_measured() {
        let check = |text: &str, outcome, actual| CheckResult {
            text: text.to_owned(),
            outcome,
            actual,
            undecided: None,
            is_at_least: false,
            estimate_holds: false,
            bound: Quantity::Share(0.01),
            samples: 10,
        };
        let checks = [
            check("5xx<1%", CheckOutcome::Failed, Some(Quantity::Share(0.5))),
            check(
                "errors<1%",
                CheckOutcome::Passed,
                Some(Quantity::Share(0.0)),
            ),
            check("4xx<1%", CheckOutcome::Failed, None),
        ];
        assert_eq!(
            checks_that_are(CheckOutcome::Failed, &checks).as_deref(),
            Some("5xx<1% (50.0 %), 4xx<1% (no samples)")
        );
        assert_eq!(checks_that_are(CheckOutcome::Undecided, &checks), None);
    }

    #[test]
    fn a_doubtful_result_gives_its_reason_and_a_valid_one_none() {
        assert_eq!(
            grade_and_reason(&samples::result(&samples::steady(), Vec::new())),
            "valid"
        );
        let late = grade_and_reason(&samples::result(&samples::late(), Vec::new()));
        assert!(late.contains(": ") && late.ends_with('.'), "{late}");
    }
}
