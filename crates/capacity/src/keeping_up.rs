//! Does the target keep up, or does its backlog grow?
//!
//! What is outstanding in a steady state is the rate times the mean response time (Little's law); in
//! seconds of the load, that is the mean response time itself. Beyond its capacity a target falls
//! behind: in T seconds at 1 + x times the capacity, about x T seconds of the load pile up. Short
//! trials would not see it otherwise, because no response time is longer than what piled up.

/// This part of a trial may pile up: 1 % beyond the capacity.
const PART: f64 = 0.01;
/// So much may be outstanding at the end of the shortest trial, in seconds: a hiccup is no backlog.
const LEAST_S: f64 = 0.02;
/// Arrivals and answers come as they will, so the number outstanding varies as a Poisson variate
/// does, whose standard deviation is the root of its mean.
const DEVIATIONS: f64 = 3.0;

/// A trial that lasts fewer response times than this sees little of what piles up: what is always under
/// way is more than a twentieth of it.
const RESPONSES: f64 = 20.0;

/// Trials that were too short to see a backlog.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooShort {
    /// How long the shortest of them measured, in seconds.
    pub trial_s: f64,
    /// The mean response time of the target at ease, in seconds.
    pub response_s: f64,
}

impl TooShort {
    /// Trials of this length, if that is too short for a target that answers so fast at ease.
    pub(crate) fn of(trial_s: f64, response_s: f64) -> Option<TooShort> {
        let found = TooShort {
            trial_s,
            response_s,
        };
        (trial_s < found.needed_s()).then_some(found)
    }

    /// The length of a trial that would do, in seconds.
    pub fn needed_s(self) -> f64 {
        RESPONSES * self.response_s
    }
}

/// Whether no more is outstanding than is always under way, given the mean response time of a target
/// at ease.
pub(crate) fn keeps_up(outstanding_s: f64, mean_at_ease_s: f64, level: f64, seconds: f64) -> bool {
    let under_way = mean_at_ease_s * level;
    let chance_s = DEVIATIONS * under_way.sqrt() / level;
    let slack_s = (PART * seconds).max(LEAST_S);
    outstanding_s <= mean_at_ease_s + chance_s + slack_s
}

/// Which share of the load piled up in a trial of so many seconds, by what was outstanding at its end and
/// the mean response time, both in seconds; below 0 where less was outstanding than on average.
///
/// In a steady state the two are the same (Little's law). A backlog that grows evenly to B lengthens
/// the mean by half of B.
pub(crate) fn piled_up(outstanding_s: f64, mean_s: f64, seconds: f64) -> f64 {
    2.0 * (outstanding_s - mean_s) / seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_piles_up_is_what_is_beyond_the_capacity() {
        assert_eq!(piled_up(0.2, 0.2, 5.0), 0.0, "it is always under way");
        // One percent beyond the capacity for two seconds, with a response time of 3 ms at ease.
        let (grown_s, mean_s) = (0.02 + 0.003, 0.01 + 0.003);
        assert!((piled_up(grown_s, mean_s, 2.0) - 0.01).abs() < 1e-9);
    }

    #[test]
    fn what_is_always_under_way_is_no_backlog() {
        assert!(keeps_up(0.0, 0.0, 100.0, 5.0));
        assert!(keeps_up(0.2, 0.2, 100.0, 5.0));
        assert!(keeps_up(0.3, 0.2, 50.0, 5.0), "10 under way, 15 by chance");
    }

    #[test]
    fn a_trial_of_few_response_times_is_too_short() {
        assert_eq!(TooShort::of(2.0, 0.1), None);
        let found = TooShort::of(0.5, 0.15).expect("3.3 response times are few");
        assert!((found.needed_s() - 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_load_two_percent_beyond_the_capacity_piles_up() {
        assert!(!keeps_up(0.02 * 5.0, 0.001, 10_000.0, 5.0));
        assert!(keeps_up(0.005 * 5.0, 0.001, 10_000.0, 5.0));
    }
}
