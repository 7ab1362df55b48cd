//! A counter of things that last.

use std::cell::Cell;

/// An increment of a counter, until it is dropped.
pub(crate) struct Counted<'a>(&'a Cell<u32>);

impl<'a> Counted<'a> {
    pub(crate) fn in_number(number: &'a Cell<u32>) -> Self {
        number.set(number.get() + 1);
        Counted(number)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}
