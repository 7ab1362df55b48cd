//! A sum that does not depend on the order of its summands.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A sum in fixed point: its smallest step is 2⁻⁴⁰, about 10⁻¹², and it saturates above 10²⁶. A sum
/// of floats would depend on the order in which workers are merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExactSum(i128);

/// The number of steps in 1.
const STEPS: f64 = (1u64 << 40) as f64;

impl ExactSum {
    /// Adds a number.
    pub fn add(&mut self, value: f64) {
        self.add_often(value, 1);
    }

    /// Adds a number so many times.
    pub fn add_often(&mut self, value: f64, count: u64) {
        let steps = rounded(value * STEPS).saturating_mul(i128::from(count));
        self.0 = self.0.saturating_add(steps);
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: ExactSum) {
        self.0 = self.0.saturating_add(other.0);
    }

    /// Returns the sum as a number.
    pub fn value(self) -> f64 {
        self.0 as f64 / STEPS
    }

    /// Returns the sum in steps, for files.
    pub fn steps(self) -> i128 {
        self.0
    }

    /// Creates a sum of this many steps.
    pub fn of_steps(steps: i128) -> ExactSum {
        ExactSum(steps)
    }
}

/// Rounds to the nearest integer, half away from zero, and saturates.
fn rounded(value: f64) -> i128 {
    // What an `i64` holds needs no call of a library.
    if value.abs() < i64::MAX as f64 {
        let whole = value as i64;
        let rest = value - whole as f64;
        return i128::from(whole) + i128::from(rest >= 0.5) - i128::from(rest <= -0.5);
    }
    value.round() as i128
}

/// A sum is the text of its steps: it has more digits than a reader of JSON preserves.
impl Serialize for ExactSum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ExactSum {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(ExactSum).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tenths_add_up() {
        let mut sum = ExactSum::default();
        (0..1_000_000).for_each(|_| sum.add(0.1));
        assert!((sum.value() - 100_000.0).abs() < 1e-6, "{}", sum.value());
        sum.add(f64::MAX);
        sum.add(f64::MAX);
        assert!(sum.value() > 1e26);
    }

    proptest! {
        #[test]
        fn rounding_is_that_of_floats(value in prop::num::f64::ANY, halves in any::<i32>()) {
            prop_assert_eq!(rounded(value), value.round() as i128);
            let half = f64::from(halves) / 2.0;
            prop_assert_eq!(rounded(half), half.round() as i128);
        }

        #[test]
        fn the_order_does_not_count(mut values in prop::collection::vec(-1e9..1e9_f64, 0..50)) {
            let sum = |values: &[f64]| {
                let mut sum = ExactSum::default();
                values.iter().for_each(|value| sum.add(*value));
                sum
            };
            let forwards = sum(&values);
            values.reverse();
            prop_assert_eq!(forwards, sum(&values));
            prop_assert_eq!(ExactSum::of_steps(forwards.steps()), forwards);
            let plain: f64 = values.iter().sum();
            prop_assert!((forwards.value() - plain).abs() < 1e-4);
        }
    }
}
