//! What is known of a trend's values, merged, stored and read.

use super::*;
use proptest::prelude::*;

fn trend(values: impl IntoIterator<Item = f64>) -> Trend {
    let mut trend = Trend::default();
    values.into_iter().for_each(|value| trend.add(value));
    trend
}

#[test]
fn nothing_has_no_figures() {
    let nothing = Trend::default();
    assert_eq!((nothing.mean(), nothing.percentile(50.0)), (None, None));
    assert_eq!((nothing.min(), nothing.max()), (None, None));
    assert_eq!((nothing.beyond(-1.0), nothing.steps()), (0, Vec::new()));
    assert_eq!(nothing.interpolated(&[0.5]), [0.0]);
}

#[test]
fn interpolated_percentiles_lie_between_the_two_values_around_their_rank() {
    let some = trend([4.0, 1.0, 3.0, 2.0]);
    let shares = [0.0, 0.5, 0.9, 1.0];
    assert_eq!(some.interpolated(&shares), [1.0, 2.5, 3.7, 4.0]);
}

#[test]
fn many_values_are_known_to_a_thousandth() {
    let many = trend((1..=50_000).map(|n| f64::from(n) / 7.0 - 100.0));
    assert!(!many.is_exact() && many.count() == 50_000);
    for share in [0.0, 0.001, 0.01, 0.5, 0.9, 0.999, 1.0] {
        let exact = (1.0 + share * 49_999.0) / 7.0 - 100.0;
        let found = many.interpolated(&[share])[0];
        let error = (found - exact).abs();
        assert!(error <= exact.abs() * 1e-3 + 1e-9, "{found} {exact}");
    }
}

#[test]
fn steps_have_every_value_with_its_count_rising() {
    let steps = trend([3.0, 0.5, -2.0, 0.5]).steps();
    assert_eq!(steps, [(-2.0, 1), (0.5, 2), (3.0, 1)]);
    let many = trend((0..20_000).map(|n| f64::from(n % 4) - 1.0)).steps();
    let counts: Vec<u64> = many.iter().map(|(_, count)| *count).collect();
    assert_eq!(counts, [5_000; 4]);
    for ((value, _), exact) in many.iter().zip([-1.0, 0.0, 1.0, 2.0]) {
        assert!((value - exact).abs() <= 1e-3, "{value} {exact}");
    }
}

#[test]
fn numbers_below_zero_stand_before_those_above() {
    let some = trend([-100.0, -1.0, 0.0, 3.0]);
    let of = |percentile| some.percentile(percentile).unwrap();
    let found = [25.0, 50.0, 75.0, 100.0].map(of);
    assert_eq!(found, [-100.0, -1.0, 0.0, 3.0]);
    let beyond = [-200.0, -50.0, -0.5, 0.0, 2.0, 4.0].map(|value| some.beyond(value));
    assert_eq!(beyond, [4, 3, 2, 1, 1, 0]);
}

#[test]
fn a_trend_comes_back_from_another_process_as_it_was() {
    let few = [f64::INFINITY, -0.0, 1.0 / 3.0];
    for own in [trend(few), trend((0..20_000).map(|n| f64::from(n) - 99.5))] {
        let sent = postcard::to_stdvec(&own).unwrap();
        assert_eq!(postcard::from_bytes::<Trend>(&sent).unwrap(), own);
    }
}

#[test]
fn values_that_are_no_finite_numbers_are_left_out_of_reports() {
    let values = [(1.0, 2), (f64::NAN, 1), (f64::INFINITY, 3), (4.0, 0)];
    let some = Trend::of_values(values);
    assert_eq!((some.count(), some.max(), some.sum()), (2, Some(1.0), 2.0));
    let many = Trend::of_values([(1.0, 100_000), (2.0, 1)]);
    assert_eq!((many.count(), many.sum()), (100_001, 100_002.0));
}

#[test]
fn a_trend_of_an_earlier_version_is_known_to_a_hundredth() {
    let bucket = |magnitude: f64| (magnitude.to_bits() >> 45) as u32;
    let counts = |value| SparseCounts::from_counts([(bucket(value), 3)].into_iter());
    let (positive, negative) = (counts(100.0), counts(2.0));
    let mut sum = ExactSum::default();
    [100.0, 100.0, 100.0, -2.0, -2.0, -2.0]
        .iter()
        .for_each(|value| sum.add(*value));
    let read = Trend::of_coarse(sum, (-2.0, 100.0), positive.bytes(), negative.bytes());
    let read = read.unwrap();
    assert_eq!(
        (read.count(), read.min(), read.max()),
        (6, Some(-2.0), Some(100.0))
    );
    assert_eq!(read.exact_sum().value(), 294.0);
    let (low, high) = (
        read.percentile(50.0).unwrap(),
        read.percentile(90.0).unwrap(),
    );
    assert!(
        (low + 2.0).abs() < 0.02 && (high - 100.0).abs() < 1.0,
        "{low} {high}"
    );
    assert!(Trend::of_coarse(sum, (0.0, f64::NAN), positive.bytes(), &[]).is_none());
}

proptest! {
    #[test]
    fn percentiles_of_few_values_are_exact(
        mut values in prop::collection::vec(-1e12..1e12_f64, 1..100),
        percentile in 0.0..=100.0_f64,
    ) {
        let found = trend(values.clone()).percentile(percentile).unwrap();
        values.sort_by(f64::total_cmp);
        let rank = ((percentile * values.len() as f64 / 100.0) * (1.0 - 1e-13)).ceil();
        prop_assert_eq!(found, values[(rank.max(1.0) as usize) - 1]);
    }

    #[test]
    fn a_file_brings_it_back(values in prop::collection::vec(-1e12..1e12_f64, 0..50)) {
        let trend = trend(values);
        let exact = Trend::from_parts(&trend.parts(true));
        prop_assert_eq!(exact, Some(trend.clone()));
        let folded = Trend::from_parts(&trend.parts(false)).unwrap();
        prop_assert_eq!(folded.count(), trend.count());
        prop_assert_eq!(folded.exact_sum(), trend.exact_sum());
        prop_assert_eq!((folded.min(), folded.max()), (trend.min(), trend.max()));
    }

    #[test]
    fn merging_loses_nothing_in_any_order(count in 0..30_000_u32, parts in 1..5_u32) {
        let of = |part: u32| (0..count).filter(move |n| n % parts == part).map(f64::from);
        let all = trend((0..count).map(f64::from));
        let mut merged = Trend::default();
        (0..parts).rev().for_each(|part| merged.merge(&trend(of(part))));
        prop_assert_eq!(&merged, &all);
        prop_assert_eq!(merged.count(), all.count());
        prop_assert_eq!(merged.percentile(99.0), all.percentile(99.0));
    }

    #[test]
    fn what_is_folded_in_a_file_is_what_would_be_folded_later(
        first in prop::collection::vec(-1e3..1e3_f64, 0..40),
        more in 8_200..9_000_u32,
    ) {
        let (first, rest) = (trend(first), trend((0..more).map(f64::from)));
        let mut live = first.clone();
        live.merge(&rest);
        let mut read = Trend::from_parts(&first.parts(true)).unwrap();
        read.merge(&Trend::from_parts(&rest.parts(false)).unwrap());
        prop_assert_eq!(live, read);
    }
}
