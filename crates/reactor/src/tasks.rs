//! The tasks of one thread and the queue of those that can go on.

use async_task::Runnable;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake};

/// A spawned future. Dropping it cancels the future; [`Task::detach`] lets it run on.
#[must_use = "dropping a task cancels it"]
#[derive(Debug)]
pub struct Task(async_task::Task<()>);

impl Task {
    /// Lets the future run to its end on its own.
    pub fn detach(self) {
        self.0.detach();
    }

    /// Whether the future has ended.
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

/// The queue of tasks that can go on.
#[derive(Clone, Default)]
pub(crate) struct Tasks {
    ready: Rc<RefCell<VecDeque<Runnable>>>,
}

impl Tasks {
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + 'static) -> Task {
        let ready = Rc::clone(&self.ready);
        let schedule = move |runnable| ready.borrow_mut().push_back(runnable);
        // SAFETY: `spawn_unchecked` wants the future, the schedule function and every waker to
        // stay on this thread, or to be `Send`. Wakers of these tasks are only ever stored in the
        // sockets and timers of this crate, which are `!Send`, and in futures of the same thread.
        // Both future and closure are `'static`.
        let (runnable, task) = unsafe { async_task::spawn_unchecked(future, schedule) };
        runnable.schedule();
        Task(task)
    }

    /// Runs every task that was ready at the call once; true if more became ready meanwhile.
    pub(crate) fn run_ready(&self) -> bool {
        let ready = self.ready.borrow().len();
        for _ in 0..ready {
            let Some(runnable) = self.pop() else { break };
            runnable.run();
        }
        !self.ready.borrow().is_empty()
    }

    fn pop(&self) -> Option<Runnable> {
        self.ready.borrow_mut().pop_front()
    }
}

/// Set by whoever wakes the future that a loop itself runs, as opposed to its tasks.
pub(crate) struct WakeFlag(AtomicBool);

impl WakeFlag {
    /// A flag that is set: the future has not been polled yet.
    pub(crate) fn set() -> Arc<Self> {
        Arc::new(WakeFlag(AtomicBool::new(true)))
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether it was set; it is not any more.
    pub(crate) fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}
