//! The flags of a run, and so the keys of a plan file.

pub(crate) mod connection;
pub(crate) mod judgement;
pub(crate) mod load;
pub(crate) mod output;
pub(crate) mod request;
pub(crate) mod watching;

use clap::Args;
use std::ffi::OsString;

/// All that can be said of a run, as typed.
#[derive(Clone, Debug, Args)]
pub(crate) struct RunFlags {
    #[command(flatten)]
    pub(crate) load: load::LoadFlags,
    #[command(flatten)]
    pub(crate) request: request::RequestFlags,
    #[command(flatten)]
    pub(crate) connection: connection::ConnectionFlags,
    #[command(flatten)]
    pub(crate) judgement: judgement::JudgementFlags,
    #[command(flatten)]
    pub(crate) watching: watching::WatchingFlags,
    #[command(flatten)]
    pub(crate) output: output::OutputFlags,
    /// The words that these flags were read from: the keys of a plan file are put before them
    /// and all is read again.
    #[arg(skip)]
    pub(crate) typed: Vec<OsString>,
}
