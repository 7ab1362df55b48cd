//! Users of a worker in addition to those of its load.

use crate::user::User;
use loadline_reactor::Host;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

/// The users that other users created ([`Requester::another_user`]).
///
/// [`Requester::another_user`]: crate::Requester::another_user
pub(crate) struct ExtraUsers<H: Host>(RefCell<Vec<Weak<User<H>>>>);

impl<H: Host> Default for ExtraUsers<H> {
    fn default() -> Self {
        ExtraUsers(RefCell::default())
    }
}

impl<H: Host> ExtraUsers<H> {
    /// Adds a user, which is kept as long as its requester exists.
    pub(crate) fn add(&self, user: &Rc<User<H>>) {
        let mut users = self.0.borrow_mut();
        if users.len() == users.capacity() {
            users.retain(|user| user.strong_count() > 0);
        }
        users.push(Rc::downgrade(user));
    }

    /// Returns the users that still exist.
    pub(super) fn present(&self) -> Vec<Rc<User<H>>> {
        let users = self.0.borrow();
        users.iter().filter_map(Weak::upgrade).collect()
    }
}
