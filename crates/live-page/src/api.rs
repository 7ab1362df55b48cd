//! The data of the API, as it goes over the network. Doc comments are the descriptions in
//! `openapi.json`.

use crate::patch::Patch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Everything that is known of the run so far.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct State {
    /// The standing of the run.
    #[serde(flatten)]
    pub standing: Standing,
    /// The content of the page; null before the load begins. Its shape follows the page, and may
    /// change with any version: programs read `figures`.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub page: Value,
    /// The lines that the script of the run has written, the latest 200.
    pub log: Vec<String>,
    /// The search whose trials are the runs, as data of the page; null if they are none.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub search: Value,
}

/// The changes of a second. Sent as `interval`, and as `over` when nothing follows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Event {
    /// The standing of the run.
    #[serde(flatten)]
    pub standing: Standing,
    /// The changes of the page since the event before.
    pub page: Patch,
    /// The lines that the script has written since the event before, the latest 200; absent if
    /// there are none. With the phase `preparing` the log begins anew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<String>>"))]
    pub log: Vec<String>,
    /// The changes of the search; absent if there are none.
    #[serde(default, skip_serializing_if = "Patch::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Patch>"))]
    pub search: Patch,
}

/// The standing of a run.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Standing {
    /// The number of the event, or of the last one that is part of the state. The next event has
    /// the next number.
    pub number: u64,
    /// The phase of the run.
    pub phase: Phase,
    /// True if no run and no event follows.
    pub is_over: bool,
    /// True if the run is one of a series, and another one follows it.
    pub has_more: bool,
    /// True if runs are started from this page.
    pub starts: bool,
    /// True if a run can be started from this page now.
    pub can_start: bool,
    /// The reason why the last run that was started from this page could not be made, as a
    /// sentence; null if it was.
    pub problem: Option<String>,
    /// The load.
    pub load: Load,
    /// The figures of the latest second, and counts so far.
    pub figures: Figures,
    /// The paths of the files that can be downloaded: the reports of the last run that has ended.
    pub files: Vec<String>,
    /// The name of the baseline that runs are compared with; null if there is none.
    pub baseline: Option<String>,
    /// True if the run has something to decide while it lasts: checks, or the comparison with a
    /// baseline.
    pub can_decide: bool,
    /// True if the run is stopped as soon as that is decided.
    pub stops_when_decided: bool,
}

/// The phase of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// No run was started yet.
    Idle,
    /// Its load has not begun.
    #[default]
    Preparing,
    /// It lasts.
    Running,
    /// It is ending, and waits for the responses to what it has sent.
    Ending,
    /// It has ended.
    Ended,
}

/// The load of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Load {
    /// The last change, in words; null while the load is as planned.
    pub level: Option<String>,
    /// The load since the last change of the whole; null while it is as planned, or paused.
    pub now: Option<LevelNow>,
    /// True while it is paused.
    pub is_paused: bool,
    /// True if it can be paused.
    pub can_pause: bool,
    /// The units of the levels to which it can be changed; empty if it stays as planned.
    pub levels: Vec<LevelUnit>,
    /// True if its users start and stop at a rate, which a change of their number may set.
    pub spawns: bool,
    /// The planned number of its users; null of an open load, and of several scenarios.
    pub users: Option<u32>,
    /// The names of its scenarios, in the order of the plan; empty if there is only one.
    pub scenarios: Vec<String>,
}

/// A level of the load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LevelNow {
    /// The unit of the number.
    pub unit: LevelUnit,
    /// The number.
    pub number: f64,
}

/// The unit of a level's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum LevelUnit {
    /// Percent of the plan.
    Percent,
    /// Requests per second.
    Rate,
    /// Users.
    Users,
}

/// Figures for programs and for large type. Counts are those of the measured part so far; rates
/// and times are those of the latest interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Figures {
    /// The length of the measured part so far, in seconds.
    pub elapsed_s: f64,
    /// The planned length of the measured part, in seconds, if time ends it.
    pub planned_s: Option<f64>,
    /// Arrivals that fell due; in a closed load equal to `sent`.
    pub planned: u64,
    /// Requests sent.
    pub sent: u64,
    /// Requests with a whole response.
    pub answered: u64,
    /// Requests without one.
    pub failed: u64,
    /// Requests with a whole response that a script rejected.
    pub rejected: u64,
    /// Requests in flight at the end of the interval.
    pub in_flight: u64,
    /// Responses per second.
    pub rate_per_s: f64,
    /// Intended arrivals per second of an open load.
    pub asked_per_s: Option<f64>,
    /// The median of the response time, in microseconds.
    pub p50_us: Option<f64>,
    /// The 95th percentile of the response time, in microseconds.
    pub p95_us: Option<f64>,
    /// The 99th percentile of the response time, in microseconds.
    pub p99_us: Option<f64>,
    /// The validity of the result if the run ended now: `valid`, `suspect` or `invalid`.
    pub validity: String,
    /// The checks as they stand.
    pub checks: Vec<CheckSoFar>,
    /// The agents that send the load, by name; empty if this machine sends it. Of more than 64
    /// those that are silent, and the first ones of the others; `agents` has all.
    pub agents: Vec<AgentSoFar>,
    /// The number of all agents.
    pub agents_total: u64,
    /// Percentiles of the response time of the whole run so far, in rising order: the 50th, the
    /// 90th, the 99th, and those that checks are on, if there are enough responses.
    pub percentiles: Vec<PercentileSoFar>,
}

