//! Snapshots in transfer from one process to another, in the format of a saved run.

use super::encoding::Encoder;
use super::line::{StoredSnapshot, StoredUnfinished};
use crate::{Snapshot, Unfinished};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cell::RefCell;

thread_local! {
    /// The encoder of a thread, so that a process that reports an interval each second need not
    /// create one for each.
    static ENCODER: RefCell<Encoder> = RefCell::default();
}

impl Serialize for Snapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ENCODER
            .with_borrow_mut(|encoder| StoredSnapshot::encode(self, encoder))
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Snapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = StoredSnapshot::deserialize(deserializer)?;
        stored.decode().map_err(Error::custom)
    }
}

impl Serialize for Unfinished {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ENCODER
            .with_borrow_mut(|encoder| StoredUnfinished::encode(self, encoder))
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Unfinished {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = StoredUnfinished::deserialize(deserializer)?;
        stored.decode().map_err(Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::any_snapshot;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_merged_behind_a_pipe_is_what_is_merged_before_it(
            one in any_snapshot(), two in any_snapshot(),
        ) {
            let carried = |snapshot: &Snapshot| -> Snapshot {
                let text = serde_json::to_string(snapshot).expect("JSON");
                serde_json::from_str(&text).expect("a snapshot")
            };
            let mut behind = carried(&one);
            behind.merge(&carried(&two));
            let mut before = one;
            before.merge(&two);
            prop_assert_eq!(behind, before);
        }
    }

    #[test]
    fn what_is_unfinished_keeps_its_ages() {
        let mut unfinished = Unfinished {
            unsent: 3,
            by_loadline: 2,
            by_target: 1,
            lost: 2,
            in_flight: 1,
            ..Unfinished::default()
        };
        unfinished.ages.response.record_ns(5_000);
        let text = serde_json::to_string(&unfinished).expect("JSON");
        let read: Unfinished = serde_json::from_str(&text).expect("the same");
        assert_eq!(read, unfinished);
    }
}
