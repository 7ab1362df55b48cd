//! Responses that report an error, with the beginning of their bodies.
//!
//! A count of status 500 says that something is wrong; what the server wrote says what. So the
//! first error response of each name and status is kept, of a run at most [`MOST_ERROR_RESPONSES`].

use loadline_metrics::{Key, SeriesId};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The most error responses of a run that are kept.
pub const MOST_ERROR_RESPONSES: usize = 20;

/// A response that reports an error by its status, or that a script rejected.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ErrorResponse {
    /// The instant of its end, in nanoseconds from the run's start.
    pub end_ns: u64,
    /// The status. One below 400 was rejected by a script.
    pub status: u16,
    /// The beginning of the body as text, with secrets masked.
    pub body: String,
    /// True if the body was longer.
    pub is_cut: bool,
}

/// The error responses of an interval or a run: of each name and status the first one, the most
/// severe statuses first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorResponses(Vec<(Option<Key>, ErrorResponse)>);

impl ErrorResponses {
    /// Creates the set of those of these responses that are kept. A response has the key of its
    /// series, if there are series.
    pub fn of_responses(responses: Vec<(Option<Key>, ErrorResponse)>) -> ErrorResponses {
        let mut kept = ErrorResponses(responses);
        keep(&mut kept.0);
        kept
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns each response, those with the most severe statuses first.
    pub fn iter(&self) -> impl Iterator<Item = (Option<&Key>, &ErrorResponse)> {
        let all = self.0.iter();
        all.map(|(key, response)| (key.as_ref(), response))
    }

    /// Replaces each body by another text.
    pub fn map_bodies(&mut self, map: impl Fn(&str) -> String) {
        for (_, response) in &mut self.0 {
            response.body = map(&response.body);
        }
    }

    /// Adds the responses of another worker or interval.
    pub fn merge(&mut self, other: &ErrorResponses) {
        if !other.is_empty() {
            self.0.extend(other.0.iter().cloned());
            keep(&mut self.0);
        }
    }
}

/// The place of a response in the order: errors of the server, then those of the client, then what
/// scripts rejected; of each the earliest first.
fn rank(status: u16, end_ns: u64) -> (Reverse<u16>, u64) {
    (Reverse((status / 100).min(5)), end_ns)
}

/// Keeps the first response of each group and status, and of these the first of all. Which are kept
/// of several sets does not depend on their order.
fn keep<G: Ord + Clone>(responses: &mut Vec<(G, ErrorResponse)>) {
    responses.sort_by(|(one_group, one), (other_group, other)| {
        let ranks = rank(one.status, one.end_ns).cmp(&rank(other.status, other.end_ns));
        ranks.then_with(|| (one, one_group).cmp(&(other, other_group)))
    });
    let mut groups = BTreeSet::new();
    responses.retain(|(group, response)| {
        groups.len() < MOST_ERROR_RESPONSES && groups.insert((group.clone(), response.status))
    });
}

/// The error responses of one worker: those of the current interval, and what of the whole run has
/// been kept.
#[derive(Debug, Default)]
pub(crate) struct ErrorRecorder {
    new: Vec<(SeriesId, ErrorResponse)>,
    /// The series, the status and the end of each response that is kept of the run so far.
    kept: Vec<(SeriesId, u16, u64)>,
}

impl ErrorRecorder {
    /// True if a response of this series and status that ends now is one to keep: no earlier one
    /// is, and there are not enough that are as severe.
    pub(crate) fn takes(&self, id: SeriesId, status: u16, end_ns: u64) -> bool {
        let is_known = |(own, other, _): &(SeriesId, u16, u64)| (*own, *other) == (id, status);
        if self.kept.iter().any(is_known) {
            return false;
        }
        let own = rank(status, end_ns);
        let before = self.kept.iter();
        let before = before.filter(|(_, status, end_ns)| rank(*status, *end_ns) <= own);
        before.count() < MOST_ERROR_RESPONSES
    }

