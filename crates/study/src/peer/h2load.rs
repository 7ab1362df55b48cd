//! h2load of nghttp2: HTTP/1.1, or HTTP/2 if the flags set a number of streams (`-m`).

use super::scan::{after, count_before, number, time_us};
use super::{Call, Captured, Peer, RunTarget, Unreadable, Unsupported, Words, check_end, seconds};
use crate::figures::Figures;
use crate::settings::Settings;

/// h2load. Its report has no percentiles.
pub(super) struct H2load;

impl Peer for H2load {
    fn call(&self, settings: &Settings, place: &RunTarget<'_>) -> Result<Call, Unsupported> {
        check_end("h2load", settings)?;
        match settings {
            Settings { rate: Some(_), .. } => return Err(Unsupported::NoRate("h2load")),
            Settings {
                script: Some(_), ..
            } => return Err(Unsupported::NoScript("h2load")),
            Settings {
                keep_alive: Some(false),
                ..
            } => return Err(Unsupported::AlwaysKeepsAlive("h2load")),
            Settings {
                duration: Some(_),
                requests: Some(_),
                ..
            } => return Err(Unsupported::TwoEnds("h2load")),
            _ => {}
        }
        let mut words = Words::of(if sets_streams(settings) {
            &[]
        } else {
            &["--h1"]
        });
        words.flag("-t", settings.threads);
        words.flag("-c", settings.connections);
        words.flag("-n", settings.requests);
        words.flag("-D", settings.duration.map(seconds));
        words.flags(settings);
        words.add(place.url);
        Ok(words.into())
    }

    fn read(&self, captured: &Captured<'_>) -> Result<Figures, Unreadable> {
        let report = captured.stdout;
        if report.trim().is_empty() {
            return Err(Unreadable::Empty);
        }
        let whole = after(report, "finished in ").ok_or(Unreadable::Missing("duration"))?;
        let mut parts = whole.split(", ");
        let duration_us = parts.next().and_then(time_us);
        let rps = parts.next().and_then(number);
        let requests = after(report, "requests:").unwrap_or_default();
        let statuses = after(report, "status codes:").unwrap_or_default();
        let times = after(report, "time for request:").unwrap_or_default();
        let times: Vec<&str> = times.split_whitespace().collect();
        let time = |index: usize| times.get(index).and_then(|time| time_us(time));
        let requests = |what| count_before(requests, what);
        let statuses = |class| count_before(statuses, class);
        Ok(Figures {
            rps: rps.ok_or(Unreadable::Missing("requests a second"))?,
            duration_s: duration_us.map(|us| us / 1e6),
            answers: Some(requests("done").ok_or(Unreadable::Missing("number of requests"))?),
            errors: Some(requests("errored").unwrap_or(0) + requests("timeout").unwrap_or(0)),
            bad_statuses: Some(statuses("4xx").unwrap_or(0) + statuses("5xx").unwrap_or(0)),
            max_us: time(1),
            mean_us: time(2),
            ..Figures::default()
        })
    }
}

/// True if a flag sets the number of streams of a connection.
fn sets_streams(settings: &Settings) -> bool {
    let mut flags = settings.flags.iter();
    flags.any(|flag| flag.on && matches!(flag.name.as_str(), "-m" | "--max-concurrent-streams"))
}
