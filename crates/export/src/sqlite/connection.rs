//! Connections to a database, and their errors as sentences.

use rusqlite::{Connection, Error, ErrorCode};
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time to wait for a database that another program has locked.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// The error of a database that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// Another program reads or writes the database.
    #[error("{} is locked by another program; end that one, or name another file.", .0.display())]
    Locked(PathBuf),
    /// The file is not a SQLite database.
    #[error("{} is no SQLite database; move it away, or name another file.", .0.display())]
    NoDatabase(PathBuf),
    /// Another program made the database.
    #[error(
        "{} is a database that Loadline did not write, so it is not replaced; move it away, or \
         name another file.",
        .0.display()
    )]
    Foreign(PathBuf),
    /// Another program made it, or another command of Loadline's.
    #[error(
        "{} is a database, and no history of runs; name another file.",
        .0.display()
    )]
    NoHistory(PathBuf),
    /// It is a history of runs.
    #[error(
        "{} is a history of runs, which is not replaced; name another file.",
        .0.display()
    )]
    History(PathBuf),
    /// It is a pipe, a device or a folder.
    #[error("{} is no file, and a SQLite database needs one; name a file.", .0.display())]
    NoFile(PathBuf),
    /// The disk is full.
    #[error(
        "{} can't be written to its end: the disk is full; free space, or name a file on another \
         disk.",
        .0.display()
    )]
    Full(PathBuf),
    /// The system refuses to open the file.
    #[error("{} can't be opened", .path.display())]
    Unopened {
        /// The database.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The system refuses to write to the database.
    #[error(
        "{} can't be written to its end: the system refuses it, as at a quota, a limit on the size \
         of files or a broken disk; name a file on another disk.",
        .0.display()
    )]
    Refused(PathBuf),
    /// Any other error of SQLite.
    #[error("{} can't be written as a SQLite database: {reason}", .path.display())]
    Other {
        /// The database.
        path: PathBuf,
        /// The error of SQLite.
        reason: Error,
    },
}

impl DatabaseError {
    /// Converts an error of SQLite about the database at this path.
    pub fn of(path: &Path, error: Error) -> DatabaseError {
        let path = path.to_owned();
        let other = |path, reason| DatabaseError::Other { path, reason };
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                DatabaseError::Locked(path)
            }
            Some(ErrorCode::NotADatabase) => DatabaseError::NoDatabase(path),
            Some(ErrorCode::DiskFull) => DatabaseError::Full(path),
            Some(ErrorCode::SystemIoFailure) => DatabaseError::Refused(path),
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) => match refusal(&path) {
                Some(source) => DatabaseError::Unopened { path, source },
                None => other(path, error),
            },
            _ => other(path, error),
        }
    }
}

/// Returns the reason why the system refuses to write this file: SQLite does not report it.
fn refusal(path: &Path) -> Option<io::Error> {
    let opened = OpenOptions::new().read(true).write(true).open(path);
    opened.err()
}

/// Opens the database at this path for reading and writing; creates it if it does not exist.
///
/// # Errors
/// If it can't be opened, or is no database.
pub fn open(path: &Path) -> Result<Connection, DatabaseError> {
    let failed = |error| DatabaseError::of(path, error);
    let connection = Connection::open(path).map_err(failed)?;
    connection.busy_timeout(LOCK_TIMEOUT).map_err(failed)?;
    // SQLite does not read the file before the first query.
    let query = "SELECT count(*) FROM sqlite_schema";
    let count = connection.query_row(query, [], |row| row.get::<_, i64>(0));
    count.map_err(failed)?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn refused(path: &Path) -> String {
        open(path).expect_err("it is refused").to_string()
    }

    #[test]
    fn what_is_no_database_is_refused_and_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.db");
        let text = "These are notes, and no database at all. ".repeat(100);
        fs::write(&path, &text).unwrap();
        let failed = refused(&path);
        assert!(
            failed.contains("notes.db is no SQLite database;"),
            "{failed}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn a_folder_that_is_not_there_is_named_with_the_reason() {
        let error = open(Path::new("/nowhere/a.db")).unwrap_err();
        let DatabaseError::Unopened { path, source } = error else {
            panic!("{error}");
        };
        assert_eq!(path, Path::new("/nowhere/a.db"));
        assert_eq!(source.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_full_disk_is_told_from_other_errors() {
        let connection = Connection::open_in_memory().unwrap();
        let fill = "PRAGMA max_page_count = 3; CREATE TABLE t (x); CREATE TABLE u (x); \
                    INSERT INTO t VALUES (zeroblob(100000))";
        let error = connection.execute_batch(fill).unwrap_err();
        let failed = DatabaseError::of(Path::new("a.db"), error);
        assert!(matches!(failed, DatabaseError::Full(_)), "{failed}");
        let error = connection.execute_batch("no SQL").unwrap_err();
        let failed = DatabaseError::of(Path::new("a.db"), error);
        assert!(matches!(failed, DatabaseError::Other { .. }), "{failed}");
    }

    #[test]
    fn a_database_is_made_where_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.db");
        open(&path)
            .unwrap()
            .execute_batch("CREATE TABLE t (x)")
            .unwrap();
        let again = open(&path).unwrap();
        again.execute_batch("INSERT INTO t VALUES (1)").unwrap();
    }
}
