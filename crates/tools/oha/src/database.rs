//! `--db-url`: a row for each success, added to the table `oha` of a SQLite file.
//!
//! Times are seconds from the run's begin. `url` is the target as it was sent.

use super::distribution::seconds;
use super::spool::{Row, Spool};
use loadline_export::sqlite::{DatabaseError, open};
use rusqlite::{Statement, params};
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The table as oha declares it.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS oha (
    url TEXT NOT NULL,
    start REAL NOT NULL,
    start_latency_correction REAL,
    end REAL NOT NULL,
    duration REAL NOT NULL,
    status INTEGER NOT NULL,
    len_bytes INTEGER NOT NULL,
    run INTEGER NOT NULL
)";
const INSERT: &str = "INSERT INTO oha (url, start, start_latency_correction, end, duration, \
                      status, len_bytes, run) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

/// The error for rows that can't be stored.
#[derive(Debug, thiserror::Error)]
pub(super) enum StoreError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error("the successes can't be read back from the temporary file: {0}")]
    Spool(#[from] io::Error),
}

/// The run whose successes are stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredRun {
    /// The begin of the run.
    pub(super) began: SystemTime,
    /// True if times count from the intended start.
    pub(super) is_corrected: bool,
}

/// Adds all rows in one transaction: no rows at all if one fails.
pub(super) fn store(path: &Path, run: StoredRun, spool: &mut Spool) -> Result<(), StoreError> {
    let failed = |error| StoreError::from(DatabaseError::of(path, error));
    let mut connection = open(path)?;
    let transaction = connection.transaction().map_err(failed)?;
    transaction.execute(TABLE, []).map_err(failed)?;
    let mut statement = transaction.prepare(INSERT).map_err(failed)?;
    for row in spool.sorted()? {
        insert(&mut statement, run, &row?).map_err(failed)?;
    }
    drop(statement);
    transaction.commit().map_err(failed)
}

fn insert(statement: &mut Statement<'_>, run: StoredRun, row: &Row) -> rusqlite::Result<()> {
    let success = &row.success;
    let began = run.began.duration_since(UNIX_EPOCH).unwrap_or_default();
    let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    statement.execute(params![
        row.target,
        seconds(success.start_ns),
        run.is_corrected.then_some(seconds(success.intended_ns)),
        seconds(success.end_ns),
        seconds(success.latency_ns),
        success.status,
        whole(success.bytes),
        whole(began.as_secs()),
    ])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tally::Success;
    use super::*;
    use std::time::Duration;

    fn spool() -> Spool {
        let mut spool = Spool::new().expect("a file");
        let success = Success {
            start_ns: 1_500_000_000,
            intended_ns: 1_000_000_000,
            end_ns: 2_000_000_000,
            latency_ns: 500_000_000,
            status: 201,
            bytes: 60,
            ..Success::default()
        };
        let target = "/a?b=1".to_owned();
        spool.add(Row { success, target }).expect("room");
        spool
    }

    fn run(is_corrected: bool) -> StoredRun {
        StoredRun {
            began: UNIX_EPOCH + Duration::from_secs(1_700_000_000),
            is_corrected,
        }
    }

    #[test]
    fn rows_are_added_to_those_of_earlier_runs() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("oha.db");
        store(&path, run(false), &mut spool()).expect("stored");
        store(&path, run(true), &mut spool()).expect("stored");
        let connection = open(&path).expect("a database");
        let read = "SELECT url || ' ' || start || ' ' || coalesce(start_latency_correction, '-') \
                    || ' ' || end || ' ' || duration || ' ' || status || ' ' || len_bytes || ' ' \
                    || run FROM oha";
        let mut statement = connection.prepare(read).expect("a table");
        let rows = statement.query_map([], |row| row.get::<_, String>(0));
        let rows: Vec<String> = rows.expect("rows").map(|row| row.expect("text")).collect();
        assert_eq!(
            rows,
            [
                "/a?b=1 1.5 - 2.0 0.5 201 60 1700000000",
                "/a?b=1 1.5 1.0 2.0 0.5 201 60 1700000000"
            ]
        );
    }

    #[test]
    fn what_is_no_database_is_left_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("notes");
        let text = "These are notes, and no database. ".repeat(50);
        std::fs::write(&path, &text).expect("a file");
        let error = store(&path, run(false), &mut spool()).expect_err("refused");
        assert!(
            error.to_string().contains("is no SQLite database"),
            "{error}"
        );
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), text);
    }
}