/// A percentile of the response time of the run so far, with a band that holds the true one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PercentileSoFar {
    /// The percentile: 99 of the p99.
    pub percentile: f64,
    /// Its value, in microseconds.
    pub us: f64,
    /// Its band; null in the first 30 seconds, and if there are too few responses for one.
    pub band: Option<Band>,
    /// The upper bounds that checks have on it, in microseconds.
    pub bounds_us: Vec<f64>,
}

/// A band of a percentile. While the run lasts it is made anew each time that the run has grown by
/// a quarter, and holds the true percentile at 95 % for all of these looks together. When the run
/// has ended, it is the 95 % interval of the report.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Band {
    /// The lower end, in microseconds.
    pub lower_us: f64,
    /// The upper end, in microseconds; null if it is unknown: too few responses are that slow, or
    /// requests are waiting that may exceed it.
    pub upper_us: Option<f64>,
    /// The length of the run when it was made, in seconds.
    pub as_of_s: f64,
}

/// A check as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CheckSoFar {
    /// Its condition, as typed.
    pub check: String,
    /// The outcome if the run ended now: `passed`, `failed` or `undecided`.
    pub outcome: String,
    /// The outcome that is proven, `passed` or `failed`, however long the run goes on: at 99 %
    /// for all checks together, as `--until decided` decides it. Null while that is open; some
    /// checks are decided at the end only. A check that was added is never proven before the end.
    pub proven: Option<String>,
    /// The time until it is proven if the run goes on as it did, in seconds from now. Null if it is
    /// proven, if only the end decides it, before the 30th second, or if it would take very long.
    pub more_s: Option<f64>,
    /// The instant at which it was added on the page, in seconds of the measured part; null for a
    /// check of the plan. What was added is on the page alone: no report and no exit code has it.
    pub added_at_s: Option<f64>,
}

/// An agent of a run that goes on. Counts are those so far; rates and times are those of the latest
/// interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AgentSoFar {
    /// Its name.
    pub name: String,
    /// True if it told nothing of the latest interval: it is late, lost or has ended.
    pub is_silent: bool,
    /// Requests with a whole response.
    pub answered: u64,
    /// Requests without one; null if that is not known: of more than 64 agents each is known by its
    /// responses alone.
    pub failed: Option<u64>,
    /// Responses per second.
    pub rate_per_s: f64,
    /// The median of the response time, in microseconds.
    pub p50_us: Option<f64>,
    /// The 99th percentile of the response time, in microseconds.
    pub p99_us: Option<f64>,
    /// The 99th percentile of the delay that it added itself, in microseconds.
    pub lateness_p99_us: Option<f64>,
}

/// A check that is to be added while the run lasts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct NewCheck {
    /// The condition, as on the command line: `p99<300ms`.
    pub check: String,
}

/// A change of the end of a run: as soon as it is decided, or as it was planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct NewEnd {
    /// True if it is, false if it is not any more.
    pub when_decided: bool,
}

/// A level to which the load is to be changed: one of the three.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct NewLevel {
    /// A share of the plan, in percent: 100 is the load as planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub percent: Option<f64>,
    /// A rate of arrivals, as on the command line: `500` or `30/m`. For open loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number | string", optional))]
    pub rate: Option<Value>,
    /// A number of users. For closed loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub users: Option<u32>,
    /// The users that start or stop each second, where users are spawned; without it as many as
    /// the test says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub spawn_rate: Option<f64>,
    /// The scenario whose number of users changes, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub scenario: Option<String>,
}

/// A note that is to be written on the run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct NewNote {
    /// The instant that it is about, in seconds of the measured part; without it now.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub at_s: Option<f64>,
    /// The text, one line; at most 500 characters are kept.
    pub text: String,
}

/// A baseline that is to be chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct NewBaseline {
    /// The name of a saved run; null for none.
    pub name: Option<String>,
}

/// The effect of a command.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Steered {
    /// The state that holds now, as a sentence.
    pub message: String,
    /// From when a changed load holds, in seconds of the measured part; null for other commands.
    pub from_s: Option<f64>,
}

/// The reason why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Problem {
    /// A sentence that says what to do.
    pub message: String,
}

/// A part of a run, with the tables of its page for that part alone.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Span {
    /// The begin, in seconds of the measured part: of a long run the next second that was kept
    /// before the requested one.
    pub from_s: f64,
    /// The end.
    pub to_s: f64,
    /// The page of that part, without plots. Its shape follows the page.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub page: Value,
}

/// The course of one name over a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NameCourse {
    /// The name, as the table by name has it.
    pub name: String,
    /// The plots of its rate, failures and response times. Their shape follows the page.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub plots: Value,
}

