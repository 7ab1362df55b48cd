//! A search for the load line.

use crate::{CheckOutcome, PerSecond, Seconds, Share, Us};
use loadline_plan::Plan;
use loadline_record::Floor;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The document that `loadline capacity -o json` prints. Described in docs/guide/capacity.md.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[schemars(title = "Search for a load line by Loadline")]
pub struct Search {
    /// The version of this schema.
    #[schemars(extend("const" = crate::SEARCH_SCHEMA))]
    pub capacity_schema: u64,
    /// The version of the program that prints it.
    pub version: String,
    /// The plan of each trial, without its load.
    #[schemars(with = "Map<String, Value>")]
    #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
    pub plan: Plan,
    /// The quantity that the search varies.
    pub searched: Searched,
    /// The goal of the search.
    pub goal: Goal,
    /// The result of the search.
    pub answer: SearchAnswer,
    /// Present if the trials were too short to see a backlog grow; else null.
    pub trials_too_short: Option<TooShort>,
    /// True if the user ended the search.
    pub interrupted: bool,
    /// Trials at loads below, at and above the load line.
    pub ladder: Vec<Rung>,
    /// The recovery from a load above the load line; null if it was not tried.
    pub recovery: Option<Recovery>,
    /// The best result that the generator's machine reaches; null if it was not measured.
    pub floor: Option<Floor>,
    /// Every trial, in chronological order.
    pub trials: Vec<Trial>,
}

/// The quantity that a search varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Searched {
    /// The rate of an open load, per second.
    Rate,
    /// The number of users of a closed load.
    Users,
}

/// The goal of a search: the attributes of a goal in RFC 9971. The loss ratio of the RFC is the one
/// that the checks allow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Goal {
    /// The conditions that must be met.
    pub checks: Vec<String>,
    /// True if the condition on errors was added, because the user gave none.
    pub errors_check_added: bool,
    /// The measured time of a trial.
    pub trial_s: Seconds,
    /// The measured time of all trials at a level together.
    pub duration_sum_s: Seconds,
    /// The number of trials at a level.
    pub trials: u32,
    /// The share of trials at a level that may fail.
    pub exceed_ratio: Share,
    /// The largest distance between the bounds at the end, as a share.
    pub width: Share,
    /// The length of the confirming run, in trials.
    pub confirmation_trials: f64,
    /// The time that the search may take.
    pub budget_s: Seconds,
    /// The lowest level that may be tried.
    pub lowest: f64,
    /// The highest level that may be tried.
    pub highest: f64,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SearchAnswer {
    /// The highest level that holds was found.
    Found {
        /// The load line: that level, less the backlog that grows in a second at it.
        level: f64,
        /// The lower end of the 95 % confidence interval.
        low: f64,
        /// The upper end of the 95 % confidence interval.
        high: f64,
        /// The highest level that holds: the relevant lower bound of RFC 9971.
        lower_bound: f64,
        /// The lowest level above it that does not hold: the relevant upper bound of RFC 9971.
        upper_bound: f64,
        /// The median rate of responses per second in the trials at the lower bound that passed.
        conditional_throughput: f64,
        /// The checks that failed just above the load line, the most frequent first.
        breaks: Vec<String>,
        /// The measured time of the run that confirmed the level.
        confirmed_s: Seconds,
        /// The CPU usage of the target at the load line, in percent of one core; null if it was not
        /// watched.
        target_cpu_percent: Option<f64>,
        /// The disturbance in most of the trials that failed just above the load line; null if
        /// there was none.
        disturbance: Option<OwnLimit>,
        /// The answer as a sentence.
        text: String,
    },
    /// A level holds, and it is unknown whether a higher one does.
    AtLeast {
        /// The highest level that held.
        level: f64,
        /// The reason why higher levels are unknown.
        why: WhyNoMore,
        /// The limit of the generator that was reached before the target's; null if there was none.
        own_limit: Option<OwnLimit>,
        /// The answer as a sentence.
        text: String,
    },
    /// Not even the lowest level holds.
    NothingHolds {
        /// The lowest level.
        level: f64,
        /// The checks that failed at that level, the most frequent first.
        breaks: Vec<String>,
        /// The limit of the generator or its machine that may have caused the failures; null if
        /// there was none.
        own_limit: Option<OwnLimit>,
        /// The answer as a sentence.
        text: String,
    },
    /// The search ended before it had a result.
    Unsettled {
        /// A lower bound of the load line; null if there is none.
        lower: Option<f64>,
        /// An upper bound of the load line; null if there is none.
        upper: Option<f64>,
        /// The level at which most short trials passed, but a long run or all responses together
        /// failed; null if there was none.
        refuted: Option<f64>,
        /// The limit of the generator or its machine that may have caused the failures; null if
        /// there was none.
        own_limit: Option<OwnLimit>,
        /// The answer as a sentence.
        text: String,
    },
}

