//! Where a number stands on an axis, and which numbers are written beside it.
//!
//! Ticks are at 1, 2 or 5 times a power of ten; a log axis of more than three decades has them at
//! the powers alone. Both ends of an axis that takes them from its points are ticks themselves.

use crate::{Axis, Scale};
use loadline_units::grouped;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// About how many steps a linear axis has.
const STEPS: f64 = 6.0;
/// Beyond so many decades a log axis has ticks at powers of ten only.
const MANY_DECADES: i32 = 3;
/// The most nines of a percentile axis: closer to 100 a double can't tell percentiles apart.
const MOST_NINES: f64 = 9.0;
/// How far a number may be beyond an end and still be taken for it, as a part of the axis.
const ROUNDING: f64 = 1e-9;

/// An axis with both ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ruler {
    scale: Scale,
    low: f64,
    high: f64,
    ticks: Vec<f64>,
}

impl Ruler {
    /// The ruler of this axis for these numbers.
    pub(crate) fn new(axis: &Axis, numbers: impl Iterator<Item = f64>) -> Ruler {
        let usable = |number: &f64| number.is_finite() && is_on(axis.scale, *number);
        let numbers = numbers.chain(axis.from).chain(axis.to).filter(usable);
        let ends = numbers.fold(None, |ends: Option<(f64, f64)>, number| {
            let (low, high) = ends.unwrap_or((number, number));
            Some((low.min(number), high.max(number)))
        });
        let (low, high, ticks) = match axis.scale {
            Scale::Linear => linear(ends.unwrap_or((0.0, 1.0)), axis),
            Scale::Log => log(ends.unwrap_or((1.0, 10.0)), axis),
            Scale::Percentile => percentile(ends.map_or(90.0, |(_, high)| high), axis),
        };
        Ruler {
            scale: axis.scale,
            low,
            high,
            ticks,
        }
    }

