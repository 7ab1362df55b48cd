//! A process of `--processes`: started by Loadline itself, with the coordinator on its pipes.

use crate::exit::Exit;
use loadline_dialects::processes;
use loadline_runner::WORKER_WORD;
use std::ffi::OsString;
use std::io;

/// Whether the command line is that of such a process.
pub(crate) fn is_meant(line: &[OsString]) -> bool {
    matches!(line, [_, word] if word == WORKER_WORD)
}

pub(crate) fn run() -> anyhow::Result<Exit> {
    let launches = |_: &_, job: &_, workers| processes::launches(job, workers);
    loadline_cluster::serve(io::stdin(), io::stdout(), launches)?;
    Ok(Exit::Good)
}
