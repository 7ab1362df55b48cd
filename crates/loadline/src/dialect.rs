//! Other tools' commands: called as `loadline ab …`, or by their own names through links.
//!
//! Their arguments have another syntax, so they are recognised before any flag is parsed.

mod front;
mod live_view;
mod pages;
pub(crate) mod signals;

use crate::agents::{hire, of_locustfile};
use crate::commands::{k6, locust};
use crate::exit::{refuse, sentence};
use crate::flags::not_text;
use crate::interrupt::{Interrupts, Manner};
use front::Front;
use loadline_tool_ab as ab;
use loadline_tool_host::{Host, LivePages, Terminals};
use loadline_tool_oha as oha;
use loadline_tool_wrk::{self as wrk, Tool};
#[cfg(feature = "k6")]
pub(crate) use pages::shown_results;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;
use std::thread::available_parallelism;

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

/// Runs the tool that a whole command line names, the program's name first; `None` if it names
/// none.
pub(crate) fn run(line: &[OsString]) -> Option<ExitCode> {
    let (dialect, words) = named_tool(line)?;
    if dialect != Dialect::Locust
        && let Some(sentence) = not_text(&words)
    {
        refuse(&sentence);
        return Some(dialect.misused());
    }
    let words = match dialect {
        Dialect::K6 => front::with_those_of_run(words),
        Dialect::Ab | Dialect::Wrk(_) | Dialect::Oha | Dialect::Locust => words,
    };
    let (front, words) = match front::read(&words, dialect == Dialect::Locust) {
        Ok(read) => read,
        Err(sentence) => {
            refuse(&sentence);
            return Some(dialect.misused());
        }
    };
    Some(if dialect == Dialect::Locust {
        run_locust(&words, front)
    } else {
        run_here(dialect, &text_of(&words), front)
    })
}

/// Runs a locustfile, in a process of its own.
fn run_locust(words: &[OsString], front: Front) -> ExitCode {
    let agents = match of_locustfile(&front.machines) {
        Ok(agents) => agents,
        Err(sentence) => return refuse(&sentence).into(),
    };
    let command = locust::Words {
        words,
        agents,
        options: None,
    };
    ExitCode::from(match front.web {
        None => command.run(),
        Some(web) => command.run_shown(&web),
    })
}

/// Runs a tool in this process.
fn run_here(dialect: Dialect, words: &[String], front: Front) -> ExitCode {
    let hired = match hire(&front.machines, front.processes, true) {
        Ok(hired) => hired,
        Err(sentence) => {
            refuse(&sentence);
            return dialect.misused();
        }
    };
    let processes = hired.map_or(front.processes, |hired| hired.parts);
    let opened = pages::Opened::default();
    let mut host = host(processes, opened.opener(front.web));
    host.cores = hired.map_or(host.cores, |hired| hired.cores);
    let signals = host.signals.clone();
    let mut is_interrupted = false;
    let code = match dialect {
        Dialect::K6 => k6::run(
            words,
            Host {
                stderr: opened.logged(io::stderr()),
                ..host
            },
        ),
        Dialect::Wrk(tool) => match Interrupts::watch(Manner::AtOnce, &host.commands) {
            Ok(interrupts) => {
                let code = wrk::run(tool, words, host);
                is_interrupted = interrupts.happened();
                code
            }
            Err(error) => return refuse(&sentence(&error)).into(),
        },
        Dialect::Ab | Dialect::Oha | Dialect::Locust => match signals::watch(&host, |_, _| {}) {
            Ok(()) if dialect == Dialect::Ab => ab::run(words, host),
            Ok(()) => oha::run(words, host),
            Err(error) => return refuse(&format!("signals can't be watched: {error}")).into(),
        },
    };
    opened.keep(is_interrupted || signals.has_any());
    code.into()
}

/// Runs a command of k6 that was started from a page; returns its exit code. Its errors are written
/// to `stderr`.
#[cfg(feature = "k6")]
pub(crate) fn run_k6(words: &[String], pages: LivePages, stderr: loadline_tool_host::Stream) -> u8 {
    let host = Host {
        stderr,
        terminals: Terminals::default(),
        ..host(1, pages)
    };
    loadline_k6_command::run(words, host)
}

/// This process as the host of a tool, with so many processes for its load.
fn host(processes: u32, pages: LivePages) -> Host {
    let host = Host::new(Box::new(io::stdout()), Box::new(io::stderr()));
    let variables = std::env::vars_os();
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let size = terminal_size::terminal_size_of(io::stdout());
    Host {
        cores: available_parallelism().map_or(1, |cores| cores.get() as u32),
        processes,
        seed: rand::random(),
        environment: variables.filter_map(text).collect(),
        terminals: Terminals {
            stdout: io::stdout().is_terminal(),
            stderr: io::stderr().is_terminal(),
            columns: size.map(|(columns, _)| columns.0),
        },
        view: live_view::opener(&host.commands),
        pages,
        ..host
    }
}

/// Returns the named tool, and its words: those of Loadline in front of its name come first.
fn named_tool(line: &[OsString]) -> Option<(Dialect, Vec<OsString>)> {
    let (program, words) = line.split_first()?;
    let called = Path::new(program).file_name()?.to_str();
    if let Some(dialect) = called.and_then(Dialect::named) {
        return Some((dialect, words.to_vec()));
    }
    let (before, words) = words.split_at(front::length(words));
    let (first, words) = words.split_first()?;
    let dialect = first.to_str().and_then(Dialect::named)?;
    Some((dialect, [before, words].concat()))
}

/// All are UTF-8: others were refused.
fn text_of(words: &[OsString]) -> Vec<String> {
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    words.iter().map(text).collect()
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

    fn named_tool_of(line: &str) -> Option<(Dialect, usize)> {
        let line: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        named_tool(&line).map(|(dialect, words)| (dialect, words.len()))
    }

    #[test]
    fn a_tool_is_asked_for_by_the_first_word_or_the_commands_own_name() {
        assert_eq!(named_tool_of("loadline ab -n 5 a/"), Some((Dialect::Ab, 3)));
        assert_eq!(
            named_tool_of("/tmp/links/ab -n 5 a/"),
            Some((Dialect::Ab, 3))
        );
        assert_eq!(named_tool_of("ab ab"), Some((Dialect::Ab, 1)));
        assert_eq!(
            named_tool_of("loadline --processes 2 k6 run a.js"),
            Some((Dialect::K6, 4))
        );
        assert_eq!(
            named_tool_of("loadline --processes=2 locust -f a"),
            Some((Dialect::Locust, 3))
        );
        assert_eq!(
            named_tool_of("loadline --web --processes=2 oha a/"),
            Some((Dialect::Oha, 3))
        );
        assert_eq!(
            named_tool_of("loadline --nats nats://h --agents=2 k6 run a.js"),
            Some((Dialect::K6, 5))
        );
        let wrk2 = Dialect::Wrk(Tool::Wrk2);
        assert_eq!(
            named_tool_of("/usr/bin/wrk2 --help -- -c5"),
            Some((wrk2, 3))
        );
        assert_eq!(
            named_tool_of("loadline wrk"),
            Some((Dialect::Wrk(Tool::Wrk), 0))
        );
        for line in [
            "loadline",
            "loadline run ab",
            "loadline -c 1 ab",
            "/tmp/ab/loadline a",
            "loadline --processes",
            "loadline --processes 2",
            "loadline --processes 2 http://ab/",
            "loadline --web http://ab/",
        ] {
            assert_eq!(named_tool_of(line), None, "{line}");
        }
    }
}
