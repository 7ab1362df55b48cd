//! The log of a run on its page: the lines that a script, or the tool that runs it, writes.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most lines that are kept, the latest of all.
pub(crate) const MOST_LINES: usize = 200;
/// The most characters of a line.
const LONGEST_LINE: usize = 1_000;

/// The lines that no event has brought yet, the latest of them. Its lock is held for moments only:
/// users of the load write lines, and wait for no page. Clones are the same lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting(Arc<Mutex<VecDeque<String>>>);

impl Waiting {
    /// Adds a line, without what would control a terminal.
    pub(crate) fn add(&self, line: &str) {
        let line = plain(line);
        if line.is_empty() {
            return;
        }
        let mut lines = self.lines();
        if lines.len() == MOST_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// Takes all lines.
    pub(crate) fn take(&self) -> Vec<String> {
        mem::take(&mut *self.lines()).into()
    }

    fn lines(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the text of a line: no escape sequences (ECMA-48, 5.4), no control characters.
fn plain(line: &str) -> String {
    let mut text = String::new();
    let mut letters = line.trim_end().chars();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' {
            // `ESC [`, parameters, and a final letter from `@` to `~`.
            if letters.next() == Some('[') {
                letters.find(|letter| ('@'..='~').contains(letter));
            }
        } else if !letter.is_control() || letter == '\t' {
            text.push(letter);
        }
    }
    text.chars().take(LONGEST_LINE).collect()
}

/// Writes the lines of a run into the log of its page.
pub struct PageLog {
    waiting: Waiting,
    /// The begin of a line whose end is still to come.
    rest: Vec<u8>,
}

impl PageLog {
    pub(crate) fn new(waiting: Waiting) -> PageLog {
        PageLog {
            waiting,
            rest: Vec::new(),
        }
    }
}

impl Write for PageLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let last = lines.next_back().unwrap_or_default();
        for line in lines {
            self.rest.extend_from_slice(line);
            let whole = mem::take(&mut self.rest);
            self.waiting.add(&String::from_utf8_lossy(&whole));
        }
        let room = (4 * LONGEST_LINE).saturating_sub(self.rest.len());
        self.rest.extend_from_slice(&last[..last.len().min(room)]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl std::fmt::Debug for PageLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PageLog").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_lines_are_kept_without_what_controls_a_terminal() {
        let waiting = Waiting::default();
        (0..300).for_each(|number| waiting.add(&format!("line {number}")));
        waiting.add("\u{1b}[36mINFO\u{1b}[0m a\u{7}\tb\r\n");
        waiting.add("\u{1b}[2K");
        let lines = waiting.take();
        assert_eq!(lines.len(), MOST_LINES);
        assert_eq!(
            (&*lines[0], &*lines[MOST_LINES - 1]),
            ("line 101", "INFO a\tb")
        );
        assert!(waiting.take().is_empty());
        waiting.add(&"é".repeat(LONGEST_LINE + 1));
        assert_eq!(waiting.take()[0].chars().count(), LONGEST_LINE);
    }

    #[test]
    fn a_line_is_whole_when_its_end_was_written() {
        let waiting = Waiting::default();
        let mut log = PageLog::new(waiting.clone());
        for part in ["on", "e\ntwo\nthr", "ee"] {
            log.write_all(part.as_bytes()).unwrap();
        }
        assert_eq!(waiting.take(), ["one", "two"]);
        log.write_all(b"\n").unwrap();
        assert_eq!(waiting.take(), ["three"]);
    }
}
