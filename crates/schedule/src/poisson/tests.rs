use super::*;
use crate::{Rate, Stage};

const SECOND_NS: u64 = 1_000_000_000;
const SEEDS: [u64; 5] = [0, 1, 2, 42, u64::MAX];

fn at_rate(per_second: u64, seed: u64) -> Poisson {
    Poisson::new(Curve::constant(Rate::each_second(per_second)), seed)
}

/// A climb from zero to 10 000/s in 10 s, and a descent to zero: 100 000 arrivals on average.
fn hill(seed: u64) -> Poisson {
    let stage = |seconds, target| Stage {
        duration_ns: seconds * SECOND_NS,
        target: Rate::each_second(target),
    };
    let stages = [stage(10, 0), stage(10, 10_000), stage(10, 0)];
    Poisson::new(Curve::ramps(Rate::each_second(0), &stages), seed)
}

/// The integral of the hill's rate at an instant, in arrivals.
fn hill_integral(at_ns: u64) -> f64 {
    let seconds = at_ns as f64 / SECOND_NS as f64;
    if seconds < 20.0 {
        500.0 * (seconds - 10.0) * (seconds - 10.0)
    } else {
        100_000.0 - 500.0 * (30.0 - seconds) * (30.0 - seconds)
    }
}

fn instants(poisson: &Poisson) -> impl Iterator<Item = u64> + use<> {
    poisson.walk(Stripe::WHOLE).map(|arrival| arrival.at_ns)
}

