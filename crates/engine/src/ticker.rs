//! Ticks of a worker: differences of a count that exists anyway, taken when the supervisor wakes up
//! for other reasons. The path of a request is not affected.

use crate::event::Tick;

/// Counts the responses of each tick.
#[derive(Debug)]
pub(crate) struct Ticker {
    length_ns: u64,
    /// The begin of the current tick.
    since_ns: u64,
    /// The responses of the current interval before the current tick.
    counted: u64,
    /// The responses of the current tick before the current interval.
    carried: u64,
}

impl Ticker {
    /// Creates a ticker whose first tick begins at `begin_ns`; each is at least `length_ns` long.
    pub(crate) fn new(begin_ns: u64, length_ns: u64) -> Self {
        Ticker {
            length_ns,
            since_ns: begin_ns,
            counted: 0,
            carried: 0,
        }
    }

    /// Returns the earliest end of the current tick.
    fn due_ns(&self) -> u64 {
        self.since_ns.saturating_add(self.length_ns)
    }

    /// Ends the tick if its time is over. `answered` is the number of responses in the current
    /// interval so far.
    pub(crate) fn tick(&mut self, now_ns: u64, answered: u64) -> Option<Tick> {
        if now_ns < self.due_ns() {
            return None;
        }
        let tick = Tick {
            length_ns: now_ns - self.since_ns,
            answered: self.carried + answered - self.counted,
        };
        self.since_ns = now_ns;
        self.counted = answered;
        self.carried = 0;
        Some(tick)
    }

    /// Ends the interval, which has this many responses; the tick continues in the next one.
    pub(crate) fn end_interval(&mut self, answered: u64) {
        self.carried += answered - self.counted;
        self.counted = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(length_ns: u64, answered: u64) -> Option<Tick> {
        Some(Tick {
            length_ns,
            answered,
        })
    }

    #[test]
    fn every_answer_is_in_one_tick() {
        let mut ticker = Ticker::new(50, 100);
        assert_eq!(ticker.tick(149, 3), None);
        assert_eq!(ticker.tick(150, 4), tick(100, 4));
        assert_eq!(ticker.tick(260, 9), tick(110, 5));
        ticker.end_interval(12);
        // The tick continues over the interval's end.
        assert_eq!(ticker.tick(360, 2), tick(100, 5));
        ticker.end_interval(2);
        ticker.end_interval(0);
        assert_eq!(ticker.tick(459, 0), None);
    }
}
