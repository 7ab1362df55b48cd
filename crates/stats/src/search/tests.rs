use super::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

const GOAL: Goal = Goal {
    exceed_ratio: 0.5,
    full_s: 1.0,
    required_s: 61.0,
    width: 0.01,
};

fn range(lowest: f64, highest: f64, first: f64) -> Range {
    Range {
        lowest,
        highest,
        first,
        whole: false,
        short_s: 1.0,
        budget_s: 5_000.0,
    }
}

/// Runs a search against servers of known capacity, one for each goal, whose capacity in a trial is
/// off by a normal share.
fn searched(range: Range, goals: &[Goal], capacities: &[f64], noise: f64, seed: u64) -> Search {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut search = Search::new(range, goals.to_vec());
    while let Step::Measure(trial) = search.next() {
        assert!((range.lowest..=range.highest).contains(&trial.rate));
        let mut holds = |capacity: &f64| {
            let off: f64 = StandardNormal.sample(&mut random);
            trial.rate <= capacity * (1.0 + noise * off)
        };
        let good: Vec<bool> = capacities.iter().map(&mut holds).collect();
        search.record(trial, &good);
    }
    search
}

#[test]
fn a_server_without_noise_is_found_exactly() {
    for capacity in [3.0, 57.0, 1_000.0, 11_850.0, 99_999.0] {
        let goal = Goal {
            required_s: 1.0,
            ..GOAL
        };
        let search = searched(range(1.0, 100_000.0, 100.0), &[goal], &[capacity], 0.0, 1);
        let Finding::Between { lower, upper } = search.finding(0) else {
            panic!("{capacity}: {:?}", search.finding(0));
        };
        assert!(lower <= capacity && capacity < upper, "{capacity}");
        assert!(upper - lower <= (0.01 * upper).max(1.0), "{capacity}");
        assert!(search.spent_s() <= 24.0, "{capacity}: {}", search.spent_s());
    }
}

#[test]
fn a_noisy_server_is_found_within_two_percent() {
    let mut near = 0;
    let mut spent_s = 0.0;
    for seed in 0..100 {
        let capacity = 5_000.0 + 137.0 * seed as f64;
        let search = searched(range(10.0, 1e6, 100.0), &[GOAL], &[capacity], 0.05, seed);
        spent_s += search.spent_s() / 100.0;
        if let Finding::Between { lower, .. } = search.finding(0) {
            near += u32::from((lower / capacity - 1.0).abs() <= 0.02);
        }
    }
    assert!(near >= 95, "{near} of 100, {spent_s:.0} s each");
}

#[test]
fn several_goals_share_their_trials() {
    let strict = Goal {
        exceed_ratio: 0.1,
        ..GOAL
    };
    let capacities = [4_000.0, 9_000.0];
    let both = searched(
        range(10.0, 1e6, 100.0),
        &[strict, GOAL],
        &capacities,
        0.01,
        3,
    );
    for (goal, capacity) in capacities.iter().enumerate() {
        let Finding::Between { lower, upper } = both.finding(goal) else {
            panic!("goal {goal}: {:?}", both.finding(goal));
        };
        assert!(
            (lower / capacity - 1.0).abs() < 0.05,
            "goal {goal}: {lower}"
        );
        assert_eq!(both.class(goal, lower), Class::Lower);
        assert_eq!(both.class(goal, upper), Class::Upper);
    }
    let alone = |goal: usize| {
        let goals = [[strict, GOAL][goal]];
        searched(
            range(10.0, 1e6, 100.0),
            &goals,
            &[capacities[goal]],
            0.01,
            3,
        )
        .spent_s()
    };
    assert!(both.spent_s() < alone(0) + alone(1));
}

#[test]
fn a_range_that_is_all_good_or_all_bad_is_said_so() {
    let good = searched(range(10.0, 1_000.0, 100.0), &[GOAL], &[5_000.0], 0.05, 1);
    assert_eq!(good.finding(0), Finding::AllGood);
    let bad = searched(range(10.0, 1_000.0, 100.0), &[GOAL], &[2.0], 0.05, 1);
    assert_eq!(bad.finding(0), Finding::NoneGood);
}

