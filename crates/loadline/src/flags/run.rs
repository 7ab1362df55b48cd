//! The flags of a run, and so the keys of a plan file.

pub(crate) mod baseline;
pub(crate) mod connection;
pub(crate) mod judgement;
pub(crate) mod load;
pub(crate) mod machines;
pub(crate) mod output;
pub(crate) mod request;
mod target_word;
pub(crate) mod watching;
pub(crate) mod web;

use clap::Args;
use loadline_plan::Part;
use std::ffi::OsString;

/// All that can be said of a run, as typed.
#[derive(Clone, Debug, Args)]
pub(crate) struct RunFlags {
    #[command(flatten)]
    pub(crate) load: load::LoadFlags,
    #[command(flatten)]
    pub(crate) machines: machines::MachineFlags,
    #[command(flatten)]
    pub(crate) request: request::RequestFlags,
    #[command(flatten)]
    pub(crate) connection: connection::ConnectionFlags,
    #[command(flatten)]
    pub(crate) judgement: judgement::JudgementFlags,
    #[command(flatten)]
    pub(crate) regressions: baseline::BaselineFlags,
    #[command(flatten)]
    pub(crate) watching: watching::WatchingFlags,
    #[command(flatten)]
    pub(crate) output: output::OutputFlags,
    #[command(flatten)]
    pub(crate) web: web::WebFlags,
    /// The words that these flags were read from: the keys of a plan file are put before them
    /// and all is read again.
    #[arg(skip)]
    pub(crate) typed: Vec<OsString>,
    /// The scenarios of the plan file.
    #[arg(skip)]
    pub(crate) scenarios: Vec<ScenarioFlags>,
    /// Values that are kept out of what is written of a run.
    #[arg(skip)]
    pub(crate) secrets: Vec<String>,
}

/// The keys of a scenario in a plan file.
#[derive(Clone, Debug)]
pub(crate) struct ScenarioFlags {
    /// The keys that belong to it whatever its load is.
    pub(crate) part: Part,
    /// Its part of the whole run's users, if it takes them by weight.
    pub(crate) weight: Option<u32>,
    /// The keys of its load.
    pub(crate) load: load::LoadFlags,
    /// The keys of its requests.
    pub(crate) request: request::RequestFlags,
}
