//! A connected socket of the kernel.

use super::poller::{Interest, Readiness};
use super::{Inner, Kernel, sys};
use crate::stretch::Stretch;
use crate::timers::Timer;
use crate::{Address, Host, Received, Socket, SocketOptions};
use socket2::{Domain, SockAddr, Type};
use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::rc::Rc;
use std::task::{Context, Poll};

/// The size of the buffer for data that can't be dropped in the kernel.
const WASTE_BYTES: usize = 64 * 1024;

/// A stream socket on a [`Kernel`] loop.
pub struct KernelSocket {
    inner: socket2::Socket,
    key: usize,
    readiness: Rc<Readiness>,
    deadline: Timer,
    stretch: Stretch,
    loop_: Rc<Inner>,
    is_tcp: bool,
    stamped: bool,
    sends: Cell<Sends>,
    /// The number of bytes that sends have accepted; wraps around.
    taken: Cell<u32>,
    /// True if the connection was reset without an orderly end before.
    is_reset: Cell<bool>,
    interest: Cell<Interest>,
}

/// The state of the sends of a socket whose kernel timestamps them.
#[derive(Clone, Copy, Debug, Default)]
struct Sends {
    /// True if the next send is to be timestamped.
    stamp_next: bool,
    /// True once the kernel numbers the bytes that are sent.
    is_set_up: bool,
    /// The number of bytes sent since then, as the kernel counts them: it wraps around.
    bytes: u32,
    /// True if a send was timestamped, and its timestamp was not read yet.
    is_stamped: bool,
    /// The kernel's number of that send's last byte.
    stamped: u32,
}

impl KernelSocket {
    /// Begins a connection; [`KernelSocket::connected`] waits for it.
    pub(crate) fn start_connect(
        kernel: &Kernel,
        to: &Address,
        options: &SocketOptions,
        deadline_ns: u64,
    ) -> io::Result<Self> {
        let stamped = options.timestamps && matches!(to, Address::Ip(_)) && sys::stamps_received();
        let (inner, target) = open(to, options)?;
        if stamped {
            sys::stamp_received(inner.as_fd())?;
        }
        let is_up = begin(&inner, &target)? || is_loopback(to) && begin(&inner, &target)?;
        let interest = match is_up {
            true => Interest::Receive,
            false => Interest::Both,
        };
        let (key, readiness) = kernel.0.poller.watch(inner.as_raw_fd(), interest)?;
        readiness.writable.set(is_up);
        let socket = KernelSocket {
            inner,
            key,
            readiness,
            deadline: kernel.timer(),
            stretch: Stretch::default(),
            loop_: Rc::clone(&kernel.0),
            is_tcp: matches!(to, Address::Ip(_)),
            stamped,
            sends: Cell::default(),
            taken: Cell::new(0),
            is_reset: Cell::new(false),
            interest: Cell::new(interest),
        };
        socket.set_deadline(Some(deadline_ns));
        Ok(socket)
    }

    /// Waits until the connection is established or refused.
    pub(crate) async fn connected(&self) -> io::Result<()> {
        poll_fn(|cx| {
            if !self.readiness.writable.get() {
                return self.wait(cx);
            }
            Poll::Ready(Ok(()))
        })
        .await?;
        // A failed connect is reported by EPOLLERR; without it there is no error to read.
        if self.readiness.closed.get()
            && let Some(error) = self.inner.take_error()?
        {
            return Err(error);
        }
        Ok(())
    }

