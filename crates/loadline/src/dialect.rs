//! Other tools' commands: called as `loadline ab …`, or by their own names through links.
//!
//! Their arguments are not ours to read, so they are told apart before any flag is looked at.

use loadline_dialects::ab;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::available_parallelism;

/// A tool whose command line is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    /// ApacheBench.
    Ab,
}

impl Dialect {
    fn named(name: &str) -> Option<Self> {
        match name {
            "ab" => Some(Dialect::Ab),
            _ => None,
        }
    }
}

/// Runs the tool that a whole command line asks for, the program's name first; `None` if it asks
/// for none.
pub(crate) fn run(line: &[OsString]) -> Option<ExitCode> {
    let (dialect, words) = asked(line)?;
    let words: Vec<String> = words
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    Some(match dialect {
        Dialect::Ab => run_ab(&words),
    })
}

/// The tool asked for, and its own words.
fn asked(line: &[OsString]) -> Option<(Dialect, &[OsString])> {
    let (program, words) = line.split_first()?;
    let called = Path::new(program).file_name()?.to_str();
    if let Some(dialect) = called.and_then(Dialect::named) {
        return Some((dialect, words));
    }
    let (first, words) = words.split_first()?;
    let dialect = first.to_str().and_then(Dialect::named)?;
    Some((dialect, words))
}

/// What becomes true with the first SIGINT or SIGTERM.
fn interrupted_by_signals() -> io::Result<Arc<AtomicBool>> {
    let interrupted = Arc::default();
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted))?;
    }
    Ok(interrupted)
}

fn run_ab(words: &[String]) -> ExitCode {
    let interrupted = match interrupted_by_signals() {
        Ok(interrupted) => interrupted,
        Err(error) => return crate::refuse(&format!("signals can't be watched: {error}")).into(),
    };
    let surroundings = ab::Surroundings {
        cores: available_parallelism().map_or(1, |cores| cores.get() as u32),
        interrupted,
        stdout: &mut io::stdout().lock(),
        stderr: &mut io::stderr().lock(),
    };
    ab::run(words, surroundings).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked_by(line: &str) -> Option<(Dialect, usize)> {
        let line: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        asked(&line).map(|(dialect, words)| (dialect, words.len()))
    }

    #[test]
    fn a_tool_is_asked_for_by_the_first_word_or_the_commands_own_name() {
        assert_eq!(asked_by("loadline ab -n 5 a/"), Some((Dialect::Ab, 3)));
        assert_eq!(asked_by("/tmp/links/ab -n 5 a/"), Some((Dialect::Ab, 3)));
        assert_eq!(asked_by("ab ab"), Some((Dialect::Ab, 1)));
        for line in [
            "loadline",
            "loadline run ab",
            "loadline -c 1 ab",
            "/tmp/ab/loadline a",
        ] {
            assert_eq!(asked_by(line), None, "{line}");
        }
    }
}
