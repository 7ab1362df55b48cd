//! Actions of a behaviour in addition to sending: wait, take its time, end its worker.

use super::plans::{MS, SECOND, closed, open, time};
use super::server::{Reply, Seen};
use super::world::World;
use crate::EndReason;
use crate::batch::{Batch, Part, Resend};
use crate::behaviour::{Behaviour, Scenario};
use crate::iteration::Iteration;
use loadline_metrics::SeriesId;
use loadline_plan::Plan;
use loadline_reactor::Host;
use loadline_wire::Expect;
use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/// Waits before each request, sends none in every `idle_each` iteration, and ends its worker with
/// the `last` one.
#[derive(Clone)]
struct Steps {
    pause_ns: u64,
    /// The length of a pause that begins before each request and ends with it at the latest.
    guard_ns: u64,
    idle_each: u32,
    begun: Rc<Cell<u32>>,
    last: u32,
    sent: Rc<Cell<u32>>,
    address: Option<SocketAddr>,
}

impl Steps {
    fn new() -> Self {
        Steps {
            pause_ns: 0,
            guard_ns: 0,
            idle_each: u32::MAX,
            begun: Rc::default(),
            last: u32::MAX,
            sent: Rc::default(),
            address: None,
        }
    }
}

impl<H: Host> Scenario<H> for Steps {
    type Behaviour = Steps;

    fn user(&mut self) -> Steps {
        self.clone()
    }

    fn address(&self) -> Option<SocketAddr> {
        self.address
    }
}

impl<H: Host> Behaviour<H> for Steps {
    async fn iterate(&mut self, iteration: Iteration<'_, H>) {
        if self.pause_ns > 0 {
            iteration.pause(self.pause_ns).await;
        }
        self.begun.set(self.begun.get() + 1);
        if self.begun.get().is_multiple_of(self.idle_each) {
            return;
        }
        self.sent.set(self.sent.get() + 1);
        if self.sent.get() == self.last {
            iteration.end_worker();
        }
        let part = Part {
            end: REQUEST.len(),
            expect: Expect::Other,
            series: SeriesId::default(),
            request: None,
        };
        let batch = Batch {
            endpoint: 0,
            bytes: REQUEST,
            tail: &[],
            http2: None,
            parts: &[part],
            resend: Resend::default(),
        };
        let mut guard = pin!(iteration.pause(self.guard_ns));
        if self.guard_ns > 0 {
            poll_fn(|cx| Poll::Ready(guard.as_mut().poll(cx).is_pending())).await;
        }
        iteration.requester().send(batch, &mut ()).await;
    }
}

#[test]
fn a_wait_before_a_request_is_in_no_time_of_a_closed_load() {
    let steps = Steps {
        pause_ns: 30 * MS,
        ..Steps::new()
    };
    let world = World::new(closed(1, 100 * MS)).serves_in(8 * MS);
    let ran = world.run_scenario(|_, _| steps.clone());
    assert_eq!(ran.each(|exchange| exchange.start_ns), [30 * MS, 70 * MS]);
    assert_eq!(ran.each(|exchange| exchange.response_ns()), [10 * MS; 2]);
    assert_eq!(ran.each(|exchange| exchange.delay_ns()), [0; 2]);
}

#[test]
fn a_wait_before_a_request_is_in_no_time_of_an_open_load() {
    let steps = Steps {
        pause_ns: 30 * MS,
        ..Steps::new()
    };
    let world = World::new(open(10, 1, 250 * MS)).serves_in(8 * MS);
    let ran = world.run_scenario(|_, _| steps.clone());
    let intended = ran.each(|exchange| exchange.intended_ns / MS);
    assert_eq!(intended, [30, 130, 230]);
    assert_eq!(ran.each(|exchange| exchange.response_ns()), [10 * MS; 3]);
    assert_eq!(ran.each(|exchange| exchange.delay_ns()), [0; 3]);
}

