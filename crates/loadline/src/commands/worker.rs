//! A process of `--processes`: started by Loadline itself, with the coordinator on its pipes.

use crate::exit::Exit;
use loadline_dialects::processes;
use loadline_runner::WORKER_WORD;
use std::ffi::OsString;
use std::io;

/// True if the command line is that of such a process.
pub(crate) fn is_meant(line: &[OsString]) -> bool {
    matches!(line, [_, word] if word == WORKER_WORD)
}

pub(crate) fn run() -> anyhow::Result<Exit> {
    loadline_cluster::serve(io::stdin(), io::stdout(), |_, job| processes::launches(job))?;
    Ok(Exit::Good)
}
