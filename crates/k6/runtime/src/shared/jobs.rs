//! The jobs of a runtime that several users share: continuations of promises, kept apart for each
//! user.
//!
//! QuickJS has one list of jobs for a runtime. A user that waits in the middle of its script may
//! have jobs that must run when that script has returned, and not when another one has. So a user
//! takes its jobs out of the list when it leaves its stack, and puts them back when it continues.
//!
//! QuickJS has no function for that. The list is a ring whose head is a field of the runtime, at an
//! offset that is known for one version of QuickJS. With another version users don't share a
//! runtime; a test finds the offset by experiment, and fails until it is written here.

use rquickjs::{Context, qjs};
use std::ffi::CStr;
use std::ptr::NonNull;

/// The version of QuickJS whose runtime is known.
const KNOWN_VERSION: &CStr = c"0.16.2";
/// The offset of the list in a runtime of that version, in bytes.
const OFFSET: usize = 1344;

/// A member of a ring, or its head.
#[repr(C)]
struct Link {
    prev: NonNull<Link>,
    next: NonNull<Link>,
}

/// The list of jobs of a runtime, which has to outlive this value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobList {
    head: NonNull<Link>,
}

/// Jobs that are in no list: the first and the last of a chain.
#[derive(Debug, Default)]
pub(crate) struct Jobs(Option<(NonNull<Link>, NonNull<Link>)>);

impl JobList {
    /// Returns the list of this context's runtime; `None` if its offset is not known.
    pub(crate) fn of(context: &Context) -> Option<Self> {
        let is_known = version() == KNOWN_VERSION && cfg!(target_pointer_width = "64");
        let runtime = NonNull::new(context.get_runtime_ptr()).filter(|_| is_known)?;
        Some(JobList {
            head: field(runtime.cast(), OFFSET),
        })
    }

    /// Takes all jobs out of the list.
    pub(crate) fn take(&self) -> Jobs {
        let (first, last) = ends(self.head);
        if first == self.head {
            return Jobs(None);
        }
        join(self.head, self.head);
        Jobs(Some((first, last)))
    }

    /// Puts jobs at the end of the list.
    pub(crate) fn put(&self, jobs: Jobs) {
        if let Some((first, last)) = jobs.0 {
            let (_, before) = ends(self.head);
            join(before, first);
            join(last, self.head);
        }
    }
}

/// Returns the version of QuickJS.
#[expect(unsafe_code, reason = "the library has no safe function for it")]
fn version() -> &'static CStr {
    // SAFETY: it returns a constant text.
    unsafe { CStr::from_ptr(qjs::JS_GetVersion()) }
}

/// Returns the field of a runtime at this offset in bytes.
#[expect(unsafe_code, reason = "the library has no name for the field")]
fn field(runtime: NonNull<u8>, offset: usize) -> NonNull<Link> {
    // SAFETY: the offset is inside of the runtime.
    unsafe { runtime.add(offset) }.cast()
}

/// Returns the neighbours of a member of a ring: the next one, and the previous one.
#[expect(unsafe_code, reason = "a ring is made of pointers")]
fn ends(link: NonNull<Link>) -> (NonNull<Link>, NonNull<Link>) {
    // SAFETY: members of a ring are alive: QuickJS takes them out before it frees them.
    let link = unsafe { link.as_ref() };
    (link.next, link.prev)
}

