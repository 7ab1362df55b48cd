//! The flags of `loadline demo`.

use clap::Args;
use loadline_plan::{Rate, parse_duration};
use std::time::Duration;

/// How long, how fast, and how bad the demonstration is.
#[derive(Debug, Args)]
pub(crate) struct DemoFlags {
    /// Send for this long
    #[arg(short, long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    pub(crate) duration: Duration,

    /// Requests per second
    #[arg(short, long, value_name = "RATE", default_value = "2k")]
    pub(crate) rate: Rate,

    /// The length of the server's one stall, in the middle
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub(crate) stall: Duration,
}