    /// Returns pending until the next event or the deadline, or until all other tasks had a chance
    /// to run.
    // Each request waits once, so the function is inlined.
    #[inline(always)]
    fn wait<T>(&self, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if self.deadline.poll(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        if self.stretch.restart() {
            self.readiness.readable.set(true);
            cx.waker().wake_by_ref();
        }
        self.readiness.wait(cx.waker());
        Poll::Pending
    }

    /// Returns pending until more can be sent. Room to send is not watched for until a send has
    /// found none, because most sends never do.
    #[cold]
    fn wait_for_room<T>(&self, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if self.interest.replace(Interest::Both) == Interest::Receive {
            self.loop_
                .poller
                .watch_sends(self.inner.as_raw_fd(), self.key)?;
        }
        self.wait(cx)
    }

    /// Receives once, if data may be available.
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the library has dozens, and may add more"
    )]
    fn poll_receive(
        &self,
        cx: &mut Context<'_>,
        requested: usize,
        receive: impl Fn() -> io::Result<Received>,
    ) -> Poll<io::Result<Received>> {
        loop {
            if !self.readiness.readable.get() {
                return self.wait(cx);
            }
            match receive() {
                Ok(received) => {
                    // A short read took all available data, and later data causes a new event; only
                    // the end of the stream may have been part of the same event.
                    if received.bytes < requested {
                        let more = self.readiness.closed.get();
                        self.readiness.readable.set(more);
                    } else if self.stretch.ends_with(received.bytes, sys::monotonic_ns()) {
                        self.readiness.readable.set(false);
                    }
                    return Poll::Ready(Ok(received));
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => self.readiness.readable.set(false),
                    io::ErrorKind::Interrupted => {}
                    _ => return Poll::Ready(Err(self.noted(error))),
                },
            }
        }
    }

    /// Records that the connection broke, unless by a reset after its end: the kernel reports the
    /// reset only once, and from then on reports that the end had arrived.
    #[cold]
    fn noted(&self, error: io::Error) -> io::Error {
        if error.kind() != io::ErrorKind::BrokenPipe {
            self.is_reset.set(true);
        }
        error
    }

    /// True if the peer has ended the connection in order; drops the data before the end.
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the library has dozens, and may add more"
    )]
    fn ended_in_order(&self) -> bool {
        let mut waste = self.loop_.waste.borrow_mut();
        waste.resize(WASTE_BYTES, 0);
        while !self.is_reset.get() {
            match sys::receive(self.inner.as_fd(), &mut waste) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => return false,
                    io::ErrorKind::Interrupted => {}
                    _ => drop(self.noted(error)),
                },
            }
        }
        false
    }

    fn stamp(&self, raw: sys::RawReceived) -> Received {
        let at_ns = raw
            .wall_ns
            .map(|wall_ns| self.loop_.receive_clock.monotonic_ns(wall_ns));
        Received {
            bytes: raw.bytes,
            at_ns,
        }
    }

    fn receive_into(&self, buffer: &mut [u8]) -> io::Result<Received> {
        if self.stamped {
            return Ok(self.stamp(sys::receive_stamped(self.inner.as_fd(), buffer)?));
        }
        let bytes = sys::receive(self.inner.as_fd(), buffer)?;
        Ok(Received { bytes, at_ns: None })
    }

    /// Sends bytes that the kernel numbers, with a timestamp if one was requested.
    #[cold]
    fn send_numbered(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut sends = self.sends.get();
        let sent = if sends.stamp_next {
            sys::send_stamped(self.inner.as_fd(), bytes)?
        } else {
            sys::send(self.inner.as_fd(), bytes)?
        };
        sends.bytes = sends.bytes.wrapping_add(sent as u32);
        if sends.stamp_next {
            (sends.is_stamped, sends.stamped) = (true, sends.bytes.wrapping_sub(1));
            sends.stamp_next = sent < bytes.len();
        }
        self.sends.set(sends);
        Ok(sent)
    }

    /// Makes the kernel number the bytes that are sent, starting after the last acknowledged one:
    /// all are acknowledged, because a response has arrived.
    fn set_up_stamps(&self) -> bool {
        let done = self.is_tcp && sys::number_sends(self.inner.as_fd()).is_ok();
        self.readiness.stamps.set(done);
        done
    }

    /// Drops received bytes. Only TCP drops them in the kernel; other sockets are read into a
    /// buffer whose content is ignored.
    fn drop_received(&self, most: usize) -> io::Result<Received> {
        if self.is_tcp {
            return Ok(self.stamp(sys::discard_tcp(self.inner.as_fd(), most)?));
        }
        let mut waste = self.loop_.waste.borrow_mut();
        waste.resize(WASTE_BYTES, 0);
        self.receive_into(&mut waste[..most.min(WASTE_BYTES)])
    }
}

impl Socket for KernelSocket {
    #[inline]
    fn set_deadline(&self, deadline_ns: Option<u64>) {
        self.deadline.set(deadline_ns);
    }

