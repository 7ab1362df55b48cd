//! A locustfile that is started from a page, in a process of its own.

use super::followed::{Maker, follow_log, follow_seated};
use super::words::Words;
use crate::commands::locust;
use loadline_live_page::Seat;
use loadline_record::RunFile;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStderr, Stdio};
use std::thread::{self, JoinHandle};

/// The lines of a process that are kept to find out why it has ended.
const KEPT_LINES: usize = 40;
/// The most characters of a sentence that is shown.
const LONGEST_SENTENCE: usize = 1_000;

/// Runs a locustfile, and returns at its end.
///
/// # Errors
/// The sentence about what keeps it from running.
pub(crate) fn run(words: &Words, seat: &Seat) -> Result<(), String> {
    let own: Vec<OsString> = words.words[2..].iter().map(OsString::from).collect();
    let folder = tempfile::tempdir();
    let folder = folder.map_err(|error| format!("There is no place for the log: {error}."))?;
    let log = folder.path().join("log");
    let command = locust::Words {
        words: &own,
        agents: None,
        options: Some(words.options.clone()),
    };
    let (mut child, lever) = command.start(None, &log, Stdio::piped())?;
    let copied = child.stderr.take().map(copy_stderr);
    let maker = Maker::of(&child, Some(lever));
    // Without it the lines are on the terminal alone.
    let _ = follow_log(log, maker.clone(), seat.log());
    let followed = follow_seated(words.save.clone().into(), maker.clone(), seat);
    let status = maker.wait(child);
    let followed = followed.map_err(|error| format!("The run can't be shown: {error}."))?;
    // If it panicked, that was told.
    let _ = followed.join();
    match status {
        Ok(status) if status.success() || has_sent(Path::new(&words.save)) => Ok(()),
        Ok(status) => {
            let said = copied.and_then(|thread| thread.join().ok());
            let why = said.and_then(|lines| refusal(lines.iter().map(String::as_str)));
            Err(why.unwrap_or_else(|| format!("Locust ended with {status}, and said nothing.")))
        }
        Err(error) => Err(format!("Locust's end is not known: {error}.")),
    }
}

/// True if there is a saved run that has sent something: its exit code is that of its failures.
fn has_sent(path: &Path) -> bool {
    let run = path.exists().then(|| RunFile::read(path));
    run.is_some_and(|run| run.is_ok_and(|run| run.summary().total.counts.sent > 0))
}

/// Copies what a process writes to stderr to that of this one; the last lines are kept.
fn copy_stderr(input: ChildStderr) -> JoinHandle<VecDeque<String>> {
    thread::spawn(move || {
        let mut kept = VecDeque::new();
        for line in BufReader::new(input).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            // A terminal that is gone keeps nothing from being shown.
            let _ = writeln!(io::stderr(), "{line}");
            kept.push_back(line);
            if kept.len() > KEPT_LINES {
                kept.pop_front();
            }
        }
        kept
    })
}

/// The sentence in the lines of a process that has ended early: the first error in the log, what
/// is said of its options, or else the last line.
fn refusal<'a>(lines: impl DoubleEndedIterator<Item = &'a str>) -> Option<String> {
    let lines: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
    let logged = lines.iter().find_map(|line| logged_error(line));
    let of_options = lines.iter().position(|line| line.contains(": error: "));
    let sentence = match (logged, of_options) {
        (Some(logged), _) => logged.to_owned(),
        (None, Some(begin)) => lines[begin..].join(" "),
        (None, None) => (*lines.last()?).to_owned(),
    };
    Some(sentence.trim().chars().take(LONGEST_SENTENCE).collect())
}

/// The message of a line of the log, without its time, host and logger, if it is an error.
fn logged_error(line: &str) -> Option<&str> {
    let levels = ["/ERROR/", "/CRITICAL/"];
    let after_level = levels.iter().find_map(|level| line.split_once(level));
    let (_, rest) = after_level.filter(|_| line.starts_with('['))?;
    let (_, message) = rest.split_once(": ")?;
    Some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_an_early_end_is_the_first_error_or_the_last_line() {
        for (said, sentence) in [
            (
                "usage: locust\nlocust: error: no such option\nDid you mean it?\n\n",
                "locust: error: no such option Did you mean it?",
            ),
            (
                "[2026-11-25 01:29:23,628] a/INFO/locust.main: Starting\n\
                 [2026-11-25 01:29:23,630] a/ERROR/locust.main: No User class found!\n\
                 [2026-11-25 01:29:23,631] a/INFO/locust.main: Ending",
                "No User class found!",
            ),
            ("Traceback\nValueError: 7", "ValueError: 7"),
        ] {
            assert_eq!(refusal(said.lines()).as_deref(), Some(sentence));
        }
        assert_eq!(refusal("\n \n".lines()), None);
    }
}
