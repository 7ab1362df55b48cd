//! The output of a process, kept in part: its length is not bounded.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Returns the text of a file. Of a file of more than `most` bytes, returns the beginning and the
/// end, with a line between them that says how much is left out. Empty if the file cannot be read.
pub(crate) fn excerpt(path: &Path, most: u64) -> String {
    read(path, most).unwrap_or_default()
}

fn read(path: &Path, most: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    if length <= most {
        file.read_to_end(&mut bytes)?;
        return Ok(text(&bytes));
    }
    let half = most / 2;
    file.by_ref().take(half).read_to_end(&mut bytes)?;
    let begin = text(&bytes);
    bytes.clear();
    file.seek(SeekFrom::Start(length - half))?;
    file.take(half).read_to_end(&mut bytes)?;
    let left_out = length - 2 * half;
    Ok(format!(
        "{begin}\n[{left_out} bytes are left out]\n{}",
        text(&bytes)
    ))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The words that mark an error in a line of a log or a traceback.
const WRONG: [&str; 4] = ["error", "exception", "fatal", "panicked"];

/// Returns the most informative line for a message: the last one with a word for an error, or the
/// last line.
pub(crate) fn informative_line(text: &str) -> Option<&str> {
    let lines = || text.lines().rev().map(str::trim);
    let is_wrong = |line: &&str| {
        let line = line.to_lowercase();
        WRONG.iter().any(|word| line.contains(word))
    };
    let last = || lines().find(|line| !line.is_empty());
    lines().find(is_wrong).or_else(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_output_keeps_its_begin_and_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        std::fs::write(&path, "begin, a long middle, end").unwrap();
        assert_eq!(excerpt(&path, 25), "begin, a long middle, end");
        assert_eq!(excerpt(&path, 10), "begin\n[15 bytes are left out]\n, end");
        assert_eq!(excerpt(&folder.path().join("none"), 10), "");
    }

    #[test]
    fn the_last_line_is_one_that_says_something() {
        assert_eq!(informative_line("a\nb \n\n"), Some("b"));
        assert_eq!(informative_line(" \n"), None);
    }

    #[test]
    fn an_error_is_told_before_what_is_said_behind_it() {
        let log = "[2026-11-25 20:00:00,000] host/INFO/locust.main: Starting Locust 2.47.0\n\
                   Traceback (most recent call last):\n  File \"rpc.py\", line 31\n\
                   locust.exception.RPCError: Socket bind failure: Address already in use\n\
                   \n[2026-11-25 20:00:01,000] host/INFO/locust.main: Shutting down \
                   (exit code 0)\n";
        let told = "locust.exception.RPCError: Socket bind failure: Address already in use";
        assert_eq!(informative_line(log), Some(told));
    }
}
