//! The flags of `loadline watch`.

use clap::{Args, ValueEnum};
use loadline_plan::{parse_count, parse_duration};
use loadline_watch::Target;
use std::time::Duration;

/// The shortest time between two samples: the kernel counts CPU time in ticks of 10 ms.
const SHORTEST: Duration = Duration::from_millis(200);

/// What is watched, how often and for how long.
#[derive(Debug, Args)]
pub(crate) struct WatchFlags {
    /// The process to watch: its pid, program name or :port it listens on
    #[arg(value_name = "PID|NAME|:PORT")]
    pub(crate) target: Target,

    /// Time between two samples
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = parse_interval)]
    pub(crate) interval: Duration,

    /// End after this many samples
    #[arg(short = 'n', long, value_name = "N", value_parser = parse_count)]
    pub(crate) count: Option<u64>,

    /// End after this time
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) duration: Option<Duration>,

    /// How to print the samples
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output: WatchFormat,
}

/// How samples are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WatchFormat {
    /// For people.
    Text,
    /// A row per sample.
    Csv,
    /// A JSON object per sample, one on each line.
    Json,
}

/// The reason why an interval can't be used.
#[derive(Debug, thiserror::Error)]
enum BadInterval {
    #[error(transparent)]
    Duration(#[from] loadline_plan::Error),
    #[error("`{0}` is too short to measure CPU time. Write 200ms or more.")]
    TooShort(String),
}

fn parse_interval(text: &str) -> Result<Duration, BadInterval> {
    let interval = parse_duration(text).map_err(loadline_plan::Error::from)?;
    if interval < SHORTEST {
        return Err(BadInterval::TooShort(text.to_owned()));
    }
    Ok(interval)
}
