//! The interface to what measures, and its observations.

use crate::keeping_up::Backlog;
use serde::{Deserialize, Serialize};

/// Measures a level of load for a while.
pub trait Measure {
    /// The reason why nothing could be measured.
    type Error;

    /// Loads the target at this level for this many seconds. `None` if the user interrupts; the
    /// measurement so far is then lost.
    fn trial(
        &mut self,
        purpose: Purpose,
        level: f64,
        seconds: f64,
    ) -> Result<Option<Observation>, Self::Error>;

    /// Loads the target at one level and then, without a break, at a lower one, each for this many
    /// seconds.
    fn descend(
        &mut self,
        over: (f64, f64),
        back: (f64, f64),
    ) -> Result<Option<Descent>, Self::Error>;

    /// Sends no load for this many seconds, or until the user interrupts.
    fn pause(&mut self, _seconds: f64) {}

    /// Returns the seconds of the budget that are spent by a clock; called once after each trial.
    /// `None` without a clock: they are then computed from the planned durations.
    fn spent_s(&mut self) -> Option<f64> {
        None
    }

    /// Receives a trial that was added, to show progress, or to store the responses of its level.
    fn ended(&mut self, _trial: &Trial) {}

    /// Returns for each check, in order, whether it passes on all responses together of the trials
    /// at this level that [count](Trial::counts).
    fn together(&mut self, level: f64) -> Vec<bool>;
}

/// The purpose of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Warms the target up.
    WarmUp,
    /// Searches the load line.
    Search,
    /// Confirms the load line, in one long run.
    Confirmation,
    /// Measures the target at a part of the load line.
    Ladder(Part),
}

impl Purpose {
    /// Returns the purpose's name, as in reports and saved runs.
    pub fn name(self) -> &'static str {
        match self {
            Purpose::WarmUp => "warm-up",
            Purpose::Search => "search",
            Purpose::Confirmation => "confirmation",
            Purpose::Ladder(part) => part.name(),
        }
    }
}

/// A rung of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Almost no load.
    Idle,
    /// 10 % of the load line.
    Tenth,
    /// 50 %.
    Half,
    /// 90 %.
    Most,
    /// 110 %.
    Over,
    /// 90 % again, immediately after 110 %.
    Back,
}

impl Part {
    /// The rungs that are trials on their own, in rising order.
    pub const RISING: [Part; 4] = [Part::Idle, Part::Tenth, Part::Half, Part::Most];

    /// Returns the share of the load line.
    pub fn share(self) -> f64 {
        match self {
            Part::Idle => 0.01,
            Part::Tenth => 0.1,
            Part::Half => 0.5,
            Part::Most | Part::Back => 0.9,
            Part::Over => 1.1,
        }
    }

    /// Returns the rung's name, as in reports.
    pub fn name(self) -> &'static str {
        match self {
            Part::Idle => "idle",
            Part::Tenth => "10 %",
            Part::Half => "50 %",
            Part::Most => "90 %",
            Part::Over => "110 %",
            Part::Back => "back at 90 %",
        }
    }
}

/// The observations of a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// For each check, in order, whether it passed. The estimate decides, whatever its uncertainty.
    pub checks: Vec<bool>,
    /// For each check, in order, whether this trial alone leaves it undecided.
    #[serde(default)]
    pub undecided: Vec<bool>,
    /// The responses per second that arrived during the trial, whenever they were requested.
    pub answers_per_s: f64,
    /// The share of ended requests that failed, 0 to 1.
    pub failed_share: f64,
    /// The median of the response time in nanoseconds. Requests without a response count with their
    /// age.
    pub p50_ns: u64,
    /// True if the median is a lower bound: it lies beyond all known values.
    #[serde(default)]
    pub p50_at_least: bool,
    /// The 99th percentile of the response time in nanoseconds, over the same requests.
    pub p99_ns: u64,
    /// True if the 99th percentile is a lower bound.
    #[serde(default)]
    pub p99_at_least: bool,
    /// The mean of the response time in seconds.
    pub mean_s: f64,
    /// The requests that had fallen due and not ended at the end of the trial, in seconds of the
    /// planned load; 0 in a closed loop, where nothing falls due.
    pub outstanding_s: f64,
    /// The increase of outstanding requests from the beginning of the trial to its end; 0 in a
    /// closed loop.
    pub grown: f64,
    /// Requests that had been sent and not answered when the trial ended, and were not awaited.
    pub in_flight: u64,
    /// The time for which unfinished requests were awaited after the trial, in seconds.
    pub drained_s: f64,
    /// The number of cores that the target used, if it was watched.
    pub target_cores: Option<f64>,
    /// True if the machine lost time that none of its processes used, with whatever effect: it was
    /// stolen by the hypervisor, or a loop stalled. Such losses come and go with a neighbour.
    pub lost_time: bool,
    /// True if a part of the generator was lost during the trial, so that its load was not the one
    /// that was planned, or if the target could not be reached at all: the trial says nothing about
    /// its capacity.
    #[serde(default)]
    pub is_void: bool,
    /// True if it is void because the target could not be reached.
    #[serde(default)]
    pub unreached: bool,
    /// The reason why the generator may have reached its limit before the target did.
    pub own_limit: Option<OwnLimit>,
    /// The cause that took time from the generator and its machine, and that may explain a failed
    /// check.
    pub disturbance: Option<OwnLimit>,
}

