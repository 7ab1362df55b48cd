//! In which unit the numbers of an axis stand in a file, and the words of the axis.

use loadline_page::{Axis, Scale, Unit};

/// How many of the axis's base unit make one of the unit that is shown.
pub(crate) fn size(unit: Unit) -> f64 {
    match unit {
        Unit::Text | Unit::Count | Unit::PerSecond | Unit::Percent | Unit::Seconds => 1.0,
        Unit::Us | Unit::BytesPerSecond => 1e3,
        Unit::Bytes => 1e6,
    }
}

/// What that unit is called; empty for plain counts.
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

/// The label of the axis: its title, and its unit in brackets unless the title says it.
pub(crate) fn words(axis: &Axis) -> String {
    let unit = name(axis.unit);
    let is_said = match axis.unit {
        Unit::PerSecond => axis.title.ends_with("/s"),
        Unit::Percent => axis.title.contains('%') && axis.scale != Scale::Percentile,
        _ => unit.is_empty(),
    };
    match is_said {
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
