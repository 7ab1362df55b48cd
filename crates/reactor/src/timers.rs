//! Timers with absolute deadlines, cheap to move later.
//!
//! Every exchange moves its connection's deadline, and almost no deadline is ever reached.
//! Therefore a deadline that moves *later* changes only the timer itself: its old entry stays in
//! the heap and, when it is reached, is inserted again at the new instant. Only earlier deadlines
//! cost a heap operation.
//!
//! A timer that is dropped also leaves its entry in the heap. Connections may come and go by the
//! million within one timeout, so once most entries are obsolete they are all removed together.

use slab::Slab;
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

const NEVER: u64 = u64::MAX;
/// The number of obsolete entries that are left in the heap whatever its size.
const FEW: usize = 1_024;

/// All timers of one loop.
#[derive(Clone, Default)]
pub(crate) struct Timers(Rc<Shared>);

struct Shared {
    queue: RefCell<Queue>,
    /// The instant of the earliest entry of the heap, [`NEVER`] if there is none. It is stored
    /// separately because it is read before each task.
    next_ns: Cell<u64>,
}

impl Default for Shared {
    fn default() -> Self {
        Shared {
            queue: RefCell::default(),
            next_ns: Cell::new(NEVER),
        }
    }
}

#[derive(Default)]
struct Queue {
    entries: Slab<Entry>,
    /// Instant, slot, and the slot's `serial` at the time.
    heap: BinaryHeap<Reverse<(u64, usize, u64)>>,
    serial: u64,
    /// The number of dropped timers whose entries may still be in the heap.
    orphans: usize,
}

struct Entry {
    /// The time at which the owner is to be woken.
    deadline_ns: u64,
    /// The earliest instant at which the heap holds this slot.
    armed_ns: u64,
    /// The number that distinguishes this owner of the slot from earlier ones, whose heap entries
    /// may still be there.
    serial: u64,
    /// True if the deadline has passed.
    fired: bool,
    waker: Option<Waker>,
}

impl Timers {
    pub(crate) fn timer(&self, clock: Rc<dyn Fn() -> u64>) -> Timer {
        let mut queue = self.0.queue.borrow_mut();
        queue.serial += 1;
        let entry = Entry {
            deadline_ns: NEVER,
            armed_ns: NEVER,
            serial: queue.serial,
            fired: false,
            waker: None,
        };
        let slot = queue.entries.insert(entry);
        Timer {
            timers: self.clone(),
            slot,
            clock,
        }
    }

    fn set(&self, slot: usize, deadline_ns: u64) {
        if self.0.queue.borrow_mut().set(slot, deadline_ns) {
            let next_ns = &self.0.next_ns;
            next_ns.set(next_ns.get().min(deadline_ns));
        }
    }

    /// Returns the instant of the next entry, `None` if there is none.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        let next_ns = self.0.next_ns.get();
        (next_ns != NEVER).then_some(next_ns)
    }

    /// True if an entry is due before this instant.
    #[inline]
    pub(crate) fn has_before(&self, at_ns: u64) -> bool {
        self.0.next_ns.get() < at_ns
    }

    /// Wakes the owners of all deadlines up to `now_ns`. Returns true if any entry was due.
    pub(crate) fn fire(&self, now_ns: u64) -> bool {
        if self.0.next_ns.get() > now_ns {
            return false;
        }
        let mut queue = self.0.queue.borrow_mut();
        let mut came = false;
        while let Some(&Reverse((at_ns, slot, serial))) = queue.heap.peek() {
            if at_ns > now_ns {
                break;
            }
            queue.heap.pop();
            queue.come_up(at_ns, slot, serial, now_ns);
            came = true;
        }
        self.0.next_ns.set(queue.next_ns());
        came
    }
}

impl Queue {
    fn next_ns(&self) -> u64 {
        self.heap
            .peek()
            .map_or(NEVER, |Reverse((at_ns, ..))| *at_ns)
    }

    fn come_up(&mut self, at_ns: u64, slot: usize, serial: u64, now_ns: u64) {
        let Some(entry) = self.entries.get_mut(slot) else {
            return;
        };
        if entry.serial != serial || entry.armed_ns != at_ns {
            return;
        }
        if entry.deadline_ns > now_ns {
            entry.armed_ns = entry.deadline_ns;
            if entry.deadline_ns != NEVER {
                self.heap.push(Reverse((entry.deadline_ns, slot, serial)));
            }
            return;
        }
        entry.armed_ns = NEVER;
        entry.fired = true;
        if let Some(waker) = &entry.waker {
            waker.wake_by_ref();
        }
    }