#[test]
fn a_search_ends_with_its_budget_and_says_what_it_knows() {
    let short = Range {
        budget_s: 20.0,
        ..range(10.0, 1e6, 100.0)
    };
    let search = searched(short, &[GOAL], &[5_000.0], 0.05, 1);
    assert!(search.spent_s() <= 20.0 && search.next() == Step::Done);
    assert!(matches!(search.finding(0), Finding::Open { .. }));
}

#[test]
fn the_lower_bound_is_relevant_only_below_the_upper_one() {
    let mut search = Search::new(range(1.0, 1_000.0, 1.0), vec![GOAL]);
    let record = |search: &mut Search, rate: f64, good: bool| {
        let seconds = 61.0;
        search.record(Trial { rate, seconds }, &[good]);
    };
    record(&mut search, 100.0, true);
    record(&mut search, 300.0, true);
    record(&mut search, 200.0, false);
    record(&mut search, 400.0, false);
    assert_eq!(search.bounds(0), (Some(100.0), Some(200.0)));
    assert_eq!(search.class(0, 300.0), Class::Lower);
    assert_eq!(search.class(0, 301.0), Class::Undecided);
    let Step::Measure(next) = search.next() else {
        panic!("the bounds are far apart");
    };
    assert_eq!(next.rate, 141.4);
}

#[test]
fn users_are_counted_in_whole_numbers() {
    let goal = Goal {
        required_s: 1.0,
        ..GOAL
    };
    let users = Range {
        whole: true,
        ..range(1.0, 500.0, 3.0)
    };
    let search = searched(users, &[goal], &[85.0], 0.0, 1);
    assert!(search.loads().iter().all(|load| load.rate.fract() == 0.0));
    let found = search.finding(0);
    let exact = Finding::Between {
        lower: 85.0,
        upper: 86.0,
    };
    assert_eq!(found, exact);
}

#[test]
fn low_rates_are_found_as_closely_as_high_ones() {
    for capacity in [0.31, 2.5, 7.5] {
        let search = searched(range(0.1, 1e6, 100.0), &[GOAL], &[capacity], 0.0, 1);
        let Finding::Between { lower, upper } = search.finding(0) else {
            panic!("{capacity}: {:?}", search.finding(0));
        };
        assert!(lower <= capacity && capacity < upper, "{capacity}");
        assert!(upper - lower <= 0.0101 * upper, "{capacity}");
    }
}

#[test]
fn one_bad_trial_far_from_the_capacity_is_made_again() {
    let mut search = Search::new(range(10.0, 1e6, 100.0), vec![GOAL]);
    let mut rates = Vec::new();
    for good in [true, false, true, true, true] {
        let Step::Measure(trial) = search.next() else {
            panic!("nothing is known");
        };
        rates.push(trial.rate);
        search.record(trial, &[good]);
    }
    assert_eq!(rates, [100.0, 300.0, 300.0, 300.0, 900.0]);
}

#[test]
fn a_rate_that_was_refuted_is_an_upper_bound() {
    let goal = Goal {
        required_s: 1.0,
        ..GOAL
    };
    let mut search = searched(range(1.0, 1e5, 100.0), &[goal], &[1_000.0], 0.0, 1);
    let (Some(lower), Some(_)) = search.bounds(0) else {
        panic!("{:?}", search.finding(0));
    };
    search.refute(0, lower);
    assert_eq!(search.class(0, lower), Class::Upper);
    assert_eq!(search.bounds(0).1, Some(lower));
    let Step::Measure(next) = search.next() else {
        panic!("the next lower bound is not close");
    };
    assert!(next.rate < lower, "{next:?}");
}

#[test]
fn what_is_suggested_is_enclosed_first() {
    let mut search = Search::new(range(10.0, 1e6, 1_000.0), vec![GOAL]);
    let seconds = 1.0;
    for (rate, good) in [(1_000.0, true), (3_000.0, false), (3_000.0, false)] {
        search.record(Trial { rate, seconds }, &[good]);
    }
    search.suggest(2_000.0);
    let mut rates = Vec::new();
    for good in [true, false] {
        let Step::Measure(trial) = search.next() else {
            panic!("the ends are far apart");
        };
        rates.push(trial.rate);
        search.record(trial, &[good]);
    }
    assert_eq!(rates, [1_998.0, 2_014.0]);
}
