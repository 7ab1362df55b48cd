//! The dialects wrk and wrk2: one command line, one report, wrk2 with a rate and more percentiles.
//!
//! The way of a command: [`Arguments::parse`] reads its words as GNU `getopt_long` would and holds
//! them together in wrk's order; [`Arguments::plan`] says what is run, [`Arguments::repetition`]
//! what is sent where no script makes it up; [`banner`] is printed when the run has begun, and
//! [`report`] when it has ended. Layout, scaling and widths are those of wrk 4.1 and of wrk2
//! (which calls itself 4.0.0).

mod arguments;
mod job;
mod options;
mod plan;
mod rates;
mod repetition;
mod report;
mod sampled;
mod scaling;
mod spectrum;
mod target;
mod units;
mod usage;

pub use arguments::{Arguments, Refusal};
pub(crate) use job::{TOOL, launch};
pub use rates::Rates;
pub use repetition::{Repeater, Repetition};
pub use report::{banner, report};
pub use sampled::Sampled;

/// Which of the two is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// wrk: a closed load.
    Wrk,
    /// wrk2: an open load at a rate.
    Wrk2,
}

impl Tool {
    /// The word by which it is called.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Wrk => "wrk",
            Tool::Wrk2 => "wrk2",
        }
    }

    /// The version of the original whose interface this is.
    fn version(self) -> &'static str {
        match self {
            Tool::Wrk => "4.1.0",
            Tool::Wrk2 => "4.0.0",
        }
    }
}
