//! A network of listeners and stream sockets in virtual time.
//!
//! Bytes, closes and resets take the network's latency to reach the other end, in order. As with
//! TCP on Linux, a peer that closed responds with a reset to unread data and to data that is still
//! sent to it; and data that arrived before a reset can still be read. An end acknowledges the
//! bytes that arrived before it. If a window is set, a sender waits while this many bytes are in
//! flight or unread; it is notified of new room at once.

use super::{Sim, World};
use crate::stretch::Stretch;
use crate::timers::Timer;
use crate::{Host, Received, Socket};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};

pub(super) struct Network {
    latency_ns: u64,
    listeners: RefCell<HashMap<SocketAddr, Weak<Backlog>>>,
    /// The most bytes that one operation moves; their number is drawn up to that.
    most: Cell<Option<usize>>,
    /// The most bytes that may be in flight to one end or unread there.
    window: Cell<usize>,
    random: Cell<u64>,
}

impl Network {
    pub(super) fn new(seed: u64, latency_ns: u64) -> Self {
        Network {
            latency_ns,
            listeners: RefCell::default(),
            most: Cell::new(None),
            window: Cell::new(usize::MAX),
            random: Cell::new(seed),
        }
    }

    pub(super) fn cut_up(&self, most: usize) {
        self.most.set(Some(most.max(1)));
    }

    pub(super) fn set_window(&self, bytes: usize) {
        self.window.set(bytes.max(1));
    }

    /// Returns the number of `bytes` that one operation moves.
    fn part(&self, bytes: usize) -> usize {
        match self.most.get() {
            Some(most) if bytes > 0 => 1 + (self.draw() as usize) % most.min(bytes),
            _ => bytes,
        }
    }

