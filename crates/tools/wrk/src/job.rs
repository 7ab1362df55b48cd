//! The users of a command in one of several processes.

use super::rate_tally::{RateTally, TakeRaised};
use super::{Rates, Repetition, Tool};
use loadline_engine::{Launch, TallyCodec};
use loadline_runner::Job;
use loadline_script_lua::unpack;
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// The tool's name in jobs, for wrk2 as well.
pub const TOOL: &str = "wrk";

/// The data from which users of a command are created.
#[derive(Serialize, Deserialize)]
struct Terms {
    is_wrk2: bool,
    request: Vec<u8>,
    /// The script, packed; users without one send the request.
    script: Option<String>,
}

impl Repetition {
    /// Returns the job of users that send this request, or run this packed script, and whose rate
    /// is sampled as in this tool.
    ///
    /// # Errors
    /// If the job can't be serialised.
    pub fn job(&self, tool: Tool, script: Option<String>) -> io::Result<Job> {
        let terms = Terms {
            is_wrk2: tool == Tool::Wrk2,
            request: self.request.to_vec(),
            script,
        };
        Job::new(TOOL, &terms)
    }

    /// Returns the launch of the same users on a thread of this process.
    pub fn launch(&self, tool: Tool) -> Launch {
        let users = self.clone();
        Launch::scenario(move |_| RateTally::users(tool, users.clone()))
    }
}

impl Rates {
    /// Returns the codec for rates that another process has sampled.
    pub fn codec() -> TallyCodec {
        TallyCodec::of::<Rates>()
    }
}

/// Creates the users of a job of wrk, in the process that has these workers.
///
/// # Errors
/// If the job has no valid terms, or its script can't be loaded here.
pub fn launch(job: &Job, workers: Range<u32>) -> Result<Launch, String> {
    let terms: Terms = job.terms().map_err(|error| error.to_string())?;
    let tool = if terms.is_wrk2 { Tool::Wrk2 } else { Tool::Wrk };
    if let Some(script) = terms.script {
        let script = unpack(&script, workers)?;
        let users = script.scenarios();
        let raised: TakeRaised = Arc::new(script.raised());
        return Ok(Launch::scenario(move |worker| {
            RateTally::raising(tool, users(worker), Arc::clone(&raised))
        }));
    }
    let repetition = Repetition {
        request: Arc::new(terms.request),
    };
    Ok(repetition.launch(tool))
}