/// The slowest requests of a part of the run: of each second and worker at most 16 are kept, of a
/// long run fewer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SlowRows {
    /// The requests, the slowest first; at most 50.
    pub requests: Vec<SlowRow>,
    /// The 99th percentile of the delay that the generator added then, in microseconds; of several
    /// seconds the highest.
    pub lateness_p99_us: f64,
    /// The CPU of the generator and of all that is watched then.
    pub cpu: Vec<CpuShare>,
}

/// The CPU of a tree of processes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CpuShare {
    /// The name of the tree: `generator`, `:8080`.
    pub name: String,
    /// The CPU, in percent of one core.
    pub percent: f64,
}

/// A slow request.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SlowRow {
    /// The instant of its end, in seconds of the measured part.
    pub at_s: f64,
    /// The name, or the request; null for a request that a script composed without a name.
    pub name: Option<String>,
    /// The status of its response; null if it failed.
    pub status: Option<u16>,
    /// The kind of its failure; null if it was answered.
    pub error: Option<String>,
    /// The response time in microseconds, from the intended start: the sum of the five parts that
    /// follow.
    pub response_us: f64,
    /// The part in which no connection was free.
    pub blocked_us: f64,
    /// The part that the generator added.
    pub lateness_us: f64,
    /// The part in which a connection was opened; 0 on an open one.
    pub dial_us: f64,
    /// The part until the first byte of the response.
    pub wait_us: f64,
    /// The part until its last byte.
    pub rest_us: f64,
    /// The time from the kernel's receive to the read, which is in none of the other times.
    pub wakeup_us: f64,
    /// The bytes of the response.
    pub bytes_in: u64,
    /// The number of requests, or pipelines, that its connection had served before: 0 if it was
    /// new; null with HTTP/2.
    pub served_before: Option<u64>,
    /// The part in which most of the time passed.
    pub cause: Cause,
}

/// The part in which most of the time of a slow request passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// With the target, or on the way to it.
    Target,
    /// In the generator.
    Generator,
    /// Waiting for a free connection.
    Connections,
}

/// The runs that can be started from this page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Offer {
    /// The folder, as its user knows it.
    pub folder: String,
    /// The plan files and scripts in it.
    pub files: Vec<OfferedFile>,
    /// The file that the page was opened for, if it was opened for one.
    pub chosen: Option<String>,
}

/// A file that describes a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OfferedFile {
    /// The name of the file.
    pub name: String,
    /// The kind of the file.
    pub kind: FileKind,
}

/// The kind of a file that describes a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A plan file.
    Plan,
    /// A script for k6.
    K6,
    /// A locustfile.
    Locust,
}

/// A run that is to be started: the words of a command line, as typed. What is left empty is not
/// said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(optional_fields))]
#[serde(deny_unknown_fields, default)]
pub struct NewRun {
    /// The target: a URL, or one of the files that are offered.
    pub target: String,
    /// The number of users: connections of a closed load, virtual users of a script.
    pub users: Option<String>,
    /// The rate of an open load, such as `500`. For URLs and plan files.
    pub rate: Option<String>,
    /// Stages, such as `10s:100,1m:100`. Not for locustfiles.
    pub stages: Option<String>,
    /// The length, such as `30s`.
    pub duration: Option<String>,
    /// Checks, such as `p99<50ms`. Not for scripts of k6, which have thresholds.
    pub checks: Option<Vec<String>>,
    /// The host of a locustfile.
    pub host: Option<String>,
    /// The users that a locustfile starts each second.
    pub spawn_rate: Option<String>,
    /// The classes of users of a locustfile; without one all.
    pub classes: Option<Vec<String>>,
    /// Options that a locustfile adds, each as `NAME=value`, or as `NAME` for one without a value.
    pub options: Option<Vec<String>>,
    /// Variables of a script of k6, each as `NAME=value`.
    pub variables: Option<Vec<String>>,
    /// True to search for the load line of a URL or plan file: the length is the limit of the whole
    /// search then, which decides the load itself.
    pub search: bool,
    /// The name of the saved run; without one there is a new one.
    pub save: Option<String>,
}

/// The command line of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Composed {
    /// The command line, as it is typed in a shell in the page's folder.
    pub command: String,
    /// The name of the saved run.
    pub save: String,
}

/// A saved run in the folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct EarlierRun {
    /// The name of the file.
    pub name: String,
    /// The time of its start, in RFC 3339.
    pub started_at: String,
    /// The requests, in words.
    pub title: String,
    /// The load.
    pub load: String,
    /// Its length, in seconds.
    pub duration_s: f64,
    /// Responses per second.
    pub rate_per_s: f64,
    /// The 99th percentile of the response time, in microseconds.
    pub p99_us: Option<f64>,
    /// The share of requests without a response, in percent; null if none was sent.
    pub failed_percent: Option<f64>,
    /// `nothing was sent` or `nothing was answered` of a run without any response; null of others.
    pub unanswered: Option<String>,
    /// `valid`, `suspect` or `invalid`.
    pub validity: String,
    /// The outcome of its checks: `passed`, `failed` or `undecided`; null without a check.
    pub checks: Option<String>,
}

/// A comparison of two saved runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Compared {
    /// The report of `loadline compare`.
    pub text: String,
}
