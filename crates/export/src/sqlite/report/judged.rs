//! The tables of judgements: checks, findings and warnings.

use crate::sqlite::row::Row;
use loadline_json::{Check, CheckOutcome, Finding, Number, Unit, Warning};
use rusqlite::Connection;

pub(super) fn insert_checks(
    connection: &Connection,
    run: u64,
    checks: &[Check],
) -> rusqlite::Result<()> {
    for (number, check) in (1..).zip(checks) {
        let value = |value| in_unit(value, check.unit);
        Row::of_run(run)
            .integer("number", number)
            .text("text", check.text.as_str())
            .text("outcome", outcome(check.outcome))
            .text("why", check.why.as_deref())
            .real("measured", check.actual.map(value))
            .flag("measured_is_lower_bound", check.at_least)
            .real("bound", value(check.bound))
            .text("unit", unit(check.unit))
            .integer("samples", check.samples)
            .insert(connection, "checks")?;
    }
    Ok(())
}

pub(super) fn insert_findings(
    connection: &Connection,
    run: u64,
    findings: &[Finding],
) -> rusqlite::Result<()> {
    for (number, finding) in (1..).zip(findings) {
        Row::of_run(run)
            .integer("number", number)
            .text("kind", finding.kind.as_str())
            .text("grade", finding.grade.name())
            .text("text", finding.text.as_str())
            .insert(connection, "findings")?;
    }
    Ok(())
}

pub(super) fn insert_warnings(
    connection: &Connection,
    run: u64,
    warnings: &[Warning],
) -> rusqlite::Result<()> {
    for (number, warning) in (1..).zip(warnings) {
        Row::of_run(run)
            .integer("number", number)
            .text("kind", warning.kind.as_str())
            .text("text", warning.text.as_str())
            .insert(connection, "warnings")?;
    }
    Ok(())
}

fn outcome(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Passed => "passed",
        CheckOutcome::Failed => "failed",
        CheckOutcome::Undecided => "undecided",
    }
}

/// Converts the number to the unit that [`unit`] names: times to nanoseconds.
fn in_unit(number: Number, unit: Unit) -> f64 {
    let number = match number {
        Number::Count(count) => count as f64,
        Number::Measured(measured) => measured,
    };
    match unit {
        Unit::Us => (number * 1e3).round(),
        Unit::Share | Unit::Count | Unit::PerSecond | Unit::Number => number,
    }
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Us => "ns",
        Unit::Share => "share",
        Unit::Count => "count",
        Unit::PerSecond => "per_second",
        Unit::Number => "number",
    }
}
