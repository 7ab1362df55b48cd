//! Notification of socket events: edge-triggered epoll.

use super::sys;
use slab::Slab;
use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::rc::Rc;
use std::task::Waker;

const EVENTS_PER_POLL: usize = 512;

/// The key of descriptors that are not sockets.
const NO_SOCKET: u64 = u64::MAX;

pub(crate) struct Poller {
    epoll: OwnedFd,
    sockets: RefCell<Slab<Rc<Readiness>>>,
    events: RefCell<Vec<libc::epoll_event>>,
}

/// The events of a socket for which the loop is notified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    /// Received data, and the peer's close.
    Receive,
    /// These, and room for another send.
    Both,
}

/// The known state of one socket. Flags are set by events, and cleared by operations that find
/// nothing more to do.
#[derive(Default)]
pub(crate) struct Readiness {
    pub(crate) readable: Cell<bool>,
    pub(crate) writable: Cell<bool>,
    /// True if the peer has closed its side, or the connection is broken. Never cleared.
    pub(crate) closed: Cell<bool>,
    /// True if errors may be timestamps of sends, which arrive in the same queue. A broken
    /// connection also reports a hang-up.
    pub(crate) stamps: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Interest {
    /// Returns the events for epoll.
    fn events(self) -> u32 {
        let received = libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLET;
        let events = match self {
            Interest::Receive => received,
            Interest::Both => received | libc::EPOLLOUT,
        };
        events as u32
    }
}

impl Readiness {
    /// Stores the task to wake at the next event.
    pub(crate) fn wait(&self, waker: &Waker) {
        let mut stored = self.waker.borrow_mut();
        if !stored
            .as_ref()
            .is_some_and(|stored| stored.will_wake(waker))
        {
            *stored = Some(waker.clone());
        }
    }

    fn news(&self, events: u32) {
        let bits = |mask: libc::c_int| events & mask as u32 != 0;
        let broken = match self.stamps.get() {
            false => libc::EPOLLHUP | libc::EPOLLERR,
            true => libc::EPOLLHUP,
        };
        if bits(libc::EPOLLIN | libc::EPOLLRDHUP | broken) {
            self.readable.set(true);
        }
        if bits(libc::EPOLLOUT | broken) {
            self.writable.set(true);
        }
        if bits(libc::EPOLLRDHUP | broken) {
            self.closed.set(true);
        }
        if let Some(waker) = &*self.waker.borrow() {
            waker.wake_by_ref();
        }
    }
}

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Poller {
            epoll: sys::epoll_create()?,
            sockets: RefCell::default(),
            events: RefCell::new(Vec::with_capacity(EVENTS_PER_POLL)),
        })
    }

    /// Makes the poller's own descriptor readable when this timer's is. That event belongs to no
    /// socket.
    pub(crate) fn watch_timer(&self, timer: BorrowedFd<'_>) -> io::Result<()> {
        let events = (libc::EPOLLIN | libc::EPOLLET) as u32;
        sys::epoll_add(self.epoll.as_fd(), timer.as_raw_fd(), events, NO_SOCKET)
    }

    /// Watches a socket; the returned key is for [`Poller::forget`].
    pub(crate) fn watch(
        &self,
        fd: RawFd,
        interest: Interest,
    ) -> io::Result<(usize, Rc<Readiness>)> {
        let readiness = Rc::new(Readiness::default());
        let key = self.sockets.borrow_mut().insert(Rc::clone(&readiness));
        let events = interest.events();
        sys::epoll_add(self.epoll.as_fd(), fd, events, key as u64)
            .inspect_err(|_| self.forget(key))?;
        Ok((key, readiness))
    }

    /// Also watches for room to send, on a socket that was watched for receiving only.
    pub(crate) fn watch_sends(&self, fd: RawFd, key: usize) -> io::Result<()> {
        sys::epoll_change(self.epoll.as_fd(), fd, Interest::Both.events(), key as u64)
    }

    /// Removes a socket that is about to be closed; closing removes it from epoll.
    pub(crate) fn forget(&self, key: usize) {
        self.sockets.borrow_mut().remove(key);
    }

    /// Reads the kernel's events and wakes the tasks concerned; waits up to `timeout_ns` for the
    /// first one, or for ever if that is `None`. Returns the number of events.
    pub(crate) fn poll(&self, timeout_ns: Option<u64>) -> io::Result<usize> {
        let mut events = self.events.borrow_mut();
        sys::epoll_wait(self.epoll.as_fd(), &mut events, EVENTS_PER_POLL, timeout_ns)?;
        let sockets = self.sockets.borrow();
        for event in events.iter() {
            // All events of one poll are distributed before any task runs, so a key can be neither
            // freed nor reused for another socket in between.
            if let Some(readiness) = sockets.get(event.u64 as usize) {
                readiness.news(event.events);
            }
        }
        Ok(events.len())
    }
}

impl AsFd for Poller {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}
