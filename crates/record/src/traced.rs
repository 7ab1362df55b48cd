//! The slowest requests that carried a trace, each with its identifiers.
//!
//! A request may carry a trace in the field `traceparent` of its head
//! (<https://www.w3.org/TR/trace-context/>): identifiers that the servers on its way report
//! together with what they did. Those of the slowest requests are kept, so that one can look up
//! what happened in them.

use loadline_metrics::{Key, SeriesId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The slowest requests of a run that are kept, in addition to the slowest of each name.
pub const SLOWEST: usize = 10;

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// A trace that a request carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The identifier of the trace.
    pub id: u128,
    /// The identifier of the span that the request is.
    pub span: u64,
    /// True if the servers are requested to record the trace.
    pub is_sampled: bool,
}

impl Trace {
    /// Returns the value of the field `traceparent`.
    pub fn value(&self) -> [u8; 55] {
        let mut value = *b"00-00000000000000000000000000000000-0000000000000000-00";
        write_hex(self.id, &mut value[3..35]);
        write_hex(self.span.into(), &mut value[36..52]);
        value[54] += u8::from(self.is_sampled);
        value
    }
}

/// Writes the value of the field `traceparent`.
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value();
        f.write_str(str::from_utf8(&value).map_err(|_| fmt::Error)?)
    }
}

fn write_hex(mut number: u128, digits: &mut [u8]) {
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[(number & 15) as usize];
        number >>= 4;
    }
}

/// A request that carried a sampled trace, after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedRequest {
    /// Its trace.
    pub trace: Trace,
    /// The response time in nanoseconds: from the intended start in an open load, from the send in
    /// a closed one.
    pub response_ns: u64,
    /// The instant of its end, in nanoseconds from the run's start.
    pub end_ns: u64,
    /// The status of its response; `None` if it timed out.
    pub status: Option<u16>,
}

/// The slowest requests that carried a sampled trace: the [`SLOWEST`] of all, and the slowest of
/// each series. The slowest comes first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traced(Vec<(Option<Key>, TracedRequest)>);

impl Traced {
    /// Creates the set of the slowest of these requests. A request has the key of its series, if
    /// there are series.
    pub fn of_requests(requests: Vec<(Option<Key>, TracedRequest)>) -> Traced {
        let mut traced = Traced(requests);
        keep_slowest(&mut traced.0);
        traced
    }

    /// True if no request carried a sampled trace.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns every kept request, the slowest first.
    pub fn iter(&self) -> impl Iterator<Item = (Option<&Key>, &TracedRequest)> {
        self.0.iter().map(|(key, request)| (key.as_ref(), request))
    }

    /// Returns the slowest requests of all, the slowest first.
    pub fn slowest(&self) -> impl Iterator<Item = (Option<&Key>, &TracedRequest)> {
        self.iter().take(SLOWEST)
    }

    /// Returns the kept requests of a series; without series, all.
    pub fn of<'a>(&'a self, key: Option<&'a Key>) -> impl Iterator<Item = &'a TracedRequest> {
        let all = self.iter().filter(move |(own, _)| *own == key);
        all.map(|(_, request)| request)
    }

    /// Adds the requests of another worker or interval.
    pub fn merge(&mut self, other: &Traced) {
        if !other.is_empty() {
            self.0.extend(other.0.iter().cloned());
            keep_slowest(&mut self.0);
        }
    }
}

/// Keeps the [`SLOWEST`] of all requests, and the slowest of each group. Which are kept of several
/// sets does not depend on their order: those of equal times are ordered by their identifiers.
fn keep_slowest<G: Ord + Clone>(requests: &mut Vec<(G, TracedRequest)>) {
    requests.sort_by_key(|(_, one)| (Reverse(one.response_ns), one.trace.id));
    let (mut rank, mut groups) = (0, BTreeSet::new());
    requests.retain(|(group, _)| {
        rank += 1;
        groups.insert(group.clone()) || rank <= SLOWEST
    });
}

