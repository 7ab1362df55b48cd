//! The tasks of one thread and the queue of runnable ones.

use async_task::Runnable;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake};

/// A spawned future. Dropping it cancels the future; [`Task::detach`] lets it continue.
#[must_use = "dropping a task cancels it"]
#[derive(Debug)]
pub struct Task(async_task::Task<()>);

impl Task {
    /// Lets the future run to its end on its own.
    pub fn detach(self) {
        self.0.detach();
    }

    /// True if the future has ended.
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

impl Future for Task {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx)
    }
}

/// The runnable tasks, in the order in which they were woken; those that a deadline woke come
/// before those that a socket woke. The kernel timestamps responses when they arrive, but nothing
/// does that for a request that should have been sent.
#[derive(Clone, Default)]
pub(crate) struct Tasks(Rc<Queues>);

#[derive(Default)]
struct Queues {
    due: RefCell<VecDeque<Runnable>>,
    ready: RefCell<VecDeque<Runnable>>,
    /// True while a deadline wakes tasks.
    is_due: Cell<bool>,
}

impl Queues {
    #[inline]
    fn push(&self, runnable: Runnable) {
        let queue = if self.is_due.get() {
            &self.due
        } else {
            &self.ready
        };
        queue.borrow_mut().push_back(runnable);
    }

    #[inline]
    fn pop(&self) -> Option<Runnable> {
        if let due @ Some(_) = self.due.borrow_mut().pop_front() {
            return due;
        }
        self.ready.borrow_mut().pop_front()
    }

    fn len(&self) -> usize {
        self.due.borrow().len() + self.ready.borrow().len()
    }
}

impl Tasks {
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + 'static) -> Task {
        let queues = Rc::clone(&self.0);
        let schedule = move |runnable| queues.push(runnable);
        // SAFETY: `spawn_unchecked` requires that the future, the schedule function and every waker
        // stay on this thread, or are `Send`. Wakers of these tasks are only ever stored in the
        // sockets and timers of this crate, which are `!Send`, and in futures of the same thread.
        // Both future and closure are `'static`.
        let (runnable, task) = unsafe { async_task::spawn_unchecked(future, schedule) };
        runnable.schedule();
        Task(task)
    }

    /// Calls `fire`, and gives the tasks that it wakes precedence as due ones.
    pub(crate) fn wake_due<T>(&self, fire: impl FnOnce() -> T) -> T {
        self.0.is_due.set(true);
        let fired = fire();
        self.0.is_due.set(false);
        fired
    }

    /// Runs as many tasks as were ready at the call, and `before_each` before each of them. Returns
    /// true if more are ready after that.
    pub(crate) fn run_ready(&self, before_each: impl Fn()) -> bool {
        for _ in 0..self.0.len() {
            before_each();
            let Some(runnable) = self.0.pop() else { break };
            runnable.run();
        }
        self.0.len() > 0
    }
}

/// A flag that is set when the future is woken that a loop itself runs, as opposed to its tasks.
pub(crate) struct WakeFlag(AtomicBool);

impl WakeFlag {
    /// Creates a flag that is set, because the future has not been polled yet.
    pub(crate) fn set() -> Arc<Self> {
        Arc::new(WakeFlag(AtomicBool::new(true)))
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Clears the flag, and returns true if it was set.
    pub(crate) fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}
