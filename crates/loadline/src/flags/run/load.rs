//! The flags of the load: its amount, model and duration.

use crate::flags::choice::choice;
use clap::Args;
use loadline_plan::{
    Arrivals, Burst, Error, LoadOptions, Rate, StageList, Think, Until, parse_count,
    parse_duration, parse_small_count,
};
use std::str::FromStr;
use std::time::Duration;

/// How much load, in which model, and for how long.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct LoadFlags {
    /// Connections, each with one user [default: 50]
    ///
    /// They are open before the load begins. Without --rate or --burst the loop is closed: each
    /// user sends its next request when it has the response to the last one. With several hosts,
    /// each user keeps one connection per host, as far as the limit of open files allows.
    #[arg(short, long, value_name = "N", value_parser = parse_small_count)]
    pub(crate) connections: Option<u32>,

    /// Worker threads [default: one per core, but for one where the target runs on this host]
    ///
    /// There is at most one per connection.
    #[arg(short, long, value_name = "N", value_parser = parse_small_count)]
    pub(crate) threads: Option<u32>,

    /// Spread the worker threads over this many processes
    ///
    /// The arrivals and the report are those of as many threads in one process. A process that is
    /// killed loses what it recorded since its last full second; the others go on, and the report
    /// says what is lost. Not with a script.
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_small_count)]
    pub(crate) processes: u32,

    /// Send at this rate (500, 2.5k, 90/m, 0.2/s) even while responses are missing: an open loop,
    /// free of coordinated omission
    ///
    /// Each request has an intended start, and its response time counts from there. So a stall of
    /// the target shows in every request that was due meanwhile. A closed loop stops sending while
    /// the target stalls, and its percentiles hide the stall: that is coordinated omission.
    #[arg(short, long, value_name = "RATE")]
    pub(crate) rate: Option<Rate>,

    /// Spread the requests of --rate evenly, or as a Poisson process [default: constant]
    #[arg(long, value_name = "SPREAD", value_parser = choice(&[
        ("constant", Arrivals::Constant),
        ("poisson", Arrivals::Poisson),
    ]))]
    pub(crate) arrivals: Option<Arrivals>,

    /// Let each user wait this long between two iterations: 1s, or exp:1s for random times
    ///
    /// For closed loops. exp:1s draws the times from an exponential distribution with a mean of one
    /// second. Without --script an iteration is one request. At the end of the run nobody waits for
    /// a user that thinks.
    #[arg(long, value_name = "TIME")]
    pub(crate) think: Option<Think>,

    /// Ramp linearly through these levels, such as 10s:100,1m:100,10s:0
    ///
    /// Each stage is duration:target. With --rate the targets are rates, and the first stage begins
    /// at that rate. Without it they are connections, and the first stage begins at --connections,
    /// or at 0.
    #[arg(long, value_name = "TIME:TARGET,…")]
    pub(crate) stages: Option<StageList>,

    /// Send in bursts: 20/500ms sends 20 requests at once, every half second
    #[arg(long, value_name = "N/TIME")]
    pub(crate) burst: Option<Burst>,

    /// The most connections of an open loop, which opens one when none is free
    /// [default: 1000, or --connections if larger]
    ///
    /// The limit of open files lowers the default. A request that is due while all connections are
    /// in use waits; the report shows how long.
    #[arg(long, value_name = "N", value_parser = parse_small_count)]
    pub(crate) max_connections: Option<u32>,

    /// The seed of all random choices [default: a new one, which the report names]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) seed: Option<u64>,

    /// Send for this long [default: 10s, unless --requests or --stages ends the run]
    ///
    /// Such as 10s, 1m30s, 500ms; a number alone is seconds. With --requests the run ends with
    /// whichever comes first.
    #[arg(short, long, value_name = "TIME", help_heading = "Length", value_parser = parse_duration)]
    pub(crate) duration: Option<Duration>,

    /// End the run after this many requests
    #[arg(short = 'n', long, value_name = "N", help_heading = "Length", value_parser = parse_count)]
    pub(crate) requests: Option<u64>,

    /// Stop early: once 'p99±2%' (or 'p99+-2%') is measured, or once the checks are decided
    ///
    /// 'p99±2%': once both ends of the 95 % confidence interval of that percentile of the response
    /// time are within 2 % of it. decided: once every --check has passed, or one has failed, with
    /// 99 % confidence.
    #[arg(long, value_name = "CONDITION", help_heading = "Length")]
    pub(crate) until: Option<Until>,

    /// Send for this long before measuring; auto: find the initial transient and exclude it
    ///
    /// auto measures from the beginning. Afterwards it detects the initial transient of rate,
    /// median and p99 (MSER-5) and excludes it from every figure; a run that never becomes steady
    /// is suspect. It needs 8 s or more, ideally 40 s.
    #[arg(
        long,
        value_name = "TIME|auto",
        help_heading = "Length",
        default_value = "0s"
    )]
    pub(crate) warmup: Warmup,

    /// Wait this long for missing responses after the end [default: 0s, or as --check needs]
    ///
    /// No new request is sent meanwhile. Late responses count in the response times, but not in
    /// the rate. With --check the default is the largest time in a check, at most --timeout: a
    /// slower response fails the check anyway. If all checks are on failures or statuses, it is
    /// --timeout.
    #[arg(long, value_name = "TIME", help_heading = "Length", value_parser = parse_duration)]
    pub(crate) drain: Option<Duration>,

    /// Make the run this many times and report the differences between runs [default: 1]
    ///
    /// Six runs give a 95 % confidence interval of the median. All are saved in one file. --check
    /// judges the requests of all runs together.
    #[arg(long, value_name = "N", help_heading = "Length", value_parser = parse_small_count)]
    pub(crate) repeat: Option<u32>,
}

/// The part of a run before the measured part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Warmup {
    /// A time of this length.
    Time(Duration),
    /// The initial transient, which is detected at the end.
    Auto,
}

impl FromStr for Warmup {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "auto" => Ok(Warmup::Auto),
            time => Ok(Warmup::Time(parse_duration(time)?)),
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

    /// Returns the options of the amount of load.
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
