//! What the file of a search holds besides its trials: what was asked for, and the outcome.

use loadline_capacity::{SearchOutcome, Settings};
use loadline_plan::Plan;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// What a search was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    /// Whether users were searched, instead of rates.
    pub users: bool,
    /// Where it looked, how long and how closely.
    pub settings: Settings,
    /// Whether the check on errors is ours, as none was given.
    #[serde(default)]
    pub errors_added: bool,
    /// What was asked for of each trial. Its requests are in the trials' own plans.
    #[serde(with = "loadline_plan::json")]
    pub plan: Plan,
}

impl Searched {
    /// As its trials keep it: each of them has the requests in its own plan, and secrets are
    /// masked.
    #[must_use]
    pub fn without_requests(mut self) -> Searched {
        self.plan.requests.clear();
        self.plan.mask_secrets();
        self
    }
}

/// How a search ended, as it is stored behind its trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedOutcome {
    /// Whether it ended early: the user interrupted it, or a trial failed.
    pub interrupted: bool,
    /// How many runs stand before it in the file.
    pub runs: usize,
    /// What was found.
    #[serde(flatten)]
    pub outcome: SearchOutcome,
}

/// Reads a value; `None` where another version wrote one that this version can't read.
pub(super) fn readable<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    let text = Box::<RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(text.get()).ok())
}
