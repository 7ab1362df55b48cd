//! The interface between a worker and the world.

use crate::{Task, Timer};
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::task::{Context, Poll};

/// A clock, tasks, timers and connections: the kernel's or simulated ones.
pub trait Host: Clone + 'static {
    /// A connected stream socket.
    type Socket: Socket;

    /// Returns the time of the monotonic clock.
    fn now_ns(&self) -> u64;

    /// Creates a timer on this clock.
    fn timer(&self) -> Timer;

    /// Runs a future on this thread. Dropping the [`Task`] cancels it.
    fn spawn(&self, future: impl Future<Output = ()> + 'static) -> Task;

    /// Returns the times of this thread since it began; `None` if there is no thread.
    fn thread_times(&self) -> Option<ThreadTimes>;

    /// Reports the durations of the loop's iterations since the last call: calls `each` with a
    /// length in nanoseconds and the number of iterations of that length, the shortest first; not
    /// at all if there is no thread. An iteration lasts from the instant at which the loop can go
    /// on (it was woken, or should have been) to the one at which it polls for events again.
    fn take_loop_iterations(&self, each: &mut dyn FnMut(u64, u64));

    /// Sets the loop's interrupt coalescing, from its next wait on.
    fn set_coalescing(&self, coalescing: Coalescing);

    /// Resolves a name to its addresses, in the resolver's order; an IP address resolves to itself.
    /// The loop continues meanwhile.
    fn look_up(&self, name: &str, port: u16) -> impl Future<Output = io::Result<Vec<SocketAddr>>>;

    /// Opens a connection; fails with [`io::ErrorKind::TimedOut`] at the deadline.
    fn connect(
        &self,
        to: &Address,
        options: &SocketOptions,
        deadline_ns: u64,
    ) -> impl Future<Output = io::Result<Connected<Self::Socket>>>;
}

/// Interrupt coalescing: a sleep of the loop before it waits for its sockets, so that one wait
/// returns the events that several waits would have returned one by one. Deadlines are met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coalescing {
    /// The loop waits at once.
    #[default]
    Off,
    /// The loop sleeps for this many nanoseconds, unless a timer is due before.
    For(u64),
    /// The loop sleeps until the next timer, if that is due within this many nanoseconds.
    UntilTimer(u64),
}

/// The times of a thread since it began, in nanoseconds, and its scheduling by the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadTimes {
    /// The CPU time, in user and kernel space.
    pub cpu_ns: u64,
    /// The time spent polling for events repeatedly, because the next deadline was too near to
    /// sleep; most of it is part of `cpu_ns`.
    pub polled_ns: u64,
    /// The time for which the thread was runnable but had no core; 0 if the kernel does not report
    /// it.
    pub queued_ns: u64,
    /// The core on which it currently runs.
    pub core: Option<u32>,
    /// The delay that the kernel may add to its timers to save wake-ups.
    pub timer_slack_ns: Option<u64>,
}

/// A new connection, and the time at which it was established.
#[derive(Debug)]
pub struct Connected<S> {
    /// The connection.
    pub socket: S,
    /// The time at which it was established.
    pub at_ns: u64,
}

/// A connected stream socket. One task at a time may wait on it.
pub trait Socket: 'static {
    /// Sets the deadline: from now on every operation that is not complete by then fails with
    /// [`io::ErrorKind::TimedOut`]; `None` lets operations wait for ever.
    fn set_deadline(&self, deadline_ns: Option<u64>);

    /// Receives into `buffer`; zero bytes mean that the peer has closed its side.
    fn poll_recv(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>>;

    /// Receives and drops up to `most` bytes in the kernel, without copying them.
    fn poll_discard(&self, cx: &mut Context<'_>, most: usize) -> Poll<io::Result<Received>>;

    /// Sends a first part of `bytes`, and returns its length.
    fn poll_send(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;

    /// Requests a kernel timestamp of the next send's bytes as they leave, for
    /// [`sent_at_ns`](Socket::sent_at_ns). Has no effect if there are no such timestamps.
    fn stamp_next_send(&self) {}

    /// Returns the time at which the last byte of the timestamped send left this host; `None` if
    /// the kernel did not report it (yet). Returns it once only, and costs a system call.
    fn sent_at_ns(&self) -> Option<u64> {
        None
    }

    /// Notifies the loop only when at least this many bytes (at least 1) have arrived, or nothing
    /// more will, from now on. Has no effect on sockets without this option.
    fn set_receive_low_water(&self, bytes: u32) {
        let _ = bytes;
    }

    /// Returns the number of bytes that sends have accepted so far, modulo 2^32.
    fn taken(&self) -> u32;

    /// True if the peer had ended the connection before it received any of the bytes that sends
    /// accepted after the first `from` ([`taken`](Socket::taken)), so that its program can't have
    /// read them as part of a request that it served. False if that is not known. To be called as
    /// soon as the end of the connection is noticed; `has_ended` is true if something other than
    /// the connection's own end was noticed, such as the end of TLS. Received data that was not
    /// read is dropped.
    ///
    /// # How it is known
    ///
    /// The end of a connection, like everything that a host sends, acknowledges the bytes that this
    /// host received before it. So the peer ended the connection first if its end has arrived and
    /// none of the bytes are acknowledged. A program that has read them, and then closed, has
    /// acknowledged them. One that closed before may continue to read until its peer's end (RFC
    /// 9112, section 9.6), but does not respond; once its host acknowledges the bytes, nothing can
    /// be concluded any more. Nothing can be concluded from a reset without an end before it
    /// either: a program that closes with unread bytes resets the connection without acknowledging
    /// any, whatever it has read.
    fn came_behind_end(&self, from: u32, has_ended: bool) -> bool;

    /// Ready when the peer has closed its side or reset the connection, or at the deadline;
    /// received data is left in place.
    fn poll_closed(&self, cx: &mut Context<'_>) -> Poll<()>;

    /// True if the loop has noticed arrivals that may not have been read; never makes a system
    /// call.
    fn may_receive(&self) -> bool;

    /// True if the loop has noticed that the peer closed or reset the connection; never makes a
    /// system call.
    fn peer_closed(&self) -> bool;
}

/// The result of one receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// The number of bytes received; 0 if the peer has closed its side.
    pub bytes: usize,
    /// The time at which the last of them reached this host, if the socket's owner requested it and
    /// the kernel knows it.
    pub at_ns: Option<u64>,
}

/// The destination of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// A TCP address.
    Ip(SocketAddr),
    /// A Unix stream socket.
    Unix(PathBuf),
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Ip(address) => address.fmt(f),
            Address::Unix(path) => path.display().fmt(f),
        }
    }
}

/// Options of a new connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// The local address to use; the kernel's choice if `None`.
    pub local: Option<IpAddr>,
    /// True if the kernel should record the time at which each packet was received.
    pub timestamps: bool,
    /// The size of the buffers for sending and receiving, in bytes; the kernel's choice if `None`.
    pub buffer_bytes: Option<u32>,
}
