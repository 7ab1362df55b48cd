//! The data of a search in a file in addition to its trials: its parameters and its outcome.

use loadline_capacity::{SearchOutcome, Settings};
use loadline_plan::Plan;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// The parameters of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    /// True if users were searched, instead of rates.
    pub users: bool,
    /// The range, the times and the precision of the search.
    pub settings: Settings,
    /// True if Loadline added the check on errors, as no check was given.
    #[serde(default)]
    pub errors_added: bool,
    /// The plan of each trial. Its requests are in the trials' own plans.
    #[serde(with = "loadline_plan::json")]
    pub plan: Plan,
}

impl Searched {
    /// Returns the parameters as the trials store them: without requests, which are in each trial's
    /// own plan, and with secrets masked.
    #[must_use]
    pub fn without_requests(mut self) -> Searched {
        self.plan.requests.clear();
        self.plan.mask_secrets();
        self
    }
}

/// The outcome of a search, as it is stored after its trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedOutcome {
    /// True if it ended early: the user interrupted it, or a trial failed.
    pub interrupted: bool,
    /// The number of runs before it in the file.
    pub runs: usize,
    /// The result of the search.
    #[serde(flatten)]
    pub outcome: SearchOutcome,
}

/// Reads a value; `None` for a value of another version that this version can't read.
pub(super) fn readable<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    let text = Box::<RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(text.get()).ok())
}
