//! What a command prints to, from several threads: standard output and standard error.
//!
//! On a terminal a block of progress stands below all that is printed: the cursor waits at its
//! begin, text that comes overwrites it, and the next block is drawn behind that text.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where a command prints.
pub struct Screen(Mutex<Streams>);

/// A stream that text goes to.
pub type Stream = Box<dyn Write + Send>;

struct Streams {
    stdout: Stream,
    stderr: Stream,
    /// Whether a block is shown.
    has_block: bool,
    /// Whether standard output has failed: nobody reads it any more.
    is_broken: bool,
}

impl Screen {
    /// Prints to these streams.
    pub fn new(stdout: Stream, stderr: Stream) -> Self {
        Screen(Mutex::new(Streams {
            stdout,
            stderr,
            has_block: false,
            is_broken: false,
        }))
    }

    /// Prints text to standard output.
    pub(super) fn print(&self, text: &str) {
        let mut streams = self.lock();
        let text = streams.above_block(text);
        streams.out(&text);
    }

    /// Prints text to standard error.
    pub(super) fn print_error(&self, text: &str) {
        let mut streams = self.lock();
        let text = streams.above_block(text);
        // Where it is closed nobody wants to know.
        let _ = streams.stderr.write_all(text.as_bytes());
        let _ = streams.stderr.flush();
    }

    /// Shows a block of progress in place of the one before.
    pub(super) fn show(&self, block: &str) {
        let lines = block.matches('\n').count();
        let mut streams = self.lock();
        streams.has_block = true;
        streams.out(&format!("{block}\r\u{1b}[J\u{1b}[{lines}A"));
    }

    /// Leaves the block that is shown where it is, and goes on behind what comes.
    pub(super) fn end_block(&self) {
        self.lock().has_block = false;
    }

    /// Whether standard output could not be written.
    pub(super) fn is_broken(&self) -> bool {
        self.lock().is_broken
    }

    fn lock(&self) -> MutexGuard<'_, Streams> {
        // What it guards is whole whoever panicked meanwhile.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Streams {
    /// Text whose lines erase those of the block that they overwrite.
    fn above_block(&self, text: &str) -> String {
        match self.has_block {
            true => text.replace('\n', "\u{1b}[0K\n"),
            false => text.to_owned(),
        }
    }

    fn out(&mut self, text: &str) {
        let written = self.stdout.write_all(text.as_bytes());
        self.is_broken |= written.and_then(|()| self.stdout.flush()).is_err();
    }
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen").finish_non_exhaustive()
    }
}
