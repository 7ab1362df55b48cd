//! Operations that a virtual user has begun and not ended: timers, requests of `asyncRequest`.
//!
//! Operations progress whenever the user waits, for anything. Their completions run in the script's
//! event loop only, one after the other, as in k6. An iteration lasts until no operations are left.

use rquickjs::{Ctx, Result};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Operations that are polled at a stretch. Thousands of requests that a script begins at once
/// would otherwise each open a connection before the first response is read.
const MOST_AT_ONCE: usize = 100;

/// What an operation leads to, when it has ended: run in the user's event loop.
pub(crate) type Completion = Box<dyn for<'js> FnOnce(&Ctx<'js>) -> Result<()>>;

/// An operation that has not ended, and its waker.
struct Running {
    future: Pin<Box<dyn Future<Output = Completion>>>,
    alarm: Arc<Alarm>,
    waker: Waker,
}

/// The operations of a virtual user.
#[derive(Default)]
pub(crate) struct Operations {
    running: RefCell<BTreeMap<u64, Running>>,
    woken: Arc<Woken>,
    /// The operations that are timers, with the names of the functions that began them.
    timers: RefCell<BTreeMap<u64, &'static str>>,
    ended: RefCell<VecDeque<(u64, Completion)>>,
    begun: Cell<u64>,
    /// The number of the operation whose completion runs.
    completing: Cell<u64>,
}

impl Operations {
    /// Begins an operation, and returns its number.
    pub(crate) fn begin(&self, operation: impl Future<Output = Completion> + 'static) -> u64 {
        self.begun.set(self.begun.get() + 1);
        let number = self.begun.get();
        self.run(number, operation);
        number
    }

    fn run(&self, number: u64, operation: impl Future<Output = Completion> + 'static) {
        let alarm = Arc::new(Alarm {
            number,
            is_woken: AtomicBool::new(true),
            woken: Arc::clone(&self.woken),
        });
        let waker = Waker::from(Arc::clone(&alarm));
        // The operation is polled for the first time when the user waits next.
        self.woken.add(number);
        let future = Box::pin(operation);
        let running = Running {
            future,
            alarm,
            waker,
        };
        self.running.borrow_mut().insert(number, running);
    }

    /// Marks an operation as a timer that this function began.
    pub(crate) fn name(&self, number: u64, function: &'static str) {
        self.timers.borrow_mut().insert(number, function);
    }

    /// True if timers were begun since they were taken last.
    pub(crate) fn has_timers(&self) -> bool {
        !self.timers.borrow().is_empty()
    }

    /// Returns the timers that have not ended, and forgets all timers.
    pub(crate) fn take_timers(&self) -> BTreeMap<u64, &'static str> {
        let mut timers = mem::take(&mut *self.timers.borrow_mut());
        let (running, ended) = (self.running.borrow(), self.ended.borrow());
        let ended: BTreeSet<u64> = ended.iter().map(|(number, _)| *number).collect();
        timers.retain(|timer, _| running.contains_key(timer) || ended.contains(timer));
        timers
    }

    /// Begins an operation in place of the one whose completion runs, under its number.
    pub(crate) fn begin_again(&self, operation: impl Future<Output = Completion> + 'static) {
        self.run(self.completing.get(), operation);
    }

    /// Cancels an operation and its completion.
    pub(crate) fn give_up(&self, number: u64) {
        if self.running.borrow_mut().remove(&number).is_none() {
            self.ended.borrow_mut().retain(|(one, _)| *one != number);
        }
    }

    /// Cancels all operations, and returns their number.
    pub(crate) fn clear(&self) -> usize {
        if self.running.borrow().is_empty() && self.ended.borrow().is_empty() {
            return 0;
        }
        let running = mem::take(&mut *self.running.borrow_mut());
        let ended = mem::take(&mut *self.ended.borrow_mut());
        running.len() + ended.len()
    }

    /// Polls the operations that were woken.
    pub(crate) fn poll(&self, cx: &mut Context<'_>) {
        if self.running.borrow().is_empty() {
            return;
        }
        let (woken, is_more) = self.woken.take(cx.waker());
        if is_more {
            cx.waker().wake_by_ref();
        }
        for number in woken {
            // It is away meanwhile: it may begin another.
            let Some(mut operation) = self.running.borrow_mut().remove(&number) else {
                continue;
            };
            operation.alarm.is_woken.store(false, Ordering::Relaxed);
            let waker = operation.waker.clone();
            match operation
                .future
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
            {
                Poll::Pending => drop(self.running.borrow_mut().insert(number, operation)),
                Poll::Ready(completion) => {
                    self.ended.borrow_mut().push_back((number, completion));
                }
            }
        }
    }

    /// Takes the completion of the operation that ended first.
    pub(crate) fn next(&self) -> Option<Completion> {
        let (number, completion) = self.ended.borrow_mut().pop_front()?;
        self.completing.set(number);
        Some(completion)
    }

    /// True if the completion of one that has ended was not taken yet.
    pub(crate) fn have_ended(&self) -> bool {
        !self.ended.borrow().is_empty()
    }

    /// True if none is left.
    pub(crate) fn is_idle(&self) -> bool {
        self.running.borrow().is_empty() && self.ended.borrow().is_empty()
    }
}

