//! The lines of a saved run, between JSON and their meaning.
//!
//! Each line is one JSON object with a `kind`. A line is parsed once for its kind and then again
//! for each of its parts; unknown keys are ignored, so that a later minor version may add some.

use super::encoding::{self, Encoder};
use super::error_responses::StoredErrorResponse;
use super::header::Header;
use super::metrics::StoredMetrics;
use super::search::{SavedOutcome, readable};
use super::series::StoredSeries;
use super::traced::StoredTraced;
use crate::error::LineError;
use crate::format::FORMAT_VERSION;
use crate::watched::Watched;
use crate::{
    AgentBegin, Ages, Arrivals, Counts, DeclaredCheck, Distribution, Ended, ErrorKind, Exceptions,
    Failures, HostCounters, LoadChange, Note, OddAgent, Snapshot, SparseDistribution, Summary,
    Transient, Unfinished, WorkerTimes,
};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The example of failures whose kind is unknown to this version.
const OF_LATER_VERSION: &str = "a kind of failure that a later version of Loadline records";

/// A snapshot with its distributions as text; empty ones are absent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredSnapshot {
    start_ns: u64,
    end_ns: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    drain: bool,
    counts: Counts,
    statuses: BTreeMap<u16, u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    rejected: BTreeMap<u16, u64>,
    #[serde(deserialize_with = "by_kind")]
    errors: BTreeMap<ErrorKind, Failures>,
    times: BTreeMap<String, String>,
    #[serde(default)]
    workers: BTreeMap<u32, StoredWorker>,
    #[serde(default, skip_serializing_if = "Arrivals::is_empty")]
    arrivals: Arrivals,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    series: Vec<StoredSeries>,
    #[serde(default, skip_serializing_if = "StoredMetrics::is_empty")]
    metrics: StoredMetrics,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    traced: Vec<StoredTraced>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    error_responses: Vec<StoredErrorResponse>,
    #[serde(default, skip_serializing_if = "Exceptions::is_empty")]
    exceptions: Exceptions,
}

/// Reads failures by kind. Unknown kinds are counted together; their example is a fixed text, since
/// the example of the first kind would depend on which lines are added up.
fn by_kind<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<ErrorKind, Failures>, D::Error> {
    let read: BTreeMap<String, Failures> = Deserialize::deserialize(deserializer)?;
    let mut errors: BTreeMap<ErrorKind, Failures> = BTreeMap::new();
    for (name, mut failures) in read {
        let kind = ErrorKind::named(&name);
        if kind.name() != name {
            OF_LATER_VERSION.clone_into(&mut failures.example);
        }
        errors.entry(kind).or_default().add(&failures);
    }
    Ok(errors)
}

/// A worker's times with their distribution as text.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredWorker {
    wall_ns: u64,
    cpu_ns: u64,
    #[serde(default)]
    polled_ns: u64,
    queued_ns: u64,
    #[serde(default)]
    still_ns: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turns: Option<String>,
    #[serde(default)]
    answered: u64,
    #[serde(default)]
    connections: u64,
    #[serde(default)]
    bytes_in: u64,
    #[serde(default)]
    bytes_out: u64,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    cores: BTreeSet<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timer_slack_ns: Option<u64>,
}

impl StoredWorker {
    fn encode(times: &WorkerTimes, encoder: &mut Encoder) -> StoredWorker {
        StoredWorker {
            wall_ns: times.wall_ns,
            cpu_ns: times.cpu_ns,
            polled_ns: times.polled_ns,
            queued_ns: times.queued_ns,
            still_ns: times.stalled_ns,
            turns: encoder.encode(&times.loop_iterations.distribution()),
            answered: times.answered,
            connections: times.connections,
            bytes_in: times.bytes_in,
            bytes_out: times.bytes_out,
            cores: times.cores.clone(),
            timer_slack_ns: times.timer_slack_ns,
        }
    }

