//! The deviations of arrivals from an even schedule.
//!
//! Arrival k (from 0) of an even schedule with rate r is due at t0 + k/r. Only the client knows its
//! t0, and the network adds to it, so it is estimated: as the median of a_k − k/r over all arrivals
//! a_k. The median minimises the sum of absolute deviations, and a stall that delays fewer than
//! half of the arrivals doesn't move it; a mean would spread part of every stall over the punctual
//! arrivals, a minimum the luck of one arrival over all. The *deviation* of an arrival is |a_k −
//! k/r − t0|.
//!
//! The rate is taken as given, so a client that is constantly too slow or too fast deviates more
//! and more; and a missing arrival makes all later ones late by 1/r.
//!
//! An arrival is the time at which the read returned that completed the request's head. Pipelined
//! requests that are read together arrive together. Over TLS the time includes decryption.

use crate::config::EvenSchedule;
use std::time::Duration;

/// The most arrivals that are stored, eight bytes each: 32 MB, reserved at the start so that no
/// growing buffer delays the server. Later arrivals are counted and left out of the figures.
pub const MOST_ARRIVALS: usize = 4_000_000;

/// Records the times at which requests arrive.
#[derive(Clone, Debug)]
pub(crate) struct ArrivalMeter {
    schedule: EvenSchedule,
    skip_ns: u64,
    first_ns: Option<u64>,
    times_ns: Vec<u64>,
    skipped: u64,
    unstored: u64,
}

impl ArrivalMeter {
    pub(crate) fn new(schedule: EvenSchedule) -> Self {
        Self {
            schedule,
            skip_ns: u64::try_from(schedule.skip.as_nanos()).unwrap_or(u64::MAX),
            first_ns: None,
            times_ns: Vec::with_capacity(MOST_ARRIVALS),
            skipped: 0,
            unstored: 0,
        }
    }

    /// Records an arrival at `at_ns` on the server's clock.
    pub(crate) fn note(&mut self, at_ns: u64) {
        let first_ns = *self.first_ns.get_or_insert(at_ns);
        if at_ns.saturating_sub(first_ns) < self.skip_ns {
            self.skipped += 1;
        } else if self.times_ns.len() == MOST_ARRIVALS {
            self.unstored += 1;
        } else {
            self.times_ns.push(at_ns);
        }
    }

    pub(crate) fn into_report(self) -> ArrivalReport {
        let measured = self.times_ns.len() as u64;
        let (deviation, gap) = measure(self.times_ns, self.schedule.rate_per_s);
        ArrivalReport {
            rate_per_s: self.schedule.rate_per_s,
            measured,
            skipped: self.skipped,
            unstored: self.unstored,
            deviation,
            gap,
        }
    }
}

/// The deviations of arrivals from the even schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArrivalReport {
    /// The schedule's rate in requests per second.
    pub rate_per_s: f64,
    /// The number of arrivals in the figures.
    pub measured: u64,
    /// The number of arrivals left out because they occurred in the skipped time.
    pub skipped: u64,
    /// The number of arrivals left out because [`MOST_ARRIVALS`] were already stored.
    pub unstored: u64,
    /// The absolute deviations from the schedule.
    pub deviation: Spread,
    /// The times from one arrival to the next.
    pub gap: Spread,
}

/// Three figures of a distribution; zero without values.
///
/// A percentile is the nearest rank: the least value that this many per cent do not exceed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// The median: half of the values are at most this.
    pub p50: Duration,
    /// The 99th percentile: 99 % of the values are at most this.
    pub p99: Duration,
    /// The greatest value.
    pub max: Duration,
}

impl Spread {
    fn of(mut values_ns: Vec<u64>) -> Self {
        values_ns.sort_unstable();
        Self {
            p50: nearest_rank(&values_ns, 50),
            p99: nearest_rank(&values_ns, 99),
            max: nearest_rank(&values_ns, 100),
        }
    }
}

/// Returns the spreads of deviations and of gaps. Threads may have recorded arrivals slightly out
/// of order.
fn measure(mut times_ns: Vec<u64>, rate_per_s: f64) -> (Spread, Spread) {
    times_ns.sort_unstable();
    let gaps_ns = times_ns.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let offsets_ns = offsets(&times_ns, rate_per_s);
    (Spread::of(deviations(offsets_ns)), Spread::of(gaps_ns))
}

/// Returns a_k − k/r of each arrival. Times are relative to the first one, so that a float is exact
/// to the nanosecond.
fn offsets(times_ns: &[u64], rate_per_s: f64) -> Vec<i64> {
    let start_ns = times_ns.first().copied().unwrap_or(0);
    let offset = |(k, at_ns): (usize, &u64)| {
        let due_ns = (k as f64 * 1e9 / rate_per_s).round() as i64;
        (at_ns - start_ns) as i64 - due_ns
    };
    times_ns.iter().enumerate().map(offset).collect()
}

