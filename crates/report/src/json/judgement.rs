//! The judgement of a run: its checks and its validity.

use super::distribution::{response_intervals, service_intervals};
use crate::measured_quantity::measured;
use crate::undecided;
use loadline_json as json;
use loadline_verdict::{CheckOutcome, CheckResult, Finding, Findings, Grade, RunResult, Section};

/// Returns the judgement of a run, for its saved run.
pub fn judgement(run: &RunResult) -> json::Judgement {
    json::Judgement {
        validity: validity(&run.findings),
        checks: run.checks.iter().map(check).collect(),
        confidence_intervals: json::JudgedIntervals {
            response_time_us: response_intervals(run),
            service_time_us: service_intervals(run),
        },
    }
}

pub(super) fn check(check: &CheckResult) -> json::Check {
    let (bound, unit) = measured(check.bound);
    json::Check {
        text: check.text.clone(),
        outcome: outcome(check.outcome),
        why: undecided(check),
        actual: check.actual.map(|actual| measured(actual).0),
        at_least: check.is_at_least,
        bound,
        unit,
        samples: check.samples,
    }
}

pub(super) fn outcome(outcome: CheckOutcome) -> json::CheckOutcome {
    match outcome {
        CheckOutcome::Passed => json::CheckOutcome::Passed,
        CheckOutcome::Failed => json::CheckOutcome::Failed,
        CheckOutcome::Undecided => json::CheckOutcome::Undecided,
    }
}

pub(super) fn validity(findings: &Findings) -> json::Validity {
    let finding = |finding: &Finding| json::Finding {
        kind: finding.cause.name().to_owned(),
        grade: grade(finding.grade),
        text: finding.cause.sentence(),
    };
    json::Validity {
        grade: grade(findings.grade()),
        findings: findings.of(Section::Validity).map(finding).collect(),
    }
}

fn grade(grade: Grade) -> json::Grade {
    match grade {
        Grade::Valid => json::Grade::Valid,
        Grade::Suspect => json::Grade::Suspect,
        Grade::Invalid => json::Grade::Invalid,
    }
}
