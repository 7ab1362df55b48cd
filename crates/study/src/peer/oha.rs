//! oha, by its JSON.

use super::{
    Call, Captured, Peer, RunTarget, Unreadable, Unsupported, Words, check_end, per_second, seconds,
};
use crate::figures::{Figures, Percentiles};
use crate::settings::{Settings, rate_text};
use serde::Deserialize;
use std::collections::BTreeMap;

/// oha.
pub(super) struct Oha;

impl Peer for Oha {
    fn call(&self, settings: &Settings, place: &RunTarget<'_>) -> Result<Call, Unsupported> {
        check_end("oha", settings)?;
        match settings {
            Settings {
                script: Some(_), ..
            } => return Err(Unsupported::NoScript("oha")),
            Settings {
                duration: Some(_),
                requests: Some(_),
                ..
            } => return Err(Unsupported::TwoEnds("oha")),
            _ => {}
        }
        let mut words = Words::of(&["--no-tui", "--output-format", "json"]);
        words.flag("--worker-threads", settings.threads);
        words.flag("-c", settings.connections);
        words.flag("-n", settings.requests);
        let length = |duration| format!("{}s", seconds(duration));
        words.flag("-z", settings.duration.map(length));
        words.flag("-q", settings.rate.map(rate_text));
        if settings.keep_alive == Some(false) {
            words.add("--disable-keepalive");
        }
        words.flags(settings);
        words.add(place.url);
        Ok(words.into())
    }

    fn read(&self, captured: &Captured<'_>) -> Result<Figures, Unreadable> {
        if captured.stdout.trim().is_empty() {
            return Err(Unreadable::Empty);
        }
        let report: Report = serde_json::from_str(captured.stdout)
            .map_err(|error| Unreadable::Json(error.to_string()))?;
        Ok(report.figures())
    }
}

/// The part of the JSON that is read. Figures without a value are null.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    summary: Summary,
    latency_percentiles: BTreeMap<String, Option<f64>>,
    status_code_distribution: BTreeMap<String, u64>,
    error_distribution: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    total: f64,
    slowest: Option<f64>,
    average: Option<f64>,
}

impl Report {
    fn figures(&self) -> Figures {
        /// Requests in flight at the end are not failures.
        const CUT_OFF: &str = "aborted due to deadline";
        let us = |s: Option<f64>| s.map(|s| s * 1e6);
        let percentile = |percentile: f64| {
            let name = format!("p{percentile}");
            us(self.latency_percentiles.get(&name).copied().flatten())
        };
        let errors = self.error_distribution.iter();
        let errors = errors.filter(|(message, _)| *message != CUT_OFF);
        let answers: u64 = self.status_code_distribution.values().sum();
        let statuses = self.status_code_distribution.iter();
        let bad = statuses.filter(|(status, _)| status.as_str() >= "400");
        Figures {
            // oha's own rate includes failed requests.
            rps: per_second(answers, self.summary.total),
            duration_s: Some(self.summary.total),
            answers: Some(answers),
            errors: Some(errors.map(|(_, count)| count).sum()),
            bad_statuses: Some(bad.map(|(_, count)| count).sum()),
            mean_us: us(self.summary.average),
            max_us: us(self.summary.slowest),
            percentiles: Percentiles::each(percentile),
            ..Figures::default()
        }
    }
}
