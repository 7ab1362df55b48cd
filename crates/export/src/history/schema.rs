//! The tables of a history. `docs/guide/regressions.md` explains them to users.

use rusqlite::Connection;

/// Marks a database as a history of Loadline's: `LoaH`, in the header of its file. It is not the
/// mark of the databases that reports are, which are replaced.
pub const HISTORY_ID: u32 = 0x4c6f_6148;
/// The version of the tables, `PRAGMA user_version`. It rises when a program that reads or writes
/// the older ones would go wrong.
pub(super) const VERSION: i64 = 1;

const TABLES: &str = "
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, -- in the order in which they were added
    test TEXT NOT NULL,
    started_at TEXT NOT NULL, -- UTC, RFC 3339
    commit_id TEXT, -- of what was tested
    machine TEXT NOT NULL, -- in few words
    environment TEXT NOT NULL, -- JSON
    threads INTEGER NOT NULL,
    version TEXT NOT NULL, -- of Loadline
    duration_ns INTEGER NOT NULL,
    answered INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    validity TEXT NOT NULL, -- valid, suspect or invalid
    checks TEXT NOT NULL, -- how many passed, failed and are undecided
    verdict TEXT NOT NULL -- how the run ended its command
);

CREATE INDEX runs_of_tests ON runs (test, id);

CREATE TABLE figures (
    run INTEGER NOT NULL REFERENCES runs (id),
    figure TEXT NOT NULL, -- p50, p99.9, mean or rate
    value REAL NOT NULL, -- nanoseconds; of the rate responses a second
    UNIQUE (run, figure)
);

CREATE TABLE baselines (
    name TEXT PRIMARY KEY,
    saved_run BLOB NOT NULL -- as the file of --save
);
";

/// Adds a run.
pub(super) const INSERT_RUN: &str = "
INSERT INTO runs (test, started_at, commit_id, machine, environment, threads, version, duration_ns,
    answered, failed, validity, checks, verdict)
VALUES (:test, :started_at, :commit_id, :machine, :environment, :threads, :version, :duration_ns,
    :answered, :failed, :validity, :checks, :verdict)
";

/// Adds a figure of a run.
pub(super) const INSERT_FIGURE: &str = "INSERT INTO figures VALUES (?1, ?2, ?3)";

/// The last runs of a test with a figure, the latest first.
pub(super) const RUNS: &str = "
SELECT started_at, commit_id, machine, version, validity, verdict, value
FROM runs LEFT JOIN figures ON figures.run = runs.id AND figure = ?2
WHERE test = ?1 ORDER BY id DESC LIMIT ?3
";

/// The kind of a database.
pub(super) enum Tables {
    /// Empty.
    None,
    /// A history of this version.
    Ours(i64),
    /// Something else.
    Foreign,
}

/// Returns the kind of this database.
pub(super) fn tables(connection: &Connection) -> rusqlite::Result<Tables> {
    let value = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get(0));
    let (mark, version): (i64, i64) = (value("application_id")?, value("user_version")?);
    let count = "SELECT count(*) FROM sqlite_schema";
    let tables: i64 = connection.query_row(count, [], |row| row.get(0))?;
    Ok(match (mark, tables) {
        (0, 0) => Tables::None,
        (mark, _) if mark == i64::from(HISTORY_ID) => Tables::Ours(version),
        _ => Tables::Foreign,
    })
}

/// Makes the tables of an empty database.
pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(TABLES)?;
    connection.pragma_update(None, "application_id", HISTORY_ID)?;
    connection.pragma_update(None, "user_version", VERSION)
}
