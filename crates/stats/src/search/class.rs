//! The class of a rate by its trials: good, bad, or undecided.
//!
//! The arithmetic is that of RFC 9971, section "Load Classification" and the appendix with its
//! code: what is missing of the required time is once taken as good and once as bad, and only where
//! both agree there is a decision.

/// Of so many trials most decide on a rate that is far from the others.
const DECISIVE_TRIALS: u32 = 3;

/// The requirement for a rate, and the confidence with which it must be met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// The share of the time that may be bad, at least 0 and below 1 (0.5 requires the median).
    pub exceed_ratio: f64,
    /// Trials of at least this many seconds count in full; shorter ones can only count against a
    /// rate.
    pub full_s: f64,
    /// This many seconds of trials decide on a rate.
    pub required_s: f64,
    /// The largest distance of the bounds, as a share of the upper one.
    pub width: f64,
}

impl Goal {
    /// The same goal with this share of the required time, but at least one trial in full.
    pub(super) fn eased(&self, share: f64) -> Goal {
        Goal {
            required_s: (self.required_s * share).max(self.full_s),
            ..*self
        }
    }
}

/// The class of a rate for a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Good: the highest good rate is not below it.
    Lower,
    /// Bad: the highest good rate is below it.
    Upper,
    /// Not decided: measure again.
    Undecided,
}

/// For how long the trials at one rate were good and bad, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// In trials of full length that were good.
    pub good_s: f64,
    /// In trials of full length that were bad.
    pub bad_s: f64,
    /// In shorter trials that were good.
    pub short_good_s: f64,
    /// In shorter trials that were bad.
    pub short_bad_s: f64,
    /// The number of trials, of any length.
    pub trials: u32,
    /// The number of bad trials among them.
    pub bad: u32,
}

impl Tally {
    /// Adds a trial of this many seconds.
    pub fn add(&mut self, goal: &Goal, seconds: f64, good: bool) {
        let sum = match (seconds >= goal.full_s, good) {
            (true, true) => &mut self.good_s,
            (true, false) => &mut self.bad_s,
            (false, true) => &mut self.short_good_s,
            (false, false) => &mut self.short_bad_s,
        };
        *sum += seconds;
        self.trials += 1;
        self.bad += u32::from(!good);
    }

    /// Returns the class of the rate for this goal.
    ///
    /// With e the exceed ratio and S the required seconds: short trials that were bad count as far
    /// as the good ones among them do not make up for it, B' = B + max(0, b − g e/(1−e)); the whole
    /// is W = max(S, G + B'). An upper bound if B'/W > e, a lower bound if (W − G)/W ≤ e.
    pub fn class(&self, goal: &Goal) -> Class {
        let bad = self.effective_bad_s(goal);
        let whole = goal.required_s.max(self.good_s + bad);
        let allowed = whole * goal.exceed_ratio;
        if bad > allowed {
            Class::Upper
        } else if whole - self.good_s <= allowed {
            Class::Lower
        } else {
            Class::Undecided
        }
    }

    /// True if the measurements so far, whether enough or not, are bad more often than allowed. A
    /// rate whose short trials alone were good looks good.
    pub(super) fn looks_bad(&self, goal: &Goal) -> bool {
        let bad = self.effective_bad_s(goal);
        bad > (self.good_s + bad) * goal.exceed_ratio
    }

    /// True if the only evidence against the rate is one bad trial, and too few trials support it,
    /// so that nothing is decided: of three trials, two decide.
    pub(super) fn is_doubtful(&self, goal: &Goal) -> bool {
        self.bad == 1 && self.trials < DECISIVE_TRIALS && self.class(goal) == Class::Undecided
    }

    fn effective_bad_s(&self, goal: &Goal) -> f64 {
        let made_up = self.short_good_s * goal.exceed_ratio / (1.0 - goal.exceed_ratio);
        self.bad_s + (self.short_bad_s - made_up).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The four goals of the example in RFC 9971, with the loss that each allows, in percent.
    const GOALS: [(Goal, f64); 4] = [
        (goal(60.0, 60.0, 0.0), 0.0),
        (goal(60.0, 120.0, 0.5), 0.0),
        (goal(1.0, 120.0, 0.5), 0.5),
        (goal(60.0, 60.0, 0.2), 0.5),
    ];

    const fn goal(full_s: f64, required_s: f64, exceed_ratio: f64) -> Goal {
        Goal {
            exceed_ratio,
            full_s,
            required_s,
            width: 0.005,
        }
    }

    /// The six points in time of the example search in RFC 9971: how many trials of how many
    /// seconds and what loss were added, and what the load is to each goal then. To the fourth goal
    /// its table calls the load a lower bound at the last two points, against the ratios beside it
    /// (42.857 % and
    /// 27.273 % of the time bad, where 20 % are allowed) and against its own code: an upper bound.
    #[test]
    fn the_example_of_the_rfc_is_classified_as_there() {
        use Class::{Lower, Undecided, Upper};
        let points = [
            ((59, 1.0, 0.0), [Undecided; 4]),
            ((1, 1.0, 1.0), [Upper, Undecided, Undecided, Undecided]),
            ((59, 1.0, 1.0), [Upper, Undecided, Undecided, Upper]),
            ((1, 1.0, 0.0), [Upper, Undecided, Lower, Upper]),
            ((1, 60.0, 0.1), [Upper, Undecided, Lower, Upper]),
            ((1, 60.0, 0.0), [Upper, Lower, Lower, Upper]),
        ];
        let mut tallies = [Tally::default(); 4];
        for (point, ((trials, seconds, loss), classes)) in points.into_iter().enumerate() {
            for (tally, (goal, allowed)) in tallies.iter_mut().zip(GOALS) {
                (0..trials).for_each(|_| tally.add(&goal, seconds, loss <= allowed));
            }
            let found = [0, 1, 2, 3].map(|index| tallies[index].class(&GOALS[index].0));
            assert_eq!(found, classes, "point {}", point + 1);
        }
    }

    #[test]
    fn without_a_trial_nothing_is_decided() {
        for (goal, _) in GOALS {
            assert_eq!(Tally::default().class(&goal), Class::Undecided);
            assert!(!Tally::default().looks_bad(&goal));
        }
    }

    proptest! {
        #[test]
        fn enough_full_trials_always_decide(
            trials in prop::collection::vec(any::<bool>(), 30..60), exceed_ratio in 0.0f64..0.99,
        ) {
            let goal = goal(1.0, 30.0, exceed_ratio);
            let mut tally = Tally::default();
            trials.iter().for_each(|good| tally.add(&goal, 1.0, *good));
            let class = if tally.looks_bad(&goal) { Class::Upper } else { Class::Lower };
            prop_assert_eq!(tally.class(&goal), class);
        }

        #[test]
        fn a_decision_is_what_it_looks_like(
            good_s in 0.0f64..100.0, bad_s in 0.0f64..100.0,
            short_good_s in 0.0f64..100.0, short_bad_s in 0.0f64..100.0,
            exceed_ratio in 0.0f64..0.9,
        ) {
            let tally = Tally { good_s, bad_s, short_good_s, short_bad_s, ..Tally::default() };
            let goal = goal(5.0, 60.0, exceed_ratio);
            match tally.class(&goal) {
                Class::Upper => prop_assert!(tally.looks_bad(&goal)),
                Class::Lower => prop_assert!(!tally.looks_bad(&goal)),
                Class::Undecided => {}
            }
        }
    }
}
