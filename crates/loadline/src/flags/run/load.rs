//! How much load, and in which model.

use crate::flags::choice::choice;
use clap::Args;
use loadline_plan::{
    Arrivals, Burst, Error, LoadOptions, Rate, StageList, Until, parse_count, parse_duration,
    parse_small_count,
};
use std::str::FromStr;
use std::time::Duration;

/// How much load, and in which model.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct LoadFlags {
    /// Connections that are open from the start, each with one user on it [default: 50]
    ///
    /// Without --rate or --burst the load is closed: each connection sends its next request when
    /// the last one is answered. To several hosts a user keeps a connection to each, or to as many
    /// as the limit of open files allows.
    #[arg(short, long, value_name = "N", value_parser = parse_small_count)]
    pub(crate) connections: Option<u32>,

    /// Worker threads [default: one per core, at most one per connection]
    ///
    /// Where the target runs on this host, one core less is used, so that it has one too.
    #[arg(short, long, value_name = "N", value_parser = parse_small_count)]
    pub(crate) threads: Option<u32>,

    /// How long to send [default: 10s, unless --requests or --stages ends the run]
    ///
    /// Such as 10s, 1m30s, 500ms; a number alone is seconds. With --requests, whichever comes
    /// first ends the run.
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) duration: Option<Duration>,

    /// End the run before its time once this is so: 'p99±2%' (or 'p99+-2%'), or decided
    ///
    /// A percentile of response time is that precise when both ends of its 95 % interval are that
    /// near. Decided is when each --check is proven to be kept, or one to be broken, at 99 %.
    #[arg(long, value_name = "CONDITION")]
    pub(crate) until: Option<Until>,

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

    /// The most connections of an open load, which opens more when none is free
    /// [default: 1000, or --connections if larger]
    ///
    /// Where a run may not have so many files open, it is as many as it may. A request that falls due
    /// when all of them are in use waits; the report says so.
    #[arg(long, value_name = "N", value_parser = parse_small_count)]
    pub(crate) max_connections: Option<u32>,

    /// Send for this long before measuring, or auto: leave out what is not steady yet
    ///
    /// With auto the run is measured from its beginning. At its end, what comes before rate, median
    /// and p99 are steady is found, and left out of every figure; a run that never settles is
    /// suspect. It takes eight seconds at least, better forty.
    #[arg(long, value_name = "TIME|auto", default_value = "0s")]
    pub(crate) warmup: Warmup,

    /// Wait this long for what has no answer when the time is over [default: 0s, or as --check needs]
    ///
    /// Nothing new is begun meanwhile. Answers that come then are in the response times, but not in the
    /// rate. With --check the default is as long as the largest time in one of them, at most the
    /// --timeout: what takes longer breaks it anyway. With checks on failures or statuses alone it is the
    /// --timeout.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) drain: Option<Duration>,

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

/// What comes before the measured part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Warmup {
    /// This long.
    Time(Duration),
    /// What is found at the end to come before the run is steady.
    Auto,
}

impl FromStr for Warmup {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "auto" => Ok(Warmup::Auto),
            time => parse_duration(time).map(Warmup::Time),
        }
    }
}

impl LoadFlags {
    /// The time before the measured part.
    pub(crate) fn warmup_time(&self) -> Duration {
        match self.warmup {
            Warmup::Time(time) => time,
            Warmup::Auto => Duration::ZERO,
        }
    }

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
