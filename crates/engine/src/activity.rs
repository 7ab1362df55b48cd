//! The state of a user that its worker inspects.

use crate::own_starts::OwnStarts;
use std::cell::{Cell, OnceCell, RefCell};

/// A user whose worker inspects its activity.
pub(crate) trait Active {
    /// Returns the user's current activity.
    fn activity(&self) -> &Activity;
}

/// The current activity of a user. Instants are nanoseconds on the host's clock.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    /// The earliest start that the user has taken and whose exchange has not ended.
    pub(crate) since_ns: Cell<Option<u64>>,
    /// The later starts that the user has taken, the earliest last.
    pub(crate) later: RefCell<Vec<u64>>,
    /// The number of exchanges of the main batch in flight, and the instant at which they were
    /// begun. A batch is the main one if no other was in flight when it was begun; only the main
    /// batch takes starts.
    pub(crate) in_flight: Cell<u32>,
    pub(crate) begun_ns: Cell<u64>,
    /// The delay added by Loadline before the main batch was begun, in nanoseconds; 0 in a closed
    /// load.
    pub(crate) late_ns: Cell<u64>,
    /// The batches in flight in addition to the main one, in no order.
    concurrent: RefCell<Vec<ConcurrentBatch>>,
    /// Requests that wait for one of the connections that users share.
    pub(crate) waiting: Cell<u32>,
    /// Pauses of the behaviour: no request is due before they end.
    pub(crate) pausing: Cell<u32>,
    /// True while the worker counts the time for which the user pauses.
    pub(crate) is_paused_time_counted: Cell<bool>,
    /// True during an iteration.
    pub(crate) iterating: Cell<bool>,
    /// True if a closed loop of the initial users would have omitted the iteration.
    pub(crate) is_omitted: Cell<bool>,
    /// The end of the user's window: from this instant on it begins no iteration.
    pub(crate) to_ns: Cell<u64>,
    /// True if a request of the user was refused because the window is over.
    pub(crate) is_refused: Cell<bool>,
    /// True if the worker no longer waits for the user.
    pub(crate) has_ended: Cell<bool>,
    /// The starts of a user who paces itself: allocated on first use, because most users never need
    /// them.
    own_starts: OnceCell<Box<OwnStarts>>,
}

/// A batch in flight in addition to the main one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConcurrentBatch {
    /// The instant at which the batch, and so each of its exchanges, was begun.
    pub(crate) begun_ns: u64,
    /// The number of its exchanges that have not ended.
    pub(crate) left: u32,
}

impl Activity {
    /// Returns the user's own starts, if it has ever paced itself.
    pub(crate) fn own_starts(&self) -> Option<&OwnStarts> {
        self.own_starts.get().map(|starts| &**starts)
    }

    /// Returns the user's own starts, and creates them on the first call.
    pub(crate) fn new_own_starts(&self) -> &OwnStarts {
        self.own_starts.get_or_init(Box::default)
    }

    /// True if an exchange has not ended, or a start that the user has taken was not used.
    pub(crate) fn is_busy(&self) -> bool {
        self.since_ns.get().is_some() || !self.concurrent.borrow().is_empty()
    }

    /// True if an exchange is in flight.
    pub(crate) fn has_flights(&self) -> bool {
        self.in_flight.get() > 0 || !self.concurrent.borrow().is_empty()
    }

    /// True if the behaviour pauses, the main batch is not in flight, and no request waits for a
    /// connection.
    pub(crate) fn is_pausing(&self) -> bool {
        self.pausing.get() > 0 && self.in_flight.get() == 0 && self.waiting.get() == 0
    }

    /// Calls `each` for each batch in flight except the main one.
    pub(crate) fn each_concurrent(&self, mut each: impl FnMut(ConcurrentBatch)) {
        self.concurrent.borrow().iter().copied().for_each(&mut each);
    }

    /// Returns the instant at which the oldest exchange in flight was sent, if there is one.
    pub(crate) fn oldest_sent_ns(&self) -> Option<u64> {
        let main_ns = (self.in_flight.get() > 0).then(|| self.begun_ns.get());
        let concurrent = self.concurrent.borrow();
        let concurrent = concurrent.iter().map(|batch| batch.begun_ns);
        concurrent.chain(main_ns).min()
    }

    /// Adds a batch that was begun while the main one is in flight.
    pub(crate) fn begin_concurrent(&self, batch: ConcurrentBatch) {
        self.concurrent.borrow_mut().push(batch);
    }

    /// Ends one exchange of such a batch; `batch` is the batch before that. Equal batches are
    /// interchangeable.
    pub(crate) fn end_concurrent(&self, batch: ConcurrentBatch) {
        let mut concurrent = self.concurrent.borrow_mut();
        let Some(index) = concurrent.iter().position(|other| *other == batch) else {
            return;
        };
        concurrent[index].left -= 1;
        if concurrent[index].left == 0 {
            concurrent.swap_remove(index);
        }
    }

    /// Returns the instant at which the youngest exchange in flight was sent; `None` if the user
    /// holds starts that it has not used, 0 if it is not busy.
    pub(crate) fn youngest_sent_ns(&self) -> Option<u64> {
        let mut youngest_ns = 0;
        if self.since_ns.get().is_some() {
            let held = self.later.borrow().len() as u64 + 1;
            let is_sent = u64::from(self.in_flight.get()) >= held;
            youngest_ns = is_sent.then(|| self.begun_ns.get())?;
        }
        self.each_concurrent(|batch| youngest_ns = youngest_ns.max(batch.begun_ns));
        Some(youngest_ns)
    }
}
