//! Loadline itself, by its JSON.

use super::{Call, Captured, Peer, Place, Unfit, Unreadable, Words};
use crate::figures::{Figures, Moment, Percentiles};
use crate::settings::{Flag, Settings, rate_text};
use loadline_plan::DurationText;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;

/// Loadline. What is not set is left to its defaults, or to the plan that its words name.
pub(super) struct Loadline;

/// Where its report is written, in the folder of the run.
const REPORT: &str = "loadline.json";

impl Peer for Loadline {
    fn call(&self, settings: &Settings, place: &Place<'_>) -> Result<Call, Unfit> {
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

/// The connections of a study are all that a tool has: an open load gets no more, unless the study says
/// so.
fn most_connections(settings: &Settings) -> Option<u32> {
    let mut own = settings.flags.iter().flat_map(Flag::words);
    let is_said = own.any(|word| word.starts_with("--max-connections"));
    settings
        .connections
        .filter(|_| settings.rate.is_some() && !is_said)
}

/// What stands in the JSON, as far as it is needed.
#[derive(Deserialize)]
struct Report {
    intervals: Vec<Interval>,
    summary: Summary,
}

#[derive(Deserialize)]
struct Interval {
    end_s: f64,
    rate: f64,
    response_time_us: BTreeMap<String, Option<f64>>,
}

#[derive(Deserialize)]
struct Summary {
    duration_s: f64,
    rate: f64,
    answered: u64,
    failed: u64,
    response_time_us: Times,
    statuses: BTreeMap<String, u64>,
    validity: Validity,
}

/// Of all that stands there, only the numbers are needed.
#[derive(Deserialize)]
struct Times {
    mean: Option<f64>,
    max: Option<f64>,
    p50: Option<f64>,
    p75: Option<f64>,
    p90: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
    #[serde(rename = "p99.9")]
    p99_9: Option<f64>,
}

#[derive(Deserialize)]
struct Validity {
    grade: String,
    #[serde(default)]
    findings: Vec<Finding>,
}

#[derive(Deserialize)]
struct Finding {
    text: String,
}

impl Report {
    fn figures(self) -> Figures {
        let summary = self.summary;
        let times = &summary.response_time_us;
        let bad = summary
            .statuses
            .iter()
            .filter(|(status, _)| status.as_str() >= "400");
        Figures {
            rps: summary.rate,
            duration_s: Some(summary.duration_s),
            answers: Some(summary.answered),
            errors: Some(summary.failed),
            bad_statuses: Some(bad.map(|(_, count)| count).sum()),
            mean_us: times.mean,
            max_us: times.max,
            percentiles: Percentiles {
                p50_us: times.p50,
                p75_us: times.p75,
                p90_us: times.p90,
                p95_us: times.p95,
                p99_us: times.p99,
                p99_9_us: times.p99_9,
            },
            validity: Some(summary.validity.grade),
            doubt: summary
                .validity
                .findings
                .into_iter()
                .next()
                .map(|found| found.text),
            moments: self.intervals.into_iter().map(Interval::moment).collect(),
        }
    }
}

impl Interval {
    fn moment(self) -> Moment {
        Moment {
            at_s: self.end_s,
            rps: self.rate,
            p99_us: self.response_time_us.get("p99").copied().flatten(),
        }
    }
}