    fn decode(&self) -> Result<WorkerTimes, LineError> {
        Ok(WorkerTimes {
            wall_ns: self.wall_ns,
            cpu_ns: self.cpu_ns,
            polled_ns: self.polled_ns,
            queued_ns: self.queued_ns,
            stalled_ns: self.still_ns,
            loop_iterations: SparseDistribution::from(&optional("turns", self.turns.as_deref())?),
            answered: self.answered,
            connections: self.connections,
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            cores: self.cores.clone(),
            timer_slack_ns: self.timer_slack_ns,
        })
    }
}

impl StoredSnapshot {
    pub(crate) fn encode(snapshot: &Snapshot, encoder: &mut Encoder) -> StoredSnapshot {
        let encoded = snapshot.times.each().into_iter();
        let workers = snapshot.workers.iter();
        StoredSnapshot {
            start_ns: snapshot.start_ns,
            end_ns: snapshot.end_ns,
            drain: snapshot.drain,
            counts: snapshot.counts,
            statuses: snapshot.statuses.clone(),
            rejected: snapshot.rejected.clone(),
            errors: snapshot.errors.clone(),
            times: encoded
                .filter_map(|(name, times)| Some((name.to_owned(), encoder.encode(times)?)))
                .collect(),
            workers: workers
                .map(|(worker, times)| (*worker, StoredWorker::encode(times, encoder)))
                .collect(),
            arrivals: snapshot.arrivals.clone(),
            series: StoredSeries::encode_all(&snapshot.series),
            metrics: StoredMetrics::encode_next(&snapshot.metrics, encoder.trends()),
            traced: StoredTraced::encode_all(&snapshot.traced),
            error_responses: StoredErrorResponse::encode_all(&snapshot.error_responses),
            exceptions: snapshot.exceptions.clone(),
        }
    }

    /// Fills in the values that an older version of the format lacks.
    pub(crate) fn read_as_of(&mut self, format: u64) {
        if format < 2 {
            self.counts.completed = self.counts.answered;
        }
    }

    /// True if it is the drain after the window.
    pub(crate) fn is_drain(&self) -> bool {
        self.drain
    }

    /// Returns the end, on the clock of its run.
    pub(crate) fn end_ns(&self) -> u64 {
        self.end_ns
    }

    /// Decodes a snapshot that has been decoded or encoded before.
    pub(crate) fn decoded(&self) -> Snapshot {
        self.decode()
            .expect("a snapshot is kept only once it was decoded or encoded")
    }

    pub(crate) fn decode(&self) -> Result<Snapshot, LineError> {
        let (start_ns, end_ns) = (self.start_ns, self.end_ns);
        if end_ns < start_ns {
            return Err(LineError::Backwards { start_ns, end_ns });
        }
        let mut snapshot = Snapshot {
            start_ns,
            end_ns,
            drain: self.drain,
            counts: self.counts,
            statuses: self.statuses.clone(),
            rejected: self.rejected.clone(),
            errors: self.errors.clone(),
            arrivals: self.arrivals.clone(),
            series: StoredSeries::decode_all(&self.series)?,
            metrics: self.metrics.decode()?,
            traced: StoredTraced::decode_all(&self.traced)?,
            error_responses: StoredErrorResponse::decode_all(&self.error_responses)?,
            exceptions: self.exceptions.clone(),
            ..Snapshot::default()
        };
        for (&worker, stored) in &self.workers {
            snapshot.workers.insert(worker, stored.decode()?);
        }
        for (name, distribution) in snapshot.times.each_mut() {
            if let Some(text) = self.times.get(name) {
                *distribution =
                    encoding::decode(text).map_err(|source| LineError::Times { name, source })?;
            }
        }
        Ok(snapshot)
    }
}

