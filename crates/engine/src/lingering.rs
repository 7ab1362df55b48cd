//! Connections that serve nothing more and remain open briefly, so that their servers close them
//! first: the side that closes first keeps the port for a minute (TIME_WAIT), and a load generator
//! needs its ports. Each occupies a descriptor in addition to those of the users, so their number
//! is limited by the remaining open files; beyond the limit a connection is closed at once.

use std::cell::Cell;
use std::rc::Rc;

/// The connections of a worker that wait for their servers to close them.
#[derive(Debug)]
pub(crate) struct Lingering {
    count: Rc<Cell<u32>>,
    most: u32,
}

/// One lingering connection, counted until it is dropped.
#[derive(Debug)]
pub(crate) struct Lingers(Rc<Cell<u32>>);

impl Lingering {
    /// Creates a count with this limit.
    pub(crate) fn at_most(most: u32) -> Self {
        Lingering {
            count: Rc::default(),
            most,
        }
    }

    /// Counts one more connection, if there is room for it.
    pub(crate) fn begin(&self) -> Option<Lingers> {
        let count = self.count.get();
        (count < self.most).then(|| {
            self.count.set(count + 1);
            Lingers(Rc::clone(&self.count))
        })
    }
}

impl Drop for Lingers {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_than_there_is_room_for() {
        let lingering = Lingering::at_most(2);
        let first = lingering.begin();
        let second = lingering.begin();
        assert!(first.is_some() && second.is_some() && lingering.begin().is_none());
        drop(first);
        assert!(lingering.begin().is_some());
        assert!(Lingering::at_most(0).begin().is_none());
    }
}
