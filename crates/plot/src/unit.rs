//! The unit that the numbers of an axis have in a file, and the label of the axis.

use loadline_page::{Axis, Scale, Unit};

/// Returns the size of the displayed unit, in the axis's base unit.
pub(crate) fn size(unit: Unit) -> f64 {
    match unit {
        Unit::Text | Unit::Count | Unit::PerSecond | Unit::Percent | Unit::Seconds => 1.0,
        Unit::Us | Unit::BytesPerSecond => 1e3,
        Unit::Bytes => 1e6,
    }
}

/// Returns the name of the displayed unit; empty for plain counts.
fn name(unit: Unit) -> &'static str {
    match unit {
        Unit::Text | Unit::Count => "",
        Unit::PerSecond => "1/s",
        Unit::Percent => "%",
        Unit::Bytes => "MB",
        Unit::BytesPerSecond => "kB/s",
        Unit::Us => "ms",
        Unit::Seconds => "s",
    }
}

/// Returns the label of the axis: its title, and its unit in brackets unless the title contains it.
pub(crate) fn words(axis: &Axis) -> String {
    let unit = name(axis.unit);
    let is_named = match axis.unit {
        Unit::PerSecond => axis.title.ends_with("/s"),
        Unit::Percent => axis.title.contains('%') && axis.scale != Scale::Percentile,
        Unit::Text
        | Unit::Count
        | Unit::Bytes
        | Unit::BytesPerSecond
        | Unit::Us
        | Unit::Seconds => unit.is_empty(),
    };
    match is_named {
        true => axis.title.clone(),
        false => format!("{} ({unit})", axis.title),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_said_once() {
        let words = |title, unit| words(&Axis::linear(title, unit));
        assert_eq!(words("response time", Unit::Us), "response time (ms)");
        assert_eq!(words("requests/s", Unit::PerSecond), "requests/s");
        assert_eq!(
            words("rate asked for", Unit::PerSecond),
            "rate asked for (1/s)"
        );
        assert_eq!(
            words("CPU (100 % is one core)", Unit::Percent),
            "CPU (100 % is one core)"
        );
        assert_eq!(words("CPU", Unit::Percent), "CPU (%)");
        assert_eq!(words("users", Unit::Count), "users");
    }
}