/// The unfinished requests, with their ages as text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredUnfinished {
    unsent: u64,
    #[serde(default)]
    by_target: u64,
    #[serde(default)]
    by_plan: u64,
    #[serde(default)]
    by_loadline: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    by_stop: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    lost: u64,
    in_flight: u64,
    oldest_ns: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response_ages: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    service_ages: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undelayed_ages: Option<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl StoredUnfinished {
    pub(crate) fn encode(unfinished: &Unfinished, encoder: &mut Encoder) -> StoredUnfinished {
        StoredUnfinished {
            unsent: unfinished.unsent,
            by_target: unfinished.by_target,
            by_plan: unfinished.by_plan,
            by_loadline: unfinished.by_loadline,
            by_stop: unfinished.by_stop,
            lost: unfinished.lost,
            in_flight: unfinished.in_flight,
            oldest_ns: unfinished.oldest_ns,
            response_ages: encoder.encode(&unfinished.ages.response),
            service_ages: encoder.encode(&unfinished.ages.service),
            undelayed_ages: encoder.encode(&unfinished.ages.undelayed),
        }
    }

    pub(crate) fn decode(&self) -> Result<Unfinished, LineError> {
        Ok(Unfinished {
            unsent: self.unsent,
            by_target: self.by_target,
            by_plan: self.by_plan,
            by_loadline: self.by_loadline,
            by_stop: self.by_stop,
            lost: self.lost,
            in_flight: self.in_flight,
            oldest_ns: self.oldest_ns,
            ages: Ages {
                response: optional("response_ages", self.response_ages.as_deref())?,
                service: optional("service_ages", self.service_ages.as_deref())?,
                undelayed: optional("undelayed_ages", self.undelayed_ages.as_deref())?,
            },
        })
    }
}

/// Decodes a distribution, which is absent if it is empty.
fn optional(name: &'static str, text: Option<&str>) -> Result<Distribution, LineError> {
    let decoded = text.map(encoding::decode).transpose();
    Ok(decoded
        .map_err(|source| LineError::Times { name, source })?
        .unwrap_or_default())
}

/// The end of a run: the data of a summary in addition to its snapshot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RunEnd {
    #[serde(flatten)]
    pub(crate) ended: Ended,
    pub(crate) unfinished: StoredUnfinished,
    #[serde(default)]
    pub(crate) host: HostCounters,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) transient: Option<Transient>,
    /// The conditions that the run's script set and that its tool has judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) declared: Vec<DeclaredCheck>,
    /// The agents whose response times differ from those of the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) odd_agents: Vec<OddAgent>,
    /// The agents whose load did not begin at the instant of the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) begins_off: Vec<AgentBegin>,
    /// The metrics that the script counted outside of the load; no interval has them.
    #[serde(default, skip_serializing_if = "StoredMetrics::is_empty")]
    pub(crate) outside: StoredMetrics,
}

/// The data of an interval's or the summary's line in addition to its snapshot.
#[derive(Debug, Deserialize)]
pub(crate) struct Beside {
    #[serde(default)]
    pub(crate) watch: Option<Watched>,
    /// The changes of the load since the previous line.
    #[serde(default)]
    pub(crate) changes: Vec<LoadChange>,
    /// The notes since the previous line.
    #[serde(default)]
    pub(crate) notes: Vec<Note>,
}

/// What happened beside the load since the line before.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Annotations<'a> {
    /// The changes of the load, in order.
    #[serde(skip_serializing_if = "<[LoadChange]>::is_empty")]
    pub changes: &'a [LoadChange],
    /// The notes, in the order of writing.
    #[serde(skip_serializing_if = "<[Note]>::is_empty")]
    pub notes: &'a [Note],
}

/// The kind, which is read first from any line.
#[derive(Debug, Deserialize)]
pub(crate) struct Kind {
    pub(crate) kind: String,
}

/// The version of the format, which is read first from the first line.
#[derive(Debug, Deserialize)]
pub(crate) struct Format {
    pub(crate) loadline: u64,
}