fn deviations(mut offsets_ns: Vec<i64>) -> Vec<u64> {
    offsets_ns.sort_unstable();
    let t0_ns = offsets_ns.get(offsets_ns.len() / 2).copied().unwrap_or(0);
    offsets_ns
        .iter()
        .map(|offset_ns| offset_ns.abs_diff(t0_ns))
        .collect()
}

fn nearest_rank(sorted_ns: &[u64], percent: usize) -> Duration {
    let rank = (sorted_ns.len() * percent).div_ceil(100);
    let value_ns = rank.checked_sub(1).map_or(0, |index| sorted_ns[index]);
    Duration::from_nanos(value_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Returns arrivals at a thousand a second, the first at 5 s, each delayed by `moved_us`.
    fn arrivals(count: u64, moved_us: impl Fn(u64) -> u64) -> Vec<u64> {
        (0..count)
            .map(|k| 5_000 * MS + k * MS + moved_us(k) * 1_000)
            .collect()
    }

    #[test]
    fn punctual_arrivals_do_not_deviate_wherever_they_start() {
        let (deviation, gap) = measure(arrivals(1_000, |_| 0), 1_000.0);
        assert_eq!(deviation, Spread::default());
        assert_eq!(
            gap,
            Spread {
                p50: ms(1),
                p99: ms(1),
                max: ms(1)
            }
        );
    }

    #[test]
    fn late_arrivals_deviate_and_leave_the_punctual_ones_alone() {
        let (deviation, _) = measure(arrivals(1_000, |k| if k % 50 == 7 { 300 } else { 0 }), 1e3);
        let late = Duration::from_micros(300);
        assert_eq!(
            deviation,
            Spread {
                p50: ms(0),
                p99: late,
                max: late
            }
        );
    }

    #[test]
    fn an_arrival_that_is_overtaken_counts_in_the_order_of_arrival() {
        // The one due at 7 ms arrives at 10 ms, as the fourth of those from 7 to 10 ms.
        let (deviation, _) = measure(arrivals(1_000, |k| if k == 7 { 3_000 } else { 0 }), 1e3);
        assert_eq!(deviation.max, ms(1));
    }

    #[test]
    fn a_stall_shows_as_a_falling_deviation_and_one_gap() {
        // From 500 to 599 all wait until 600, then arrive at once.
        let stalled = |k| {
            if (500..600).contains(&k) {
                (600 - k) * 1_000
            } else {
                0
            }
        };
        let (deviation, gap) = measure(arrivals(1_000, stalled), 1_000.0);
        assert_eq!(
            deviation,
            Spread {
                p50: ms(0),
                p99: ms(90),
                max: ms(100)
            }
        );
        assert_eq!(
            gap,
            Spread {
                p50: ms(1),
                p99: ms(1),
                max: ms(101)
            }
        );
    }

    #[test]
    fn a_client_that_is_too_slow_drifts_away() {
        // The client is one thousandth too slow: the last arrival is 999 µs late relative to the
        // first.
        let drifting: Vec<u64> = (0..1_000).map(|k| k * (MS + 1_000)).collect();
        let (deviation, _) = measure(drifting, 1_000.0);
        assert_eq!(deviation.max, Duration::from_micros(500));
        assert_eq!(deviation.p50, Duration::from_micros(250));
    }

    #[test]
    fn a_rate_that_is_no_whole_number_of_nanoseconds_stays_exact() {
        let thirds: Vec<u64> = (0..30_001u64)
            .map(|k| (k * 1_000_000_000 + 1) / 3)
            .collect();
        let (deviation, _) = measure(thirds, 3.0);
        assert!(deviation.max <= Duration::from_nanos(1), "{deviation:?}");
    }

    #[test]
    fn the_order_of_notes_does_not_matter() {
        let (mut shuffled, even) = (arrivals(100, |_| 0), arrivals(100, |_| 0));
        shuffled.swap(3, 90);
        assert_eq!(measure(shuffled, 1_000.0), measure(even, 1_000.0));
    }

    #[test]
    fn nothing_or_one_arrival_is_no_spread() {
        assert_eq!(measure(Vec::new(), 10.0), Default::default());
        assert_eq!(measure(vec![42], 10.0), Default::default());
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let values: Vec<u64> = (1..=200).collect();
        let spread = Spread::of(values);
        assert_eq!(
            [spread.p50, spread.p99, spread.max].map(|time| time.as_nanos()),
            [100, 198, 200]
        );
    }

    #[test]
    fn the_meter_skips_the_start_and_says_when_it_is_full() {
        let mut meter = ArrivalMeter::new(EvenSchedule {
            rate_per_s: 1_000.0,
            skip: Duration::from_millis(10),
        });
        for at_ns in arrivals(30, |_| 0) {
            meter.note(at_ns);
        }
        let report = meter.clone().into_report();
        assert_eq!(
            (report.measured, report.skipped, report.unstored),
            (20, 10, 0)
        );

        meter.times_ns.resize(MOST_ARRIVALS, 6_000 * MS);
        meter.note(7_000 * MS);
        assert_eq!((meter.times_ns.len(), meter.unstored), (MOST_ARRIVALS, 1));
    }
}
