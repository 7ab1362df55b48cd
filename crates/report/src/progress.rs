//! One line about a run that is still going on.
//!
//! A pure function of the last interval, the counts so far and the time: who prints it, where and
//! how often is the command's business.

use crate::{layout, text};
use loadline_plan::{Plan, Shape};
use loadline_record::{Counts, Row, Summary};
use loadline_units as units;
use std::time::Duration;

/// Columns of the terminal line's bar.
const BAR: usize = 16;
/// Columns of a rate (`138 412/s`) in the terminal line, so that what follows keeps its column.
const RATE: usize = 9;
/// The longest remaining time that is printed, in seconds.
const LONGEST_LEFT_S: f64 = 1e8;
/// Columns of a time with its name (`p50 7.77 ms`), likewise.
const TIME: usize = 11;

/// The progress of a run.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The last interval, once there is one.
    pub latest: Option<Row>,
    /// The counts since the start of the measured part.
    pub counts: Counts,
    /// Time since then.
    pub elapsed: Duration,
    /// The length the run is to have, if it has one.
    pub length: Option<Duration>,
    /// The exchanges after which the run ends, if it is limited so.
    pub request_limit: Option<u64>,
    /// True if the measured part has not begun yet, because of a warm-up.
    pub warming_up: bool,
}

impl Progress {
    /// Returns the progress of the run of this summary, this long after the end of its warm-up.
    pub fn of(summary: &Summary, elapsed: Duration, warming_up: bool) -> Progress {
        Progress {
            latest: summary.rows.last().copied(),
            counts: summary.total.counts,
            elapsed,
            length: planned_length(&summary.plan),
            request_limit: summary.plan.request_limit,
            warming_up,
        }
    }

    /// The line for a terminal, at most `width` columns: a bar, the rate and response times of the
    /// last interval, failures so far, time left. Where there is little room, what matters least is
    /// left out; the failures stay to the last.
    pub fn terminal_line(&self, width: usize, ascii: bool) -> String {
        let time = |time: Option<String>| time.map(|time| layout::left(&time, TIME));
        // In the order of the line; the highest rank goes first where there is little room.
        let ranked = [
            (5, self.bar()),
            (1, self.rate().map(|rate| layout::right(&rate, RATE))),
            (4, time(self.median())),
            (3, time(self.tail())),
            (0, self.failed()),
            (2, self.left()),
        ];
        let line = fitting(ranked, "  ", width);
        if ascii { layout::ascii(&line) } else { line }
    }

    /// The line for a log, at most `width` columns, without a bar. Where there is
    /// little room, it leaves out as the terminal's line does.
    pub fn log_line(&self, width: usize) -> String {
        let answered = format!("{} answered", units::count(self.counts.answered));
        let ranked = [
            (3, Some(self.position())),
            (1, self.rate()),
            (5, self.median()),
            (4, self.tail()),
            (2, Some(answered)),
            (0, self.failed()),
        ];
        fitting(ranked, ", ", width)
    }

    /// The share of the run that is over, 0 to 1; `None` if it has no end of its own.
    pub fn share(&self) -> Option<f64> {
        let ended = self.counts.answered + self.counts.failed;
        let of_time = self
            .length
            .map(|length| ratio(self.elapsed.as_secs_f64(), length.as_secs_f64()));
        let of_requests = self
            .request_limit
            .map(|limit| ratio(ended as f64, limit as f64));
        let share = of_time.into_iter().chain(of_requests).reduce(f64::max)?;
        Some(share.min(1.0))
    }

    /// True if unfinished requests are awaited after the window. For a moment after its end, the
    /// report of the end may just not have arrived yet.
    fn is_draining(&self) -> bool {
        const MOMENT: Duration = Duration::from_millis(250);
        self.length
            .is_some_and(|length| self.elapsed > length + MOMENT)
    }

