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
    ticks: Vec<Tick>,
}

impl Ticker {
    /// The first tick begins at `begin_ns`; each is at least `length_ns` long.
    pub(crate) fn new(begin_ns: u64, length_ns: u64) -> Self {
        Ticker {
            length_ns,
            since_ns: begin_ns,
            counted: 0,
            carried: 0,
            ticks: Vec::new(),
        }
    }

    /// When the running tick may end.
    fn due_ns(&self) -> u64 {
        self.since_ns.saturating_add(self.length_ns)
    }

    /// Ends the tick if its time is over. `answered` is what the running interval has got so far.
    pub(crate) fn tick(&mut self, now_ns: u64, answered: u64) {
        if now_ns < self.due_ns() {
            return;
        }
        self.ticks.push(Tick {
            length_ns: now_ns - self.since_ns,
            answered: self.carried + answered - self.counted,
        });
        self.since_ns = now_ns;
        self.counted = answered;
        self.carried = 0;
    }

    /// The interval ends with this many responses; hands over its ticks.
    pub(crate) fn end_interval(&mut self, answered: u64) -> Vec<Tick> {
        self.carried += answered - self.counted;
        self.counted = 0;
        std::mem::take(&mut self.ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(length_ns: u64, answered: u64) -> Tick {
        Tick {
            length_ns,
            answered,
        }
    }

    #[test]
    fn every_answer_is_in_one_tick() {
        let mut ticker = Ticker::new(50, 100);
        ticker.tick(149, 3);
        ticker.tick(150, 4);
        ticker.tick(260, 9);
        assert_eq!(ticker.end_interval(12), [tick(100, 4), tick(110, 5)]);
        // The tick goes on over the interval's end.
        ticker.tick(360, 2);
        assert_eq!(ticker.end_interval(2), [tick(100, 5)]);
        assert_eq!(ticker.end_interval(0), []);
    }
}
