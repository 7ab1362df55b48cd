//! Does the target keep up, or does its backlog grow?
//!
//! What is outstanding in a steady state is the rate times the mean response time (Little's law),
//! at the beginning of a trial as at its end. Beyond its capacity a target falls behind: in T
//! seconds at 1 + x times the capacity, about x T seconds of the load pile up. Short trials would
//! not see it otherwise, because no response time is longer than what piled up.

/// This part of a trial's load may pile up.
const PART: f64 = 0.01;
/// Arrivals and answers come as they will, so the number outstanding varies as a Poisson variate
/// does, whose standard deviation is the root of its mean.
const DEVIATIONS: f64 = 3.0;

/// A confirming run that lasts fewer response times than this sees little of what piles up.
const RESPONSES: f64 = 20.0;

/// Trials that were too short to see a backlog.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooShort {
    /// How long the shortest of them measured, in seconds.
    pub trial_s: f64,
    /// So many of them last as long as the run that confirms.
    pub confirming: f64,
    /// The mean response time of the target at low load, in seconds.
    pub response_s: f64,
}

impl TooShort {
    /// Trials of this length, if so many of them are too short together for a target that answers
    /// so fast at low load.
    pub(crate) fn of(trial_s: f64, confirming: f64, response_s: f64) -> Option<TooShort> {
        let found = TooShort {
            trial_s,
            confirming,
            response_s,
        };
        (trial_s < found.needed_s()).then_some(found)
    }

    /// The length of a trial that would do, in seconds.
    pub fn needed_s(self) -> f64 {
        RESPONSES * self.response_s / self.confirming
    }
}

/// What was outstanding around a trial, in requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Backlog {
    /// By this many more at its end than at its beginning.
    pub(crate) grown: f64,
    /// At its end.
    pub(crate) outstanding: f64,
}

impl Backlog {
    /// How much more was outstanding at the end than at the beginning or than is always under way,
    /// given the mean response time of a target at low load: what is not up yet at the beginning is
    /// no backlog.
    pub(crate) fn growth(self, mean_at_ease_s: f64, level: f64) -> f64 {
        self.grown.min(self.outstanding - mean_at_ease_s * level)
    }

    /// Whether no more piled up at this level and in this many seconds than chance does.
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

    /// A hundred requests a second whose answers take 50 ms: one more in a hundred is seen in ten
    /// seconds, however long the answers take.
    #[test]
    fn a_slow_answer_hides_no_backlog() {
        assert!(!keeps_up(50.0, 55.0, 105.0, 10.0));
    }
}
