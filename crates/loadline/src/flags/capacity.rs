//! The flags of `loadline capacity`: those of a run, and those of the search.
//!
//! The search sets the load and the end of each trial itself. So some flags of a run are hidden
//! here, and refused with a sentence.

use crate::flags::run::RunFlags;
use clap::{Args, ValueHint};
use loadline_capacity::Settings;
use loadline_plan::{Rate, parse_duration, parse_small_count};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// How the load line is searched, and what each trial runs.
#[derive(Debug, Args)]
pub(crate) struct CapacityFlags {
    #[command(flatten)]
    pub(crate) search: SearchFlags,
    #[command(flatten)]
    pub(crate) run: RunFlags,
    /// Locust's own options for the locustfile: user classes, -T TAG, --config FILE
    #[arg(last = true, value_name = "LOCUST-OPTIONS", help_heading = None)]
    pub(crate) locust_options: Vec<OsString>,
}

/// The range, the precision and the time of the search.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct SearchFlags {
    /// Search for the number of users of a closed loop, not for the rate of an open one
    #[arg(long, conflicts_with_all = ["min_rate", "max_rate"])]
    pub(crate) users: bool,

    /// The lowest rate to try
    #[arg(long, value_name = "RATE", default_value = "1")]
    pub(crate) min_rate: Rate,

    /// The highest rate to try
    #[arg(long, value_name = "RATE", default_value = "1M")]
    pub(crate) max_rate: Rate,

    /// The most users to try, with --users [default: 10k]
    #[arg(long, value_name = "N", value_parser = parse_small_count)]
    pub(crate) max_users: Option<u32>,

    /// With --users: search for the number of users of this locustfile
    ///
    /// Needs Loadline's package for Python, as `loadline locust` does. -H is the host of the
    /// locustfile then. Tags, user classes and other options of Locust's follow --.
    #[arg(short = 'f', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) locustfile: Option<String>,

    /// The host of the locustfile, such as http://127.0.0.1:8080
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) host: Option<String>,

    /// Stop once the load line is known this precisely
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = parse_precision)]
    pub(crate) precision: f64,

    /// Trials that decide on a rate when single trials disagree
    #[arg(long, value_name = "N", default_value_t = Settings::TRIALS,
        value_parser = parse_small_count)]
    pub(crate) trials: u32,

    /// Time limit of the whole search [default: 2m; with -f 5m, on agents 3m]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) budget: Option<Duration>,

    /// Do not measure the best that this machine can do
    #[arg(long)]
    pub(crate) no_floor: bool,

    /// Plot the response times over the load into this SVG file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

/// Flags of a run for what the search decides itself.
const HIDDEN: [&str; 17] = [
    "rate",
    "requests",
    "stages",
    "burst",
    "abort_on",
    "log",
    "percentiles",
    "repeat",
    "strict",
    "until",
    "floor",
    "baseline",
    "fail_on",
    "history",
    "keep",
    "test",
    "commit",
];

/// Gives the flags of a run the help that fits a search.
pub(crate) fn adapt(command: clap::Command) -> clap::Command {
    let command = HIDDEN.iter().fold(command, |command, flag| {
        command.mut_arg(flag, |flag| flag.hide(true))
    });
    command
        .mut_arg("duration", |flag| {
            let help = "How long each trial measures [default: 2s]";
            flag.help(help).long_help(help)
        })
        .mut_arg("warmup", |flag| {
            flag.help("Send up to 10/s for this long before the search")
                .default_value("5s")
        })
        .mut_arg("connections", |flag| {
            let help = "Connections that are open from the start [default: 50]";
            flag.help(help).long_help(help)
        })
        .mut_arg("check", |flag| {
            flag.help(
                "What must hold: 'p99<50ms', 'errors<0.1%' (repeatable) [default: p99<1s, \
                 errors<0.1% and non2xx<0.1%]",
            )
        })
        .mut_arg("save", |flag| {
            flag.help("Save every trial, each as a run of its own")
        })
}

/// A precision outside of what is possible.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a precision; write 0.1% to 50%, such as 2%.")]
struct NoPrecision(String);

/// Reads a share in percent.
fn parse_precision(text: &str) -> Result<f64, NoPrecision> {
    let number = text.trim_end().strip_suffix('%').unwrap_or(text).trim();
    let share = number.parse::<f64>().ok().map(|percent| percent / 100.0);
    share
        .filter(|share| (0.001..=0.5).contains(share))
        .ok_or_else(|| NoPrecision(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_precision_is_a_share_in_percent() {
        assert_eq!(parse_precision("2%").ok(), Some(0.02));
        assert_eq!(parse_precision("0.5 %").ok(), Some(0.005));
        for text in ["0%", "60%", "-1%", "often", "NaN"] {
            assert!(parse_precision(text).is_err(), "{text}");
        }
    }
}
