//! Users that a worker has beside those of its load.

use crate::user::User;
use loadline_reactor::Host;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

/// The users that others brought with them ([`Requester::another_user`]).
///
/// [`Requester::another_user`]: crate::Requester::another_user
pub(crate) struct Guests<H: Host>(RefCell<Vec<Weak<User<H>>>>);

impl<H: Host> Default for Guests<H> {
    fn default() -> Self {
        Guests(RefCell::default())
    }
}

impl<H: Host> Guests<H> {
    /// Knows one as long as it is there.
    pub(crate) fn add(&self, guest: &Rc<User<H>>) {
        let mut guests = self.0.borrow_mut();
        if guests.len() == guests.capacity() {
            guests.retain(|guest| guest.strong_count() > 0);
        }
        guests.push(Rc::downgrade(guest));
    }

    /// Those that are there.
    pub(super) fn present(&self) -> Vec<Rc<User<H>>> {
        let guests = self.0.borrow();
        guests.iter().filter_map(Weak::upgrade).collect()
    }
}
