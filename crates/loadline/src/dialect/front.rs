//! Loadline's own words in front of another tool's: `--processes`, `--agents`, `--web` and what
//! belongs to them. They stand before the tool's name, or directly after it; in `k6 run`, which has
//! none of them, anywhere.

use crate::flags::run::machines::MachineFlags;
use crate::flags::run::web::WebFlags;
use crate::flags::sentence;
use crate::web::Web;
use clap::Parser;
use loadline_tool_host::processes;
use std::ffi::{OsStr, OsString};

/// The flag that is a tool's own word where the tool has it too.
const PROCESSES: &str = "--processes";
/// The flags that take a value as their next word.
const WITH_VALUE: [&str; 13] = [
    PROCESSES,
    "--agents",
    "--agents-timeout",
    "--on-loss",
    "--nats",
    "--nats-ca",
    "--nats-creds",
    "--nats-user",
    "--nats-password-file",
    "--web-user",
    "--web-password-file",
    "--web-cert",
    "--web-key",
];
/// The flags without a value.
const INSECURE_BUS: &str = "--insecure-bus";
const ELASTIC: &str = "--elastic";
const PER_AGENT: &str = "--per-agent";
const WEB: &str = "--web";

/// The words in front of those of a tool.
#[derive(Debug)]
pub(super) struct Front {
    /// The number of processes for the load, at least 1.
    pub(super) processes: u32,
    /// The live page, if one is requested.
    pub(super) web: Option<Web>,
    /// The agents that send the load, if it is not this machine.
    pub(super) machines: MachineFlags,
}

/// The flags of the live page and of agents alone.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Line {
    #[command(flatten)]
    web: WebFlags,
    #[command(flatten)]
    machines: MachineFlags,
}

/// Returns the number of words with which a line begins that are Loadline's.
pub(super) fn length(words: &[OsString]) -> usize {
    let mut length = 0;
    while let Some(own) = words.get(length).and_then(|word| length_of(word)) {
        length += own;
    }
    length.min(words.len())
}

/// The number of words of a flag, its value included; `None` if it is none of these.
fn length_of(word: &OsStr) -> Option<usize> {
    let word = word.to_str()?;
    if WITH_VALUE.contains(&word) {
        return Some(2);
    }
    let (name, _) = word.split_once('=').unwrap_or((word, ""));
    let is_alone = [WEB, INSECURE_BUS, ELASTIC, PER_AGENT].contains(&word);
    (is_alone || name == WEB || WITH_VALUE.contains(&name)).then_some(1)
}

/// Returns the words of k6 with those of Loadline after its `run` in front of all. k6 has
/// `--processes` here as its own.
pub(super) fn with_those_of_run(words: Vec<OsString>) -> Vec<OsString> {
    let (mut front, own) = {
        let (front, own) = words.split_at(length(&words));
        (front.to_vec(), own)
    };
    let Some((run, own)) = own.split_first().filter(|(first, _)| *first == "run") else {
        return words;
    };
    let end = own.iter().position(|word| word == "--");
    let (flags, after_end) = own.split_at(end.unwrap_or(own.len()));
    let (mut rest, mut others) = (flags, vec![run.clone()]);
    while let Some(first) = rest.first() {
        let own = length_of(first).filter(|_| !is_of_processes(first));
        let (flag, behind) = rest.split_at(own.unwrap_or(1).min(rest.len()));
        match own {
            Some(_) => front.extend_from_slice(flag),
            None => others.extend_from_slice(flag),
        }
        rest = behind;
    }
    [front.as_slice(), &others, after_end].concat()
}

fn is_of_processes(word: &OsStr) -> bool {
    let word = word.to_str();
    word.is_some_and(|word| word.starts_with(PROCESSES))
}

/// Returns the requests of the words in front of a tool's own, and the tool's own words. Where the
/// tool has `--processes` itself, that is one of its own.
///
/// # Errors
/// The sentence about a word that can't be used.
pub(super) fn read(
    words: &[OsString],
    has_own_processes: bool,
) -> Result<(Front, Vec<OsString>), String> {
    let (front, own) = words.split_at(length(words));
    let (of_processes, others) = parted(front);
    let line = Line::try_parse_from(others).map_err(|error| sentence(&error))?;
    if line.machines.per_agent {
        return Err(format!(
            "{PER_AGENT} is for the exporters of Loadline's own runs (-o); leave it out in front \
             of another tool."
        ));
    }
    let of_line = |processes| Front {
        processes,
        web: Web::of(line.web),
        machines: line.machines,
    };
    if has_own_processes {
        let own = [of_processes.as_slice(), own].concat();
        return Ok((of_line(1), own));
    }
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    let of_processes: Vec<String> = of_processes.iter().map(text).collect();
    match processes::split(&of_processes)? {
        (processes, []) => Ok((of_line(processes), own.to_vec())),
        _ => Err(format!("{PROCESSES} is given twice.")),
    }
}

