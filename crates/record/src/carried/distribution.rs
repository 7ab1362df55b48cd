//! A distribution in transfer.

use super::counts::PackedCounts;
use super::error::CarryError;
use crate::Distribution;
use serde::{Deserialize, Serialize};

/// A distribution in transfer.
#[derive(Debug, Serialize, Deserialize)]
pub struct CarriedDistribution(PackedCounts);

impl CarriedDistribution {
    /// Prepares a distribution for its transfer.
    pub fn of(distribution: &Distribution) -> Self {
        CarriedDistribution(PackedCounts::of(distribution))
    }

    /// Returns the distribution that was sent.
    ///
    /// # Errors
    /// If its contents are invalid.
    pub fn distribution(&self) -> Result<Distribution, CarryError> {
        self.0.distribution()
    }
}
