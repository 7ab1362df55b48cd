//! The flags of `loadline serve`.
//!
//! The test server reads its own little languages (delays, faults, drips); their texts are passed
//! on as typed.

use clap::Args;
use loadline_plan::{Rate, parse_count, parse_small_count};

/// Where the test server listens, and how it behaves unless a request says otherwise.
#[derive(Debug, Args)]
pub(crate) struct ServeFlags {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080")]
    pub(crate) listen: String,

    /// Threads that answer
    #[arg(short, long, value_name = "N", default_value = "1", value_parser = parse_small_count)]
    pub(crate) threads: u32,

    /// Speak TLS, with a certificate made for the occasion
    #[arg(long)]
    pub(crate) tls: bool,

    /// The seed of random delays
    #[arg(long, value_name = "N", default_value = "0")]
    pub(crate) seed: u64,

    /// Freeze everything for a time, again and again: 1s/10s
    #[arg(long, value_name = "TIME/TIME")]
    pub(crate) freeze: Option<String>,

    /// Say at the end how far the arrivals strayed from this even rate
    #[arg(long, value_name = "RATE")]
    pub(crate) arrivals: Option<Rate>,

    /// Bytes of the body
    #[arg(long, value_name = "BYTES", help_heading = "Answers", value_parser = parse_count)]
    pub(crate) size: Option<u64>,

    /// The status
    #[arg(long, value_name = "CODE", help_heading = "Answers")]
    pub(crate) status: Option<String>,

    /// Wait before answering
    #[arg(long, value_name = "DELAY", help_heading = "Answers")]
    pub(crate) delay: Option<String>,

    /// Send the body in chunks
    #[arg(long, help_heading = "Answers")]
    pub(crate) chunked: bool,

    /// Close each connection after this many answers
    #[arg(long, value_name = "N", help_heading = "Answers", value_parser = parse_count)]
    pub(crate) close_after: Option<u64>,

    /// Misbehave
    #[arg(long, value_name = "FAULT", help_heading = "Answers")]
    pub(crate) fault: Option<String>,

    /// Send the body in small pieces with pauses between
    #[arg(long, value_name = "DRIP", help_heading = "Answers")]
    pub(crate) drip: Option<String>,
}
