//! Units of time and of data.

use super::super::arguments::Unit;
use std::fmt;

/// Units from the largest to the smallest.
const UNITS: [Unit; 6] = [Unit::H, Unit::M, Unit::S, Unit::Ms, Unit::Us, Unit::Ns];

impl Unit {
    /// Returns the largest unit that is smaller than a time in seconds; the smallest unit if there
    /// is none.
    pub(super) fn below(time: f64) -> Unit {
        let smaller = UNITS.into_iter().find(|unit| time > unit.in_seconds());
        smaller.unwrap_or(Unit::Ns)
    }

    /// Converts seconds to this unit.
    pub(super) fn of_seconds(self, seconds: f64) -> f64 {
        seconds / self.in_seconds()
    }

    fn in_seconds(self) -> f64 {
        match self {
            Unit::H => 3600.0,
            Unit::M => 60.0,
            Unit::S => 1.0,
            Unit::Ms => 1e-3,
            Unit::Us => 1e-6,
            Unit::Ns => 1e-9,
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::H => "hr",
            Unit::M => "min",
            Unit::S => "sec",
            Unit::Ms => "ms",
            Unit::Us => "us",
            Unit::Ns => "ns",
        })
    }
}

/// Formats bytes in the largest binary unit that they fill; NaN is printed as it is.
pub(super) fn data(bytes: f64) -> String {
    const NAMES: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes.is_nan() || bytes < 1024.0 {
        return format!("{bytes:.0} B");
    }
    let mut scaled = bytes / 1024.0;
    let mut name = NAMES[0];
    for larger in &NAMES[1..] {
        if scaled < 1024.0 {
            break;
        }
        scaled /= 1024.0;
        name = larger;
    }
    format!("{scaled:.2} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_is_the_largest_below_the_slowest_time() {
        for (time, unit) in [
            (0.007, "ms"),
            (0.001, "us"),
            (1.0, "ms"),
            (1.5, "sec"),
            (61.0, "min"),
            (1e-9, "ns"),
            (f64::NEG_INFINITY, "ns"),
            (7_200.0, "hr"),
        ] {
            assert_eq!(Unit::below(time).to_string(), unit, "{time}");
        }
    }

    #[test]
    fn data_is_in_binary_units() {
        for (bytes, text) in [
            (60.0, "60 B"),
            (1024.0, "1.00 KiB"),
            (60_000.0, "58.59 KiB"),
            (1_268_776.0, "1.21 MiB"),
            (f64::NAN, "NaN B"),
            (0.0, "0 B"),
        ] {
            assert_eq!(data(bytes), text);
        }
    }
}
