//! Tallies: counts of a scenario in addition to the engine's record of every exchange.
//!
//! A worker takes its scenario's [tally](crate::Scenario::take_tally) at the end of each interval
//! and sends it with the interval's snapshot. Tallies are merged together with snapshots, and leave
//! the run as [`Event::Tally`](crate::Event::Tally). The engine does not know the type of a tally:
//! the scenario that creates it and the observer that reads it do. Another process sends tallies in
//! the encoding of postcard; the reader of its reports names the type by a [`TallyCodec`].

use loadline_record::Snapshot;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::any::{Any, type_name};
use std::fmt;
use std::sync::Arc;

/// Counts that can be added up, in any order in which the workers send them. They are copied for
/// observers on threads of their own that are late: see `loadline_runner::Feed`. Their encoding for
/// other processes has no names of fields: no field may be left out, and a sequence must know its
/// length.
pub trait Tally: Clone + Send + Sync + Serialize + DeserializeOwned + 'static {
    /// Adds the counts of another tally.
    fn merge(&mut self, other: Self);

    /// Adds to the snapshot of its interval the counts that Loadline's own outputs report. Called
    /// once, with the merged tallies of all workers.
    fn add_to(&self, snapshot: &mut Snapshot) {
        let _ = snapshot;
    }

    /// Notes the name of the part of the run that has counted this, for what reports say of each
    /// part. Called where another process's tally is received.
    fn note_part(&mut self, part: &str) {
        let _ = part;
    }
}

/// A tally whose type only its creator and its readers know.
#[derive(Clone)]
pub struct AnyTally(Box<dyn Erased>);

/// The reason why a tally can't be sent, or was not received as one.
#[derive(Debug, thiserror::Error)]
pub enum TallyError {
    /// The tally has no encoding, or the bytes are no tally of this type.
    #[error("its tally: {0}")]
    Encoding(#[from] postcard::Error),
    /// The tally does not belong to the run.
    #[error("its tally: {0}")]
    Foreign(String),
    /// The run has no tallies.
    #[error("it has a tally, and the run has none")]
    Unexpected,
}

/// A tally without its type.
trait Erased: Any + Send + Sync {
    fn copy(&self) -> Box<dyn Erased>;
    fn merge(&mut self, other: Box<dyn Erased>);
    fn add_to(&self, snapshot: &mut Snapshot);
    fn note_part(&mut self, part: &str);
    fn encode(&self) -> postcard::Result<Vec<u8>>;
    fn type_name(&self) -> &'static str;
    #[cfg(test)]
    fn codec(&self) -> TallyCodec;
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

    fn note_part(&mut self, part: &str) {
        Tally::note_part(self, part);
    }

    fn encode(&self) -> postcard::Result<Vec<u8>> {
        postcard::to_stdvec(self)
    }

    fn type_name(&self) -> &'static str {
        type_name::<T>()
    }

    #[cfg(test)]
    fn codec(&self) -> TallyCodec {
        TallyCodec::of::<T>()
    }
}

impl AnyTally {
    /// Wraps a tally, which hides its type.
    pub fn new<T: Tally>(tally: T) -> Self {
        AnyTally(Box::new(tally))
    }

    /// Returns the tally, if it is of this type.
    pub fn get<T: Tally>(&self) -> Option<&T> {
        (&*self.0 as &dyn Any).downcast_ref()
    }

    /// Adds the counts of another tally of the same type.
    ///
    /// # Panics
    /// If they are of two types.
    pub fn merge(&mut self, other: AnyTally) {
        (*self.0).merge(other.0);
    }

    /// Adds to the snapshot of its interval the counts that Loadline's own outputs report.
    pub(crate) fn add_to(&self, snapshot: &mut Snapshot) {
        (*self.0).add_to(snapshot);
    }

    /// Returns the tally as bytes for another process, which [decodes](TallyCodec::decode) them.
    ///
    /// # Errors
    /// If its type has no such encoding.
    pub fn encode(&self) -> Result<Vec<u8>, TallyError> {
        Ok((*self.0).encode()?)
    }

    /// Returns the codec of its type.
    #[cfg(test)]
    pub(crate) fn codec(&self) -> TallyCodec {
        (*self.0).codec()
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

impl fmt::Debug for AnyTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str((*self.0).type_name())
    }
}

/// A function that decodes a tally.
type Decode = dyn Fn(&[u8]) -> Result<AnyTally, TallyError> + Send + Sync;

/// Encoded tallies that are carried by a process that does not know their type, each with the
/// number of its part in a group. They are added up by the reader.
#[derive(Clone, Serialize, Deserialize)]
struct Sealed(Vec<(usize, Vec<u8>)>);

impl Tally for Sealed {
    fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

/// Decodes tallies of one type that another process sent.
#[derive(Clone)]
pub struct TallyCodec(Arc<Decode>);

impl TallyCodec {
    /// Returns the codec of this type of tally.
    pub fn of<T: Tally>() -> Self {
        TallyCodec::completed_by(Ok::<T, _>)
    }

