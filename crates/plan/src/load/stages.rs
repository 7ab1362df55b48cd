//! Courses of a load as typed: `10s:100,1m:100,10s:0` for stages, `20/500ms` for bursts.

use super::Stage;
use crate::{Error, Rate, parse_count, parse_duration, parse_small_count};
use loadline_units::{self as units, parse_period};
use std::str::FromStr;
use std::time::Duration;

/// Stages as typed, before it is known whether their targets are rates or connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageList {
    stages: Vec<(Duration, String)>,
}

impl StageList {
    /// Returns the stages of a rate.
    ///
    /// # Errors
    /// [`units::Error::Rate`] for a malformed target; parsing the list has already excluded that.
    pub fn rates(&self) -> Result<Vec<Stage<Rate>>, Error> {
        self.with_targets(|target| Ok(target.parse()?))
    }

    /// Returns the stages of a number of connections.
    ///
    /// # Errors
    /// [`Error::StageConnections`] for a target such as `90/m`, which only a rate can have.
    pub fn connections(&self) -> Result<Vec<Stage<u32>>, Error> {
        self.with_targets(|target| {
            parse_small_count(target).map_err(|_| Error::StageConnections(target.to_owned()))
        })
    }

    /// Returns the duration of all stages together.
    pub fn duration(&self) -> Duration {
        self.stages
            .iter()
            .fold(Duration::ZERO, |sum, (duration, _)| {
                sum.saturating_add(*duration)
            })
    }

    fn with_targets<T>(
        &self,
        read: impl Fn(&str) -> Result<T, Error>,
    ) -> Result<Vec<Stage<T>>, Error> {
        let stages = self.stages.iter();
        stages
            .map(|(duration, target)| {
                Ok(Stage {
                    duration: *duration,
                    target: read(target)?,
                })
            })
            .collect()
    }
}

impl FromStr for StageList {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let stages = text.split(',').map(|stage| {
            let (duration, target) = stage
                .trim()
                .split_once(':')
                .ok_or_else(|| Error::Stages(text.to_owned()))?;
            parse_stage(duration, target)
        });
        Ok(Self {
            stages: stages.collect::<Result<_, Error>>()?,
        })
    }
}

/// Reads a stage, whose target may be a number or a rate: both can be read as a rate.
fn parse_stage(duration: &str, target: &str) -> Result<(Duration, String), Error> {
    let stage = || format!("{duration}:{target}");
    let read = parse_duration(duration).map_err(|_| Error::StageDuration {
        duration: duration.to_owned(),
        stage: stage(),
    })?;
    match target.parse::<Rate>() {
        Err(units::Error::Rate(target)) => Err(Error::StageTarget {
            target,
            stage: stage(),
        }),
        other => Ok(other.map(|_| (read, target.to_owned()))?),
    }
}

/// Arrivals in bursts as typed: `20/500ms` is twenty at once, every half second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// Arrivals of one burst, at least 1.
    pub size: u64,
    /// Time from one burst to the next, more than zero.
    pub every: Duration,
}

impl FromStr for Burst {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let read = || {
            let (size, every) = text.split_once('/')?;
            let size = parse_count(size).ok().filter(|&size| size > 0)?;
            Some(Self {
                size,
                every: Duration::from_nanos(parse_period(every)?),
            })
        };
        read().ok_or_else(|| Error::Burst(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> StageList {
        text.parse().expect("stages")
    }

    #[test]
    fn stages_are_durations_and_targets() {
        let stage = |s, target| Stage {
            duration: Duration::from_secs(s),
            target,
        };
        assert_eq!(
            list("10s:100,1m:100,10s:0").connections(),
            Ok(vec![stage(10, 100), stage(60, 100), stage(10, 0)])
        );
        assert_eq!(list("0:1k").connections(), Ok(vec![stage(0, 1_000)]));
        assert_eq!(list("10s:100, 1m:0").duration(), Duration::from_secs(70));
    }

    #[test]
    fn targets_of_a_rate_may_have_a_period() {
        let rate = Rate {
            count: 3,
            per_ns: 2_000_000_000,
        };
        let stages = vec![Stage {
            duration: Duration::from_millis(500),
            target: rate,
        }];
        assert_eq!(list("500ms:90/m").rates(), Ok(stages));
        assert_eq!(
            list("500ms:90/m").connections(),
            Err(Error::StageConnections("90/m".into()))
        );
        assert_eq!(
            list("1s:1.5").connections(),
            Err(Error::StageConnections("1.5".into()))
        );
    }

    #[test]
    fn broken_stages_name_the_broken_part() {
        let no_duration = |duration: &str, stage: &str| Error::StageDuration {
            duration: duration.into(),
            stage: stage.into(),
        };
        let no_target = |target: &str, stage: &str| Error::StageTarget {
            target: target.into(),
            stage: stage.into(),
        };
        for (text, error) in [
            ("", Error::Stages("".into())),
            ("10s", Error::Stages("10s".into())),
            ("10s:1,", Error::Stages("10s:1,".into())),
            ("5s:1,10x:1", no_duration("10x", "10x:1")),
            ("10s:fast", no_target("fast", "10s:fast")),
            ("10s:1:2", no_target("1:2", "10s:1:2")),
            ("10s:", no_target("", "10s:")),
            (":5", no_duration("", ":5")),
            ("1s:2G", units::Error::RateTooHigh("2G".into()).into()),
        ] {
            assert_eq!(text.parse::<StageList>(), Err(error), "{text}");
        }
    }

    #[test]
    fn bursts_have_a_size_and_a_period() {
        for (text, size, every_ms) in [
            ("20/500ms", 20, 500),
            ("1k/s", 1_000, 1_000),
            ("5/2m", 5, 120_000),
            ("1/1.5s", 1, 1_500),
        ] {
            assert_eq!(
                text.parse(),
                Ok(Burst {
                    size,
                    every: Duration::from_millis(every_ms)
                }),
                "{text}"
            );
        }
        for text in [
            "", "20", "20/", "/s", "0/s", "20/0s", "1.5/s", "20/500", "a/b", "-1/s",
        ] {
            assert_eq!(
                text.parse::<Burst>(),
                Err(Error::Burst(text.to_owned())),
                "{text}"
            );
        }
    }
}
