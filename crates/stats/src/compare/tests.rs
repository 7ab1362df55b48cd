use super::*;
use rand_distr::{Distribution, Exp, LogNormal, Normal};

const CONFIDENCE: f64 = 0.95;
const COMPARISONS: u64 = 1_000;

fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// The p99 of this many runs around `centre`, with a log-normal spread from run to run.
fn runs(random: &mut ChaCha8Rng, centre: f64, spread: f64, count: usize) -> Vec<f64> {
    let law = LogNormal::new(centre.ln(), spread).expect("the spread is finite");
    law.sample_iter(random).take(count).collect()
}

/// A run of seconds with this many exponential times of this mean, in thousandths of it.
fn exponential_run(random: &mut ChaCha8Rng, mean: f64, seconds: usize, each: usize) -> Stretches {
    let law = Exp::new(1.0 / (mean * 1_000.0)).expect("the mean is above zero");
    let mut second = |_| {
        let mut times: Vec<u64> = (0..each).map(|_| law.sample(random) as u64 + 1).collect();
        times.sort_unstable();
        times.into_iter().map(|time| (time, 1)).collect::<Vec<_>>()
    };
    Stretches::of((0..seconds).map(&mut second).collect::<Vec<_>>())
}

/// In how many of this many comparisons a side was found different.
fn decisions(comparisons: u64, compare: impl Fn(u64) -> Ratio, decision: Decision) -> u64 {
    let decisions = |seed: &u64| compare(*seed).decision() == decision;
    (0..comparisons).filter(decisions).count() as u64
}

#[test]
fn a_against_itself_cannot_be_told() {
    for count in [3, 6, 10] {
        let compare = |seed| {
            let mut random = random(seed);
            let base = runs(&mut random, 50.0, 0.05, count);
            let with = runs(&mut random, 50.0, 0.05, count);
            compare_runs(&base, &with, CONFIDENCE, seed).unwrap()
        };
        let cannot = decisions(COMPARISONS, compare, Decision::CannotTell);
        assert!((930..=985).contains(&cannot), "{count} runs: {cannot}");
    }
}

#[test]
fn stretches_of_a_against_itself_cannot_be_told() {
    let law = |seed| {
        let mut random = random(seed);
        let base = exponential_run(&mut random, 1.0, 30, 100);
        let with = exponential_run(&mut random, 1.0, 30, 100);
        (base, with)
    };
    for quantile in [0.5, 0.9, 0.99] {
        let compare = |seed| {
            let (base, with) = law(seed);
            compare_quantiles(&base, &with, quantile, CONFIDENCE, seed).unwrap()
        };
        let cannot = decisions(200, compare, Decision::CannotTell);
        assert!((186..=199).contains(&cannot), "{quantile}: {cannot}");
    }
}

#[test]
fn five_percent_slower_is_told_with_enough_repeats() {
    let slower = |count| {
        let compare = |seed| {
            let mut random = random(seed);
            let base = runs(&mut random, 50.0, 0.05, count);
            let with = runs(&mut random, 52.5, 0.05, count);
            compare_runs(&base, &with, CONFIDENCE, seed).unwrap()
        };
        decisions(200, compare, Decision::Larger)
    };
    let (few, many) = (slower(4), slower(30));
    assert!(few < 100, "{few}");
    assert!(many >= 185, "{many}");
}

#[test]
fn the_runs_that_would_tell_do_tell() {
    let mut decisions = 0;
    for seed in 0..100 {
        let mut random = random(seed);
        let first = |random: &mut ChaCha8Rng, centre| runs(random, centre, 0.05, 8);
        let (base, with) = (first(&mut random, 50.0), first(&mut random, 52.5));
        let Some(more) = compare_runs(&base, &with, CONFIDENCE, seed)
            .unwrap()
            .more_runs(8)
        else {
            continue;
        };
        let extended = |mut side: Vec<f64>, random: &mut ChaCha8Rng, centre| {
            side.extend(runs(random, centre, 0.05, more as usize));
            side
        };
        let base = extended(base, &mut random, 50.0);
        let with = extended(with, &mut random, 52.5);
        decisions += u32::from(
            compare_runs(&base, &with, CONFIDENCE, seed)
                .unwrap()
                .decision()
                == Decision::Larger,
        );
    }
    assert!(decisions >= 60, "{decisions}");
}

