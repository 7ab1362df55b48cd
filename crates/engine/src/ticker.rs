//! What a worker gets tick by tick: the difference of a count that is kept anyway, taken when the
//! supervisor wakes for what it has to do anyway. Requests know nothing of it.

use crate::event::Tick;

/// Counts the responses of each tick.
#[derive(Debug)]
pub(crate) struct Ticker {
    length_ns: u64,
    /// When the running tick began.
    since_ns: u64,
    /// What was answered in the running interval before the running tick.
    counted: u64,
    /// What was answered in the running tick before the running interval.
    carried: u64,
}

impl Ticker {
    /// The first tick begins at `begin_ns`; each is at least `length_ns` long.
    pub(crate) fn new(begin_ns: u64, length_ns: u64) -> Self {
        Ticker {
            length_ns,
            since_ns: begin_ns,
            counted: 0,
            carried: 0,
        }
    }

    /// When the running tick may end.
    fn due_ns(&self) -> u64 {
        self.since_ns.saturating_add(self.length_ns)
    }

    /// Ends the tick if its time is over. `answered` is what the running interval has got so far.
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

    /// The interval ends with this many responses; the tick goes on in the next one.
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
        // The tick goes on over the interval's end.
        assert_eq!(ticker.tick(360, 2), tick(100, 5));
        ticker.end_interval(2);
        ticker.end_interval(0);
        assert_eq!(ticker.tick(459, 0), None);
    }
}
