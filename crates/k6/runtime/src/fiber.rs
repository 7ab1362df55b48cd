//! Fibers: code that blocks, on a stack of its own, driven as a future.
//!
//! A script calls `http.get()` or `sleep()` from anywhere, even from a comparator of a sort, and
//! continues when the call is done. So a virtual user has a stack of its own: a wait below
//! QuickJS's frames suspends the whole stack, and the worker continues with others.
//!
//! A future that a native function awaits is polled below the fiber, on its driver's stack: a
//! request takes more of a stack than most scripts, and each user would keep that memory
//! permanently.
//!
//! A fiber is never unwound from outside, as QuickJS's frames can't be: it is cancelled. From then
//! on every wait ends at once, and the waiting functions have to return.

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::ptr::NonNull;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The stack size of a script, as QuickJS measures it.
pub(crate) const SCRIPT_STACK_BYTES: usize = 1 << 20;

/// The stack size below the deepest frame of a script: for a native function, its wait, and a
/// panic's backtrace.
pub(crate) const MARGIN_BYTES: usize = 256 << 10;

/// The bytes of a stack. They are only mapped: a user that recurses little has two pages of them.
pub(crate) const STACK_BYTES: usize = SCRIPT_STACK_BYTES + MARGIN_BYTES;

/// The part of a stack that stays in memory below the frame that gives back the rest.
const KEPT_BYTES: usize = 2 << 10;

/// The minimum size of a page of memory.
const PAGE_BYTES: usize = 4 << 10;

/// The error of a wait that ended because its fiber was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cancelled;

thread_local! {
    /// The value that belongs to the fiber that runs on this thread.
    static LOCAL: RefCell<Option<Rc<dyn Any>>> = const { RefCell::new(None) };
}

/// Returns the value that belongs to the running fiber; `None` outside of fibers.
pub(crate) fn local<T: 'static>() -> Option<Rc<T>> {
    let local = LOCAL.with_borrow(Clone::clone)?;
    local.downcast().ok()
}

/// Code on a stack of its own.
pub(crate) struct Fiber {
    /// `None` only while the fiber is dropped.
    coroutine: Option<Coroutine<Waker, (), (), DefaultStack>>,
    control: Rc<Control>,
    local: Rc<dyn Any>,
}

/// Further work of a fiber where it leaves its stack.
pub(crate) trait Crossing {
    /// Calls [`Control::leave`], with the work before and after it. Returns true if it could leave.
    fn cross(&self) -> bool;
}

/// State that a fiber's own code and its driver share.
#[derive(Default)]
pub(crate) struct Control {
    /// The yielder of the running coroutine. It is on the fiber's stack as long as the code runs.
    yielder: Cell<Option<NonNull<Yielder<Waker, ()>>>>,
    /// The waker to call when the fiber can continue.
    waker: RefCell<Option<Waker>>,
    is_cancelled: Cell<bool>,
    /// The number of times that the fiber was resumed.
    turns: Cell<u64>,
    /// The lowest address of the stack.
    stack_end: Cell<usize>,
    crossing: RefCell<Option<Rc<dyn Crossing>>>,
    is_crossing: Cell<bool>,
    /// The future that the fiber awaits below its stack.
    awaited: RefCell<Option<Awaited>>,
    /// The panic of that future, if it had one.
    panic: RefCell<Option<Box<dyn Any + Send>>>,
}

/// A future that stores its output itself.
type Awaited = Pin<Box<dyn Future<Output = ()>>>;

