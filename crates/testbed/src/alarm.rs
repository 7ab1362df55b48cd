//! Waits that end on time.
//!
//! The runtime's own timers count milliseconds; a delay of 200 µs would become one or two
//! milliseconds. An [`Alarm`] keeps the deadlines of one thread and sets one kernel timer to the
//! earliest, so that a wait ends some ten microseconds after its deadline at worst.

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
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
    waiting: Arc<Mutex<BinaryHeap<Reverse<Waiting>>>>,
}

/// One task that waits, first by its deadline.
#[derive(Debug)]
struct Waiting {
    until: Instant,
    waker: Waker,
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

    /// Ends at `until`, as long as the same thread runs [`Alarm::ring`].
    pub(crate) fn sleep_until(&self, until: Instant) -> Sleep {
        Sleep {
            alarm: self.clone(),
            until,
            waker: None,
        }
    }

    /// Wakes the tasks whose time has come; runs as long as the thread does.
    pub(crate) async fn ring(self) -> io::Result<()> {
        let timer = watch(self.timer.clone())?;
        loop {
            // What the timer says is not read: setting it again makes it unreadable.
            timer.readable().await?.clear_ready();
            self.wake_due(Instant::now());
        }
    }

    fn wake_due(&self, now: Instant) {
        let mut waiting = self.waiting();
        while waiting
            .peek()
            .is_some_and(|Reverse(first)| first.until <= now)
        {
            if let Some(Reverse(due)) = waiting.pop() {
                due.waker.wake();
            }
        }
        if let Some(Reverse(first)) = waiting.peek() {
            self.set_timer(first.until);
        }
    }

    fn add(&self, until: Instant, waker: Waker) {
        let mut waiting = self.waiting();
        let is_first = waiting
            .peek()
            .is_none_or(|Reverse(first)| until < first.until);
        waiting.push(Reverse(Waiting { until, waker }));
        if is_first {
            self.set_timer(until);
        }
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

    fn waiting(&self) -> MutexGuard<'_, BinaryHeap<Reverse<Waiting>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has the event loop watch the timer.
#[expect(
    unsafe_code,
    reason = "the event loop takes foreign descriptors in no other way"
)]
fn watch(timer: Arc<OwnedFd>) -> io::Result<AsyncFd<Arc<OwnedFd>>> {
    // SAFETY: the `Arc` keeps the descriptor open, and always gives the same one.
    Ok(unsafe { AsyncFd::register_with_interest(timer, Interest::READABLE) }?)
}

/// A wait for a moment.
#[derive(Debug)]
pub(crate) struct Sleep {
    alarm: Alarm,
    until: Instant,
    waker: Option<Waker>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.until {
            return Poll::Ready(());
        }
        if !self
            .waker
            .as_ref()
            .is_some_and(|waker| waker.will_wake(cx.waker()))
        {
            self.waker = Some(cx.waker().clone());
            self.alarm.add(self.until, cx.waker().clone());
        }
        Poll::Pending
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.until.cmp(&other.until)
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting {}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::runtime::Builder;

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
