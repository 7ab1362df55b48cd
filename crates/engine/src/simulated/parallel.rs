//! Several requests of a user at a time, each with its own connection, timeout and cancellation.

use super::plans::{MS, SECOND, closed, open, time};
use super::ran::Ran;
use super::server::Reply;
use super::world::World;
use crate::batch::{Batch, Part, Resend};
use crate::behaviour::{Behaviour, Scenario};
use crate::iteration::Iteration;
use crate::requester::Requester;
use loadline_metrics::SeriesId;
use loadline_plan::Plan;
use loadline_reactor::{Host, Sim};
use loadline_record::{ErrorKind, Outcome};
use loadline_wire::Expect;
use std::future::{Future, poll_fn};
use std::num::NonZeroU32;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

type Work = Pin<Box<dyn Future<Output = ()>>>;

/// Does the same work in each iteration.
#[derive(Clone)]
struct Worker(Rc<dyn Fn(Requester<Sim>) -> Work>);

impl Scenario<Sim> for Worker {
    type Behaviour = Worker;

    fn user(&mut self) -> Worker {
        self.clone()
    }
}

impl Behaviour<Sim> for Worker {
    fn times_iterations(&self) -> bool {
        true
    }

    async fn iterate(&mut self, iteration: Iteration<'_, Sim>) {
        (self.0)(iteration.requester().clone()).await;
    }
}

/// Runs a plan whose users do this work in each iteration.
pub(super) fn run<F: Future<Output = ()> + 'static>(
    world: World,
    work: impl Fn(Requester<Sim>) -> F + 'static,
) -> Ran {
    let work: Rc<dyn Fn(Requester<Sim>) -> Work> = Rc::new(move |requester| {
        let work: Work = Box::pin(work(requester));
        work
    });
    world.run_scenario(|_, _| Worker(Rc::clone(&work)))
}

/// Sends one request, with this timeout.
async fn send(requester: Requester<Sim>, timeout_ns: u64) -> Outcome {
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
    requester.send_within(timeout_ns, batch, &mut ()).await
}

/// Sends this many requests at a time and waits for all their responses.
async fn send_together(requester: Requester<Sim>, count: usize) {
    let one = |_| {
        let request = send(requester.clone(), 30 * SECOND);
        Box::pin(async {
            request.await;
        })
    };
    together((0..count).map(one).collect()).await;
}

/// Waits for all of these concurrently.
pub(super) async fn together<F: Future<Output = ()> + Unpin>(mut pending: Vec<F>) {
    poll_fn(|cx| {
        pending.retain_mut(|work| Pin::new(work).poll(cx).is_pending());
        if pending.is_empty() {
            return Poll::Ready(());
        }
        Poll::Pending
    })
    .await;
}

/// Sends a request, and cancels it after this time.
async fn send_for(requester: Requester<Sim>, patience_ns: u64) -> Option<Outcome> {
    let host = requester.0.worker.host().clone();
    let mut timer = host.timer();
    let until_ns = host.now_ns() + patience_ns;
    let mut request = Box::pin(send(requester, 30 * SECOND));
    let mut over = Box::pin(timer.until(until_ns));
    poll_fn(|cx| {
        if let Poll::Ready(outcome) = request.as_mut().poll(cx) {
            return Poll::Ready(Some(outcome));
        }
        over.as_mut().poll(cx).map(|()| None)
    })
    .await
}

#[test]
fn requests_at_a_time_have_a_connection_each_and_wait_for_the_slowest() {
    let world = World::new(closed(1, 35 * MS)).serves_in(8 * MS);
    let ran = run(world, |requester| send_together(requester, 3));
    // Two of the three connections are dialled in the first iteration.
    let starts = [0, 12, 22].map(|at| [at * MS; 3]).concat();
    assert_eq!(ran.each(|exchange| exchange.start_ns), starts);
    let dials = [0, 2, 2, 0, 0, 0, 0, 0, 0].map(|ms| ms * MS);
    assert_eq!(ran.each(|exchange| exchange.dial_ns), dials);
    assert_eq!(ran.each(|exchange| exchange.delay_ns()), [0; 9]);
    assert_eq!(ran.accepted, 3);
    let iterations = &ran.total.times.iteration;
    // 12 ms, as two requests dial, and twice 10 ms.
    assert_eq!((iterations.len(), iterations.max_ns() / MS), (3, 12));
    // The three that are in flight at the end are as old as the last iteration.
    assert_eq!(ran.counts(), [12, 12, 9, 0, 3]);
    assert_eq!(ran.unfinished.oldest_ns, 3 * MS);
}

#[test]
fn the_delay_of_an_iteration_is_that_of_its_first_request_alone() {
    let world = World::new(open(10, 1, 310 * MS)).serves_in(148 * MS);
    let ran = run(world, |requester| send_together(requester, 2));
    let mut delays = ran.each(|exchange| exchange.delay_ns() / MS);
    delays.sort_unstable();
    // The first iteration takes 152 ms, as its second request dials; the arrival at 100 ms waits
    // for it, and that at 200 ms for the following iteration.
    assert_eq!(delays, [0, 0, 0, 52]);
    // From the intended start: 152 ms, and the second began 52 ms late.
    let iterations = &ran.total.times.iteration;
    assert_eq!((iterations.len(), iterations.max_ns() / MS), (2, 202));
    // Four arrivals, and a further request of each of the three that were begun.
    assert_eq!(ran.counts(), [7, 6, 4, 0, 2]);
}