impl Fiber {
    /// Creates a fiber that runs `body` when it is first resumed; `local` belongs to it.
    ///
    /// # Errors
    /// If the system has no memory for its stack.
    pub(crate) fn new(
        control: &Rc<Control>,
        local: Rc<dyn Any>,
        body: impl FnOnce() + 'static,
    ) -> io::Result<Self> {
        let stack = DefaultStack::new(STACK_BYTES)?;
        control.stack_end.set(stack.limit().get());
        debug_assert!(stack.base().get() - stack.limit().get() >= STACK_BYTES);
        let inside = Rc::clone(control);
        let run = move |yielder: &Yielder<Waker, ()>, waker: Waker| {
            inside.yielder.set(Some(NonNull::from(yielder)));
            inside.waker.replace(Some(waker));
            body();
            inside.yielder.set(None);
        };
        Ok(Fiber {
            coroutine: Some(Coroutine::with_stack(stack, run)),
            control: Rc::clone(control),
            local,
        })
    }

    /// Runs the code until it waits or ends. Returns true if it has ended. Passes on a panic of the
    /// code.
    pub(crate) fn resume(&mut self, waker: &Waker) -> bool {
        let Some(coroutine) = self.coroutine.as_mut().filter(|one| !one.done()) else {
            return true;
        };
        let _inside = Inside(LOCAL.replace(Some(Rc::clone(&self.local))));
        self.control.turns.set(self.control.turns.get() + 1);
        loop {
            if self.control.is_awaiting(waker) {
                return false;
            }
            if let CoroutineResult::Return(()) = coroutine.resume(waker.clone()) {
                return true;
            }
            // A future that the code has just begun to await was not polled yet.
            if self.control.awaited.borrow().is_none() {
                return false;
            }
        }
    }
}

impl Drop for Fiber {
    /// Lets the code come to its end. Code that waits again although it is cancelled is left as it
    /// is, with its memory: its frames must not be unwound.
    fn drop(&mut self) {
        self.control.is_cancelled.set(true);
        let has_begun = self.coroutine.as_ref().is_some_and(Coroutine::started);
        if has_begun && !self.resume(Waker::noop()) {
            std::mem::forget(self.coroutine.take());
        }
    }
}

/// Restores the value of the outer fiber when the inner one is suspended.
struct Inside(Option<Rc<dyn Any>>);

impl Drop for Inside {
    fn drop(&mut self) {
        LOCAL.replace(self.0.take());
    }
}

