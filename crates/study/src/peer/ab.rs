//! ApacheBench.

use super::scan::{after, count, number};
use super::{
    Call, Captured, Peer, RunTarget, Unreadable, Unsupported, Words, check_end, whole_seconds,
};
use crate::figures::{Figures, Percentiles};
use crate::settings::Settings;

/// ApacheBench, which has a single thread.
pub(super) struct Ab;

/// The number of requests if only the time ends a run: ab's default is 50 000. ab allocates 40
/// bytes for each request, but touches them only when the request is made.
const ENDLESS: u64 = 50_000_000;

impl Peer for Ab {
    fn call(&self, settings: &Settings, place: &RunTarget<'_>) -> Result<Call, Unsupported> {
        check_end("ab", settings)?;
        match settings {
            Settings { rate: Some(_), .. } => return Err(Unsupported::NoRate("ab")),
            Settings {
                script: Some(_), ..
            } => return Err(Unsupported::NoScript("ab")),
            Settings {
                threads: Some(2..), ..
            } => return Err(Unsupported::NoThreads("ab")),
            _ => {}
        }
        let mut words = Words::of(&["-q"]);
        if let Some(duration) = settings.duration {
            // The number of requests has to come after -t, which would replace it.
            words.flag("-t", Some(whole_seconds("ab", duration)?));
        }
        words.flag("-n", Some(settings.requests.unwrap_or(ENDLESS)));
        words.flag("-c", settings.connections);
        if settings.keep_alive == Some(true) {
            words.add("-k");
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
        let answers = after(report, "Complete requests:").and_then(count);
        let failed = after(report, "Failed requests:").and_then(count);
        let rps = after(report, "Requests per second:").and_then(number);
        let ms = |text: &str| number(text).map(|ms| ms * 1e3);
        let percentile = |percentile: f64| after(report, &format!("{percentile}%")).and_then(ms);
        Ok(Figures {
            rps: rps.ok_or(Unreadable::Missing("requests per second"))?,
            duration_s: after(report, "Time taken for tests:").and_then(number),
            answers: Some(answers.ok_or(Unreadable::Missing("number of complete requests"))?),
            errors: failed,
            bad_statuses: Some(
                after(report, "Non-2xx responses:")
                    .and_then(count)
                    .unwrap_or(0),
            ),
            mean_us: after(report, "Time per request:").and_then(ms),
            max_us: after(report, "100%").and_then(ms),
            percentiles: Percentiles::each(percentile),
            resolution_us: Some(1e3),
            ..Figures::default()
        })
    }
}
