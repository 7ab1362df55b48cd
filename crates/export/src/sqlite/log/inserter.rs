//! The thread that adds rows to a log.
//!
//! The journal is a write-ahead log without `fsync` (`journal_mode = WAL`, `synchronous = OFF`):
//! other programs can read while rows are added, a killed process loses no commit (the kernel has
//! it), and the thread never waits for the disk; only a crash of the machine can damage the file. A
//! rollback journal may be faster, but a reader would stop it. At the end the database becomes one
//! plain file.

use crate::sqlite::row::whole;
use crate::sqlite::{DatabaseError, schema};
use loadline_record::{Exchange, Outcome};
use rusqlite::{Connection, ErrorCode, Statement, params};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// The number of batches in the queue from which the run's conductor waits. A batch of a worker is
/// less than half a megabyte.
const MOST_WAITING: usize = 16;
/// The most rows of a transaction, which bounds its memory.
const MOST_ROWS: usize = 50_000;

/// A message to the thread.
enum Message {
    /// Exchanges that have ended.
    Exchanges(Vec<Exchange>),
    /// A request to commit the rows added so far.
    Commit,
}

/// Adds rows on a separate thread.
#[derive(Debug)]
pub(super) struct Inserter {
    path: PathBuf,
    /// The queue to the thread; the thread ends when it is dropped.
    queue: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<rusqlite::Result<()>>>,
}

impl Inserter {
    /// Starts a thread that adds rows to this log.
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

    /// Adds exchanges. Waits while the queue is full; false if the thread has ended.
    pub(super) fn add(&self, exchanges: &[Exchange]) -> bool {
        self.send(Message::Exchanges(exchanges.to_vec()))
    }

    /// Commits the rows added so far; false if the thread has ended.
    pub(super) fn commit(&self) -> bool {
        self.send(Message::Commit)
    }

    /// Waits until all rows are added.
    ///
    /// # Errors
    /// If a row could not be added.
    pub(super) fn finish(mut self) -> Result<(), DatabaseError> {
        self.join()
            .map_err(|error| DatabaseError::of(&self.path, error))
    }

    fn send(&self, message: Message) -> bool {
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
    /// Keeps the rows of a run that could not be ended.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // The error that prevented the end of the run was reported before.
            let _ = thread.join();
        }
    }
}

/// Configures the journal.
pub(super) fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    // On a file system without shared memory, SQLite keeps the journal mode that it has.
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    // A look-up of the name for each row would cost as much as the row.
    connection.pragma_update(None, "foreign_keys", "OFF")
}

/// Adds rows until all senders are gone.
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

/// Moves the journal into the database and removes it. If another program still reads, the journal
/// stays: it is complete, and the last program that closes the database moves it.
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
