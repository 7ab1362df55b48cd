//! wrk and wrk2: the same command line and report, except for the rate.

use super::scan::{after, count, number, time_us};
use super::{Call, Captured, Peer, RunTarget, Unreadable, Unsupported, Words, whole_seconds};
use crate::figures::{Figures, Percentiles};
use crate::settings::{Settings, rate_text};

/// wrk, or wrk2 if paced.
pub(super) struct Wrk {
    pub(super) paced: bool,
}

impl Wrk {
    fn name(&self) -> &'static str {
        if self.paced { "wrk2" } else { "wrk" }
    }

    fn check(&self, settings: &Settings) -> Result<(), Unsupported> {
        match (self.paced, settings.rate) {
            (true, None) => return Err(Unsupported::NeedsRate("wrk2")),
            (false, Some(_)) => return Err(Unsupported::NoRate("wrk")),
            _ => {}
        }
        match settings.requests {
            Some(_) => Err(Unsupported::NoRequests(self.name())),
            None => Ok(()),
        }
    }
}

impl Peer for Wrk {
    fn call(&self, settings: &Settings, place: &RunTarget<'_>) -> Result<Call, Unsupported> {
        self.check(settings)?;
        let no_end = Unsupported::NoEnd(self.name(), "a duration");
        let duration = whole_seconds(self.name(), settings.duration.ok_or(no_end)?)?;
        let mut words = Words::of(&["--latency"]);
        words.flag("-t", settings.threads);
        words.flag("-c", settings.connections);
        words.flag("-d", Some(format!("{duration}s")));
        words.flag("-R", settings.rate.map(rate_text));
        words.flag("-s", place.script.map(|path| path.display().to_string()));
        if settings.keep_alive == Some(false) {
            words.flag("-H", Some("Connection: close"));
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
        let rps = after(report, "Requests/sec:").and_then(number);
        let whole = report.lines().find(|line| line.contains(" requests in "));
        let whole = whole.ok_or(Unreadable::Missing("number of requests"))?;
        let (requests, rest) = whole.split_once(" requests in ").unwrap_or((whole, ""));
        let duration_us = time_us(rest.split(',').next().unwrap_or_default());
        let latency: Vec<&str> = after(report, "Latency  ")
            .map(|cells| cells.split_whitespace().collect())
            .unwrap_or_default();
        let cell = |index: usize| latency.get(index).and_then(|cell| time_us(cell));
        // Without any response wrk reports zero for both, which is not a time.
        let answers = count(requests).ok_or(Unreadable::Missing("number of requests"))?;
        let time = |us: Option<f64>| us.filter(|_| answers > 0);
        Ok(Figures {
            rps: rps.ok_or(Unreadable::Missing("requests a second"))?,
            duration_s: duration_us.map(|us| us / 1e6),
            answers: Some(answers),
            errors: Some(socket_errors(report).map(|(_, count)| count).sum()),
            timeouts: Some(timeouts(report)),
            bad_statuses: Some(
                after(report, "Non-2xx or 3xx responses:")
                    .and_then(count)
                    .unwrap_or(0),
            ),
            mean_us: time(cell(0)),
            max_us: time(cell(2)),
            percentiles: Percentiles::each(|percentile| time(percentile_us(report, percentile))),
            ..Figures::default()
        })
    }
}

/// The kinds of `connect 0, read 3, write 0, timeout 1`, each with its count.
fn socket_errors(report: &str) -> impl Iterator<Item = (&str, u64)> {
    let line = after(report, "Socket errors:").unwrap_or_default();
    line.split(',').filter_map(|kind| {
        let (name, number) = kind.trim().split_once(' ')?;
        Some((name, count(number)?))
    })
}

/// Returns the number of requests without a response within wrk's `--timeout`.
fn timeouts(report: &str) -> u64 {
    let of_kind = socket_errors(report).filter(|(kind, _)| *kind == "timeout");
    of_kind.map(|(_, count)| count).sum()
}

/// Returns the time of a percentile in the first block of percentiles: `50%   87.00us`, in wrk2
/// `50.000%`.
fn percentile_us(report: &str, percentile: f64) -> Option<f64> {
    let block = report
        .lines()
        .skip_while(|line| !line.contains("Latency Distribution"));
    let rows = block.skip(1).map_while(|line| line.trim().split_once('%'));
    let mut rows = rows.filter_map(|(name, time)| Some((name.parse::<f64>().ok()?, time)));
    let (_, time) = rows.find(|(name, _)| *name == percentile)?;
    time_us(time)
}
