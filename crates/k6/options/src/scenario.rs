//! Scenarios: a function to run, the number of iterations or their rate, the users, and the time.

pub(crate) mod checks;
pub(crate) mod raw;

use crate::time::GoDuration;
use raw::Raw;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// The default time for iterations to finish after the end of a scenario, or of a user's part in
/// it.
pub(crate) const DEFAULT_GRACEFUL_TIME: GoDuration = GoDuration::seconds(30);
/// The default maximum duration of scenarios with a number of iterations.
pub(crate) const MAX_DURATION: GoDuration = GoDuration::seconds(600);

/// A scenario that can be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// The way in which iterations are started.
    pub executor: Executor,
    /// The start, from the beginning of the test.
    pub start_time: Duration,
    /// The time for iterations to finish after the end of the scenario.
    pub graceful_stop: Duration,
    /// Variables of the environment, in addition to those of the run.
    pub env: BTreeMap<String, String>,
    /// The exported function.
    pub exec: String,
    /// Tags of the scenario's samples.
    pub tags: BTreeMap<String, String>,
    /// The number of arrivals, where a segment of the test runs a part of them.
    pub arrivals: Option<u64>,
}

/// The way in which a scenario starts its iterations.
#[derive(Clone, Debug, PartialEq)]
pub enum Executor {
    /// A number of iterations that all users share.
    SharedIterations {
        /// Users.
        vus: u32,
        /// Iterations of all users together.
        iterations: u64,
        /// The time after which no more begin.
        max_duration: Duration,
    },
    /// A number of iterations for each user.
    PerVuIterations {
        /// Users.
        vus: u32,
        /// Iterations of each user.
        iterations: u64,
        /// The time after which no more begin.
        max_duration: Duration,
    },
    /// One iteration after another by a constant number of users.
    ConstantVus {
        /// Users.
        vus: u32,
        /// The duration.
        duration: Duration,
    },
    /// One iteration after another by a changing number of users.
    RampingVus {
        /// Users at the beginning.
        start_vus: u32,
        /// The changes of the number of users.
        stages: Vec<Stage>,
        /// The time for a user that is removed to finish its iteration.
        graceful_ramp_down: Duration,
    },
    /// Arrivals at a rate, whether or not other iterations have ended.
    ConstantArrivalRate {
        /// Iterations in each unit of time.
        rate: u64,
        /// The unit of time.
        time_unit: Duration,
        /// The duration.
        duration: Duration,
        /// Users that are ready at the beginning.
        pre_allocated_vus: u32,
        /// The maximum number of users.
        max_vus: u32,
    },
    /// Arrivals at a changing rate.
    RampingArrivalRate {
        /// Iterations in each unit of time at the beginning.
        start_rate: u64,
        /// The unit of time.
        time_unit: Duration,
        /// The changes of the rate.
        stages: Vec<Stage>,
        /// Users that are ready at the beginning.
        pre_allocated_vus: u32,
        /// The maximum number of users.
        max_vus: u32,
    },
    /// A number of users that is set through the REST API.
    ExternallyControlled {
        /// Users at the beginning.
        vus: u32,
        /// The maximum number of users.
        max_vus: u32,
        /// The duration; endless if `None`.
        duration: Option<Duration>,
    },
}

/// A linear change of the number of users or of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The duration.
    pub duration: Duration,
    /// The number or rate at the end.
    pub target: u64,
}