impl Control {
    /// True if the code has to come to its end.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.is_cancelled.get()
    }

    /// Ends all current and later waits, or allows waits again.
    pub(crate) fn cancel(&self, is_cancelled: bool) {
        self.is_cancelled.set(is_cancelled);
    }

    /// Returns the number of times that the fiber was resumed; others had their turn in between.
    pub(crate) fn turns(&self) -> u64 {
        self.turns.get()
    }

    /// Waits for a future, from the fiber's own code.
    pub(crate) fn wait<F: Future>(&self, future: F) -> Result<F::Output, Cancelled> {
        let mut future = pin!(future);
        loop {
            if self.is_cancelled() {
                return Err(Cancelled);
            }
            let waker = self.waker.borrow().clone();
            let waker = waker.as_ref().unwrap_or(Waker::noop());
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(waker)) {
                return Ok(output);
            }
            self.suspend();
        }
    }

    /// Waits for a future that is polled below the fiber. The future must not call a wait of the
    /// fiber.
    pub(crate) fn wait_below<T: 'static>(
        &self,
        future: impl Future<Output = T> + 'static,
    ) -> Result<T, Cancelled> {
        let output = Rc::new(Cell::new(None));
        let slot = Rc::clone(&output);
        let awaited = async move { slot.set(Some(future.await)) };
        self.awaited.replace(Some(Box::pin(awaited)));
        while !self.is_cancelled() && self.awaited.borrow().is_some() {
            self.suspend();
        }
        // A cancelled future is dropped here, while its user is known.
        drop(self.awaited.take());
        if let Some(panic) = self.panic.take() {
            resume_unwind(panic);
        }
        output.take().ok_or(Cancelled)
    }

    /// Polls the future that is awaited below the fiber. Returns true if it is still pending.
    fn is_awaiting(&self, waker: &Waker) -> bool {
        if self.is_cancelled() {
            return false;
        }
        // The future is removed while it is polled, because it may access its fiber.
        let Some(mut awaited) = self.awaited.take() else {
            return false;
        };
        let mut cx = Context::from_waker(waker);
        let polled = catch_unwind(AssertUnwindSafe(|| awaited.as_mut().poll(&mut cx)));
        match polled {
            Ok(Poll::Pending) => {
                self.awaited.replace(Some(awaited));
                return true;
            }
            Ok(Poll::Ready(())) => {}
            Err(panic) => drop(self.panic.replace(Some(panic))),
        }
        false
    }

    /// Leaves the stack until the fiber is resumed.
    pub(crate) fn suspend(&self) {
        let crossing = self.crossing.borrow().clone();
        let Some(crossing) = crossing else {
            return self.leave();
        };
        self.is_crossing.set(true);
        if !crossing.cross() {
            // A fiber that can't leave its stack has to end.
            self.cancel(true);
        }
        self.is_crossing.set(false);
    }

    /// Sets the further work where the stack is left, from now on.
    pub(crate) fn set_crossing(&self, crossing: Rc<dyn Crossing>) {
        self.crossing.replace(Some(crossing));
    }

    /// True while the fiber leaves its stack or returns to it.
    pub(crate) fn is_crossing(&self) -> bool {
        self.is_crossing.get()
    }

    /// Returns the unused memory of the stack to the system, from the fiber's own code:
    /// initialising a script takes more of the stack than running it.
    #[expect(unsafe_code, reason = "nothing else gives pages back")]
    pub(crate) fn give_back(&self) {
        let here = 0_u8;
        let unused = (&raw const here).addr().saturating_sub(KEPT_BYTES) & !(PAGE_BYTES - 1);
        let end = self.stack_end();
        if unused > end {
            let pages = std::ptr::without_provenance_mut(end);
            // SAFETY: the pages are of this stack, below all of its frames. A refusal changes
            // nothing.
            unsafe { libc::madvise(pages, unused - end, libc::MADV_DONTNEED) };
        }
    }

    /// The lowest address of the stack.
    pub(crate) fn stack_end(&self) -> usize {
        self.stack_end.get()
    }

    /// Leaves the stack, without further work.
    pub(crate) fn leave(&self) {
        if let Some(yielder) = self.yielder.get() {
            self.waker.replace(Some(suspend_at(yielder)));
        }
    }
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control")
            .field("is_cancelled", &self.is_cancelled)
            .finish_non_exhaustive()
    }
}