    /// Returns the position of the run: `12 s of 30 s`, `12 s, 1 000 requests to end`.
    pub fn position(&self) -> String {
        // What is in flight is waited for when the time is over.
        let elapsed = self
            .length
            .map_or(self.elapsed, |length| self.elapsed.min(length));
        let elapsed = units::duration(match self.length {
            Some(length) if length == elapsed => length,
            _ => Duration::from_secs(elapsed.as_secs()),
        });
        match (self.length, self.request_limit) {
            (Some(length), _) if self.is_draining() => {
                format!("{elapsed} of {}, draining", units::duration(length))
            }
            (Some(length), _) => format!("{elapsed} of {}", units::duration(length)),
            (None, Some(limit)) => {
                format!("{elapsed}, {} to end", units::counted(limit, "request"))
            }
            (None, None) => elapsed,
        }
    }

    fn bar(&self) -> Option<String> {
        let full = text::bar((self.share()? * 1e6) as u64, 1_000_000, BAR);
        let rest = "░".repeat(BAR - layout::width(&full));
        Some(full + &rest)
    }

    fn rate(&self) -> Option<String> {
        let Some(row) = &self.latest else {
            let word = if self.warming_up {
                "warming up"
            } else {
                "starting"
            };
            return Some(word.to_owned());
        };
        let seconds = row.end_ns.saturating_sub(row.start_ns) as f64 / 1e9;
        Some(units::rate(ratio(row.counts.completed as f64, seconds)))
    }

    fn median(&self) -> Option<String> {
        self.response("p50", |row| row.response.p50_ns)
    }

    fn tail(&self) -> Option<String> {
        self.response("p99", |row| row.response.p99_ns)
    }

    fn response(&self, name: &str, ns: impl Fn(&Row) -> u64) -> Option<String> {
        let row = self.latest.as_ref()?;
        let timed = row.response.max_ns > 0;
        let time = if timed {
            units::time(ns(row) as f64)
        } else {
            "–".to_owned()
        };
        Some(format!("{name} {time}"))
    }

    fn failed(&self) -> Option<String> {
        Some(format!("{} failed", units::count(self.counts.failures())))
    }

    /// The time left, by what is over so far: `18 s left`; `None` where it is not known.
    pub fn left(&self) -> Option<String> {
        let share = self.share().filter(|share| *share > 0.0)?;
        let left_s = self.elapsed.as_secs_f64() * (1.0 - share) / share;
        // Nobody waits for more, and the greatest times would not fit.
        let is_near = left_s < LONGEST_LEFT_S;
        is_near.then(|| format!("{} left", clock(left_s.round() as u64)))
    }
}

/// Returns the duration of the measured part of a run of this plan, if the plan sets it.
pub fn planned_length(plan: &Plan) -> Option<Duration> {
    match &plan.load.shape {
        Shape::ClosedStages { stages, .. } => Some(stages.iter().map(|s| s.duration).sum()),
        Shape::RateStages { stages, .. } => Some(stages.iter().map(|s| s.duration).sum()),
        Shape::Closed
        | Shape::Rate { .. }
        | Shape::Burst { .. }
        | Shape::Paced
        | Shape::Scenarios { .. } => plan.duration,
    }
}

/// The parts in their order; where there is little room, those of the highest rank are left out.
fn fitting<const N: usize>(
    ranked: [(u8, Option<String>); N],
    between: &str,
    width: usize,
) -> String {
    let known = ranked.into_iter();
    let mut parts: Vec<(u8, String)> = known
        .filter_map(|(rank, part)| Some((rank, part?)))
        .collect();
    let joined = |parts: &[(u8, String)]| {
        let texts: Vec<&str> = parts.iter().map(|(_, part)| part.as_str()).collect();
        texts.join(between)
    };
    while parts.len() > 1 && layout::width(&joined(&parts)) > width {
        let last = parts.iter().map(|(rank, _)| *rank).max();
        parts.retain(|(rank, _)| Some(*rank) != last);
    }
    layout::cut(&joined(&parts), width)
}

/// `8 s`, `1:05`, `1:00:05`.
fn clock(seconds: u64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest} s"),
        (0, minutes) => format!("{minutes}:{rest:02}"),
        (hours, minutes) => format!("{hours}:{minutes:02}:{rest:02}"),
    }
}

/// Zero of nothing is all of it.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests;
