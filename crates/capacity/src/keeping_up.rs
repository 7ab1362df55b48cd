//! The test whether the target keeps up, or its backlog grows.
//!
//! In a steady state the number of outstanding requests is the rate times the mean response time
//! (Little's law), at the beginning of a trial as at its end. Beyond its capacity a target falls
//! behind: in T seconds at 1 + x times the capacity, about x T seconds of the load pile up. The
//! checks of short trials would not detect that, because no response time is longer than the
//! backlog.

/// The share of a trial's load that may pile up.
const PART: f64 = 0.01;
/// The standard deviations by which the number of outstanding requests may differ by chance.
/// Arrivals and responses are random, so the number varies like a Poisson variate, whose standard
/// deviation is the root of its mean.
const DEVIATIONS: f64 = 3.0;

/// The length of a confirming run, in response times, below which it detects little of a backlog.
const RESPONSES: f64 = 20.0;

/// A finding: trials that were too short to detect a backlog.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooShort {
    /// The duration of the shortest of them, in seconds.
    pub trial_s: f64,
    /// The number of such trials that last as long as the confirming run.
    pub confirming: f64,
    /// The mean response time of the target at low load, in seconds.
    pub response_s: f64,
}

impl TooShort {
    /// Returns the finding if `confirming` trials of this length are together too short for a
    /// target with this response time at low load.
    pub(crate) fn of(trial_s: f64, confirming: f64, response_s: f64) -> Option<TooShort> {
        let found = TooShort {
            trial_s,
            confirming,
            response_s,
        };
        (trial_s < found.needed_s()).then_some(found)
    }

    /// Returns the length of a trial that would suffice, in seconds.
    pub fn needed_s(self) -> f64 {
        RESPONSES * self.response_s / self.confirming
    }
}

/// The outstanding requests around a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Backlog {
    /// The increase from its beginning to its end.
    pub(crate) grown: f64,
    /// The number at its end.
    pub(crate) outstanding: f64,
}

impl Backlog {
    /// Returns the increase of outstanding requests, but no more than the excess at the end over
    /// the number that is always under way, given the target's mean response time at low load:
    /// requests that were not yet under way at the beginning are no backlog.
    pub(crate) fn growth(self, mean_at_ease_s: f64, level: f64) -> f64 {
        self.grown.min(self.outstanding - mean_at_ease_s * level)
    }

    /// True if no more piled up at this level and in this many seconds than chance explains.
    pub(crate) fn keeps_up(self, mean_at_ease_s: f64, level: f64, seconds: f64) -> bool {
        let chance = DEVIATIONS * self.outstanding.max(0.0).sqrt();
        self.growth(mean_at_ease_s, level) <= chance.max(PART * level * seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeps_up(grown: f64, outstanding: f64, level: f64, seconds: f64) -> bool {
        let backlog = Backlog { grown, outstanding };
        backlog.keeps_up(0.001, level, seconds)
    }

    #[test]
    fn what_is_always_under_way_is_no_backlog() {
        assert!(keeps_up(0.0, 0.0, 100.0, 5.0));
        assert!(keeps_up(0.0, 200.0, 1_000.0, 5.0));
        assert!(keeps_up(12.0, 20.0, 100.0, 2.0), "by chance");
        let filling = Backlog {
            grown: 400.0,
            outstanding: 1_000.0,
        };
        assert!(filling.keeps_up(1.0, 1_000.0, 5.0), "a second of each");
    }

    #[test]
    fn a_trial_of_few_response_times_is_too_short() {
        assert_eq!(TooShort::of(2.0, 5.0, 0.1), None);
        let found = TooShort::of(0.5, 5.0, 0.15).expect("17 response times are few");
        assert!((found.needed_s() - 0.6).abs() < 1e-9);
    }

    #[test]
    fn a_load_two_percent_beyond_the_capacity_piles_up() {
        let beyond = |share: f64| share * 10_000.0 * 5.0;
        assert!(!keeps_up(beyond(0.02), beyond(0.02), 10_000.0, 5.0));
        assert!(keeps_up(beyond(0.005), beyond(0.005), 10_000.0, 5.0));
    }

    /// A hundred requests a second with response times of 50 ms: an excess of one in a hundred is
    /// detected in ten seconds, however long the responses take.
    #[test]
    fn a_slow_answer_hides_no_backlog() {
        assert!(!keeps_up(50.0, 55.0, 105.0, 10.0));
    }
}
