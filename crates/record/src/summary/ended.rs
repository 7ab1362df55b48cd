//! What ended a run, and how a saved run stores it.

use serde::{Deserialize, Serialize};

/// What ended a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredEnd", into = "StoredEnd")]
pub enum Ended {
    /// Its time was over.
    Duration,
    /// The planned number of exchanges had ended.
    Requests,
    /// The last stage was over.
    Stages,
    /// A percentile was as precise as the plan wanted it.
    Precise,
    /// The checks were proven to be kept, or one to be broken.
    Decided,
    /// The user stopped it.
    Interrupted,
    /// This check (as typed) broke, and the plan says to stop then.
    Aborted(String),
    /// Its script threw this.
    Threw(String),
    /// A worker was lost; this says why.
    Failed(String),
    /// Not known: the run goes on, or it was killed before it could say.
    Unknown,
}

/// [`Ended`] as it stands in a saved run, each text under a name of its own.
#[derive(Serialize, Deserialize)]
#[serde(tag = "ended", rename_all = "snake_case")]
enum StoredEnd {
    Duration,
    Requests,
    Stages,
    Precise,
    Decided,
    Interrupted,
    Aborted { check: String },
    Threw { error: String },
    Failed { error: String },
    Unknown,
}

impl From<Ended> for StoredEnd {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Duration => StoredEnd::Duration,
            Ended::Requests => StoredEnd::Requests,
            Ended::Stages => StoredEnd::Stages,
            Ended::Precise => StoredEnd::Precise,
            Ended::Decided => StoredEnd::Decided,
            Ended::Interrupted => StoredEnd::Interrupted,
            Ended::Aborted(check) => StoredEnd::Aborted { check },
            Ended::Threw(error) => StoredEnd::Threw { error },
            Ended::Failed(error) => StoredEnd::Failed { error },
            Ended::Unknown => StoredEnd::Unknown,
        }
    }
}

impl From<StoredEnd> for Ended {
    fn from(ending: StoredEnd) -> Self {
        match ending {
            StoredEnd::Duration => Ended::Duration,
            StoredEnd::Requests => Ended::Requests,
            StoredEnd::Stages => Ended::Stages,
            StoredEnd::Precise => Ended::Precise,
            StoredEnd::Decided => Ended::Decided,
            StoredEnd::Interrupted => Ended::Interrupted,
            StoredEnd::Aborted { check } => Ended::Aborted(check),
            StoredEnd::Threw { error } => Ended::Threw(error),
            StoredEnd::Failed { error } => Ended::Failed(error),
            StoredEnd::Unknown => Ended::Unknown,
        }
    }
}
