//! Arrivals that are dropped because no user is free, and iterations that are interrupted.

use super::plans::{MS, SECOND, open, shaped, stages, time};
use super::ran::Ran;
use super::world::World;
use crate::behaviour::{Behaviour, Scenario};
use crate::iteration::Iteration;
use loadline_plan::{LateArrivals, Part, Plan, Shape};
use loadline_reactor::Host;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// An iteration of a user: the user's number, and the begin and end of the iteration, `None` if it
/// did not end.
pub(super) type Pass = (u32, u64, Option<u64>);

/// Users that wait in each iteration, send nothing, and record their iterations.
#[derive(Clone, Default)]
pub(super) struct Waiting {
    pause_ns: u64,
    pub(super) passes: Rc<RefCell<Vec<Pass>>>,
    pub(super) dropped: Rc<Cell<u64>>,
}

impl Waiting {
    pub(super) fn new(pause_ns: u64) -> Self {
        Waiting {
            pause_ns,
            ..Waiting::default()
        }
    }
}

impl<H: Host> Scenario<H> for Waiting {
    type Behaviour = Waiting;

    fn user(&mut self) -> Waiting {
        self.clone()
    }

    fn dropped(&mut self, count: u64, _grows: bool) {
        self.dropped.set(self.dropped.get() + count);
    }
}

impl<H: Host> Behaviour<H> for Waiting {
    const IS_INTERRUPTIBLE: bool = true;

    async fn iterate(&mut self, iteration: Iteration<'_, H>) {
        let load_ns = || iteration.now_ns() - iteration.load_began_ns();
        let own = self.passes.borrow().len();
        let pass = (iteration.user_number(), load_ns(), None);
        self.passes.borrow_mut().push(pass);
        iteration.pause(self.pause_ns).await;
        self.passes.borrow_mut()[own].2 = Some(load_ns());
    }
}

/// Returns the same plan as one of a scenario in a run.
fn part(plan: Plan, part: Part) -> Plan {
    let name = "main".to_owned();
    Plan {
        part: Some(Box::new(Part { name, ..part })),
        ..plan
    }
}

/// Runs users that send nothing, so that the invariants of requests are not checked.
fn run(plan: Plan, users: &Waiting) -> Ran {
    World::new(plan).run_sending_nothing(users.clone())
}

/// Returns the same plan with arrivals dropped that find no user free.
pub(super) fn dropping(plan: Plan) -> Plan {
    let late_arrivals = LateArrivals::Drop;
    part(
        plan,
        Part {
            late_arrivals,
            ..Part::default()
        },
    )
}

#[test]
fn an_arrival_that_finds_no_user_free_is_dropped() {
    let users = Waiting::new(25 * MS);
    let ran = run(dropping(open(100, 1, 100 * MS)), &users);
    let begun: Vec<u64> = users.passes.borrow().iter().map(|pass| pass.1).collect();
    assert_eq!(begun, [0, 30 * MS, 60 * MS, 90 * MS]);
    assert_eq!(ran.total.counts.dropped, 6);
    assert_eq!(users.dropped.get(), 6);
    // Three iterations have ended without a request, and the last one pauses until the end.
    assert_eq!(ran.total.counts.planned, 6);
}

#[test]
fn a_drop_adds_a_user_up_to_the_most_there_may_be() {
    let users = Waiting::new(35 * MS);
    let mut plan = dropping(open(100, 1, 120 * MS));
    plan.load.max_users = 3;
    let ran = run(plan, &users);
    let begun: Vec<(u32, u64)> = users.passes.borrow().iter().map(|p| (p.0, p.1)).collect();
    let expected = [
        (0, 0),
        (1, 20 * MS),
        (2, 40 * MS),
        (0, 50 * MS),
        (1, 60 * MS),
        (2, 80 * MS),
        (0, 90 * MS),
        (1, 100 * MS),
    ];
    assert_eq!(begun, expected);
    assert_eq!(ran.total.counts.dropped, 4);
}

#[test]
fn arrivals_wait_for_a_user_unless_they_are_to_be_dropped() {
    let users = Waiting::new(25 * MS);
    let ran = run(open(100, 1, 100 * MS), &users);
    let begun: Vec<u64> = users.passes.borrow().iter().map(|pass| pass.1).collect();
    assert_eq!(begun, [0, 25 * MS, 50 * MS, 75 * MS]);
    assert_eq!(ran.total.counts.dropped, 0);
}

/// Returns a plan for two users, of whom one leaves after 100 ms and returns after 300 ms.
fn ramped(graceful_ns: Option<u64>) -> Plan {
    let shape = Shape::ClosedStages {
        start: 2,
        stages: stages([(100 * MS, 2), (0, 1), (200 * MS, 1), (0, 2), (100 * MS, 2)]),
    };
    let plan = shaped(shape, 2, SECOND);
    let plan = Plan {
        duration: None,
        ..plan
    };
    part(
        plan,
        Part {
            graceful_ramp_down: graceful_ns.map(time),
            graceful_stop: time(SECOND),
            ..Part::default()
        },
    )
}

/// Returns the iterations of the second user.
fn second(users: &Waiting) -> Vec<(u64, Option<u64>)> {
    let passes = users.passes.borrow();
    let own = passes.iter().filter(|pass| pass.0 == 1);
    own.map(|pass| (pass.1 / MS, pass.2.map(|ns| ns / MS)))
        .collect()
}

#[test]
fn a_user_that_goes_has_a_while_to_finish_its_iteration_and_comes_back() {
    let users = Waiting::new(80 * MS);
    let ran = run(ramped(Some(70 * MS)), &users);
    let expected = [
        (0, Some(80)),
        (80, Some(160)),
        (300, Some(380)),
        (380, Some(460)),
    ];
    assert_eq!(second(&users), expected);
    assert_eq!(ran.total.counts.interrupted, 0);
}

#[test]
fn an_iteration_that_goes_on_behind_that_is_interrupted() {
    let users = Waiting::new(80 * MS);
    let ran = run(ramped(Some(20 * MS)), &users);
    let expected = [
        (0, Some(80)),
        (80, None),
        (300, Some(380)),
        (380, Some(460)),
    ];
    assert_eq!(second(&users), expected);
    assert_eq!(ran.total.counts.interrupted, 1);
}

#[test]
fn without_a_graceful_ramp_down_an_iteration_is_left_alone() {
    let users = Waiting::new(250 * MS);
    let ran = run(ramped(None), &users);
    assert_eq!(second(&users), [(0, Some(250)), (300, Some(550))]);
    assert_eq!(ran.total.counts.interrupted, 0);
}

#[test]
fn the_end_of_the_run_interrupts_what_has_no_time_left() {
    let users = Waiting::new(80 * MS);
    let ran = run(
        part(shaped(Shape::Closed, 3, 100 * MS), Part::default()),
        &users,
    );
    assert_eq!(users.passes.borrow().len(), 6);
    assert_eq!(ran.total.counts.interrupted, 3);
    assert_eq!(ran.total.end_ns, 100 * MS);
}