#[test]
fn a_request_that_is_given_up_is_recorded_as_aborted_once_and_its_connection_is_closed() {
    let world = World::new(closed(1, 18 * MS)).serves_in(100 * MS);
    let ran = run(world, async |requester| {
        assert_eq!(send_for(requester, 5 * MS).await, None);
    });
    assert_eq!(ran.errors(), [(ErrorKind::Aborted, 3)]);
    let times = |exchange: &loadline_record::Exchange| (exchange.start_ns, exchange.end_ns);
    let given_up = [(0, 5), (5, 10), (10, 15)].map(|(from, to)| (from * MS, to * MS));
    assert_eq!(ran.each(times), given_up);
    assert_eq!(ran.counts(), [4, 4, 0, 3, 1]);
    assert_eq!(ran.accepted, 4, "each has a connection of its own");
}

#[test]
fn a_request_that_is_answered_in_time_is_not_aborted() {
    let world = World::new(closed(1, 35 * MS)).serves_in(8 * MS);
    let ran = run(world, async |requester| {
        let answered = Outcome::Answered { status: 200 };
        assert_eq!(send_for(requester, 10 * MS).await, Some(answered));
    });
    assert_eq!(ran.counts(), [4, 4, 3, 0, 1]);
    assert_eq!(ran.accepted, 1);
}

#[test]
fn a_request_given_up_beside_another_leaves_that_one_alone() {
    let mut plan = closed(1, SECOND);
    plan.request_limit = Some(1);
    let world = World::new(plan).script(|seen| Reply::ok().after([8, 100][seen.number] * MS));
    let ran = run(world, async |requester| {
        let first: Work = Box::pin({
            let request = send(requester.clone(), SECOND);
            async {
                request.await;
            }
        });
        let second: Work = Box::pin({
            let request = send_for(requester, 5 * MS);
            async {
                request.await;
            }
        });
        together(vec![first, second]).await;
    });
    assert_eq!(ran.counts(), [2, 2, 1, 1, 0]);
    assert_eq!(ran.errors(), [(ErrorKind::Aborted, 1)]);
    assert_eq!(ran.each(|exchange| exchange.end_ns), [5 * MS, 10 * MS]);
}

#[test]
fn each_request_has_its_own_timeout() {
    let mut plan = closed(1, SECOND);
    plan.request_limit = Some(2);
    let world = World::new(plan).serves_in(8 * MS);
    let ran = run(world, async |requester| {
        let patience_ns = if requester.0.worker.iterations.get() == 1 {
            5 * MS
        } else {
            SECOND
        };
        send(requester, patience_ns).await;
    });
    assert_eq!(ran.errors(), [(ErrorKind::Timeout, 1)]);
    assert_eq!(
        ran.each(|exchange| exchange.service_ns()),
        [5 * MS, 12 * MS]
    );
}

#[test]
fn what_is_in_flight_at_a_time_ends_in_the_drain_and_nothing_is_begun_there() {
    // Two at a time begin at 0, 12, 22 and 32 ms, twice in each iteration.
    for (window_ms, sent) in [(25, 6), (35, 8)] {
        let mut plan = closed(1, window_ms * MS);
        plan.connection.drain = time(SECOND);
        let world = World::new(plan).serves_in(8 * MS);
        let ran = run(world, async |requester| {
            send_together(requester.clone(), 2).await;
            send_together(requester, 2).await;
        });
        assert_eq!(ran.counts(), [sent, sent, sent, 0, 0]);
    }
}

/// Creates a world whose users share this many connections.
fn sharing(plan: Plan, connections: u32) -> World {
    let mut plan = plan;
    plan.connection.shared = NonZeroU32::new(connections);
    World::new(plan).serves_in(8 * MS)
}

#[test]
fn users_that_share_connections_take_turns() {
    let ran = sharing(closed(4, 35 * MS), 2).run();
    let starts = [0, 0, 10, 10, 20, 20].map(|at| at * MS);
    assert_eq!(ran.each(|exchange| exchange.start_ns), starts);
    assert_eq!(ran.each(|exchange| exchange.response_ns()), [10 * MS; 6]);
    assert_eq!(ran.counts(), [8, 8, 6, 0, 2]);
    assert_eq!(ran.accepted, 2);
}

#[test]
fn an_arrival_that_waits_for_a_shared_connection_is_blocked() {
    let ran = sharing(open(200, 4, 23 * MS), 1).run();
    let blocked = ran.each(|exchange| exchange.blocked_ns() / MS);
    assert_eq!(blocked, [0, 5]);
    assert_eq!(ran.each(|exchange| exchange.lateness_ns()), [0; 2]);
    // Of the five arrivals the third is in flight, and the others wait for the one connection.
    assert_eq!(ran.counts(), [5, 3, 2, 0, 1]);
    assert_eq!(ran.causes()[2], 0, "nothing of that is our doing");
    assert_eq!(ran.accepted, 1);
}

#[test]
fn who_gives_up_waiting_for_a_shared_connection_has_sent_nothing() {
    let world = sharing(closed(1, SECOND), 1);
    let mut plan = world.plan.clone();
    plan.request_limit = Some(1);
    let ran = run(sharing(plan, 1), async |requester| {
        let first: Work = Box::pin({
            let request = send(requester.clone(), SECOND);
            async {
                request.await;
            }
        });
        let second: Work = Box::pin({
            let request = send_for(requester.clone(), 5 * MS);
            async {
                assert_eq!(request.await, None);
            }
        });
        together(vec![first, second]).await;
        send(requester, SECOND).await;
    });
    assert_eq!(ran.each(|exchange| exchange.start_ns), [0, 10 * MS]);
    assert_eq!(ran.counts(), [2, 2, 2, 0, 0]);
}
