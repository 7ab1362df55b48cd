//! The results of requests, counted as in oha.

use super::distribution::{Distribution, Extremes};
use super::spool::Row;
use super::windows::Windows;
use loadline_engine::Tally as Merged;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// The maximum number of different error texts that are counted separately.
const MOST_ERRORS: usize = 1_000;
/// The text under which all other errors are counted.
const OTHER_ERRORS: &str = "other errors";

/// The result of a request, with the redirects that it followed. Times are nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Success {
    /// The time from the run's begin to the send.
    pub(super) start_ns: u64,
    /// The time from the run's begin to the intended start.
    pub(super) intended_ns: u64,
    /// The time from the run's begin to the last byte.
    pub(super) end_ns: u64,
    /// The time from the send to the end, without phases that are excluded.
    pub(super) latency_ns: u64,
    /// The time from the send to the first byte; only if there is a body.
    pub(super) first_byte_ns: Option<u64>,
    /// The time to open the connection, including name resolution; only if a connection was opened.
    pub(super) dial_ns: Option<u64>,
    /// The time of name resolution alone.
    pub(super) lookup_ns: u64,
    pub(super) status: u16,
    /// The size of the body as received, in bytes.
    pub(super) bytes: u64,
}

/// All results of a worker since its last report, or of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Tally {
    pub(super) latency: Distribution,
    /// The distributions of 2xx responses, and of all others; only if the breakdown is requested.
    pub(super) by_status: Option<Box<[Distribution; 2]>>,
    pub(super) first_byte: Distribution,
    pub(super) dial: Extremes,
    pub(super) lookup: Extremes,
    pub(super) windows: Windows,
    pub(super) statuses: BTreeMap<u16, u64>,
    pub(super) errors: HashMap<String, u64>,
    pub(super) bytes: u64,
    /// The end of the last request, in nanoseconds.
    pub(super) end_ns: u64,
}

impl Tally {
    pub(super) fn new(breaks_down: bool) -> Self {
        Tally {
            by_status: breaks_down.then(Default::default),
            ..Tally::default()
        }
    }

    pub(super) fn succeeded(&mut self, success: &Success) {
        self.latency.add(success.latency_ns);
        if let Some(both) = &mut self.by_status {
            let is_2xx = (200..300).contains(&success.status);
            both[usize::from(!is_2xx)].add(success.latency_ns);
        }
        if let Some(first_byte_ns) = success.first_byte_ns {
            self.first_byte.add(first_byte_ns);
        }
        if let Some(dial_ns) = success.dial_ns {
            self.dial.add(dial_ns);
            self.lookup.add(success.lookup_ns);
        }
        self.windows.add(success.end_ns);
        *self.statuses.entry(success.status).or_default() += 1;
        self.bytes += success.bytes;
        self.end_ns = self.end_ns.max(success.end_ns);
    }

    pub(super) fn failed(&mut self, error: &str, end_ns: u64) {
        self.count_error(error, 1);
        self.end_ns = self.end_ns.max(end_ns);
    }

    /// Adds the results of another tally.
    pub(super) fn merge(&mut self, other: &Tally) {
        self.latency.merge(&other.latency);
        if let (Some(own), Some(other)) = (&mut self.by_status, &other.by_status) {
            own.iter_mut()
                .zip(other.iter())
                .for_each(|(own, other)| own.merge(other));
        }
        self.first_byte.merge(&other.first_byte);
        self.dial.merge(&other.dial);
        self.lookup.merge(&other.lookup);
        self.windows.merge(other.windows.clone());
        for (status, count) in &other.statuses {
            *self.statuses.entry(*status).or_default() += count;
        }
        for (error, count) in &other.errors {
            self.count_error(error, *count);
        }
        self.bytes += other.bytes;
        self.end_ns = self.end_ns.max(other.end_ns);
    }

    pub(super) fn successes(&self) -> u64 {
        self.latency.extremes().count
    }

    /// Returns the failed requests, without those in flight at the end.
    pub(super) fn failures(&self) -> u64 {
        self.errors.values().sum()
    }

    fn count_error(&mut self, error: &str, count: u64) {
        if let Some(known) = self.errors.get_mut(error) {
            *known += count;
            return;
        }
        let is_full = self.errors.len() >= MOST_ERRORS;
        let text = if is_full { OTHER_ERRORS } else { error };
        *self.errors.entry(text.to_owned()).or_default() += count;
    }
}

/// The results of a worker since its last report.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Results {
    pub(super) tally: Tally,
    /// Each success, if each is listed.
    pub(super) rows: Vec<Row>,
}

