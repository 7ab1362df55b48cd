//! The selection of the exchanges that are split by the kernel's timestamps at both ends.

use loadline_record::Split;
use std::cell::Cell;
use std::num::NonZeroU32;

/// Counts a worker's exchanges and picks one of every `every`.
#[derive(Debug)]
pub(crate) struct Sampling {
    /// The distance between two picked exchanges; 0 if none is picked.
    every: u32,
    left: Cell<u32>,
}

impl Sampling {
    pub(crate) fn new(every: Option<NonZeroU32>) -> Self {
        let every = every.map_or(0, NonZeroU32::get);
        Sampling {
            every,
            left: Cell::new(every),
        }
    }

    /// True if the exchange that is about to be sent is picked.
    pub(crate) fn picks(&self) -> bool {
        self.every != 0 && self.count()
    }

    fn count(&self) -> bool {
        let left = self.left.get() - 1;
        self.left.set(if left == 0 { self.every } else { left });
        left == 0
    }
}

/// The instants of an exchange that was picked, in nanoseconds on the host's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instants {
    pub(crate) intended_ns: u64,
    pub(crate) begun_ns: u64,
    /// The instant at which the request left, on the kernel's clock.
    pub(crate) sent_ns: u64,
    /// The instant at which the response arrived, on the kernel's clock.
    pub(crate) received_ns: u64,
    pub(crate) read_ns: u64,
    pub(crate) parsed_ns: u64,
}

impl Instants {
    /// Returns the five parts between the instants. The kernel's timestamps are of another clock,
    /// so they are clamped between ours, in order: the parts always add up.
    pub(crate) fn split(self) -> Split {
        let received_ns = self.received_ns.clamp(self.begun_ns, self.read_ns);
        let sent_ns = self.sent_ns.clamp(self.begun_ns, received_ns);
        Split {
            wait_ns: self.begun_ns.saturating_sub(self.intended_ns),
            send_ns: sent_ns - self.begun_ns,
            wire_ns: received_ns - sent_ns,
            wakeup_ns: self.read_ns - received_ns,
            parse_ns: self.parsed_ns.saturating_sub(self.read_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_every_so_many() {
        let sampling = Sampling::new(NonZeroU32::new(3));
        let picked: Vec<bool> = (0..7).map(|_| sampling.picks()).collect();
        assert_eq!(picked, [false, false, true, false, false, true, false]);
        let all = Sampling::new(NonZeroU32::new(1));
        assert!((0..5).all(|_| all.picks()));
        let none = Sampling::new(None);
        assert!(!(0..5).any(|_| none.picks()));
    }

    const INSTANTS: Instants = Instants {
        intended_ns: 100,
        begun_ns: 150,
        sent_ns: 170,
        received_ns: 400,
        read_ns: 430,
        parsed_ns: 445,
    };

    #[test]
    fn the_parts_lie_between_the_instants() {
        let split = INSTANTS.split();
        let expected = Split {
            wait_ns: 50,
            send_ns: 20,
            wire_ns: 230,
            wakeup_ns: 30,
            parse_ns: 15,
        };
        assert_eq!(split, expected);
        assert_eq!(split.user_ns(), 295);
    }

    #[test]
    fn stamps_of_a_clock_that_was_set_are_held_between_ours() {
        for (sent_ns, received_ns) in [(0, 0), (9_999, 9_999), (300, 200), (9_999, 0)] {
            let split = Instants {
                sent_ns,
                received_ns,
                ..INSTANTS
            }
            .split();
            assert_eq!(split.user_ns(), 295, "{split:?}");
        }
    }
}
