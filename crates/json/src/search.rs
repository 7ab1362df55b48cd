//! A search for the load line.

use crate::{CheckOutcome, PerSecond, Seconds, Share, Us};
use loadline_plan::Plan;
use loadline_record::Floor;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What `loadline capacity -o json` prints. Described in docs/guide/capacity.md.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[schemars(title = "Search for a load line by Loadline")]
pub struct Search {
    /// The version of this schema.
    #[schemars(extend("const" = crate::SEARCH_SCHEMA))]
    pub capacity_schema: u64,
    /// The version of the program that prints it.
    pub version: String,
    /// What each trial was, but for its load.
    #[schemars(with = "Map<String, Value>")]
    #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
    pub plan: Plan,
    /// What was varied.
    pub searched: Searched,
    /// What was searched for.
    pub goal: Goal,
    /// What was found.
    pub answer: SearchAnswer,
    /// That trials were too short to see a backlog grow; null if they were not.
    pub trials_too_short: Option<TooShort>,
    /// Whether the user ended the search.
    pub interrupted: bool,
    /// Loads below, at and above the load line.
    pub ladder: Vec<Rung>,
    /// Whether the target recovered from too much load; null if that was not tried.
    pub recovery: Option<Recovery>,
    /// What the machine of the generator does at best; null if it was not measured.
    pub floor: Option<Floor>,
    /// Every trial, in the order in which they were made.
    pub trials: Vec<Trial>,
}

/// What a search varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Searched {
    /// The rate of an open load, a second.
    Rate,
    /// The users of a closed load.
    Users,
}

/// What was searched for: the attributes of a goal in RFC 9971. The loss ratio is that of the
/// checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Goal {
    /// The conditions that must hold.
    pub checks: Vec<String>,
    /// Whether the one on errors was added, as none was given.
    pub errors_check_added: bool,
    /// How long a trial measures.
    pub trial_s: Seconds,
    /// How long the trials at a level measure together.
    pub duration_sum_s: Seconds,
    /// How many trials a level takes.
    pub trials: u32,
    /// The share of trials at a level that may break.
    pub exceed_ratio: Share,
    /// How far apart the bounds may lie, as a share.
    pub width: Share,
    /// So many trials last as long as the run that confirms.
    pub confirmation_trials: f64,
    /// How long the search may take.
    pub budget_s: Seconds,
    /// The lowest level that may be tried.
    pub lowest: f64,
    /// The highest level that may be tried.
    pub highest: f64,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SearchAnswer {
    /// The highest level that holds.
    Found {
        /// The load line: the level, less what piles up in a second at it.
        level: f64,
        /// With a confidence of 95 % it lies above this.
        low: f64,
        /// With a confidence of 95 % it lies below this.
        high: f64,
        /// The highest level that holds: the relevant lower bound of RFC 9971.
        lower_bound: f64,
        /// The lowest level above that does not: the relevant upper bound of RFC 9971.
        upper_bound: f64,
        /// The median of the responses a second in the trials at the lower bound that passed.
        conditional_throughput: f64,
        /// What failed just above, the most frequent first.
        breaks: Vec<String>,
        /// How long the run that confirmed it measured.
        confirmed_s: Seconds,
        /// What the target used there, in percent of one core; null if it was not watched.
        target_cpu_percent: Option<f64>,
        /// What disturbed most of the trials that failed just above; null if nothing.
        disturbance: Option<OwnLimit>,
        /// The answer as a sentence.
        text: String,
    },
    /// A level holds, and what lies above it is not known.
    AtLeast {
        /// The highest level that held.
        level: f64,
        /// Why there is no more to say.
        why: WhyNoMore,
        /// Which limit of the generator was reached before the target's; null if none.
        own_limit: Option<OwnLimit>,
        /// The answer as a sentence.
        text: String,
    },
    /// Not even the lowest level holds.
    NothingHolds {
        /// The lowest level.
        level: f64,
        /// What failed there, the most frequent first.
        breaks: Vec<String>,
        /// Which limit of the generator or its machine may have caused it; null if none.
        own_limit: Option<OwnLimit>,
        /// The answer as a sentence.
        text: String,
    },
    /// The search ended before it knew.
    Unsettled {
        /// The load line lies above this; null if that is not known.
        lower: Option<f64>,
        /// The load line lies below this; null if that is not known.
        upper: Option<f64>,
        /// The level at which most short trials passed, and a long run or all responses together
        /// failed.
        refuted: Option<f64>,
        /// Which limit of the generator or its machine may have caused the failures; null if none.
        own_limit: Option<OwnLimit>,
        /// The answer as a sentence.
        text: String,
    },
}

