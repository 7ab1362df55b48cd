//! Conditions that end a run before its duration is over: `p99±2%`, `p99+-2%`, `decided`.

use crate::{Error, parse_percentile};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The finest precision: recorded times have three digits, so both ends of an interval are known to
/// a thousandth.
const FINEST: f64 = 0.002;

/// The condition that ends a run before its duration is over.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// Both ends of the 95 % interval of a percentile of response time are this near to it.
    Precise {
        /// The percentile, above 0 and below 100.
        percentile: f64,
        /// The greatest distance, as a share of the percentile: 0.02 is ±2 %.
        within: f64,
    },
    /// All checks are proven to pass, or one is proven to fail.
    Decided,
}

impl FromStr for Until {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.trim() {
            "decided" => Ok(Until::Decided),
            condition => precise(condition).ok_or_else(|| Error::Until(text.to_owned())),
        }
    }
}

fn precise(text: &str) -> Option<Until> {
    let signs = ["±", "+-", "+/-"];
    let (percentile, within) = signs.iter().find_map(|sign| text.split_once(sign))?;
    let percentile = parse_percentile(percentile.trim().strip_prefix('p')?).ok()?;
    let within: f64 = within.trim().strip_suffix('%')?.trim().parse().ok()?;
    let within = within / 100.0;
    let is_met = percentile < 100.0 && (FINEST..1.0).contains(&within);
    is_met.then_some(Until::Precise { percentile, within })
}

impl fmt::Display for Until {
    /// Prints the condition so that it can be parsed again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Until::Precise { percentile, within } => {
                let percent = (within * 1e8).round() / 1e6;
                write!(f, "p{percentile}±{percent}%")
            }
            Until::Decided => f.write_str("decided"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn three_ways_to_write_a_precision() {
        let expected = Until::Precise {
            percentile: 99.9,
            within: 0.02,
        };
        for text in ["p99.9±2%", "p99.9+-2%", " p99.9 +/- 2 % "] {
            assert_eq!(text.parse::<Until>().unwrap(), expected, "{text}");
        }
        assert_eq!("decided".parse::<Until>().unwrap(), Until::Decided);
    }

    #[test]
    fn what_can_never_be_met_is_refused() {
        for text in [
            "p99",
            "p99±2",
            "p99±0%",
            "p99±0.1%",
            "p99±100%",
            "p99±-1%",
            "p100±1%",
            "p0±1%",
            "mean±1%",
            "±1%",
            "p99±nan%",
            "",
            "Decided",
        ] {
            let error = text.parse::<Until>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{text}` is not a condition to stop at.")));
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(tenths in 1u32..1000, percent in 1u32..100) {
            let until = Until::Precise {
                percentile: f64::from(tenths) / 10.0,
                within: f64::from(percent) / 100.0,
            };
            prop_assert_eq!(until.to_string().parse::<Until>().unwrap(), until);
        }
    }
}
