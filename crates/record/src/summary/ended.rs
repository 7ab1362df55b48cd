//! The reason of a run's end, and its form in a saved run.

use serde::{Deserialize, Serialize};

/// The reason of a run's end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredEnd", into = "StoredEnd")]
pub enum Ended {
    /// Its duration was over.
    Duration,
    /// The planned number of exchanges had ended.
    Requests,
    /// The last stage was over.
    Stages,
    /// A percentile was as precise as the plan requires.
    Precise,
    /// The checks were proven to pass, or one to fail.
    Decided,
    /// The user stopped it.
    Interrupted,
    /// This check (as typed) failed, and the plan or the script says to stop then.
    Aborted(String),
    /// Its script threw this exception.
    Threw(String),
    /// A worker was lost, for this reason.
    Failed(String),
    /// Not known: the run continues, or it was killed before its end was recorded.
    Unknown,
}

/// The form of [`Ended`] in a saved run, with a name for each text.
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
