//! hey.

use super::scan::{after, count, number};
use super::{
    Call, Captured, Peer, RunTarget, Unreadable, Unsupported, Words, check_end, per_second, seconds,
};
use crate::figures::{Figures, Percentiles};
use crate::settings::Settings;

/// hey, whose rate applies to each connection.
pub(super) struct Hey;

/// hey's default number of connections.
const USUAL_CONNECTIONS: u32 = 50;

impl Peer for Hey {
    fn call(&self, settings: &Settings, place: &RunTarget<'_>) -> Result<Call, Unsupported> {
        check_end("hey", settings)?;
        match settings {
            Settings {
                script: Some(_), ..
            } => return Err(Unsupported::NoScript("hey")),
            Settings {
                duration: Some(_),
                requests: Some(_),
                ..
            } => return Err(Unsupported::TwoEnds("hey")),
            _ => {}
        }
        let mut words = Words::default();
        words.flag("-cpus", settings.threads);
        words.flag("-c", settings.connections);
        words.flag("-n", settings.requests);
        let length = |duration| format!("{}s", seconds(duration));
        words.flag("-z", settings.duration.map(length));
        let connections = settings.connections.unwrap_or(USUAL_CONNECTIONS);
        let each = settings
            .rate
            .map(|rate| rate.per_second() / f64::from(connections));
        words.flag("-q", each);
        if settings.keep_alive == Some(false) {
            words.add("-disable-keepalive");
        }
        words.flags(settings);
        words.add(place.url);
        Ok(words.into())
    }

    fn read(&self, captured: &Captured<'_>) -> Result<Figures, Unreadable> {
        let report = captured.stdout;
        if report.trim().is_empty() {
            return Err(Unreadable::Empty);
        }
        let us = |text: &str| number(text).map(|s| s * 1e6);
        let duration_s = after(report, "Total:").and_then(number);
        let duration_s = duration_s.ok_or(Unreadable::Missing("total time"))?;
        // Some versions print the escape of a template's percent sign as well.
        let of_sign = |percentile: f64, sign| after(report, &format!("{percentile}{sign} in"));
        let percentile = |percentile: f64| {
            let line = of_sign(percentile, "%").or_else(|| of_sign(percentile, "%%"));
            line.and_then(us)
        };
        let statuses = list(report, "Status code distribution:");
        let sum = |bad: bool| {
            let counted = statuses.iter().filter(|(status, _)| !bad || *status >= 400);
            counted.filter_map(|(_, line)| count(line)).sum()
        };
        let errors = list(report, "Error distribution:");
        let answers = sum(false);
        // Without any response hey reports zero, which is not a time.
        let time = |us: Option<f64>| us.filter(|_| answers > 0);
        Ok(Figures {
            // hey's own rate includes failed requests.
            rps: per_second(answers, duration_s),
            duration_s: Some(duration_s),
            answers: Some(answers),
            errors: Some(errors.iter().map(|(count, _)| count).sum()),
            bad_statuses: Some(sum(true)),
            mean_us: time(after(report, "Average:").and_then(us)),
            max_us: time(after(report, "Slowest:").and_then(us)),
            percentiles: Percentiles::each(percentile),
            resolution_us: Some(100.0),
            ..Figures::default()
        })
    }
}

/// Returns the lines under a headline: the number in brackets, and the text after it.
fn list<'a>(report: &'a str, headline: &str) -> Vec<(u64, &'a str)> {
    let lines = report
        .lines()
        .skip_while(|line| line.trim() != headline)
        .skip(1);
    let entry = |line: &'a str| {
        let (number, rest) = line.trim().strip_prefix('[')?.split_once(']')?;
        Some((number.parse().ok()?, rest))
    };
    lines.map_while(entry).collect()
}
