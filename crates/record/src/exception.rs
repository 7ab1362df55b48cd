//! Exceptions of a script that nothing in it handled, with their stacks and their counts.
//!
//! A script that fails in each of its iterations would fill a log with one and the same text. So
//! equal exceptions are one row: those of one class that were raised at one place, by one way,
//! whatever their messages. Of a run at most [`MOST_EXCEPTIONS`] rows are kept, the earliest ones,
//! and the others are counted.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The most different exceptions of a run that are kept.
pub const MOST_EXCEPTIONS: usize = 20;
/// The most bytes of a stack, of a message, and of the name of a class.
const MOST_TRACE: usize = 4 * 1024;
const MOST_MESSAGE: usize = 1024;
const MOST_KIND: usize = 128;
/// The most parts of a run that are named of an exception.
const MOST_PARTS: usize = 20;
/// The mark in the place of what was cut.
const CUT: char = '…';

/// The end of a stack that has the innermost frame: the one that is kept of a long stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Innermost {
    /// The first line, as in JavaScript.
    First,
    /// The last line, as in Python.
    Last,
}

/// An exception, as often as it occurred.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// The name of its class, such as `KeyError`; empty if a value was thrown that has none.
    pub kind: String,
    /// The message of the first one.
    pub message: String,
    /// The stack; empty if there is none.
    pub trace: String,
    /// The number of times that it occurred.
    pub count: u64,
    /// The begin of the interval in which it first occurred, in nanoseconds from the run's start.
    pub first_ns: u64,
    /// The names of the parts of the run in which it occurred, at most 20; empty if the run has
    /// none.
    pub parts: BTreeSet<String>,
}

impl Exception {
    /// Creates an exception that has occurred once, of which long texts are cut.
    pub fn new(kind: &str, message: &str, trace: &str, innermost: Innermost) -> Exception {
        Exception {
            kind: without_end(kind, MOST_KIND),
            message: without_end(message, MOST_MESSAGE),
            trace: match innermost {
                Innermost::First => without_end(trace, MOST_TRACE),
                Innermost::Last => without_begin(trace, MOST_TRACE),
            },
            count: 1,
            first_ns: 0,
            parts: BTreeSet::new(),
        }
    }

    /// True if both are one row. Those without a stack are told apart by their messages.
    fn is_same(&self, other: &Exception) -> bool {
        let has_place = !self.trace.is_empty();
        (&self.kind, &self.trace) == (&other.kind, &other.trace)
            && (has_place || self.message == other.message)
    }

    /// Adds the occurrences of the same exception; the message is that of the first one.
    fn add(&mut self, other: Exception) {
        if (other.first_ns, &other.message) < (self.first_ns, &self.message) {
            self.first_ns = other.first_ns;
            self.message = other.message;
        }
        self.count = self.count.saturating_add(other.count);
        self.parts.extend(other.parts);
        while self.parts.len() > MOST_PARTS {
            self.parts.pop_last();
        }
    }
}

fn without_end(text: &str, most: usize) -> String {
    match text.len() > most {
        true => {
            let end = text.floor_char_boundary(most - CUT.len_utf8());
            format!("{}{CUT}", &text[..end])
        }
        false => text.to_owned(),
    }
}

fn without_begin(text: &str, most: usize) -> String {
    match text.len() > most {
        true => {
            let begin = text.ceil_char_boundary(text.len() - most + CUT.len_utf8());
            format!("{CUT}{}", &text[begin..])
        }
        false => text.to_owned(),
    }
}

/// The exceptions of an interval or a run: the earliest ones first, of those of one interval the
/// most frequent ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Listed", into = "Listed")]
pub struct Exceptions {
    rows: Vec<Exception>,
    others: u64,
}

/// Exceptions in a saved run, or in transfer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Listed {
    rows: Vec<Exception>,
    others: u64,
}

impl From<Listed> for Exceptions {
    /// Whatever a file has, the bounds hold.
    fn from(listed: Listed) -> Exceptions {
        let Listed { rows, others } = listed;
        let mut all = Exceptions {
            rows: Vec::new(),
            others,
        };
        rows.into_iter().for_each(|row| all.add(row));
        all.keep();
        all
    }
}

impl From<Exceptions> for Listed {
    fn from(exceptions: Exceptions) -> Listed {
        let Exceptions { rows, others } = exceptions;
        Listed { rows, others }
    }
}

