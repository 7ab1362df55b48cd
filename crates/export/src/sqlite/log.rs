//! The log of requests as a database: an observer that adds a row for each request that ends.
//!
//! Rows are added on a separate thread ([`Inserter`]). If its queue is full, the run's conductor
//! waits, as it does for the CSV log on a slow disk: no row is dropped. The rows are committed at
//! each interval, so that a run that is killed loses its last second at most.

mod inserter;
#[cfg(test)]
mod tests;

use super::{DatabaseError, check_replaceable, open, schema};
use inserter::Inserter;
use loadline_record::{Exchange, Header};
use loadline_runner::preflight::Reserved;
use loadline_runner::{End, Interests, Interval, Observed, Observer};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// Writes one row for each request.
#[derive(Debug)]
pub struct SqliteLog {
    path: PathBuf,
    reserved: Option<Reserved>,
    inserter: Option<Inserter>,
}

impl SqliteLog {
    /// Creates a log. No file is opened before a run is about to begin.
    pub fn new(path: impl Into<PathBuf>) -> SqliteLog {
        SqliteLog {
            path: path.into(),
            reserved: None,
            inserter: None,
        }
    }

    /// Passes a message to the thread; returns the thread's error if it has ended.
    fn pass_on(&mut self, send: impl Fn(&Inserter) -> bool) -> Observed {
        match &self.inserter {
            Some(inserter) if !send(inserter) => self.finish(),
            _ => Ok(()),
        }
    }

    fn finish(&mut self) -> Observed {
        if let Some(inserter) = self.inserter.take() {
            inserter.finish()?;
        }
        Ok(())
    }
}

impl Observer for SqliteLog {
    fn interests(&self) -> Interests {
        Interests {
            exchanges: true,
            ..Interests::default()
        }
    }

    fn prepare(&mut self) -> Observed {
        refuse_what_is_no_file(&self.path)?;
        check_replaceable(&self.path)?;
        self.reserved = Some(Reserved::open(&self.path)?);
        Ok(())
    }

    fn begun(&mut self, header: &Header) -> Observed {
        if let Some(file) = self.reserved.take() {
            // Closed before SQLite opens it: closing the file later would release SQLite's locks.
            drop(file.take_empty());
            let connection = empty_log(&self.path, header)?;
            self.inserter = Some(Inserter::start(&self.path, connection)?);
        }
        Ok(())
    }

    fn interval(&mut self, _: &Interval<'_>) -> Observed {
        self.pass_on(Inserter::commit)
    }

    fn exchanges(&mut self, _: usize, exchanges: &[Exchange]) -> Observed {
        self.pass_on(|inserter| inserter.add(exchanges))
    }

    fn ended(&mut self, _: &End<'_>) -> Observed {
        self.finish()
    }
}

/// Refuses a pipe before it is opened, which would wait for a reader. A folder fails later, with
/// the system's error.
fn refuse_what_is_no_file(path: &Path) -> Result<(), DatabaseError> {
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            Err(DatabaseError::NoFile(path.to_owned()))
        }
        _ => Ok(()),
    }
}

/// Creates a log without requests, with the names of the plan.
fn empty_log(path: &Path, header: &Header) -> Result<Connection, DatabaseError> {
    let connection = open(path)?;
    let fill = || {
        inserter::set_up(&connection)?;
        connection.execute_batch("BEGIN")?;
        connection.execute_batch(schema::LOG)?;
        schema::mark(&connection)?;
        insert_names(&connection, header)?;
        connection.execute_batch("COMMIT")
    };
    fill().map_err(|error| DatabaseError::of(path, error))?;
    Ok(connection)
}

fn insert_names(connection: &Connection, header: &Header) -> rusqlite::Result<()> {
    let mut insert = connection.prepare("INSERT INTO names VALUES (?1, ?2, ?3)")?;
    for (index, request) in header.plan.named_requests().enumerate() {
        let id = i64::try_from(index).unwrap_or(i64::MAX);
        insert.execute((id, &request.name, &request.url))?;
    }
    Ok(())
}
