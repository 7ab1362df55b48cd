//! Tallies: counts of a scenario in addition to the engine's record of every exchange.
//!
//! A worker takes its scenario's [tally](crate::Scenario::take_tally) at the end of each interval
//! and sends it with the interval's snapshot. Tallies are merged together with snapshots, and leave
//! the run as [`Event::Tally`](crate::Event::Tally). The engine does not know the type of a tally:
//! the scenario that creates it and the observer that reads it do. Another process sends tallies as
//! JSON; the reader of its reports names the type by a [`TallyCodec`].

use loadline_record::Snapshot;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use std::any::{Any, type_name};
use std::fmt;
use std::sync::Arc;

/// Counts that can be added up, in any order in which the workers send them. They are copied for
/// observers on threads of their own that are late: see `loadline_runner::Feed`.
pub trait Tally: Clone + Send + Sync + Serialize + DeserializeOwned + 'static {
    /// Adds the counts of another tally.
    fn merge(&mut self, other: Self);

    /// Adds to the snapshot of its interval the counts that Loadline's own outputs report. Called
    /// once, with the merged tallies of all workers.
    fn add_to(&self, snapshot: &mut Snapshot) {
        let _ = snapshot;
    }
}

/// A tally whose type only its creator and its readers know.
#[derive(Clone)]
pub struct AnyTally(Held);

#[derive(Clone)]
enum Held {
    /// A tally of this process.
    Own(Box<dyn Erased>),
    /// A tally of another process, still encoded.
    Encoded(Box<RawValue>),
}

/// A tally without its type.
trait Erased: Any + Send + Sync {
    fn copy(&self) -> Box<dyn Erased>;
    fn merge(&mut self, other: Box<dyn Erased>);
    fn add_to(&self, snapshot: &mut Snapshot);
    fn encode(&self) -> serde_json::Result<Box<RawValue>>;
    fn type_name(&self) -> &'static str;
}

impl Clone for Box<dyn Erased> {
    fn clone(&self) -> Self {
        (**self).copy()
    }
}

impl<T: Tally> Erased for T {
    fn copy(&self) -> Box<dyn Erased> {
        Box::new(self.clone())
    }

    fn merge(&mut self, other: Box<dyn Erased>) {
        let other: Box<dyn Any> = other;
        match other.downcast::<T>() {
            Ok(other) => Tally::merge(self, *other),
            Err(_) => unreachable!("the scenarios of a run have one type of tally"),
        }
    }

    fn add_to(&self, snapshot: &mut Snapshot) {
        Tally::add_to(self, snapshot);
    }

    fn encode(&self) -> serde_json::Result<Box<RawValue>> {
        to_raw_value(self)
    }

    fn type_name(&self) -> &'static str {
        type_name::<T>()
    }
}

impl AnyTally {
    /// Wraps a tally, which hides its type.
    pub fn new<T: Tally>(tally: T) -> Self {
        AnyTally(Held::Own(Box::new(tally)))
    }

    /// Returns the tally, if it is of this type; a tally of another process must be
    /// [decoded](TallyCodec::decode) first.
    pub fn get<T: Tally>(&self) -> Option<&T> {
        match &self.0 {
            Held::Own(own) => (&**own as &dyn Any).downcast_ref(),
            Held::Encoded(_) => None,
        }
    }

    /// Adds the counts of another tally. Both are decoded, and of one type.
    ///
    /// # Panics
    /// If they are of two types.
    pub fn merge(&mut self, other: AnyTally) {
        if let (Held::Own(own), Held::Own(other)) = (&mut self.0, other.0) {
            (**own).merge(other);
        }
    }

    /// Adds to the snapshot of its interval the counts that Loadline's own outputs report.
    pub(crate) fn add_to(&self, snapshot: &mut Snapshot) {
        if let Held::Own(own) = &self.0 {
            (**own).add_to(snapshot);
        }
    }

