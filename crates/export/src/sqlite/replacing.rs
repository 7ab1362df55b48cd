//! The files that a database may replace.
//!
//! The extensions of databases are common ones, so a file is inspected before it is replaced: the
//! header must have the mark that Loadline gives its own databases ([`APPLICATION_ID`]). A database
//! that another program has open is not replaced either: that program would go on writing to a
//! deleted file.

use super::DatabaseError;
use super::schema::APPLICATION_ID;
use crate::history::HISTORY_ID;
use rusqlite::{Connection, ErrorCode};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::time::Duration;

/// The extensions of a database's name.
const ENDINGS: [&str; 3] = ["sqlite", "sqlite3", "db"];
/// The beginning of a database, and the position of its application's mark
/// (https://sqlite.org/fileformat.html, section 1.3).
const MAGIC: &[u8] = b"SQLite format 3\0";
const MARK_AT: usize = 68;
/// The time to wait for another program that has the database open. A program that only reads a
/// little closes it within that time.
const LOCK_TIMEOUT: Duration = Duration::from_millis(500);

/// True if this is the name of a database: it ends in `.sqlite`, `.sqlite3` or `.db`.
pub fn is_database_name(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

/// Checks that the file at this path may be replaced: a database that Loadline wrote and that no
/// program has open, an empty file, no file at all, or something other than a file.
///
/// # Errors
/// If the file must not be replaced. It is left unchanged.
pub fn check_replaceable(path: &Path) -> Result<(), DatabaseError> {
    match path.metadata() {
        Ok(metadata) if metadata.is_file() && metadata.len() > 0 => {}
        _ => return Ok(()),
    }
    match mark(path) {
        Ok(Some(APPLICATION_ID)) => check_unlocked(path),
        Ok(Some(HISTORY_ID)) => Err(DatabaseError::History(path.to_owned())),
        Ok(Some(_)) => Err(DatabaseError::Foreign(path.to_owned())),
        Ok(None) => Err(DatabaseError::NoDatabase(path.to_owned())),
        Err(source) => Err(DatabaseError::Unopened {
            path: path.to_owned(),
            source,
        }),
    }
}

/// Returns the mark of the application that wrote the database; `None` if the file is no database.
fn mark(path: &Path) -> io::Result<Option<u32>> {
    let mut header = [0; MARK_AT + 4];
    match File::open(path)?.read_exact(&mut header) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let [.., a, b, c, d] = header;
    Ok(header
        .starts_with(MAGIC)
        .then(|| u32::from_be_bytes([a, b, c, d])))
}

/// Locks the database exclusively for a moment, as its replacement requires. SQLite thereby merges
/// an earlier writer's journal, so that it is not taken for a part of the new database.
fn check_unlocked(path: &Path) -> Result<(), DatabaseError> {
    let read = || {
        let connection = Connection::open(path)?;
        connection.busy_timeout(LOCK_TIMEOUT)?;
        connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;")
    };
    match read().map_err(|error: rusqlite::Error| error.sqlite_error_code()) {
        Err(Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)) => {
            Err(DatabaseError::Locked(path.to_owned()))
        }
        // Any other error does not matter: the database is Loadline's, and is replaced.
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema;
    use std::fs;
    use std::path::PathBuf;
    use tempfile::TempDir;

    /// Returns a folder, and a path in it.
    fn place(name: &str) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        (folder, path)
    }

    fn ours(path: &Path) -> Connection {
        let connection = Connection::open(path).unwrap();
        connection.execute_batch(schema::LOG).unwrap();
        schema::mark(&connection).unwrap();
        connection
    }

    #[test]
    fn a_database_is_known_by_its_ending() {
        for (name, is_one) in [
            ("a.sqlite", true),
            ("a.csv.sqlite3", true),
            ("b/a.db", true),
            ("a.csv", false),
            ("db", false),
            ("/dev/stdout", false),
        ] {
            assert_eq!(is_database_name(Path::new(name)), is_one, "{name}");
        }
    }

    #[test]
    fn nothing_and_an_empty_file_and_an_own_database_are_replaced() {
        let (_folder, path) = place("a.db");
        check_replaceable(&path).unwrap();
        fs::write(&path, "").unwrap();
        check_replaceable(&path).unwrap();
        drop(ours(&path));
        check_replaceable(&path).unwrap();
        check_replaceable(Path::new("/dev/null")).unwrap();
    }

    #[test]
    fn what_others_wrote_is_refused_and_left() {
        let (_folder, path) = place("a.db");
        for text in ["short", &"long enough for a header. ".repeat(100)] {
            fs::write(&path, text).unwrap();
            let refused = check_replaceable(&path).unwrap_err();
            assert!(matches!(refused, DatabaseError::NoDatabase(_)), "{refused}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        fs::remove_file(&path).unwrap();
        let other = Connection::open(&path).unwrap();
        other.execute_batch("CREATE TABLE precious (x)").unwrap();
        let before = fs::read(&path).unwrap();
        let refused = check_replaceable(&path).unwrap_err();
        assert!(matches!(refused, DatabaseError::Foreign(_)), "{refused}");
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn a_database_that_is_in_use_is_refused() {
        for mode in ["DELETE", "WAL"] {
            let (_folder, path) = place("a.db");
            let writer = ours(&path);
            writer
                .pragma_update(None, "journal_mode", mode)
                .expect("both modes are there");
            writer
                .execute_batch("BEGIN IMMEDIATE; INSERT INTO names VALUES (1, 'a', 'b')")
                .unwrap();
            let refused = check_replaceable(&path).unwrap_err();
            assert!(matches!(refused, DatabaseError::Locked(_)), "{refused}");
            writer.execute_batch("COMMIT").unwrap();
            drop(writer);
            check_replaceable(&path).unwrap();
        }
    }

    #[test]
    fn what_a_killed_writer_left_beside_it_is_put_into_it() {
        let (folder, path) = place("a.db");
        let writer = ours(&path);
        writer.pragma_update(None, "journal_mode", "WAL").unwrap();
        let insert = "INSERT INTO names VALUES (1, 'a', 'b')";
        writer.execute_batch(insert).unwrap();
        let killed = folder.path().join("killed.db");
        for ending in ["", "-wal"] {
            let copy = |of: &Path| PathBuf::from(format!("{}{ending}", of.display()));
            fs::copy(copy(&path), copy(&killed)).unwrap();
        }
        check_replaceable(&killed).unwrap();
        assert!(!folder.path().join("killed.db-wal").exists());
        let kept = Connection::open(&killed).unwrap();
        let count = kept.query_row("SELECT count(*) FROM names", [], |row| row.get(0));
        assert_eq!(count, Ok(1));
    }
}
