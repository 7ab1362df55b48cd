//! Iterations: one pass of a user's behaviour, with the starts that the schedule gave it.
//!
//! An iteration owns its starts, and with them its delay. What its behaviour does before it sends
//! is the behaviour's time: in a closed load a request starts when it is sent, in an open one the
//! schedule's start stays and the rest is delay.

use crate::behaviour::Behaviour;
use crate::pacer::Next;
use crate::requester::Requester;
use crate::user::{Start, User};
use loadline_reactor::{Host, Timer};
use loadline_schedule::Window;
use std::fmt;

/// An iteration that a behaviour runs.
pub struct Iteration<'u, H: Host> {
    requester: &'u Requester<H>,
}

impl<'u, H: Host> Iteration<'u, H> {
    /// What sends its requests.
    pub fn requester(&self) -> &'u Requester<H> {
        self.requester
    }

    /// How many starts of the schedule it still has.
    pub fn starts_left(&self) -> usize {
        self.user().starts.borrow().len()
    }

    /// Waits. In a closed load what was not sent yet starts after that.
    pub async fn pause(&self, duration_ns: u64) {
        self.user().pause(duration_ns).await;
    }

    /// Begins nothing more while the run lasts, and keeps the user's connections: the user is there
    /// and does nothing. Where nothing but users ends the run, it ends when all of them rest.
    pub async fn rest(&self) {
        // The arrivals that it holds in an open load stay unsent.
        let user = self.user();
        user.activity.iterating.set(false);
        user.worker.one_rests();
        std::future::pending().await
    }

    /// Lets this worker begin nothing new, as if the run were over for it; the others go on. What
    /// is in flight comes to its end.
    pub fn end_worker(&self) {
        let worker = &self.user().worker;
        worker.stopping.set(true);
        worker.wake_supervisor();
    }

    fn user(&self) -> &'u User<H> {
        &self.requester.0
    }
}

impl<H: Host> Clone for Iteration<'_, H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H: Host> Copy for Iteration<'_, H> {}

impl<H: Host> fmt::Debug for Iteration<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Iteration").field(self.requester).finish()
    }
}

/// Runs a user's iterations in each of its windows until nothing is left to begin.
pub(crate) async fn run<H: Host>(
    requester: &Requester<H>,
    behaviour: &mut impl Behaviour<H>,
    windows: Vec<Window>,
    mut timer: Timer,
) {
    let user = &*requester.0;
    let worker = &*user.worker;
    let begin_ns = worker.begin_ns.get();
    for window in windows {
        timer.until(begin_ns.saturating_add(window.from_ns)).await;
        let to_ns = window.to_ns.unwrap_or(u64::MAX).min(worker.pacer.end_ns);
        let to_ns = begin_ns.saturating_add(to_ns);
        while user.take_starts(&mut timer, behaviour.depth(), to_ns).await {
            user.activity.iterating.set(true);
            user.is_prompt.set(behaviour.is_prompt());
            worker.iterations.set(worker.iterations.get() + 1);
            let has_slot = worker.take_closed_loop_slot();
            user.activity.is_omitted.set(!has_slot);
            behaviour.iterate(Iteration { requester }).await;
            if has_slot {
                worker.return_closed_loop_slot();
            }
            user.activity.iterating.set(false);
            user.activity.since_ns.set(None);
        }
        if worker.stopping.get() || worker.pacer.is_spent() {
            return;
        }
    }
}

impl<H: Host> User<H> {
    /// Takes `depth` starts and waits until the last is due; false if there is none before `to_ns`.
    /// A pipeline's batch goes out when its last start is due: until then the earlier ones wait
    /// for it, as for a connection.
    async fn take_starts(&self, timer: &mut Timer, depth: u32, to_ns: u64) -> bool {
        let worker = &*self.worker;
        let now_ns = worker.host.now_ns();
        // What fell due in the window is sent behind it too, as soon as there is a connection.
        let goes_on = worker.draining.get() && worker.pacer.is_open();
        let is_over = now_ns >= to_ns && !goes_on;
        let Some(due_ns) = self.take_due_starts(now_ns, depth, is_over) else {
            return false;
        };
        if due_ns > now_ns {
            worker.backlog.is_empty_at(now_ns);
            timer.until(due_ns).await;
        }
        true
    }

    /// Takes up to `depth` starts, unless its time is over; returns when the last is due.
    fn take_due_starts(&self, now_ns: u64, depth: u32, is_over: bool) -> Option<u64> {
        let mut starts = self.starts.borrow_mut();
        starts.clear();
        if is_over || self.worker.stopping.get() {
            return None;
        }
        while starts.len() < depth as usize
            && let Some(intended_ns) = self.take_start(now_ns)
        {
            starts.push(Start::undelayed(intended_ns));
        }
        let due_ns = starts.last()?.intended_ns;
        let ready_ns = self.free_ns.get().max(due_ns);
        starts
            .iter_mut()
            .for_each(|start| start.ready_ns = ready_ns);
        starts.reverse();
        self.show_starts(&starts);
        Some(due_ns)
    }

    /// Lets the worker see which starts were taken.
    fn show_starts(&self, starts: &[Start]) {
        let activity = &self.activity;
        let first = starts.last();
        activity.since_ns.set(first.map(|start| start.intended_ns));
        // Those of a closed load begin together.
        if self.worker.pacer.is_open()
            && let [later @ .., _] = starts
            && !later.is_empty()
        {
            let mut shown = activity.later.borrow_mut();
            shown.clear();
            shown.extend(later.iter().map(|start| start.intended_ns));
        }
    }

    /// Takes a start from the schedule.
    fn take_start(&self, now_ns: u64) -> Option<u64> {
        let begin_ns = self.worker.begin_ns.get();
        match self.worker.pacer.take(now_ns - begin_ns) {
            Next::Nothing => None,
            Next::Now => Some(now_ns),
            Next::At(at_ns) => Some(begin_ns.saturating_add(at_ns)),
        }
    }
}