#[test]
fn the_interval_holds_the_true_ratio() {
    for (count_of_base, count_of_with) in [(4, 6), (6, 6), (6, 12), (12, 12)] {
        let holds = |seed: &u64| {
            let mut random = random(*seed);
            let base = runs(&mut random, 50.0, 0.1, count_of_base);
            let with = runs(&mut random, 80.0, 0.05, count_of_with);
            let found = compare_runs(&base, &with, CONFIDENCE, *seed).unwrap();
            found.lower <= 1.6 && 1.6 <= found.upper
        };
        let held = (0..2 * COMPARISONS).filter(holds).count();
        let share = held as f64 / (2 * COMPARISONS) as f64;
        assert!((0.93..=0.97).contains(&share), "{count_of_base} {share}");
    }
}

#[test]
fn means_of_seconds_are_compared() {
    let series = |seed, mean: f64| -> Vec<f64> {
        let law = Normal::new(mean, 30.0).expect("the spread is finite");
        law.sample_iter(random(seed)).take(60).collect()
    };
    let slower = compare_means(&series(1, 1_000.0), &series(2, 950.0), CONFIDENCE, 7).unwrap();
    assert_eq!(slower.decision(), Decision::Smaller);
    assert!((slower.ratio - 0.95).abs() < 0.01, "{slower:?}");
    let same = compare_means(&series(3, 1_000.0), &series(4, 1_000.0), CONFIDENCE, 7).unwrap();
    assert_eq!(same.decision(), Decision::CannotTell);
    assert_eq!(
        compare_means(&[0.0; 9], &series(2, 1.0), CONFIDENCE, 7),
        None
    );
}

#[test]
fn the_same_seed_gives_the_same_interval() {
    let (base, with) = ([1.0, 1.2, 1.1, 0.9], [1.3, 1.1, 1.2, 1.25]);
    let once = compare_runs(&base, &with, CONFIDENCE, 5).unwrap();
    assert_eq!(compare_runs(&base, &with, CONFIDENCE, 5), Some(once));
    assert!(
        (once.ratio
            - compare_runs(&with, &base, CONFIDENCE, 5)
                .unwrap()
                .ratio
                .recip())
        .abs()
            < 1e-12
    );
}

#[test]
fn what_is_known_to_a_thousandth_differs_by_more() {
    let close = compare_runs(&[1_000.0; 6], &[1_000.9; 6], CONFIDENCE, 1).unwrap();
    assert_eq!(close.decision(), Decision::Larger);
    assert_eq!(close.widened(0.001).decision(), Decision::CannotTell);
    let apart = compare_runs(&[1_000.0; 6], &[1_010.0; 6], CONFIDENCE, 1).unwrap();
    assert_eq!(apart.widened(0.001).decision(), Decision::Larger);
}

#[test]
fn equal_sides_need_more_runs_than_anyone_makes() {
    let equal = compare_runs(&[1.0, 1.1, 0.9], &[1.0, 1.1, 0.9], CONFIDENCE, 1).unwrap();
    assert_eq!(equal.ratio, 1.0);
    assert_eq!(equal.more_runs(3), None);
    let decisions = compare_runs(&[1.0, 1.01, 0.99], &[2.0, 2.01, 1.99], CONFIDENCE, 1).unwrap();
    assert_eq!(decisions.more_runs(3), Some(0));
}

#[test]
fn of_several_comparisons_each_is_surer() {
    assert_eq!(confidence_of_each(1, 0.95), 0.95);
    assert!((confidence_of_each(5, 0.95) - 0.99).abs() < 1e-12);
    let (base, with) = ([1.0, 1.2, 1.1, 0.9], [1.3, 1.1, 1.2, 1.25]);
    let one = compare_runs(&base, &with, 0.95, 5).unwrap();
    let each = compare_runs(&base, &with, 0.99, 5).unwrap();
    assert!(each.lower < one.lower && one.upper < each.upper);
}