    /// Adds a tally to the sum of others, which may be empty.
    pub fn add(sum: &mut Option<AnyTally>, tally: Option<AnyTally>) {
        match (sum, tally) {
            (Some(sum), Some(tally)) => sum.merge(tally),
            (sum @ None, tally) => *sum = tally,
            (Some(_), None) => {}
        }
    }
}

impl Serialize for AnyTally {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Held::Own(own) => {
                let encoded = own.encode().map_err(serde::ser::Error::custom)?;
                encoded.serialize(serializer)
            }
            Held::Encoded(encoded) => encoded.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for AnyTally {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::deserialize(deserializer).map(|encoded| AnyTally(Held::Encoded(encoded)))
    }
}

impl fmt::Debug for AnyTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Held::Own(own) => (**own).type_name(),
            Held::Encoded(_) => "encoded tally",
        })
    }
}

/// A function that decodes a tally.
type Decode = dyn Fn(&RawValue) -> serde_json::Result<AnyTally> + Send + Sync;

/// Decodes tallies of one type that another process sent.
#[derive(Clone)]
pub struct TallyCodec(Arc<Decode>);

impl TallyCodec {
    /// Returns the codec of this type of tally.
    pub fn of<T: Tally>() -> Self {
        TallyCodec::completed_by(Ok::<T, _>)
    }

    /// Returns the codec of tallies that `complete` changes after they are decoded, because another
    /// process does not know all that belongs to them.
    pub fn completed_by<T: Tally>(
        complete: impl Fn(T) -> serde_json::Result<T> + Send + Sync + 'static,
    ) -> Self {
        TallyCodec(Arc::new(move |encoded| {
            let decoded = serde_json::from_str(encoded.get())?;
            complete(decoded).map(AnyTally::new)
        }))
    }

    /// Decodes a tally that another process sent.
    ///
    /// # Errors
    /// If it is not of the codec's type.
    pub fn decode(&self, tally: &mut AnyTally) -> serde_json::Result<()> {
        if let Held::Encoded(encoded) = &tally.0 {
            *tally = (self.0)(encoded)?;
        }
        Ok(())
    }
}

impl fmt::Debug for TallyCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TallyCodec")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Counted(Vec<u32>);

    impl Tally for Counted {
        fn merge(&mut self, other: Self) {
            self.0.extend(other.0);
        }
    }

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Other;

    impl Tally for Other {
        fn merge(&mut self, _: Self) {}
    }

    #[test]
    fn tallies_add_up_without_their_type() {
        let mut sum = None;
        AnyTally::add(&mut sum, None);
        assert!(sum.is_none());
        for part in [vec![1, 2], vec![], vec![3]] {
            AnyTally::add(&mut sum, Some(AnyTally::new(Counted(part))));
        }
        AnyTally::add(&mut sum, None);
        let sum = sum.expect("a sum");
        assert!(sum.get::<Other>().is_none());
        assert_eq!(sum.get(), Some(&Counted(vec![1, 2, 3])));
    }

    #[test]
    fn a_tally_comes_back_from_another_process_as_it_was() {
        let sent = serde_json::to_string(&AnyTally::new(Counted(vec![7]))).expect("JSON");
        let mut came: AnyTally = serde_json::from_str(&sent).expect("JSON");
        assert!(came.get::<Counted>().is_none(), "its type is not known yet");
        assert!(TallyCodec::of::<Other>().decode(&mut came).is_err());
        let codec = TallyCodec::of::<Counted>();
        codec.decode(&mut came).expect("its type");
        codec.decode(&mut came).expect("is as it was");
        assert_eq!(came.get(), Some(&Counted(vec![7])));
    }

    #[test]
    fn a_codec_completes_what_another_process_does_not_know() {
        let sent = serde_json::to_string(&AnyTally::new(Counted(vec![1]))).expect("JSON");
        let codec = TallyCodec::completed_by(|Counted(mut numbers)| {
            numbers.push(2);
            Ok(Counted(numbers))
        });
        let mut came: AnyTally = serde_json::from_str(&sent).expect("JSON");
        codec.decode(&mut came).expect("its type");
        assert_eq!(came.get(), Some(&Counted(vec![1, 2])));
    }
}
