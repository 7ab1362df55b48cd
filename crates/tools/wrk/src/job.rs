//! The users of a command without a script, in one of several processes.

use super::{Rates, Repetition, Sampled, Tool};
use loadline_engine::{Launch, TallyCodec};
use loadline_runner::Job;
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::Arc;

/// The tool's name in jobs, for wrk2 as well.
pub const TOOL: &str = "wrk";

/// The data from which users of a command without a script are created.
#[derive(Serialize, Deserialize)]
struct Terms {
    is_wrk2: bool,
    request: Vec<u8>,
}

impl Repetition {
    /// Returns the job of users that send this request, whose rate is sampled as in this tool.
    ///
    /// # Errors
    /// If the job can't be serialised.
    pub fn job(&self, tool: Tool) -> io::Result<Job> {
        let terms = Terms {
            is_wrk2: tool == Tool::Wrk2,
            request: self.request.to_vec(),
        };
        Job::new(TOOL, &terms)
    }

    /// Returns the launch of the same users on a thread of this process.
    pub fn launch(&self, tool: Tool) -> Launch {
        let users = self.clone();
        Launch::scenario(move |_| Sampled::new(tool, users.clone()))
    }
}

impl Rates {
    /// Returns the codec for rates that another process has sampled.
    pub fn codec() -> TallyCodec {
        TallyCodec::of::<Rates>()
    }
}

/// Creates the users of a job of wrk.
///
/// # Errors
/// If the job has no valid terms.
pub fn launch(job: &Job) -> Result<Launch, String> {
    let terms: Terms = job.terms().map_err(|error| error.to_string())?;
    let tool = if terms.is_wrk2 { Tool::Wrk2 } else { Tool::Wrk };
    let repetition = Repetition {
        request: Arc::new(terms.request),
    };
    Ok(repetition.launch(tool))
}
