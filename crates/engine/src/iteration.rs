//! Iterations: one pass of a user's behaviour, with its starts from the schedule.
//!
//! An iteration owns its starts, and with them its delay. The time before the behaviour sends
//! belongs to the behaviour: in a closed load a request starts when it is sent; in an open load the
//! schedule's start remains, postponed by the behaviour's pauses, and the rest is delay.

use crate::account::Start;
use crate::behaviour::Behaviour;
use crate::pacer::{Next, NextWindow};
use crate::requester::Requester;
use crate::user::User;
use loadline_reactor::{Host, Timer};
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// An instant that never comes.
const NEVER: u64 = u64::MAX;

/// An iteration that a behaviour runs.
pub struct Iteration<'u, H: Host> {
    requester: &'u Requester<H>,
}

impl<'u, H: Host> Iteration<'u, H> {
    /// Returns the requester of its user.
    pub fn requester(&self) -> &'u Requester<H> {
        self.requester
    }

    /// Returns the number of its user within the scenario, over all workers, from 0. Worker `w` of
    /// `n` has the users `w`, `w + n`, `w + 2n` …
    #[cfg(test)]
    pub(crate) fn user_number(&self) -> u32 {
        self.user().number
    }

    /// Returns the intended start: the schedule's instant in an open load, the actual start in a
    /// closed one. `None` as soon as a request has taken the start. Nanoseconds on the host's
    /// clock.
    pub fn intended_ns(&self) -> Option<u64> {
        self.user().intended_ns()
    }

    /// Returns the time on the host's clock, in nanoseconds; `CLOCK_MONOTONIC` in a real run.
    pub fn now_ns(&self) -> u64 {
        self.user().worker.host().now_ns()
    }

    /// Returns the begin of the load, warm-up included, in nanoseconds on the host's clock.
    pub fn load_began_ns(&self) -> u64 {
        self.user().worker.begin_ns.get()
    }

    /// Returns the number of starts of the schedule that it still has.
    pub fn starts_left(&self) -> usize {
        self.user().starts.borrow().len()
    }

    /// Pauses. In a closed load the unsent requests of the iteration start after that; in an open
    /// one they are meant to start so much later.
    pub async fn pause(&self, duration_ns: u64) {
        self.user().pause(duration_ns).await;
    }

    /// Begins nothing more while the run lasts, and keeps the user's connections: the user remains
    /// and is idle. If only users can end the run, it ends when all of them rest.
    pub async fn rest(&self) {
        // The user's arrivals in an open load remain unsent.
        let user = self.user();
        user.activity.iterating.set(false);
        user.worker.one_rests();
        std::future::pending().await
    }

    /// Has this worker begin nothing new, as if the run were over for it; the other workers
    /// continue. Everything in flight is completed.
    pub fn end_worker(&self) {
        let worker = &self.user().worker;
        worker.stopping.set(true);
        worker.wake_supervisor();
    }

    /// Has the worker take the scenario's [early tally](crate::Scenario::take_early_tally) now.
    pub fn report_tally(&self) {
        let worker = &self.user().worker;
        worker.is_tally_due.set(true);
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

/// The result of taking starts from the schedule.
enum Taken {
    /// No start: the user's window is over, or the schedule has no more.
    Nothing,
    /// All requested starts, the last of them due.
    Due,
    /// The last start is due at this instant on the host's clock; [`NEVER`] in a pause, which has
    /// no known end.
    DueAt(u64),
}

/// Runs at most this many of a user's iterations in each of the windows of user number `number`,
/// until there is nothing left to begin.
pub(crate) async fn run<H: Host, B: Behaviour<H>>(
    requester: &Requester<H>,
    behaviour: &mut B,
    number: u32,
    mut iterations_left: u64,
    mut timer: Timer,
) {
    let user = &*requester.0;
    let worker = &*user.worker;
    let mut think_times = worker.pacer.think_times(number);
    while user.wait_for_window(&mut timer, number).await {
        while iterations_left > 0 {
            // Inline, not in a future: in a closed loop the next start is nearly always now.
            let has_starts = match user.take_more_starts(behaviour.depth()) {
                Taken::Nothing => false,
                Taken::Due => true,
                Taken::DueAt(at_ns) => {
                    let depth = behaviour.depth();
                    user.wait_for_starts(&mut timer, depth, at_ns).await
                }
            };
            if !has_starts {
                break;
            }
            iterations_left -= 1;
            user.activity.iterating.set(true);
            worker.one_is_busy();
            user.is_prompt.set(behaviour.is_prompt());
            worker.iterations.set(worker.iterations.get() + 1);
            let has_slot = worker.take_closed_loop_slot();
            user.activity.is_omitted.set(!has_slot);
            let timed_from_ns = user.intended_ns().filter(|_| behaviour.times_iterations());
            let iteration = behaviour.iterate(Iteration { requester });
            let is_whole = if B::IS_INTERRUPTIBLE {
                // Boxed, so that the tasks of other behaviours are no larger.
                Box::pin(user.until_interrupted(&mut timer, iteration)).await
            } else {
                iteration.await;
                true
            };
            if is_whole && let Some(from_ns) = timed_from_ns {
                user.time_iteration(from_ns);
            }
            if has_slot {
                worker.return_closed_loop_slot();
            }
            user.activity.iterating.set(false);
            user.activity.since_ns.set(None);
            user.leave_unused_starts();
            worker.one_is_free();
            if let Some(times) = &mut think_times
                && iterations_left > 0
            {
                user.think(&mut timer, times.next_ns()).await;
            }
        }
        let is_done = worker.pacer.is_spent() || iterations_left == 0;
        if worker.stopping.get() || worker.pacer.is_open() || is_done {
            return;
        }
    }
}

impl<H: Host> User<H> {
    /// Waits for the begin of the user's current or next window; returns false if there is none.
    async fn wait_for_window(&self, timer: &mut Timer, number: u32) -> bool {
        let worker = &*self.worker;
        loop {
            let (begin_ns, now_ns) = (worker.begin_ns.get(), worker.host().now_ns());
            let load_ns = now_ns.saturating_sub(begin_ns);
            let until_ns = match worker.pacer.next_window(number, load_ns) {
                NextWindow::Is(window) => {
                    let to_ns = window.to_ns.unwrap_or(u64::MAX);
                    self.activity.to_ns.set(begin_ns.saturating_add(to_ns));
                    begin_ns.saturating_add(window.from_ns)
                }
                NextWindow::Paused => NEVER,
                NextWindow::Nothing => return false,
            };
            if until_ns <= now_ns {
                return true;
            }
            // The alarm of a load change ends the wait early.
            timer.until(until_ns).await;
        }
    }

    /// Runs an iteration until it ends or is interrupted. Returns true if it ended by itself.
    async fn until_interrupted(
        &self,
        timer: &mut Timer,
        iteration: impl Future<Output = ()>,
    ) -> bool {
        let mut iteration = pin!(iteration);
        loop {
            timer.set(Some(self.interrupted_at_ns()));
            let is_whole = poll_fn(|cx| match iteration.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(true),
                Poll::Pending => timer.poll(cx).map(|()| false),
            });
            if is_whole.await {
                return true;
            }
            // A change of the load may have moved that instant.
            let now_ns = self.worker.host().now_ns();
            if now_ns >= self.interrupted_at_ns() {
                if now_ns >= self.worker.zero_ns() {
                    self.worker.recorder().borrow_mut().interrupted(1);
                }
                return false;
            }
        }
    }

    /// Returns the instant at which the user's iteration is interrupted: if its window ends before
    /// the load, the ramp-down time after the window, unless a pause ended the window. An iteration
    /// that is still active at the end of the load continues in the graceful stop.
    fn interrupted_at_ns(&self) -> u64 {
        let pacer = &self.worker.pacer;
        let end_ns = self.worker.begin_ns.get().saturating_add(pacer.end_ns);
        let to_ns = self.activity.to_ns.get();
        let rests = !self.activity.iterating.get();
        match pacer.is_open() || rests || pacer.is_paused() || to_ns >= end_ns {
            true => NEVER,
            false => to_ns.saturating_add(pacer.ramp_down_ns),
        }
    }

    /// Returns the intended instant of the user's earliest start.
    #[inline(always)]
    fn intended_ns(&self) -> Option<u64> {
        let starts = self.starts.borrow();
        starts.last().map(|start| start.intended_ns)
    }

    /// Records the time of an iteration that has ended, if it belongs to the measured part and had
    /// a response.
    fn time_iteration(&self, from_ns: u64) {
        let worker = &*self.worker;
        if from_ns < worker.zero_ns() {
            return;
        }
        if let Some(iteration_ns) = self.answered_ns().checked_sub(from_ns) {
            let mut recorder = worker.recorder().borrow_mut();
            recorder.iteration_ended(iteration_ns);
        }
    }

    /// Waits for this time, unless its window or the load ends before.
    async fn think(&self, timer: &mut Timer, duration_ns: u64) {
        let worker = &*self.worker;
        let _thinks = worker.one_thinks();
        let due_ns = worker.host().now_ns().saturating_add(duration_ns);
        loop {
            let until_ns = due_ns.min(self.activity.to_ns.get());
            if worker.host().now_ns() >= until_ns {
                return;
            }
            // The alarm of a load change ends the wait early.
            timer.until(until_ns).await;
        }
    }

    /// Counts the starts that an iteration took and did not use: no request is due for them.
    #[inline(always)]
    fn leave_unused_starts(&self) {
        let mut starts = self.starts.borrow_mut();
        if starts.is_empty() {
            return;
        }
        let (worker, zero_ns) = (&*self.worker, self.worker.zero_ns());
        if worker.pacer.is_open() {
            let measured = starts.iter().filter(|start| start.intended_ns >= zero_ns);
            worker
                .not_due
                .ended_without_request(measured.count() as u64);
            self.activity.later.borrow_mut().clear();
        }
        starts.clear();
    }

    /// Waits until the last of `depth` starts is due, at `due_ns` unless the load changes; returns
    /// false if there is none in its window. The batch of a pipeline is sent when its last start is
    /// due: until then the earlier ones wait for it, as for a connection.
    async fn wait_for_starts(&self, timer: &mut Timer, depth: u32, mut due_ns: u64) -> bool {
        let worker = &*self.worker;
        loop {
            worker.backlog.is_empty_at(worker.host().now_ns());
            self.put_off_ns.set(0);
            timer.until(due_ns).await;
            let is_changed = self.changes.get() != worker.pacer.changes();
            if !is_changed && due_ns != NEVER {
                worker.backlog.woken(worker.host().now_ns(), due_ns);
                return true;
            }
            self.give_back_void_starts();
            match self.take_more_starts(depth) {
                Taken::Nothing => return false,
                Taken::Due => return true,
                Taken::DueAt(at_ns) => due_ns = at_ns,
            }
        }
    }

    /// Takes starts until the user holds `depth`, unless its time is over.
    #[inline(always)]
    fn take_more_starts(&self, depth: u32) -> Taken {
        let now_ns = self.worker.host().now_ns();
        let mut starts = self.starts.borrow_mut();
        if starts.is_empty() && !self.may_begin(now_ns) {
            return Taken::Nothing;
        }
        self.changes.set(self.worker.pacer.changes());
        self.put_off_ns.set(self.worker.backlog.stalled_ns());
        let is_paused = self.fill(&mut starts, depth, now_ns);
        let Some(last) = starts.last() else {
            return match is_paused {
                true => Taken::DueAt(NEVER),
                false => Taken::Nothing,
            };
        };
        let due_ns = last.intended_ns;
        let ready_ns = self.free_ns.get().max(due_ns);
        starts
            .iter_mut()
            .for_each(|start| start.ready_ns = ready_ns);
        starts.reverse();
        self.show_starts(&starts);
        match due_ns <= now_ns {
            true => Taken::Due,
            false => Taken::DueAt(due_ns),
        }
    }

    /// True if the user may begin something at this instant, provided that there is a start.
    fn may_begin(&self, now_ns: u64) -> bool {
        let worker = &*self.worker;
        // Arrivals that fell due in the window are also sent after it, as soon as there is a
        // connection.
        let goes_on = worker.draining.get() && worker.pacer.is_open();
        let is_in_window = now_ns < self.activity.to_ns.get();
        !worker.stopping.get() && (is_in_window || goes_on)
    }

    /// Takes starts up to `depth`, the earliest first. Returns true if there are no more because of
    /// a pause.
    fn fill(&self, starts: &mut Vec<Start>, depth: u32, now_ns: u64) -> bool {
        let begin_ns = self.worker.begin_ns.get();
        while starts.len() < depth as usize {
            let intended_ns = match self.worker.pacer.take(now_ns - begin_ns) {
                Next::Nothing => return false,
                Next::Paused => return true,
                Next::Now => now_ns,
                Next::At(at_ns) => begin_ns.saturating_add(at_ns),
            };
            starts.push(Start::undelayed(intended_ns));
        }
        false
    }

    /// Gives those of its starts back that a change of the load has moved, and sorts the others,
    /// the earliest first.
    #[cold]
    fn give_back_void_starts(&self) {
        let (pacer, begin_ns) = (&self.worker.pacer, self.worker.begin_ns.get());
        let void_from_ns = begin_ns.saturating_add(pacer.void_from_ns(self.changes.get()));
        let mut starts = self.starts.borrow_mut();
        starts.reverse();
        let kept = starts.partition_point(|start| start.intended_ns < void_from_ns);
        for start in starts.drain(kept..) {
            pacer.give_back(start.intended_ns - begin_ns);
        }
        self.activity.since_ns.set(None);
        self.activity.later.borrow_mut().clear();
    }

    /// Shows the worker which starts were taken.
    fn show_starts(&self, starts: &[Start]) {
        let activity = &self.activity;
        let first = starts.last();
        activity.since_ns.set(first.map(|start| start.intended_ns));
        // The starts of a closed load begin together.
        if self.worker.pacer.is_open()
            && let [later @ .., _] = starts
            && !later.is_empty()
        {
            let mut shown = activity.later.borrow_mut();
            shown.clear();
            shown.extend(later.iter().map(|start| start.intended_ns));
        }
    }
}
