//! k6, by its exported summary.

use super::{Call, Captured, Peer, RunTarget, Unreadable, Unsupported, Words, check_end, seconds};
use crate::figures::{Figures, Percentiles};
use crate::settings::Settings;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// k6. Without the user's own script it gets one that only requests the URL.
pub(super) struct K6;

/// The file of its summary, in the folder of the run.
const SUMMARY: &str = "k6.json";
/// The file of the generated script.
const SCRIPT: &str = "k6.js";
/// The default number of connections for a rate.
const USUAL_CONNECTIONS: u32 = 50;

impl Peer for K6 {
    fn call(&self, settings: &Settings, place: &RunTarget<'_>) -> Result<Call, Unsupported> {
        match settings {
            Settings {
                threads: Some(_), ..
            } => return Err(Unsupported::NoThreads("k6")),
            Settings {
                rate: Some(_),
                script: Some(_),
                ..
            } => return Err(Unsupported::RateWithScript("k6")),
            Settings { script: None, .. } => check_end("k6", settings)?,
            _ => {}
        }
        let mut words = Words::of(&["run", "--quiet", "--no-usage-report"]);
        let summary = place.folder.join(SUMMARY);
        words.flag("--summary-export", Some(summary.display()));
        words.flag(
            "--summary-trend-stats",
            Some("avg,max,p(50),p(75),p(90),p(95),p(99),p(99.9)"),
        );
        let script = place.folder.join(SCRIPT);
        let mut files = Vec::new();
        let path = match place.script {
            Some(path) => {
                add_options(&mut words, settings);
                path
            }
            None => {
                files.push((script.clone(), program(settings, place.url)));
                &script
            }
        };
        words.flags(settings);
        words.add(&path.display().to_string());
        Ok(Call {
            words: words.0,
            files,
        })
    }

    fn read(&self, captured: &Captured<'_>) -> Result<Figures, Unreadable> {
        let summary = std::fs::read_to_string(captured.folder.join(SUMMARY));
        let summary = summary.map_err(|_| Unreadable::NoFile)?;
        read(&summary)
    }
}

/// Adds the options that the user's script does not set itself.
fn add_options(words: &mut Words, settings: &Settings) {
    words.flag("--vus", settings.connections);
    words.flag("--iterations", settings.requests);
    let length = |duration| format!("{}s", seconds(duration));
    words.flag("--duration", settings.duration.map(length));
    if settings.keep_alive == Some(false) {
        words.add("--no-connection-reuse");
    }
}

/// Returns a script that requests the URL.
fn program(settings: &Settings, url: &str) -> String {
    let options = json!({
        "discardResponseBodies": true,
        "noConnectionReuse": settings.keep_alive == Some(false),
        "scenarios": { "load": scenario(settings) },
    });
    let url = json!(url);
    format!(
        "import http from 'k6/http';\n\
         export const options = {options};\n\
         export default function () {{ http.get({url}); }}\n"
    )
}

/// Returns the options of a scenario for k6's executors.
fn scenario(settings: &Settings) -> Value {
    let connections = settings.connections.unwrap_or(USUAL_CONNECTIONS);
    let duration = settings
        .duration
        .map(|length| format!("{}s", seconds(length)));
    match (settings.rate, settings.requests) {
        (Some(rate), _) => json!({
            "executor": "constant-arrival-rate",
            // k6's rates are whole numbers.
            "rate": rate.count,
            "timeUnit": format!("{}ns", rate.per_ns),
            "duration": duration.unwrap_or_else(|| "10s".to_owned()),
            "preAllocatedVUs": connections,
            "maxVUs": connections,
        }),
        (None, Some(requests)) => json!({
            "executor": "shared-iterations",
            "vus": connections,
            "iterations": requests,
            "maxDuration": duration.unwrap_or_else(|| "1h".to_owned()),
        }),
        (None, None) => json!({
            "executor": "constant-vus",
            "vus": connections,
            "duration": duration,
            "gracefulStop": "0s",
        }),
    }
}

fn read(summary: &str) -> Result<Figures, Unreadable> {
    #[derive(serde::Deserialize)]
    struct Summary {
        metrics: BTreeMap<String, Map<String, Value>>,
    }
    let summary: Summary =
        serde_json::from_str(summary).map_err(|error| Unreadable::Json(error.to_string()))?;
    let value = |metric: &str, name: &str| summary.metrics.get(metric)?.get(name)?.as_f64();
    let us = |name: &str| value("http_req_duration", name).map(|ms| ms * 1e3);
    let count = |metric, name| value(metric, name).map(|count| count as u64);
    let rps = value("http_reqs", "rate").ok_or(Unreadable::Missing("http_reqs"))?;
    // Requests without a response count as requests and have no duration; but no byte is received.
    if value("data_received", "count").is_none_or(|bytes| bytes == 0.0) {
        return Ok(Figures {
            answers: Some(0),
            errors: count("http_req_failed", "passes"),
            ..Figures::default()
        });
    }
    Ok(Figures {
        rps,
        answers: count("http_reqs", "count"),
        // k6 does not report the kind of failure: no response, or a status of 400 or above.
        errors: count("http_req_failed", "passes"),
        mean_us: us("avg"),
        max_us: us("max"),
        percentiles: Percentiles::each(|percentile| us(&format!("p({percentile})"))),
        ..Figures::default()
    })
}
