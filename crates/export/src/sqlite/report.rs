//! The report of one or several runs as a database. It is made in memory: the figures of a run are
//! few, apart from one row per second.
//!
//! All figures are those of the JSON, read from its types; if the text report prints no figure
//! because there are too few samples, the column is NULL.

mod counted;
mod judged;
mod runs;
#[cfg(test)]
mod tests;
mod times;

use super::schema;
use loadline_verdict::RunResult;
use rusqlite::{Connection, MAIN_DB};

/// Returns the database of these runs, as the bytes of its file.
///
/// # Errors
/// If there is not enough memory for it.
pub fn report(runs: &[RunResult]) -> rusqlite::Result<Vec<u8>> {
    let mut connection = filled(runs)?;
    Ok(connection.serialize(MAIN_DB)?.to_vec())
}

fn filled(runs: &[RunResult]) -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch("BEGIN")?;
    connection.execute_batch(schema::REPORT)?;
    schema::mark(&connection)?;
    for (id, result) in (1..).zip(runs) {
        insert(&connection, id, result)?;
    }
    connection.execute_batch("COMMIT")?;
    Ok(connection)
}

fn insert(connection: &Connection, id: u64, result: &RunResult) -> rusqlite::Result<()> {
    let run = loadline_report::document(result);
    let summary = &run.summary;
    runs::insert(connection, id, &run, result.summary.role.as_ref())?;
    runs::insert_intervals(connection, id, &run.intervals)?;
    times::insert_all(connection, id, summary)?;
    times::insert_histogram(connection, id, &result.summary.total.times.response)?;
    counted::insert_names(connection, id, &summary.names)?;
    counted::insert_statuses(connection, id, &summary.statuses)?;
    counted::insert_errors(connection, id, &summary.errors)?;
    counted::insert_metrics(connection, id, &summary.metrics)?;
    judged::insert_checks(connection, id, &summary.checks)?;
    judged::insert_findings(connection, id, &summary.validity.findings)?;
    judged::insert_warnings(connection, id, &summary.warnings)
}
