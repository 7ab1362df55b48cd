//! Users of a worker in addition to those of its load.

use crate::user::User;
use loadline_reactor::Host;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

/// The users that other users created ([`Requester::another_user`]).
///
/// [`Requester::another_user`]: crate::Requester::another_user
pub(crate) struct Guests<H: Host>(RefCell<Vec<Weak<User<H>>>>);

impl<H: Host> Default for Guests<H> {
    fn default() -> Self {
        Guests(RefCell::default())
    }
}

impl<H: Host> Guests<H> {
    /// Adds a guest, which is kept as long as its requester exists.
    pub(crate) fn add(&self, guest: &Rc<User<H>>) {
        let mut guests = self.0.borrow_mut();
        if guests.len() == guests.capacity() {
            guests.retain(|guest| guest.strong_count() > 0);
        }
        guests.push(Rc::downgrade(guest));
    }

    /// Returns the guests that still exist.
    pub(super) fn present(&self) -> Vec<Rc<User<H>>> {
        let guests = self.0.borrow();
        guests.iter().filter_map(Weak::upgrade).collect()
    }
}
