//! The number of successes in each 10 ms of a run, for the statistics of requests per second.
//!
//! oha sorts the ends of all successes and cuts them into windows of less than 10 ms. Here windows
//! lie on a grid, and each extends from the last success of the previous window to its own last
//! one. If a run fills the grid, the length of all windows is doubled.

use serde::{Deserialize, Serialize};

/// The initial length of a window, in nanoseconds.
const WINDOW_NS: u64 = 10_000_000;
/// The maximum number of windows.
const MOST: usize = 1 << 16;

/// Successes by window.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Windows {
    length_ns: u64,
    #[serde(with = "taken")]
    windows: Vec<Window>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Window {
    count: u32,
    /// The end of the last success, in nanoseconds from the window's begin.
    last_ns: u32,
}

impl Default for Windows {
    fn default() -> Self {
        Windows {
            length_ns: WINDOW_NS,
            windows: Vec::new(),
        }
    }
}

impl Windows {
    /// Counts a success that ended at this time of the run.
    pub(super) fn add(&mut self, end_ns: u64) {
        while end_ns / self.length_ns >= MOST as u64 {
            self.double();
        }
        let index = (end_ns / self.length_ns) as usize;
        if index >= self.windows.len() {
            self.windows.resize(index + 1, Window::default());
        }
        let window = &mut self.windows[index];
        window.count = window.count.saturating_add(1);
        window.last_ns = window.last_ns.max(clamped(end_ns % self.length_ns));
    }

    pub(super) fn merge(&mut self, mut other: Windows) {
        while self.length_ns < other.length_ns {
            self.double();
        }
        while other.length_ns < self.length_ns {
            other.double();
        }
        if self.windows.len() < other.windows.len() {
            self.windows.resize(other.windows.len(), Window::default());
        }
        for (own, other) in self.windows.iter_mut().zip(&other.windows) {
            own.count = own.count.saturating_add(other.count);
            own.last_ns = own.last_ns.max(other.last_ns);
        }
    }

    /// Returns the successes per second of each window that has any, in rising order.
    pub(super) fn rates(&self) -> Vec<f64> {
        let mut before_ns = 0;
        let mut rates = Vec::new();
        let starts = (0..).map(|index: u64| index * self.length_ns);
        for (start_ns, window) in starts.zip(&self.windows) {
            if window.count == 0 {
                continue;
            }
            let last_ns = start_ns + u64::from(window.last_ns);
            // At least 1 ns: two clocks may put both at the same instant.
            let length_ns = last_ns.saturating_sub(before_ns).max(1);
            rates.push(f64::from(window.count) / (length_ns as f64 / 1e9));
            before_ns = last_ns;
        }
        rates.sort_by(f64::total_cmp);
        rates
    }

    /// Doubles the length of the windows.
    fn double(&mut self) {
        let length_ns = self.length_ns;
        let pair = |pair: &[Window]| match *pair {
            [first] => first,
            [first, second] if second.count == 0 => first,
            [first, second] => Window {
                count: first.count.saturating_add(second.count),
                last_ns: clamped(length_ns + u64::from(second.last_ns)),
            },
            _ => unreachable!("chunks have one or two windows"),
        };
        self.windows = self.windows.chunks(2).map(pair).collect();
        self.length_ns *= 2;
    }
}

/// The format of windows for another process: those with successes, with their indices.
mod taken {
    use super::Window;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        windows: &[Window],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let all = windows.iter().enumerate();
        let taken = all.filter(|(_, window)| window.count > 0);
        // A format without names needs the length first.
        serializer.collect_seq(taken.collect::<Vec<_>>())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Window>, D::Error> {
        let taken: Vec<(usize, Window)> = Vec::deserialize(deserializer)?;
        let length = taken.last().map_or(0, |(index, _)| index + 1);
        let mut windows = vec![Window::default(); length];
        for (index, window) in taken {
            windows[index] = window;
        }
        Ok(windows)
    }
}

/// Limits a time to 32 bits. In windows of more than 4 s, that is in runs of more than three days,
/// the time of the last success is not exact.
fn clamped(time_ns: u64) -> u32 {
    u32::try_from(time_ns).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(ends: &[u64]) -> Windows {
        let mut windows = Windows::default();
        ends.iter().for_each(|end| windows.add(*end));
        windows
    }

    #[test]
    fn a_window_reaches_from_the_last_success_before_to_its_own_last() {
        assert_eq!(of(&[]).rates(), [0.0; 0]);
        assert_eq!(of(&[5_000_000]).rates(), [200.0]);
        // The first rate is 2 in 5 ms, the second 1 in 20 ms.
        assert_eq!(
            of(&[1_000_000, 5_000_000, 25_000_000]).rates(),
            [50.0, 400.0]
        );
    }

    #[test]
    fn a_long_run_has_longer_windows_and_loses_nothing() {
        let hour_ns = 3_600_000_000_000;
        let mut windows = of(&[1, hour_ns]);
        assert!(windows.windows.len() <= MOST && windows.length_ns > WINDOW_NS);
        windows.merge(of(&[2, 3]));
        let count: u32 = windows.windows.iter().map(|window| window.count).sum();
        assert_eq!(count, 4);
    }

    proptest! {
        #[test]
        fn parts_are_the_whole(
            ends in proptest::collection::vec(0_u64..2_000_000_000_000, 0..50), at in 0_usize..50
        ) {
            let (one, other) = ends.split_at(at.min(ends.len()));
            let mut merged = of(one);
            merged.merge(of(other));
            let sent = serde_json::to_string(&merged).expect("JSON");
            let came: Windows = serde_json::from_str(&sent).expect("JSON");
            prop_assert_eq!(merged.rates(), of(&ends).rates());
            prop_assert_eq!(came.rates(), merged.rates());
        }
    }
}