    fn poll_recv(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>> {
        let requested = buffer.len();
        let buffer = std::cell::RefCell::new(buffer);
        self.poll_receive(cx, requested, || {
            self.receive_into(&mut buffer.borrow_mut())
        })
    }

    fn poll_discard(&self, cx: &mut Context<'_>, most: usize) -> Poll<io::Result<Received>> {
        let requested = if self.is_tcp {
            most
        } else {
            most.min(WASTE_BYTES)
        };
        self.poll_receive(cx, requested, || self.drop_received(requested))
    }

    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the library has dozens, and may add more"
    )]
    fn poll_send(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            if !self.readiness.writable.get() {
                return self.wait_for_room(cx);
            }
            let sent = if self.sends.get().is_set_up {
                self.send_numbered(bytes)
            } else {
                sys::send(self.inner.as_fd(), bytes)
            };
            match sent {
                Ok(sent) => {
                    if sent < bytes.len() {
                        self.readiness.writable.set(false);
                    }
                    self.taken.set(self.taken.get().wrapping_add(sent as u32));
                    return Poll::Ready(Ok(sent));
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => self.readiness.writable.set(false),
                    io::ErrorKind::Interrupted => {}
                    _ => return Poll::Ready(Err(self.noted(error))),
                },
            }
        }
    }

    fn stamp_next_send(&self) {
        let mut sends = self.sends.get();
        if !sends.is_set_up {
            sends = Sends {
                is_set_up: self.set_up_stamps(),
                ..Sends::default()
            };
        }
        sends.stamp_next = sends.is_set_up;
        sends.is_stamped = false;
        self.sends.set(sends);
    }

    fn sent_at_ns(&self) -> Option<u64> {
        let mut sends = self.sends.get();
        if !std::mem::take(&mut sends.is_stamped) {
            return None;
        }
        let number = sends.stamped;
        self.sends.set(sends);
        let mut sent_at_ns = None;
        while let Some(stamp) = sys::take_stamp(self.inner.as_fd()) {
            if stamp.number == number {
                sent_at_ns = Some(self.loop_.receive_clock.monotonic_ns(stamp.wall_ns));
            }
        }
        sent_at_ns
    }

    fn set_receive_low_water(&self, bytes: u32) {
        if self.is_tcp {
            // Only TCP has the option, and all its sockets do.
            let _ = sys::set_receive_low_water(self.inner.as_fd(), bytes);
        }
    }

    #[inline]
    fn taken(&self) -> u32 {
        self.taken.get()
    }

    fn came_behind_end(&self, from: u32, has_ended: bool) -> bool {
        let bytes = self.taken.get().wrapping_sub(from);
        if bytes == 0 || !self.is_tcp {
            return bytes == 0;
        }
        // In this order: an end that arrived in between would have acknowledged the bytes.
        let has_ended = has_ended || self.ended_in_order();
        let unacknowledged = sys::unacknowledged(self.inner.as_fd());
        has_ended && unacknowledged.is_ok_and(|unacknowledged| unacknowledged >= bytes.into())
    }

    fn poll_closed(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.readiness.closed.get() {
            return Poll::Ready(());
        }
        self.wait::<()>(cx).map(|_| ())
    }

    #[inline]
    fn may_receive(&self) -> bool {
        self.readiness.readable.get() || self.stretch.is_over()
    }

    #[inline]
    fn peer_closed(&self) -> bool {
        self.readiness.closed.get()
    }
}

impl Drop for KernelSocket {
    fn drop(&mut self) {
        self.loop_.poller.forget(self.key);
    }
}

impl std::fmt::Debug for KernelSocket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("KernelSocket").field(&self.inner).finish()
    }
}

/// Returns a non-blocking socket with its options set, and the address in the kernel's form.
fn open(to: &Address, options: &SocketOptions) -> io::Result<(socket2::Socket, SockAddr)> {
    let target = match to {
        Address::Ip(address) => SockAddr::from(*address),
        Address::Unix(path) => SockAddr::unix(path)?,
    };
    let socket = socket2::Socket::new(target.domain(), Type::STREAM.nonblocking(), None)?;
    if matches!(to, Address::Ip(_)) {
        socket.set_tcp_nodelay(true)?;
        if let Some(bytes) = options.buffer_bytes {
            socket.set_send_buffer_size(bytes as usize)?;
            socket.set_recv_buffer_size(bytes as usize)?;
        }
        if let Some(local) = options.local {
            bind(&socket, local, target.domain())?;
        }
    }
    Ok((socket, target))
}

fn bind(socket: &socket2::Socket, local: IpAddr, domain: Domain) -> io::Result<()> {
    let local = SocketAddr::new(local, 0);
    if domain != Domain::for_address(local) {
        let message = format!("the local address {} is of another IP version", local.ip());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    sys::choose_port_at_connect(socket.as_fd())?;
    socket.bind(&local.into())
}

fn is_loopback(to: &Address) -> bool {
    matches!(to, Address::Ip(to) if to.ip().is_loopback())
}

/// Begins to connect, or continues, and returns whether the connection is established. On this host
/// it is established at once, but the kernel reports that only at the second call.
fn begin(socket: &socket2::Socket, target: &SockAddr) -> io::Result<bool> {
    match socket.connect(target) {
        Ok(()) => Ok(true),
        Err(error) => match error.raw_os_error() {
            Some(libc::EINPROGRESS | libc::EALREADY) => Ok(false),
            _ => Err(error),
        },
    }
}