#[expect(unsafe_code, reason = "the frames between are those of C")]
fn suspend_at(yielder: NonNull<Yielder<Waker, ()>>) -> Waker {
    // SAFETY: the yielder lives as long as the fiber's code runs, which clears the pointer at its
    // end; and a suspension is requested by that code only, on its stack.
    unsafe { yielder.as_ref() }.suspend(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, poll_fn};

    fn fiber(body: impl FnOnce(&Control) + 'static) -> Fiber {
        let control = Rc::new(Control::default());
        let inside = Rc::clone(&control);
        Fiber::new(&control, Rc::new(7), move || body(&inside)).unwrap()
    }

    #[test]
    fn code_waits_on_its_own_stack_and_goes_on() {
        let polls = Rc::new(Cell::new(0));
        let (seen, count) = (Rc::new(Cell::new(0)), Rc::clone(&polls));
        let result = Rc::clone(&seen);
        let mut fiber = fiber(move |control| {
            let third = poll_fn(|_| {
                count.set(count.get() + 1);
                match count.get() {
                    3 => Poll::Ready(42),
                    _ => Poll::Pending,
                }
            });
            result.set(control.wait(third).unwrap());
        });
        assert!(!fiber.resume(Waker::noop()));
        assert!(!fiber.resume(Waker::noop()));
        assert!(fiber.resume(Waker::noop()));
        assert_eq!((polls.get(), seen.get()), (3, 42));
    }

    #[test]
    fn what_is_waited_for_below_is_polled_by_who_resumes() {
        let polls = Rc::new(Cell::new(0));
        let (seen, count) = (Rc::new(Cell::new(0)), Rc::clone(&polls));
        let result = Rc::clone(&seen);
        let mut fiber = fiber(move |control| {
            let third = poll_fn(move |_| {
                assert_eq!(local::<i32>(), Some(Rc::new(7)));
                count.set(count.get() + 1);
                match count.get() {
                    3 => Poll::Ready(42),
                    _ => Poll::Pending,
                }
            });
            result.set(control.wait_below(third).unwrap());
        });
        for polled in 1..3 {
            assert!(!fiber.resume(Waker::noop()));
            assert_eq!((polls.get(), seen.get()), (polled, 0));
        }
        assert!(fiber.resume(Waker::noop()));
        assert_eq!((polls.get(), seen.get()), (3, 42));
    }

    #[test]
    fn a_wait_below_ends_with_its_fiber_and_its_panic_comes_up() {
        let (ended, alive) = (Rc::new(Cell::new(None)), Rc::new(()));
        let (slot, held) = (Rc::clone(&ended), Rc::clone(&alive));
        let mut waiting = fiber(move |control| {
            let never = async move {
                pending::<()>().await;
                drop(held);
            };
            slot.set(Some(control.wait_below(never)));
        });
        assert!(!waiting.resume(Waker::noop()));
        drop(waiting);
        assert_eq!(ended.get(), Some(Err(Cancelled)));
        assert_eq!(Rc::strong_count(&alive), 1);

        let caught = Rc::new(Cell::new(false));
        let slot = Rc::clone(&caught);
        let mut panicking = fiber(move |control| {
            let waited = || control.wait_below(async { panic!("below") });
            slot.set(catch_unwind(AssertUnwindSafe(waited)).is_err());
        });
        assert!(panicking.resume(Waker::noop()));
        assert!(caught.get());
    }

    #[test]
    fn what_belongs_to_a_fiber_is_found_while_it_runs() {
        let mut fiber = fiber(|control| {
            assert_eq!(local::<i32>(), Some(Rc::new(7)));
            control.suspend();
        });
        assert!(!fiber.resume(Waker::noop()));
        assert_eq!(local::<i32>(), None);
    }

    #[test]
    fn a_stack_is_whole_when_its_unused_part_is_given_back() {
        fn deep(depth: usize) -> usize {
            let used = std::hint::black_box([depth; 64]);
            match depth {
                0 => used.len(),
                _ => deep(depth - 1) + used[63] - depth,
            }
        }
        let mut fiber = fiber(|control| {
            let before = deep(500);
            control.give_back();
            control.suspend();
            assert_eq!(deep(500), before);
        });
        assert!(!fiber.resume(Waker::noop()));
        assert!(fiber.resume(Waker::noop()));
    }

    #[test]
    fn a_fiber_that_is_dropped_comes_to_its_end() {
        let ended = Rc::new(Cell::new(None));
        let slot = Rc::clone(&ended);
        let mut fiber = fiber(move |control| slot.set(Some(control.wait(pending::<()>()))));
        assert!(!fiber.resume(Waker::noop()));
        drop(fiber);
        assert_eq!(ended.get(), Some(Err(Cancelled)));
    }

    #[test]
    fn code_that_never_ends_is_left_as_it_is() {
        let mut fiber = fiber(|control| {
            loop {
                control.suspend();
            }
        });
        assert!(!fiber.resume(Waker::noop()));
        drop(fiber);
    }

    #[test]
    fn a_panic_reaches_who_resumed() {
        let mut fiber = fiber(|_| panic!("in the fiber"));
        let resumed = std::panic::AssertUnwindSafe(|| fiber.resume(Waker::noop()));
        assert!(std::panic::catch_unwind(resumed).is_err());
    }
}
