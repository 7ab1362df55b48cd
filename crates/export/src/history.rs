//! The history of a test: the figures of its runs, and baselines kept by their names.
//!
//! A history is a SQLite database, or a folder. In a folder the database is `history.sqlite`, and
//! each baseline is a saved run of its own, `NAME.run`, which every command that reads saved runs
//! takes. In a database a baseline is what such a file would hold.
//!
//! Nothing in a history is changed but by [`History::keep`], which puts a run in the place of the
//! baseline of this name. What another program wrote, or another version of the tables, is refused
//! and left as it is. All that is added of a run is added at once, or not at all.

mod schema;
#[cfg(test)]
mod tests;

pub use schema::HISTORY_ID;

use crate::sqlite::{DatabaseError, is_database_name, open};
use loadline_json as json;
use loadline_record::{Environment, Summary};
use loadline_runner::preflight::write_whole;
use loadline_verdict::{CheckOutcome, RunResult, samples_needed};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, named_params, params};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The database in a folder.
const DATABASE: &str = "history.sqlite";
/// The percentiles that are kept, in the order in which they are shown.
const PERCENTILES: [f64; 7] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];
/// The longest name of a baseline.
const LONGEST_NAME: usize = 100;

/// The reason why a history can't be read or added to.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The database.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// Another version of Loadline made it.
    #[error(
        "{} is a history of version {version}, and this Loadline reads version {}; use the \
         Loadline that made it, or name another file.",
        path.display(), schema::VERSION
    )]
    OtherVersion {
        /// The database.
        path: PathBuf,
        /// Its version.
        version: i64,
    },
    /// There is none.
    #[error("there is no history {}; make runs with --history to begin one.", .0.display())]
    Missing(PathBuf),
    /// A name that would be no file's.
    #[error(
        "`{0}` is no name of a baseline; write letters, digits, `-`, `_` and dots, such as main or \
         release-1.2."
    )]
    BadName(String),
    /// A file of a folder.
    #[error("{} can't be {done}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The operation that failed: `read`.
        done: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

/// The history at a place.
#[derive(Debug)]
pub struct History {
    database: PathBuf,
    folder: Option<PathBuf>,
    connection: Connection,
}

/// A run that is added, and what is known of it beside its figures.
#[derive(Clone, Copy, Debug)]
pub struct NewRun<'a> {
    /// The test that it is a run of.
    pub test: &'a str,
    /// The commit of what was tested.
    pub commit: Option<&'a str>,
    /// The result of its command, in a word.
    pub verdict: &'a str,
    /// The result of the run.
    pub result: &'a RunResult,
}

/// A run in a history, with one of its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptRun {
    /// The start of the run: UTC, RFC 3339.
    pub started_at: String,
    /// The commit of what was tested, if it was known.
    pub commit: Option<String>,
    /// The machine that it was made on, in few words.
    pub machine: String,
    /// The version of Loadline.
    pub version: String,
    /// Its grade.
    pub validity: String,
    /// The result of its command.
    pub verdict: String,
    /// The figure: nanoseconds, or responses a second. `None` if there were too few samples for it.
    pub value: Option<f64>,
}

impl History {
    /// The history at this place, which is made if there is none: a database if it has the name of
    /// one, else a folder.
    ///
    /// # Errors
    /// If it can't be made, or is something else.
    pub fn open(place: &Path) -> Result<History, HistoryError> {
        let folder = folder_of(place);
        if let Some(folder) = &folder {
            fs::create_dir_all(folder).map_err(|source| HistoryError::File {
                path: folder.clone(),
                done: "made",
                source,
            })?;
        }
        History::at(place, folder)
    }

    /// The same, if there is one.
    ///
    /// # Errors
    /// As [`open`](History::open), and if there is none.
    pub fn open_existing(place: &Path) -> Result<History, HistoryError> {
        let folder = folder_of(place);
        match database_of(place, folder.as_deref()).is_file() {
            true => History::at(place, folder),
            false => Err(HistoryError::Missing(place.to_owned())),
        }
    }

