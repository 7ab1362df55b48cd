//! The loop's kernel face: epoll, nanosecond deadlines, receive timestamps.

mod clock;
mod lead;
mod poller;
mod socket;
mod sys;

pub use socket::KernelSocket;

use crate::tasks::{Task, Tasks, WakeFlag};
use crate::timers::{Timer, Timers};
use crate::{Address, Connected, Host, SocketOptions, ThreadTimes};
use clock::ReceiveClock;
use lead::Lead;
use poller::Poller;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The event loop of one thread. Clones are handles to the same loop.
#[derive(Clone)]
pub struct Kernel(Rc<Inner>);

pub(crate) struct Inner {
    tasks: Tasks,
    timers: Timers,
    clock: Rc<dyn Fn() -> u64>,
    pub(crate) poller: Poller,
    pub(crate) receive_clock: ReceiveClock,
    lead: Lead,
    /// How long the loop sleeps before it waits.
    rest_ns: Cell<u64>,
    /// Where bytes go that nobody wants and the socket cannot drop in the kernel.
    pub(crate) waste: RefCell<Vec<u8>>,
    /// Whether a turn is under way: a task must not turn the loop that runs it.
    turning: Cell<bool>,
}

impl Kernel {
    /// A new loop. Lowers the thread's timer slack to a nanosecond, so that deadlines are met as
    /// exactly as the hardware allows (the default is 50 µs).
    pub fn new() -> io::Result<Self> {
        sys::lower_timer_slack()?;
        Ok(Kernel(Rc::new(Inner {
            tasks: Tasks::default(),
            timers: Timers::default(),
            clock: Rc::new(sys::monotonic_ns),
            poller: Poller::new()?,
            receive_clock: ReceiveClock::new(),
            lead: Lead::default(),
            rest_ns: Cell::new(0),
            waste: RefCell::new(Vec::new()),
            turning: Cell::new(false),
        })))
    }

    /// Runs the loop until `future` is done. Tasks that are left keep their place and go on in
    /// the next call.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> io::Result<T> {
        let mut future = pin!(future);
        let flag = WakeFlag::set();
        let waker = Arc::clone(&flag).into();
        loop {
            if flag.take()
                && let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker))
            {
                return Ok(value);
            }
            let more = self.0.tasks.run_ready();
            let wait = !more && !flag.is_set();
            if wait {
                self.rest();
            }
            self.poll_events(wait)?;
        }
    }

    /// One round without waiting, for a loop that is driven by another: runs what can go on, takes
    /// what the kernel has. Returns the instant at which the next call is due even if
    /// [`Kernel::as_fd`] stays quiet: now if tasks can go on already, `None` if nothing waits for
    /// the clock.
    pub fn turn(&self) -> io::Result<Option<u64>> {
        self.poll_events(false)?;
        if self.0.tasks.run_ready() {
            return Ok(Some(self.now_ns()));
        }
        Ok(self.0.timers.next_ns())
    }

    /// Lets news gather, unless a timer is due before.
    fn rest(&self) {
        let rest_ns = self.0.rest_ns.get();
        if rest_ns == 0 {
            return;
        }
        let until_ns = self.now_ns() + rest_ns;
        if self.wake_ns().is_none_or(|wake_ns| wake_ns > until_ns) {
            sys::sleep(rest_ns);
        }
    }

    fn poll_events(&self, wait: bool) -> io::Result<()> {
        assert!(
            !self.0.turning.replace(true),
            "a task may not turn the loop that runs it"
        );
        let polled = self.poll_until(if wait { self.wake_ns() } else { Some(0) });
        self.0.turning.set(false);
        let now_ns = polled?;
        self.0.receive_clock.refresh(now_ns);
        self.0.timers.fire(now_ns);
        Ok(())
    }

    /// Takes the kernel's news, waiting for the first until an instant (for ever if that is
    /// `None`, not at all if it is past), and returns the time after that.
    fn poll_until(&self, wake_ns: Option<u64>) -> io::Result<u64> {
        let timeout_ns = match wake_ns {
            None => None,
            Some(0) => Some(0),
            Some(wake_ns) => Some(wake_ns.saturating_sub(self.now_ns())),
        };
        let events = self.0.poller.poll(timeout_ns)?;
        let now_ns = self.now_ns();
        if let (0, Some(wake_ns), Some(1..)) = (events, wake_ns, timeout_ns) {
            self.0.lead.learn(now_ns.saturating_sub(wake_ns));
        }
        Ok(now_ns)
    }

    /// When to be woken for the next timer: some time ahead, the rest of which is polled away.
    fn wake_ns(&self) -> Option<u64> {
        let next_ns = self.0.timers.next_ns()?;
        Some(next_ns.saturating_sub(self.0.lead.ns()))
    }
}

/// How long this thread waited for a core: the second field of schedstat (Linux,
/// Documentation/scheduler/sched-stats), which some kernels are built without.
fn queued_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

/// Readable when a [`Kernel::turn`] would find something to do.
impl AsFd for Kernel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.poller.as_fd()
    }
}

impl Host for Kernel {
    type Socket = KernelSocket;

    #[inline]
    fn now_ns(&self) -> u64 {
        sys::monotonic_ns()
    }

    fn timer(&self) -> Timer {
        self.0.timers.timer(Rc::clone(&self.0.clock))
    }

    fn spawn(&self, future: impl Future<Output = ()> + 'static) -> Task {
        self.0.tasks.spawn(future)
    }

    fn thread_times(&self) -> Option<ThreadTimes> {
        Some(ThreadTimes {
            cpu_ns: sys::thread_cpu_ns(),
            queued_ns: queued_ns().unwrap_or(0),
        })
    }

    fn set_rest(&self, rest_ns: u64) {
        self.0.rest_ns.set(rest_ns);
    }

    async fn connect(
        &self,
        to: &Address,
        options: &SocketOptions,
        deadline_ns: u64,
    ) -> io::Result<Connected<KernelSocket>> {
        let socket = KernelSocket::start_connect(self, to, options, deadline_ns)?;
        socket.connected().await?;
        Ok(Connected {
            socket,
            at_ns: self.now_ns(),
        })
    }
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kernel").finish_non_exhaustive()
    }
}
