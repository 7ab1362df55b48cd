//! What a user is at, for its worker to look at.

use crate::own_starts::OwnStarts;
use std::cell::{Cell, OnceCell, RefCell};

/// What a user is at. Instants are nanoseconds on the host's clock.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    /// The earliest start it has taken whose exchange has not ended.
    pub(crate) since_ns: Cell<Option<u64>>,
    /// The starts that it has taken behind that one, the earliest last.
    pub(crate) later: RefCell<Vec<u64>>,
    /// How many exchanges of its main batch are in flight, and when they were begun. A batch is the
    /// main one if no other was in flight when it was begun; it alone takes starts.
    pub(crate) in_flight: Cell<u32>,
    pub(crate) begun_ns: Cell<u64>,
    /// How long they could have begun before; 0 in a closed load.
    pub(crate) late_ns: Cell<u64>,
    /// The batches in flight beside the main one, in no order.
    concurrent: RefCell<Vec<ConcurrentBatch>>,
    /// Requests that wait for one of the connections that users share.
    pub(crate) waiting: Cell<u32>,
    /// Whether it is in an iteration.
    pub(crate) iterating: Cell<bool>,
    /// Whether a closed loop of the users there were at the begin would have left it out.
    pub(crate) is_omitted: Cell<bool>,
    /// When its window ends: from there on it begins no iteration.
    pub(crate) to_ns: Cell<u64>,
    /// Whether a request of its was refused, because the window is over.
    pub(crate) is_refused: Cell<bool>,
    /// Whether its worker does not wait for it any more.
    pub(crate) has_ended: Cell<bool>,
    /// Its starts, where it paces itself: made when it first does, as most never do.
    own_starts: OnceCell<Box<OwnStarts>>,
}

/// A batch in flight beside the main one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConcurrentBatch {
    /// When it was begun, and so were all its exchanges.
    pub(crate) begun_ns: u64,
    /// Its exchanges that have not ended.
    pub(crate) left: u32,
}

impl Activity {
    /// Its starts, if it has ever paced itself.
    pub(crate) fn own_starts(&self) -> Option<&OwnStarts> {
        self.own_starts.get().map(|starts| &**starts)
    }

    /// Its starts, for a user who paces itself from here on.
    pub(crate) fn new_own_starts(&self) -> &OwnStarts {
        self.own_starts.get_or_init(Box::default)
    }

    /// Whether an exchange has not ended, or a start that it has taken was not used.
    pub(crate) fn is_busy(&self) -> bool {
        self.since_ns.get().is_some() || !self.concurrent.borrow().is_empty()
    }

    /// Whether an exchange is in flight.
    pub(crate) fn has_flights(&self) -> bool {
        self.in_flight.get() > 0 || !self.concurrent.borrow().is_empty()
    }

    /// The batches in flight beside the main one.
    pub(crate) fn each_concurrent(&self, mut tell: impl FnMut(ConcurrentBatch)) {
        self.concurrent.borrow().iter().copied().for_each(&mut tell);
    }

    /// When the oldest exchange in flight was sent, if there is one.
    pub(crate) fn oldest_sent_ns(&self) -> Option<u64> {
        let main_ns = (self.in_flight.get() > 0).then(|| self.begun_ns.get());
        let concurrent = self.concurrent.borrow();
        let concurrent = concurrent.iter().map(|batch| batch.begun_ns);
        concurrent.chain(main_ns).min()
    }

    /// A batch was begun beside the main one.
    pub(crate) fn begin_concurrent(&self, batch: ConcurrentBatch) {
        self.concurrent.borrow_mut().push(batch);
    }

    /// An exchange of such a batch has ended; `batch` is what there was of it before. Two batches
    /// that are equal are alike in everything that is looked at.
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

    /// When the youngest exchange in flight was sent; `None` if it holds starts that it has not
    /// used. 0 if it is not busy.
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
