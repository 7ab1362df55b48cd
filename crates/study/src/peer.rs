//! Load testers as peers: what each is asked, and how its report is read.
//!
//! A *peer* is a load tester that runs as a process of its own. Each kind has one file here, which
//! turns settings into its arguments and its report into [`Figures`]. What a tool can't do is said
//! before anything runs; what it prints instead of a report makes a failed run, never a wrong one.

mod ab;
mod h2load;
mod hey;
mod k6;
mod loadline;
mod locust;
mod oha;
mod scan;
mod wrk;

use crate::figures::Figures;
use crate::settings::Settings;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A load tester whose arguments and report are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolKind {
    /// This one.
    Loadline,
    /// wrk, also as compatibility mode of this program.
    Wrk,
    /// wrk2, wrk with a rate.
    Wrk2,
    /// oha.
    Oha,
    /// ApacheBench.
    Ab,
    /// The load tester of nghttp2, with HTTP/1.1.
    H2load,
    /// hey.
    Hey,
    /// k6.
    K6,
    /// Locust, its users being `FastHttpUser`s.
    Locust,
}

/// A setting that a tool has no argument for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each sentence says what it is")]
pub enum Unfit {
    #[error("{0} keeps its connections and can't be told not to; leave keep-alive out.")]
    AlwaysKeepsAlive(&'static str),
    #[error("{0} takes whole seconds, at least one; write such a duration.")]
    FractionOfSecond(&'static str),
    #[error("{0} would never end; give it {1}.")]
    NoEnd(&'static str, &'static str),
    #[error("{0} ends after a time, not after requests; give it a duration alone.")]
    NoRequests(&'static str),
    #[error("{0} has no rate; leave it out, or take a tool that has one.")]
    NoRate(&'static str),
    #[error("{0} takes no script; leave it out.")]
    NoScript(&'static str),
    #[error("{0} has no setting for threads; leave it out.")]
    NoThreads(&'static str),
    #[error("{0} takes a rate of its own script; leave the rate or the script out.")]
    RateWithScript(&'static str),
    #[error("{0} needs a rate; give it one.")]
    NeedsRate(&'static str),
    #[error("{0} takes a duration or a number of requests, not both.")]
    TwoEnds(&'static str),
}

/// What a tool printed can't be read as its report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// There is nothing.
    #[error("it printed no report")]
    Empty,
    /// The file that it should have written is not there.
    #[error("it wrote no report")]
    NoFile,
    /// Something that every report has is not in it.
    #[error("its report has no {0}")]
    Missing(&'static str),
    /// It is no JSON of the expected shape.
    #[error("its report is not the JSON that was expected: {0}")]
    Json(String),
}

/// Where a run goes, and where its files may stand.
pub(crate) struct Place<'a> {
    /// Where requests go.
    pub(crate) url: &'a str,
    /// A folder for this run alone.
    pub(crate) folder: &'a Path,
    /// The script, as a path that can be opened.
    pub(crate) script: Option<&'a Path>,
    /// A port without a listener, where the processes of a tool may meet.
    pub(crate) port: u16,
}

/// How a tool is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Call {
    /// Its arguments.
    pub(crate) words: Vec<String>,
    /// Files that it needs: where, and what stands in them.
    pub(crate) files: Vec<(PathBuf, String)>,
}

/// What a tool left behind.
pub(crate) struct Captured<'a> {
    /// What it printed.
    pub(crate) stdout: &'a str,
    /// The folder of its run.
    pub(crate) folder: &'a Path,
}

/// A load tester.
pub(crate) trait Peer {
    /// Its arguments for these settings.
    fn call(&self, settings: &Settings, place: &Place<'_>) -> Result<Call, Unfit>;

    /// What it measured, by its own account.
    fn read(&self, captured: &Captured<'_>) -> Result<Figures, Unreadable>;
}

impl ToolKind {
    /// All kinds.
    pub const ALL: [ToolKind; 9] = [
        ToolKind::Loadline,
        ToolKind::Wrk,
        ToolKind::Wrk2,
        ToolKind::Oha,
        ToolKind::Ab,
        ToolKind::H2load,
        ToolKind::Hey,
        ToolKind::K6,
        ToolKind::Locust,
    ];

    /// Its name, which is that of its program.
    pub fn name(self) -> &'static str {
        match self {
            ToolKind::Loadline => "loadline",
            ToolKind::Wrk => "wrk",
            ToolKind::Wrk2 => "wrk2",
            ToolKind::Oha => "oha",
            ToolKind::Ab => "ab",
            ToolKind::H2load => "h2load",
            ToolKind::Hey => "hey",
            ToolKind::K6 => "k6",
            ToolKind::Locust => "locust",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<ToolKind> {
        ToolKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The words that start it where it is installed under its own name.
    pub(crate) fn words(self) -> Vec<String> {
        vec![self.name().to_owned()]
    }

    /// Whether a process that ended with this code has made a report.
    pub(crate) fn is_success(self, code: i32) -> bool {
        // A check that failed, and a result that is not to be believed, are results.
        code == 0 || self == ToolKind::Loadline && matches!(code, 1 | 3)
    }

    pub(crate) fn peer(self) -> &'static dyn Peer {
        match self {
            ToolKind::Loadline => &loadline::Loadline,
            ToolKind::Wrk => &wrk::Wrk { paced: false },
            ToolKind::Wrk2 => &wrk::Wrk { paced: true },
            ToolKind::Oha => &oha::Oha,
            ToolKind::Ab => &ab::Ab,
            ToolKind::H2load => &h2load::H2load,
            ToolKind::Hey => &hey::Hey,
            ToolKind::K6 => &k6::K6,
            ToolKind::Locust => &locust::Locust,
        }
    }
}

/// That a tool of this kind can do what is set.
pub(crate) fn check(kind: ToolKind, settings: &Settings) -> Result<(), Unfit> {
    words(kind, settings).map(drop)
}

/// The arguments of a tool of this kind, with some URL.
pub(crate) fn words(kind: ToolKind, settings: &Settings) -> Result<Vec<String>, Unfit> {
    let place = Place {
        url: "http://127.0.0.1/",
        folder: Path::new(""),
        script: settings.script.as_deref(),
        port: 0,
    };
    kind.peer().call(settings, &place).map(|call| call.words)
}

/// Arguments as they come together.
#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn of(words: &[&str]) -> Self {
        Words(words.iter().map(ToString::to_string).collect())
    }

    fn add(&mut self, word: &str) {
        self.0.push(word.to_owned());
    }

    /// A flag with its value, if there is one.
    fn flag(&mut self, name: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.0.extend([name.to_owned(), value.to_string()]);
        }
    }

    /// The tool's own flags, which come last of all flags.
    fn flags(&mut self, settings: &Settings) {
        for flag in &settings.flags {
            self.0.extend(flag.words());
        }
    }
}

impl From<Words> for Call {
    fn from(words: Words) -> Call {
        Call {
            words: words.0,
            files: Vec::new(),
        }
    }
}

/// A duration in whole seconds.
fn whole_seconds(tool: &'static str, duration: Duration) -> Result<u64, Unfit> {
    match duration.as_secs() {
        seconds if seconds > 0 && duration.subsec_nanos() == 0 => Ok(seconds),
        _ => Err(Unfit::FractionOfSecond(tool)),
    }
}

/// A duration in seconds, as a decimal.
fn seconds(duration: Duration) -> String {
    duration.as_secs_f64().to_string()
}

/// This many in this many seconds.
fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        count as f64 / seconds
    } else {
        0.0
    }
}

/// That something ends the run.
fn check_end(tool: &'static str, settings: &Settings) -> Result<(), Unfit> {
    match (settings.duration, settings.requests) {
        (None, None) => Err(Unfit::NoEnd(tool, "a duration or a number of requests")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