/// Why it is not known what lies above a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum WhyNoMore {
    /// The generator ends before the target does.
    Generator,
    /// It is the highest level that may be tried.
    Highest,
}

/// A limit of the generator or its machine that was reached, or what took time from it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OwnLimit {
    /// A worker computed for this share of its time.
    Busy {
        /// The share.
        share: Share,
    },
    /// All connections were in use, while the target responded as fast as before.
    Connections {
        /// How many there were.
        most: u32,
    },
    /// Requests could not be sent: no descriptor or no port was left.
    Exhausted {
        /// How many.
        failed: u64,
    },
    /// Requests went out late, by delay that Loadline added.
    Late {
        /// The share of requests that did.
        share: Share,
    },
    /// A worker waited for the CPU for this share of its time.
    Crowded {
        /// The share.
        share: Share,
    },
    /// A worker's loop stalled.
    #[serde(rename = "stood_still")]
    Stalled {
        /// For so long at most.
        longest_us: Us,
    },
    /// The hypervisor gave this share of the machine's time to others.
    Stolen {
        /// The share.
        share: Share,
    },
    /// Processes that are neither the generator nor the target used the machine.
    Others {
        /// In percent of one core.
        cpu_percent: f64,
    },
    /// The generator gets no more answers on this machine, from a server that does nothing.
    Floor {
        /// Responses a second.
        rate: PerSecond,
    },
}

/// Trials that were too short to see a backlog grow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TooShort {
    /// How long the shortest measured.
    pub trial_s: Seconds,
    /// The mean response time of the target at low load.
    pub response_s: Seconds,
    /// How long they would have to measure.
    pub needed_s: Seconds,
    /// What it means and what to do.
    pub text: String,
}

/// Whether the target recovered from too much load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Recovery {
    /// Whether all checks passed again.
    pub recovered: bool,
    /// From so long after the step down; absent if they did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub after_s: Option<Seconds>,
    /// Within this time they did not; absent if they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub within_s: Option<Seconds>,
}

/// A trial at a share of the load line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Rung {
    /// What was measured.
    #[serde(flatten)]
    pub measured: Measured,
    /// Which share.
    pub part: String,
    /// The rate a second or the number of users that was asked for.
    pub level: f64,
    /// Whether it passed.
    pub held: bool,
}

/// A measurement of a level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Trial {
    /// What was measured.
    #[serde(flatten)]
    pub measured: Measured,
    /// Its number, from 1.
    pub number: u32,
    /// What it was for.
    pub purpose: String,
    /// The rate a second or the number of users that was asked for.
    pub level: f64,
    /// How long it measured.
    pub seconds: Seconds,
    /// Whether it passed.
    pub held: bool,
    /// Whether no more was outstanding at its end than at its beginning, but for chance.
    pub kept_up: bool,
    /// Whether it was made again, because its machine lost time meanwhile.
    pub set_aside: bool,
}

/// What was measured at a level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Measured {
    /// The conditions, and whether each passed.
    pub checks: Vec<TrialCheck>,
    /// Responses a second.
    pub rate: PerSecond,
    /// The share of requests that failed.
    pub failed_share: Share,
    /// The median of the response time.
    pub p50_us: Us,
    /// Whether that is a lower bound: requests without a response are older than every response.
    #[serde(default)]
    pub p50_at_least: bool,
    /// The 99th percentile of the response time.
    pub p99_us: Us,
    /// Whether that is a lower bound.
    #[serde(default)]
    pub p99_at_least: bool,
    /// What fell due and had not ended when it did, in seconds of the load; 0 in a closed load.
    pub outstanding_s: f64,
    /// By how many requests more was outstanding at its end than at its beginning; 0 in a closed
    /// load.
    pub grown: f64,
    /// What the target used, in percent of one core; null if it was not watched.
    pub target_cpu_percent: Option<f64>,
    /// Whether the machine lost time: it was stolen, or a loop stalled.
    pub lost_time: bool,
    /// Which limit of the generator was reached before the target's; null if none.
    pub own_limit: Option<OwnLimit>,
    /// What took time from the generator and its machine; null if nothing.
    pub disturbance: Option<OwnLimit>,
}

/// A condition, and whether it passed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TrialCheck {
    /// The condition as typed.
    pub check: String,
    /// Whether the search takes it for passed: by the estimate, however sure that is.
    pub held: bool,
    /// What the trial alone says of it.
    #[serde(default)]
    pub outcome: Option<CheckOutcome>,
}