fn gaps(points: impl Iterator<Item = f64>) -> Vec<f64> {
    let points: Vec<_> = points.collect();
    points.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// Returns Anderson and Darling's A² of a sample against the exponential distribution with mean 1.
/// For a distribution that is known beforehand, A² exceeds 3.857 with a probability of 1 %
/// (D'Agostino and Stephens, Goodness-of-Fit Techniques, 1986, table 4.2, case 0).
fn anderson_darling(mut sample: Vec<f64>) -> f64 {
    sample.sort_by(f64::total_cmp);
    let n = sample.len();
    let sum: f64 = (0..n)
        .map(|i| {
            // ln u_i and ln (1 - u_(n-1-i)) with u = 1 - exp(-x).
            let below = (-(-sample[i]).exp_m1()).ln();
            let above = -sample[n - 1 - i];
            (2 * i + 1) as f64 * (below + above)
        })
        .sum();
    -(n as f64) - sum / n as f64
}

/// Returns the counts in each of `windows` equal windows of a process that lasts `end_ns`.
fn counts(instants: impl Iterator<Item = u64>, windows: usize, end_ns: u64) -> Vec<f64> {
    let mut counts = vec![0.0; windows];
    for at_ns in instants.take_while(|at_ns| *at_ns < end_ns) {
        counts[(at_ns as u128 * windows as u128 / end_ns as u128) as usize] += 1.0;
    }
    counts
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// Returns variance over mean, which is 1 for Poisson counts.
fn dispersion(counts: &[f64]) -> f64 {
    let mean = mean(counts);
    let squares = counts.iter().map(|count| (count - mean) * (count - mean));
    squares.sum::<f64>() / (counts.len() - 1) as f64 / mean
}

/// These numbers are part of the meaning of a seed: they are the same on every machine and in every
/// release.
#[test]
fn a_seed_stands_for_certain_arrivals() {
    let first = |seed| instants(&at_rate(1_000, seed)).take(5).collect::<Vec<_>>();
    assert_eq!(
        first(1),
        [5_027_315, 5_227_886, 5_580_292, 5_970_351, 8_457_692]
    );
    assert_eq!(
        first(2),
        [369_563, 2_382_630, 2_944_157, 4_509_138, 5_453_574]
    );
}

#[test]
fn the_count_has_the_mean_and_variance_of_its_rate() {
    for seed in SEEDS {
        // 1 000 windows of 10 ms at 10 000/s; each bound is four standard deviations wide.
        let counts = counts(instants(&at_rate(10_000, seed)), 1_000, 10 * SECOND_NS);
        let (mean, dispersion) = (mean(&counts), dispersion(&counts));
        assert!((mean - 100.0).abs() < 4.0 * 0.316, "{seed}: mean {mean}");
        assert!(
            (dispersion - 1.0).abs() < 4.0 * 0.0447,
            "{seed}: dispersion {dispersion}"
        );
    }
}

#[test]
fn gaps_are_exponential() {
    for seed in SEEDS {
        let milliseconds = instants(&at_rate(1_000, seed)).map(|at_ns| at_ns as f64 / 1e6);
        let a_squared = anderson_darling(gaps(milliseconds.take(10_001)));
        assert!(a_squared < 3.857, "{seed}: A² {a_squared}");
    }
}

#[test]
fn the_test_of_gaps_would_notice_a_wrong_rate_and_even_arrivals() {
    let slow = instants(&at_rate(950, 1)).map(|at_ns| at_ns as f64 / 1e6);
    assert!(anderson_darling(gaps(slow.take(10_001))) > 3.857);
    assert!(anderson_darling(vec![1.0; 10_000]) > 1_000.0);
}

#[test]
fn gaps_do_not_depend_on_the_gap_before() {
    for seed in SEEDS {
        let gaps = gaps(
            instants(&at_rate(1_000, seed))
                .map(|at_ns| at_ns as f64 / 1e6)
                .take(10_001),
        );
        let products = gaps
            .windows(2)
            .map(|pair| (pair[0] - 1.0) * (pair[1] - 1.0));
        let correlation = products.sum::<f64>() / gaps.len() as f64;
        assert!(
            correlation.abs() < 0.04,
            "{seed}: correlation {correlation}"
        );
    }
}

#[test]
fn ramps_stretch_the_same_process() {
    for seed in SEEDS {
        let hill = hill(seed);
        let integrals: Vec<_> = instants(&hill).map(hill_integral).collect();
        let total = integrals.len() as f64;
        assert!(
            (total - 100_000.0).abs() < 4.0 * 316.0,
            "{seed}: {total} arrivals"
        );
        let sample = gaps(integrals.into_iter().take(10_001));
        assert!(anderson_darling(sample) < 3.857);
    }
}

#[test]
fn nothing_arrives_without_a_rate() {
    assert_eq!(at_rate(0, 1).walk(Stripe::WHOLE).next(), None);
    assert_eq!(at_rate(0, 1).due_before(u64::MAX), 0);
    let hill = hill(1);
    assert!(instants(&hill).all(|at_ns| (10 * SECOND_NS..30 * SECOND_NS).contains(&at_ns)));
    assert_eq!(hill.due_before(10 * SECOND_NS), 0);
    assert_eq!(hill.due_before(u64::MAX), instants(&hill).count() as u64);
}

#[test]
fn seeds_differ() {
    let first = |seed| instants(&at_rate(1_000, seed)).next();
    assert_ne!(first(1), first(2));
    assert_ne!(first(1), first(1 << 32));
}

/// The distance from a point at 10^10 to the next is exactly the gap, to the last of its bits.
#[test]
fn gaps_stay_as_fine_after_ten_to_the_tenth_arrivals() {
    let mut young = Points::new(7);
    let mut old = Points::new(7);
    let age = 10_000_000_000 << 64;
    old.last = Point(age);
    for index in 0..1_000 {
        assert_eq!(old.ascend_to(index).0 - age, young.ascend_to(index).0);
    }
    let ticks = old.last.in_ticks(1 << 63) - Point(age).in_ticks(1 << 63);
    assert_eq!(ticks, young.last.in_ticks(1 << 63));
}

#[test]
fn points_in_ticks_round_down() {
    let one_and_a_half = Point(3 << 63);
    assert_eq!(one_and_a_half.in_ticks(1), 1);
    assert_eq!(one_and_a_half.in_ticks(1_000), 1_500);
    assert_eq!(Point(u128::MAX).in_ticks(1 << 63), (1 << 127) - 1);
}