    /// Draws a number by SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
    /// generators, 2014).
    fn draw(&self) -> u64 {
        self.random
            .set(self.random.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
        let z = self.random.get();
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Connections that wait to be accepted.
#[derive(Debug, Default)]
struct Backlog {
    sockets: RefCell<VecDeque<SimSocket>>,
    waker: RefCell<Option<Waker>>,
    /// True if connections are neither accepted nor refused.
    silent: Cell<bool>,
}

/// Accepts connections at one address; refuses them after it is dropped.
#[derive(Debug)]
pub struct SimListener {
    backlog: Rc<Backlog>,
}

impl SimListener {
    /// Waits for the next connection, and returns it.
    pub async fn accept(&self) -> SimSocket {
        poll_fn(|cx| {
            if let Some(socket) = self.backlog.sockets.borrow_mut().pop_front() {
                return Poll::Ready(socket);
            }
            *self.backlog.waker.borrow_mut() = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Makes connection attempts wait until their deadline without a response, from now on, or ends
    /// that.
    pub fn set_silent(&self, silent: bool) {
        self.backlog.silent.set(silent);
    }
}

pub(super) fn listen(sim: &Sim, address: SocketAddr) -> SimListener {
    let backlog = Rc::new(Backlog::default());
    sim.0
        .network
        .listeners
        .borrow_mut()
        .insert(address, Rc::downgrade(&backlog));
    SimListener { backlog }
}

pub(super) async fn connect(
    sim: &Sim,
    address: SocketAddr,
    stamped: bool,
    deadline_ns: u64,
) -> io::Result<SimSocket> {
    let up_ns = sim.now_ns() + 2 * sim.0.network.latency_ns;
    sim.timer().until(up_ns.min(deadline_ns)).await;
    if up_ns > deadline_ns {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let listener = sim
        .0
        .network
        .listeners
        .borrow()
        .get(&address)
        .and_then(Weak::upgrade);
    let Some(backlog) = listener else {
        return Err(io::ErrorKind::ConnectionRefused.into());
    };
    if backlog.silent.get() {
        sim.timer().until(deadline_ns).await;
        return Err(io::ErrorKind::TimedOut.into());
    }
    let (client, server) = pair(sim, stamped);
    backlog.sockets.borrow_mut().push_back(server);
    if let Some(waker) = backlog.waker.borrow_mut().take() {
        waker.wake();
    }
    Ok(client)
}

fn pair(sim: &Sim, stamped: bool) -> (SimSocket, SimSocket) {
    let ends = [Rc::new(Inbox::new(sim)), Rc::new(Inbox::new(sim))];
    let [a, b] = ends;
    let client = SimSocket::new(sim, Rc::clone(&a), Rc::clone(&b), stamped);
    // A server may always read arrival times: it may have been kept from looking.
    let server = SimSocket::new(sim, b, a, true);
    (client, server)
}

/// The data in flight to one end of a connection, and the data that has arrived.
struct Inbox {
    queue: RefCell<VecDeque<(u64, VecDeque<u8>)>>,
    /// The time at which the peer's close arrives.
    end_ns: Cell<Option<u64>>,
    /// The time at which a reset arrives.
    reset_ns: Cell<Option<u64>>,
    /// The timer that wakes the owner at the next arrival.
    arrival: Timer,
    /// The sender that waits for room.
    sender: RefCell<Option<Waker>>,
    /// True if the owner has dropped its socket.
    gone: Cell<bool>,
    /// The number of bytes that were sent here.
    sent: Cell<u64>,
    /// The number of them that arrived before the owner ended the connection, if it has.
    came_before_end: Cell<Option<u64>>,
}

impl Inbox {
    fn new(sim: &Sim) -> Self {
        Inbox {
            queue: RefCell::default(),
            end_ns: Cell::new(None),
            reset_ns: Cell::new(None),
            arrival: sim.timer(),
            sender: RefCell::new(None),
            gone: Cell::new(false),
            sent: Cell::new(0),
            came_before_end: Cell::new(None),
        }
    }

    fn has_come(&self, event: &Cell<Option<u64>>, now_ns: u64) -> bool {
        event.get().is_some_and(|at_ns| at_ns <= now_ns)
    }

    /// True if the peer's end has arrived, and not after a reset.
    fn has_ended_in_order(&self, now_ns: u64) -> bool {
        let reset_ns = self.reset_ns.get().unwrap_or(u64::MAX);
        let in_order = |end_ns: u64| end_ns <= now_ns.min(reset_ns);
        self.end_ns.get().is_some_and(in_order)
    }

    /// Records the end of the connection by the owner: data in flight arrives too late.
    fn end(&self, now_ns: u64) {
        let queue = self.queue.borrow();
        let late = queue.iter().filter(|(at_ns, _)| *at_ns > now_ns);
        let late: usize = late.map(|(_, bytes)| bytes.len()).sum();
        let came = self.sent.get() - late as u64;
        let before = self.came_before_end.get();
        self.came_before_end.set(Some(before.unwrap_or(came)));
    }

    /// Makes a reset arrive at this instant at the latest.
    fn reset_by(&self, at_ns: u64) {
        let sooner_ns = self.reset_ns.get().map_or(at_ns, |known| known.min(at_ns));
        self.reset_ns.set(Some(sooner_ns));
    }

    /// Sets the timer to the first arrival that is still to come.
    fn arm(&self, now_ns: u64) {
        let bytes_ns = self.queue.borrow().front().map(|(at_ns, _)| *at_ns);
        let events = [bytes_ns, self.end_ns.get(), self.reset_ns.get()];
        let next_ns = events
            .into_iter()
            .flatten()
            .filter(|at_ns| *at_ns > now_ns)
            .min();
        self.arrival.set(next_ns);
    }

    /// Returns the number of bytes that may still be sent here.
    fn room(&self, window: usize) -> usize {
        let queue = self.queue.borrow();
        let held: usize = queue.iter().map(|(_, bytes)| bytes.len()).sum();
        window.saturating_sub(held)
    }

    fn wake_sender(&self) {
        if let Some(waker) = self.sender.borrow_mut().take() {
            waker.wake();
        }
    }

    /// Moves up to `most` bytes that have arrived into `take`; returns their number and the time of
    /// the last arrival.
    fn take(&self, now_ns: u64, most: usize, mut take: impl FnMut(usize, u8)) -> Received {
        let mut queue = self.queue.borrow_mut();
        let mut received = Received {
            bytes: 0,
            at_ns: None,
        };
        while received.bytes < most
            && let Some((at_ns, bytes)) = queue.front_mut().filter(|(at_ns, _)| *at_ns <= now_ns)
        {
            received.at_ns = Some(*at_ns);
            while received.bytes < most
                && let Some(byte) = bytes.pop_front()
            {
                take(received.bytes, byte);
                received.bytes += 1;
            }
            if bytes.is_empty() {
                queue.pop_front();
            }
        }
        received
    }
}

/// One end of a simulated connection. Dropping it closes it.
pub struct SimSocket {
    world: Rc<World>,
    inbox: Rc<Inbox>,
    peer: Rc<Inbox>,
    deadline: Timer,
    stretch: Stretch,
    stamped: bool,
    /// The number of bytes that sends have accepted.
    taken: Cell<u64>,
    /// The time at which the other end's host has responded to the last of them.
    acknowledged_ns: Cell<u64>,
}

impl SimSocket {
    fn new(sim: &Sim, inbox: Rc<Inbox>, peer: Rc<Inbox>, stamped: bool) -> Self {
        SimSocket {
            world: Rc::clone(&sim.0),
            inbox,
            peer,
            deadline: sim.timer(),
            stretch: Stretch::default(),
            stamped,
            taken: Cell::new(0),
            acknowledged_ns: Cell::new(0),
        }
    }

    /// Closes the sending side; receiving continues.
    pub fn half_close(&self) {
        self.inbox.end(self.now_ns());
        self.peer.end_ns.set(Some(self.arrival_ns()));
        self.peer.arm(self.now_ns());
    }

    /// Breaks the connection: the other end receives a reset, after the data in flight.
    pub fn reset(&self) {
        self.inbox.gone.set(true);
        self.peer.reset_by(self.arrival_ns());
        self.peer.arm(self.now_ns());
    }

    fn now_ns(&self) -> u64 {
        self.world.now_ns.get()
    }

    /// Returns the time at which data sent now reaches the other end.
    fn arrival_ns(&self) -> u64 {
        self.now_ns() + self.world.network.latency_ns
    }

    fn wait<T>(&self, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if self.deadline.poll(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        if self.stretch.restart() {
            cx.waker().wake_by_ref();
        }
        self.inbox.arm(self.now_ns());
        // The timer may have fired for an earlier arrival: it has just been set again, so it is
        // pending.
        let _ = self.inbox.arrival.poll(cx);
        Poll::Pending
    }

    fn poll_take(
        &self,
        cx: &mut Context<'_>,
        most: usize,
        take: impl FnMut(usize, u8),
    ) -> Poll<io::Result<Received>> {
        if self.stretch.is_over() {
            return self.wait(cx);
        }
        let now_ns = self.now_ns();
        let mut received = self.inbox.take(now_ns, self.world.network.part(most), take);
        if received.bytes == most {
            self.stretch.ends_with(most, now_ns);
        }
        if received.bytes == 0 && !self.inbox.has_ended_in_order(now_ns) {
            if self.inbox.has_come(&self.inbox.reset_ns, now_ns) {
                return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
            }
            return self.wait(cx);
        }
        self.inbox.wake_sender();
        received.at_ns = received.at_ns.filter(|_| self.stamped);
        Poll::Ready(Ok(received))
    }
}

impl Socket for SimSocket {
    fn set_deadline(&self, deadline_ns: Option<u64>) {
        self.deadline.set(deadline_ns);
    }

    fn poll_recv(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>> {
        self.poll_take(cx, buffer.len(), |index, byte| buffer[index] = byte)
    }

    fn poll_discard(&self, cx: &mut Context<'_>, most: usize) -> Poll<io::Result<Received>> {
        self.poll_take(cx, most, |_, _| ())
    }

    fn poll_send(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let now_ns = self.now_ns();
        if self.inbox.has_come(&self.inbox.reset_ns, now_ns) {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let room = self.peer.room(self.world.network.window.get());
        if room == 0 {
            *self.peer.sender.borrow_mut() = Some(cx.waker().clone());
            return self.wait(cx);
        }
        let arrival_ns = self.arrival_ns();
        let acknowledged_ns = arrival_ns + self.world.network.latency_ns;
        self.acknowledged_ns.set(acknowledged_ns);
        if self.peer.gone.get() {
            // The bytes reach no socket, and a reset returns.
            self.inbox.reset_by(acknowledged_ns);
            self.inbox.arm(now_ns);
            self.taken.set(self.taken.get() + bytes.len() as u64);
            return Poll::Ready(Ok(bytes.len()));
        }
        let sent = self.world.network.part(bytes.len().min(room));
        self.taken.set(self.taken.get() + sent as u64);
        self.peer.sent.set(self.taken.get());
        let part = bytes[..sent].iter().copied().collect();
        self.peer.queue.borrow_mut().push_back((arrival_ns, part));
        self.peer.arm(now_ns);
        Poll::Ready(Ok(sent))
    }

    fn taken(&self) -> u32 {
        self.taken.get() as u32
    }

    fn came_behind_end(&self, from: u32, has_ended: bool) -> bool {
        let bytes = (self.taken.get() as u32).wrapping_sub(from);
        if bytes == 0 {
            return true;
        }
        let from = self.taken.get() - u64::from(bytes);
        let now_ns = self.now_ns();
        let has_ended = has_ended || self.inbox.has_ended_in_order(now_ns);
        // A host that still accepts bytes has acknowledged them by the time of its response to the
        // last of them.
        let is_acknowledged = !self.peer.gone.get() && self.acknowledged_ns.get() <= now_ns;
        let came = self.peer.came_before_end.get();
        has_ended && !is_acknowledged && came.is_some_and(|came| came <= from)
    }

    fn poll_closed(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.peer_closed() {
            return Poll::Ready(());
        }
        self.wait::<()>(cx).map(|_| ())
    }

    fn may_receive(&self) -> bool {
        let queue = self.inbox.queue.borrow();
        let has_come = |(at_ns, _): &(u64, VecDeque<u8>)| *at_ns <= self.now_ns();
        queue.front().is_some_and(has_come) || self.peer_closed()
    }

    fn peer_closed(&self) -> bool {
        let now_ns = self.now_ns();
        [&self.inbox.end_ns, &self.inbox.reset_ns]
            .into_iter()
            .any(|event| self.inbox.has_come(event, now_ns))
    }
}

impl std::fmt::Debug for SimSocket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimSocket")
            .field("stamped", &self.stamped)
            .finish_non_exhaustive()
    }
}

impl Drop for SimSocket {
    fn drop(&mut self) {
        let (now_ns, latency_ns) = (self.now_ns(), self.world.network.latency_ns);
        if self.inbox.gone.get() {
            // The connection was reset before.
            return;
        }
        self.inbox.end(now_ns);
        self.inbox.gone.set(true);
        let unread_ns = self.inbox.queue.borrow().front().map(|(at_ns, _)| *at_ns);
        if let Some(at_ns) = unread_ns {
            self.peer.reset_by(at_ns.max(now_ns) + latency_ns);
        }
        if unread_ns.is_none_or(|at_ns| at_ns > now_ns) {
            let end_ns = self.peer.end_ns.get().unwrap_or(self.arrival_ns());
            self.peer.end_ns.set(Some(end_ns));
        }
        self.peer.arm(now_ns);
    }
}
