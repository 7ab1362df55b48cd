//! What an agent does with the parcels of a coordinator before its worker process gets them: a
//! bundle is named by its hash, and sent where the agent has not got it. What comes after it waits.

use crate::parcel::{BundleName, Parcel};
use crate::store::Store;
use loadline_cluster::{Bundle, Frame, Hash};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Receives the parcels for one part.
#[derive(Debug)]
pub(crate) struct Intake {
    store: Arc<Mutex<Store>>,
    /// The bundle that was requested, and the frames after it.
    waiting: Option<(BundleName, Vec<Frame>)>,
}

/// The consequence of a parcel.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The worker process gets these frames.
    Pass(Vec<Frame>),
    /// The bundle with this hash is requested.
    Request(Hash),
    /// The part is ended: its coordinator has done so, or sent what it must not.
    End(Option<&'static str>),
}

/// The reason why a part is ended whose bundle is not the one that was named.
const OTHER_BUNDLE: &str = "was sent a bundle with another hash than was named, and has ended it; \
                            begin the run again, on another bus if that does not help";
/// The reason why a part is ended that gets what it did not request.
const NOT_REQUESTED: &str = "was sent what it has not requested, and has ended it; begin the run \
                             again, on another bus if that does not help";
/// The reason why a part is ended whose bundle is too large: coordinators of this version name
/// none.
const TOO_LARGE: &str = "was named a bundle of more than 256 MiB, and has ended it; send shorter \
                         bodies and lists, from a coordinator of the agent's own build";

impl Intake {
    /// Creates the intake of a part whose agent has these bundles.
    pub(crate) fn new(store: &Arc<Mutex<Store>>) -> Self {
        Intake {
            store: Arc::clone(store),
            waiting: None,
        }
    }

    /// Takes a parcel.
    pub(crate) fn take(&mut self, parcel: Parcel) -> Step {
        match (parcel, &mut self.waiting) {
            (Parcel::Bundle(name), None) => self.look_up(name),
            (Parcel::Frame(Frame::Bundle(bundle)), Some(_)) => self.receive(bundle),
            (Parcel::Frame(Frame::Bundle(_)), None)
            | (Parcel::Bundle(_), Some(_))
            | (Parcel::Request(_), _) => Step::End(Some(NOT_REQUESTED)),
            (Parcel::Frame(frame), Some((_, frames))) => {
                frames.push(frame);
                Step::Pass(Vec::new())
            }
            (Parcel::Frame(frame), None) => Step::Pass(vec![frame]),
            (Parcel::End(_), _) => Step::End(None),
        }
    }

    fn look_up(&mut self, name: BundleName) -> Step {
        if name.length > Bundle::MOST_BYTES as u64 {
            return Step::End(Some(TOO_LARGE));
        }
        let found = self.store().get(name.hash);
        match found {
            Some(bundle) => Step::Pass(vec![Frame::Bundle(bundle)]),
            None => {
                self.waiting = Some((name, Vec::new()));
                Step::Request(name.hash)
            }
        }
    }

    /// Receives the bundle that was requested. It is kept only if it is that one.
    fn receive(&mut self, bundle: Bundle) -> Step {
        let Some((name, mut frames)) = self.waiting.take() else {
            return Step::End(Some(NOT_REQUESTED));
        };
        if BundleName::of(&bundle) != name {
            return Step::End(Some(OTHER_BUNDLE));
        }
        self.store().put(&bundle);
        frames.insert(0, Frame::Bundle(bundle));
        Step::Pass(frames)
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle(text: &str) -> Bundle {
        Bundle::new(text.as_bytes().to_vec())
    }

    fn named(text: &str) -> Parcel {
        Parcel::Bundle(BundleName::of(&bundle(text)))
    }

    fn sent(text: &str) -> Parcel {
        Parcel::Frame(Frame::Bundle(bundle(text)))
    }

    fn report() -> Frame {
        Frame::Report(vec![1])
    }

    #[test]
    fn a_bundle_is_requested_once_and_what_comes_after_it_waits() {
        let store = Arc::default();
        let mut first = Intake::new(&store);
        let request = Step::Request(bundle("a").hash());
        assert_eq!(first.take(named("a")), request);
        assert_eq!(first.take(Parcel::Frame(report())), Step::Pass(Vec::new()));
        let all = vec![Frame::Bundle(bundle("a")), report()];
        assert_eq!(first.take(sent("a")), Step::Pass(all));
        assert_eq!(
            first.take(Parcel::Frame(report())),
            Step::Pass(vec![report()])
        );
        // The next run.
        let mut second = Intake::new(&store);
        let known = vec![Frame::Bundle(bundle("a"))];
        assert_eq!(second.take(named("a")), Step::Pass(known));
        assert_eq!(second.take(Parcel::End(String::new())), Step::End(None));
    }

    #[test]
    fn another_bundle_than_the_named_one_ends_the_part_and_is_not_kept() {
        let store = Arc::default();
        let mut intake = Intake::new(&store);
        assert!(matches!(intake.take(named("a")), Step::Request(_)));
        assert_eq!(intake.take(sent("b")), Step::End(Some(OTHER_BUNDLE)));
        for hash in [bundle("a").hash(), bundle("b").hash()] {
            assert_eq!(store.lock().expect("a store").get(hash), None);
        }
        // Right bytes under a wrong length are another bundle, too.
        let mut intake = Intake::new(&store);
        let mut name = BundleName::of(&bundle("a"));
        name.length += 1;
        assert!(matches!(
            intake.take(Parcel::Bundle(name)),
            Step::Request(_)
        ));
        assert_eq!(intake.take(sent("a")), Step::End(Some(OTHER_BUNDLE)));
    }

    #[test]
    fn a_bundle_that_is_too_large_is_not_requested() {
        let store = Arc::default();
        let mut intake = Intake::new(&store);
        let mut name = BundleName::of(&bundle("a"));
        name.length = Bundle::MOST_BYTES as u64 + 1;
        assert_eq!(
            intake.take(Parcel::Bundle(name)),
            Step::End(Some(TOO_LARGE))
        );
        name.length -= 1;
        assert!(matches!(
            intake.take(Parcel::Bundle(name)),
            Step::Request(_)
        ));
    }

    #[test]
    fn what_was_not_requested_ends_the_part() {
        let store = Arc::default();
        let mut intake = Intake::new(&store);
        assert_eq!(intake.take(sent("a")), Step::End(Some(NOT_REQUESTED)));
        let asked = Parcel::Request(bundle("a").hash());
        assert_eq!(intake.take(asked), Step::End(Some(NOT_REQUESTED)));
        assert!(matches!(intake.take(named("a")), Step::Request(_)));
        assert_eq!(intake.take(named("b")), Step::End(Some(NOT_REQUESTED)));
    }
}
