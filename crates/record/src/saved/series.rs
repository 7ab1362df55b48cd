//! The series in a saved run's lines.

use crate::error::LineError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use loadline_metrics::{BITS, Key, LONGEST_NS, Series, SeriesSet, SparseCounts, bucket};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A series with its times as text: the bytes of [`SparseCounts`] in base64.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredSeries {
    name: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tags: BTreeMap<String, String>,
    answered: u64,
    completed: u64,
    failed: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    rejected: u64,
    statuses: BTreeMap<u16, u64>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    times: String,
    sum_ns: u64,
    max_ns: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl StoredSeries {
    /// Encodes every series of a set, in the order of the keys.
    pub(crate) fn encode_all(set: &SeriesSet) -> Vec<StoredSeries> {
        let encoded = set
            .iter()
            .map(|(key, series)| StoredSeries::encode(key, series));
        encoded.collect()
    }

    /// Decodes the set of these series.
    pub(crate) fn decode_all(stored: &[StoredSeries]) -> Result<SeriesSet, LineError> {
        let mut set = SeriesSet::default();
        for one in stored {
            let (key, series) = one.decode().ok_or_else(|| LineError::Series {
                name: one.name.clone(),
            })?;
            set.add(&key, &series);
        }
        Ok(set)
    }

    fn encode(key: &Key, series: &Series) -> StoredSeries {
        let owned = |(tag, value): (&str, &str)| (tag.to_owned(), value.to_owned());
        StoredSeries {
            name: key.name().to_owned(),
            tags: key.tags().map(owned).collect(),
            answered: series.answered,
            completed: series.completed,
            failed: series.failed,
            rejected: series.rejected,
            statuses: series.statuses.clone(),
            times: STANDARD.encode(series.times.bytes()),
            sum_ns: series.sum_ns,
            max_ns: series.max_ns,
        }
    }

    fn decode(&self) -> Option<(Key, Series)> {
        let key = Key::tagged(&self.name, self.tags.clone()).ok()?;
        let bytes = STANDARD.decode(&self.times).ok()?;
        let series = Series {
            answered: self.answered,
            completed: self.completed,
            failed: self.failed,
            rejected: self.rejected,
            statuses: self.statuses.clone(),
            times: SparseCounts::from_bytes(&bytes, bucket(LONGEST_NS, BITS))?,
            sum_ns: self.sum_ns,
            max_ns: self.max_ns,
        };
        Some((key, series))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_metrics::{RequestOutcome, SeriesId, SeriesRecorder, SeriesTable};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn series_are_read_back_as_they_were_saved(
            requests in prop::collection::vec((0..4_u32, 0..10_000_000_000_u64), 0..60),
        ) {
            let mut table = SeriesTable::new(2);
            table.intern(&Key::new("a").unwrap());
            table.intern(&Key::tagged("a", [("b".to_owned(), "c".to_owned())].into()).unwrap());
            let mut recorder = SeriesRecorder::new(table);
            for (id, time_ns) in requests {
                let ending = match time_ns % 3 {
                    0 => RequestOutcome::Failed,
                    _ => RequestOutcome::Answered { status: 200 },
                };
                recorder.record(SeriesId(id), ending, time_ns, true);
                if time_ns % 3 == 1 {
                    recorder.reject(SeriesId(id));
                }
            }
            let set = recorder.take();
            let stored = StoredSeries::encode_all(&set);
            let text = serde_json::to_string(&stored).unwrap();
            let read: Vec<StoredSeries> = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(StoredSeries::decode_all(&read).unwrap(), set);
        }
    }

    #[test]
    fn times_that_are_none_are_refused_by_the_name_of_their_series() {
        let mut stored = StoredSeries::encode(&Key::new("login").unwrap(), &Series::default());
        stored.times = "gA==".to_owned();
        let refusal = StoredSeries::decode_all(&[stored]).unwrap_err().to_string();
        assert!(refusal.contains("`login`"), "{refusal}");
    }
}
