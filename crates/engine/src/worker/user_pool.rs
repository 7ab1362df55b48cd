//! The user pool of a worker: users are spawned as the load needs them and retired when it ends.

use super::Worker;
use super::ready::Ahead;
use crate::activity::Activity;
use crate::behaviour::{Behaviour, Scenario};
use crate::event::Tick;
use crate::exchange::let_others_run;
use crate::iteration;
use crate::not_due::{NotDue, pausing_arrivals};
use crate::pacer::NextWindow;
use crate::quotas::Quotas;
use crate::requester::Requester;
use crate::tally::AnyTally;
use crate::user::User;
use loadline_reactor::{Alarm, Host, Task};
use loadline_schedule::{Stripe, Stripes};
use std::collections::{HashSet, VecDeque};
use std::rc::{Rc, Weak};

/// The users of one worker.
pub(super) struct UserPool<H: Host, S> {
    pub(super) worker: Rc<Worker<H>>,
    scenario: S,
    pub(super) stripe: Stripe,
    connections: VecDeque<Ahead<H>>,
    members: Vec<Member<H>>,
    spawned: u32,
    /// The starts that retired users had taken, on the host's clock.
    pub(super) retired_ns: Vec<u64>,
    /// The presence of users that were cut off.
    cut_off: Vec<Weak<()>>,
}

struct Member<H: Host> {
    /// The user's task; dropping it cancels the user.
    _task: Task,
    /// The number of the user in the run.
    number: u32,
    /// The alarm that ends its wait for a start or a window.
    alarm: Alarm,
    user: Rc<User<H>>,
    /// A reference that only its task holds, if the end of the task may be awaited.
    presence: Weak<()>,
}

impl<H: Host, S: Scenario<H>> UserPool<H, S> {
    /// Creates an empty pool. The first users spawned get the connections that were dialled ahead.
    pub(super) fn new(
        worker: Rc<Worker<H>>,
        scenario: S,
        stripe: Stripe,
        connections: VecDeque<Ahead<H>>,
    ) -> Self {
        UserPool {
            worker,
            scenario,
            stripe,
            connections,
            members: Vec::new(),
            spawned: 0,
            retired_ns: Vec::new(),
            cut_off: Vec::new(),
        }
    }

    /// Spawns a user, with one of the connections dialled ahead if one is left.
    pub(super) fn spawn(&mut self) {
        let (round, index) = (
            self.stripe.index / self.stripe.of,
            self.stripe.index % self.stripe.of,
        );
        // The numbers of a worker that joins follow those of all that there may be before it.
        let first = round.saturating_mul(self.worker.pacer.numbers);
        let number = first.saturating_add(index + self.spawned * self.stripe.of);
        self.spawned += 1;
        self.spawn_number(number);
    }

    fn spawn_number(&mut self, number: u32) {
        let iterations = self.worker.pacer.iterations_per_user;
        self.spawn_for(number, iterations.unwrap_or(u64::MAX));
    }

    /// Spawns the user with this number, who has this many iterations.
    fn spawn_for(&mut self, number: u32, iterations: u64) {
        let worker = Rc::clone(&self.worker);
        let user = Rc::new(User::new(Rc::clone(&worker), number));
        if let Some(Ahead { endpoint, open, .. }) = self.connections.pop_front()
            && let Some(open) = open
        {
            user.connections.pool().put(endpoint, open);
        }
        let mut behaviour = self.scenario.user();
        worker.users.set(worker.users.get() + 1);
        worker.one_is_free();
        let requester = Requester(Rc::clone(&user));
        let timer = worker.host().timer();
        let alarm = timer.alarm();
        let present = S::COUNTS.then(Rc::<()>::default);
        let presence = present.as_ref().map(Rc::downgrade).unwrap_or_default();
        let task = self.worker.host().spawn(async move {
            let _present = present;
            iteration::run(&requester, &mut behaviour, number, iterations, timer).await;
            requester.0.connections.own.close().await;
            requester.0.end();
        });
        self.members.push(Member {
            _task: task,
            number,
            alarm,
            user,
            presence,
        });
    }

