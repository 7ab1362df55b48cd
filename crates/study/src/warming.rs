//! Warming a target up: a service that compiles while it runs, or fills its caches, is not measured
//! before it is steady.
//!
//! This program loads the target in rounds. Each is a run of its own with `--warmup auto`: once its
//! detector of transients finds where a round has settled, the target stays as it is. A round in
//! which anything still moves is followed by another one.

use crate::events::{Event, Events};
use crate::problem::Problem;
use crate::process::{Launch, Process};
use crate::saved::Warmed;
use crate::study::{Study, WarmUp};
use crate::target::{NoTarget, Serving};
use loadline_json::Summary;
use loadline_plan::DurationText;
use loadline_record::Transient;
use serde::Deserialize;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::time::{Duration, Instant};

/// The time that a round may take in addition to its duration.
const EXTRA_TIME: Duration = Duration::from_secs(60);
/// The report of a round, in the folder of the target's files.
const REPORT: &str = "warm-up.json";

/// The parts of a round's report that are read.
#[derive(Deserialize)]
struct Report {
    summary: Summary,
}

/// Warms a target up.
pub(crate) fn warm_up(
    study: &Study,
    warm_up: &WarmUp,
    target: &Serving<'_>,
    events: &Events,
) -> Result<Warmed, NoTarget> {
    let failed = |why: String| {
        let problem = Problem::NotWarmed(target.name().to_owned(), why);
        study.refuse(target.line(), problem)
    };
    let mut length = Duration::ZERO;
    loop {
        round(study, warm_up, target, events)?.map_err(failed)?;
        length += warm_up.round;
        let report = read(&target.folder().join(REPORT)).map_err(failed)?;
        let is_steady = has_settled(report.summary.transient);
        if is_steady || length + warm_up.round > warm_up.most {
            let length_s = length.as_secs_f64();
            return Ok(Warmed {
                length_s,
                is_steady,
            });
        }
    }
}

/// True if the transient of a round ended within it.
fn has_settled(transient: Option<Transient>) -> bool {
    matches!(transient, Some(Transient::Cut { .. }))
}

/// Makes a round. The inner error is a phrase.
fn round(
    study: &Study,
    warm_up: &WarmUp,
    target: &Serving<'_>,
    events: &Events,
) -> Result<Result<(), String>, NoTarget> {
    let until = Instant::now() + warm_up.round + EXTRA_TIME;
    let mut process = match start(study, warm_up, target, events) {
        Ok(process) => process,
        Err(error) => return Ok(Err(error.to_string())),
    };
    while !process.has_ended() {
        match events.wait(until) {
            Event::Interrupted => return Err(NoTarget::Interrupted),
            Event::TimeOver => return Ok(Err("a round took too long".to_owned())),
            Event::Ended(_) => {}
        }
    }
    // A result that is not to be believed, or a failed check, is a round as well: its report tells.
    Ok(process.end().map(drop).map_err(|error| error.to_string()))
}

fn start(
    study: &Study,
    warm_up: &WarmUp,
    target: &Serving<'_>,
    events: &Events,
) -> io::Result<Process> {
    let output = || File::create(target.folder().join("warm-up.log"));
    let launch = Launch {
        program: &std::env::current_exe()?,
        arguments: &words(study, warm_up, target),
        folder: &study.folder(),
        cores: study.pin.tools.as_ref(),
        stdout: output()?,
        stderr: output()?,
    };
    Process::start(launch, events.sender())
}

fn words(study: &Study, warm_up: &WarmUp, target: &Serving<'_>) -> Vec<String> {
    let report = target.folder().join(REPORT);
    let mut words: Vec<String> = ["--no-progress", "--no-watch", "--warmup", "auto"]
        .map(str::to_owned)
        .into();
    let mut flag = |name: &str, value: String| words.extend([name.to_owned(), value]);
    flag("-o", format!("json={}", report.display()));
    flag("--duration", DurationText(warm_up.round).to_string());
    flag("--connections", warm_up.connections.to_string());
    if let Some(script) = &warm_up.script {
        let path = study.resolve_path(script);
        let path = std::path::absolute(&path).unwrap_or(path);
        flag("--script", path.display().to_string());
    }
    words.push(target.url().to_owned());
    words
}

fn read(path: &Path) -> Result<Report, String> {
    let file = File::open(path).map_err(|_| "a round wrote no report".to_owned())?;
    serde_json::from_reader(BufReader::new(file)).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_has_settled_where_its_transient_ends() {
        assert!(has_settled(Some(Transient::Cut { intervals: 0 })));
        assert!(has_settled(Some(Transient::Cut { intervals: 4 })));
        assert!(!has_settled(Some(Transient::Never)));
        assert!(!has_settled(Some(Transient::TooShort)));
        assert!(!has_settled(None));
    }
}
