//! Think time, for which a user of a closed load waits between two iterations: `1s`, `exp:1s`.

use crate::{DurationText, Error, parse_duration};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The time for which a user of a closed load waits between two iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Think {
    /// A constant time.
    Constant(Duration),
    /// A time drawn from an exponential distribution with this mean.
    Exponential(Duration),
}

impl Think {
    /// Returns the mean think time.
    pub fn mean(self) -> Duration {
        match self {
            Think::Constant(time) | Think::Exponential(time) => time,
        }
    }
}

impl FromStr for Think {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (law, time): (fn(Duration) -> Think, _) = match text.trim().split_once(':') {
            None => (Think::Constant, text.trim()),
            Some(("exp", mean)) => (Think::Exponential, mean),
            Some(_) => return Err(Error::Think(text.to_owned())),
        };
        let time = parse_duration(time).map_err(|_| Error::Think(text.to_owned()))?;
        Ok(law(time))
    }
}

impl fmt::Display for Think {
    /// Prints the time so that it can be parsed again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Think::Constant(time) => DurationText(*time).fmt(f),
            Think::Exponential(mean) => write!(f, "exp:{}", DurationText(*mean)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_constant_or_has_a_mean() {
        let second = Duration::from_secs(1);
        assert_eq!("1s".parse(), Ok(Think::Constant(second)));
        assert_eq!(" exp:1000ms ".parse(), Ok(Think::Exponential(second)));
        for text in ["1s", "exp:250ms", "0s"] {
            let think: Think = text.parse().expect("a think time");
            assert_eq!(think.to_string().parse(), Ok(think), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused_in_a_sentence() {
        for text in ["", "gauss:1s", "exp:", "exp:1s:2s", "-1s"] {
            let error = text.parse::<Think>().expect_err(text);
            assert_eq!(error, Error::Think(text.to_owned()));
        }
        let said = Error::Think("gauss:1s".to_owned()).to_string();
        assert!(
            said.contains("`gauss:1s`") && said.contains("exp:1s"),
            "{said}"
        );
    }
}
