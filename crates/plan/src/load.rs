//! The amount of load, its model and its course over time.

mod level;
mod options;
mod stages;

pub use level::{LEAST_SHARE, Level, LevelProblem, MOST_SHARE, MOST_USERS};
pub use options::{DEFAULT_CONNECTIONS, DEFAULT_DURATION, DEFAULT_MAX_CONNECTIONS, LoadOptions};
pub use stages::{Burst, StageList};

use crate::Rate;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The load of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// The number of users: in a closed load each of them loops, in an open one each takes
    /// arrivals. Each has a connection of its own, unless [they share
    /// some](crate::Connection::shared), or a [stream](crate::Connection::streams) of a connection
    /// of HTTP/2. (`connections` in older saved runs.)
    #[serde(alias = "connections")]
    pub users: u32,
    /// The most users of an open load, which adds a user when an arrival finds none free.
    #[serde(alias = "max_connections")]
    pub max_users: u32,
    /// The model and its course over time.
    pub shape: Shape,
}

impl Default for Load {
    /// A closed load with [`DEFAULT_CONNECTIONS`].
    fn default() -> Self {
        Self {
            users: DEFAULT_CONNECTIONS,
            max_users: DEFAULT_CONNECTIONS,
            shape: Shape::Closed,
        }
    }
}

impl Load {
    /// Returns the same load with this many users on each of its connections.
    pub fn with_streams(mut self, streams: u32) -> Self {
        let multiply = |users: &mut u32| *users = users.saturating_mul(streams);
        multiply(&mut self.users);
        multiply(&mut self.max_users);
        if let Shape::ClosedStages { start, stages } = &mut self.shape {
            multiply(start);
            stages
                .iter_mut()
                .for_each(|stage| multiply(&mut stage.target));
        }
        self
    }
}

/// The model of the load and its course over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Closed: every user sends its next request when the last one has ended.
    Closed,
    /// Closed, with the number of active users moving linearly from `start` through the stages.
    ClosedStages {
        /// The number of users at the start.
        start: u32,
        /// The course of the number.
        stages: Vec<Stage<u32>>,
    },
    /// Open: arrivals at a rate, whether or not earlier requests have ended.
    Rate {
        /// The rate of arrivals.
        rate: Rate,
        /// The spread of arrivals around the rate.
        arrivals: Arrivals,
    },
    /// Open, with a rate that moves linearly from `start` through the stages.
    RateStages {
        /// The rate at the start.
        start: Rate,
        /// The course of the rate.
        stages: Vec<Stage<Rate>>,
        /// The spread of arrivals around the rate.
        arrivals: Arrivals,
    },
    /// Open: `size` arrivals at once at 0, `every`, 2·`every` …
    Burst {
        /// Arrivals of one burst, at least 1.
        size: u64,
        /// Time from one burst to the next, more than zero.
        every: Duration,
    },
    /// Users who pace themselves, as their script specifies: the schedule of each user becomes
    /// known only while the run lasts.
    Paced,
    /// Several loads at once: the plan's scenarios.
    Scenarios {
        /// True if at least one scenario is open.
        is_open: bool,
    },
}

impl Shape {
    /// True if requests start by a schedule rather than after responses.
    pub fn is_open(&self) -> bool {
        match self {
            Shape::Closed | Shape::ClosedStages { .. } => false,
            Shape::Rate { .. } | Shape::RateStages { .. } | Shape::Burst { .. } | Shape::Paced => {
                true
            }
            Shape::Scenarios { is_open } => *is_open,
        }
    }

    /// Returns the spread of arrivals around their rate; `None` for a load without a rate.
    pub fn arrivals(&self) -> Option<Arrivals> {
        match self {
            Shape::Rate { arrivals, .. } | Shape::RateStages { arrivals, .. } => Some(*arrivals),
            Shape::Closed
            | Shape::ClosedStages { .. }
            | Shape::Burst { .. }
            | Shape::Paced
            | Shape::Scenarios { .. } => None,
        }
    }

    /// True if arrivals are drawn at random.
    pub fn is_random(&self) -> bool {
        self.arrivals() == Some(Arrivals::Poisson)
    }
}

/// A linear change of the load to `target`, taking `duration`. A duration of zero is a jump.
///
/// This type is the user's input, in plan files and saved runs, so its duration is written as a
/// time. The crate `schedule` has another `Stage`, in whole nanoseconds and without a serialised
/// form. The engine's pacer converts this one to that one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage<T> {
    /// The duration of the change.
    pub duration: Duration,
    /// The level at the end of the stage.
    pub target: T,
}

/// The spread of the arrivals of an open load around their rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Evenly: arrival k at the instant when the rate's integral reaches k.
    #[default]
    Constant,
    /// As a Poisson process: exponential gaps, drawn from the seed.
    Poisson,
}