    /// Sets a deadline. Returns true if the heap has a new entry, at this instant.
    fn set(&mut self, slot: usize, deadline_ns: u64) -> bool {
        let entry = &mut self.entries[slot];
        entry.deadline_ns = deadline_ns;
        entry.fired = false;
        let is_earlier = deadline_ns < entry.armed_ns;
        if is_earlier {
            entry.armed_ns = deadline_ns;
            let serial = entry.serial;
            self.heap.push(Reverse((deadline_ns, slot, serial)));
        }
        is_earlier
    }

    fn remove(&mut self, slot: usize) {
        if self.entries.remove(slot).armed_ns == NEVER {
            return;
        }
        self.orphans += 1;
        if self.orphans >= FEW && self.orphans > self.heap.len() / 2 {
            self.sweep();
        }
    }

    /// Removes the heap entries of timers that were dropped or have newer entries.
    #[cold]
    fn sweep(&mut self) {
        let entries = &self.entries;
        self.heap.retain(|Reverse((at_ns, slot, serial))| {
            let owner = entries.get(*slot);
            owner.is_some_and(|owner| owner.serial == *serial && owner.armed_ns == *at_ns)
        });
        self.heap.shrink_to(2 * self.heap.len() + FEW);
        self.orphans = 0;
    }

    fn wait(&mut self, slot: usize, waker: &Waker) {
        let stored = &mut self.entries[slot].waker;
        if !stored
            .as_ref()
            .is_some_and(|stored| stored.will_wake(waker))
        {
            *stored = Some(waker.clone());
        }
    }
}

/// A deadline that can be moved, and a task that waits for it.
pub struct Timer {
    timers: Timers,
    slot: usize,
    clock: Rc<dyn Fn() -> u64>,
}

impl Timer {
    /// Waits until the instant has come. Returns at once if it has passed.
    pub async fn until(&mut self, deadline_ns: u64) {
        if (self.clock)() < deadline_ns {
            self.set(Some(deadline_ns));
            poll_fn(|cx| self.poll(cx)).await;
        }
    }

    /// Moves the deadline; `None` removes it.
    pub fn set(&self, deadline_ns: Option<u64>) {
        let deadline_ns = deadline_ns.unwrap_or(NEVER);
        self.timers.set(self.slot, deadline_ns);
    }

    /// Ready when the deadline has passed; otherwise the task is woken then.
    #[inline]
    pub fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut queue = self.timers.0.queue.borrow_mut();
        if queue.entries[self.slot].fired {
            return Poll::Ready(());
        }
        queue.wait(self.slot, cx.waker());
        Poll::Pending
    }
}

/// Brings a timer's deadline forward, from another task of its loop.
#[derive(Clone)]
pub struct Alarm {
    timers: Timers,
    slot: usize,
    serial: u64,
}

impl Timer {
    /// Returns a handle that brings this timer's deadline forward.
    pub fn alarm(&self) -> Alarm {
        Alarm {
            timers: self.timers.clone(),
            slot: self.slot,
            serial: self.timers.0.queue.borrow().entries[self.slot].serial,
        }
    }
}

impl Alarm {
    /// Makes the timer fire at this instant, whatever its deadline was. Has no effect once the
    /// timer is dropped.
    pub fn ring(&self, at_ns: u64) {
        let queue = self.timers.0.queue.borrow();
        let owner = queue.entries.get(self.slot);
        let is_alive = owner.is_some_and(|owner| owner.serial == self.serial);
        drop(queue);
        if is_alive {
            self.timers.set(self.slot, at_ns);
        }
    }
}

impl std::fmt::Debug for Alarm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Alarm")
            .field("slot", &self.slot)
            .finish_non_exhaustive()
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let timers = &self.timers.0;
        let mut queue = timers.queue.borrow_mut();
        queue.remove(self.slot);
        timers.next_ns.set(queue.next_ns());
    }
}

