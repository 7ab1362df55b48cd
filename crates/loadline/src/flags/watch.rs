//! The flags of `loadline watch`.

use clap::{Args, ValueEnum};
use loadline_plan::{parse_count, parse_duration};
use loadline_watch::Target;
use std::time::Duration;

/// The shortest time between two looks: the kernel counts CPU time in ticks of 10 ms.
const SHORTEST: Duration = Duration::from_millis(200);

/// What is watched, how often and for how long.
#[derive(Debug, Args)]
pub(crate) struct WatchFlags {
    /// What to watch: the number of a process, its program's name, or : and the port it listens on
    #[arg(value_name = "PID|NAME|:PORT")]
    pub(crate) target: Target,

    /// How often to look
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = parse_interval)]
    pub(crate) interval: Duration,

    /// End after so many looks
    #[arg(short = 'n', long, value_name = "N", value_parser = parse_count)]
    pub(crate) count: Option<u64>,

    /// End after this time
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) duration: Option<Duration>,

    /// How to print what is seen
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output: WatchFormat,
}

/// How looks are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WatchFormat {
    /// For people.
    Text,
    /// A row for each look.
    Csv,
    /// An object on a line for each look.
    Json,
}

/// Why an interval can't be used.
#[derive(Debug, thiserror::Error)]
enum BadInterval {
    #[error(transparent)]
    Duration(#[from] loadline_plan::Error),
    #[error("`{0}` is too short for CPU time to be told. Write 200ms or more.")]
    TooShort(String),
}

fn parse_interval(text: &str) -> Result<Duration, BadInterval> {
    let interval = parse_duration(text)?;
    if interval < SHORTEST {
        return Err(BadInterval::TooShort(text.to_owned()));
    }
    Ok(interval)
}
