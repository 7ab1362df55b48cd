//! Idle connections that wait for their next exchange.

use crate::error_bodies::Beginning;
use crate::gathering::Gathering;
use loadline_reactor::Host;
use loadline_transport::Connection;
use loadline_wire::ResponseParser;
use std::cell::RefCell;
use std::future::poll_fn;
use std::task::Poll;

/// An open connection, with the state of its responses.
pub(crate) struct OpenConnection<H: Host> {
    pub(crate) connection: Connection<H::Socket>,
    pub(crate) parser: ResponseParser,
    /// The number of responses that it has received.
    pub(crate) served: u64,
    /// The prediction for batches that are received at once, if they are. Boxed, so that other
    /// connections are small.
    pub(crate) gathering: Option<Box<Gathering>>,
    /// The beginning of a response that has not ended, if the bodies of error responses are kept.
    pub(crate) beginning: Option<Box<Beginning>>,
    /// The next idle connection to the same endpoint, which was used earlier.
    below: Option<Box<OpenConnection<H>>>,
}

impl<H: Host> OpenConnection<H> {
    /// Creates a connection that has served nothing, boxed because each exchange takes it out of a
    /// pool and puts it back.
    pub(crate) fn new(connection: Connection<H::Socket>) -> Box<Self> {
        Box::new(OpenConnection {
            connection,
            parser: ResponseParser::new(),
            served: 0,
            gathering: None,
            beginning: None,
            below: None,
        })
    }
}

/// The number of endpoints whose idle connections are closed at once, in a fraction of a
/// millisecond.
const CLOSED_AT_ONCE: usize = 64;

/// The idle connections of a user, by endpoint.
pub(crate) struct Pool<H: Host>(RefCell<Vec<Slot<H>>>);

/// The idle connections to one endpoint.
struct Slot<H: Host> {
    /// The connection that was used last, on top of the others.
    idle: Option<Box<OpenConnection<H>>>,
    /// Connections that the server closed and that have not been replaced: dialling one is a
    /// reconnect.
    lost: u32,
}

impl<H: Host> Default for Slot<H> {
    fn default() -> Self {
        Slot {
            idle: None,
            lost: 0,
        }
    }
}

impl<H: Host> Pool<H> {
    pub(crate) fn new() -> Self {
        Pool(RefCell::default())
    }

    /// Takes out the idle connection to an endpoint that was used last.
    #[inline]
    pub(crate) fn take(&self, endpoint: usize) -> Option<Box<OpenConnection<H>>> {
        let mut slots = self.0.borrow_mut();
        let slot = slots.get_mut(endpoint)?;
        let mut open = slot.idle.take()?;
        slot.idle = open.below.take();
        Some(open)
    }

    /// Keeps a connection for the next exchange.
    #[inline]
    pub(crate) fn put(&self, endpoint: usize, mut open: Box<OpenConnection<H>>) {
        let mut slots = self.0.borrow_mut();
        let slot = slot_of(&mut slots, endpoint);
        open.below = slot.idle.take();
        slot.idle = Some(open);
    }

    /// Counts a connection to an endpoint that the server has closed.
    pub(crate) fn lose(&self, endpoint: usize) {
        slot_of(&mut self.0.borrow_mut(), endpoint).lost += 1;
    }

    /// Counts a connection to an endpoint that was dialled. Returns true if it replaces a lost one.
    pub(crate) fn replaces(&self, endpoint: usize) -> bool {
        let mut slots = self.0.borrow_mut();
        let slot = slot_of(&mut slots, endpoint);
        let left = slot.lost.checked_sub(1);
        left.inspect(|left| slot.lost = *left).is_some()
    }

    /// Closes an idle connection if there are at least `most`, so that there is room for one more.
    pub(crate) fn make_room(&self, most: usize) {
        let mut slots = self.0.borrow_mut();
        if most == usize::MAX {
            return;
        }
        let kept: usize = slots.iter().map(Slot::count).sum();
        let used = slots.iter_mut().find(|slot| slot.idle.is_some());
        if kept >= most
            && let Some(slot) = used
        {
            let given_up = slot.idle.take();
            slot.idle = given_up.and_then(|open| open.below);
        }
    }

    /// Closes all idle connections, at once: for a user that has few.
    pub(crate) fn close_now(&self) {
        let mut slots = self.0.borrow_mut();
        slots.iter_mut().for_each(|slot| slot.idle = None);
    }

    /// Closes all idle connections, some at a time: for a user of thousands of hosts, closing all
    /// at once would block the loop for everyone else.
    pub(crate) async fn close(&self) {
        loop {
            let some = self.remove(CLOSED_AT_ONCE);
            if some.is_empty() {
                return;
            }
            drop(some);
            after_others().await;
        }
    }

    /// Removes the connections to the last `most` endpoints.
    fn remove(&self, most: usize) -> Vec<Slot<H>> {
        let mut slots = self.0.borrow_mut();
        let left = slots.len().saturating_sub(most);
        slots.split_off(left)
    }
}

/// Yields to all other tasks once.
async fn after_others() {
    let mut is_woken = false;
    poll_fn(|cx| {
        if is_woken {
            return Poll::Ready(());
        }
        is_woken = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Returns the slot of an endpoint, and creates it if necessary.
#[inline(always)]
fn slot_of<H: Host>(slots: &mut Vec<Slot<H>>, endpoint: usize) -> &mut Slot<H> {
    if endpoint >= slots.len() {
        make_slots(slots, endpoint);
    }
    &mut slots[endpoint]
}

#[cold]
fn make_slots<H: Host>(slots: &mut Vec<Slot<H>>, endpoint: usize) {
    slots.resize_with(endpoint + 1, Slot::default);
}

impl<H: Host> Slot<H> {
    fn count(&self) -> usize {
        std::iter::successors(self.idle.as_deref(), |open| open.below.as_deref()).count()
    }
}
