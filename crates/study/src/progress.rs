//! How far a study is, and how long it will take.

use std::time::Duration;

/// How far a study is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Which run is made, from 1.
    pub number: usize,
    /// How many are made in all.
    pub total: usize,
    /// The run that is made.
    pub name: String,
    /// How long it has taken.
    pub elapsed: Duration,
    /// How long it is going to take, if that is known.
    pub expected: Option<Duration>,
    /// How long all will take from now, if that is known.
    pub left: Option<Duration>,
}

impl Progress {
    /// One line about it: `run 3 of 64  wrk-t1-c10-1m  12 s of 60 s  about 1 h 2 min left`.
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

/// A time as one says it: two units at most.
fn rough(length: Duration) -> String {
    let seconds = length.as_secs();
    match (seconds / 3_600, seconds / 60 % 60) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) if minutes < 10 => format!("{minutes} min {} s", seconds % 60),
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

/// Foretells how long runs take: as long as they are told to, and what comes around that as long
/// as it took so far. One that is told no time takes what such runs took so far.
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

    /// A run took so long from one to the next, pauses apart.
    pub(crate) fn learn(&mut self, told: Option<Duration>, took: Duration) {
        match told {
            Some(told) => self.overhead.add(took.saturating_sub(told)),
            None => self.unbounded.add(took),
        }
    }

    /// How long a run takes.
    pub(crate) fn run(&self, told: Option<Duration>) -> Option<Duration> {
        match told {
            Some(told) => Some(told + self.overhead.value().unwrap_or_default()),
            None => self.unbounded.value(),
        }
    }

    /// How long all takes: the rest of the run that is made, and those that follow.
    pub(crate) fn left(
        &self,
        elapsed: Duration,
        runs: impl IntoIterator<Item = Option<Duration>>,
    ) -> Option<Duration> {
        let mut runs = runs.into_iter();
        let rest = self.run(runs.next()?)?.saturating_sub(elapsed);
        runs.try_fold(rest, |sum, told| Some(sum + self.pause + self.run(told)?))
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
        let told = |length_s: u32| Some(length_s * SECOND);
        assert_eq!(
            forecast.left(SECOND, [told(10), told(5)]),
            Some(16 * SECOND)
        );
        forecast.learn(told(10), 11 * SECOND);
        assert_eq!(
            forecast.left(SECOND, [told(10), told(5)]),
            Some(18 * SECOND)
        );
        assert_eq!(forecast.left(99 * SECOND, [told(10)]), Some(Duration::ZERO));
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
