//! Quantities as numbers with a unit, as JSON and CSV have them.

use loadline_json::{Number, Unit};
use loadline_units::rounding;
use loadline_verdict::Quantity;

/// Returns the number, and the unit it is in.
pub(crate) fn measured(quantity: Quantity) -> (Number, Unit) {
    match quantity {
        Quantity::TimeNs(ns) => (Number::Measured(rounding::us(ns)), Unit::Us),
        Quantity::Share(share) => (Number::Measured(share), Unit::Share),
        Quantity::Count(count) => (Number::Count(count), Unit::Count),
        Quantity::PerSecond(rate) => (Number::Measured(rate), Unit::PerSecond),
        Quantity::Number(number) => (Number::Measured(number), Unit::Number),
    }
}