impl std::fmt::Debug for Timer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Timer")
            .field("slot", &self.slot)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::Wake;

    struct Count(AtomicU32);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    struct Rig {
        timers: Timers,
        now: Rc<Cell<u64>>,
        woken: Arc<Count>,
    }

    impl Rig {
        fn new() -> Self {
            let woken = Arc::new(Count(AtomicU32::new(0)));
            Rig {
                timers: Timers::default(),
                now: Rc::default(),
                woken,
            }
        }

        fn timer(&self) -> Timer {
            let now = Rc::clone(&self.now);
            self.timers.timer(Rc::new(move || now.get()))
        }

        fn poll(&self, timer: &Timer) -> bool {
            let waker = Arc::clone(&self.woken).into();
            timer.poll(&mut Context::from_waker(&waker)).is_ready()
        }

        fn advance(&self, now_ns: u64) -> u32 {
            self.now.set(now_ns);
            let before = self.woken.0.load(Ordering::Relaxed);
            self.timers.fire(now_ns);
            self.woken.0.load(Ordering::Relaxed) - before
        }
    }

    #[test]
    fn fires_at_its_instant_and_not_before() {
        let rig = Rig::new();
        let timer = rig.timer();
        timer.set(Some(100));
        assert!(!rig.poll(&timer));
        assert_eq!(rig.advance(99), 0);
        assert_eq!(rig.advance(100), 1);
        assert!(rig.poll(&timer));
    }

    #[test]
    fn moving_later_keeps_one_heap_entry() {
        let rig = Rig::new();
        let timer = rig.timer();
        assert!(!rig.poll(&timer));
        for deadline in 100..200 {
            timer.set(Some(deadline));
        }
        assert_eq!(rig.timers.0.queue.borrow().heap.len(), 1);
        assert_eq!(rig.advance(100), 0);
        assert_eq!(rig.timers.next_ns(), Some(199));
        assert_eq!(rig.advance(199), 1);
    }

    #[test]
    fn moving_earlier_fires_earlier_and_only_once() {
        let rig = Rig::new();
        let timer = rig.timer();
        assert!(!rig.poll(&timer));
        timer.set(Some(100));
        timer.set(Some(50));
        assert_eq!(rig.advance(50), 1);
        assert_eq!(rig.advance(100), 0);
    }

    #[test]
    fn an_alarm_brings_the_deadline_forward_while_the_timer_lives() {
        let rig = Rig::new();
        let timer = rig.timer();
        let alarm = timer.alarm();
        assert!(!rig.poll(&timer));
        timer.set(Some(1_000));
        alarm.ring(50);
        assert_eq!(rig.advance(50), 1);
        assert!(rig.poll(&timer));
        drop(timer);
        let other = rig.timer();
        alarm.ring(60);
        assert!(!rig.poll(&other));
        assert_eq!(rig.advance(1_000), 0);
    }

    #[test]
    fn a_timer_taken_away_never_fires() {
        let rig = Rig::new();
        let timer = rig.timer();
        assert!(!rig.poll(&timer));
        timer.set(Some(100));
        timer.set(None);
        assert_eq!(rig.advance(1_000), 0);
        assert!(!rig.poll(&timer));
        assert_eq!(rig.timers.next_ns(), None);
    }

    #[test]
    fn a_deadline_moved_after_it_fired_waits_again() {
        let rig = Rig::new();
        let timer = rig.timer();
        timer.set(Some(100));
        assert_eq!(rig.advance(100), 0);
        assert!(rig.poll(&timer));
        timer.set(Some(300));
        assert!(!rig.poll(&timer));
        assert_eq!(rig.advance(300), 1);
    }

    #[test]
    fn dropped_timers_leave_the_heap_long_before_they_are_due() {
        let rig = Rig::new();
        let stays = rig.timer();
        stays.set(Some(7_000_000));
        assert!(!rig.poll(&stays));
        for deadline in 0..1_000_000 {
            rig.timer().set(Some(5_000_000 + deadline));
        }
        let queue = rig.timers.0.queue.borrow();
        assert!(queue.heap.len() <= FEW + 1, "{}", queue.heap.len());
        assert!(
            queue.heap.capacity() <= 4 * FEW,
            "{}",
            queue.heap.capacity()
        );
        drop(queue);
        assert_eq!(rig.advance(6_999_999), 0);
        assert_eq!(rig.advance(7_000_000), 1);
    }

    #[test]
    fn a_reused_slot_is_not_woken_by_its_former_owner() {
        let rig = Rig::new();
        let first = rig.timer();
        first.set(Some(100));
        drop(first);
        let second = rig.timer();
        assert!(!rig.poll(&second));
        second.set(Some(200));
        assert_eq!(rig.advance(100), 0);
        assert_eq!(rig.advance(200), 1);
    }
}