/// The slowest requests of one worker in an interval.
#[derive(Debug, Default)]
pub(crate) struct TraceRecorder {
    found: Vec<(SeriesId, TracedRequest)>,
    /// The longest time of each series.
    longest: BTreeMap<SeriesId, u64>,
    /// The time of the last of the [`SLOWEST`]; 0 if there are fewer.
    least: u64,
}

impl TraceRecorder {
    /// Adds a request of this series, if it is one of the slowest so far.
    pub(crate) fn add(&mut self, id: SeriesId, request: TracedRequest) {
        let response_ns = request.response_ns;
        let longest = self.longest.entry(id).or_default();
        if response_ns <= *longest && response_ns <= self.least {
            return;
        }
        *longest = response_ns.max(*longest);
        self.found.push((id, request));
        if self.found.len() > 4 * (SLOWEST + self.longest.len()) {
            keep_slowest(&mut self.found);
            let last = self.found.get(SLOWEST - 1);
            self.least = last.map_or(0, |(_, request)| request.response_ns);
        }
    }

    /// Returns the slowest requests since the last call, with the keys of their series.
    pub(crate) fn take(&mut self, key_of: impl Fn(SeriesId) -> Option<Key>) -> Traced {
        self.longest.clear();
        self.least = 0;
        let found = self.found.drain(..);
        Traced::of_requests(found.map(|(id, request)| (key_of(id), request)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request(response_ns: u64, id: u64) -> TracedRequest {
        TracedRequest {
            trace: Trace {
                id: id.into(),
                span: 1,
                is_sampled: true,
            },
            response_ns,
            end_ns: 0,
            status: Some(200),
        }
    }

    #[test]
    fn a_trace_is_written_as_its_standard_says() {
        let mut trace = Trace {
            id: 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736,
            span: 0x00f0_67aa_0ba9_02b7,
            is_sampled: true,
        };
        let expected = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(trace.to_string(), expected);
        trace.is_sampled = false;
        assert!(trace.to_string().ends_with("b7-00"));
    }

    proptest! {
        /// However requests are spread over workers and intervals, the same ones are kept: the
        /// slowest of all, and that of each series.
        #[test]
        fn the_slowest_are_kept_in_any_order(
            times in prop::collection::vec((0..6_u32, 1..60_u64), 0..200), parts in 1..6_usize,
        ) {
            let keys: Vec<Key> = (0..6).map(|id| Key::new(&format!("n{id}")).unwrap()).collect();
            let key_of = |id: SeriesId| Some(keys[id.0 as usize].clone());
            let all: Vec<(SeriesId, TracedRequest)> = (0..)
                .zip(&times)
                .map(|(number, (id, ns))| (SeriesId(*id), request(*ns, number)))
                .collect();
            let mut merged = Traced::default();
            for part in 0..parts {
                let mut recorder = TraceRecorder::default();
                let own = all.iter().skip(part).step_by(parts);
                own.for_each(|(id, request)| recorder.add(*id, *request));
                merged.merge(&recorder.take(key_of));
            }
            let mut sorted = all.clone();
            sorted.sort_by_key(|(_, one)| (Reverse(one.response_ns), one.trace.id));
            let times_of = |list: &[(SeriesId, TracedRequest)]| -> Vec<u64> {
                list.iter().map(|(_, one)| one.response_ns).collect()
            };
            let slowest: Vec<u64> = merged.slowest().map(|(_, one)| one.response_ns).collect();
            prop_assert_eq!(slowest, times_of(&sorted[..sorted.len().min(SLOWEST)]));
            for id in 0..6 {
                let longest = sorted.iter().find(|(own, _)| own.0 == id);
                let found = merged.of(Some(&keys[id as usize])).next();
                prop_assert_eq!(
                    found.map(|one| one.response_ns), longest.map(|(_, one)| one.response_ns)
                );
            }
        }
    }
}
