//! Load testers as peers: their arguments, and the reading of their reports.
//!
//! A *peer* is a load tester that runs as a process of its own. Each kind has one file here, which
//! converts settings to its arguments and its report to [`Figures`]. A setting that a tool does not
//! support is reported before any run; output that is not a report makes the run fail, and never
//! gives wrong figures.

mod ab;
mod capacity;
mod h2load;
mod hey;
mod k6;
mod loadline;
mod locust;
mod oha;
mod scan;
mod versus;
mod wrk;

use crate::figures::Figures;
use crate::settings::Settings;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The program name that means the running program itself.
pub(crate) const OURSELVES: &str = "loadline";

/// A load tester with known arguments and a known report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolKind {
    /// Loadline.
    Loadline,
    /// This one's search for the load line.
    Capacity,
    /// This one's comparison of two targets that take turns.
    Versus,
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
    /// Locust with `FastHttpUser`s.
    Locust,
}

/// A setting that a tool has no argument for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each sentence says what it is")]
pub enum Unsupported {
    #[error("{0} keeps its connections and can't be told not to; leave keep-alive out.")]
    AlwaysKeepsAlive(&'static str),
    #[error("{0} takes whole seconds, at least one; write such a duration.")]
    FractionOfSecond(&'static str),
    #[error("{0} needs a second target; say which with `against`.")]
    NeedsOther(&'static str),
    #[error("{0} loads one target; leave `against` out.")]
    NoOther(&'static str),
    #[error("{0} sets the load itself; leave {1} out.")]
    OwnLoad(&'static str, &'static str),
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

/// The error of a tool's output that cannot be read as its report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The output is empty.
    #[error("it printed no report")]
    Empty,
    /// The tool did not write the file of its report.
    #[error("it wrote no report")]
    NoFile,
    /// The report lacks something that every report has.
    #[error("its report has no {0}")]
    Missing(&'static str),
    /// The report is not JSON of the expected structure.
    #[error("its report is not the JSON that was expected: {0}")]
    Json(String),
}

/// The target of a run, and the places of its files.
pub(crate) struct RunTarget<'a> {
    /// The URL of the requests.
    pub(crate) url: &'a str,
    /// The URL of the other target that the tool compares it with.
    pub(crate) against: Option<&'a str>,
    /// A folder for this run alone.
    pub(crate) folder: &'a Path,
    /// The script, as a path that can be opened.
    pub(crate) script: Option<&'a Path>,
    /// A port without a listener, for the communication between the processes of a tool.
    pub(crate) port: u16,
}

/// The invocation of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Call {
    /// The arguments.
    pub(crate) words: Vec<String>,
    /// The files that it needs, with their contents.
    pub(crate) files: Vec<(PathBuf, String)>,
}

/// The output of a tool.
pub(crate) struct Captured<'a> {
    /// The text that it printed.
    pub(crate) stdout: &'a str,
    /// The folder of its run.
    pub(crate) folder: &'a Path,
}

/// A load tester.
pub(crate) trait Peer {
    /// Returns the tool's arguments for these settings.
    fn call(&self, settings: &Settings, place: &RunTarget<'_>) -> Result<Call, Unsupported>;

    /// Reads the figures from the tool's report.
    fn read(&self, captured: &Captured<'_>) -> Result<Figures, Unreadable>;
}

impl ToolKind {
    /// All kinds.
    pub const ALL: [ToolKind; 11] = [
        ToolKind::Loadline,
        ToolKind::Capacity,
        ToolKind::Versus,
        ToolKind::Wrk,
        ToolKind::Wrk2,
        ToolKind::Oha,
        ToolKind::Ab,
        ToolKind::H2load,
        ToolKind::Hey,
        ToolKind::K6,
        ToolKind::Locust,
    ];

    /// Returns the kind's name, which is also the name of its program.
    pub fn name(self) -> &'static str {
        match self {
            ToolKind::Loadline => "loadline",
            ToolKind::Capacity => "capacity",
            ToolKind::Versus => "versus",
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

    /// Returns the kind with this name.
    pub fn named(name: &str) -> Option<ToolKind> {
        ToolKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the words that start the tool if it is installed under its own name.
    pub(crate) fn words(self) -> Vec<String> {
        match self {
            ToolKind::Capacity | ToolKind::Versus => {
                vec![OURSELVES.to_owned(), self.name().to_owned()]
            }
            ToolKind::Loadline
            | ToolKind::Wrk
            | ToolKind::Wrk2
            | ToolKind::Oha
            | ToolKind::Ab
            | ToolKind::H2load
            | ToolKind::Hey
            | ToolKind::K6
            | ToolKind::Locust => vec![self.name().to_owned()],
        }
    }

    /// True if the tool is this program, which knows its own flags.
    pub(crate) fn is_own(self) -> bool {
        matches!(
            self,
            ToolKind::Loadline | ToolKind::Capacity | ToolKind::Versus
        )
    }

    /// Returns the configured duration; `None` for searches and comparisons, whose settings have
    /// only the duration of one run of many.
    pub(crate) fn lasts(self, settings: &Settings) -> Option<Duration> {
        match self {
            ToolKind::Capacity | ToolKind::Versus => None,
            ToolKind::Loadline
            | ToolKind::Wrk
            | ToolKind::Wrk2
            | ToolKind::Oha
            | ToolKind::Ab
            | ToolKind::H2load
            | ToolKind::Hey
            | ToolKind::K6
            | ToolKind::Locust => settings.duration,
        }
    }

    /// True if a process that ended with this code has made a report.
    pub(crate) fn is_success(self, code: i32) -> bool {
        // A check that failed, and a result that is not to be believed, are results.
        code == 0 || self.is_own() && matches!(code, 1 | 3)
    }

    pub(crate) fn peer(self) -> &'static dyn Peer {
        match self {
            ToolKind::Loadline => &loadline::Loadline,
            ToolKind::Capacity => &capacity::Capacity,
            ToolKind::Versus => &versus::Versus,
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

/// Checks that a tool of this kind supports these settings.
pub(crate) fn check(kind: ToolKind, settings: &Settings) -> Result<(), Unsupported> {
    match (kind, &settings.against) {
        (ToolKind::Versus, None) => return Err(Unsupported::NeedsOther("versus")),
        (ToolKind::Versus, Some(_)) | (_, None) => {}
        (kind, Some(_)) => return Err(Unsupported::NoOther(kind.name())),
    }
    words(kind, settings).map(drop)
}

/// Returns the arguments of a tool of this kind, with a placeholder as URL.
pub(crate) fn words(kind: ToolKind, settings: &Settings) -> Result<Vec<String>, Unsupported> {
    let place = RunTarget {
        url: "http://127.0.0.1/",
        against: settings.against.as_ref().map(|_| "http://127.0.0.2/"),
        folder: Path::new(""),
        script: settings.script.as_deref(),
        port: 0,
    };
    kind.peer().call(settings, &place).map(|call| call.words)
}

/// A list of arguments that is being built.
#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn of(words: &[&str]) -> Self {
        Words(words.iter().map(ToString::to_string).collect())
    }

    fn add(&mut self, word: &str) {
        self.0.push(word.to_owned());
    }

    /// Adds a flag with its value, if there is one.
    fn flag(&mut self, name: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.0.extend([name.to_owned(), value.to_string()]);
        }
    }

    /// Adds the tool's own flags, after all other flags.
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

/// Returns a duration in whole seconds.
fn whole_seconds(tool: &'static str, duration: Duration) -> Result<u64, Unsupported> {
    match duration.as_secs() {
        seconds if seconds > 0 && duration.subsec_nanos() == 0 => Ok(seconds),
        _ => Err(Unsupported::FractionOfSecond(tool)),
    }
}

/// Returns a duration in seconds, as a decimal.
fn seconds(duration: Duration) -> String {
    duration.as_secs_f64().to_string()
}

/// Returns the rate of this many in this many seconds.
fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        count as f64 / seconds
    } else {
        0.0
    }
}

/// Checks that the settings end the run.
fn check_end(tool: &'static str, settings: &Settings) -> Result<(), Unsupported> {
    match (settings.duration, settings.requests) {
        (None, None) => Err(Unsupported::NoEnd(
            tool,
            "a duration or a number of requests",
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
