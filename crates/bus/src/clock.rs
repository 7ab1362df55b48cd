//! The offsets of an agent's clocks from those of this process.
//!
//! The agent reads its clocks between two readings of ours, so that its readings belong to an
//! instant between them; the middle is wrong by at most half of the round trip. Of several round
//! trips the shortest one counts (as in NTP, RFC 5905, section 10).

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
    let best = trips.iter().min_by_key(|trip| trip.length_ns())?;
    let longest_ns = trips.iter().map(RoundTrip::length_ns).max()?;
    let half_ns = best.length_ns() / 2;
    Some(Offset {
        ahead_ns: difference(best.there.now_ns, best.before.now_ns + half_ns),
        wall_ahead_ns: difference(best.there.wall_ns, best.before.wall_ns + half_ns),
        error_ns: best.length_ns().div_ceil(2),
        longest_ns,
    })
}

fn difference(one: u64, other: u64) -> i64 {
    one.wrapping_sub(other) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn trip(before_ns: u64, there_ns: u64, after_ns: u64) -> RoundTrip {
        let reading = |now_ns| Reading {
            now_ns,
            wall_ns: now_ns + 7,
        };
        RoundTrip {
            before: reading(before_ns),
            there: reading(there_ns),
            after_ns,
        }
    }

    #[test]
    fn the_shortest_round_trip_counts() {
        let trips = [trip(0, 5_000, 900), trip(1_000, 6_100, 1_200)];
        let found = offset(&trips).expect("an offset");
        assert_eq!((found.ahead_ns, found.error_ns), (5_000, 100));
        assert_eq!((found.wall_ahead_ns, found.longest_ns), (5_000, 900));
        assert_eq!(offset(&[]), None);
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
