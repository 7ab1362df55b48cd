//! The output of a command, from several threads: standard output and standard error.
//!
//! On a terminal a block of progress is below all printed text: the cursor waits at the block's
//! begin, new text overwrites the block, and the next block is drawn after that text.

use super::go_words;
use loadline_tool_host::Stream;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The output streams of a command.
pub(super) struct Screen(Mutex<Streams>);

struct Streams {
    stdout: Stream,
    stderr: Stream,
    /// True if a block is shown.
    has_block: bool,
    /// The reason why standard output has failed, if it has: the summary, or a part of it, is lost
    /// then.
    broken: Option<String>,
}

impl Screen {
    /// Creates the output to these streams.
    pub(super) fn new(stdout: Stream, stderr: Stream) -> Self {
        Screen(Mutex::new(Streams {
            stdout,
            stderr,
            has_block: false,
            broken: None,
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
        // If stderr is closed, there is no other output for problems.
        let _ = streams.stderr.write_all(text.as_bytes());
        let _ = streams.stderr.flush();
    }

    /// Shows a block of progress in place of the previous one.
    pub(super) fn show(&self, block: &str) {
        let lines = block.matches('\n').count();
        let mut streams = self.lock();
        streams.has_block = true;
        streams.out(&format!("{block}\r\u{1b}[J\u{1b}[{lines}A"));
    }

    /// Ends the block: following text does not overwrite it.
    pub(super) fn end_block(&self) {
        self.lock().has_block = false;
    }

    /// Returns the reason why standard output could not be written, if so.
    pub(super) fn broken(&self) -> Option<String> {
        self.lock().broken.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Streams> {
        // The state is consistent even after a panic of another thread.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Streams {
    /// Returns a text whose lines erase those of the block that they overwrite.
    fn above_block(&self, text: &str) -> String {
        match self.has_block {
            true => text.replace('\n', "\u{1b}[0K\n"),
            false => text.to_owned(),
        }
    }

    fn out(&mut self, text: &str) {
        let written = self.stdout.write_all(text.as_bytes());
        if let Err(error) = written.and_then(|()| self.stdout.flush()) {
            self.broken.get_or_insert_with(|| go_words::system(&error));
        }
    }
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen").finish_non_exhaustive()
    }
}