#[test]
fn arrivals_wait_for_users_that_pause() {
    let steps = Steps {
        pause_ns: 150 * MS,
        ..Steps::new()
    };
    let mut plan = open(10, 1, 250 * MS);
    plan.connection.drain = time(SECOND);
    let world = World::new(plan).serves_in(8 * MS);
    let ran = world.run_scenario(|_, _| steps.clone());
    // The user is free for the second arrival after 160 ms, and for the third after 320 ms.
    let blocked = ran.each(|exchange| exchange.blocked_ns() / MS);
    assert_eq!(blocked, [0, 60, 120]);
    assert_eq!(ran.each(|exchange| exchange.lateness_ns()), [0; 3]);
    assert_eq!(ran.each(|exchange| exchange.service_ns()), [10 * MS; 3]);
}

#[test]
fn a_stall_in_a_pause_is_lateness() {
    let steps = Steps {
        pause_ns: 30 * MS,
        ..Steps::new()
    };
    let world = World::new(open(10, 1, 250 * MS)).serves_in(8 * MS);
    let ran = world
        .at(120 * MS, |hands| hands.sim.stall(50 * MS))
        .run_scenario(|_, _| steps.clone());
    assert_eq!(ran.each(|exchange| exchange.lateness_ns() / MS), [0, 40, 0]);
    assert_eq!(ran.each(|exchange| exchange.blocked_ns()), [0; 3]);
}

#[test]
fn an_arrival_of_the_warm_up_whose_pause_ends_after_it_is_not_measured() {
    let steps = Steps {
        pause_ns: 30 * MS,
        ..Steps::new()
    };
    let mut plan = open(10, 2, 250 * MS);
    plan.warmup = time(10 * MS);
    let ran = World::new(plan)
        .serves_in(8 * MS)
        .run_scenario(|_, _| steps.clone());
    assert_eq!(ran.counts(), [3, 3, 3, 0, 0]);
    assert_eq!(ran.each(|exchange| exchange.response_ns()), [10 * MS; 3]);
}

#[test]
fn no_request_is_due_for_an_arrival_whose_pause_has_not_ended() {
    let steps = Steps {
        pause_ns: 150 * MS,
        ..Steps::new()
    };
    for drain_ns in [0, 50 * MS] {
        let mut plan = open(10, 3, 250 * MS);
        plan.connection.drain = time(drain_ns);
        let ran = World::new(plan)
            .serves_in(8 * MS)
            .run_scenario(|_, _| steps.clone());
        // The first is sent at 150 ms, the second at 250 ms, as the load ends.
        let sent = 1 + u64::from(drain_ns > 0);
        assert_eq!(ran.counts(), [sent, sent, sent, 0, 0]);
        assert_eq!(ran.left(), [0; 3]);
    }
}

#[test]
fn a_request_falls_due_when_its_pause_ends() {
    let steps = Steps {
        pause_ns: 150 * MS,
        ..Steps::new()
    };
    let mut plan = open(10, 4, 400 * MS);
    plan.connection.drain = time(SECOND);
    let mut world = World::new(plan).serves_in(8 * MS);
    world.interval_ns = 100 * MS;
    let ran = world.run_scenario(|_, _| steps.clone());
    let planned = ran.intervals.iter().map(|interval| interval.counts.planned);
    assert_eq!(planned.collect::<Vec<_>>(), [0, 1, 1, 1, 1]);
}

#[test]
fn no_request_is_due_for_an_iteration_that_sends_none() {
    for pause_ns in [0, 30 * MS] {
        let steps = Steps {
            idle_each: 3,
            pause_ns,
            ..Steps::new()
        };
        // Of the iterations after the 20 of the warm-up, these are the 21st, the 24th, … the 48th.
        let mut plan = open(100, 4, 300 * MS);
        plan.warmup = time(200 * MS);
        plan.threads = 2;
        plan.connection.drain = time(SECOND);
        let ran = World::new(plan)
            .serves_in(8 * MS)
            .run_scenario(|_, _| steps.clone());
        assert_eq!(ran.counts(), [20, 20, 20, 0, 0]);
        assert_eq!(ran.left(), [0; 3]);
    }
}

