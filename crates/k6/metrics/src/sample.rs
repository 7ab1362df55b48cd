//! One value of a metric with its tags, for outputs.

use crate::MetricId;
use loadline_metrics::bits::number;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::sync::Arc;

/// The tags of a value.
pub trait Tags {
    /// Returns the value of the tag with this name.
    fn get(&self, key: &str) -> Option<Cow<'_, str>>;

    /// Calls `visit` with the name and value of each tag.
    fn for_each(&self, visit: &mut dyn FnMut(&str, &str));

    /// Calls `visit` with the name and value of each item of metadata, which is not a tag.
    fn metadata(&self, _visit: &mut dyn FnMut(&str, &str)) {}
}

/// The tags of a sample, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SampleTags {
    /// The tags, in the order of their names.
    pub tags: Vec<(String, String)>,
    /// The metadata, in the order of their names.
    pub metadata: Vec<(String, String)>,
}

impl SampleTags {
    /// Copies these tags.
    pub fn of(tags: &impl Tags) -> Arc<SampleTags> {
        let mut copy = SampleTags::default();
        tags.for_each(&mut |name, value| copy.tags.push((name.to_owned(), value.to_owned())));
        tags.metadata(&mut |name, value| copy.metadata.push((name.into(), value.into())));
        copy.tags.sort();
        copy.metadata.sort();
        Arc::new(copy)
    }

    /// Returns the value of the tag with this name.
    pub fn tag(&self, name: &str) -> Option<&str> {
        let found = self.tags.iter().find(|(known, _)| known == name)?;
        Some(&found.1)
    }
}

/// One value of a metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The metric.
    pub metric: MetricId,
    /// The time of the measurement, in nanoseconds since 1970.
    pub at_ns: u64,
    /// The value.
    #[serde(with = "number")]
    pub value: f64,
    /// The tags, shared by the samples of a request.
    #[serde(serialize_with = "to_own", deserialize_with = "of_own")]
    pub tags: Arc<SampleTags>,
}

/// Serialises shared tags for another process, where each sample has its own copy.
fn to_own<S: Serializer>(tags: &SampleTags, to: S) -> Result<S::Ok, S::Error> {
    tags.serialize(to)
}

fn of_own<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<SampleTags>, D::Error> {
    SampleTags::deserialize(from).map(Arc::new)
}
