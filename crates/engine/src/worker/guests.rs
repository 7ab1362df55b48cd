//! Users of a worker in addition to those of its load.

use crate::activity::Active;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

/// The users that other users created ([`Requester::another_user`]).
///
/// [`Requester::another_user`]: crate::Requester::another_user
#[derive(Default)]
pub(crate) struct Guests(RefCell<Vec<Weak<dyn Active>>>);

impl Guests {
    /// Adds a guest, which is kept as long as its requester exists.
    pub(crate) fn add(&self, guest: Weak<dyn Active>) {
        let mut guests = self.0.borrow_mut();
        if guests.len() == guests.capacity() {
            guests.retain(|guest| guest.strong_count() > 0);
        }
        guests.push(guest);
    }

    /// Returns the guests that still exist.
    pub(super) fn present(&self) -> Vec<Rc<dyn Active>> {
        let guests = self.0.borrow();
        guests.iter().filter_map(Weak::upgrade).collect()
    }
}