impl Executor {
    /// Returns the name of the executor in scripts.
    pub fn name(&self) -> &'static str {
        match self {
            Executor::SharedIterations { .. } => "shared-iterations",
            Executor::PerVuIterations { .. } => "per-vu-iterations",
            Executor::ConstantVus { .. } => "constant-vus",
            Executor::RampingVus { .. } => "ramping-vus",
            Executor::ConstantArrivalRate { .. } => "constant-arrival-rate",
            Executor::RampingArrivalRate { .. } => "ramping-arrival-rate",
            Executor::ExternallyControlled { .. } => "externally-controlled",
        }
    }

    /// Returns the maximum time in which iterations begin; `None` if there is no end.
    pub fn length(&self) -> Option<Duration> {
        let sum = |stages: &[Stage]| stages.iter().map(|stage| stage.duration).sum();
        match self {
            Executor::SharedIterations { max_duration, .. }
            | Executor::PerVuIterations { max_duration, .. } => Some(*max_duration),
            Executor::ConstantVus { duration, .. }
            | Executor::ConstantArrivalRate { duration, .. } => Some(*duration),
            Executor::RampingVus { stages, .. } | Executor::RampingArrivalRate { stages, .. } => {
                Some(sum(stages))
            }
            Executor::ExternallyControlled { duration, .. } => *duration,
        }
    }

    /// Returns the total number of iterations that arrive, if they arrive at a rate.
    pub(crate) fn arrivals(&self) -> Option<u64> {
        let ns = |time: &Duration| time.as_nanos();
        // Twice as many units of time: the mean of two whole rates may not be whole.
        let (twice, unit) = match self {
            Executor::ConstantArrivalRate {
                rate,
                time_unit,
                duration,
                ..
            } => (2 * u128::from(*rate) * ns(duration), time_unit),
            Executor::RampingArrivalRate {
                start_rate,
                time_unit,
                stages,
                ..
            } => {
                let starts =
                    std::iter::once(*start_rate).chain(stages.iter().map(|one| one.target));
                let of = |(start, stage): (u64, &Stage)| {
                    (u128::from(start) + u128::from(stage.target)) * ns(&stage.duration)
                };
                (starts.zip(stages).map(of).sum(), time_unit)
            }
            Executor::SharedIterations { .. }
            | Executor::PerVuIterations { .. }
            | Executor::ConstantVus { .. }
            | Executor::RampingVus { .. }
            | Executor::ExternallyControlled { .. } => return None,
        };
        u64::try_from(twice.div_ceil((2 * ns(unit)).max(1))).ok()
    }

    /// Returns the value that changes over time, at this time after the beginning: the number of
    /// users, or of arrivals per second.
    pub fn level(&self, elapsed: Duration) -> f64 {
        match self {
            Executor::RampingVus {
                start_vus, stages, ..
            } => along(f64::from(*start_vus), stages, elapsed).floor(),
            Executor::ConstantArrivalRate {
                rate, time_unit, ..
            } => *rate as f64 / time_unit.as_secs_f64(),
            Executor::RampingArrivalRate {
                start_rate,
                time_unit,
                stages,
                ..
            } => along(*start_rate as f64, stages, elapsed) / time_unit.as_secs_f64(),
            Executor::SharedIterations { .. }
            | Executor::PerVuIterations { .. }
            | Executor::ConstantVus { .. }
            | Executor::ExternallyControlled { .. } => f64::from(self.max_vus()),
        }
    }

    /// Returns the maximum of arrivals per second; 0 for executors without arrivals.
    pub fn most_rate(&self) -> f64 {
        let (rate, unit) = match self {
            Executor::ConstantArrivalRate {
                rate, time_unit, ..
            } => (*rate, time_unit),
            Executor::RampingArrivalRate {
                start_rate,
                time_unit,
                stages,
                ..
            } => {
                let targets = stages.iter().map(|stage| stage.target);
                (targets.fold(*start_rate, u64::max), time_unit)
            }
            Executor::SharedIterations { .. }
            | Executor::PerVuIterations { .. }
            | Executor::ConstantVus { .. }
            | Executor::RampingVus { .. }
            | Executor::ExternallyControlled { .. } => return 0.0,
        };
        rate as f64 / unit.as_secs_f64()
    }

    /// Returns the number of users that are ready before the scenario begins.
    pub fn ready_vus(&self) -> u32 {
        match self {
            Executor::ConstantArrivalRate {
                pre_allocated_vus, ..
            }
            | Executor::RampingArrivalRate {
                pre_allocated_vus, ..
            } => *pre_allocated_vus,
            Executor::SharedIterations { .. }
            | Executor::PerVuIterations { .. }
            | Executor::ConstantVus { .. }
            | Executor::RampingVus { .. }
            | Executor::ExternallyControlled { .. } => self.max_vus(),
        }
    }

    /// Returns the maximum number of users.
    pub fn max_vus(&self) -> u32 {
        match self {
            Executor::SharedIterations { vus, .. }
            | Executor::PerVuIterations { vus, .. }
            | Executor::ConstantVus { vus, .. } => *vus,
            Executor::RampingVus {
                start_vus, stages, ..
            } => {
                let targets = stages.iter().map(|stage| stage.target as u32);
                targets.fold(*start_vus, u32::max)
            }
            Executor::ConstantArrivalRate { max_vus, .. }
            | Executor::RampingArrivalRate { max_vus, .. }
            | Executor::ExternallyControlled { max_vus, .. } => *max_vus,
        }
    }
}

