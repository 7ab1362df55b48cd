//! A process of `--processes`: started by Loadline itself, with the coordinator on its pipes.

use crate::exit::Exit;
use loadline_engine::Launch;
use loadline_runner::{Job, WORKER_WORD};
use loadline_tool_ab as ab;
use loadline_tool_oha as oha;
use loadline_tool_wrk as wrk;
use std::ffi::OsString;
use std::io;

/// True if the command line is that of such a process.
pub(crate) fn is_meant(line: &[OsString]) -> bool {
    matches!(line, [_, word] if word == WORKER_WORD)
}

pub(crate) fn run() -> anyhow::Result<Exit> {
    loadline_cluster::serve(io::stdin(), io::stdout(), |_, job| launches(job))?;
    Ok(Exit::Good)
}

/// Creates the users of a job, in one of the processes of a run.
///
/// # Errors
/// The reason why they can't be created.
fn launches(job: &Job) -> Result<Vec<Launch>, String> {
    let launch = match job.tool() {
        ab::TOOL => ab::launch(job),
        oha::TOOL => oha::launch(job),
        wrk::TOOL => wrk::launch(job),
        other => Err(format!("users of {other} can't be made")),
    };
    Ok(vec![launch?])
}