    /// Adjusts the users to a changed load: waiting users check again, and missing ones of a closed
    /// load are spawned.
    pub(super) fn load_changed(&mut self, now_ns: u64) {
        self.members
            .retain(|member| !member.user.activity.has_ended.get());
        let (pacer, begin_ns) = (&self.worker.pacer, self.worker.begin_ns.get());
        let load_ns = now_ns.saturating_sub(begin_ns);
        for member in &self.members {
            let to_ns = match pacer.next_window(member.number, load_ns) {
                NextWindow::Is(window) if window.from_ns <= load_ns => window.to_ns.unwrap_or(0),
                NextWindow::Is(_) | NextWindow::Paused | NextWindow::Nothing => 0,
            };
            let activity = &member.user.activity;
            activity.to_ns.set(begin_ns.saturating_add(to_ns));
        }
        self.wake_waiting(now_ns);
        if pacer.iterations_per_user.is_some() {
            // A missing user has completed its iterations.
            return;
        }
        let present: HashSet<u32> = self.members.iter().map(|member| member.number).collect();
        let is_missing = |number: &u32| {
            let next = self.worker.pacer.next_window(*number, load_ns);
            !present.contains(number) && matches!(next, NextWindow::Is(_))
        };
        let share = self.worker.pacer.share();
        let missing = self.numbers(&share).filter(is_missing);
        let missing: Vec<u32> = missing.collect();
        missing
            .into_iter()
            .for_each(|number| self.spawn_number(number));
    }

    /// Spawns those of the lost users of a closed load that this worker takes over: they are in its
    /// share now and were not before. The starts that lost users had left come with them.
    pub(super) fn take_over(&mut self, quotas: &Quotas, before: &Stripes) {
        let worker = Rc::clone(&self.worker);
        let pacer = &worker.pacer;
        let load_ns = worker.host().now_ns().saturating_sub(worker.begin_ns.get());
        let taken: Vec<u32> = quotas
            .taken(pacer.most_users(), before, &pacer.share())
            .collect();
        if pacer.iterations_per_user.is_none() {
            taken.iter().for_each(|number| {
                pacer.grant(quotas.of(*number, pacer.most_users()).unwrap_or(0));
            });
        }
        for number in taken {
            let next = pacer.next_window(number, load_ns);
            if matches!(next, NextWindow::Nothing) {
                continue;
            }
            let whole = pacer.iterations_per_user;
            let own = quotas.of(number, pacer.most_users());
            worker.return_closed_loop_slot();
            self.spawn_for(number, whole.map_or(u64::MAX, |whole| own.unwrap_or(whole)));
        }
    }

    /// Returns the numbers of the users of a closed load that are in a share.
    fn numbers(&self, share: &Stripes) -> impl Iterator<Item = u32> + use<H, S> {
        let share = share.clone();
        let all = 0..self.worker.pacer.most_users();
        all.filter(move |number| share.contains(u64::from(*number)))
    }

    /// Ends users that wait for the end of a pause.
    pub(super) fn end_pause(&self, now_ns: u64) {
        if self.worker.pacer.is_paused() {
            self.worker.pacer.close();
            self.wake_waiting(now_ns);
        }
    }

    /// Wakes users that wait for a start or a window, so that they check again.
    fn wake_waiting(&self, now_ns: u64) {
        let is_waiting = |member: &&Member<H>| {
            // An interruptible user waits for the end of its window during its iteration.
            S::Behaviour::IS_INTERRUPTIBLE || !member.user.activity.iterating.get()
        };
        let waiting = self.members.iter().filter(is_waiting);
        waiting.for_each(|member| member.alarm.ring(now_ns));
    }

    /// Spawns a user if an arrival finds none free.
    pub(super) fn spawn_if_short(&mut self, now_ns: u64) {
        if self.is_short(now_ns) {
            self.spawn();
        }
    }

    /// True if an arrival finds no user free.
    pub(super) fn is_short(&self, now_ns: u64) -> bool {
        let shortage_ns = self.worker.next_shortage_ns();
        shortage_ns.is_some_and(|at_ns| at_ns <= now_ns)
    }

    /// Drops the arrivals up to this instant that found no user free, if the plan requires it, and
    /// reports all that were dropped since the last call. Returns true if there were any.
    pub(super) fn drop_late(&mut self, now_ns: u64, was_stalled: bool) -> bool {
        let worker = &self.worker;
        worker.drop_late(now_ns, was_stalled);
        let dropped = worker.pacer.take_dropped();
        if dropped > 0 {
            worker.recorder().borrow_mut().dropped(dropped);
            self.scenario.dropped(dropped, worker.may_grow());
        }
        dropped > 0
    }

