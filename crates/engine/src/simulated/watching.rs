//! The calls that an observer receives in addition to the exchanges.

use super::plans::{MS, SECOND, closed};
use super::server::Reply;
use super::world::World;
use crate::batch::{Batch, Part, Resend};
use crate::behaviour::{Behaviour, Scenario};
use crate::iteration::Iteration;
use crate::observer::{Answer, Observer};
use loadline_metrics::SeriesId;
use loadline_reactor::Host;
use loadline_record::{ErrorKind, Exchange, Outcome};
use loadline_wire::{Expect, Sink};
use std::cell::RefCell;
use std::rc::Rc;

const REQUEST: &[u8] = b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n";

/// The observed calls, a line each.
type Seen = Rc<RefCell<Vec<String>>>;

/// Sends the same bytes again and again, and records the calls.
#[derive(Clone)]
struct Watcher(Seen);

impl<H: Host> Scenario<H> for Watcher {
    type Behaviour = Watcher;

    fn user(&mut self) -> Watcher {
        self.clone()
    }
}

impl<H: Host> Behaviour<H> for Watcher {
    async fn iterate(&mut self, iteration: Iteration<'_, H>) {
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
        iteration.requester().send(batch, self).await;
    }
}

impl Sink for Watcher {
    const NEEDS_HEAD: bool = true;
    const NEEDS_BODY: bool = false;

    fn head(&mut self, bytes: &[u8]) {
        let head = String::from_utf8_lossy(bytes);
        let first = head.lines().next().unwrap_or_default();
        assert!(head.ends_with("\r\n\r\n"), "{head}");
        self.0.borrow_mut().push(first.to_owned());
    }
}

impl Observer for Watcher {
    fn answered(&mut self, answer: &Answer) {
        let Answer {
            body_bytes,
            keeps_connection,
            ..
        } = answer;
        let text = format!("{body_bytes} bytes, goes on: {keeps_connection}");
        self.0.borrow_mut().push(text);
    }

    fn failed(&mut self, reason: &str, os_error: Option<i32>) {
        self.0.borrow_mut().push(format!("{reason}, {os_error:?}"));
    }

    fn ended(&mut self, exchange: &Exchange) {
        let text = match exchange.outcome {
            Outcome::Answered { status } => format!("ended with {status}"),
            Outcome::Failed(kind) => format!("ended by {}", kind.name()),
        };
        self.0.borrow_mut().push(text);
    }
}

fn watched(world: World) -> Vec<String> {
    let seen = Seen::default();
    world.run_scenario(|_, _| Watcher(Rc::clone(&seen)));
    seen.take()
}

#[test]
fn an_observer_sees_head_length_and_whether_the_connection_goes_on() {
    let mut plan = closed(1, SECOND);
    plan.request_limit = Some(1);
    let seen = watched(World::new(plan).script(|_| Reply::ok()));
    assert_eq!(seen.len(), 3, "{seen:?}");
    assert!(seen[0].starts_with("HTTP/1.1 200"));
    assert!(seen[1].ends_with(" bytes, goes on: true"), "{seen:?}");
    assert_eq!(seen[2], "ended with 200");
}

#[test]
fn an_observer_sees_why_an_exchange_failed() {
    let mut plan = closed(1, SECOND);
    plan.request_limit = Some(1);
    plan.connection.timeout = super::plans::time(10 * MS);
    let seen = watched(World::new(plan).serves_in(100 * MS));
    let kind = ErrorKind::Timeout.name();
    let expected = [
        "no complete response within the timeout, None".to_owned(),
        format!("ended by {kind}"),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn without_dialling_ahead_the_first_exchange_dials() {
    let mut plan = closed(1, SECOND);
    plan.request_limit = Some(3);
    plan.connection.ahead = false;
    let ran = World::new(plan).run();
    let dials = ran.each(|exchange| exchange.dial_ns);
    assert_eq!(dials, [2 * MS, 0, 0]);
}