    /// Where the number stands, from 0 at the lower end to 1 at the upper; `None` if it is not on
    /// the axis.
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

/// Whether a scale has a place for this number.
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

/// How many nines a percentile has: 1 for 90, 3 for 99.9.
fn nines(percentile: f64) -> f64 {
    (2.0 - (100.0 - percentile).log10()).min(MOST_NINES)
}

fn linear((low, high): (f64, f64), axis: &Axis) -> (f64, f64, Vec<f64>) {
    let low = if axis.from.is_none() {
        low.min(0.0)
    } else {
        low
    };
    let high = if high > low {
        high
    } else {
        low + low.abs().max(1.0)
    };
    let step = round_up((high - low) / STEPS);
    let first = (low / step).floor() as i64;
    let last = (high / step - ROUNDING).ceil() as i64;
    let ticks: Vec<f64> = (first..=last).map(|n| n as f64 * step).collect();
    let low = axis.from.unwrap_or(first as f64 * step);
    let high = axis.to.filter(|to| *to > low).unwrap_or(last as f64 * step);
    (low, high, within(ticks, low, high))
}

fn log((low, high): (f64, f64), axis: &Axis) -> (f64, f64, Vec<f64>) {
    let first = low.log10().floor() as i32;
    let last = (high.log10().ceil() as i32).max(first + 1);
    let many = last - first > MANY_DECADES;
    let factors: &[f64] = if many { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let ticks: Vec<f64> = (first..=last)
        .flat_map(|exponent| {
            factors
                .iter()
                .map(move |factor| factor * 10_f64.powi(exponent))
        })
        .collect();
    let below = ticks
        .iter()
        .copied()
        .rfind(|tick| *tick <= low * (1.0 + ROUNDING));
    let above = ticks
        .iter()
        .copied()
        .find(|tick| *tick >= high * (1.0 - ROUNDING) && Some(*tick) > below);
    let low = axis
        .from
        .filter(|from| *from > 0.0)
        .or(below)
        .unwrap_or(low);
    let high = axis.to.filter(|to| *to > low).or(above).unwrap_or(high);
    (low, high, within(ticks, low, high))
}

fn percentile(high: f64, axis: &Axis) -> (f64, f64, Vec<f64>) {
    let last = nines(high).ceil().max(1.0) as i32;
    let mut ticks = vec![0.0, 50.0];
    ticks.extend((1..=last).map(|nines| 100.0 - 10_f64.powi(2 - nines)));
    let low = axis.from.unwrap_or(0.0);
    let top = 100.0 - 10_f64.powi(2 - last);
    let high = axis.to.filter(|to| *to > low).unwrap_or(top);
    (low, high, within(ticks, low, high))
}

fn within(mut ticks: Vec<f64>, low: f64, high: f64) -> Vec<f64> {
    let slack = (high - low) * ROUNDING;
    ticks.retain(|tick| (low - slack..=high + slack).contains(tick));
    ticks
}

/// The next number of 1, 2 or 5 times a power of ten.
fn round_up(number: f64) -> f64 {
    let power = 10_f64.powf(number.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let fits = |factor: &f64| factor * power >= number * (1.0 - ROUNDING);
    factors.into_iter().find(fits).unwrap_or(10.0) * power
}

/// A tick as it is written: `0`, `0.25`, `20 000`.
fn label(number: f64) -> String {
    // Ten significant digits hide what adding steps left behind.
    let rounded: f64 = format!("{number:.9e}").parse().unwrap_or(number);
    let text = rounded.abs().to_string();
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let sign = if rounded < 0.0 { "−" } else { "" };
    let point = if decimals.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{decimals}", grouped(whole))
}

impl Ranged for Ruler {
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

impl ValueFormatter<f64> for Ruler {
    fn format_ext(&self, number: &f64) -> String {
        label(*number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ruler(axis: Axis, numbers: &[f64]) -> Ruler {
        Ruler::new(&axis, numbers.iter().copied())
    }

    fn labels(ruler: &Ruler) -> Vec<String> {
        ruler.ticks.iter().map(|tick| label(*tick)).collect()
    }

    #[test]
    fn a_linear_axis_starts_at_zero_and_ends_on_a_tick() {
        let found = ruler(Axis::linear("", ""), &[130.0, 98_000.0]);
        let expected = ["0", "20 000", "40 000", "60 000", "80 000", "100 000"];
        assert_eq!(labels(&found), expected);
        assert_eq!(found.range(), 0.0..100_000.0);
        assert_eq!(found.place(50_000.0), Some(0.5));
    }

    #[test]
    fn steps_below_one_have_no_rounding_in_their_labels() {
        let found = ruler(Axis::linear("", ""), &[0.0, 0.3]);
        let expected = ["0", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3"];
        assert_eq!(labels(&found), expected);
    }

    #[test]
    fn negative_numbers_widen_the_axis() {
        assert_eq!(ruler(Axis::linear("", ""), &[-3.0, 5.0]).range(), -4.0..6.0);
        assert_eq!(labels(&ruler(Axis::linear("", ""), &[-3.0, 5.0]))[0], "−4");
    }

    #[test]
    fn a_log_axis_has_round_ends() {
        let found = ruler(Axis::log("", ""), &[0.13, 42.0]);
        assert_eq!(found.range(), 0.1..50.0);
        let wide = ruler(Axis::log("", ""), &[0.013, 4_200.0]);
        assert_eq!(
            labels(&wide),
            ["0.01", "0.1", "1", "10", "100", "1 000", "10 000"]
        );
        assert_eq!(wide.place(0.0), None);
    }

    #[test]
    fn each_nine_takes_the_same_room() {
        let found = ruler(Axis::percentile(""), &[50.0, 99.95]);
        assert_eq!(labels(&found), ["0", "50", "90", "99", "99.9", "99.99"]);
        for (percentile, place) in [(0.0, 0.0), (90.0, 0.25), (99.0, 0.5), (99.99, 1.0)] {
            let found = found.place(percentile).unwrap();
            assert!((found - place).abs() < 1e-9, "{percentile}: {found}");
        }
        assert_eq!(found.place(100.0), None);
    }

    #[test]
    fn ends_that_were_asked_for_are_kept() {
        let axis = Axis {
            from: Some(10.0),
            to: Some(35.0),
            ..Axis::linear("", "")
        };
        let found = ruler(axis, &[0.0, 100.0]);
        assert_eq!(found.range(), 10.0..35.0);
        assert_eq!((found.place(9.0), found.place(36.0)), (None, None));
    }

    #[test]
    fn without_a_number_there_is_an_axis_all_the_same() {
        for axis in [
            Axis::linear("", ""),
            Axis::log("", ""),
            Axis::percentile(""),
        ] {
            let found = ruler(axis, &[f64::NAN, f64::INFINITY]);
            assert!(found.low < found.high && found.ticks.len() > 1, "{found:?}");
        }
    }

    proptest! {
        #[test]
        fn every_number_is_on_its_axis(
            numbers in prop::collection::vec(1e-9..1e15_f64, 1..20),
            log in any::<bool>(),
        ) {
            let axis = if log { Axis::log("", "") } else { Axis::linear("", "") };
            let found = ruler(axis, &numbers);
            for number in numbers {
                prop_assert!(found.place(number).is_some(), "{} on {:?}", number, found);
            }
            prop_assert!((2..=12).contains(&found.ticks.len()) || log, "{:?}", found.ticks);
        }
    }
}
