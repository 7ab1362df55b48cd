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
    /// The starts that those had taken who were dismissed.
    pub(super) dismissed_ns: Vec<u64>,
}

struct Member {
    /// Runs as long as this lives.
    _task: Task,
    activity: Rc<Activity>,
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
            dismissed_ns: Vec::new(),
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
    pub(super) fn dismiss_idle(&mut self) {
        let is_idle = |member: &mut Member| !member.activity.iterating.get();
        let dismissed: Vec<Member> = self.members.extract_if(.., is_idle).collect();
        for member in &dismissed {
            let activity = &member.activity;
            self.dismissed_ns.extend(activity.since_ns.get());
            self.dismissed_ns.append(&mut activity.later.borrow_mut());
        }
        self.worker.users.set(self.members.len() as u32);
        // Those who rest are idle as well.
        self.worker.resting.set(0);
    }

    /// Ends all users where they are.
    pub(super) fn cut_off(&mut self) {
        self.members.clear();
    }
}

impl<H: Host, S> Crew<H, S> {
    /// Whether anything was begun or fell due that has not ended.
    pub(super) fn has_unfinished(&self) -> bool {
        let is_at_it = |activity: &Activity| activity.since_ns.get().is_some();
        self.worker.pacer.first_untaken_ns().is_some() || self.activities().any(is_at_it)
    }

    /// What each user is at.
    pub(super) fn activities(&self) -> impl Iterator<Item = &Activity> {
        self.members.iter().map(|member| &*member.activity)
    }
}
