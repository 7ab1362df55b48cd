//! The test whether the users of a closed loop keep their pace.
//!
//! In a closed loop no backlog grows without end. If its users wait between requests, too many of
//! them show in another way: the target responds so slowly that each user makes fewer requests, and
//! more users only wait longer.
//!
//! A user makes one request in each *cycle*, which is its wait and the response time. The wait is
//! the remainder of the users' time, by the interactive response time law (Denning and Buzen, *The
//! Operational Analysis of Queueing Network Models*, 1978): users × time / responses, less the mean
//! response time. It is set by the script alone, so the trials at all levels contribute to its
//! estimate.

use crate::measure::{Observation, Trial};

/// The share of its requests at low load that each user must make to keep its pace, computed from
/// the response times.
const KEPT: f64 = 0.9;
/// The same share, computed from the counted responses: users whose wait is shorter after a slow
/// response lose nothing. It is closer to 1, because a trial may by chance count some more
/// requests.
const COUNTED: f64 = 0.95;

/// The shortest wait that counts as think time, in seconds; the script and the generator may take
/// this long.
const LEAST_WAIT_S: f64 = 0.01;

/// The users' wait, estimated from trials.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    /// The number of responses.
    responses: f64,
    /// The time of all users, added up, in seconds.
    users_s: f64,
    /// The time that users waited for responses, added up, in seconds.
    response_s: f64,
}

impl Pace {
    /// Adds a trial in which users kept their pace. In other trials they may not have reached a
    /// steady state.
    pub(crate) fn observe(&mut self, trial: &Trial) {
        let responses = trial.seen.answers_per_s * trial.seconds;
        self.responses += responses;
        self.users_s += trial.level * trial.seconds;
        self.response_s += responses * trial.seen.mean_s;
    }

    /// Returns the mean time between a response and the user's next request, in seconds; 0 before
    /// the first trial.
    pub(crate) fn wait_s(&self) -> f64 {
        if self.responses <= 0.0 {
            return 0.0;
        }
        ((self.users_s - self.response_s) / self.responses).max(0.0)
    }

    /// Returns the time from one request of a user to the next one, at this response time, in
    /// seconds.
    pub(crate) fn cycle_s(&self, response_s: f64) -> f64 {
        self.wait_s() + response_s
    }

    /// True if the users of a trial kept their pace, compared with the response time at low load.
    /// Users who hardly wait, or less than the response takes, have no pace: they send as fast as
    /// responses arrive.
    pub(crate) fn is_kept(&self, trial: &Trial, at_ease_s: f64) -> bool {
        let Observation {
            answers_per_s,
            mean_s,
            ..
        } = trial.seen;
        if answers_per_s <= 0.0 {
            return false;
        }
        let cycle_s = self.cycle_s(at_ease_s);
        let is_in_time = cycle_s >= KEPT * self.cycle_s(mean_s);
        let has_counted = answers_per_s * cycle_s >= COUNTED * trial.level;
        self.wait_s() <= at_ease_s.max(LEAST_WAIT_S) || is_in_time || has_counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Purpose;

    fn trial(users: f64, answers_per_s: f64, mean_s: f64) -> Trial {
        Trial {
            number: 1,
            purpose: Purpose::Search,
            level: users,
            seconds: 2.0,
            kept_up: true,
            discarded: false,
            seen: Observation {
                answers_per_s,
                mean_s,
                ..Observation::default()
            },
        }
    }

    #[test]
    fn the_wait_is_what_remains_of_the_users_time() {
        let mut pace = Pace::default();
        assert_eq!(pace.wait_s(), 0.0, "nothing is known");
        pace.observe(&trial(1.0, 2.0, 0.1));
        pace.observe(&trial(30.0, 50.0, 0.2));
        assert!((pace.wait_s() - 0.4).abs() < 0.005, "{}", pace.wait_s());
    }

    #[test]
    fn users_lose_their_pace_when_responses_take_a_ninth_of_a_cycle_longer() {
        let mut pace = Pace::default();
        pace.observe(&trial(10.0, 20.0, 0.05));
        let kept = |mean_s| pace.is_kept(&trial(60.0, 100.0, mean_s), 0.05);
        assert!(kept(0.05) && kept(0.10));
        assert!(!kept(0.11) && !kept(2.0));
    }

    #[test]
    fn users_who_do_not_wait_have_no_pace_to_lose() {
        let mut pace = Pace::default();
        pace.observe(&trial(4.0, 400.0, 0.01));
        assert!(pace.is_kept(&trial(40.0, 400.0, 0.1), 0.01));
        // Responses take 20 µs, and the next request is sent 80 µs later.
        let mut pace = Pace::default();
        pace.observe(&trial(1.0, 10_000.0, 0.000_02));
        assert!(pace.is_kept(&trial(2.0, 10_000.0, 0.000_12), 0.000_02));
    }

    #[test]
    fn users_who_begin_each_second_keep_their_pace_however_long_that_lasts() {
        let mut pace = Pace::default();
        pace.observe(&trial(10.0, 10.0, 0.01));
        assert!(pace.is_kept(&trial(80.0, 80.0, 0.5), 0.01));
        assert!(!pace.is_kept(&trial(120.0, 100.0, 1.2), 0.01));
    }

    #[test]
    fn a_target_without_a_response_keeps_nobodys_pace() {
        assert!(!Pace::default().is_kept(&trial(1.0, 0.0, 0.0), f64::MAX));
    }
}
