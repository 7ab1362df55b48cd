//! The requests without a response at the end.

use super::counts::PackedCounts;
use super::error::CarryError;
use crate::{Ages, Unfinished};
use serde::{Deserialize, Serialize};

/// Unfinished requests in transfer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CarriedUnfinished {
    unsent: u64,
    by_target: u64,
    by_plan: u64,
    by_loadline: u64,
    by_stop: u64,
    lost: u64,
    in_flight: u64,
    oldest_ns: u64,
    /// The ages since the intended start, since the start, and without Loadline's delay.
    ages: [PackedCounts; 3],
}

impl CarriedUnfinished {
    /// Prepares unfinished requests for their transfer.
    pub fn of(unfinished: &Unfinished) -> Self {
        let ages = &unfinished.ages;
        CarriedUnfinished {
            unsent: unfinished.unsent,
            by_target: unfinished.by_target,
            by_plan: unfinished.by_plan,
            by_loadline: unfinished.by_loadline,
            by_stop: unfinished.by_stop,
            lost: unfinished.lost,
            in_flight: unfinished.in_flight,
            oldest_ns: unfinished.oldest_ns,
            ages: [&ages.response, &ages.service, &ages.undelayed].map(PackedCounts::of),
        }
    }

    /// Returns the unfinished requests that were sent.
    ///
    /// # Errors
    /// If their ages are invalid.
    pub fn unfinished(self) -> Result<Unfinished, CarryError> {
        let [response, service, undelayed] = self.ages;
        Ok(Unfinished {
            unsent: self.unsent,
            by_target: self.by_target,
            by_plan: self.by_plan,
            by_loadline: self.by_loadline,
            by_stop: self.by_stop,
            lost: self.lost,
            in_flight: self.in_flight,
            oldest_ns: self.oldest_ns,
            ages: Ages {
                response: response.distribution()?,
                service: service.distribution()?,
                undelayed: undelayed.distribution()?,
            },
        })
    }
}