/// The numbers of operations that were woken, and the waker of the user.
#[derive(Default)]
struct Woken(Mutex<(Vec<u64>, Option<Waker>)>);

impl Woken {
    /// Adds the number of an operation that was woken, and returns the user's waker.
    fn add(&self, number: u64) -> Option<Waker> {
        let mut woken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        woken.0.push(number);
        woken.1.clone()
    }

    /// Takes the operations that were woken first, and says whether more are left. The waker is
    /// woken by the next one.
    fn take(&self, waker: &Waker) -> (Vec<u64>, bool) {
        let mut woken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !woken.1.as_ref().is_some_and(|known| known.will_wake(waker)) {
            woken.1 = Some(waker.clone());
        }
        let count = woken.0.len().min(MOST_AT_ONCE);
        let taken = woken.0.drain(..count).collect();
        (taken, !woken.0.is_empty())
    }
}

/// The waker of one operation, so that not all operations are polled when one is woken.
struct Alarm {
    number: u64,
    is_woken: AtomicBool,
    woken: Arc<Woken>,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.is_woken.swap(true, Ordering::Relaxed) {
            return;
        }
        if let Some(waker) = self.woken.add(self.number) {
            waker.wake();
        }
    }
}

impl std::fmt::Debug for Operations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operations")
            .field("running", &self.running.borrow().len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::rc::Rc;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn only_what_was_woken_is_polled() {
        let operations = Operations::default();
        let (polls, wakers) = (Rc::new(Cell::new(0)), Rc::new(RefCell::new(Vec::new())));
        for _ in 0..100 {
            let (polls, wakers) = (Rc::clone(&polls), Rc::clone(&wakers));
            operations.begin(poll_fn(move |cx| {
                polls.set(polls.get() + 1);
                wakers.borrow_mut().push(cx.waker().clone());
                Poll::<Completion>::Pending
            }));
        }
        let poll = || operations.poll(&mut Context::from_waker(Waker::noop()));
        poll();
        poll();
        assert_eq!(polls.get(), 100);
        let waker: Waker = wakers.borrow()[7].clone();
        waker.wake_by_ref();
        waker.wake();
        poll();
        assert_eq!(polls.get(), 101);
        operations.give_up(8);
        assert_eq!(operations.clear(), 99);
    }

    #[test]
    fn of_many_that_were_woken_a_part_is_polled_at_a_time_in_order() {
        let operations = Operations::default();
        let polled = Rc::new(RefCell::new(Vec::new()));
        for number in 0..MOST_AT_ONCE + 50 {
            let polled = Rc::clone(&polled);
            operations.begin(poll_fn(move |_| {
                polled.borrow_mut().push(number);
                Poll::<Completion>::Pending
            }));
        }
        let woken = Arc::new(Counter::default());
        let waker = Waker::from(Arc::clone(&woken));
        for (polls, wakes) in [(MOST_AT_ONCE, 1), (MOST_AT_ONCE + 50, 1)] {
            operations.poll(&mut Context::from_waker(&waker));
            assert_eq!(*polled.borrow(), (0..polls).collect::<Vec<_>>());
            assert_eq!(woken.0.load(Ordering::Relaxed), wakes);
        }
    }

    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Wake for Counter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}
