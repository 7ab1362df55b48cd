//! The messages of agents and coordinators beside the frames of a run, and their subjects.
//!
//! | subject | from | contents |
//! |---|---|---|
//! | `loadline.agents` | a coordinator | nothing; each agent answers with its [`Card`] |
//! | `loadline.agent.ID.offer` | a coordinator | [`Offer`]; the agent answers with [`Answer`] |
//! | `loadline.agent.ID.clock` | a coordinator | nothing; the agent answers with [`Reading`] |
//! | `loadline.agent.ID.look` | a coordinator | [`LookRequest`]; its answer is [`LookAnswer`] |
//! | `loadline.agent.ID.floor` | a coordinator | nothing; the agent answers with [`FloorAnswer`] |
//! | `loadline.run.RUN.ID.down` | the coordinator | parcels for the part |
//! | `loadline.run.RUN.ID.up` | the agent | parcels of the part |
//! | `loadline.run.RUN.merger.MERGER.PART.up` | the agent of a part | parcels for the merger |
//! | `loadline.run.RUN.merger.MERGER.PART.down` | the agent of the merger | parcels for the part |

use crate::connection::random_word;
use crate::selector::Labels;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The subject of the search for agents.
pub(crate) const AGENTS: &str = "loadline.agents";

/// The longest silence of one end of a line, after which the other end gives it up.
pub(crate) const SILENCE_TIMEOUT: Duration = Duration::from_secs(3);
/// The time between two signs of life of one end of a line. What was lost is sent again after two
/// of them at the latest.
pub(crate) const HEARTBEAT: Duration = Duration::from_millis(500);

/// The description of an agent by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// Its identity: unique on the bus.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The versions that it uses.
    pub versions: Versions,
    /// The number of cores that it may use.
    pub cores: u32,
    /// The most files and connections that a process of it may have open.
    pub open_files: u64,
    /// The most connections from one of its addresses to one of a target: its local ports, if they
    /// are known.
    #[serde(default)]
    pub local_ports: Option<u64>,
    /// Its labels.
    #[serde(default)]
    pub labels: Labels,
    /// The processes that it watches. Such an agent takes no part in runs: it is on the machine of
    /// their target.
    #[serde(default)]
    pub watches: Vec<String>,
    /// The run of which it has a part, if it has one, or `floor` while it measures the floor of its
    /// machine.
    pub busy_with: Option<String>,
}

/// The word in place of a run while an agent measures the floor of its machine. No run has it.
pub(crate) const MEASURING: &str = "floor";

/// Returns the reason why an agent that is busy with this run has no part of another one, as the
/// rest of a sentence.
pub(crate) fn busy_with(run: &str) -> String {
    match run {
        MEASURING => "measures the floor of its machine, for a second".to_owned(),
        run => format!("is busy with run {run}"),
    }
}

impl Card {
    /// Creates the card of an agent of this program.
    pub fn new(name: String, cores: u32, open_files: u64, labels: Labels) -> Self {
        Card {
            id: random_word(),
            name,
            versions: Versions::own(),
            cores,
            open_files,
            local_ports: None,
            labels,
            watches: Vec::new(),
            busy_with: None,
        }
    }

    /// Returns the reason why the agent can't have a part of a run now, as the rest of a sentence.
    pub(crate) fn refusal(&self) -> Option<String> {
        let busy = self.busy_with.as_deref().map(busy_with);
        let watching = (!self.watches.is_empty()).then(|| {
            let watches = self.watches.join(", ");
            format!("watches {watches}, and takes no part in runs")
        });
        self.versions.mismatch().or(watching).or(busy)
    }
}

/// The versions of all that an agent and a coordinator must have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// The version of Loadline.
    pub loadline: String,
    /// The version of the worker protocol.
    pub protocol: u32,
    /// The version of the format of reports.
    pub reports: u8,
}

impl Versions {
    /// Returns the versions of this program.
    pub fn own() -> Self {
        Versions {
            loadline: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: loadline_cluster::PROTOCOL,
            reports: loadline_engine::REPORT_FORMAT,
        }
    }

    /// Returns the reason why this program and one of these versions can't have a run in common.
    pub(crate) fn mismatch(&self) -> Option<String> {
        let own = Versions::own();
        (*self != own).then(|| format!("has {self}, and this is {own}"))
    }
}

