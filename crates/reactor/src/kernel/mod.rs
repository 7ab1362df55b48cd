//! The loop on the kernel: epoll, nanosecond deadlines, receive timestamps.

mod clock;
mod lead;
mod names;
mod poller;
mod presence;
mod socket;
mod sys;
mod time_slice;

pub(crate) use presence::has_loops;
pub use socket::KernelSocket;
pub use sys::{monotonic_ns, stamps_received};

#[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
pub(crate) use sys::resolve_by_files_and_dns_only;

use crate::loop_iterations::LoopIterations;
use crate::tasks::{Task, Tasks, WakeFlag};
use crate::timers::{Timer, Timers};
use crate::{Address, Coalescing, Connected, Host, SocketOptions, ThreadTimes};
use clock::ReceiveClock;
use lead::Lead;
use poller::Poller;
use presence::Presence;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use time_slice::shorten_time_slice;

/// The distance up to which deadlines are checked between two tasks: few loop iterations last
/// longer, and a closed load, whose deadlines are timeouts, is spared readings of the clock.
const LONG_ITERATION_NS: u64 = 1_000_000;

/// The event loop of one thread. Clones are handles to the same loop.
#[derive(Clone)]
pub struct Kernel(Rc<Inner>);

/// A timer's descriptor, and the instant to which it is set.
type Alarm = (OwnedFd, Option<u64>);

pub(crate) struct Inner {
    tasks: Tasks,
    timers: Timers,
    clock: Rc<dyn Fn() -> u64>,
    pub(crate) poller: Poller,
    pub(crate) receive_clock: ReceiveClock,
    lead: Lead,
    /// The sleep of the loop before it waits.
    coalescing: Cell<Coalescing>,
    /// The buffer for received bytes that are not needed and that the socket can't drop in the
    /// kernel.
    pub(crate) waste: RefCell<Vec<u8>>,
    /// True during an iteration: a task must not run the loop that runs it.
    iterating: Cell<bool>,
    loop_iterations: RefCell<LoopIterations>,
    /// True if the last call of the poller could block, as opposed to a poll without waiting.
    asleep: Cell<bool>,
    /// The time at which the last poll without waiting returned nothing; `None` after an event.
    looked_ns: Cell<Option<u64>>,
    /// The time at which events were last read from the kernel.
    news_ns: Cell<u64>,
    /// The time spent polling repeatedly, because the next deadline was too near to sleep.
    polled_ns: Cell<u64>,
    /// A timer that makes the descriptor readable at a deadline, and the deadline, if another loop
    /// drives this one.
    alarm: RefCell<Option<Alarm>>,
    /// The time at which the next turn is due, between two turns of a loop that another one drives.
    turn_due_ns: Cell<Option<u64>>,
    /// The time at which the current loop iteration began; `None` while the loop waits.
    iteration_from_ns: Cell<Option<u64>>,
    /// The time at which the last iteration ended, or the loop was entered; it bounds the beginning
    /// of the next iteration, so that no time is counted twice.
    iteration_end_ns: Cell<u64>,
    _presence: Presence,
}

impl Kernel {
    /// Creates a loop. Lowers the thread's timer slack to a nanosecond, so that deadlines are met
    /// as exactly as the hardware allows (the default is 50 µs), and shortens its slice of time, so
    /// that it has its core as soon as a deadline comes.
    pub fn new() -> io::Result<Self> {
        sys::lower_timer_slack()?;
        shorten_time_slice();
        Ok(Kernel(Rc::new(Inner {
            tasks: Tasks::default(),
            timers: Timers::default(),
            clock: Rc::new(sys::monotonic_ns),
            poller: Poller::new()?,
            receive_clock: ReceiveClock::new(),
            lead: Lead::default(),
            coalescing: Cell::default(),
            waste: RefCell::new(Vec::new()),
            iterating: Cell::new(false),
            loop_iterations: RefCell::default(),
            asleep: Cell::new(false),
            looked_ns: Cell::new(None),
            news_ns: Cell::new(0),
            polled_ns: Cell::new(0),
            alarm: RefCell::default(),
            turn_due_ns: Cell::new(None),
            iteration_from_ns: Cell::new(None),
            iteration_end_ns: Cell::new(0),
            _presence: Presence::new(),
        })))
    }

