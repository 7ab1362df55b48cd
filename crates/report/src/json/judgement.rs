//! The judgement of a run: its checks and its validity.

use super::distribution::{response_intervals, service_intervals};
use super::us;
use crate::undecided;
use loadline_json as json;
use loadline_verdict::{
    CheckOutcome, CheckResult, Finding, Findings, Grade, Quantity, RunResult, Section,
};

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
    let (bound, unit) = quantity(check.bound);
    json::Check {
        text: check.text.clone(),
        outcome: outcome(check.outcome),
        why: undecided(check),
        actual: check.actual.map(|actual| quantity(actual).0),
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

/// The number, and the unit it is in.
pub(crate) fn quantity(quantity: Quantity) -> (json::Number, json::Unit) {
    match quantity {
        Quantity::TimeNs(ns) => (json::Number::Measured(us(ns).0), json::Unit::Us),
        Quantity::Share(share) => (json::Number::Measured(share), json::Unit::Share),
        Quantity::Count(count) => (json::Number::Count(count), json::Unit::Count),
        Quantity::PerSecond(rate) => (json::Number::Measured(rate), json::Unit::PerSecond),
        Quantity::Number(number) => (json::Number::Measured(number), json::Unit::Number),
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
