use super::*;
use crate::comparison::tests::Dice;
use loadline_record::Distribution;

const SECOND: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

/// The requests of a run that is cut at its end: of each when it was due, and how long it takes.
struct Cut {
    times: Distribution,
    ages: Distribution,
    blocks: Blocks,
}

impl Cut {
    fn of(requests: impl Iterator<Item = (u64, u64)>, end_ns: u64) -> Cut {
        let seconds = end_ns.div_ceil(SECOND) as usize;
        let mut intervals = vec![Distribution::default(); seconds];
        let (mut times, mut ages) = (Distribution::default(), Distribution::default());
        for (due_ns, takes_ns) in requests.take_while(|(due_ns, _)| *due_ns < end_ns) {
            let answered_ns = due_ns + takes_ns;
            if answered_ns < end_ns {
                times.record_ns(takes_ns);
                intervals[(answered_ns / SECOND) as usize].record_ns(takes_ns);
            } else {
                ages.record_ns(end_ns - due_ns);
            }
        }
        let mut blocks = Blocks::default();
        intervals.iter().for_each(|times| blocks.observe(times));
        Cut {
            times,
            ages,
            blocks,
        }
    }

    fn censored(&self) -> Censored<'_> {
        Censored {
            times: &self.times,
            ages: &self.ages,
            ageless: 0,
        }
    }

    fn interval(&self, percentile: f64) -> ConfidenceInterval {
        confidence_interval(self.censored(), &self.blocks, percentile)
    }

    /// True if the interval contains this value.
    fn covers(&self, percentile: f64, truth_ns: f64) -> bool {
        let found = self.interval(percentile);
        let above = found
            .lower_ns
            .is_none_or(|ns| ns.value() as f64 <= truth_ns);
        let below = match found.upper_ns {
            Some(Bounded::Exactly(ns)) => truth_ns <= ns as f64,
            _ => true,
        };
        above && below
    }
}

/// 3 % of the requests take 1.5 s and the others about 2 ms, 1 000 a second for 2 s.
fn slow_tail(seed: u64) -> Cut {
    let mut dice = Dice(seed);
    let requests = (0..2_000).map(|n| {
        let takes_ns = match dice.roll() {
            share if share < 0.03 => 1_500 * MS,
            _ => MS + dice.wait_ns(MS as f64),
        };
        (n * MS, takes_ns)
    });
    Cut::of(requests.collect::<Vec<_>>().into_iter(), 2 * SECOND)
}

#[test]
fn a_slow_tail_that_the_end_cuts_off_is_in_the_percentile() {
    for seed in 0..100 {
        let cut = slow_tail(seed);
        let p99 = cut.censored().percentile(99.0);
        assert!(p99.value() > 1_400 * MS, "{seed}: {p99:?}");
        assert!(p99.value() < 2_000 * MS, "{seed}: {p99:?}");
    }
}

#[test]
fn the_interval_of_a_slow_tail_holds_the_truth() {
    let covered = (0..100).filter(|seed| slow_tail(*seed).covers(99.0, 1_500.0 * MS as f64));
    let covered = covered.count();
    assert!(covered >= 90, "{covered} of 100");
}

/// Exponential times with a mean of 300 ms; the end of the run at 5 s cuts some of them off.
#[test]
fn intervals_of_independent_times_that_are_cut_cover_as_promised() {
    for percentile in [50.0, 90.0, 99.0] {
        let truth_ns = -(1.0 - percentile / 100.0_f64).ln() * 300.0 * MS as f64;
        let covers = |seed: &u64| {
            let mut dice = Dice(1_000 + seed);
            let requests = (0..1_000).map(|n| (n * 5 * MS, dice.wait_ns(300.0 * MS as f64)));
            let requests: Vec<_> = requests.collect();
            Cut::of(requests.into_iter(), 5 * SECOND).covers(percentile, truth_ns)
        };
        let covered = (0..100).filter(covers).count();
        assert!(covered >= 90, "p{percentile}: {covered} of 100");
    }
}

/// M/M/1 in equilibrium: the response time is exponential, with the rate at which the server is
/// faster than its load. Half of the capacity of 200/s for 10 s, so that the cut is felt.
#[test]
fn intervals_of_a_queue_that_is_cut_cover_as_promised() {
    for percentile in [50.0, 90.0, 99.0] {
        let truth_ns = -(1.0 - percentile / 100.0_f64).ln() * SECOND as f64 / 100.0;
        let covers = |seed: &u64| queue(2_000 + seed).covers(percentile, truth_ns);
        let covered = (0..100).filter(covers).count();
        assert!(covered >= 90, "p{percentile}: {covered} of 100");
    }
}

/// A queue that has run for a while before what is looked at.
fn queue(seed: u64) -> Cut {
    let mut dice = Dice(seed);
    let (mut due_ns, mut free_ns) = (0, 0);
    let mut requests = Vec::new();
    let before_ns = 20 * SECOND;
    while due_ns < before_ns + 10 * SECOND {
        due_ns += dice.wait_ns(SECOND as f64 / 100.0);
        free_ns = due_ns.max(free_ns) + dice.wait_ns(SECOND as f64 / 200.0);
        if due_ns >= before_ns {
            requests.push((due_ns - before_ns, free_ns - due_ns));
        }
    }
    Cut::of(requests.into_iter(), 10 * SECOND)
}

#[test]
fn without_ages_an_interval_is_that_of_the_ranks() {
    let mut dice = Dice(5);
    let times: Vec<u64> = (0..1_000).map(|_| dice.wait_ns(MS as f64)).collect();
    let requests = times.iter().map(|takes_ns| (0, *takes_ns));
    let cut = Cut::of(requests, 10 * SECOND);
    let found = cut.interval(90.0);
    let ranks = SampleSize::independent(1_000).ranks(0.9, CONFIDENCE);
    let (lower, upper) = (ranks.lower.unwrap(), ranks.upper.unwrap());
    assert!(!found.adjusted);
    assert_eq!(
        found.lower_ns,
        Some(Bounded::Exactly(cut.times.rank_ns(lower).0))
    );
    assert_eq!(
        found.upper_ns,
        Some(Bounded::Exactly(cut.times.rank_ns(upper).1))
    );
    assert!(found.half_width(cut.times.percentile_ns(90.0)).is_some());
}

#[test]
fn what_lies_beyond_all_that_is_known_has_no_width() {
    let stuck = (0..1_000).map(|n| (0, if n < 900 { MS } else { 20 * SECOND }));
    let found = Cut::of(stuck, 10 * SECOND).interval(99.0);
    assert!(
        found.lower_ns.is_some_and(Bounded::is_at_least),
        "{found:?}"
    );
    assert_eq!(found.half_width(9 * SECOND), None);
}
