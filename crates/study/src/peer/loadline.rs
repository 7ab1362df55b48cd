//! Loadline itself, by its JSON.

use super::{Call, Captured, Peer, RunTarget, Unreadable, Unsupported, Words};
use crate::figures::{Figures, Moment, Percentiles};
use crate::meter::{KB, Mean};
use crate::settings::{Flag, Settings, rate_text};
use loadline_json::{Interval, Number, Summary, Tree, Us, Watch};
use loadline_plan::DurationText;
use loadline_record::ErrorKind;
use serde::Deserialize;
use std::fs::File;
use std::io::BufReader;

/// Loadline. Settings that are absent have its defaults, or come from the plan that its arguments
/// name.
pub(super) struct Loadline;

/// The file of its report, in the folder of the run.
const REPORT: &str = "loadline.json";

impl Peer for Loadline {
    fn call(&self, settings: &Settings, place: &RunTarget<'_>) -> Result<Call, Unsupported> {
        let mut words = Words::of(&["--no-progress", "-o", "text"]);
        let report = place.folder.join(REPORT);
        words.flag("-o", Some(format!("json={}", report.display())));
        words.flag("--threads", settings.threads);
        words.flag("--connections", settings.connections);
        words.flag("--requests", settings.requests);
        words.flag("--duration", settings.duration.map(DurationText));
        words.flag("--rate", settings.rate.map(rate_text));
        words.flag("--max-connections", most_connections(settings));
        words.flag(
            "--script",
            place.script.map(|path| path.display().to_string()),
        );
        if settings.keep_alive == Some(false) {
            words.add("--no-keepalive");
        }
        words.flags(settings);
        words.add(place.url);
        Ok(words.into())
    }

    fn read(&self, captured: &Captured<'_>) -> Result<Figures, Unreadable> {
        let file = File::open(captured.folder.join(REPORT)).map_err(|_| Unreadable::NoFile)?;
        let report: Report = serde_json::from_reader(BufReader::new(file))
            .map_err(|error| Unreadable::Json(error.to_string()))?;
        Ok(report.figures())
    }
}

/// Returns the limit on connections of an open load: the connections that the study sets for every
/// tool, unless its flags set the limit.
fn most_connections(settings: &Settings) -> Option<u32> {
    let mut own = settings.flags.iter().flat_map(Flag::words);
    let is_given = own.any(|word| word.starts_with("--max-connections"));
    settings
        .connections
        .filter(|_| settings.rate.is_some() && !is_given)
}

/// The part of a [`loadline_json::Run`] that is read.
#[derive(Deserialize)]
struct Report {
    intervals: Vec<Interval>,
    summary: Summary,
}

impl Report {
    fn figures(self) -> Figures {
        let summary = self.summary;
        let times = &summary.response_time_us;
        let percentiles = times.percentiles.map(in_us);
        let bad = summary
            .statuses
            .iter()
            .filter(|(status, _)| **status >= 400);
        let timed_out = timeouts(&summary);
        let findings = summary.validity.findings;
        Figures {
            rps: summary.counts.rate.0,
            duration_s: Some(summary.duration_s.0),
            answers: Some(summary.counts.answered),
            errors: Some(summary.counts.failed),
            timeouts: Some(timed_out),
            bad_statuses: Some(bad.map(|(_, count)| count).sum()),
            mean_us: in_us(times.mean),
            max_us: in_us(times.max),
            resolution_us: None,
            percentiles: Percentiles {
                p50_us: percentiles.p50,
                p75_us: percentiles.p75,
                p90_us: percentiles.p90,
                p95_us: percentiles.p95,
                p99_us: percentiles.p99,
                p99_9_us: percentiles.p99_9,
            },
            load_line: None,
            verdict: None,
            validity: Some(summary.validity.grade.name().to_owned()),
            finding: findings.into_iter().next().map(|found| found.text),
            target: summary.watch.as_ref().and_then(far_target),
            moments: self.intervals.iter().map(moment).collect(),
        }
    }
}

/// Returns the usage of all that agents watched, in the units of [`Mean`]; `None` if none did.
fn far_target(watch: &Watch) -> Option<Mean> {
    let trees = || watch.trees.iter().filter(|tree| tree.machine.is_some());
    trees().next()?;
    let sum = |of: fn(&Tree) -> Option<f64>| trees().map(of).sum::<Option<f64>>();
    Some(Mean {
        cpu_s: sum(|tree| Some(tree.cpu_s.0)),
        cpu_percent: sum(|tree| tree.cpu_percent.mean),
        memory_kb: sum(|tree| Some(tree.rss_bytes.mean? / KB)),
        max_memory_kb: sum(|tree| Some(number(tree.rss_bytes.max?) / KB)),
        sockets: sum(|tree| tree.sockets.mean),
    })
}

fn number(number: Number) -> f64 {
    match number {
        Number::Count(count) => count as f64,
        Number::Measured(measured) => measured,
    }
}

fn timeouts(summary: &Summary) -> u64 {
    let timeouts = summary.errors.iter();
    let timeouts = timeouts.filter(|(kind, _)| **kind == ErrorKind::Timeout);
    timeouts.map(|(_, error)| error.count).sum()
}

fn in_us(time: Option<Us>) -> Option<f64> {
    time.map(|us| us.0)
}

fn moment(interval: &Interval) -> Moment {
    Moment {
        at_s: interval.end_s.0,
        rps: interval.counts.rate.0,
        p99_us: in_us(interval.response_time_us.p99),
    }
}