pub(crate) fn header_line(header: &Header) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'a> {
        loadline: u64,
        kind: &'static str,
        unit: &'static str,
        #[serde(flatten)]
        header: &'a Header,
    }
    to_line(&Line {
        loadline: FORMAT_VERSION,
        kind: "header",
        unit: "ns",
        header,
    })
}

pub(crate) fn interval_line(
    interval: &Snapshot,
    watch: Option<&Watched>,
    annotations: Annotations<'_>,
    encoder: &mut Encoder,
) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'a> {
        kind: &'static str,
        #[serde(flatten)]
        interval: StoredSnapshot,
        #[serde(skip_serializing_if = "Option::is_none")]
        watch: Option<&'a Watched>,
        #[serde(flatten)]
        annotations: Annotations<'a>,
    }
    to_line(&Line {
        kind: "interval",
        interval: StoredSnapshot::encode(interval, encoder),
        watch,
        annotations,
    })
}

pub(crate) fn summary_line(
    summary: &Summary,
    annotations: Annotations<'_>,
    judgement: Option<&impl Serialize>,
    encoder: &mut Encoder,
) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'a, J> {
        kind: &'static str,
        #[serde(flatten)]
        ending: RunEnd,
        #[serde(flatten)]
        annotations: Annotations<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        judgement: Option<J>,
        #[serde(flatten)]
        total: StoredSnapshot,
    }
    let outside = summary.outside.as_ref();
    let outside = outside.map(|outside| StoredMetrics::encode(&outside.metrics));
    let mut total = StoredSnapshot::encode(&summary.total, encoder);
    total.metrics = StoredMetrics::encode(summary.metrics_of_load());
    to_line(&Line {
        kind: "summary",
        ending: RunEnd {
            ended: summary.ended.clone(),
            unfinished: StoredUnfinished::encode(&summary.unfinished, encoder),
            host: summary.host,
            transient: summary.transient,
            declared: summary.declared.clone(),
            odd_agents: summary.odd_agents.clone(),
            begins_off: summary.begins_off.clone(),
            outside: outside.unwrap_or_default(),
        },
        annotations,
        judgement,
        total,
    })
}

/// The outcome of the search whose trials are in this file.
#[derive(Debug, Deserialize)]
pub(crate) struct StoredSearch {
    #[serde(deserialize_with = "readable")]
    pub(crate) outcome: Option<SavedOutcome>,
}

pub(crate) fn search_line(outcome: &SavedOutcome) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'a> {
        kind: &'static str,
        outcome: &'a SavedOutcome,
    }
    to_line(&Line {
        kind: "search",
        outcome,
    })
}

/// Notes, changes and conditions that were written after the end of the run before them.
#[derive(Debug, Deserialize)]
pub(crate) struct LateNotes {
    pub(crate) notes: Vec<Note>,
    #[serde(default)]
    pub(crate) changes: Vec<LoadChange>,
    #[serde(default)]
    pub(crate) declared: Vec<DeclaredCheck>,
}

pub(crate) fn notes_line(notes: &[Note]) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'a> {
        kind: &'static str,
        notes: &'a [Note],
    }
    to_line(&Line {
        kind: "notes",
        notes,
    })
}

pub(crate) fn changes_line(changes: &[LoadChange]) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'a> {
        kind: &'static str,
        notes: [Note; 0],
        changes: &'a [LoadChange],
    }
    to_line(&Line {
        kind: "notes",
        notes: [],
        changes,
    })
}

pub(crate) fn declared_line(check: &DeclaredCheck) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'a> {
        kind: &'static str,
        notes: [Note; 0],
        declared: [&'a DeclaredCheck; 1],
    }
    to_line(&Line {
        kind: "notes",
        notes: [],
        declared: [check],
    })
}

pub(crate) fn to_line(line: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(line).expect("keys are text or numbers, and memory is all");
    bytes.push(b'\n');
    bytes
}
