//! The progress of a study, and the remaining time.

use std::time::Duration;

/// The progress of a study.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The number of the current run, from 1.
    pub number: usize,
    /// The number of all runs.
    pub total: usize,
    /// The name of the current run.
    pub name: String,
    /// The time that it has taken so far.
    pub elapsed: Duration,
    /// The time that it is expected to take; `None` if unknown.
    pub expected: Option<Duration>,
    /// The remaining time of the whole study; `None` if unknown.
    pub left: Option<Duration>,
}

impl Progress {
    /// Returns the progress in a line:
    /// `run 3 of 64  wrk-t1-c10-1m  12 s of 60 s  about 1 h 2 min left`.
    pub fn line(&self) -> String {
        let Progress { number, total, .. } = self;
        let mut line = format!(
            "run {number} of {total}  {}  {}",
            self.name,
            seconds(self.elapsed)
        );
        if let Some(expected) = self.expected {
            line.push_str(&format!(" of {}", seconds(expected)));
        }
        if let Some(left) = self.left {
            line.push_str(&format!("  about {} left", rough(left)));
        }
        line
    }
}

fn seconds(length: Duration) -> String {
    format!("{} s", length.as_secs())
}

/// Formats a time roughly, in at most two units.
fn rough(length: Duration) -> String {
    let seconds = length.as_secs();
    match (seconds / 3_600, seconds / 60 % 60) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) if minutes < 10 => format!("{minutes} min {} s", seconds % 60),
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

/// Estimates the remaining time: the configured duration of each run plus the mean overhead so far.
/// A run without a configured duration is expected to take the mean time of such runs so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forecast {
    pause: Duration,
    overhead: Mean,
    unbounded: Mean,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: Duration,
    count: u32,
}

impl Mean {
    fn add(&mut self, length: Duration) {
        self.sum += length;
        self.count += 1;
    }

    fn value(self) -> Option<Duration> {
        self.sum.checked_div(self.count)
    }
}

impl Forecast {
    pub(crate) fn new(pause: Duration) -> Self {
        Forecast {
            pause,
            ..Forecast::default()
        }
    }

    /// Records the time from the start of a run to the next one, without the pause.
    pub(crate) fn learn(&mut self, planned: Option<Duration>, took: Duration) {
        match planned {
            Some(planned) => self.overhead.add(took.saturating_sub(planned)),
            None => self.unbounded.add(took),
        }
    }

    /// Returns the expected time of a run.
    pub(crate) fn run(&self, planned: Option<Duration>) -> Option<Duration> {
        match planned {
            Some(planned) => Some(planned + self.overhead.value().unwrap_or_default()),
            None => self.unbounded.value(),
        }
    }

    /// Returns the expected remaining time: of the current run, and of all that follow.
    pub(crate) fn left(
        &self,
        elapsed: Duration,
        runs: impl IntoIterator<Item = Option<Duration>>,
    ) -> Option<Duration> {
        let mut runs = runs.into_iter();
        let rest = self.run(runs.next()?)?.saturating_sub(elapsed);
        runs.try_fold(rest, |sum, planned| {
            Some(sum + self.pause + self.run(planned)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_line_says_how_far_it_is() {
        let progress = Progress {
            number: 3,
            total: 64,
            name: "wrk-t1-c10-1m".to_owned(),
            elapsed: 12 * SECOND,
            expected: Some(60 * SECOND),
            left: Some(3_725 * SECOND),
        };
        let line = "run 3 of 64  wrk-t1-c10-1m  12 s of 60 s  about 1 h 2 min left";
        assert_eq!(progress.line(), line);
        let unknown = Progress {
            expected: None,
            left: None,
            ..progress
        };
        assert_eq!(unknown.line(), "run 3 of 64  wrk-t1-c10-1m  12 s");
    }

    #[test]
    fn times_are_said_roughly() {
        for (length_s, text) in [
            (0, "0 s"),
            (59, "59 s"),
            (61, "1 min 1 s"),
            (600, "10 min"),
            (3_600, "1 h 0 min"),
        ] {
            assert_eq!(rough(length_s * SECOND), text);
        }
    }

    #[test]
    fn what_is_left_is_the_rest_of_this_run_and_all_others_with_their_pauses() {
        let mut forecast = Forecast::new(2 * SECOND);
        let planned = |length_s: u32| Some(length_s * SECOND);
        assert_eq!(
            forecast.left(SECOND, [planned(10), planned(5)]),
            Some(16 * SECOND)
        );
        forecast.learn(planned(10), 11 * SECOND);
        assert_eq!(
            forecast.left(SECOND, [planned(10), planned(5)]),
            Some(18 * SECOND)
        );
        assert_eq!(
            forecast.left(99 * SECOND, [planned(10)]),
            Some(Duration::ZERO)
        );
    }

    #[test]
    fn a_run_that_is_told_no_time_takes_what_such_runs_took() {
        let mut forecast = Forecast::default();
        assert_eq!(forecast.left(SECOND, [None]), None);
        forecast.learn(None, 2 * SECOND);
        forecast.learn(None, 4 * SECOND);
        assert_eq!(forecast.left(SECOND, [None, None]), Some(5 * SECOND));
        assert_eq!(forecast.left(SECOND, []), None);
    }
}
