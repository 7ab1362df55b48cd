//! A process of `--processes`, or of an agent: started by Loadline itself, with the coordinator, or
//! the agent that passes on what it sends, on its pipes.

use crate::exit::Exit;
use loadline_cluster::{PART_VARIABLE, end_with_stopped_parent};
use loadline_engine::Launch;
use loadline_plan::Plan;
use loadline_runner::{Job, SCRIPT_TOOL, WORKER_WORD, script_launches};
use loadline_tool_ab as ab;
use loadline_tool_oha as oha;
use loadline_tool_wrk as wrk;
use std::ffi::OsString;
use std::io;
use std::ops::Range;

/// True if the command line is that of such a process.
pub(crate) fn is_meant(line: &[OsString]) -> bool {
    matches!(line, [_, word] if word == WORKER_WORD)
}

pub(crate) fn run() -> anyhow::Result<Exit> {
    if std::env::var_os(PART_VARIABLE).is_some() {
        end_with_stopped_parent();
    }
    loadline_cluster::serve(io::stdin(), io::stdout(), launches)?;
    Ok(Exit::Good)
}

/// Creates the users of a job of this plan, in the process that has these workers. There is one
/// launch for each scenario of the plan.
///
/// # Errors
/// The reason why they can't be created.
fn launches(plan: &Plan, job: &Job, workers: Range<u32>) -> Result<Vec<Launch>, String> {
    let launch = match job.tool() {
        #[cfg(feature = "k6")]
        loadline_k6_command::TOOL => return loadline_k6_command::launches(job, workers),
        ab::TOOL => ab::launch(job),
        oha::TOOL => oha::launch(job),
        wrk::TOOL => wrk::launch(job, workers),
        SCRIPT_TOOL => return script_launches(plan, job, workers),
        other => Err(format!("users of {other} can't be made")),
    };
    Ok(vec![launch?])
}
