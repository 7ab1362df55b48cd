//! How much load, in which model, over time.

mod level;
mod options;
mod stages;

pub use level::{LEAST_SHARE, Level, LevelProblem, MOST_SHARE, MOST_USERS};
pub use options::{DEFAULT_CONNECTIONS, DEFAULT_DURATION, DEFAULT_MAX_CONNECTIONS, LoadOptions};
pub use stages::{Burst, StageList};

use crate::Rate;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How much load a run makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Users: those that loop in a closed load, those that take arrivals in an open one. Each has a
    /// connection of its own, unless [they share some](crate::Connection::shared), or a
    /// [stream](crate::Connection::streams) of a connection of HTTP/2. (`connections` in saved runs
    /// before this word.)
    #[serde(alias = "connections")]
    pub users: u32,
    /// An open load has more users, up to here, when an arrival finds none free.
    #[serde(alias = "max_connections")]
    pub max_users: u32,
    /// The model and its course over time.
    pub shape: Shape,
}

impl Default for Load {
    /// Closed, with [`DEFAULT_CONNECTIONS`].
    fn default() -> Self {
        Self {
            users: DEFAULT_CONNECTIONS,
            max_users: DEFAULT_CONNECTIONS,
            shape: Shape::Closed,
        }
    }
}

impl Load {
    /// The same load with so many users on each of its connections.
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
    /// Closed: every connection sends its next request when the last one is answered.
    Closed,
    /// Closed, with the number of active connections moving linearly from `start` through the
    /// stages.
    ClosedStages {
        /// Connections at the start.
        start: u32,
        /// Where the number goes.
        stages: Vec<Stage<u32>>,
    },
    /// Open: arrivals at a rate, whether or not earlier ones are answered.
    Rate {
        /// Arrivals over time.
        rate: Rate,
        /// How the arrivals are spread.
        arrivals: Arrivals,
    },
    /// Open, with a rate that moves linearly from `start` through the stages.
    RateStages {
        /// The rate at the start.
        start: Rate,
        /// Where the rate goes.
        stages: Vec<Stage<Rate>>,
        /// How the arrivals are spread.
        arrivals: Arrivals,
    },
    /// Open: `size` arrivals at once at 0, `every`, 2·`every` …
    Burst {
        /// Arrivals of one burst, at least 1.
        size: u64,
        /// Time from one burst to the next, more than zero.
        every: Duration,
    },
    /// Users who pace themselves, as their script says: the schedule of each is known while the run
    /// lasts, and to nobody before.
    Paced,
    /// Several loads at once, as the plan's scenarios say.
    Scenarios {
        /// Whether one of them is open.
        is_open: bool,
    },
}

impl Shape {
    /// Whether starts come from a schedule rather than from the responses.
    pub fn is_open(&self) -> bool {
        match self {
            Shape::Closed | Shape::ClosedStages { .. } => false,
            Shape::Rate { .. } | Shape::RateStages { .. } | Shape::Burst { .. } | Shape::Paced => {
                true
            }
            Shape::Scenarios { is_open } => *is_open,
        }
    }

    /// How arrivals are spread around their rate; `None` where no rate is asked for.
    pub fn arrivals(&self) -> Option<Arrivals> {
        match self {
            Shape::Rate { arrivals, .. } | Shape::RateStages { arrivals, .. } => Some(*arrivals),
            _ => None,
        }
    }

    /// Whether arrivals are drawn at random.
    pub fn is_random(&self) -> bool {
        self.arrivals() == Some(Arrivals::Poisson)
    }
}

/// A linear change of the load to `target`, taking `duration`. A duration of zero is a jump.
///
/// This is what the user asked for and what plan files and saved runs contain, so its duration is
/// written as a time. The schedule has a `Stage` of its own, in whole nanoseconds and without a
/// serialised form. The engine's pacer converts the one into the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage<T> {
    /// How long the change takes.
    pub duration: Duration,
    /// The level at its end.
    pub target: T,
}

/// How the arrivals of an open load are spread around their rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Evenly: arrival k at the instant when the rate's integral reaches k.
    #[default]
    Constant,
    /// As a Poisson process: exponential gaps from the seed.
    Poisson,
}
