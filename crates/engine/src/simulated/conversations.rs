//! A protocol that is no request with one response, which knows nothing of the engine but its
//! [`Conversation`]: a client subscribes to lines, and the server sends them until it says `bye`.

use super::parallel::run;
use super::plans::{MS, SECOND, URL, closed};
use super::ran::Ran;
use super::server::{Reply, Seen};
use super::world::{LATENCY, World};
use crate::batch::Resend;
use crate::exchange::{Conversation, Ending, Interruption, Opening, Protocol};
use crate::observer::{ExchangeEvent, Observer};
use crate::requester::Requester;
use loadline_metrics::SeriesId;
use loadline_reactor::{Host, Sim};
use loadline_record::{ErrorKind, Exchange, Outcome};
use loadline_wire::Sink;
use std::cell::RefCell;
use std::rc::Rc;

const SUBSCRIPTION: &[u8] = b"SUBSCRIBE /lines LINES/1\r\n\r\n";

/// The protocol.
struct Lines;

impl<H: Host> Protocol<H> for Lines {
    async fn talk<O: Observer>(
        &mut self,
        conversation: &mut Conversation<'_, H, O>,
    ) -> Result<Ending, Interruption> {
        conversation.send(SUBSCRIPTION).await?;
        conversation.event("subscribed", b"");
        let mut unread = Vec::new();
        loop {
            if conversation.receive(&mut unread).await? == 0 {
                return Err(conversation.cut_off());
            }
            while let Some(end) = unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = unread.drain(..=end).collect();
                match &line[..end] {
                    b"bye" => {
                        return Ok(Ending {
                            status: 200,
                            keeps_connection: unread.is_empty(),
                        });
                    }
                    b"?" => return Err(Interruption::protocol("`?` is no line")),
                    line => conversation.event("line", line),
                }
            }
        }
    }
}

/// The events of a conversation, and the exchanges that ended.
#[derive(Clone, Default)]
struct RecordedEvents {
    events: Rc<RefCell<Vec<(String, String, u64)>>>,
    ended: Rc<RefCell<Vec<Exchange>>>,
    reasons: Rc<RefCell<Vec<String>>>,
}

impl Sink for RecordedEvents {
    const NEEDS_HEAD: bool = false;
    const NEEDS_BODY: bool = false;
}

impl Observer for RecordedEvents {
    fn event(&mut self, event: &ExchangeEvent<'_>) {
        let text = String::from_utf8_lossy(event.bytes).into_owned();
        let mut events = self.events.borrow_mut();
        events.push((event.name.to_owned(), text, event.at_ns));
    }

    fn failed(&mut self, reason: &str, _: Option<i32>) {
        self.reasons.borrow_mut().push(reason.to_owned());
    }

    fn ended(&mut self, exchange: &Exchange) {
        self.ended.borrow_mut().push(*exchange);
    }
}

/// Subscribes once.
async fn subscribe(requester: &Requester<Sim>, heard: &RecordedEvents) -> Outcome {
    let opening = Opening {
        endpoint: requester.endpoint_of(&URL.parse().expect("a URL")),
        series: SeriesId::default(),
        request: None,
        resend: Resend::default(),
    };
    let mut heard = heard.clone();
    requester.converse(opening, &mut Lines, &mut heard).await
}

/// Subscribes so many times, one after the other, to what a server sends.
fn subscribed(times: usize, script: impl Fn(&Seen) -> Reply + 'static) -> (Ran, RecordedEvents) {
    let mut plan = closed(1, 2 * SECOND);
    plan.request_limit = Some(1);
    plan.connection.timeout = super::plans::time(500 * MS);
    let heard = RecordedEvents::default();
    let own = heard.clone();
    let ran = run(World::new(plan).script(script), move |requester| {
        let own = own.clone();
        async move {
            for _ in 0..times {
                subscribe(&requester, &own).await;
            }
        }
    });
    (ran, heard)
}

#[test]
fn an_exchange_has_any_number_of_events() {
    let lines = "one\ntwo\nten\nbye\n";
    let (ran, heard) = subscribed(1, move |_| Reply::raw(lines).drip(4, 10 * MS));
    assert_eq!(ran.counts(), [1, 1, 1, 0, 0]);
    let exchange = heard.ended.borrow()[0];
    let events = heard.events.take();
    let named: Vec<(&str, &str, u64)> = events
        .iter()
        .map(|(name, text, at_ns)| (&**name, &**text, at_ns - exchange.start_ns))
        .collect();
    let after = |nth: u64| 2 * LATENCY + nth * 10 * MS;
    let expected = [
        ("subscribed", "", 0),
        ("line", "one", after(0)),
        ("line", "two", after(1)),
        ("line", "ten", after(2)),
    ];
    assert_eq!(named, expected);
    assert_eq!(exchange.outcome, Outcome::Answered { status: 200 });
    assert_eq!(
        exchange.service_ns(),
        after(3),
        "it ends with its last bytes"
    );
    assert_eq!(exchange.first_byte_ns - exchange.start_ns, after(0));
    let bytes = (exchange.bytes_out, exchange.bytes_in);
    assert_eq!(bytes, (SUBSCRIPTION.len() as u64, lines.len() as u64));
    assert_eq!(ran.total.counts.bytes_in, lines.len() as u64);
    assert_eq!(ran.total.statuses[&200], 1);
}

#[test]
fn its_connection_is_one_of_the_pool() {
    let (ran, heard) = subscribed(3, |_| Reply::raw("one\nbye\n"));
    assert_eq!(ran.counts(), [3, 3, 3, 0, 0]);
    assert_eq!(
        ran.accepted, 1,
        "each takes the connection of the one before"
    );
    assert_eq!(heard.ended.borrow().len(), 3);
    // Bytes after the end leave nothing to build on.
    let (ran, _) = subscribed(2, |_| Reply::raw("bye\nmore"));
    assert_eq!((ran.counts(), ran.accepted), ([2, 2, 2, 0, 0], 2));
}

#[test]
fn what_goes_wrong_is_a_failure_of_the_exchange() {
    for (reply, kind, reason) in [
        (
            Reply::raw("one\n").close(),
            ErrorKind::Read,
            "closed the connection before the exchange was over",
        ),
        (
            Reply::raw("one\n?\n"),
            ErrorKind::Protocol,
            "`?` is no line",
        ),
        (
            Reply::raw("one\n"),
            ErrorKind::Timeout,
            "no complete response within the timeout",
        ),
    ] {
        let (ran, heard) = subscribed(1, move |_| reply.clone());
        assert_eq!(ran.counts(), [1, 1, 0, 1, 0], "{kind:?}");
        assert_eq!(ran.errors(), [(kind, 1)]);
        let reasons = heard.reasons.borrow();
        assert!(reasons[0].contains(reason), "{reasons:?}");
        let events = heard.events.borrow();
        assert_eq!(events.len(), 2, "what came before is not lost: {events:?}");
    }
}

#[test]
fn it_begins_again_where_the_server_had_read_nothing() {
    // The server leaves after its first conversation, before the next subscription reaches it.
    let script = |seen: &Seen| match seen.number {
        0 => Reply::raw("bye\n").close(),
        _ => Reply::raw("two\nbye\n"),
    };
    let (ran, heard) = subscribed(2, script);
    assert_eq!(ran.counts(), [2, 2, 2, 0, 0]);
    assert_eq!((ran.seen.len(), ran.accepted), (2, 2));
    assert_eq!(ran.total.counts.reconnects, 1);
    let lines = heard.events.borrow();
    let lines = lines.iter().filter(|(name, ..)| name == "line");
    assert_eq!(lines.count(), 1);
}
