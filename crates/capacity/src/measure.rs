//! What measures, and what it sees.

use crate::keeping_up::Backlog;
use serde::{Deserialize, Serialize};

/// Measures a level of load for a while.
pub trait Measure {
    /// Why nothing could be measured.
    type Error;

    /// Loads the target at this level for this many seconds. `None` if the user wants no more; what
    /// was measured until then is then lost.
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

    /// Leaves the target alone for this many seconds, or until the user wants no more.
    fn pause(&mut self, _seconds: f64) {}

    /// Seconds of the budget that are gone by a clock, asked for once after each trial; `None`
    /// without a clock: then they are reckoned from what was to be measured.
    fn spent_s(&mut self) -> Option<f64> {
        None
    }

    /// A trial was added: for who shows progress, and for who keeps the answers of a level.
    fn ended(&mut self, _trial: &Trial) {}

    /// For each check, in their order, whether it holds on all answers together of those trials at
    /// this level that [count](Trial::counts).
    fn together(&mut self, level: f64) -> Vec<bool>;
}

/// What a trial is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// To make the target warm.
    WarmUp,
    /// To find the load line.
    Search,
    /// To make sure of it, in one long run.
    Confirmation,
    /// To see what the target does at a part of it.
    Ladder(Part),
}

impl Purpose {
    /// The purpose's name, as in reports and saved runs.
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
    /// Next to nothing.
    Idle,
    /// 10 % of the load line.
    Tenth,
    /// 50 %.
    Half,
    /// 90 %.
    Most,
    /// 110 %.
    Over,
    /// 90 % again, straight from 110 %.
    Back,
}

impl Part {
    /// The rungs that are trials of their own, rising.
    pub const RISING: [Part; 4] = [Part::Idle, Part::Tenth, Part::Half, Part::Most];

    /// The share of the load line.
    pub fn share(self) -> f64 {
        match self {
            Part::Idle => 0.01,
            Part::Tenth => 0.1,
            Part::Half => 0.5,
            Part::Most | Part::Back => 0.9,
            Part::Over => 1.1,
        }
    }

    /// Its name, as in reports.
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

/// What a trial saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// For each check, in their order, whether it held. The estimate decides, however sure it is.
    pub checks: Vec<bool>,
    /// For each check, in their order, whether this trial alone leaves it undecided.
    #[serde(default)]
    pub undecided: Vec<bool>,
    /// Answers a second that came in the trial, whenever they were asked for.
    pub answers_per_s: f64,
    /// The share of what ended that failed, 0 to 1.
    pub failed_share: f64,
    /// The median of the response time in nanoseconds. Requests without a response count with their
    /// age.
    pub p50_ns: u64,
    /// Whether the median is a lower bound: it lies beyond all that is known.
    #[serde(default)]
    pub p50_at_least: bool,
    /// The 99th percentile of the response time in nanoseconds, with the same requests.
    pub p99_ns: u64,
    /// Whether the 99th percentile is a lower bound.
    #[serde(default)]
    pub p99_at_least: bool,
    /// The mean of the response time in seconds.
    pub mean_s: f64,
    /// What fell due and had not ended when the trial did, in seconds of the load asked for; 0 in a
    /// closed loop, where nothing falls due.
    pub outstanding_s: f64,
    /// By how many requests more was outstanding at the end of the trial than at its beginning; 0
    /// in a closed loop.
    pub grown: f64,
    /// Requests that had been sent and not answered when the trial ended, and were not waited for.
    pub in_flight: u64,
    /// How long what was unfinished was waited for behind the trial, in seconds.
    pub drained_s: f64,
    /// The cores that the target was seen to use, if it was watched.
    pub target_cores: Option<f64>,
    /// Whether the machine lost time that no process of it had, whatever came of that: it was
    /// stolen, or a loop stalled. That comes and goes with a neighbour.
    pub lost_time: bool,
    /// Why the generator may have been at its end before the target was.
    pub own_limit: Option<OwnLimit>,
    /// What took time from the generator and its machine, so that a check may have broken by that.
    pub disturbance: Option<OwnLimit>,
}

impl Observation {
    /// How long a target that answers at this rate will yet be busy with what came to it, in
    /// seconds, beyond what it always takes.
    pub(crate) fn backlog_s(&self, answers_per_s: f64, mean_at_ease_s: f64) -> f64 {
        (self.in_flight as f64 / answers_per_s - mean_at_ease_s).max(0.0)
    }
}

/// A level, and straight after it a lower one.
#[derive(Clone, Debug, PartialEq)]
pub struct Descent {
    /// What was seen at the higher level.
    pub over: Observation,
    /// What was seen at the lower one.
    pub back: Observation,
    /// For each interval of the lower level its end in seconds after the step down, and whether all
    /// checks held in it.
    pub intervals: Vec<(f64, bool)>,
}

/// What of the generator ended first. Shares lie between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnLimit {
    /// A worker computed for this share of its time.
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
        /// How many.
        failed: u64,
    },
    /// Requests went out late, because of delay added by Loadline.
    Late {
        /// The share of requests that did.
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
    /// The most responses a second that the generator gets on this machine, from a server that does
    /// nothing.
    Floor {
        /// Answers a second.
        answers_per_s: f64,
    },
}

/// A trial that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Its number, from 1.
    pub number: u32,
    /// What it was for.
    pub purpose: Purpose,
    /// The rate a second or the number of users that was asked for.
    pub level: f64,
    /// For how many seconds.
    pub seconds: f64,
    /// Whether no more was outstanding at the end than at the beginning, but for chance.
    pub kept_up: bool,
    /// Whether it was made again, because its machine lost time meanwhile: it then says nothing of
    /// the target.
    #[serde(rename = "set_aside")]
    pub discarded: bool,
    /// What was seen.
    pub seen: Observation,
}

impl Trial {
    /// Whether the search goes by it.
    pub fn counts(&self) -> bool {
        matches!(self.purpose, Purpose::Search | Purpose::Confirmation) && !self.discarded
    }

    /// What was outstanding around it.
    pub(crate) fn backlog(&self) -> Backlog {
        Backlog {
            grown: self.seen.grown,
            outstanding: self.seen.outstanding_s * self.level,
        }
    }

    /// Whether all checks held and the target kept up.
    pub fn held(&self) -> bool {
        self.kept_up && self.seen.checks.iter().all(|held| *held)
    }

    /// Why it did not hold, if the generator was the cause.
    pub fn own_limit(&self) -> Option<OwnLimit> {
        self.seen.own_limit.filter(|_| !self.held())
    }

    /// What, other than the target, may be why it did not hold: the generator at its limit, or a
    /// disturbance.
    pub fn other_cause(&self) -> Option<OwnLimit> {
        let cause = self.seen.own_limit.or(self.seen.disturbance);
        cause.filter(|_| !self.held())
    }
}