    fn at(place: &Path, folder: Option<PathBuf>) -> Result<History, HistoryError> {
        let database = database_of(place, folder.as_deref());
        let mut connection = open(&database)?;
        let failed = |error| HistoryError::from(DatabaseError::of(&database, error));
        let tables = schema::tables(&connection).map_err(failed)?;
        match tables {
            schema::Tables::None => {
                let transaction =
                    connection.transaction_with_behavior(TransactionBehavior::Immediate);
                let transaction = transaction.map_err(failed)?;
                schema::create(&transaction).map_err(failed)?;
                transaction.commit().map_err(failed)?;
            }
            schema::Tables::Ours(schema::VERSION) => {}
            schema::Tables::Ours(version) => {
                let path = database;
                return Err(HistoryError::OtherVersion { path, version });
            }
            schema::Tables::Foreign => return Err(DatabaseError::NoHistory(database).into()),
        }
        Ok(History {
            database,
            folder,
            connection,
        })
    }

    /// Checks that the history can be added to now: that nobody keeps it locked, and that it may be
    /// written.
    ///
    /// # Errors
    /// Why it can't.
    pub fn check_writable(&self) -> Result<(), HistoryError> {
        let locked = self.connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK");
        locked.map_err(|error| self.failed(error))
    }

    fn failed(&self, error: rusqlite::Error) -> HistoryError {
        DatabaseError::of(&self.database, error).into()
    }

    /// Adds runs, all of them or none.
    ///
    /// # Errors
    /// If they can't be added; it is as it was then.
    pub fn add(&mut self, runs: &[NewRun<'_>]) -> Result<(), HistoryError> {
        let mut added = || -> rusqlite::Result<()> {
            let behavior = TransactionBehavior::Immediate;
            let transaction = self.connection.transaction_with_behavior(behavior)?;
            for run in runs {
                insert(&transaction, run)?;
            }
            transaction.commit()
        };
        let done = added();
        done.map_err(|error| self.failed(error))
    }

    /// Returns the saved run that is the baseline of this name; `None` if there is none.
    ///
    /// # Errors
    /// If it can't be read, or this is no name.
    pub fn baseline(&self, name: &str) -> Result<Option<Vec<u8>>, HistoryError> {
        check_name(name)?;
        let Some(path) = self.file_of(name) else {
            let query = "SELECT saved_run FROM baselines WHERE name = ?1";
            let found = self.connection.query_row(query, [name], |row| row.get(0));
            return found.optional().map_err(|error| self.failed(error));
        };
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(HistoryError::File {
                path,
                done: "read",
                source,
            }),
        }
    }

    /// Keeps what this saved run holds as the baseline of this name, in the place of the one
    /// before.
    ///
    /// # Errors
    /// If it can't be kept; the one before is left then.
    pub fn keep(&mut self, name: &str, saved_run: &[u8]) -> Result<(), HistoryError> {
        check_name(name)?;
        if let Some(path) = self.file_of(name) {
            return write_whole(&path, saved_run).map_err(|source| HistoryError::File {
                path,
                done: "written",
                source,
            });
        }
        let put = "INSERT OR REPLACE INTO baselines VALUES (?1, ?2)";
        let kept = self.connection.execute(put, params![name, saved_run]);
        kept.map(drop).map_err(|error| self.failed(error))
    }

    /// Returns the location of the baseline of this name, for messages.
    pub fn place_of(&self, name: &str) -> PathBuf {
        let in_database = || PathBuf::from(format!("{name} of {}", self.database.display()));
        self.file_of(name).unwrap_or_else(in_database)
    }

    fn file_of(&self, name: &str) -> Option<PathBuf> {
        self.folder
            .as_ref()
            .map(|folder| folder.join(format!("{name}.run")))
    }

    /// The tests of which there are runs, the one with the latest run first.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn tests(&self) -> Result<Vec<String>, HistoryError> {
        let query = "SELECT test FROM runs GROUP BY test ORDER BY max(id) DESC";
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.connection.prepare(query)?;
            let rows = statement.query_map([], |row| row.get(0))?;
            rows.collect()
        };
        read().map_err(|error| self.failed(error))
    }

    /// The runs of a test in the order in which they were made, with this figure (`p95`, `rate`),
    /// the last ones if there are more than `most`.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn runs(&self, test: &str, figure: &str, most: u32) -> Result<Vec<KeptRun>, HistoryError> {
        let read = || -> rusqlite::Result<Vec<KeptRun>> {
            let mut statement = self.connection.prepare(schema::RUNS)?;
            let rows = statement.query_map(params![test, figure, most], |row| {
                Ok(KeptRun {
                    started_at: row.get("started_at")?,
                    commit: row.get("commit_id")?,
                    machine: row.get("machine")?,
                    version: row.get("version")?,
                    validity: row.get("validity")?,
                    verdict: row.get("verdict")?,
                    value: row.get("value")?,
                })
            })?;
            rows.collect()
        };
        let mut runs = read().map_err(|error| self.failed(error))?;
        runs.reverse();
        Ok(runs)
    }

    /// The figures that the runs of a test have, in the order in which they are shown.
    ///
    /// # Errors
    /// If they can't be read.
    pub fn figures(&self, test: &str) -> Result<Vec<String>, HistoryError> {
        let query = "SELECT DISTINCT figure FROM figures JOIN runs ON runs.id = figures.run \
                   WHERE test = ?1 ORDER BY figures.rowid";
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.connection.prepare(query)?;
            let rows = statement.query_map([test], |row| row.get(0))?;
            rows.collect()
        };
        read().map_err(|error| self.failed(error))
    }
}

