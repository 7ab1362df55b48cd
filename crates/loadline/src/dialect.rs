//! Other tools' commands: called as `loadline ab …`, or by their own names through links.
//!
//! Their arguments have another syntax, so they are recognised before any flag is parsed.

use crate::commands::{k6, locust, oha, wrk};
use crate::exit::{refuse, sentence};
use crate::flags::not_text;
use loadline_dialects::ab;
use loadline_dialects::processes;
use loadline_dialects::wrk::Tool;
use loadline_runner::{Command, Commands};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, available_parallelism};

/// The exit code of a tool that SIGTERM ended.
const TERMINATED: u8 = 128 + SIGTERM as u8;

/// A tool whose command line is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    /// ApacheBench.
    Ab,
    /// wrk or wrk2.
    Wrk(Tool),
    /// oha.
    Oha,
    /// k6.
    K6,
    /// Locust.
    Locust,
}

impl Dialect {
    fn named(name: &str) -> Option<Self> {
        match name {
            "ab" => Some(Dialect::Ab),
            "wrk" => Some(Dialect::Wrk(Tool::Wrk)),
            "wrk2" => Some(Dialect::Wrk(Tool::Wrk2)),
            "oha" => Some(Dialect::Oha),
            "k6" => Some(Dialect::K6),
            "locust" => Some(Dialect::Locust),
            _ => None,
        }
    }

    /// The tool's exit code for words that it can't read.
    fn misused(self) -> ExitCode {
        ExitCode::from(match self {
            Dialect::Ab => 22,
            Dialect::Wrk(_) => 1,
            Dialect::Oha => 2,
            Dialect::K6 => 255,
            // Python reads its words, whatever they are.
            Dialect::Locust => 1,
        })
    }
}

/// Runs the tool that a whole command line asks for, the program's name first; `None` if it asks
/// for none.
pub(crate) fn run(line: &[OsString]) -> Option<ExitCode> {
    let (dialect, words) = asked(line)?;
    if dialect != Dialect::Locust
        && let Some(sentence) = not_text(&words)
    {
        refuse(&sentence);
        return Some(dialect.misused());
    }
    Some(match dialect {
        Dialect::Locust => locust::run(&words).into(),
        Dialect::Ab | Dialect::Wrk(_) | Dialect::Oha | Dialect::K6 => {
            run_on_processes(dialect, &words)
        }
    })
}

/// Runs a tool whose words may have `--processes` in front of them.
fn run_on_processes(dialect: Dialect, words: &[OsString]) -> ExitCode {
    let words = text_of(words);
    let (processes, words) = match processes::split(&words) {
        Ok(split) => split,
        Err(sentence) => {
            refuse(&sentence);
            return dialect.misused();
        }
    };
    match dialect {
        Dialect::Ab => run_ab(words, processes),
        Dialect::K6 => k6::run(words, cores(), processes).into(),
        Dialect::Wrk(tool) => run_wrk(tool, words, processes),
        _ => run_oha(words, processes),
    }
}

/// The tool asked for, and its own words: `--processes` in front of its name is one of them.
fn asked(line: &[OsString]) -> Option<(Dialect, Vec<OsString>)> {
    let (program, words) = line.split_first()?;
    let called = Path::new(program).file_name()?.to_str();
    if let Some(dialect) = called.and_then(Dialect::named) {
        return Some((dialect, words.to_vec()));
    }
    let (before, words) = words.split_at(words_of_processes(words).min(words.len()));
    let (first, words) = words.split_first()?;
    let dialect = first.to_str().and_then(Dialect::named)?;
    Some((dialect, [before, words].concat()))
}

/// The number of words with which `--processes` begins a line, its number included.
fn words_of_processes(words: &[OsString]) -> usize {
    match words.first().and_then(|word| word.to_str()) {
        Some("--processes") => 2,
        Some(word) if word.starts_with("--processes=") => 1,
        _ => 0,
    }
}