impl std::fmt::Display for Versions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (protocol, reports) = (self.protocol, self.reports);
        let own = &self.loadline;
        write!(f, "Loadline {own} (protocol {protocol}, reports {reports})")
    }
}

/// The offer of a part of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Offer {
    /// The name of the run.
    pub(crate) run: String,
    pub(crate) versions: Versions,
    /// The tool whose own program has the part; `None` if this one has it.
    #[serde(default)]
    pub(crate) tool: Option<String>,
    /// The words of a command that is to run there instead of a part of a run.
    #[serde(default)]
    pub(crate) command: Option<Vec<String>>,
}

/// The process that an agent is to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task<'a> {
    /// A part of a run, in this program.
    Part,
    /// A part of a run, in the program of this tool.
    PartOf(&'a str),
    /// A command, with its arguments.
    Command(&'a [String]),
}

impl Offer {
    /// Returns what is to be started.
    pub(crate) fn task(&self) -> Task<'_> {
        match (&self.command, &self.tool) {
            (Some(words), _) => Task::Command(words),
            (None, Some(tool)) => Task::PartOf(tool),
            (None, None) => Task::Part,
        }
    }
}

/// The answer to an offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// The agent waits for the frames of its part.
    Accepted,
    /// It has no part of the run, for this reason: the rest of a sentence.
    Refused(String),
}

/// The request for what processes have used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LookRequest {
    /// The word of the view: the answer is what was used since the last request with it.
    pub(crate) word: String,
}

/// The answer to a request for what processes have used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum LookAnswer {
    /// The reading, as JSON.
    Reading(String),
    /// There is none, for this reason: the rest of a sentence.
    Refused(String),
}

/// The answer to a request for the floor of an agent's machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FloorAnswer {
    /// The floor, as JSON.
    Floor(String),
    /// There is none, for this reason: the rest of a sentence.
    Refused(String),
}

/// The reading of an agent's clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reading {
    /// Nanoseconds of its `CLOCK_MONOTONIC`.
    pub(crate) now_ns: u64,
    /// Nanoseconds of its wall clock since 1970.
    pub(crate) wall_ns: u64,
}

pub(crate) fn offers(id: &str) -> String {
    format!("loadline.agent.{id}.offer")
}

pub(crate) fn looks(id: &str) -> String {
    format!("loadline.agent.{id}.look")
}

pub(crate) fn floors(id: &str) -> String {
    format!("loadline.agent.{id}.floor")
}

pub(crate) fn clock(id: &str) -> String {
    format!("loadline.agent.{id}.clock")
}

/// The subject of the parcels for a part.
pub(crate) fn down(run: &str, id: &str) -> String {
    format!("loadline.run.{run}.{id}.down")
}

/// The subject of the parcels of a part.
pub(crate) fn up(run: &str, id: &str) -> String {
    format!("loadline.run.{run}.{id}.up")
}

/// The subject of the parcels of a part for the merger of this number.
pub(crate) fn to_merger(run: &str, merger: u32, part: u32) -> String {
    format!("loadline.run.{run}.merger.{merger}.{part}.up")
}

/// The subject of the parcels of a merger for a part.
pub(crate) fn from_merger(run: &str, merger: u32, part: u32) -> String {
    format!("loadline.run.{run}.merger.{merger}.{part}.down")
}

/// True if a word can stand in a subject.
pub(crate) fn is_word(text: &str) -> bool {
    !text.is_empty() && text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Encodes a message.
pub(crate) fn encode(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).expect("a message of plain data has JSON")
}

/// Decodes a message; `None` if it is none of this type.
pub(crate) fn decode<T: DeserializeOwned>(contents: &[u8]) -> Option<T> {
    serde_json::from_slice(contents).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_versions_are_named_with_our_own() {
        assert_eq!(Versions::own().mismatch(), None);
        let older = Versions {
            protocol: 1,
            ..Versions::own()
        };
        let said = older.mismatch().expect("a mismatch");
        assert!(
            said.contains("protocol 1") && said.contains(&format!("this is {}", Versions::own())),
            "{said}"
        );
    }

    #[test]
    fn only_plain_words_stand_in_subjects() {
        assert!(is_word(&random_word()));
        for text in ["", "a.b", "*", ">", "a b", "ä"] {
            assert!(!is_word(text), "{text}");
        }
    }
}
