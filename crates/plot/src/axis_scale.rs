//! The positions of numbers on an axis, and its ticks.
//!
//! Ticks are at 1, 2 or 5 times a power of ten; a log axis of more than three decades has ticks at
//! the powers only. If an axis takes its ends from its data, both ends are ticks.

use crate::unit::size;
use loadline_page::{Axis, Scale};
use loadline_units::grouped;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// The approximate number of steps of a linear axis.
const STEPS: f64 = 6.0;
/// The most decades of a log axis with ticks between the powers of ten.
const MANY_DECADES: i32 = 3;
/// The most nines of a percentile axis: closer to 100 a double cannot distinguish percentiles.
const MOST_NINES: f64 = 9.0;
/// The tolerance at the ends of an axis, as a share of its length: a number as far beyond an end is
/// drawn at the end.
const ROUNDING: f64 = 1e-9;

/// The positions of numbers on an axis, and its ticks. All numbers are in the unit that is shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AxisScale {
    scale: Scale,
    low: f64,
    high: f64,
    ticks: Vec<f64>,
}

impl AxisScale {
    /// Creates the scale of this axis for these numbers.
    pub(crate) fn new(axis: &Axis, numbers: impl Iterator<Item = f64>) -> AxisScale {
        let usable = |number: &f64| number.is_finite() && is_on(axis.scale, *number);
        let ends = numbers
            .filter(usable)
            .fold(None, |ends: Option<(f64, f64)>, number| {
                let (low, high) = ends.unwrap_or((number, number));
                Some((low.min(number), high.max(number)))
            });
        let size = size(axis.unit);
        let given = axis.ends.map(|(low, high)| (low / size, high / size));
        let given = given.filter(|(low, high)| usable(low) && usable(high) && low < high);
        let ends = given.or(ends);
        let (low, high, ticks) = match axis.scale {
            Scale::Linear => linear(ends.unwrap_or((0.0, 1.0)), axis.is_whole),
            Scale::Log => log(ends.unwrap_or((1.0, 10.0))),
            Scale::Percentile => percentile(ends.map_or(90.0, |(_, high)| high)),
        };
        let (low, high) = given.unwrap_or((low, high));
        let ticks = within(ticks, low, high);
        AxisScale {
            scale: axis.scale,
            low,
            high,
            ticks,
        }
    }

    /// Returns the position of the number, from 0 at the lower end to 1 at the upper; `None` if it
    /// is not on the axis.
    pub(crate) fn place(&self, number: f64) -> Option<f64> {
        if !number.is_finite() || !is_on(self.scale, number) {
            return None;
        }
        let at = |number| position(self.scale, number);
        let (low, high) = (at(self.low), at(self.high));
        let place = (at(number) - low) / (high - low);
        (-ROUNDING..=1.0 + ROUNDING)
            .contains(&place)
            .then_some(place)
    }
}

/// True if a scale has a position for this number.
fn is_on(scale: Scale, number: f64) -> bool {
    match scale {
        Scale::Linear => true,
        Scale::Log => number > 0.0,
        Scale::Percentile => (0.0..100.0).contains(&number),
    }
}

fn position(scale: Scale, number: f64) -> f64 {
    match scale {
        Scale::Linear => number,
        Scale::Log => number.log10(),
        Scale::Percentile => nines(number),
    }
}

/// Returns the number of nines of a percentile: 1 for 90, 3 for 99.9.
fn nines(percentile: f64) -> f64 {
    (2.0 - (100.0 - percentile).log10()).min(MOST_NINES)
}

fn linear((low, high): (f64, f64), is_whole: bool) -> (f64, f64, Vec<f64>) {
    let low = low.min(0.0);
    let high = if high > low {
        high
    } else {
        low + low.abs().max(1.0)
    };
    let least = if is_whole { 1.0 } else { 0.0 };
    let step = round_up((high - low) / STEPS).max(least);
    let first = (low / step).floor() as i64;
    let last = (high / step - ROUNDING).ceil() as i64;
    let ticks = (first..=last).map(|n| n as f64 * step).collect();
    (first as f64 * step, last as f64 * step, ticks)
}

