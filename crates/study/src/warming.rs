//! Warming a target up: a service that compiles while it runs, or fills its caches, is not measured
//! before it is steady.
//!
//! This program loads the target in rounds. Each is a run of its own with `--warmup auto`. The target
//! is steady when the detector of transients finds that the last round has settled, and when no
//! round of the last three was faster than those before it. One round alone does not show that: a
//! virtual machine that compiles becomes faster over minutes, by less in ten seconds than
//! neighbours change.

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
    let mut means = Vec::new();
    loop {
        round(study, warm_up, target, events)?.map_err(failed)?;
        length += warm_up.round;
        let Report { summary } = read(&target.folder().join(REPORT)).map_err(failed)?;
        means.push(summary.response_time_us.mean.unwrap_or(f64::INFINITY));
        let is_steady = has_settled(summary.transient) && has_stopped_improving(&means);
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

/// The number of last rounds in which nothing may have become faster.
const STEADY_ROUNDS: usize = 3;
/// The part of the mean response time by which a faster round differs from those before it.
const IMPROVEMENT: f64 = 0.03;

/// True if the mean response times of rounds, in order, no longer fall: a closed loop has a mean
/// that is the inverse of its rate.
fn has_stopped_improving(means: &[f64]) -> bool {
    let Some(before) = means.len().checked_sub(STEADY_ROUNDS) else {
        return false;
    };
    let least = |means: &[f64]| means.iter().copied().fold(f64::INFINITY, f64::min);
    let (before, last) = means.split_at(before);
    !before.is_empty() && least(last) >= least(before) * (1.0 - IMPROVEMENT)
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

    #[test]
    fn what_becomes_faster_round_by_round_has_not_stopped() {
        // A virtual machine that compiles: the mean falls by a tenth in each round.
        let falling: Vec<f64> = (0..20).map(|round| 70e3 * 0.9_f64.powi(round)).collect();
        for rounds in 0..=falling.len() {
            assert!(!has_stopped_improving(&falling[..rounds]), "{rounds}");
        }
    }

    #[test]
    fn three_rounds_that_are_no_faster_end_it() {
        assert!(!has_stopped_improving(&[20.0, 20.0, 20.0]));
        assert!(has_stopped_improving(&[20.0, 20.0, 19.5, 20.3]));
        assert!(!has_stopped_improving(&[20.0, 20.0, 19.0, 20.3]));
        assert!(has_stopped_improving(&[20.0, 19.0, 19.5, 20.3, 19.2]));
    }

    #[test]
    fn a_round_without_a_response_is_not_steady() {
        let infinite = f64::INFINITY;
        assert!(!has_stopped_improving(&[infinite, 20.0, 20.0, 20.0]));
    }
}
