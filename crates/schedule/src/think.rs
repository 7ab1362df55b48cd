//! Think times: a user's waits between two iterations.

use crate::poisson::Points;

/// The first stream of random numbers that belongs to a user; those below it belong to the arrivals
/// of a load and of its changes.
const FIRST_STREAM: u64 = 1 << 32;

/// The think times of one user, one after the other, in nanoseconds.
#[derive(Clone, Debug)]
pub struct ThinkTimes {
    mean_ns: u64,
    /// The gaps of a Poisson process of rate 1, if the times are drawn.
    gaps: Option<Points>,
}

impl ThinkTimes {
    /// Creates think times of constant length.
    pub fn constant(time_ns: u64) -> ThinkTimes {
        ThinkTimes {
            mean_ns: time_ns,
            gaps: None,
        }
    }

    /// Creates think times drawn from an exponential distribution with this mean, by the run's seed
    /// and the user's number, so that they do not depend on the user's worker.
    pub fn exponential(mean_ns: u64, seed: u64, user: u32) -> ThinkTimes {
        ThinkTimes {
            mean_ns,
            gaps: Some(Points::of_stream(seed, FIRST_STREAM + u64::from(user))),
        }
    }

    /// Returns the next think time in nanoseconds.
    pub fn next_ns(&mut self) -> u64 {
        let Some(gaps) = &mut self.gaps else {
            return self.mean_ns;
        };
        // Computed in 2^-32: a gap is below 40, and a time has 64 bits.
        let gap = gaps.gap() >> 32;
        u64::try_from((gap * u128::from(self.mean_ns)) >> 32).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_times_are_exponential() {
        const MEAN_NS: u64 = 1_000_000_000;
        let mut times = ThinkTimes::exponential(MEAN_NS, 7, 3);
        let mut drawn: Vec<u64> = (0..100_000).map(|_| times.next_ns()).collect();
        let mean_ns = drawn.iter().sum::<u64>() / drawn.len() as u64;
        // The standard error is 0.3 %.
        assert!(mean_ns.abs_diff(MEAN_NS) < MEAN_NS / 80, "{mean_ns}");
        drawn.sort_unstable();
        let median_ns = drawn[drawn.len() / 2];
        let expected_ns = (MEAN_NS as f64 * std::f64::consts::LN_2) as u64;
        assert!(
            median_ns.abs_diff(expected_ns) < MEAN_NS / 80,
            "{median_ns}"
        );
    }

    #[test]
    fn each_user_has_times_of_its_own_by_seed_and_number() {
        let times = |seed, user| {
            let mut times = ThinkTimes::exponential(1_000_000, seed, user);
            [times.next_ns(), times.next_ns()]
        };
        assert_eq!(times(1, 1), times(1, 1));
        assert_ne!(times(1, 1), times(1, 2));
        assert_ne!(times(1, 1), times(2, 1));
    }

    #[test]
    fn the_longest_mean_does_no_harm() {
        let mut times = ThinkTimes::exponential(u64::MAX, 1, 0);
        assert!((0..1_000).any(|_| times.next_ns() == u64::MAX));
        assert_eq!(ThinkTimes::constant(5).next_ns(), 5);
    }
}
