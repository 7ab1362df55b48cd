//! Invariants under any mix of faults: nothing is lost, nothing is counted twice, every response
//! belongs to its request, and the same seed gives the same run.

use super::mix::{answer_with, any_world};
use super::plans::{SECOND, time};
use super::ran::Ran;
use super::server::Reply;
use crate::batch::{Batch, Part, Resend};
use crate::behaviour::{Behaviour, Scenario};
use crate::iteration::Iteration;
use crate::observer::Observer;
use loadline_metrics::SeriesId;
use loadline_plan::Plan;
use loadline_reactor::Host;
use loadline_record::{Exchange, Outcome};
use loadline_wire::{Expect, Sink};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

const SEEDS: u64 = 200;

/// Requests with a unique number, which their responses must contain too.
#[derive(Clone, Default)]
pub(super) struct Numbered {
    next: Rc<Cell<u64>>,
    pub(super) ended: Rc<RefCell<HashMap<u64, Outcome>>>,
    depth: u32,
    resend: Resend,
}

impl Numbered {
    pub(super) fn of(plan: &Plan) -> Self {
        Numbered {
            depth: plan.connection.pipeline,
            ..Numbered::default()
        }
    }

    pub(super) fn resent_if(self, resend: Resend) -> Self {
        Numbered { resend, ..self }
    }
}

impl<H: Host> Scenario<H> for Numbered {
    type Behaviour = Numbered;

    fn user(&mut self) -> Numbered {
        self.clone()
    }
}

impl<H: Host> Behaviour<H> for Numbered {
    fn depth(&self) -> u32 {
        self.depth
    }

    async fn iterate(&mut self, iteration: Iteration<'_, H>) {
        let count = iteration.starts_left() as u64;
        let first = self.next.replace(self.next.get() + count);
        let (mut bytes, mut parts) = (Vec::new(), Vec::new());
        for number in first..first + count {
            bytes.extend(format!("GET /{number} HTTP/1.1\r\nHost: a\r\n\r\n").bytes());
            parts.push(Part {
                end: bytes.len(),
                expect: Expect::Other,
                series: SeriesId::default(),
                request: None,
            });
        }
        let batch = Batch {
            endpoint: 0,
            bytes: &bytes,
            tail: &[],
            http2: None,
            parts: &parts,
            resend: self.resend,
        };
        let mut reader = Reader {
            number: first,
            body: Vec::new(),
            ended: Rc::clone(&self.ended),
        };
        iteration.requester().send(batch, &mut reader).await;
    }
}

/// Reads the responses of a batch.
struct Reader {
    number: u64,
    body: Vec<u8>,
    ended: Rc<RefCell<HashMap<u64, Outcome>>>,
}

impl Sink for Reader {
    const NEEDS_HEAD: bool = false;
    const NEEDS_BODY: bool = true;

    fn body(&mut self, part: &[u8]) {
        self.body.extend_from_slice(part);
    }
}

impl Observer for Reader {
    fn ended(&mut self, exchange: &Exchange) {
        if exchange.outcome == (Outcome::Answered { status: 200 }) {
            assert_eq!(self.body, format!("{:06}", self.number).as_bytes());
        }
        let before = self
            .ended
            .borrow_mut()
            .insert(self.number, exchange.outcome);
        assert_eq!(before, None, "an exchange ends once");
        self.number += 1;
        self.body.clear();
    }
}

fn run(seed: u64) -> (Ran, Plan, HashMap<u64, Outcome>) {
    let world = any_world(seed);
    let plan = world.plan.clone();
    let numbered = Numbered::of(&plan);
    let ran = world.run_scenario(|_, _| numbered.clone());
    let ended = numbered.ended.take();
    (ran, plan, ended)
}

/// Compares the requests that the server received with our record.
fn assert_agreed(ran: &Ran, plan: &Plan, ended: &HashMap<u64, Outcome>) {
    let mut times_seen: HashMap<u64, u64> = HashMap::new();
    for seen in &ran.seen {
        *times_seen
            .entry(seen.target[1..].parse().unwrap())
            .or_default() += 1;
    }
    for (number, outcome) in ended {
        let answered = matches!(outcome, Outcome::Answered { .. });
        assert!(
            !answered || times_seen.contains_key(number),
            "an answer without a request"
        );
    }
    if !plan.warmup.is_zero() {
        return;
    }
    // Every whole request that the server received was sent, for the first time or again.
    let counts = &ran.total.counts;
    assert!(ran.seen.len() as u64 <= counts.sent + counts.resent);
    assert!(times_seen.len() as u64 <= counts.sent);
    // A server that announces a close and continues to read violates the protocol.
    if plan.connection.pipeline == 1 {
        assert!(
            times_seen.values().all(|times| *times == 1),
            "nothing is read twice"
        );
    }
    assert_eq!(ended.len() as u64, counts.answered + counts.failed);
    // A connection that is dialled when the run ends may have been accepted, and is not counted
    // yet.
    assert!(ran.accepted as u64 <= counts.connections + counts.in_flight);
}

#[test]
fn nothing_is_lost_or_counted_twice_under_any_faults() {
    let mut sum = [0; 5];
    for seed in 0..SEEDS {
        let (ran, plan, ended) = run(seed);
        assert_agreed(&ran, &plan, &ended);
        let open = plan.load.shape.is_open();
        let limit = plan.request_limit.unwrap_or(u64::MAX);
        assert!(ran.total.counts.sent <= limit, "seed {seed}");
        assert!(open || ran.unfinished.unsent == 0, "seed {seed}");
        sum = std::array::from_fn(|index| sum[index] + ran.counts()[index]);
    }
    // The mix is varied: most requests are answered, many fail, some are cut off.
    let [_, sent, answered, failed, in_flight] = sum;
    assert!(
        answered > sent / 3 && failed > sent / 20 && in_flight > 100,
        "{sum:?}"
    );
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in (0..SEEDS).step_by(4) {
        let (first, ..) = run(seed);
        let (second, ..) = run(seed);
        assert_eq!(first, second, "seed {seed}");
    }
}

#[test]
fn a_run_without_faults_has_no_failures_however_it_is_cut_up() {
    for seed in 0..40 {
        let mut world = any_world(seed).without_incidents();
        world.plan.connection.timeout = time(100 * SECOND);
        world.plan.connection.connect_timeout = time(SECOND);
        world.idle_ns = None;
        let numbered = Numbered::of(&world.plan);
        let world = world.script(|seen| {
            let number = seen.target[1..].parse().unwrap();
            Reply::raw(answer_with(number))
        });
        let ran = world.run_scenario(|_, _| numbered.clone());
        assert_eq!(
            (ran.total.counts.failed, ran.total.counts.reconnects),
            (0, 0)
        );
        assert_eq!(ran.total.times.lateness.max_ns(), 0, "seed {seed}");
    }
}
