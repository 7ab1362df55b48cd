//! The jobs of a runtime that several users share: what promises lead to, kept for each of them.
//!
//! QuickJS has one list of jobs for a runtime. A user that waits in the middle of its script may
//! have some that must run when it has returned, and not when another one has. So a user takes its
//! jobs out of the list when it leaves its stack, and puts them back when it goes on.
//!
//! There is no function for that. The list is a ring whose head is a field of the runtime, and the
//! place of that field is found by watching: of a runtime made for that, the one ring that has as
//! many members as there are jobs, however many those are. Where there is none, or more than one,
//! users can't share a runtime, and don't.

use rquickjs::allocator::{Allocator, RustAllocator};
use rquickjs::{Context, Ctx, Runtime};
use std::cell::Cell;
use std::mem::size_of;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::OnceLock;

/// A member of a ring, or its head.
#[repr(C)]
struct Link {
    prev: NonNull<Link>,
    next: NonNull<Link>,
}

/// The list of jobs of a runtime, which has to outlive it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobList {
    head: NonNull<Link>,
}

/// Jobs that are in no list: the first and the last.
#[derive(Debug, Default)]
pub(crate) struct Jobs(Option<(NonNull<Link>, NonNull<Link>)>);

impl JobList {
    /// That of the runtime of this context; `None` if it can't be found.
    pub(crate) fn of(context: &Context) -> Option<Self> {
        static PLACE: OnceLock<Option<usize>> = OnceLock::new();
        let place = (*PLACE.get_or_init(find))?;
        let runtime = NonNull::new(context.get_runtime_ptr())?.cast::<u8>();
        Some(JobList {
            head: field(runtime, place),
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

/// A field of a runtime, so many bytes from its beginning.
#[expect(unsafe_code, reason = "the library has no name for the field")]
fn field(runtime: NonNull<u8>, place: usize) -> NonNull<Link> {
    // SAFETY: the place is inside of the runtime, as `find` saw.
    unsafe { runtime.add(place) }.cast()
}

/// The neighbours of a member of a ring: the next, and the one before.
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

/// Finds the list in a runtime made for that: its place.
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

/// What is done with the jobs of the runtime that is watched.
enum Step {
    More,
    Less,
}

use Step::{Less, More};

impl Step {
    /// Takes it; how many jobs there are then.
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

/// The heads of all empty rings in a piece of memory: two words that point to the first of them.
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

/// The members of a ring, if they are few and each of them knows its neighbours.
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

/// Remembers the size of what is allocated first: that of the runtime.
struct Measuring(RustAllocator, Rc<Cell<usize>>);

impl Measuring {
    fn first(&self, bytes: usize) {
        if self.1.get() == 0 {
            self.1.set(bytes);
        }
    }
}

#[expect(unsafe_code, reason = "the trait is unsafe to implement")]
// SAFETY: it is the other allocator.
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
        // SAFETY: as our caller says.
        unsafe { self.0.dealloc(ptr) }
    }

    unsafe fn realloc(&mut self, ptr: *mut u8, new_size: usize) -> *mut u8 {
        // SAFETY: as our caller says.
        unsafe { self.0.realloc(ptr, new_size) }
    }

    unsafe fn usable_size(ptr: *mut u8) -> usize {
        // SAFETY: as our caller says.
        unsafe { RustAllocator::usable_size(ptr) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
