//! Converts the options of a load, all of which may be missing, to the load: the model follows from
//! the options that are present, and options that contradict each other are refused.

use super::{Arrivals, Burst, Load, Shape, Stage, StageList};
use crate::{Contradiction, Rate};
use std::time::Duration;

/// The default number of connections.
pub const DEFAULT_CONNECTIONS: u32 = 50;

/// The default for the most connections of an open load; if it has more from the start, their
/// number. It is high enough for a load not to run out of connections before the target is slow.
pub const DEFAULT_MAX_CONNECTIONS: u32 = 1_000;

/// The duration of a run without a duration, stages or a number of requests.
pub const DEFAULT_DURATION: Duration = Duration::from_secs(10);

/// The options of a load; `None` where an option was not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// The number of connections that are open from the start; with stages, the number at the
    /// start.
    pub connections: Option<u32>,
    /// The most connections of an open load.
    pub max_connections: Option<u32>,
    /// The time during which requests are started.
    pub duration: Option<Duration>,
    /// The number of exchanges that ends the run.
    pub requests: Option<u64>,
    /// The rate of arrivals; with stages, the rate at the start.
    pub rate: Option<Rate>,
    /// The spread of arrivals.
    pub arrivals: Option<Arrivals>,
    /// The course of the rate if there is one, else of the number of connections.
    pub stages: Option<StageList>,
    /// Arrivals in bursts.
    pub burst: Option<Burst>,
}

impl LoadOptions {
    /// Returns the load, and the time during which its requests are started.
    ///
    /// # Errors
    /// The first [`Contradiction`] among the options.
    pub fn resolve(&self) -> Result<(Load, Option<Duration>), Contradiction> {
        self.agree()?;
        let shape = self.shape()?;
        let connections = self.connections_of(&shape);
        let default = match shape.is_open() {
            true => DEFAULT_MAX_CONNECTIONS.max(connections),
            false => connections,
        };
        let max_connections = self.max_connections.unwrap_or(default);
        Ok((
            Load {
                users: connections,
                max_users: max_connections,
                shape,
            },
            self.resolve_duration(),
        ))
    }

    /// Refuses options that contradict each other.
    fn agree(&self) -> Result<(), Contradiction> {
        let is_open = self.rate.is_some() || self.burst.is_some();
        let rules = [
            (
                self.burst.is_some() && self.rate.is_some(),
                Contradiction::BurstAndRate,
            ),
            (
                self.burst.is_some() && self.stages.is_some(),
                Contradiction::BurstAndStages,
            ),
            (
                self.stages.is_some() && self.duration.is_some(),
                Contradiction::StagesAndDuration,
            ),
            (
                self.arrivals.is_some() && self.rate.is_none(),
                Contradiction::ArrivalsWithoutRate,
            ),
            (
                self.max_connections.is_some() && !is_open,
                Contradiction::MaxConnectionsWhenClosed,
            ),
        ];
        rules
            .into_iter()
            .find(|(broken, _)| *broken)
            .map_or(Ok(()), |(_, rule)| Err(rule))
    }

    fn shape(&self) -> Result<Shape, Contradiction> {
        let arrivals = self.arrivals.unwrap_or_default();
        Ok(match (self.burst, self.rate, &self.stages) {
            (Some(Burst { size, every }), _, _) => Shape::Burst { size, every },
            (None, Some(rate), None) => Shape::Rate { rate, arrivals },
            (None, Some(start), Some(list)) => Shape::RateStages {
                start,
                stages: list.rates()?,
                arrivals,
            },
            (None, None, Some(list)) => Shape::ClosedStages {
                start: self.connections.unwrap_or(0),
                stages: list.connections()?,
            },
            (None, None, None) => Shape::Closed,
        })
    }

    /// Returns the number of connections at the start; for stages of a closed load, the highest
    /// number of connections at any time.
    fn connections_of(&self, shape: &Shape) -> u32 {
        match shape {
            Shape::ClosedStages { start, stages } => highest(*start, stages),
            Shape::Closed
            | Shape::Rate { .. }
            | Shape::RateStages { .. }
            | Shape::Burst { .. }
            | Shape::Paced
            | Shape::Scenarios { .. } => self.connections.unwrap_or(DEFAULT_CONNECTIONS),
        }
    }

    fn resolve_duration(&self) -> Option<Duration> {
        let stages = self.stages.as_ref().map(StageList::duration);
        let default = self.requests.is_none().then_some(DEFAULT_DURATION);
        self.duration.or(stages).or(default)
    }
}