/// SIGINT and SIGTERM abort the run. What is returned says whether SIGTERM has come.
fn abort_by_signals(commands: &Commands) -> io::Result<Arc<AtomicBool>> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let commands = commands.clone();
    let is_terminated = Arc::new(AtomicBool::new(false));
    let terminated = Arc::clone(&is_terminated);
    let wait = move || {
        for signal in signals.forever() {
            terminated.fetch_or(signal == SIGTERM, Ordering::Relaxed);
            commands.send(Command::Abort);
        }
    };
    let interrupts = thread::Builder::new().name("interrupts".to_owned());
    interrupts.spawn(wait)?;
    Ok(is_terminated)
}

fn run_wrk(tool: Tool, words: &[String], processes: u32) -> ExitCode {
    let words = words.iter().map(OsString::from).collect();
    let ran = wrk::run(tool, words, processes);
    ran.unwrap_or_else(|error| refuse(&sentence(&error))).into()
}

/// All are UTF-8: others were refused.
fn text_of(words: &[OsString]) -> Vec<String> {
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    words.iter().map(text).collect()
}

fn cores() -> u32 {
    available_parallelism().map_or(1, |cores| cores.get() as u32)
}

fn run_ab(words: &[String], processes: u32) -> ExitCode {
    let commands = Commands::default();
    if let Err(error) = abort_by_signals(&commands) {
        return refuse(&format!("signals can't be watched: {error}")).into();
    }
    let surroundings = ab::Surroundings {
        cores: cores(),
        processes,
        commands,
        stdout: &mut io::stdout().lock(),
        stderr: &mut io::stderr().lock(),
    };
    ab::run(words, surroundings).into()
}

fn run_oha(words: &[String], processes: u32) -> ExitCode {
    let commands = Commands::default();
    let is_terminated = match abort_by_signals(&commands) {
        Ok(is_terminated) => is_terminated,
        Err(error) => return refuse(&format!("signals can't be watched: {error}")).into(),
    };
    match oha::run(words, cores(), processes, commands) {
        0 if is_terminated.load(Ordering::Relaxed) => ExitCode::from(TERMINATED),
        code => code.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn words_that_are_no_text_are_named() {
        let words = ["-c1".into(), OsString::from_vec(b"http://a/\xff".to_vec())];
        assert_eq!(not_text(&words[..1]), None);
        let sentence = not_text(&words).expect("a sentence");
        assert!(
            sentence.starts_with("`http://a/\u{fffd}` is not UTF-8"),
            "{sentence}"
        );
        let line = [&["ab".into()], &words[..]].concat();
        let code = run(&line).expect("a tool");
        assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(22)));
    }

    fn asked_by(line: &str) -> Option<(Dialect, usize)> {
        let line: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        asked(&line).map(|(dialect, words)| (dialect, words.len()))
    }

    #[test]
    fn a_tool_is_asked_for_by_the_first_word_or_the_commands_own_name() {
        assert_eq!(asked_by("loadline ab -n 5 a/"), Some((Dialect::Ab, 3)));
        assert_eq!(asked_by("/tmp/links/ab -n 5 a/"), Some((Dialect::Ab, 3)));
        assert_eq!(asked_by("ab ab"), Some((Dialect::Ab, 1)));
        assert_eq!(
            asked_by("loadline --processes 2 k6 run a.js"),
            Some((Dialect::K6, 4))
        );
        assert_eq!(
            asked_by("loadline --processes=2 locust -f a"),
            Some((Dialect::Locust, 3))
        );
        let wrk2 = Dialect::Wrk(Tool::Wrk2);
        assert_eq!(asked_by("/usr/bin/wrk2 --help -- -c5"), Some((wrk2, 3)));
        assert_eq!(asked_by("loadline wrk"), Some((Dialect::Wrk(Tool::Wrk), 0)));
        for line in [
            "loadline",
            "loadline run ab",
            "loadline -c 1 ab",
            "/tmp/ab/loadline a",
            "loadline --processes",
            "loadline --processes 2",
            "loadline --processes 2 http://ab/",
        ] {
            assert_eq!(asked_by(line), None, "{line}");
        }
    }
}
