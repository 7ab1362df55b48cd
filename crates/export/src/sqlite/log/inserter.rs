//! The thread that adds rows to a log.
//!
//! The journal is a write-ahead log without `fsync` (`journal_mode = WAL`, `synchronous = OFF`):
//! others read while rows are added, a killed process loses no commit (the kernel has it), and the
//! disk is never waited for; only a machine that goes down can cost the file. A rollback journal
//! may be faster, but a reader would stop it. At the end the database becomes one plain file.

use crate::sqlite::row::whole;
use crate::sqlite::{DatabaseError, schema};
use loadline_record::{Exchange, Outcome};
use rusqlite::{Connection, ErrorCode, Statement, params};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// How many batches of the workers wait for the thread before the run's conductor does. One of
/// theirs is less than half a megabyte.
const MOST_WAITING: usize = 16;
/// Rows of a transaction, at most: what it keeps in memory stays small.
const MOST_ROWS: usize = 50_000;

/// What the thread is told.
enum Message {
    /// Exchanges that have ended.
    Exchanges(Vec<Exchange>),
    /// What has come is to be kept.
    Commit,
}

/// Adds rows on a thread of its own.
#[derive(Debug)]
pub(super) struct Inserter {
    path: PathBuf,
    /// The queue to the thread; without it the thread ends.
    queue: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<rusqlite::Result<()>>>,
}

impl Inserter {
    /// A thread that adds rows to this log.
    pub(super) fn start(path: &Path, connection: Connection) -> io::Result<Inserter> {
        let (queue, messages) = sync_channel(MOST_WAITING);
        let thread = thread::Builder::new().name("sqlite-log".to_owned());
        let thread = thread.spawn(move || {
            insert_all(&connection, &messages)?;
            make_plain(connection)
        })?;
        Ok(Inserter {
            path: path.to_owned(),
            queue: Some(queue),
            thread: Some(thread),
        })
    }

    /// Adds these; whether the thread is still there for them. Waits while the queue is full.
    pub(super) fn add(&self, exchanges: &[Exchange]) -> bool {
        self.tell(Message::Exchanges(exchanges.to_vec()))
    }

    /// Keeps what has come, whatever happens; whether the thread is still there for it.
    pub(super) fn commit(&self) -> bool {
        self.tell(Message::Commit)
    }

    /// Waits until all rows are added.
    ///
    /// # Errors
    /// If one could not be.
    pub(super) fn finish(mut self) -> Result<(), DatabaseError> {
        self.join()
            .map_err(|error| DatabaseError::of(&self.path, error))
    }

    fn tell(&self, message: Message) -> bool {
        let queue = self.queue.as_ref();
        queue.is_some_and(|queue| queue.send(message).is_ok())
    }

    fn join(&mut self) -> rusqlite::Result<()> {
        self.queue = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(ended)) => ended,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(()),
        }
    }
}

impl Drop for Inserter {
    /// A run that could not be ended keeps its rows.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // Why the run could not be ended is told already.
            let _ = thread.join();
        }
    }
}

/// Sets the journal up.
pub(super) fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    // Where the file system has no shared memory, SQLite stays with the journal that it has.
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    // A look at the names for each row would cost as much as the row.
    connection.pragma_update(None, "foreign_keys", "OFF")
}

/// Adds rows until nobody sends any more.
fn insert_all(connection: &Connection, messages: &Receiver<Message>) -> rusqlite::Result<()> {
    let mut insert = connection.prepare(schema::INSERT_REQUEST)?;
    let mut rows = 0;
    connection.execute_batch("BEGIN")?;
    for message in messages {
        match message {
            Message::Exchanges(exchanges) => {
                for exchange in &exchanges {
                    insert_one(&mut insert, exchange)?;
                }
                rows += exchanges.len();
            }
            Message::Commit => rows = MOST_ROWS,
        }
        if rows >= MOST_ROWS {
            connection.execute_batch("COMMIT; BEGIN")?;
            rows = 0;
        }
    }
    connection.execute_batch("COMMIT")
}

fn insert_one(insert: &mut Statement<'_>, exchange: &Exchange) -> rusqlite::Result<()> {
    let (status, error) = match exchange.outcome {
        Outcome::Answered { status } => (Some(status), None),
        Outcome::Failed(kind) => (None, Some(kind.name())),
    };
    insert.execute(params![
        whole(exchange.intended_ns),
        whole(exchange.start_ns),
        whole(exchange.response_ns()),
        whole(exchange.service_ns()),
        whole(exchange.blocked_ns()),
        whole(exchange.lateness_ns()),
        whole(exchange.dial_ns),
        exchange.first_byte_after_ns().map(whole),
        status,
        error,
        whole(exchange.bytes_in),
        whole(exchange.bytes_out),
        exchange.request,
    ])?;
    Ok(())
}

/// Puts the journal into the database and takes it away. Somebody who still reads keeps it: all is
/// there, and the last one who closes the database puts it in.
fn make_plain(connection: Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(std::time::Duration::ZERO)?;
    let plain = connection.pragma_update(None, "journal_mode", "DELETE");
    match plain.map_err(|error| (error.sqlite_error_code(), error)) {
        Err((Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked), _)) => {}
        Err((_, error)) => return Err(error),
        Ok(()) => {}
    }
    connection.close().map_err(|(_, error)| error)
}
