//! The users of scripts in other processes: a job has the script of each scenario, packed by its
//! language.

use crate::workload::LANGUAGES;
use loadline_cluster::{Job, Users};
use loadline_engine::{Launch, TallyCodec};
use loadline_plan::Plan;
use loadline_script::{LoadError, Raised, Script};
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::Range;

/// The name of scripts in jobs, where other tools have their own.
pub const SCRIPT_TOOL: &str = "script";

/// The script of each scenario of a plan; `None` for one that sends its requests.
type Terms = Vec<Option<Packed>>;

/// A script.
#[derive(Serialize, Deserialize)]
struct Packed {
    language: String,
    script: String,
}

/// Returns the users of these scripts, each in its language: one for each scenario of the plan.
///
/// # Errors
/// If a script can't be packed.
pub(crate) fn users(scripts: &[Option<(&str, &dyn Script)>]) -> io::Result<Users> {
    let packed = |(language, script): &(&str, &dyn Script)| {
        Ok(Packed {
            language: (*language).to_owned(),
            script: script.pack()?,
        })
    };
    let terms = scripts
        .iter()
        .map(|one| one.as_ref().map(packed).transpose());
    let terms: Result<Terms, LoadError> = terms.collect();
    let terms = terms.map_err(io::Error::other)?;
    Ok(Users {
        job: Some(Job::new(SCRIPT_TOOL, &terms)?),
        tallies: Some(TallyCodec::of::<Raised>()),
    })
}

/// Creates the users of a job of this plan, in the process that has these workers: a launch for
/// each scenario.
///
/// # Errors
/// If the job has no valid terms, or a script can't be loaded here.
pub fn script_launches(plan: &Plan, job: &Job, workers: Range<u32>) -> Result<Vec<Launch>, String> {
    let terms: Terms = job.terms().map_err(|error| error.to_string())?;
    let parts = plan.parts();
    let launch = |(packed, part): (Option<Packed>, &Plan)| match packed {
        Some(packed) => unpack(&packed, workers.clone()),
        None => Ok(Launch::requests(part)),
    };
    terms.into_iter().zip(&parts).map(launch).collect()
}

fn unpack(packed: &Packed, workers: Range<u32>) -> Result<Launch, String> {
    let mut languages = LANGUAGES.iter();
    let language = languages.find(|language| language.name() == packed.language);
    let language = language.ok_or_else(|| format!("scripts in {} are unknown", packed.language))?;
    let launch = language.unpack(&packed.script, workers);
    launch.map_err(|error| error.to_string())
}