    /// Drops arrivals like [`drop_late`](Self::drop_late), and spawns a user for later arrivals.
    pub(super) fn drop_late_and_grow(&mut self, now_ns: u64, was_stalled: bool) {
        if self.drop_late(now_ns, was_stalled) && self.worker.may_grow() {
            self.spawn();
        }
    }

    /// Reports a tick that has ended to the scenario.
    pub(super) fn ticked(&mut self, tick: Tick) {
        self.scenario.ticked(tick);
    }

    /// Returns the scenario's counts since the last call.
    pub(super) fn take_tally(&mut self) -> Option<AnyTally> {
        match S::COUNTS {
            true => self.scenario.take_tally(),
            false => None,
        }
    }

    /// Returns the scenario's counts that are reported before the interval ends: because a user
    /// requested them (`is_due`), or because the scenario is live.
    pub(super) fn take_early_tally(&mut self, is_due: bool) -> Option<AnyTally> {
        match S::COUNTS && (is_due || S::IS_LIVE) {
            true => self.scenario.take_early_tally(),
            false => None,
        }
    }

    /// Retires the users that wait for a start that will not come.
    pub(super) fn retire_idle(&mut self) {
        let is_idle = |member: &mut Member<H>| !member.user.activity.iterating.get();
        let retired: Vec<Member<H>> = self.members.extract_if(.., is_idle).collect();
        for member in &retired {
            let activity = &member.user.activity;
            self.retired_ns.extend(activity.since_ns.get());
            self.retired_ns.append(&mut activity.later.borrow_mut());
        }
        self.worker.users.set(self.members.len() as u32);
        // Resting users are idle as well.
        self.worker.resting.set(0);
    }

    /// Cancels all users at once.
    pub(super) fn cut_off(&mut self) {
        self.worker.is_cut_off.set(true);
        if S::Behaviour::IS_INTERRUPTIBLE {
            let is_running = |activity: &&Activity| activity.iterating.get();
            let running = self.activities().filter(is_running).count();
            let mut recorder = self.worker.recorder().borrow_mut();
            recorder.interrupted(running as u64);
        }
        let members = self.members.drain(..);
        self.cut_off = members.map(|member| member.presence).collect();
    }

    /// Waits until the users that were cut off are gone, if the scenario counts: their end may be
    /// part of its tally.
    pub(super) async fn until_gone(&self) {
        while self.cut_off.iter().any(|user| user.strong_count() > 0) {
            let_others_run().await;
        }
    }
}

impl<H: Host, S> UserPool<H, S> {
    /// True if an exchange has not ended, or an arrival that is due was not sent.
    pub(super) fn has_unfinished(&self) -> bool {
        let mut is_busy = self.worker.pacer.first_untaken_ns().is_some();
        self.each_activity(|activity| is_busy |= activity.is_busy());
        is_busy
    }

    /// Returns the instant at which the youngest unfinished exchange was sent; `None` if an arrival
    /// has not been sent.
    pub(super) fn youngest_sent_ns(&self) -> Option<u64> {
        if self.worker.pacer.first_untaken_ns().is_some() {
            return None;
        }
        let mut youngest_ns = Some(0);
        self.each_activity(|activity| {
            let sent_ns = activity.youngest_sent_ns();
            youngest_ns = youngest_ns
                .zip(sent_ns)
                .map(|(known, sent)| known.max(sent));
        });
        youngest_ns
    }

    /// Returns the arrivals since the last call for which no request is due, of those before this
    /// instant.
    pub(super) fn take_not_due(&self, until_ns: u64) -> NotDue {
        let worker = &self.worker;
        let arrivals_ns = worker.zero_ns()..until_ns;
        worker.not_due.take(worker.measured_now_ns(), || {
            let mut pausing = 0;
            self.each_activity(|activity| pausing += pausing_arrivals(activity, &arrivals_ns));
            pausing
        })
    }

    /// Calls `show` with the activity of each user, extra ones included.
    pub(super) fn each_activity(&self, mut show: impl FnMut(&Activity)) {
        self.activities().for_each(&mut show);
        let extra = self.worker.extra_users.present();
        extra.iter().for_each(|user| show(user.activity()));
    }

    /// Returns the activity of each user of the load.
    fn activities(&self) -> impl Iterator<Item = &Activity> {
        self.members.iter().map(|member| &member.user.activity)
    }
}