fn highest(start: u32, stages: &[Stage<u32>]) -> u32 {
    stages
        .iter()
        .map(|stage| stage.target)
        .fold(start, u32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(text: &str) -> Option<StageList> {
        Some(text.parse().expect("stages"))
    }

    fn resolve(options: LoadOptions) -> (Load, Option<Duration>) {
        options.resolve().expect("options that agree")
    }

    #[test]
    fn nothing_said_is_a_closed_loop_for_ten_seconds() {
        let (load, duration) = resolve(LoadOptions::default());
        assert_eq!(
            load,
            Load {
                users: 50,
                max_users: 50,
                shape: Shape::Closed
            }
        );
        assert_eq!(duration, Some(Duration::from_secs(10)));
    }

    #[test]
    fn a_number_of_requests_needs_no_duration_but_may_have_one() {
        let requests = LoadOptions {
            requests: Some(100),
            ..Default::default()
        };
        assert_eq!(resolve(requests.clone()).1, None);
        let both = LoadOptions {
            duration: Some(Duration::from_secs(3)),
            ..requests
        };
        assert_eq!(resolve(both).1, Some(Duration::from_secs(3)));
    }

    #[test]
    fn a_rate_opens_the_loop() {
        let rate = Rate::each_second(100);
        let options = LoadOptions {
            rate: Some(rate),
            max_connections: Some(80),
            ..Default::default()
        };
        let (load, _) = resolve(options);
        assert_eq!(
            load.shape,
            Shape::Rate {
                rate,
                arrivals: Arrivals::Constant
            }
        );
        assert_eq!((load.users, load.max_users), (50, 80));
    }

    #[test]
    fn an_open_load_opens_connections_as_it_needs_them() {
        let most = |connections, max_connections, burst: Option<&str>| {
            let options = LoadOptions {
                connections,
                max_connections,
                rate: burst.is_none().then(|| Rate::each_second(100)),
                burst: burst.map(|burst| burst.parse().expect("a burst")),
                ..Default::default()
            };
            let (load, _) = resolve(options);
            (load.users, load.max_users)
        };
        assert_eq!(most(None, None, None), (50, 1_000));
        assert_eq!(most(Some(10), None, Some("20/500ms")), (10, 1_000));
        assert_eq!(most(Some(3_000), None, None), (3_000, 3_000));
        assert_eq!(most(Some(10), Some(10), None), (10, 10));
    }

    #[test]
    fn stages_ramp_the_rate_where_there_is_one() {
        let options = LoadOptions {
            rate: Some(Rate::each_second(10)),
            arrivals: Some(Arrivals::Poisson),
            stages: stages("5s:100,5s:0"),
            ..Default::default()
        };
        let (load, duration) = resolve(options);
        let Shape::RateStages {
            start,
            stages,
            arrivals,
        } = load.shape
        else {
            panic!("not a ramp: {:?}", load.shape);
        };
        assert_eq!(
            (start, arrivals),
            (Rate::each_second(10), Arrivals::Poisson)
        );
        assert_eq!(stages[0].target, Rate::each_second(100));
        assert_eq!(duration, Some(Duration::from_secs(10)));
    }

    #[test]
    fn stages_ramp_the_connections_otherwise() {
        let from_none = LoadOptions {
            stages: stages("5s:100,5s:0"),
            ..Default::default()
        };
        let from_many = LoadOptions {
            connections: Some(200),
            ..from_none.clone()
        };
        let (load, _) = resolve(from_none);
        assert!(matches!(load.shape, Shape::ClosedStages { start: 0, .. }));
        assert_eq!((load.users, load.max_users), (100, 100));
        let (load, _) = resolve(from_many);
        assert!(matches!(load.shape, Shape::ClosedStages { start: 200, .. }));
        assert_eq!(load.users, 200);
    }

    #[test]
    fn options_that_contradict_each_other_are_refused() {
        let rate = Some(Rate::each_second(100));
        let burst = Some("20/500ms".parse().expect("a burst"));
        let nothing = LoadOptions::default;
        for (options, contradiction) in [
            (
                LoadOptions {
                    rate,
                    burst,
                    ..nothing()
                },
                Contradiction::BurstAndRate,
            ),
            (
                LoadOptions {
                    burst,
                    stages: stages("1s:1"),
                    ..nothing()
                },
                Contradiction::BurstAndStages,
            ),
            (
                LoadOptions {
                    stages: stages("1s:1"),
                    duration: Some(Duration::from_secs(1)),
                    ..nothing()
                },
                Contradiction::StagesAndDuration,
            ),
            (
                LoadOptions {
                    arrivals: Some(Arrivals::Poisson),
                    ..nothing()
                },
                Contradiction::ArrivalsWithoutRate,
            ),
            (
                LoadOptions {
                    arrivals: Some(Arrivals::Constant),
                    burst,
                    ..nothing()
                },
                Contradiction::ArrivalsWithoutRate,
            ),
            (
                LoadOptions {
                    max_connections: Some(100),
                    ..nothing()
                },
                Contradiction::MaxConnectionsWhenClosed,
            ),
        ] {
            assert_eq!(options.resolve(), Err(contradiction));
        }
    }

    #[test]
    fn a_ramp_of_connections_takes_whole_numbers_only() {
        let options = LoadOptions {
            stages: stages("1s:90/m"),
            ..Default::default()
        };
        let error = options.resolve().expect_err("no whole number");
        assert!(
            error
                .to_string()
                .starts_with("`90/m` is not a number of connections"),
            "{error}"
        );
    }
}