/// The folder that this place is; `None` if it is a database.
fn folder_of(place: &Path) -> Option<PathBuf> {
    let is_database = is_database_name(place) || place.is_file();
    (!is_database).then(|| place.to_owned())
}

fn database_of(place: &Path, folder: Option<&Path>) -> PathBuf {
    folder.map_or_else(|| place.to_owned(), |folder| folder.join(DATABASE))
}

/// Refuses what is no name of a baseline: it may become that of a file.
///
/// # Errors
/// That it is none.
pub fn check_name(name: &str) -> Result<(), HistoryError> {
    let is_good = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let is_name = !name.is_empty()
        && name.len() <= LONGEST_NAME
        && !name.starts_with(['.', '-'])
        && name.chars().all(is_good);
    match is_name {
        true => Ok(()),
        false => Err(HistoryError::BadName(name.to_owned())),
    }
}

fn insert(connection: &Connection, new: &NewRun<'_>) -> rusqlite::Result<()> {
    let result = new.result;
    let (summary, counts) = (&result.summary, &result.summary.total.counts);
    let document: json::Run = loadline_report::document(result);
    let environment = serde_json::to_string(&summary.environment);
    connection.execute(
        schema::INSERT_RUN,
        named_params! {
            ":test": new.test,
            ":started_at": document.started_at,
            ":commit_id": new.commit,
            ":machine": machine(&summary.environment),
            ":environment": environment.unwrap_or_default(),
            ":threads": summary.plan.threads,
            ":version": summary.version,
            ":duration_ns": summary.duration_ns as i64,
            ":answered": counts.answered as i64,
            ":failed": counts.failed as i64,
            ":validity": result.grade().name(),
            ":checks": checks(result),
            ":verdict": new.verdict,
        },
    )?;
    let run = connection.last_insert_rowid();
    for (figure, value) in figures(summary) {
        connection.execute(schema::INSERT_FIGURE, params![run, figure, value])?;
    }
    Ok(())
}

/// The figures of a run that are known exactly.
fn figures(summary: &Summary) -> Vec<(String, f64)> {
    let times = summary.response();
    let mut figures = Vec::new();
    for percentile in PERCENTILES {
        let value = times.percentile(percentile);
        if times.len() >= samples_needed(percentile) && !value.is_at_least() {
            figures.push((format!("p{percentile}"), value.value() as f64));
        }
    }
    if !summary.total.times.response.is_empty() && !times.mean_ns().is_at_least() {
        figures.push(("mean".to_owned(), times.mean_ns().value()));
    }
    figures.push(("rate".to_owned(), summary.answers_per_s()));
    figures
}

/// Returns the counts of checks by result: `2 passed, 1 failed`; empty without a check.
fn checks(result: &RunResult) -> String {
    let outcomes = [
        CheckOutcome::Passed,
        CheckOutcome::Failed,
        CheckOutcome::Undecided,
    ];
    let texts = outcomes.iter().filter_map(|outcome| {
        let those = result
            .checks
            .iter()
            .filter(|check| check.outcome == *outcome);
        match those.count() {
            0 => None,
            count => Some(format!("{count} {}", outcome.word())),
        }
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// A machine in few words: what makes another one of it.
fn machine(environment: &Environment) -> String {
    let cores = environment.usable_cores.or(environment.cores);
    let parts = [
        environment.cpu_model.clone(),
        cores.map(|cores| format!("{cores} cores")),
        environment.governor.clone(),
        environment
            .kernel
            .as_ref()
            .map(|kernel| format!("Linux {kernel}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