#[test]
fn too_little_is_no_comparison() {
    assert_eq!(compare_runs(&[1.0], &[1.0, 2.0], CONFIDENCE, 1), None);
    assert_eq!(compare_runs(&[1.0, 0.0], &[1.0, 2.0], CONFIDENCE, 1), None);
    let one = Stretches::of([vec![(5, 3)], vec![]]);
    assert_eq!((one.len(), one.is_empty()), (1, false));
    assert_eq!(compare_quantiles(&one, &one, 0.5, CONFIDENCE, 1), None);
    let none = Stretches::of([]);
    assert_eq!(compare_quantiles(&none, &one, 0.5, CONFIDENCE, 1), None);
}

#[test]
fn a_quantile_is_that_of_the_nearest_rank_of_all_stretches() {
    let seconds = (0..90).map(|second| vec![(second * 10 + 1, 1), (second * 10 + 6, 1)]);
    let stretches = Stretches::of(seconds);
    assert_eq!(stretches.len(), 30);
    for (quantile, value) in [(0.5, 446), (0.9, 806), (1.0, 896)] {
        let found = Quantile::of(&stretches, quantile).unwrap();
        assert_eq!(found.value(&[1; 30]), value, "{quantile}");
    }
}

/// Computed once in Python from `d = log(with / base)`: `exp(mean(d) ± 2.7764451 * sem(d))`, the
/// 97.5 % quantile of Student's t with four degrees of freedom being scipy's.
#[test]
fn pairs_have_students_interval() {
    let base = [10.0, 12.0, 11.0, 9.0, 10.5];
    let with = [10.6, 12.3, 11.9, 9.5, 11.0];
    let found = compare_pairs(&base, &with, CONFIDENCE).unwrap();
    let expected = [1.05383761942902, 1.0285692467349807, 1.0797267482468027];
    for (found, expected) in [found.ratio, found.lower, found.upper].iter().zip(expected) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
}

#[test]
fn what_drifts_is_not_in_the_ratio_of_pairs() {
    let drift = |pair: usize| 50.0 * 1.2f64.powi(pair as i32);
    let mut random = random(3);
    let noisy = |random: &mut ChaCha8Rng, centre| runs(random, centre, 0.01, 1)[0];
    let base: Vec<f64> = (0..8).map(|p| noisy(&mut random, drift(p))).collect();
    let with: Vec<f64> = (0..8)
        .map(|p| noisy(&mut random, 1.05 * drift(p)))
        .collect();
    let pairs = compare_pairs(&base, &with, CONFIDENCE).unwrap();
    assert_eq!(pairs.decision(), Decision::Larger, "{pairs:?}");
    let sets = compare_runs(&base, &with, CONFIDENCE, 1).unwrap();
    assert_eq!(sets.decision(), Decision::CannotTell, "{sets:?}");
}

#[test]
fn pairs_of_a_with_itself_cannot_be_told() {
    for count in [2, 5, 10] {
        let compare = |seed| {
            let mut random = random(seed);
            let base = runs(&mut random, 50.0, 0.1, count);
            let with = runs(&mut random, 50.0, 0.1, count);
            compare_pairs(&base, &with, CONFIDENCE).unwrap()
        };
        let cannot = decisions(2 * COMPARISONS, compare, Decision::CannotTell);
        assert!((1_860..=1_940).contains(&cannot), "{count}: {cannot}");
    }
}

#[test]
fn what_makes_no_pairs_is_not_compared() {
    assert_eq!(compare_pairs(&[1.0], &[1.0], CONFIDENCE), None);
    assert_eq!(compare_pairs(&[1.0, 2.0], &[1.0], CONFIDENCE), None);
    assert_eq!(compare_pairs(&[1.0, 0.0], &[1.0, 2.0], CONFIDENCE), None);
}

#[test]
fn an_interval_at_a_higher_confidence_is_wider_on_both_sides() {
    let ratio = Ratio {
        ratio: 1.1,
        lower: 1.05,
        upper: 1.2,
        confidence: 0.95,
    };
    let same = ratio.at_confidence(0.95);
    assert!((same.lower - 1.05).abs() < 1e-9 && (same.upper - 1.2).abs() < 1e-9);
    let wider = ratio.at_confidence(0.999);
    assert!(wider.lower < 1.03 && wider.upper > 1.23, "{wider:?}");
    assert_eq!((wider.ratio, wider.confidence), (1.1, 0.999));
}