    /// Runs the loop until `future` is done. Unfinished tasks keep their place and continue in the
    /// next call.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> io::Result<T> {
        let mut future = pin!(future);
        let flag = WakeFlag::set();
        let waker = Arc::clone(&flag).into();
        // The time since the last call does not belong to this loop.
        self.0.iteration_from_ns.set(None);
        self.0.iteration_end_ns.set(self.now_ns());
        loop {
            if flag.take()
                && let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker))
            {
                return Ok(value);
            }
            let more = self.run_ready();
            let wait = !more && !flag.is_set();
            if wait {
                self.coalesce();
            }
            self.poll_events(wait)?;
        }
    }

    /// Runs one iteration without waiting, for a loop that is driven by another: runs the tasks
    /// that can go on, and reads the kernel's events. Returns the instant at which the next call is
    /// due even if [`Kernel::as_fd`] stays quiet: now if tasks can go on already, `None` if no
    /// timer is set.
    pub fn iterate(&self) -> io::Result<Option<u64>> {
        self.poll_events(false)?;
        if self.run_ready() {
            return Ok(Some(self.now_ns()));
        }
        Ok(self.0.timers.next_ns())
    }

    /// Runs a turn of a loop that is driven by another one, which waits for [`Kernel::as_fd`]
    /// alone: like [`iterate`](Self::iterate), but the descriptor also becomes readable when a
    /// timer makes the next turn due.
    pub fn turn(&self) -> io::Result<()> {
        let due_ns = self.iterate()?;
        let mut alarm = self.0.alarm.borrow_mut();
        let (timer, set_ns) = match &mut *alarm {
            Some(alarm) => alarm,
            none => {
                let timer = sys::timer_create()?;
                self.0.poller.watch_timer(timer.as_fd())?;
                none.insert((timer, None))
            }
        };
        // A timer that is already due has to be set again, because the poller has reported it.
        if *set_ns != due_ns || due_ns.is_some_and(|due_ns| due_ns <= self.now_ns()) {
            sys::timer_set(timer.as_fd(), due_ns)?;
            *set_ns = due_ns;
        }
        // Until then the other loop may wait, which is not an iteration of this one.
        self.end_iteration(self.now_ns());
        self.0.turn_due_ns.set(due_ns);
        Ok(())
    }

    /// Runs the tasks that can go on. A deadline that passes meanwhile wakes its task before the
    /// next one runs, so that no request has to wait until the responses of others have been read.
    fn run_ready(&self) -> bool {
        let near_ns = self.0.news_ns.get() + LONG_ITERATION_NS;
        self.0.tasks.run_ready(|| {
            if self.0.timers.has_before(near_ns) {
                self.fire(self.now_ns());
            }
        })
    }

    /// Wakes the tasks whose deadlines have passed. Returns true if there were any.
    fn fire(&self, now_ns: u64) -> bool {
        self.0.tasks.wake_due(|| self.0.timers.fire(now_ns))
    }

    /// Sleeps before a wait, so that events accumulate.
    fn coalesce(&self) {
        let coalescing = self.0.coalescing.get();
        if coalescing == Coalescing::Off {
            return;
        }
        let now_ns = self.now_ns();
        self.end_iteration(now_ns);
        let due_ns = self.0.timers.next_ns();
        let wake_ns = due_ns.map(|due_ns| self.0.lead.wake_ns(due_ns, now_ns));
        let left_ns = wake_ns.map_or(u64::MAX, |wake_ns| wake_ns.saturating_sub(now_ns));
        match coalescing {
            Coalescing::For(sleep_ns) if sleep_ns < left_ns => sys::sleep(sleep_ns),
            Coalescing::UntilTimer(within_ns) if left_ns > 0 && left_ns <= within_ns => {
                sys::sleep(left_ns);
                let slept_ns = self.now_ns() - now_ns;
                self.0.lead.learn(slept_ns.saturating_sub(left_ns));
            }
            Coalescing::Off | Coalescing::For(_) | Coalescing::UntilTimer(_) => {}
        }
    }

    fn poll_events(&self, wait: bool) -> io::Result<()> {
        assert!(
            !self.0.iterating.replace(true),
            "a task may not run the loop that runs it"
        );
        let due_ns = wait.then(|| self.0.timers.next_ns()).flatten();
        let polled = if wait {
            self.wait_until(due_ns)
        } else {
            self.0.poller.poll(Some(0))
        };
        self.0.iterating.set(false);
        let events = polled?;
        let now_ns = self.now_ns();
        self.end_iteration(now_ns);
        if let (0, Some(due_ns)) = (events, due_ns) {
            self.learn(due_ns, now_ns);
        }
        self.0.receive_clock.refresh(now_ns);
        let fired = self.fire(now_ns);
        self.0.news_ns.set(now_ns);
        self.count_polled(wait && events == 0, fired, now_ns);
        if !wait || events > 0 || fired {
            let due_ns = due_ns.or(self.0.turn_due_ns.take()).unwrap_or(now_ns);
            let from_ns = due_ns.max(self.0.iteration_end_ns.get()).min(now_ns);
            self.0.iteration_from_ns.set(Some(from_ns));
        }
        Ok(())
    }

    /// Counts the time since the last poll if neither poll returned anything: that is waiting,
    /// although it uses the core.
    fn count_polled(&self, is_quiet: bool, fired: bool, now_ns: u64) {
        let looked_ns = self.0.looked_ns.get();
        if let Some(from_ns) = looked_ns.filter(|_| is_quiet && !self.0.asleep.get()) {
            let passed_ns = now_ns.saturating_sub(from_ns);
            self.0.polled_ns.set(self.0.polled_ns.get() + passed_ns);
        }
        self.0.looked_ns.set((is_quiet && !fired).then_some(now_ns));
    }

    /// Reads the kernel's events, waiting for the first one until an instant, or for ever if that
    /// is `None`. Returns the number of sockets with events.
    fn wait_until(&self, due_ns: Option<u64>) -> io::Result<usize> {
        let now_ns = self.now_ns();
        self.end_iteration(now_ns);
        let wake_ns = due_ns.map(|due_ns| self.0.lead.wake_ns(due_ns, now_ns));
        let timeout_ns = wake_ns.map(|wake_ns| wake_ns.saturating_sub(now_ns));
        self.0.asleep.set(timeout_ns != Some(0));
        self.0.poller.poll(timeout_ns)
    }

    fn learn(&self, due_ns: u64, now_ns: u64) {
        if self.0.asleep.get() {
            let late_ns = now_ns.saturating_sub(self.0.lead.wake_ns(due_ns, now_ns));
            self.0.lead.learn(late_ns);
        }
    }

    /// Ends the current loop iteration, if there is one: from now on the loop polls for events.
    #[inline]
    fn end_iteration(&self, now_ns: u64) {
        if let Some(from_ns) = self.0.iteration_from_ns.take() {
            let length_ns = now_ns.saturating_sub(from_ns);
            self.0.loop_iterations.borrow_mut().record(length_ns);
            self.0.iteration_end_ns.set(now_ns);
        }
    }
}