/// Returns the value of a sequence of stages at this time after its beginning.
fn along(start: f64, stages: &[Stage], elapsed: Duration) -> f64 {
    let (mut level, mut left) = (start, elapsed);
    for stage in stages {
        let target = stage.target as f64;
        if left < stage.duration {
            let share = left.as_secs_f64() / stage.duration.as_secs_f64();
            return level + (target - level) * share;
        }
        left -= stage.duration;
        level = target;
    }
    level
}

impl Scenario {
    /// Creates a scenario from its checked fields.
    pub(crate) fn of(name: &str, raw: &Raw<'_>) -> Scenario {
        let executor = executor(raw);
        let is_controlled = matches!(executor, Executor::ExternallyControlled { .. });
        let grace = if is_controlled {
            GoDuration(0)
        } else {
            DEFAULT_GRACEFUL_TIME
        };
        Scenario {
            name: name.to_owned(),
            executor,
            start_time: raw.time("startTime", GoDuration(0)).duration(),
            graceful_stop: raw.time("gracefulStop", grace).duration(),
            env: raw.texts("env"),
            exec: raw.text("exec").unwrap_or("default").to_owned(),
            tags: raw.texts("tags"),
            arrivals: None,
        }
    }
}

fn executor(raw: &Raw<'_>) -> Executor {
    let count = |name: &str, default: i64| raw.count(name).unwrap_or(default).max(0);
    let users = |name: &str, default: i64| u32::try_from(count(name, default)).unwrap_or(u32::MAX);
    let time = |name: &str, default: GoDuration| raw.time(name, default).duration();
    let pre_allocated_vus = users("preAllocatedVUs", 0);
    let max_vus = users("maxVUs", i64::from(pre_allocated_vus));
    let time_unit = time("timeUnit", GoDuration::seconds(1));
    match raw.executor() {
        "shared-iterations" => Executor::SharedIterations {
            vus: users("vus", 1),
            iterations: count("iterations", 1) as u64,
            max_duration: time("maxDuration", MAX_DURATION),
        },
        "constant-vus" => Executor::ConstantVus {
            vus: users("vus", 1),
            duration: time("duration", GoDuration(0)),
        },
        "ramping-vus" => Executor::RampingVus {
            start_vus: users("startVUs", 1),
            stages: stages(raw),
            graceful_ramp_down: time("gracefulRampDown", DEFAULT_GRACEFUL_TIME),
        },
        "constant-arrival-rate" => Executor::ConstantArrivalRate {
            rate: count("rate", 0) as u64,
            time_unit,
            duration: time("duration", GoDuration(0)),
            pre_allocated_vus,
            max_vus,
        },
        "ramping-arrival-rate" => Executor::RampingArrivalRate {
            start_rate: count("startRate", 0) as u64,
            time_unit,
            stages: stages(raw),
            pre_allocated_vus,
            max_vus,
        },
        "externally-controlled" => Executor::ExternallyControlled {
            vus: users("vus", 0),
            max_vus: users("maxVUs", i64::from(users("vus", 0))),
            duration: Some(time("duration", GoDuration(0))).filter(|time| !time.is_zero()),
        },
        _ => Executor::PerVuIterations {
            vus: users("vus", 1),
            iterations: count("iterations", 1) as u64,
            max_duration: time("maxDuration", MAX_DURATION),
        },
    }
}

fn stages(raw: &Raw<'_>) -> Vec<Stage> {
    let list = raw.get("stages").and_then(Value::as_array);
    let stages = list.into_iter().flatten().map(|stage| Stage {
        duration: raw::time_of(&stage["duration"])
            .unwrap_or_default()
            .duration(),
        target: stage["target"].as_i64().unwrap_or(0).max(0) as u64,
    });
    stages.collect()
}
