//! What was recorded in one interval: counts, times, statuses and failures.
//!
//! Snapshots add up in two ways, both without loss: [`Snapshot::merge`] with another worker's of
//! the same interval, [`Snapshot::append`] with the next interval's.

use crate::{Distribution, ErrorKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was recorded in one interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// When the interval began, in nanoseconds from the run's start.
    pub start_ns: u64,
    /// When the interval ended, in nanoseconds from the run's start.
    pub end_ns: u64,
    /// What was counted.
    pub counts: Counts,
    /// What was timed.
    pub times: Times,
    /// Answers by status code.
    pub statuses: BTreeMap<u16, u64>,
    /// Failures by kind.
    pub errors: BTreeMap<ErrorKind, Failures>,
}

/// What is counted in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Arrivals whose intended start fell due; in a closed load the same as `sent`.
    pub planned: u64,
    /// Exchanges begun.
    pub sent: u64,
    /// Exchanges that ended with a whole answer, whatever its status.
    pub answered: u64,
    /// Exchanges that ended without one.
    pub failed: u64,
    /// Exchanges begun and not yet ended, at the interval's end.
    pub in_flight: u64,
    /// Keep-alive connections that were found closed and replaced silently.
    pub reconnects: u64,
    /// Connections that came up.
    pub connections: u64,
    /// Bytes received, as they passed (inside TLS).
    pub bytes_in: u64,
    /// Bytes sent, as they passed (inside TLS).
    pub bytes_out: u64,
}

/// Failures of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures {
    /// How many.
    pub count: u64,
    /// What the first of them said; empty if nobody told.
    pub example: String,
}

/// What is timed. Each is a distribution of nanoseconds.
///
/// `response`, `service`, `blocked` and `lateness` hold the answered exchanges and those that timed
/// out (with the time they had waited: a lower bound); `first_byte`, `rest` and `wakeup` the answered
/// ones alone; `resolve`, `connect` and `tls` belong to connections, not to exchanges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// From the intended start to the last byte.
    pub response: Distribution,
    /// From the send (or the dial where one was needed) to the last byte.
    pub service: Distribution,
    /// From the intended start until a connection was free.
    pub blocked: Distribution,
    /// From there to the start: our own tardiness.
    pub lateness: Distribution,
    /// Looking up a name.
    pub resolve: Distribution,
    /// Making a TCP or Unix connection.
    pub connect: Distribution,
    /// The TLS handshake.
    pub tls: Distribution,
    /// From the send to the first byte of the answer.
    pub first_byte: Distribution,
    /// From the first byte of the answer to the last.
    pub rest: Distribution,
    /// From the kernel's receive to our read; empty where the kernel's clock is not used.
    pub wakeup: Distribution,
}

impl Snapshot {
    /// A snapshot in which nothing was recorded, of no length.
    pub fn empty(start_ns: u64) -> Snapshot {
        Snapshot {
            start_ns,
            end_ns: start_ns,
            ..Snapshot::default()
        }
    }

    /// Adds what another worker recorded in the same interval.
    pub fn merge(&mut self, other: &Snapshot) {
        self.start_ns = self.start_ns.min(other.start_ns);
        self.end_ns = self.end_ns.max(other.end_ns);
        let in_flight = self.counts.in_flight;
        self.add(other);
        self.counts.in_flight = in_flight.saturating_add(other.counts.in_flight);
    }

    /// Adds what was recorded in the next interval; exchanges in flight are those at its end.
    pub fn append(&mut self, next: &Snapshot) {
        self.end_ns = next.end_ns;
        self.add(next);
        self.counts.in_flight = next.counts.in_flight;
    }

    /// Whether every exchange is accounted for: those in flight before the interval and those begun
    /// in it have been answered, have failed or are in flight at its end.
    pub fn balanced(&self, in_flight_before: u64) -> bool {
        let counts = &self.counts;
        let begun = u128::from(in_flight_before) + u128::from(counts.sent);
        let ended = u128::from(counts.answered) + u128::from(counts.failed);
        begun == ended + u128::from(counts.in_flight)
    }

    /// The interval's length in nanoseconds.
    pub fn length_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    fn add(&mut self, other: &Snapshot) {
        self.counts.add(&other.counts);
        self.times.merge(&other.times);
        for (&status, &count) in &other.statuses {
            let sum = self.statuses.entry(status).or_default();
            *sum = sum.saturating_add(count);
        }
        for (&kind, failures) in &other.errors {
            self.errors.entry(kind).or_default().add(failures);
        }
    }
}

impl Counts {
    /// Adds all but `in_flight`, which is a state and not a sum. Saturating, because the numbers may
    /// come from a file.
    fn add(&mut self, other: &Counts) {
        let add = |sum: &mut u64, count: u64| *sum = sum.saturating_add(count);
        add(&mut self.planned, other.planned);
        add(&mut self.sent, other.sent);
        add(&mut self.answered, other.answered);
        add(&mut self.failed, other.failed);
        add(&mut self.reconnects, other.reconnects);
        add(&mut self.connections, other.connections);
        add(&mut self.bytes_in, other.bytes_in);
        add(&mut self.bytes_out, other.bytes_out);
    }
}

impl Failures {
    fn add(&mut self, other: &Failures) {
        self.count = self.count.saturating_add(other.count);
        if self.example.is_empty() {
            self.example.clone_from(&other.example);
        }
    }
}

impl Times {
    /// Adds all that the other one holds, without loss.
    pub fn merge(&mut self, other: &Times) {
        for ((_, own), (_, others)) in self.each_mut().into_iter().zip(other.each()) {
            own.merge(others);
        }
    }

    /// Forgets all values and keeps the memory for the next ones.
    pub fn reset(&mut self) {
        for (_, distribution) in self.each_mut() {
            distribution.reset();
        }
    }

    /// Every distribution with its name, in the order in which an exchange goes through them.
    pub fn each(&self) -> [(&'static str, &Distribution); 10] {
        [
            ("response", &self.response),
            ("service", &self.service),
            ("blocked", &self.blocked),
            ("lateness", &self.lateness),
            ("resolve", &self.resolve),
            ("connect", &self.connect),
            ("tls", &self.tls),
            ("first_byte", &self.first_byte),
            ("rest", &self.rest),
            ("wakeup", &self.wakeup),
        ]
    }

    /// As [`each`](Times::each), to be changed.
    pub fn each_mut(&mut self) -> [(&'static str, &mut Distribution); 10] {
        [
            ("response", &mut self.response),
            ("service", &mut self.service),
            ("blocked", &mut self.blocked),
            ("lateness", &mut self.lateness),
            ("resolve", &mut self.resolve),
            ("connect", &mut self.connect),
            ("tls", &mut self.tls),
            ("first_byte", &mut self.first_byte),
            ("rest", &mut self.rest),
            ("wakeup", &mut self.wakeup),
        ]
    }
}
