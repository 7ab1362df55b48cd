//! Executable specifications: pages of Markdown whose scripts are run as they stand there.
//!
//! A page under `specs/` is prose with *cases*. A case begins at its heading and has
//!
//! - a script, in a block of `lua`, `js` or `ts`, which becomes `script.lua` and so on;
//! - other files, if it needs them, in blocks of their kind and name: `csv people.csv`;
//! - in a block of `console` the command, behind `$ `, with `$URL` for a test server; its exit code
//!   below, behind `? `, unless that is 0;
//! - what has to come of it, at least one of: the `requests` that arrive, the lines of its
//!   `stdout`, those of its `stderr`.
//!
//! Requests stand one below the other, parted by empty lines: the request line, the fields in any
//! order, and the body behind a `|`. `HOST` is the server's host and port. If the last line is
//! `...`, others may follow. Lines of output have to stand there in this order, others may stand
//! between; `...` in a line is any text. An empty block is an output that has to be empty.

mod case;
#[cfg(feature = "k6")]
mod k6;

use self::case::{Case, cases};
use crate::rig::{CommandOutput, beside_others, command, serve_with};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// More than any case sends.
const MOST_REQUESTS: u64 = 1_000_000;

/// The result of a case.
struct Outcome {
    said: CommandOutput,
    requests: Vec<String>,
    host: String,
    /// Where it ran, with what it wrote.
    #[cfg(feature = "k6")]
    folder: tempfile::TempDir,
}

/// Runs a case's command with this program.
fn run(case: &Case, start: impl Fn(&[&str]) -> Command) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let server = serve_with(|config| config.keep = MOST_REQUESTS);
    let host = server.addr().to_string();
    let url = format!("http://{host}");
    for (name, text) in &case.files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.replace("$URL", &url)).unwrap();
    }
    let words: Vec<String> = case
        .words
        .split_whitespace()
        .map(|word| word.replace("$URL", &url))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let _beside_others = beside_others();
    let output = start(&words).current_dir(folder.path()).output();
    let kept = server.kept();
    Outcome {
        said: output.expect("the command starts").into(),
        requests: kept
            .iter()
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            .collect(),
        host,
        #[cfg(feature = "k6")]
        folder,
    }
}

impl Outcome {
    /// What is otherwise than the case tells.
    fn differences(&self, case: &Case) -> Vec<String> {
        let CommandOutput {
            code,
            stdout,
            stderr,
        } = &self.said;
        let mut differences = Vec::new();
        if *code != Some(case.code) {
            differences.push(format!("exit code {code:?}\n{stdout}{stderr}"));
        }
        for (told, said) in [(&case.stdout, stdout), (&case.stderr, stderr)] {
            let told = told.as_deref();
            differences.extend(told.and_then(|lines| self.lines_differ(lines, said)));
        }
        let told = case.requests.as_deref();
        differences.extend(told.and_then(|lines| self.requests_differ(lines)));
        differences
    }

    fn lines_differ(&self, told: &[String], said: &str) -> Option<String> {
        if told.is_empty() && !said.is_empty() {
            return Some(format!("nothing was to be said but\n{said}"));
        }
        let mut lines = said.lines();
        let mut wanted = told.iter().map(|line| line.replace("HOST", &self.host));
        let missing = wanted.find(|line| !lines.by_ref().any(|found| is_like(found, line)))?;
        Some(format!("no line `{missing}` in its place in\n{said}"))
    }

    fn requests_differ(&self, told: &[String]) -> Option<String> {
        let (is_open, told) = match told {
            [told @ .., last] if last == "..." => (true, told),
            told => (false, told),
        };
        let told: Vec<String> = told
            .split(String::is_empty)
            .filter(|lines| !lines.is_empty())
            .map(|lines| lines.join("\n").replace("HOST", &self.host))
            .collect();
        let first = self.requests.iter().take(told.len());
        let seen: Vec<Request> = first.map(|request| Request::sent(request)).collect();
        let told: Vec<Request> = told.iter().map(|request| Request::parse(request)).collect();
        let count = self.requests.len();
        let is_same = seen == told && (is_open || count == told.len());
        (!is_same).then(|| format!("{count} requests, the first of them {seen:#?}"))
    }
}

/// A request whose fields have no order.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Request {
    line: String,
    fields: BTreeSet<String>,
    body: String,
}

impl Request {
    /// As it came.
    pub(crate) fn sent(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        Self::of(head, body)
    }

    /// As a page tells it.
    fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\n|").unwrap_or((text, ""));
        Self::of(head, body)
    }

    fn of(head: &str, body: &str) -> Self {
        let mut lines = head.lines();
        let line = lines.next().unwrap_or_default();
        Request::new(line, lines.map(str::to_owned), body)
    }

    pub(crate) fn new(line: &str, fields: impl Iterator<Item = String>, body: &str) -> Self {
        Request {
            line: line.to_owned(),
            fields: fields.collect(),
            body: body.to_owned(),
        }
    }
}

/// Whether a line is that of the page, where `...` is any text.
fn is_like(found: &str, told: &str) -> bool {
    let Some((first, others)) = told.split_once("...") else {
        return found == told;
    };
    let Some(mut rest) = found.strip_prefix(first) else {
        return false;
    };
    let (between, last) = others.rsplit_once("...").unwrap_or(("", others));
    for part in between.split("...") {
        let Some((_, behind)) = rest.split_once(part) else {
            return false;
        };
        rest = behind;
    }
    rest.ends_with(last)
}

/// Every page of a folder, found by itself.
fn pages(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("specs")
        .join(folder);
    let mut pages: Vec<PathBuf> = fs::read_dir(folder)
        .expect("there are specifications")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    pages
}

/// All cases of the pages of a folder.
fn all_cases(folder: &str) -> Vec<Case> {
    let mut all = Vec::new();
    for path in &pages(folder) {
        let page = fs::read_to_string(path).unwrap();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let cases = cases(&name, &page);
        assert!(!cases.is_empty(), "{} has no case", path.display());
        all.extend(cases);
    }
    assert!(all.len() >= 20, "{} scripts", all.len());
    all
}

/// Asserts that nothing is otherwise in any of these cases, which run two at a time: most of them
/// wait.
fn assert_no_differences(cases: &[&Case], find: impl Fn(&Case) -> Vec<String> + Sync) {
    let all_of = |cases: &[&Case]| -> Vec<String> {
        let found = cases.iter().map(|case| (&case.place, find(case)));
        found
            .flat_map(|(place, found)| found.into_iter().map(move |one| format!("{place}: {one}")))
            .collect()
    };
    let (first, second) = cases.split_at(cases.len() / 2);
    let differences = thread::scope(|scope| {
        let second = scope.spawn(|| all_of(second));
        [all_of(first), second.join().expect("a case does not panic")].concat()
    });
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

#[test]
fn scripts_in_the_words_of_wrk_do_what_their_pages_say() {
    let all = all_cases("wrk");
    let all: Vec<&Case> = all.iter().collect();
    assert_no_differences(&all, |case| run(case, command).differences(case));
}

#[test]
fn dots_stand_for_any_text() {
    assert!(is_like("thread 1 of 2", "thread ... of ..."));
    assert!(is_like("same", "same") && !is_like("same", "sam") && !is_like("a", "a...b"));
}
