//! The dialects wrk and wrk2: one command line, one report; wrk2 with a rate and more percentiles.
//!
//! The flow of a command, which [`run`] conducts: [`Arguments::parse`] reads its words as GNU
//! `getopt_long` would and checks them together in wrk's order; [`Arguments::plan`] returns the
//! plan, [`Arguments::repetition`] the request if there is no script; [`banner`] is printed when
//! the run has begun, and [`report`] when it has ended. Layout, scaling and widths are those of wrk
//! 4.1 and of wrk2 (whose version is 4.0.0).
//!
//! ## To change
//!
//! - a flag: `arguments.rs`, numbers with their units `units.rs`; its effect `plan.rs`,
//!   `repetition.rs`; its row in `docs/dialects.md`
//! - the reports: `report.rs`; Req/Sec `rates.rs`, `rate_tally.rs`; wrk2's times `spectrum.rs`;
//!   numbers in columns `scaling.rs`
//! - the course of a command: `conduct.rs`, its script `script.rs`; why it has no report
//!   `refusal.rs`
//! - the files of latencies: `latencies.rs`
//! - the users in several processes: `job.rs`
//! - version and usage: `usage.rs`
//! - words as wrk reads them: `options.rs`; the URL: `target.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod arguments;
mod conduct;
mod job;
mod latencies;
mod options;
mod plan;
mod rate_tally;
mod rates;
mod refusal;
mod repetition;
mod report;
mod scaling;
mod script;
mod spectrum;
mod target;
mod units;
mod usage;

pub use arguments::{Arguments, Refusal};
pub use conduct::run;
pub use job::{TOOL, launch};
pub use rates::Rates;
pub use repetition::{Repeater, Repetition};
pub use report::{banner, report};

/// The emulated tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// wrk: a closed load.
    Wrk,
    /// wrk2: an open load at a rate.
    Wrk2,
}

impl Tool {
    /// Returns the name of the command.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Wrk => "wrk",
            Tool::Wrk2 => "wrk2",
        }
    }

    /// Returns the version of the emulated original.
    fn version(self) -> &'static str {
        match self {
            Tool::Wrk => "4.1.0",
            Tool::Wrk2 => "4.0.0",
        }
    }
}
