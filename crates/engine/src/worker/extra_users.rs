//! Users of a worker in addition to those of its load.

use crate::activity::Active;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

/// The users that other users created ([`Requester::another_user`]).
///
/// [`Requester::another_user`]: crate::Requester::another_user
#[derive(Default)]
pub(crate) struct ExtraUsers(RefCell<Vec<Weak<dyn Active>>>);

impl ExtraUsers {
    /// Adds a user, which is kept as long as its requester exists.
    pub(crate) fn add(&self, user: Weak<dyn Active>) {
        let mut users = self.0.borrow_mut();
        if users.len() == users.capacity() {
            users.retain(|user| user.strong_count() > 0);
        }
        users.push(user);
    }

    /// Returns the users that still exist.
    pub(super) fn present(&self) -> Vec<Rc<dyn Active>> {
        let users = self.0.borrow();
        users.iter().filter_map(Weak::upgrade).collect()
    }
}
