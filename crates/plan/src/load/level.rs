//! Levels to which a load can be changed while it lasts.

use super::Shape;
use crate::Rate;
use serde::{Deserialize, Serialize};

/// The lowest share of a planned load, in thousandths. Less is a pause.
pub const LEAST_SHARE: u32 = 1;
/// The highest share of a planned load, in thousandths: a hundred times the plan.
pub const MOST_SHARE: u32 = 100_000;

/// The level of a load from an instant on, until the next change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// A share of the planned course, in thousandths: 1 000 is the load as planned.
    Share(u32),
    /// A fixed rate of arrivals, whatever the plan. For loads with a rate.
    Rate(Rate),
    /// A fixed number of users, whatever the plan. For closed loads.
    Users(u32),
    /// No load.
    Paused,
}

/// A reason why a load can't be changed to a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LevelProblem {
    /// A share that is out of range.
    #[error(
        "a load can be changed to 0.1% to 10000% of the plan, not to {}.{}%; give a share in \
         between, or pause the load.",
        .0 / 10, .0 % 10
    )]
    Share(u32),
    /// A level of zero, which is a pause.
    #[error("a load of nothing is a pause; pause the load, or give more than 0.")]
    Nothing,
    /// A rate for a load without one: closed, paced, or of bursts.
    #[error("this load has no rate that could be changed; give a share of the plan.")]
    NoRate,
    /// A number of users for an open load.
    #[error("an open load has no number of users that could be changed; give a share or a rate.")]
    NoUsers,
    /// A rate or a number of users for several scenarios: it is unclear for which.
    #[error("several scenarios can only be changed together; give a share of the plan.")]
    SeveralScenarios,
    /// More users than allowed.
    #[error("a load can be changed to at most {most} users, not to {users}; give fewer.")]
    Users {
        /// The number of users that was requested.
        users: u32,
        /// The most users.
        most: u32,
    },
}

/// The most users to which a closed load can be changed.
pub const MOST_USERS: u32 = 1_000_000;

impl Level {
    /// Checks that a load of this shape can be changed to the level.
    ///
    /// # Errors
    /// The reason why it can't.
    pub fn check(self, shape: &Shape) -> Result<(), LevelProblem> {
        match self {
            Level::Paused => Ok(()),
            Level::Share(share) if (LEAST_SHARE..=MOST_SHARE).contains(&share) => Ok(()),
            Level::Share(share) => Err(LevelProblem::Share(share)),
            Level::Rate(rate) if rate.count == 0 => Err(LevelProblem::Nothing),
            Level::Rate(_) => match shape {
                Shape::Rate { .. } | Shape::RateStages { .. } => Ok(()),
                Shape::Scenarios { .. } => Err(LevelProblem::SeveralScenarios),
                Shape::Closed | Shape::ClosedStages { .. } | Shape::Burst { .. } | Shape::Paced => {
                    Err(LevelProblem::NoRate)
                }
            },
            Level::Users(0) => Err(LevelProblem::Nothing),
            Level::Users(users) if users > MOST_USERS => Err(LevelProblem::Users {
                users,
                most: MOST_USERS,
            }),
            Level::Users(_) if matches!(shape, Shape::Scenarios { .. }) => {
                Err(LevelProblem::SeveralScenarios)
            }
            Level::Users(_) if shape.is_open() => Err(LevelProblem::NoUsers),
            Level::Users(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arrivals;

    #[test]
    fn a_level_fits_the_model_and_lies_in_range() {
        let rate = Rate::each_second(5);
        let arrivals = Arrivals::Constant;
        let open = Shape::Rate { rate, arrivals };
        let of = |level: Level| [level.check(&Shape::Closed), level.check(&open)];
        assert_eq!(of(Level::Paused), [Ok(()), Ok(())]);
        assert_eq!(of(Level::Share(1_050)), [Ok(()), Ok(())]);
        assert_eq!(of(Level::Share(0)), [Err(LevelProblem::Share(0)); 2]);
        let too_much = Err(LevelProblem::Share(100_001));
        assert_eq!(of(Level::Share(100_001)), [too_much, too_much]);
        assert_eq!(of(Level::Rate(rate)), [Err(LevelProblem::NoRate), Ok(())]);
        assert_eq!(of(Level::Users(3)), [Ok(()), Err(LevelProblem::NoUsers)]);
        assert_eq!(of(Level::Users(0)), [Err(LevelProblem::Nothing); 2]);
    }

    #[test]
    fn what_is_out_of_range_is_said_in_one_sentence() {
        assert_eq!(
            LevelProblem::Share(100_005).to_string(),
            "a load can be changed to 0.1% to 10000% of the plan, not to 10000.5%; give a share in \
             between, or pause the load."
        );
    }
}