    /// Returns the codec of tallies that `complete` changes after they are decoded, because another
    /// process does not know all that belongs to them; its error is the reason why they do not
    /// belong to the run.
    pub fn completed_by<T: Tally>(
        complete: impl Fn(T) -> Result<T, String> + Send + Sync + 'static,
    ) -> Self {
        TallyCodec(Arc::new(move |bytes| {
            let decoded = postcard::from_bytes(bytes)?;
            let complete = complete(decoded).map_err(TallyError::Foreign)?;
            Ok(AnyTally::new(complete))
        }))
    }

    /// Returns the codec of the tallies that the part of this name sends.
    #[must_use]
    pub fn of_part(&self, part: &str) -> Self {
        let (codec, part) = (self.clone(), part.to_owned());
        TallyCodec(Arc::new(move |bytes| {
            let AnyTally(mut tally) = codec.decode(bytes)?;
            (*tally).note_part(&part);
            Ok(AnyTally(tally))
        }))
    }

    /// Returns the codec of a process that only passes on the tallies of a part of its group,
    /// whatever their type.
    pub(crate) fn sealing(part: usize) -> Self {
        TallyCodec(Arc::new(move |bytes| {
            Ok(AnyTally::new(Sealed(vec![(part, bytes.to_vec())])))
        }))
    }

    /// Returns the codec of what is passed on so: the sum of this codec's tallies. The parts of the
    /// group have these names.
    pub(crate) fn of_sealed(&self, parts: &[String]) -> Self {
        let codecs: Vec<TallyCodec> = parts.iter().map(|part| self.of_part(part)).collect();
        TallyCodec(Arc::new(move |bytes| {
            let Sealed(sealed) = postcard::from_bytes(bytes)?;
            let mut sum = None;
            for (part, tally) in &sealed {
                let codec = codecs.get(*part).ok_or(TallyError::Unexpected)?;
                AnyTally::add(&mut sum, Some(codec.decode(tally)?));
            }
            sum.ok_or(TallyError::Unexpected)
        }))
    }

    /// Returns the sum of tallies of the parts of a group that have these names, as the reader of
    /// the group's merger gets it; each is given with the number of its part. It is for the tests
    /// of those who define a tally.
    ///
    /// # Errors
    /// If they are none of this codec's.
    #[doc(hidden)]
    pub fn through_merger(
        &self,
        tallies: &[(usize, AnyTally)],
        parts: &[String],
    ) -> Result<AnyTally, TallyError> {
        let mut sealed = None;
        for (part, tally) in tallies {
            let passed_on = TallyCodec::sealing(*part).decode(&tally.encode()?)?;
            AnyTally::add(&mut sealed, Some(passed_on));
        }
        let sealed = sealed.ok_or(TallyError::Unexpected)?;
        self.of_sealed(parts).decode(&sealed.encode()?)
    }

    /// Decodes a tally that another process [encoded](AnyTally::encode).
    ///
    /// # Errors
    /// If it is not of the codec's type.
    pub fn decode(&self, bytes: &[u8]) -> Result<AnyTally, TallyError> {
        (self.0)(bytes)
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

        fn note_part(&mut self, part: &str) {
            self.0.push(part.len() as u32);
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
        let sent = AnyTally::new(Counted(vec![7])).encode().expect("bytes");
        let came = TallyCodec::of::<Counted>().decode(&sent).expect("its type");
        assert_eq!(came.get(), Some(&Counted(vec![7])));
        let refused = TallyCodec::of::<Counted>().decode(&sent[..1]);
        assert!(matches!(refused, Err(TallyError::Encoding(_))));
    }

    #[test]
    fn tallies_add_up_behind_one_who_does_not_know_them() {
        let tallies = [(1, vec![1, 2]), (0, vec![3])];
        let tallies = tallies.map(|(part, counted)| (part, AnyTally::new(Counted(counted))));
        let parts = ["1234567", "12345678"].map(str::to_owned);
        let codec = TallyCodec::of::<Counted>();
        let came = codec.through_merger(&tallies, &parts).expect("a sum");
        assert_eq!(came.get(), Some(&Counted(vec![1, 2, 8, 3, 7])));
        for (tallies, parts) in [(&tallies[..], &parts[..1]), (&tallies[..0], &parts[..])] {
            let refused = codec.through_merger(tallies, parts);
            assert!(matches!(refused, Err(TallyError::Unexpected)));
        }
    }

    #[test]
    fn a_part_is_noted_where_its_tally_is_received() {
        let sent = AnyTally::new(Counted(vec![1])).encode().expect("bytes");
        let codec = TallyCodec::of::<Counted>().of_part("agent b");
        let came = codec.decode(&sent).expect("its type");
        assert_eq!(came.get(), Some(&Counted(vec![1, 7])));
    }

    #[test]
    fn a_codec_completes_what_another_process_does_not_know() {
        let sent = AnyTally::new(Counted(vec![1])).encode().expect("bytes");
        let codec = TallyCodec::completed_by(|Counted(mut numbers)| {
            numbers.push(2);
            Ok(Counted(numbers))
        });
        let came = codec.decode(&sent).expect("its type");
        assert_eq!(came.get(), Some(&Counted(vec![1, 2])));
        let codec = TallyCodec::completed_by(|_: Counted| Err("of another test".to_owned()));
        let refusal = codec.decode(&sent).expect_err("a refusal").to_string();
        assert_eq!(refusal, "its tally: of another test");
    }
}