impl Exceptions {
    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.others == 0
    }

    /// Returns each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Exception> {
        self.rows.iter()
    }

    /// Returns the number of exceptions that are not among them, for lack of room.
    pub fn others(&self) -> u64 {
        self.others
    }

    /// Adds an exception that has occurred in the interval.
    pub fn record(&mut self, exception: Exception) {
        let is_known = self.rows.iter().any(|row| row.is_same(&exception));
        match is_known || self.rows.len() < MOST_EXCEPTIONS {
            true => self.add(exception),
            false => self.others = self.others.saturating_add(exception.count),
        }
    }

    /// Adds the exceptions of another worker or interval.
    pub fn merge(&mut self, other: &Exceptions) {
        if other.is_empty() {
            return;
        }
        other.rows.iter().for_each(|row| self.add(row.clone()));
        self.others = self.others.saturating_add(other.others);
        self.keep();
    }

    /// Returns the same exceptions as those of an interval that begins at this instant, in
    /// nanoseconds from the run's start.
    #[must_use]
    pub fn begun_at(&self, start_ns: u64) -> Exceptions {
        let mut exceptions = self.clone();
        for row in &mut exceptions.rows {
            row.first_ns = start_ns;
        }
        exceptions.keep();
        exceptions
    }

    /// Notes that all of them have occurred in this part of the run.
    pub fn note_part(&mut self, part: &str) {
        for row in &mut self.rows {
            row.parts.insert(part.to_owned());
        }
    }

    /// Replaces each message and each stack by another text. What was different before may be the
    /// same then.
    pub fn map_texts(&mut self, map: impl Fn(&str) -> String) {
        for mut row in std::mem::take(&mut self.rows) {
            row.message = map(&row.message);
            row.trace = map(&row.trace);
            self.add(row);
        }
        self.keep();
    }

    fn add(&mut self, exception: Exception) {
        match self.rows.iter_mut().find(|row| row.is_same(&exception)) {
            Some(row) => row.add(exception),
            None => self.rows.push(exception),
        }
    }

    fn keep(&mut self) {
        self.rows.sort_by(|one, other| {
            let place = |row: &Exception| (row.first_ns, Reverse(row.count));
            let texts = |row: &Exception| [&row.kind, &row.trace, &row.message].map(String::clone);
            let places = place(one).cmp(&place(other));
            places.then_with(|| texts(one).cmp(&texts(other)))
        });
        let left_out = self.rows.drain(self.rows.len().min(MOST_EXCEPTIONS)..);
        let left_out = left_out.fold(0_u64, |sum, row| sum.saturating_add(row.count));
        self.others = self.others.saturating_add(left_out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn raised(kind: &str, message: &str, trace: &str) -> Exception {
        Exception::new(kind, message, trace, Innermost::Last)
    }

    fn counts(exceptions: &Exceptions) -> Vec<(&str, &str, u64)> {
        let each = exceptions.iter();
        each.map(|one| (one.kind.as_str(), one.message.as_str(), one.count))
            .collect()
    }

    #[test]
    fn equal_stacks_are_one_row_whatever_the_message() {
        let mut exceptions = Exceptions::default();
        exceptions.record(raised("KeyError", "'a'", "line 3"));
        exceptions.record(raised("KeyError", "'b'", "line 3"));
        exceptions.record(raised("KeyError", "'a'", "line 4"));
        exceptions.record(raised("TypeError", "'a'", "line 3"));
        exceptions.record(raised("", "no stack", ""));
        exceptions.record(raised("", "none either", ""));
        exceptions.record(raised("", "no stack", ""));
        assert_eq!(
            counts(&exceptions.begun_at(7)),
            [
                ("", "no stack", 2),
                ("KeyError", "'a'", 2),
                ("", "none either", 1),
                ("KeyError", "'a'", 1),
                ("TypeError", "'a'", 1),
            ]
        );
    }

    #[test]
    fn the_message_and_the_instant_are_those_of_the_first_one() {
        let of = |start_ns, message| {
            let mut exceptions = Exceptions::default();
            exceptions.record(raised("KeyError", message, "line 3"));
            exceptions.begun_at(start_ns)
        };
        let mut merged = of(5, "b");
        for other in [of(9, "a"), of(2, "c")] {
            merged.merge(&other);
        }
        let first = merged.iter().next().unwrap();
        assert_eq!((first.first_ns, first.count), (2, 3));
        assert_eq!(first.message, "c");
    }

    #[test]
    fn what_there_is_no_room_for_is_counted() {
        let mut exceptions = Exceptions::default();
        for line in 0..30 {
            exceptions.record(raised("KeyError", "'a'", &format!("line {line}")));
        }
        exceptions.record(raised("KeyError", "'a'", "line 0"));
        let mut merged = exceptions.begun_at(0);
        merged.merge(&exceptions.begun_at(1));
        assert_eq!(merged.iter().count(), MOST_EXCEPTIONS);
        assert_eq!(merged.others(), 20);
        let kept: u64 = merged.iter().map(|one| one.count).sum();
        assert_eq!(kept + merged.others(), 62);
        assert_eq!(merged.iter().next().unwrap().count, 4);
    }

    #[test]
    fn of_a_long_text_the_innermost_frames_are_kept() {
        let trace: String = (0..2_000).map(|line| format!("ä{line}\n")).collect();
        let last = Exception::new(&"K".repeat(999), &trace, &trace, Innermost::Last);
        let first = Exception::new("", "", &trace, Innermost::First);
        assert!(last.trace.starts_with('…') && last.trace.ends_with("ä1999\n"));
        assert!(first.trace.starts_with("ä0\n") && first.trace.ends_with('…'));
        for (text, most) in [
            (&last.trace, MOST_TRACE),
            (&first.trace, MOST_TRACE),
            (&last.message, MOST_MESSAGE),
            (&last.kind, MOST_KIND),
        ] {
            assert!(text.len() <= most && text.len() > most - 3, "{text}");
        }
    }

    #[test]
    fn exceptions_that_differ_in_a_secret_become_one() {
        let mut exceptions = Exceptions::default();
        exceptions.record(raised("", "no basket of hunter2", ""));
        exceptions.record(raised("", "no basket of ****", ""));
        exceptions.record(raised("KeyError", "'a'", "at hunter2"));
        exceptions.map_texts(|text| text.replace("hunter2", "****"));
        assert_eq!(
            counts(&exceptions),
            [("", "no basket of ****", 2), ("KeyError", "'a'", 1)]
        );
        assert_eq!(exceptions.iter().nth(1).unwrap().trace, "at ****");
    }

    #[test]
    fn a_part_is_noted_once_and_no_more_than_a_few_are() {
        let mut merged = Exceptions::default();
        for part in (0..30).chain(0..30) {
            let mut exceptions = Exceptions::default();
            exceptions.record(raised("KeyError", "'a'", "line 3"));
            exceptions.note_part(&format!("agent {part:02}"));
            merged.merge(&exceptions);
        }
        let one = merged.iter().next().unwrap();
        assert_eq!((one.count, one.parts.len()), (60, MOST_PARTS));
        assert!(one.parts.contains("agent 00"));
    }

    #[test]
    fn exceptions_are_read_as_they_were_written_and_a_file_is_bounded() {
        let mut exceptions = Exceptions::default();
        exceptions.record(raised("KeyError", "'ä'", "line 3\nline 4"));
        exceptions.note_part("agent b");
        let text = serde_json::to_string(&exceptions).unwrap();
        let read: Exceptions = serde_json::from_str(&text).unwrap();
        assert_eq!(read, exceptions);
        let row = |line: usize| raised("KeyError", "", &format!("line {line}"));
        let listed = Listed {
            rows: (0..100).map(row).collect(),
            others: 3,
        };
        let text = serde_json::to_string(&listed).unwrap();
        let read: Exceptions = serde_json::from_str(&text).unwrap();
        assert_eq!((read.iter().count(), read.others()), (20, 83));
    }

    proptest! {
        /// However exceptions are spread over workers and intervals, all are counted, and as long
        /// as there is room for each of them, each has its count.
        #[test]
        fn all_are_counted_in_any_order(
            all in prop::collection::vec(0..30_usize, 0..200),
            kinds in 1..30_usize,
            parts in 1..5_usize,
            intervals in 1..4_usize,
        ) {
            let place = |kind: &usize| format!("line {}", kind % kinds);
            let mut merged = Exceptions::default();
            for part in 0..parts {
                let own: Vec<_> = all.iter().skip(part).step_by(parts).collect();
                let chunk = own.len().div_ceil(intervals).max(1);
                for (number, interval) in (0..).zip(own.chunks(chunk)) {
                    let mut exceptions = Exceptions::default();
                    for kind in interval {
                        exceptions.record(raised("KeyError", "'a'", &place(kind)));
                    }
                    merged.merge(&exceptions.begun_at(number));
                }
            }
            prop_assert!(merged.iter().count() <= MOST_EXCEPTIONS);
            let kept: u64 = merged.iter().map(|one| one.count).sum();
            prop_assert_eq!(kept + merged.others(), all.len() as u64);
            if kinds <= MOST_EXCEPTIONS {
                prop_assert_eq!(merged.others(), 0);
                for one in merged.iter() {
                    let count = all.iter().filter(|kind| place(kind) == one.trace).count();
                    prop_assert_eq!(one.count, count as u64);
                }
            }
        }
    }
}
