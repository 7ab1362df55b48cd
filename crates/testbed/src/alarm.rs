//! Waits that end on time.
//!
//! The runtime's own timers count milliseconds; a delay of 200 µs would become one or two
//! milliseconds. An [`Alarm`] stores the deadlines of one thread and sets one kernel timer to the
//! earliest, so that a wait ends some ten microseconds after its deadline at worst. A cancelled
//! wait leaves nothing behind: a client may close long before a delay of hours is over, and a
//! stored waker would keep all the memory of its task.

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The deadlines of one thread; clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Alarm {
    timer: Arc<OwnedFd>,
    waiting: Arc<Mutex<Waiting>>,
}

/// The waiting tasks, in the order of their deadlines and then of their numbers.
#[derive(Debug, Default)]
struct Waiting {
    wakers: BTreeMap<(Instant, u64), Waker>,
    /// The number of waits so far.
    begun: u64,
}

impl Alarm {
    pub(crate) fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Self {
            timer: Arc::new(timer),
            waiting: Arc::default(),
        })
    }

    /// Returns a wait that ends at `until`, as long as the same thread runs [`Alarm::ring`].
    pub(crate) fn sleep_until(&self, until: Instant) -> Sleep {
        Sleep {
            alarm: self.clone(),
            until,
            number: None,
        }
    }

    /// Wakes the tasks whose deadlines have passed; runs as long as the thread does.
    pub(crate) async fn ring(self) -> io::Result<()> {
        let timer = watch(self.timer.clone())?;
        loop {
            // The timer's value is not read: setting it again makes it unreadable.
            timer.readable().await?.clear_ready();
            self.wake_due(Instant::now());
        }
    }

    fn wake_due(&self, now: Instant) {
        let mut waiting = self.waiting();
        while let Some(first) = waiting.wakers.first_entry()
            && first.key().0 <= now
        {
            first.remove().wake();
        }
        if let Some(((until, _), _)) = waiting.wakers.first_key_value() {
            self.set_timer(*until);
        }
    }

    /// Adds a task that is woken at `until`. Returns the number by which it can be removed.
    fn add(&self, until: Instant, waker: Waker) -> u64 {
        let mut waiting = self.waiting();
        let first = waiting.wakers.first_key_value();
        let is_first = first.is_none_or(|((first, _), _)| until < *first);
        let number = waiting.begun;
        waiting.begun += 1;
        waiting.wakers.insert((until, number), waker);
        if is_first {
            self.set_timer(until);
        }
        number
    }

    fn set_timer(&self, until: Instant) {
        // A time of zero would turn the timer off.
        let ahead = until
            .saturating_duration_since(Instant::now())
            .max(Duration::from_nanos(1));
        let value = Timespec {
            tv_sec: ahead.as_secs() as i64,
            tv_nsec: i64::from(ahead.subsec_nanos()),
        };
        let once = Itimerspec {
            it_interval: Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: value,
        };
        timerfd_settime(&*self.timer, TimerfdTimerFlags::empty(), &once)
            .expect("a timer of our own takes every time that a Duration can hold");
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Registers the timer with the event loop.
#[expect(
    unsafe_code,
    reason = "the event loop takes foreign descriptors in no other way"
)]
fn watch(timer: Arc<OwnedFd>) -> io::Result<AsyncFd<Arc<OwnedFd>>> {
    // SAFETY: the `Arc` keeps the descriptor open, and always gives the same one.
    Ok(unsafe { AsyncFd::register_with_interest(timer, Interest::READABLE) }?)
}

/// A wait until an instant.
#[derive(Debug)]
pub(crate) struct Sleep {
    alarm: Alarm,
    until: Instant,
    /// The number of the wait, once it has begun.
    number: Option<u64>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.until {
            return Poll::Ready(());
        }
        let Sleep { until, number, .. } = *self;
        let known = number.is_some_and(|number| {
            let mut waiting = self.alarm.waiting();
            let waker = waiting.wakers.get_mut(&(until, number));
            waker.map(|waker| waker.clone_from(cx.waker())).is_some()
        });
        if !known {
            self.number = Some(self.alarm.add(until, cx.waker().clone()));
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.alarm.waiting().wakers.remove(&(self.until, number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::runtime::Builder;

    #[test]
    fn a_wait_that_is_given_up_leaves_nothing_behind() {
        let alarm = {
            let runtime = Builder::new_current_thread().enable_io().build();
            let _within = runtime.expect("a runtime").enter();
            Alarm::new().expect("an alarm")
        };
        let later = Instant::now() + Duration::from_secs(3_600);
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..3 {
            let mut sleep = alarm.sleep_until(later);
            for _ in 0..3 {
                assert!(Pin::new(&mut sleep).poll(&mut cx).is_pending());
                assert_eq!(alarm.waiting().wakers.len(), 1);
            }
        }
        assert_eq!(alarm.waiting().wakers.len(), 0);
    }

    #[test]
    fn sleepers_wake_in_the_order_of_their_deadlines_and_never_early() {
        let runtime = Builder::new_current_thread()
            .enable_io()
            .build()
            .expect("a runtime");
        let woken = runtime.block_on(async {
            let alarm = Alarm::new().expect("an alarm");
            let ringing = tokio::spawn(alarm.clone().ring());
            let start = Instant::now();
            let woken = Arc::new(Mutex::new(Vec::new()));
            let sleepers: Vec<_> = [3_000, 200, 1_500, 0, 200]
                .map(|us| {
                    let (alarm, woken) = (alarm.clone(), woken.clone());
                    tokio::spawn(async move {
                        alarm.sleep_until(start + Duration::from_micros(us)).await;
                        let after_us = start.elapsed().as_micros() as u64;
                        woken.lock().expect("no panic").push((us, after_us));
                    })
                })
                .into();
            for sleeper in sleepers {
                sleeper.await.expect("a sleeper that ends");
            }
            ringing.abort();
            Arc::try_unwrap(woken)
                .expect("no sleeper left")
                .into_inner()
                .expect("no panic")
        });
        let order: Vec<u64> = woken.iter().map(|(us, _)| *us).collect();
        assert_eq!(order, [0, 200, 200, 1_500, 3_000]);
        assert!(
            woken.iter().all(|(us, after_us)| after_us >= us),
            "{woken:?}"
        );
    }
}