impl Merged for Results {
    fn merge(&mut self, other: Self) {
        self.tally.merge(&other.tally);
        self.rows.extend(other.rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_engine::{AnyTally, TallyCodec};

    fn success(status: u16, latency_ns: u64) -> Success {
        Success {
            end_ns: latency_ns,
            latency_ns,
            status,
            bytes: 10,
            ..Success::default()
        }
    }

    #[test]
    fn statuses_are_kept_apart_where_that_is_asked_for() {
        let mut tally = Tally::new(true);
        for status in [200, 204, 302, 500] {
            tally.succeeded(&success(status, 1_000));
        }
        let mut other = Tally::new(true);
        other.succeeded(&success(200, 2_000));
        other.failed("timeout", 9_000);
        tally.merge(&other);
        let both = tally.by_status.as_ref().expect("both");
        assert_eq!(both.each_ref().map(|one| one.extremes().count), [3, 2]);
        assert_eq!((tally.successes(), tally.failures()), (5, 1));
        assert_eq!((tally.bytes, tally.end_ns), (50, 9_000));
        assert_eq!(tally.statuses[&200], 2);
        assert!(Tally::new(false).by_status.is_none());
    }

    #[test]
    fn results_come_back_from_another_process_as_they_were() {
        let mut tally = Tally::new(true);
        for latency_ns in [1_000, 7_000_000, 3_000_000_000] {
            tally.succeeded(&Success {
                dial_ns: Some(30),
                first_byte_ns: Some(50),
                ..success(200, latency_ns)
            });
        }
        tally.failed("timeout", 9_000);
        let rows = vec![Row {
            success: success(404, 5),
            target: "/a".to_owned(),
        }];
        let results = Results { tally, rows };
        let sent = AnyTally::new(results.clone()).encode().expect("bytes");
        let came = TallyCodec::of::<Results>().decode(&sent).expect("results");
        let found = came.get::<Results>().expect("its type");
        assert_eq!(found.rows, results.rows);
        assert_eq!((found.tally.successes(), found.tally.failures()), (3, 1));
        assert_eq!(came.encode().expect("bytes"), sent);
    }

    #[test]
    fn results_that_a_merger_joins_are_those_of_one_process() {
        let results = |number: u64| {
            let mut tally = Tally::new(true);
            let success = Success {
                dial_ns: Some(30 * number),
                ..success(200 + 300 * (number % 2) as u16, 1_000 * number)
            };
            tally.succeeded(&success);
            if number.is_multiple_of(5) {
                tally.failed("timeout", 9_000 * number);
            }
            let rows = vec![Row {
                success,
                target: format!("/{number}"),
            }];
            Results { tally, rows }
        };
        let mut whole = results(0);
        (1..40).for_each(|number| loadline_engine::Tally::merge(&mut whole, results(number)));
        // The last ones come first, of four parts in turn.
        let tallies = (0..40).rev().map(|number| {
            let part = number as usize % 4;
            (part, AnyTally::new(results(number)))
        });
        let names: Vec<String> = (0..4).map(|part| format!("agent {part}")).collect();
        let codec = TallyCodec::of::<Results>();
        let came = codec.through_merger(&tallies.collect::<Vec<_>>(), &names);
        let came = came.expect("results").get::<Results>().cloned();
        let mut came = came.expect("its type");
        came.rows.sort_by_key(|row| row.success.end_ns);
        let bytes = |results: &Results| AnyTally::new(results.clone()).encode().expect("bytes");
        assert_eq!(bytes(&came), bytes(&whole));
    }

    #[test]
    fn only_opened_connections_and_bodies_have_their_times() {
        let mut tally = Tally::new(false);
        tally.succeeded(&success(200, 1_000));
        assert_eq!(
            (
                tally.dial.count,
                tally.lookup.count,
                tally.first_byte.extremes().count
            ),
            (0, 0, 0)
        );
        tally.succeeded(&Success {
            dial_ns: Some(30),
            first_byte_ns: Some(50),
            ..success(200, 1_000)
        });
        assert_eq!(
            (
                tally.dial.count,
                tally.lookup.count,
                tally.first_byte.extremes().count
            ),
            (1, 1, 1)
        );
    }

    #[test]
    fn texts_of_errors_are_bounded() {
        let mut tally = Tally::new(false);
        for index in 0..5_000 {
            tally.failed(&format!("error {index}"), 1);
        }
        assert_eq!(tally.errors.len(), MOST_ERRORS + 1);
        assert_eq!(tally.failures(), 5_000);
        assert_eq!(tally.errors[OTHER_ERRORS], 4_000);
    }
}