    /// Adds a response that it takes.
    pub(crate) fn add(&mut self, id: SeriesId, response: ErrorResponse) {
        if !self.takes(id, response.status, response.end_ns) {
            return;
        }
        self.kept.push((id, response.status, response.end_ns));
        self.kept
            .sort_by_key(|(_, status, end_ns)| rank(*status, *end_ns));
        self.kept.truncate(MOST_ERROR_RESPONSES);
        self.new.push((id, response));
    }

    /// Returns the responses since the last call, with the keys of their series.
    pub(crate) fn take(&mut self, key_of: impl Fn(SeriesId) -> Option<Key>) -> ErrorResponses {
        if self.new.is_empty() {
            return ErrorResponses::default();
        }
        let new = std::mem::take(&mut self.new).into_iter();
        ErrorResponses::of_responses(new.map(|(id, one)| (key_of(id), one)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn response(status: u16, end_ns: u64) -> ErrorResponse {
        ErrorResponse {
            end_ns,
            status,
            body: format!("{status} at {end_ns}"),
            is_cut: false,
        }
    }

    fn taken(recorder: &mut ErrorRecorder) -> Vec<(u16, u64)> {
        let taken = recorder.take(|id| Key::new(&id.0.to_string()).ok());
        let each = taken.iter();
        each.map(|(_, one)| (one.status, one.end_ns)).collect()
    }

    #[test]
    fn the_first_of_each_status_is_kept_once_in_a_run() {
        let mut recorder = ErrorRecorder::default();
        for (status, end_ns) in [(404, 1), (500, 2), (404, 3)] {
            recorder.add(SeriesId(0), response(status, end_ns));
        }
        assert_eq!(taken(&mut recorder), [(500, 2), (404, 1)]);
        recorder.add(SeriesId(0), response(404, 4));
        recorder.add(SeriesId(1), response(404, 5));
        assert_eq!(taken(&mut recorder), [(404, 5)]);
        assert!(taken(&mut recorder).is_empty());
    }

    #[test]
    fn errors_of_the_server_displace_those_of_the_client() {
        let mut recorder = ErrorRecorder::default();
        for id in 0..30 {
            recorder.add(SeriesId(id), response(404, u64::from(id)));
        }
        assert_eq!(taken(&mut recorder).len(), MOST_ERROR_RESPONSES);
        recorder.add(SeriesId(31), response(404, 31));
        recorder.add(SeriesId(31), response(503, 32));
        assert_eq!(taken(&mut recorder), [(503, 32)]);
    }

    proptest! {
        /// However responses are spread over workers and intervals, the same ones are kept.
        #[test]
        fn the_same_are_kept_in_any_order(
            all in prop::collection::vec((0..12_u32, 400..403_u16, prop::bool::ANY), 0..80),
            parts in 1..5_usize,
            intervals in 1..4_usize,
        ) {
            let keys: Vec<Key> = (0..12).map(|id| Key::new(&format!("n{id}")).unwrap()).collect();
            let key_of = |id: SeriesId| Some(keys[id.0 as usize].clone());
            let all: Vec<(SeriesId, ErrorResponse)> = (0..)
                .zip(&all)
                .map(|(end_ns, (id, status, is_severe))| {
                    let status = status + if *is_severe { 100 } else { 0 };
                    (SeriesId(*id), response(status, end_ns))
                })
                .collect();
            let mut merged = ErrorResponses::default();
            for part in 0..parts {
                let mut recorder = ErrorRecorder::default();
                let own: Vec<_> = all.iter().skip(part).step_by(parts).collect();
                for interval in own.chunks(own.len().div_ceil(intervals).max(1)) {
                    interval.iter().for_each(|(id, one)| recorder.add(*id, one.clone()));
                    merged.merge(&recorder.take(key_of));
                }
            }
            let at_once = all.into_iter().map(|(id, one)| (key_of(id), one)).collect();
            prop_assert_eq!(merged, ErrorResponses::of_responses(at_once));
        }
    }
}