/// Returns the time for which this thread waited for a CPU: the second field of schedstat (Linux,
/// Documentation/scheduler/sched-stats), which some kernels are built without.
fn queued_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

/// The descriptor is readable when [`Kernel::iterate`] would have something to do.
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
            polled_ns: self.0.polled_ns.get(),
            queued_ns: queued_ns().unwrap_or(0),
            core: sys::core(),
            timer_slack_ns: sys::timer_slack_ns(),
        })
    }

    fn take_loop_iterations(&self, each: &mut dyn FnMut(u64, u64)) {
        // End the current iteration first: it may be the longest of all, and the last.
        if self.0.iteration_from_ns.get().is_some() {
            let now_ns = self.now_ns();
            self.end_iteration(now_ns);
            self.0.iteration_from_ns.set(Some(now_ns));
        }
        self.0.loop_iterations.borrow_mut().take(each);
    }

    fn set_coalescing(&self, coalescing: Coalescing) {
        self.0.coalescing.set(coalescing);
    }

    async fn look_up(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        names::look_up(self, name, port).await
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_polled_away_before_deadlines_is_told_apart() {
        const EVERY_NS: u64 = 10_000;
        let kernel = Kernel::new().unwrap();
        let begin_ns = kernel.now_ns();
        let deadlines = async {
            let mut timer = kernel.timer();
            for deadline in 1..5_000 {
                timer.until(begin_ns + deadline * EVERY_NS).await;
            }
        };
        kernel.block_on(deadlines).unwrap();
        let polled_ns = kernel.thread_times().unwrap().polled_ns;
        let passed_ns = kernel.now_ns() - begin_ns;
        // The machine determines how soon the loop stops sleeping, but it polls in the end.
        assert!(
            polled_ns > 0 && polled_ns < passed_ns,
            "{polled_ns} of {passed_ns}"
        );
    }

    #[test]
    fn sleeping_until_a_deadline_is_no_polling() {
        let kernel = Kernel::new().unwrap();
        let due_ns = kernel.now_ns() + 20_000_000;
        kernel.block_on(kernel.timer().until(due_ns)).unwrap();
        assert!(kernel.thread_times().unwrap().polled_ns < 1_000_000);
    }
}
