//! The offsets of an agent's clocks from those of this process.
//!
//! The agent reads its clocks between two readings of ours. A message there seems to take its time
//! and the offset, and the answer its time less the offset, so that the offset lies between what
//! they seem to take; the middle is wrong by at most half of their sum. Of several round trips the
//! fastest message of each direction counts, which may belong to different ones: where delays vary,
//! both of one round trip are rarely fast (V. Paxson, On Calibrating Measurements of Packet Transit
//! Times, SIGMETRICS 1998).

use crate::connection::Bus;
use crate::error::BusError;
use crate::protocol::{self, Card, Reading};
use loadline_reactor::monotonic_ns;
use std::time::{Duration, SystemTime};

/// The number of round trips.
const ROUND_TRIPS: usize = 8;
/// The time in which an agent answers.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// A round trip: our reading before, the agent's, and ours after it, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoundTrip {
    pub(crate) before: Reading,
    pub(crate) there: Reading,
    pub(crate) after_ns: u64,
}

/// The offset of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// The agent's `CLOCK_MONOTONIC` less ours, in nanoseconds.
    pub ahead_ns: i64,
    /// The agent's wall clock less ours, in nanoseconds.
    pub wall_ahead_ns: i64,
    /// The most by which they are wrong, in nanoseconds.
    pub error_ns: u64,
    /// The longest round trip, in nanoseconds.
    pub longest_ns: u64,
}

impl Reading {
    /// Reads the clocks.
    pub(crate) fn now() -> Self {
        let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Reading {
            now_ns: monotonic_ns(),
            wall_ns: wall.map_or(0, |time| time.as_nanos() as u64),
        }
    }
}

impl RoundTrip {
    fn length_ns(&self) -> u64 {
        self.after_ns.saturating_sub(self.before.now_ns)
    }
}

/// Measures the offset of an agent's clocks; `None` if the agent does not answer.
///
/// # Errors
/// If the bus can't be used.
pub fn measure_clock(bus: &Bus, card: &Card) -> Result<Option<Offset>, BusError> {
    let subject = protocol::clock(&card.id);
    let mut trips = Vec::new();
    for _ in 0..ROUND_TRIPS {
        let before = Reading::now();
        let answer = bus.request(&subject, &[], ANSWER_TIMEOUT)?;
        let after_ns = monotonic_ns();
        let Some(there) = answer.as_deref().and_then(protocol::decode) else {
            return Ok(None);
        };
        trips.push(RoundTrip {
            before,
            there,
            after_ns,
        });
    }
    Ok(offset(&trips))
}

/// Returns the offset after these round trips; `None` without one.
fn offset(trips: &[RoundTrip]) -> Option<Offset> {
    let longest_ns = trips.iter().map(RoundTrip::length_ns).max()?;
    let (ahead_ns, error_ns) = middle(trips, |reading| reading.now_ns)?;
    let (wall_ahead_ns, _) = middle(trips, |reading| reading.wall_ns)?;
    Some(Offset {
        ahead_ns,
        wall_ahead_ns,
        error_ns,
        longest_ns,
    })
}

/// Returns the offset of one of the agent's clocks, and the most by which it is wrong.
fn middle(trips: &[RoundTrip], clock: impl Fn(&Reading) -> u64) -> Option<(i64, u64)> {
    let there_ns = |trip: &RoundTrip| difference(clock(&trip.there), clock(&trip.before));
    let back_ns = |trip: &RoundTrip| trip.length_ns() as i128 - there_ns(trip);
    let fastest_there_ns = trips.iter().map(there_ns).min()?;
    let fastest_back_ns = trips.iter().map(back_ns).min()?;
    let ahead_ns = (fastest_there_ns - fastest_back_ns) / 2;
    // Clocks that differ in their rates may make it negative, by far less than they are wrong.
    let both_ns = (fastest_there_ns + fastest_back_ns).max(0) as u64;
    Some((ahead_ns as i64, both_ns.div_ceil(2)))
}

fn difference(one_ns: u64, other_ns: u64) -> i128 {
    i128::from(one_ns) - i128::from(other_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn trip(before_ns: u64, there_ns: u64, after_ns: u64) -> RoundTrip {
        let reading = |now_ns| Reading {
            now_ns,
            wall_ns: now_ns.wrapping_add(7),
        };
        RoundTrip {
            before: reading(before_ns),
            there: reading(there_ns),
            after_ns,
        }
    }

    #[test]
    fn the_fastest_message_of_each_direction_counts() {
        // The clock is 5 000 ahead; one message takes 10 there, and another one 30 back.
        let trips = [trip(0, 5_010, 900), trip(1_000, 6_170, 1_200)];
        let found = offset(&trips).expect("an offset");
        assert_eq!((found.ahead_ns, found.error_ns), (4_990, 20));
        assert_eq!((found.wall_ahead_ns, found.longest_ns), (4_990, 900));
        assert_eq!(offset(&[]), None);
    }

    #[test]
    fn clocks_of_any_reading_have_an_offset() {
        let trips = [
            trip(0, u64::MAX - 7, 10),
            trip(u64::MAX - 20, 0, u64::MAX - 10),
        ];
        assert!(offset(&trips).is_some());
    }

    proptest! {
        #[test]
        fn an_offset_is_wrong_by_no_more_than_it_says(
            ahead_ns in -1_000_000_000_000_i64..1_000_000_000_000,
            trips in prop::collection::vec((0..50_000_000_u64, 0..50_000_000_u64), 1..9),
        ) {
            let mut now_ns = 2_000_000_000_000_u64;
            let trips: Vec<_> = trips.into_iter().map(|(there, back)| {
                let before_ns = now_ns;
                now_ns += there + back;
                trip(before_ns, (before_ns + there).saturating_add_signed(ahead_ns), now_ns)
            }).collect();
            let found = offset(&trips).expect("an offset");
            prop_assert!(found.ahead_ns.abs_diff(ahead_ns) <= found.error_ns);
        }
    }
}