#[test]
fn arrivals_that_wait_for_users_who_pause_wait_because_of_the_plan() {
    let steps = |pause_ns| Steps {
        pause_ns,
        ..Steps::new()
    };
    let causes = |pause_ns| {
        let world = World::new(open(10, 1, SECOND)).serves_in(8 * MS);
        let ran = world.run_scenario(|_, _| steps(pause_ns));
        ran.causes().map(|unsent| unsent > 0)
    };
    assert_eq!(causes(0), [false; 3]);
    // Two of ten are sent, or none.
    assert_eq!(causes(400 * MS), [false, true, false]);
    assert_eq!(causes(2 * SECOND), [false, true, false]);
}

#[test]
fn arrivals_wait_because_of_the_target_where_a_pause_lasts_beside_the_request() {
    let steps = Steps {
        guard_ns: 10 * SECOND,
        ..Steps::new()
    };
    let slow_after_ten = |seen: &Seen| match seen.number {
        ..10 => Reply::ok().after(8 * MS),
        _ => Reply::ok().after(400 * MS),
    };
    let mut world = World::new(open(50, 1, SECOND)).script(slow_after_ten);
    world.interval_ns = 100 * MS;
    let ran = world.run_scenario(|_, _| steps.clone());
    assert!(ran.unfinished.unsent > 20, "{:?}", ran.unfinished);
    assert_eq!(ran.causes(), [ran.unfinished.unsent, 0, 0]);
}

#[test]
fn a_user_that_ends_its_worker_ends_the_run_once_all_workers_have_ended() {
    let plan = Plan {
        threads: 2,
        ..closed(4, SECOND)
    };
    let world = World::new(plan).serves_in(8 * MS);
    // Each worker has two users; the first one's third request is the fifth of the worker.
    let ran = world.run_scenario(|_, _| Steps {
        last: 5,
        ..Steps::new()
    });
    assert_eq!(ran.counts(), [10, 10, 10, 0, 0]);
    assert_eq!(
        (ran.total.end_ns, ran.reason),
        (30 * MS, EndReason::Duration)
    );
}

#[test]
fn a_worker_that_has_ended_leaves_the_others_alone() {
    let plan = Plan {
        threads: 2,
        ..closed(2, 100 * MS)
    };
    let world = World::new(plan).serves_in(8 * MS);
    let ran = world.run_scenario(|_, stripe| Steps {
        last: [2, u32::MAX][stripe.index as usize],
        ..Steps::new()
    });
    assert_eq!(ran.logs.iter().map(Vec::len).collect::<Vec<_>>(), [2, 10]);
    assert_eq!(ran.total.end_ns, 100 * MS);
}

#[test]
fn arrivals_that_an_ended_worker_would_have_taken_are_unsent_because_it_ended() {
    let plan = Plan {
        threads: 2,
        ..open(100, 2, 100 * MS)
    };
    let world = World::new(plan);
    let ran = world.run_scenario(|_, stripe| Steps {
        last: [2, u32::MAX][stripe.index as usize],
        ..Steps::new()
    });
    // The first worker's arrivals are the even ones, of which it takes two.
    assert_eq!(ran.counts(), [10, 7, 7, 0, 0]);
    assert_eq!((ran.unfinished.unsent, ran.unfinished.by_stop), (3, 3));
    assert_eq!(ran.causes(), [0; 3]);
}

#[test]
fn a_scenario_may_say_where_its_worker_connects_to() {
    let plan = Plan {
        threads: 2,
        request_limit: Some(20),
        ..closed(2, SECOND)
    };
    let mut world = World::new(plan);
    world.doors = 3;
    let ran = world.run_scenario(|prepared, stripe| {
        let addresses = &prepared.endpoints[0].addresses;
        let place = [2, 1][stripe.index as usize];
        Steps {
            address: Some(addresses[place].to_string().parse().unwrap()),
            ..Steps::new()
        }
    });
    let mut doors: Vec<usize> = ran.seen.iter().map(|seen| seen.door).collect();
    doors.sort_unstable();
    doors.dedup();
    assert_eq!(doors, [1, 2]);
}
