//! The users of an externally controlled scenario.

use crate::rest::{Scale, ScaleError};
use loadline_k6_options::{Executor, Scenario};

/// The maximum number of users that can be requested.
const MOST_USERS: i64 = 1_000_000;

/// The users of an externally controlled scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Controlled {
    /// The index of the scenario in the test, from 0.
    pub(super) scenario: usize,
    /// The number of users, and its maximum.
    pub(super) vus: u32,
    pub(super) max: u32,
    /// Both numbers at the beginning.
    first: (u32, u32),
}

impl Controlled {
    /// Returns the first externally controlled scenario.
    pub(crate) fn of(scenarios: &[Scenario]) -> Option<Controlled> {
        let all = scenarios.iter().enumerate();
        all.filter_map(|(scenario, one)| match one.executor {
            Executor::ExternallyControlled { vus, max_vus, .. } => Some(Controlled {
                scenario,
                vus,
                max: max_vus,
                first: (vus, max_vus),
            }),
            Executor::SharedIterations { .. }
            | Executor::PerVuIterations { .. }
            | Executor::ConstantVus { .. }
            | Executor::RampingVus { .. }
            | Executor::ConstantArrivalRate { .. }
            | Executor::RampingArrivalRate { .. } => None,
        })
        .next()
    }

    /// True if the number of users differs from the beginning.
    pub(super) fn is_changed(&self) -> bool {
        self.vus != self.first.0
    }

    /// Returns the growth of the maximum since the beginning.
    pub(super) fn grown(&self) -> u32 {
        self.max.saturating_sub(self.first.1)
    }

    /// Returns the numbers after this change.
    ///
    /// # Errors
    /// If they contradict each other or the beginning, in k6's words.
    pub(super) fn scaled(&self, scale: Scale) -> Result<Controlled, ScaleError> {
        let vus = scale.vus.unwrap_or(i64::from(self.vus));
        let max = scale.vus_max.unwrap_or(i64::from(self.max));
        let invalid = |problem: String| {
            ScaleError::Invalid(format!("invalid configuration supplied: {problem}"))
        };
        if vus < 0 {
            return Err(invalid("the number of VUs can't be negative".to_owned()));
        }
        if vus > max {
            return Err(invalid(format!(
                "the number of active VUs ({vus}) must be less than or equal to the number of \
                 maxVUs ({max})"
            )));
        }
        if max > MOST_USERS {
            return Err(invalid(format!(
                "the number of maxVUs ({max}) can't be more than {MOST_USERS}"
            )));
        }
        if max < i64::from(self.first.1) {
            return Err(ScaleError::Invalid(format!(
                "the new number of max VUs cannot be lower than the starting number of max VUs \
                 ({})",
                self.first.1
            )));
        }
        let users = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
        Ok(Controlled {
            vus: users(vus),
            max: users(max),
            ..*self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUR: Controlled = Controlled {
        scenario: 0,
        vus: 1,
        max: 4,
        first: (1, 4),
    };

    fn scaled(vus: Option<i64>, vus_max: Option<i64>) -> Result<(u32, u32), String> {
        let scaled = FOUR.scaled(Scale { vus, vus_max });
        let scaled = scaled.map_err(|error| error.to_string())?;
        Ok((scaled.vus, scaled.max))
    }

    #[test]
    fn numbers_of_users_fit_each_other_and_the_beginning() {
        assert_eq!(scaled(Some(0), None), Ok((0, 4)));
        assert_eq!(scaled(Some(6), Some(6)), Ok((6, 6)));
        let above = "invalid configuration supplied: the number of active VUs (5) must be less \
                     than or equal to the number of maxVUs (4)";
        assert_eq!(scaled(Some(5), None), Err(above.to_owned()));
        let many = "invalid configuration supplied: the number of maxVUs (1000000000) can't be \
                    more than 1000000";
        assert_eq!(scaled(None, Some(1_000_000_000)), Err(many.to_owned()));
        let below = "the new number of max VUs cannot be lower than the starting number of max \
                     VUs (4)";
        assert_eq!(scaled(None, Some(3)), Err(below.to_owned()));
    }
}
