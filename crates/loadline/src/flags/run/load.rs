//! How much load, and in which model.

use crate::flags::choice::choice;
use clap::Args;
use loadline_plan::{
    Arrivals, Burst, LoadOptions, Rate, StageList, parse_count, parse_duration, parse_small_count,
};
use std::time::Duration;

/// How much load, and in which model.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct LoadFlags {
    /// Connections, each with one user on it [default: 50]
    ///
    /// Without --rate or --burst the load is closed: each connection sends its next request when
    /// the last one is answered.
    #[arg(short, long, value_name = "N", value_parser = parse_small_count)]
    pub(crate) connections: Option<u32>,

    /// Worker threads [default: one per core, at most one per connection]
    #[arg(short, long, value_name = "N", value_parser = parse_small_count)]
    pub(crate) threads: Option<u32>,

    /// How long to send [default: 10s, unless --requests or --stages ends the run]
    ///
    /// Such as 10s, 1m30s, 500ms; a number alone is seconds. With --requests, whichever comes
    /// first ends the run.
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) duration: Option<Duration>,

    /// End the run after this many requests
    #[arg(short = 'n', long, value_name = "N", value_parser = parse_count)]
    pub(crate) requests: Option<u64>,

    /// Requests a second, whether or not earlier ones are answered: 500, 2.5k, 90/m, 0.2/s
    ///
    /// The load is open: each request has an intended start, and its response time counts from
    /// there.
    #[arg(short, long, value_name = "RATE")]
    pub(crate) rate: Option<Rate>,

    /// How the requests of --rate are spread: evenly, as by default, or as a Poisson process
    #[arg(long, value_name = "SPREAD", value_parser = choice(&[
        ("constant", Arrivals::Constant),
        ("poisson", Arrivals::Poisson),
    ]))]
    pub(crate) arrivals: Option<Arrivals>,

    /// Ramp linearly through these levels: 10s:100,1m:100,10s:0
    ///
    /// Each stage is duration:target. The targets are rates if there is a --rate, at which the
    /// first stage begins; else connections, from --connections if given or from none.
    #[arg(long, value_name = "TIME:TARGET,…")]
    pub(crate) stages: Option<StageList>,

    /// Requests in bursts: 20/500ms sends 20 at once, every half second
    #[arg(long, value_name = "N/TIME")]
    pub(crate) burst: Option<Burst>,

    /// Let an open load open more connections, up to here, when none is free
    /// [default: --connections]
    #[arg(long, value_name = "N", value_parser = parse_small_count)]
    pub(crate) max_connections: Option<u32>,

    /// Send for this long before measuring
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = parse_duration)]
    pub(crate) warmup: Duration,

    /// Make the run this many times and report what differs from run to run [default: 1]
    ///
    /// Six runs make a 95 % interval of the median. All are saved in one file, and --check looks at
    /// all of their requests together.
    #[arg(long, value_name = "N", value_parser = parse_small_count)]
    pub(crate) repeat: Option<u32>,

    /// The seed of everything random [default: a new one, which the report names]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) seed: Option<u64>,
}

impl LoadFlags {
    /// What was said of the load.
    pub(crate) fn options(&self) -> LoadOptions {
        LoadOptions {
            connections: self.connections,
            max_connections: self.max_connections,
            duration: self.duration,
            requests: self.requests,
            rate: self.rate,
            arrivals: self.arrivals,
            stages: self.stages.clone(),
            burst: self.burst,
        }
    }
}