impl Observation {
    /// Returns the time, in seconds, that a target with this rate of responses still needs for its
    /// requests in flight, beyond its usual response time.
    pub(crate) fn backlog_s(&self, answers_per_s: f64, mean_at_ease_s: f64) -> f64 {
        (self.in_flight as f64 / answers_per_s - mean_at_ease_s).max(0.0)
    }
}

/// Two levels, the second immediately after the first and lower.
#[derive(Clone, Debug, PartialEq)]
pub struct Descent {
    /// The observations at the higher level.
    pub over: Observation,
    /// The observations at the lower level.
    pub back: Observation,
    /// For each interval of the lower level its end in seconds after the step down, and whether all
    /// checks passed in it.
    pub intervals: Vec<(f64, bool)>,
}

/// A limit of the generator or its machine, or a disturbance. Shares are between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnLimit {
    /// A worker was busy for this share of its time.
    Busy {
        /// The share.
        share: f64,
    },
    /// All of this many connections were in use, while the target was as fast as before.
    Connections {
        /// The connections.
        most: u32,
    },
    /// This many requests could not be sent: this process had no descriptor, or this machine no
    /// port left.
    Exhausted {
        /// The number of requests.
        failed: u64,
    },
    /// Requests were sent late, because of delay added by Loadline.
    Late {
        /// The share of late requests.
        share: f64,
    },
    /// A worker waited for the CPU for this share of its time.
    Crowded {
        /// The share.
        share: f64,
    },
    /// A worker's loop stalled, for this long at most.
    #[serde(rename = "stood_still")]
    Stalled {
        /// The longest time, in nanoseconds.
        longest_ns: u64,
    },
    /// The hypervisor gave this share of the machine's time to others.
    Stolen {
        /// The share.
        share: f64,
    },
    /// Processes that are neither the generator nor the target used this many cores.
    Others {
        /// The cores.
        cores: f64,
    },
    /// The most responses per second that the generator receives on this machine, from a server
    /// that does nothing.
    Floor {
        /// Responses per second.
        answers_per_s: f64,
    },
}

/// A trial that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The trial's number, from 1.
    pub number: u32,
    /// The trial's purpose.
    pub purpose: Purpose,
    /// The rate per second or the number of users that was planned.
    pub level: f64,
    /// The duration in seconds.
    pub seconds: f64,
    /// True if, apart from chance, no more requests were outstanding at the end than at the
    /// beginning, and the users kept their pace if that is required.
    pub kept_up: bool,
    /// True if the trial was discarded and repeated, because its machine lost time or a part of the
    /// generator was lost: it then has no meaning for the target.
    #[serde(rename = "set_aside")]
    pub discarded: bool,
    /// The observations.
    pub seen: Observation,
}

impl Trial {
    /// True if the search uses the trial.
    pub fn counts(&self) -> bool {
        matches!(self.purpose, Purpose::Search | Purpose::Confirmation) && !self.discarded
    }

    /// Returns the outstanding requests around the trial.
    pub(crate) fn backlog(&self) -> Backlog {
        Backlog {
            grown: self.seen.grown,
            outstanding: self.seen.outstanding_s * self.level,
        }
    }

    /// True if all checks passed and the target kept up.
    pub fn held(&self) -> bool {
        self.kept_up && self.seen.checks.iter().all(|held| *held)
    }

    /// Returns the generator's limit that explains why the trial failed, if there is one.
    pub fn own_limit(&self) -> Option<OwnLimit> {
        self.seen.own_limit.filter(|_| !self.held())
    }

    /// Returns the cause other than the target that may explain why the trial failed: the generator
    /// at its limit, or a disturbance.
    pub fn other_cause(&self) -> Option<OwnLimit> {
        let cause = self.seen.own_limit.or(self.seen.disturbance);
        cause.filter(|_| !self.held())
    }
}