fn log((low, high): (f64, f64)) -> (f64, f64, Vec<f64>) {
    let first = low.log10().floor() as i32;
    let last = (high.log10().ceil() as i32).max(first + 1);
    let many = last - first > MANY_DECADES;
    let factors: &[f64] = if many { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let decade = |exponent| {
        factors
            .iter()
            .map(move |factor| factor * 10_f64.powi(exponent))
    };
    let ticks: Vec<f64> = (first..=last).flat_map(decade).collect();
    let is_below = |tick: &f64| *tick <= low * (1.0 + ROUNDING);
    let below = ticks.iter().copied().rfind(is_below);
    let is_above = |tick: &f64| *tick >= high * (1.0 - ROUNDING) && Some(*tick) > below;
    let above = ticks.iter().copied().find(is_above);
    (below.unwrap_or(low), above.unwrap_or(high), ticks)
}

fn percentile(high: f64) -> (f64, f64, Vec<f64>) {
    let last = nines(high).ceil().max(1.0) as i32;
    let mut ticks = vec![0.0, 50.0];
    ticks.extend((1..=last).map(|nines| 100.0 - 10_f64.powi(2 - nines)));
    (0.0, 100.0 - 10_f64.powi(2 - last), ticks)
}

fn within(mut ticks: Vec<f64>, low: f64, high: f64) -> Vec<f64> {
    let slack = (high - low) * ROUNDING;
    ticks.retain(|tick| (low - slack..=high + slack).contains(tick));
    ticks
}

/// Rounds up to 1, 2 or 5 times a power of ten.
fn round_up(number: f64) -> f64 {
    let power = 10_f64.powf(number.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let fits = |factor: &f64| factor * power >= number * (1.0 - ROUNDING);
    factors.into_iter().find(fits).unwrap_or(10.0) * power
}

/// Formats a tick: `0`, `0.25`, `20 000`.
fn label(number: f64) -> String {
    // Ten significant digits hide the rounding errors of added steps.
    let rounded: f64 = format!("{number:.9e}").parse().unwrap_or(number);
    let text = rounded.abs().to_string();
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let sign = if rounded < 0.0 { "−" } else { "" };
    let point = if decimals.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{decimals}", grouped(whole))
}

impl Ranged for AxisScale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, number: &f64, (first, last): (i32, i32)) -> i32 {
        let place = self.place(*number).unwrap_or(0.0);
        first + (place * f64::from(last - first)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for AxisScale {
    fn format_ext(&self, number: &f64) -> String {
        label(*number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_page::Unit;
    use proptest::prelude::*;

    fn axis(scale: Scale) -> Axis {
        Axis::new("", Unit::Count, scale)
    }

    fn scale_of(axis: Axis, numbers: &[f64]) -> AxisScale {
        AxisScale::new(&axis, numbers.iter().copied())
    }

    fn labels(scale: &AxisScale) -> Vec<String> {
        scale.ticks.iter().map(|tick| label(*tick)).collect()
    }

    #[test]
    fn a_linear_axis_starts_at_zero_and_ends_on_a_tick() {
        let found = scale_of(axis(Scale::Linear), &[130.0, 98_000.0]);
        let expected = ["0", "20 000", "40 000", "60 000", "80 000", "100 000"];
        assert_eq!(labels(&found), expected);
        assert_eq!(found.range(), 0.0..100_000.0);
        assert_eq!(found.place(50_000.0), Some(0.5));
    }

    #[test]
    fn steps_below_one_have_no_rounding_in_their_labels() {
        let found = scale_of(axis(Scale::Linear), &[0.0, 0.3]);
        let expected = ["0", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3"];
        assert_eq!(labels(&found), expected);
    }

    #[test]
    fn negative_numbers_widen_the_axis() {
        assert_eq!(
            scale_of(axis(Scale::Linear), &[-3.0, 5.0]).range(),
            -4.0..6.0
        );
        assert_eq!(
            labels(&scale_of(axis(Scale::Linear), &[-3.0, 5.0]))[0],
            "−4"
        );
    }

    #[test]
    fn a_log_axis_has_round_ends() {
        let found = scale_of(axis(Scale::Log), &[0.13, 42.0]);
        assert_eq!(found.range(), 0.1..50.0);
        let wide = scale_of(axis(Scale::Log), &[0.013, 4_200.0]);
        assert_eq!(
            labels(&wide),
            ["0.01", "0.1", "1", "10", "100", "1 000", "10 000"]
        );
        assert_eq!(wide.place(0.0), None);
    }

    #[test]
    fn each_nine_takes_the_same_room() {
        let found = scale_of(axis(Scale::Percentile), &[50.0, 99.95]);
        assert_eq!(labels(&found), ["0", "50", "90", "99", "99.9", "99.99"]);
        for (percentile, place) in [(0.0, 0.0), (90.0, 0.25), (99.0, 0.5), (99.99, 1.0)] {
            let found = found.place(percentile).unwrap();
            assert!((found - place).abs() < 1e-9, "{percentile}: {found}");
        }
        assert_eq!(found.place(100.0), None);
    }

    #[test]
    fn ends_that_were_asked_for_are_kept() {
        let axis = axis(Scale::Linear).between(10.0, 35.0);
        let found = scale_of(axis, &[0.0, 100.0]);
        assert_eq!(found.range(), 10.0..35.0);
        assert_eq!((found.place(9.0), found.place(36.0)), (None, None));
    }

    #[test]
    fn numbers_are_shown_in_one_unit_and_whole_things_in_whole_steps() {
        let us = Axis::linear("", Unit::Us).between(0.0, 3_000.0);
        assert_eq!(scale_of(us, &[]).range(), 0.0..3.0);
        let users = Axis {
            is_whole: true,
            ..axis(Scale::Linear)
        };
        assert_eq!(labels(&scale_of(users, &[1.0, 2.0])), ["0", "1", "2"]);
    }

    #[test]
    fn without_a_number_there_is_an_axis_all_the_same() {
        for axis in [
            axis(Scale::Linear),
            axis(Scale::Log),
            axis(Scale::Percentile),
        ] {
            let found = scale_of(axis, &[f64::NAN, f64::INFINITY]);
            assert!(found.low < found.high && found.ticks.len() > 1, "{found:?}");
        }
    }

    proptest! {
        #[test]
        fn every_number_is_on_its_axis(
            numbers in prop::collection::vec(1e-9..1e15_f64, 1..20),
            log in any::<bool>(),
        ) {
            let axis = if log { axis(Scale::Log) } else { axis(Scale::Linear) };
            let found = scale_of(axis, &numbers);
            for number in numbers {
                prop_assert!(found.place(number).is_some(), "{} on {:?}", number, found);
            }
            prop_assert!((2..=12).contains(&found.ticks.len()) || log, "{:?}", found.ticks);
        }
    }
}