/// The reason why no level above one that holds was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum WhyNoMore {
    /// The generator reached its limit before the target did.
    Generator,
    /// The level is the highest that may be tried.
    Highest,
    /// Time ran out, or the search was stopped, after a long run had confirmed the level.
    TimeOver,
}

/// A limit of the generator or its machine that was reached, or another use of its CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OwnLimit {
    /// A worker computed for most of its time.
    Busy {
        /// The share of its time in which it computed.
        share: Share,
    },
    /// All connections were in use, while the target responded as fast as before.
    Connections {
        /// The number of connections.
        most: u32,
    },
    /// Requests could not be sent: no descriptor or no port was left.
    Exhausted {
        /// The number of requests that could not be sent.
        failed: u64,
    },
    /// Requests were sent late, because of delay added by Loadline.
    Late {
        /// The share of requests that were late.
        share: Share,
    },
    /// A worker waited for the CPU.
    Crowded {
        /// The share of its time in which it waited.
        share: Share,
    },
    /// A worker's loop stalled.
    #[serde(rename = "stood_still")]
    Stalled {
        /// The longest stall.
        longest_us: Us,
    },
    /// The hypervisor gave CPU time of the machine to other machines.
    Stolen {
        /// The share of the machine's time.
        share: Share,
    },
    /// Processes other than the generator and the target used the machine.
    Others {
        /// Their CPU usage, in percent of one core.
        cpu_percent: f64,
    },
    /// The generator reaches no higher rate on this machine, not even with a server that does
    /// nothing.
    Floor {
        /// The rate with that server, in responses per second.
        rate: PerSecond,
    },
}

/// The evidence that trials were too short to see a backlog grow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TooShort {
    /// The measured time of the shortest trial.
    pub trial_s: Seconds,
    /// The mean response time of the target at low load.
    pub response_s: Seconds,
    /// The measured time that a trial would need.
    pub needed_s: Seconds,
    /// The meaning, and what to do.
    pub text: String,
}

/// The recovery of the target from a load above the load line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Recovery {
    /// True if all checks passed again.
    pub recovered: bool,
    /// The time from the step down until they passed; absent if they did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub after_s: Option<Seconds>,
    /// The time in which they did not pass; absent if they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub within_s: Option<Seconds>,
}

/// A trial at a share of the load line (a rung of the ladder).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Rung {
    /// The measurement.
    #[serde(flatten)]
    pub measured: Measured,
    /// The share of the load line.
    pub part: String,
    /// The planned rate per second or number of users.
    pub level: f64,
    /// True if the trial passed.
    pub held: bool,
}

/// A trial at a level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Trial {
    /// The measurement.
    #[serde(flatten)]
    pub measured: Measured,
    /// The number of the trial, from 1.
    pub number: u32,
    /// The purpose of the trial.
    pub purpose: String,
    /// The planned rate per second or number of users.
    pub level: f64,
    /// The measured time.
    pub seconds: Seconds,
    /// True if the trial passed.
    pub held: bool,
    /// True if no more requests were outstanding at the end than at the beginning, apart from
    /// chance.
    pub kept_up: bool,
    /// True if the trial was discarded and repeated, because its machine lost CPU time meanwhile,
    /// or a part of its load was lost.
    pub set_aside: bool,
}

/// A measurement at a level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Measured {
    /// The conditions and their results.
    pub checks: Vec<TrialCheck>,
    /// Responses per second.
    pub rate: PerSecond,
    /// The share of requests that failed.
    pub failed_share: Share,
    /// The median of the response time.
    pub p50_us: Us,
    /// True if `p50_us` is a lower bound: requests without a response are older than every
    /// response.
    #[serde(default)]
    pub p50_at_least: bool,
    /// The 99th percentile of the response time.
    pub p99_us: Us,
    /// True if `p99_us` is a lower bound.
    #[serde(default)]
    pub p99_at_least: bool,
    /// The arrivals that had fallen due and not ended at the end of the trial, in seconds of the
    /// load; 0 in a closed load.
    pub outstanding_s: f64,
    /// The growth of the number of outstanding requests from the beginning to the end of the trial;
    /// 0 in a closed load.
    pub grown: f64,
    /// The CPU usage of the target, in percent of one core; null if it was not watched.
    pub target_cpu_percent: Option<f64>,
    /// True if the machine lost CPU time: the hypervisor took it, or a loop stalled.
    pub lost_time: bool,
    /// The limit of the generator that was reached before the target's; null if there was none.
    pub own_limit: Option<OwnLimit>,
    /// The use of CPU time by others that disturbed the generator and its machine; null if there
    /// was none.
    pub disturbance: Option<OwnLimit>,
}

/// A condition and its result in a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TrialCheck {
    /// The condition as typed.
    pub check: String,
    /// True if the search counts the condition as passed: it judges the estimate, whatever its
    /// confidence interval.
    pub held: bool,
    /// The outcome of the condition in this trial alone.
    #[serde(default)]
    pub outcome: Option<CheckOutcome>,
}
