//! What a worker needs of the world.

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

    /// The monotonic clock.
    fn now_ns(&self) -> u64;

    /// A new timer on this clock.
    fn timer(&self) -> Timer;

    /// Runs a future on this thread. Dropping the [`Task`] cancels it.
    fn spawn(&self, future: impl Future<Output = ()> + 'static) -> Task;

    /// What this thread has done with its time since it began; `None` where there is no thread.
    fn thread_times(&self) -> Option<ThreadTimes>;

    /// Tells how long the loop's iterations took since the last call: a length in nanoseconds and
    /// how many there were of it, the shortest first; nothing where there is no thread. One lasts
    /// from when the loop can go on (it was woken, or was to be) to when it looks for news again.
    fn take_loop_iterations(&self, tell: &mut dyn FnMut(u64, u64));

    /// Sets the loop's interrupt coalescing from its next wait on.
    fn set_coalescing(&self, coalescing: Coalescing);

    /// The addresses of a name, in the resolver's order; an address is its own name. The loop goes
    /// on meanwhile.
    fn look_up(&self, name: &str, port: u16) -> impl Future<Output = io::Result<Vec<SocketAddr>>>;

    /// Opens a connection; ends with [`io::ErrorKind::TimedOut`] at the deadline.
    fn connect(
        &self,
        to: &Address,
        options: &SocketOptions,
        deadline_ns: u64,
    ) -> impl Future<Output = io::Result<Connected<Self::Socket>>>;
}

/// Interrupt coalescing: whether a loop sleeps before it waits for its sockets, so that one wait
/// finds what several would have found one by one. Deadlines are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coalescing {
    /// The loop waits at once.
    #[default]
    Off,
    /// It sleeps for this many nanoseconds, unless a timer is due before.
    For(u64),
    /// It sleeps until the next timer, if that is due within this many nanoseconds.
    UntilTimer(u64),
}

/// What a thread has done with its time since it began, in nanoseconds, and how the kernel runs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadTimes {
    /// It computed, in user and kernel space.
    pub cpu_ns: u64,
    /// It looked for news again and again, as the next deadline was too near to sleep; most of it
    /// is within `cpu_ns`.
    pub polled_ns: u64,
    /// It could have computed and had no core; 0 where the kernel does not tell.
    pub queued_ns: u64,
    /// The core that it runs on at this moment.
    pub core: Option<u32>,
    /// How late the kernel may let its timers fire to save wake-ups.
    pub timer_slack_ns: Option<u64>,
}

/// A new connection and how long it took.
#[derive(Debug)]
pub struct Connected<S> {
    /// The connection.
    pub socket: S,
    /// When it was up.
    pub at_ns: u64,
}

/// A connected stream socket. One task at a time may wait on it.
pub trait Socket: 'static {
    /// From now on every operation that is not done at this instant ends with
    /// [`io::ErrorKind::TimedOut`]; `None` lets them wait for ever.
    fn set_deadline(&self, deadline_ns: Option<u64>);

    /// Receives into `buffer`; zero bytes mean that the peer has closed its side.
    fn poll_recv(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>>;

    /// Receives and drops up to `most` bytes where they lie, without copying them.
    fn poll_discard(&self, cx: &mut Context<'_>, most: usize) -> Poll<io::Result<Received>>;

    /// Sends a first part of `bytes` and says how many went.
    fn poll_send(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;

    /// Has the kernel stamp the bytes of the next send as they leave, for
    /// [`sent_at_ns`](Socket::sent_at_ns). Does nothing where there are no such stamps.
    fn stamp_next_send(&self) {}

    /// When the last byte of the send that was stamped left this host; `None` if the kernel did not
    /// tell (yet). Forgets it, and costs a system call.
    fn sent_at_ns(&self) -> Option<u64> {
        None
    }

    /// From now on the loop hears of what comes when this many bytes have, at least 1, or when
    /// nothing more will. Does nothing where that cannot be asked for.
    fn hear_from(&self, bytes: u32) {
        let _ = bytes;
    }

    /// How many bytes sends have taken so far, modulo 2^32.
    fn taken(&self) -> u32;

    /// Whether the peer had ended the connection before any byte came to it of those that sends
    /// took behind the first `from` ([`taken`](Socket::taken)), so that its program has not read
    /// them as a part of what it serves. `false` if that is not known. To be asked as soon as the
    /// connection was seen to end; `has_ended` if that was seen by something else than the
    /// connection's own end, as TLS has it. What has come and was not received is dropped.
    ///
    /// # How it is known
    ///
    /// The end of a connection, as everything that a host sends, acknowledges what has come to that
    /// host before. So the peer ended the connection first if its end has come and nothing of the
    /// bytes is acknowledged. A program that has read them, and then closed, has acknowledged them.
    /// One that closed before may read on to its peer's end (RFC 9112, section 9.6), but responds
    /// to nothing; when its host acknowledges that, nothing is known any more. A reset without an
    /// end before tells nothing: a program that closes with unread bytes resets the connection
    /// without acknowledging any, whatever it has read.
    fn came_behind_end(&self, from: u32, has_ended: bool) -> bool;

    /// Ready when the peer has closed its side or broken the connection, or at the deadline; what
    /// has been received stays where it is.
    fn poll_closed(&self, cx: &mut Context<'_>) -> Poll<()>;

    /// Whether the loop has seen something come that may not have been read; never a system call.
    fn may_receive(&self) -> bool;

    /// Whether the loop has seen that the peer closed or broke the connection; never a system call.
    fn peer_closed(&self) -> bool;
}

/// What one receive brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Bytes received; 0 when the peer has closed its side.
    pub bytes: usize,
    /// When the last of them reached this host, where the socket's owner asked for it and the
    /// kernel knows.
    pub at_ns: Option<u64>,
}

/// Where a connection goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// TCP.
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

/// How a connection is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// The local address to use; the kernel's choice if `None`.
    pub local: Option<IpAddr>,
    /// Ask the kernel when each packet was received.
    pub timestamps: bool,
    /// The size of the buffers for sending and receiving, in bytes; the kernel's choice if `None`.
    pub buffer_bytes: Option<u32>,
}
