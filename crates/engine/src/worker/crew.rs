//! The users of a worker: hired when the load wants them, dismissed when it ends.

use super::Worker;
use super::ready::Ahead;
use crate::behaviour::Scenario;
use crate::user::{Activity, User};
use loadline_reactor::{Host, Task};
use loadline_schedule::Stripe;
use std::collections::VecDeque;
use std::rc::Rc;

/// The users of a worker.
pub(super) struct Crew<H: Host, S> {
    pub(super) worker: Rc<Worker<H>>,
    scenario: S,
    pub(super) stripe: Stripe,
    connections: VecDeque<Ahead<H>>,
    members: Vec<Member>,
    hired: u32,
    /// The earliest start that was due when those who had taken it were dismissed.
    dismissed_ns: Option<u64>,
}

struct Member {
    /// Runs as long as this lives.
    _task: Task,
    activity: Rc<Activity>,
}

impl Member {
    fn since_ns(&self) -> Option<u64> {
        self.activity.since_ns.get()
    }
}

impl<H: Host, S: Scenario<H>> Crew<H, S> {
    /// Nobody yet, and connections for the first to be hired.
    pub(super) fn new(
        worker: Rc<Worker<H>>,
        scenario: S,
        stripe: Stripe,
        connections: VecDeque<Ahead<H>>,
    ) -> Self {
        Crew {
            worker,
            scenario,
            stripe,
            connections,
            members: Vec::new(),
            hired: 0,
            dismissed_ns: None,
        }
    }

    /// Adds a user, with one of the connections dialled ahead if one is left.
    pub(super) fn hire(&mut self) {
        let worker = Rc::clone(&self.worker);
        let activity = Rc::new(Activity::default());
        let mut user = User::new(Rc::clone(&worker), Rc::clone(&activity));
        if let Some(Ahead { endpoint, live, .. }) = self.connections.pop_front() {
            user.slot(endpoint).live = Some(live);
        }
        let number = self.stripe.index + self.hired * self.stripe.of;
        let windows = worker.pacer.windows(number);
        let mut behaviour = self.scenario.user();
        worker.users.set(worker.users.get() + 1);
        self.hired += 1;
        let task = self.worker.host.spawn(async move {
            user.live(&mut behaviour, windows).await;
            worker.user_ended();
        });
        self.members.push(Member {
            _task: task,
            activity,
        });
    }

    /// Adds a user if an arrival finds none free.
    pub(super) fn hire_if_short(&mut self, now_ns: u64) {
        let shortage_ns = self.worker.next_shortage_ns();
        if shortage_ns.is_some_and(|at_ns| at_ns <= now_ns) {
            self.hire();
        }
    }

    /// Lets go of those who wait for a start that will not come.
    pub(super) fn dismiss_idle(&mut self, now_ns: u64) {
        let is_idle = |member: &mut Member| !member.activity.iterating.get();
        let dismissed: Vec<Member> = self.members.extract_if(.., is_idle).collect();
        let since = dismissed.iter().filter_map(Member::since_ns).min();
        self.dismissed_ns = since.filter(|at_ns| *at_ns <= now_ns);
        self.worker.users.set(self.members.len() as u32);
    }

    /// Ends all users where they are.
    pub(super) fn cut_off(&mut self) {
        self.members.clear();
    }

    /// The earliest start of the measured part that has no end, of those before `now_ns`; one that
    /// nobody has taken must have been due when the run was stopped.
    pub(super) fn oldest_ns(&self, now_ns: u64, stopped_ns: Option<u64>) -> Option<u64> {
        let worker = &self.worker;
        let taken = self.members.iter().filter_map(Member::since_ns);
        let untaken = worker.pacer.first_unsent_ns();
        let untaken = untaken.map(|at_ns| worker.begin_ns.get().saturating_add(at_ns));
        taken
            .chain(self.dismissed_ns)
            .chain(untaken.filter(|at_ns| stopped_ns.is_none_or(|stopped_ns| *at_ns <= stopped_ns)))
            .filter(|at_ns| (worker.zero_ns.get()..now_ns).contains(at_ns))
            .min()
    }
}