/// The words of `--processes`, and the others.
fn parted(front: &[OsString]) -> (Vec<OsString>, Vec<OsString>) {
    let (mut of_processes, mut others) = (Vec::new(), Vec::new());
    let mut rest = front;
    while let Some(first) = rest.first() {
        let (flag, behind) = rest.split_at(length_of(first).unwrap_or(1).min(rest.len()));
        match is_of_processes(first) {
            true => of_processes.extend_from_slice(flag),
            false => others.extend_from_slice(flag),
        }
        rest = behind;
    }
    (of_processes, others)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    fn read_line(line: &str, has_own: bool) -> Result<(u32, Option<String>, usize), String> {
        let (front, own) = read(&words(line), has_own)?;
        let place = front.web.map(|web| web.place().to_string());
        Ok((front.processes, place, own.len()))
    }

    #[test]
    fn words_of_loadline_stand_in_front_in_any_order() {
        let usual = Some("127.0.0.1:5623".to_owned());
        assert_eq!(read_line("-n 5 a/", false), Ok((1, None, 3)));
        assert_eq!(read_line("--web -n 5 a/", false), Ok((1, usual.clone(), 3)));
        let line = "--web=0.0.0.0:80 --processes 3 -n 5 a/";
        assert_eq!(
            read_line(line, false),
            Ok((3, Some("0.0.0.0:80".to_owned()), 3))
        );
        let line = "--processes=3 --web -f a.py";
        assert_eq!(read_line(line, false), Ok((3, usual.clone(), 2)));
        // Locust has processes of its own, and words that begin alike.
        assert_eq!(read_line(line, true), Ok((1, usual.clone(), 3)));
        let line = "--agents 3 --insecure-bus --nats nats://h --nats-user=anna -n 5 a/";
        assert_eq!(read_line(line, false), Ok((1, None, 3)));
        let line = "--web --web-cert c.pem --web-key=k.pem -n 5 a/";
        assert_eq!(read_line(line, false), Ok((1, usual, 3)));
        assert_eq!(read_line("--web-port 80", true), Ok((1, None, 2)));
        assert_eq!(read_line("a/ --web", false), Ok((1, None, 2)));
    }

    #[test]
    fn words_of_loadline_may_stand_after_k6_run() {
        for (line, expected) in [
            (
                "run --agents 3 -u 5 --nats=nats://h --elastic a.js",
                "--agents 3 --nats=nats://h --elastic run -u 5 a.js",
            ),
            (
                "--nats nats://h run -u 5 a.js --agents 3",
                "--nats nats://h --agents 3 run -u 5 a.js",
            ),
            ("run --processes 2 a.js", "run --processes 2 a.js"),
            ("run a.js -- --agents 3", "run a.js -- --agents 3"),
            ("run a.js --agents", "--agents run a.js"),
            ("archive --agents 3 a.js", "archive --agents 3 a.js"),
            ("", ""),
        ] {
            assert_eq!(with_those_of_run(words(line)), words(expected), "{line}");
        }
    }

    #[test]
    fn words_that_can_not_be_used_are_told_in_a_sentence() {
        for (line, said) in [
            ("--web=here a/", "--web: \"here\" is no address"),
            ("--web-user anna a/", "--web"),
            ("--agents-timeout 3s a/", "--nats is missing"),
            (
                "--per-agent --agents 2 a/",
                "--per-agent is for the exporters",
            ),
            ("--processes 0 a/", "--processes takes a number"),
            ("--processes", "--processes takes a number"),
            (
                "--processes 2 --processes 3 a/",
                "--processes is given twice",
            ),
        ] {
            let sentence = read(&words(line), false).expect_err("a sentence");
            assert!(sentence.contains(said), "{line}: {sentence}");
        }
    }
}