/// Makes two members of a ring neighbours.
#[expect(unsafe_code, reason = "a ring is made of pointers")]
fn join(mut before: NonNull<Link>, mut next: NonNull<Link>) {
    // SAFETY: both are alive, as above; no reference to either is kept.
    unsafe {
        before.as_mut().next = next;
        next.as_mut().prev = before;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rquickjs::allocator::{Allocator, RustAllocator};
    use rquickjs::{Ctx, Runtime};
    use std::cell::Cell;
    use std::rc::Rc;

    #[test]
    fn the_list_is_where_this_version_of_quickjs_has_it() {
        assert_eq!(
            (version(), find()),
            (KNOWN_VERSION, Some(OFFSET)),
            "write version and offset into KNOWN_VERSION and OFFSET: until then users that share \
             a runtime don't"
        );
    }

    /// Finds the offset of the list, in a runtime created for that: the one ring whose number of
    /// members always equals the number of jobs.
    fn find() -> Option<usize> {
        let size = Rc::new(Cell::new(0));
        let runtime = Runtime::new_with_alloc(Measuring(RustAllocator, Rc::clone(&size))).ok()?;
        let context = Context::full(&runtime).ok()?;
        let memory = NonNull::new(context.get_runtime_ptr())?.cast::<u8>();
        let mut places = empty_rings(memory, size.get());
        let mut expected = 0;
        context.with(|ctx| {
            for step in [More, More, More, Less, More, Less, Less, Less] {
                expected = step.take(&ctx, expected)?;
                places.retain(|place| members(field(memory, *place)) == Some(expected));
            }
            Some(())
        })?;
        match places[..] {
            [place] => Some(place),
            _ => None,
        }
    }

    /// A step of the experiment: one job more, or one less.
    enum Step {
        More,
        Less,
    }

    use Step::{Less, More};

    impl Step {
        /// Makes the step, and returns the number of jobs after it.
        fn take(self, ctx: &Ctx<'_>, jobs: usize) -> Option<usize> {
            match self {
                More => {
                    let promised: rquickjs::Value<'_> =
                        ctx.eval("Promise.resolve().then(() => {})").ok()?;
                    drop(promised);
                    Some(jobs + 1)
                }
                Less => ctx.execute_pending_job().then_some(jobs - 1),
            }
        }
    }

    /// Returns the offsets of the heads of all empty rings in a block of memory: two words that
    /// both point to the first of them.
    fn empty_rings(memory: NonNull<u8>, bytes: usize) -> Vec<usize> {
        let last = bytes.saturating_sub(size_of::<Link>());
        let places = (0..=last).step_by(size_of::<usize>());
        let is_empty = |place: &usize| {
            let own = field(memory, *place).addr().get();
            words(memory, *place) == [own, own]
        };
        places.filter(is_empty).collect()
    }

    #[expect(unsafe_code, reason = "what is there is unknown")]
    fn words(memory: NonNull<u8>, place: usize) -> [usize; 2] {
        // SAFETY: the memory was zeroed when it was allocated, is that long, and aligned for words.
        unsafe { memory.add(place).cast::<[usize; 2]>().read() }
    }

    /// Returns the number of a ring's members; `None` if there are 8 or more, or the links are
    /// inconsistent.
    fn members(head: NonNull<Link>) -> Option<usize> {
        let mut at = head;
        for number in 0..8 {
            let (next, _) = ends(at);
            if ends(next).1 != at {
                return None;
            }
            if next == head {
                return Some(number);
            }
            at = next;
        }
        None
    }

    /// An allocator that remembers the size of the first allocation, which is the runtime's.
    struct Measuring(RustAllocator, Rc<Cell<usize>>);

    impl Measuring {
        fn first(&self, bytes: usize) {
            if self.1.get() == 0 {
                self.1.set(bytes);
            }
        }
    }

    #[expect(unsafe_code, reason = "the trait is unsafe to implement")]
    // SAFETY: all calls are passed to another allocator.
    unsafe impl Allocator for Measuring {
        fn alloc(&mut self, size: usize) -> *mut u8 {
            self.first(usize::MAX);
            self.0.alloc(size)
        }

        fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
            self.first(count * size);
            self.0.calloc(count, size)
        }

        unsafe fn dealloc(&mut self, ptr: *mut u8) {
            // SAFETY: the caller's guarantee is passed on.
            unsafe { self.0.dealloc(ptr) }
        }

        unsafe fn realloc(&mut self, ptr: *mut u8, new_size: usize) -> *mut u8 {
            // SAFETY: the caller's guarantee is passed on.
            unsafe { self.0.realloc(ptr, new_size) }
        }

        unsafe fn usable_size(ptr: *mut u8) -> usize {
            // SAFETY: the caller's guarantee is passed on.
            unsafe { RustAllocator::usable_size(ptr) }
        }
    }

    #[test]
    fn jobs_that_are_taken_out_run_when_they_are_back() {
        let runtime = Runtime::new().unwrap();
        let context = Context::full(&runtime).unwrap();
        let list = JobList::of(&context).unwrap();
        context.with(|ctx| {
            let later = |name: &str| {
                let code = format!("Promise.resolve().then(() => said.push('{name}'))");
                ctx.eval::<rquickjs::Value<'_>, _>(code).unwrap();
            };
            ctx.eval::<(), _>("globalThis.said = []").unwrap();
            later("a");
            later("b");
            let ours = list.take();
            assert!(!ctx.execute_pending_job());
            later("c");
            while ctx.execute_pending_job() {}
            later("d");
            list.put(ours);
            while ctx.execute_pending_job() {}
            let said: String = ctx.eval("said.join('')").unwrap();
            assert_eq!(said, "cdab");
            assert!(list.take().0.is_none());
        });
    }

    #[test]
    fn jobs_that_nobody_runs_end_with_their_runtime() {
        let runtime = Runtime::new().unwrap();
        let context = Context::full(&runtime).unwrap();
        let list = JobList::of(&context).unwrap();
        let job = "const big = {}; big.self = big; Promise.resolve(big).then(() => big)";
        context.with(|ctx| drop(ctx.eval::<rquickjs::Value<'_>, _>(job).unwrap()));
        let jobs = list.take();
        list.put(jobs);
    }
}
