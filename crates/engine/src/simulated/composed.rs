//! Requests composed during a run, and hosts whose names occur first in them.

use super::at_once::request_all;
use super::parallel::run;
use super::plans::{MS, SECOND, URL, closed};
use super::ran::Ran;
use super::world::World;
use crate::at_once::AtOnce;
use crate::composed::{ComposeError, Composed};
use crate::requester::Requester;
use crate::{Blocked, Observer};
use loadline_metrics::SeriesId;
use loadline_plan::{HostRule, IpRange, Naming, Selection};
use loadline_reactor::Sim;
use loadline_record::{ErrorKind, Outcome};
use loadline_wire::Sink;
use std::cell::RefCell;
use std::future::Future;
use std::net::Ipv4Addr;
use std::rc::Rc;
use url::Url;

fn url(text: &str) -> Url {
    text.parse().expect("a URL")
}

async fn get(requester: &Requester<Sim>, text: &str) -> Result<Outcome, ComposeError> {
    let url = url(text);
    let request = Composed {
        method: "GET",
        url: &url,
        headers: &[],
        body: None,
        series: SeriesId::default(),
        timeout: None,
        resend: crate::Resend::default(),
    };
    requester.request(request, &mut ()).await
}

fn once() -> World {
    let mut plan = closed(1, SECOND);
    plan.request_limit = Some(1);
    World::new(plan).serves_in(8 * MS)
}

/// Returns the received targets, in order.
fn targets(ran: &Ran) -> Vec<&str> {
    ran.seen.iter().map(|seen| seen.target.as_str()).collect()
}

#[test]
fn a_composed_request_goes_out_as_a_written_one_does() {
    let ran = run(once(), async |requester| {
        let url = url("http://10.0.0.1/a?b=c");
        let request = Composed {
            method: "POST",
            url: &url,
            headers: &[("Content-Type", "text/plain")],
            body: Some(b"hello"),
            series: SeriesId::default(),
            timeout: None,
            resend: crate::Resend::default(),
        };
        let outcome = requester.request(request, &mut ()).await;
        assert_eq!(outcome, Ok(Outcome::Answered { status: 200 }));
    });
    assert_eq!(targets(&ran), ["/a?b=c"]);
    assert_eq!(ran.counts(), [1, 1, 1, 0, 0]);
    let text = "POST /a?b=c HTTP/1.1\r\nHost: 10.0.0.1\r\nContent-Type: text/plain\r\n\
                Content-Length: 5\r\n\r\nhello";
    let bytes = ran.each(|exchange| exchange.bytes_out);
    assert_eq!(bytes, [text.len() as u64]);
    assert_eq!(ran.accepted, 1, "it took the connection dialled ahead");
}

#[test]
fn a_name_is_resolved_once_however_many_ask_for_it() {
    let world = once().at(0, |hands| {
        let address = Ipv4Addr::new(10, 0, 0, 1).into();
        hands.sim.set_name("shop.test", &[address], 5 * MS);
    });
    let ran = run(world, async |requester| {
        get(&requester, URL).await.expect("a good request");
        let both = [0, 1].map(|_| {
            let requester = requester.clone();
            Box::pin(async move {
                get(&requester, "http://shop.test/")
                    .await
                    .expect("a good request");
            })
        });
        super::parallel::together(both.into()).await;
        get(&requester, "http://shop.test/")
            .await
            .expect("a good request");
    });
    let resolved = ran.each(|exchange| exchange.resolve_ns / MS);
    assert_eq!(resolved, [0, 5, 5, 0]);
    let parts = ran.each(|exchange| (exchange.dial_ns / MS, exchange.connect_ns() / MS));
    assert_eq!(parts, [(0, 0), (7, 2), (7, 2), (0, 0)]);
    assert_eq!(ran.counts(), [4, 4, 4, 0, 0]);
}

#[test]
fn a_name_without_an_address_is_a_failure_of_the_exchange_and_is_asked_for_again() {
    let world = once().at(0, |hands| {
        hands.sim.set_name("gone.test", &[], 3 * MS);
    });
    let ran = run(world, async |requester| {
        for _ in 0..2 {
            let outcome = get(&requester, "http://gone.test/").await;
            assert_eq!(outcome, Ok(Outcome::Failed(ErrorKind::Resolve)));
        }
    });
    assert_eq!(ran.errors(), [(ErrorKind::Resolve, 2)]);
    let example = &ran.total.errors[&ErrorKind::Resolve].example;
    assert!(example.contains("`gone.test`"), "{example}");
    assert_eq!(ran.each(|exchange| exchange.service_ns() / MS), [3, 3]);
    assert_eq!(ran.each(|exchange| exchange.bytes_out), [0, 0]);
}

#[test]
fn a_resolver_that_says_nothing_costs_the_time_of_a_request() {
    let world = once().at(0, |hands| {
        hands.sim.set_name("slow.test", &[], 100 * SECOND);
    });
    let ran = run(world, async |requester| {
        let url = url("http://slow.test/");
        let request = Composed {
            method: "GET",
            url: &url,
            headers: &[],
            body: None,
            series: SeriesId::default(),
            timeout: Some(super::plans::time(20 * MS)),
            resend: crate::Resend::default(),
        };
        let outcome = requester.request(request, &mut ()).await;
        assert_eq!(outcome, Ok(Outcome::Failed(ErrorKind::Resolve)));
    });
    assert_eq!(ran.each(|exchange| exchange.service_ns()), [20 * MS]);
}

#[test]
fn what_can_not_be_written_is_not_sent_and_not_recorded() {
    let errors: Rc<RefCell<Vec<String>>> = Rc::default();
    let failure_texts = Rc::clone(&errors);
    let ran = run(once(), move |requester| {
        let failure_texts = Rc::clone(&failure_texts);
        async move {
            let error = get(&requester, "ftp://10.0.0.1/")
                .await
                .expect_err("no HTTP");
            failure_texts.borrow_mut().push(error.to_string());
            let url = url(URL);
            let request = Composed {
                method: "GET",
                url: &url,
                headers: &[("a b", "c")],
                body: None,
                series: SeriesId::default(),
                timeout: None,
                resend: crate::Resend::default(),
            };
            let error = requester.request(request, &mut ()).await;
            failure_texts
                .borrow_mut()
                .push(error.expect_err("no name").to_string());
            get(&requester, URL).await.expect("a good request");
        }
    });
    let errors = errors.take();
    assert_eq!(
        errors[0],
        "the scheme `ftp` is not supported: use http or https"
    );
    assert!(errors[1].contains("a b"), "{errors:?}");
    assert_eq!(ran.counts(), [1, 1, 1, 0, 0]);
}

/// Requests these URLs at once within bounds; returns the outcome of each, in their order.
async fn get_all(
    requester: &Requester<Sim>,
    urls: &[&str],
    bounds: AtOnce,
) -> Vec<Result<Outcome, ComposeError>> {
    let urls: Vec<Url> = urls.iter().map(|text| url(text)).collect();
    let mut observers = vec![(); urls.len()];
    let requests = urls.iter().zip(&mut observers).map(|(url, observer)| {
        let request = Composed {
            method: "GET",
            url,
            headers: &[],
            body: None,
            series: SeriesId::default(),
            timeout: None,
            resend: crate::Resend::default(),
        };
        (request, observer)
    });
    request_all(requester, requests.collect(), bounds).await
}

/// Returns the arrival of each target, from the first of them on, in milliseconds.
fn arrivals_ms(ran: &Ran) -> Vec<(&str, u64)> {
    let first_ns = ran.seen.iter().map(|seen| seen.at_ns).min().unwrap_or(0);
    let arrival = |seen: &'_ crate::simulated::server::Seen| (seen.at_ns - first_ns) / MS;
    let mut arrivals: Vec<_> = ran
        .seen
        .iter()
        .map(|seen| (&*seen.target, arrival(seen)))
        .collect();
    arrivals.sort_by_key(|(target, at_ms)| (*at_ms, *target));
    arrivals
}

#[test]
fn at_once_are_as_many_as_the_bounds_allow_and_the_others_follow() {
    const BOUNDS: AtOnce = AtOnce {
        most: 3,
        per_host: 2,
    };
    let mut world = once();
    world.doors = 2;
    let ran = run(world, async |requester| {
        let urls = [
            "http://10.0.0.1/a",
            "http://10.0.0.1/b",
            "http://10.0.0.1/c",
            "http://10.0.0.1:8001/d",
            "http://10.0.0.1:8001/e",
        ];
        let ended = get_all(&requester, &urls, BOUNDS).await;
        assert_eq!(ended, vec![Ok(Outcome::Answered { status: 200 }); 5]);
    });
    assert_eq!(ran.counts(), [5, 5, 5, 0, 0]);
    let arrivals = arrivals_ms(&ran);
    // A connection is dialled in 2 ms and a request takes 10: c waits for its host, e for room.
    let first: Vec<&str> = arrivals[..3].iter().map(|(target, _)| *target).collect();
    assert_eq!(first, ["/a", "/b", "/d"]);
    assert!(
        arrivals[..3].iter().all(|(_, at_ms)| *at_ms <= 2),
        "{arrivals:?}"
    );
    let later: Vec<&str> = arrivals[3..].iter().map(|(target, _)| *target).collect();
    assert_eq!(later, ["/c", "/e"]);
    assert!(
        arrivals[3..]
            .iter()
            .all(|(_, at_ms)| (10..=14).contains(at_ms)),
        "{arrivals:?}"
    );
}

#[test]
fn one_that_can_not_be_sent_leaves_the_others_alone() {
    let ran = run(once(), async |requester| {
        let urls = ["ftp://10.0.0.1/a", "http://10.0.0.1/b"];
        let ended = get_all(&requester, &urls, AtOnce::default()).await;
        assert_eq!(ended[0], Err(ComposeError::Scheme("ftp".to_owned())));
        assert_eq!(ended[1], Ok(Outcome::Answered { status: 200 }));
    });
    assert_eq!(targets(&ran), ["/b"]);
}

#[test]
fn what_is_given_up_is_cancelled_and_what_waited_is_never_sent() {
    const BOUNDS: AtOnce = AtOnce {
        most: 2,
        per_host: 2,
    };
    let mut world = once();
    world.plan.request_limit = None;
    world.plan.duration = Some(super::plans::time(50 * MS));
    let ran = run(world.serves_in(20 * MS), async |requester| {
        let urls = [
            "http://10.0.0.1/a",
            "http://10.0.0.1/b",
            "http://10.0.0.1/c",
        ];
        let mut all = Box::pin(get_all(&requester, &urls, BOUNDS));
        // Poll once, so that both are in progress.
        std::future::poll_fn(|cx| {
            assert!(all.as_mut().poll(cx).is_pending());
            std::task::Poll::Ready(())
        })
        .await;
        drop(all);
        get(&requester, "http://10.0.0.1/z")
            .await
            .expect("a good request");
    });
    let cancelled = ran.errors();
    assert!(
        matches!(cancelled[..], [(ErrorKind::Aborted, count)] if count >= 2),
        "{cancelled:?}"
    );
    assert!(ran.seen.iter().all(|seen| seen.target != "/c"));
}

#[test]
fn a_plan_without_requests_runs_what_its_users_compose() {
    let mut world = once().at(0, |hands| {
        hands
            .sim
            .set_name("shop.test", &[Ipv4Addr::new(10, 0, 0, 1).into()], 0);
    });
    world.plan.requests.clear();
    let ran = run(world, async |requester| {
        let outcome = get(&requester, "http://shop.test/").await;
        assert_eq!(outcome, Ok(Outcome::Failed(ErrorKind::Connect)));
    });
    assert_eq!(ran.counts(), [1, 1, 0, 1, 0]);
    assert_eq!(ran.accepted, 0, "nothing is dialled before the run");
}

/// The observed texts of an exchange that fails.
#[derive(Default)]
struct FailureTexts(Vec<String>);

impl Sink for FailureTexts {
    const NEEDS_HEAD: bool = false;
    const NEEDS_BODY: bool = false;
}

impl Observer for FailureTexts {
    fn blocked(&mut self, by: &Blocked) {
        let what = match by {
            Blocked::Host { host, pattern } => format!("{host} by {pattern}"),
            Blocked::Address { address, range } => format!("{address} by {range}"),
        };
        self.0.push(what);
    }

    fn failed(&mut self, reason: &str, _os_error: Option<i32>) {
        self.0.push(reason.to_owned());
    }
}

/// Requests a URL, and returns the observed texts of its failure.
async fn failure_texts(requester: &Requester<Sim>, text: &str) -> Vec<String> {
    let (url, mut failure_texts) = (url(text), FailureTexts::default());
    let request = Composed {
        method: "GET",
        url: &url,
        headers: &[],
        body: None,
        series: SeriesId::default(),
        timeout: None,
        resend: crate::Resend::default(),
    };
    let sent = requester.request(request, &mut failure_texts).await;
    assert_eq!(sent, Ok(Outcome::Failed(ErrorKind::Resolve)), "{text}");
    failure_texts.0
}

fn naming(world: &mut World, naming: Naming) {
    world.plan.connection.naming = Some(Box::new(naming));
}

#[test]
fn hosts_and_addresses_that_are_blocked_fail_with_a_reason_of_their_own() {
    let mut world = once();
    let at = Ipv4Addr::new(10, 9, 0, 1);
    world = world.at(0, move |hands| {
        hands.sim.set_name("far.test", &[at.into()], 3 * MS);
    });
    let rules = Naming {
        blocked_hosts: vec!["*.bl.test".to_owned()],
        blocked_ranges: vec![IpRange::parse("10.9.0.0/16").expect("a range")],
        ..Naming::default()
    };
    naming(&mut world, rules);
    let ran = run(world, async |requester| {
        let host = failure_texts(&requester, "http://a.bl.test/").await;
        let text = "the host `a.bl.test` is blocked by the pattern `*.bl.test`";
        assert_eq!(host, ["a.bl.test by *.bl.test", text]);
        for (url, address) in [
            ("http://far.test/", "10.9.0.1"),
            ("http://10.9.0.2/", "10.9.0.2"),
        ] {
            let text = format!("the address {address} is in the blocked range 10.9.0.0/16");
            let what = format!("{address} by 10.9.0.0/16");
            assert_eq!(failure_texts(&requester, url).await, [what, text]);
        }
    });
    assert_eq!(ran.errors(), [(ErrorKind::Resolve, 3)]);
    assert_eq!(ran.each(|exchange| exchange.bytes_out), [0, 0, 0]);
}

#[test]
fn a_host_whose_address_is_given_is_not_looked_up() {
    let mut world = once();
    world.doors = 2;
    let rule = |pattern: &str, port, to_port| HostRule {
        pattern: pattern.to_owned(),
        port,
        to: Ipv4Addr::new(10, 0, 0, 1).into(),
        to_port,
    };
    let rules = Naming {
        hosts: vec![rule("*.shop.test", Some(99), Some(8_001))],
        ..Naming::default()
    };
    naming(&mut world, rules);
    let ran = run(world, async |requester| {
        let outcome = get(&requester, "http://a.shop.test:99/x").await;
        assert_eq!(outcome, Ok(Outcome::Answered { status: 200 }));
        // The rule is for another port.
        let outcome = get(&requester, "http://a.shop.test/y").await;
        assert_eq!(outcome, Ok(Outcome::Failed(ErrorKind::Resolve)));
    });
    assert_eq!(targets(&ran), ["/x"]);
    assert_eq!(ran.seen[0].door, 1);
}

#[test]
fn a_name_is_asked_for_again_when_its_time_is_over() {
    let ttl_ms = 15;
    let address = Ipv4Addr::new(10, 0, 0, 1).into();
    let mut world = once().at(0, move |hands| {
        hands.sim.set_name("shop.test", &[address], 5 * MS);
    });
    world.plan.connection.keepalive = false;
    let rules = Naming {
        ttl: Some(super::plans::time(ttl_ms * MS)),
        ..Naming::default()
    };
    naming(&mut world, rules);
    let ran = run(world, async |requester| {
        for _ in 0..3 {
            let outcome = get(&requester, "http://shop.test/").await;
            assert_eq!(outcome, Ok(Outcome::Answered { status: 200 }));
        }
    });
    // A request takes 12 ms after the look-up: the second one begins while the look-up is valid.
    let resolved = ran.each(|exchange| exchange.resolve_ns / MS);
    assert_eq!(resolved, [5, 0, 5]);
}

/// Returns the doors, of three, on which twelve connections to a name with three addresses arrive.
fn doors(selection: Selection) -> Vec<usize> {
    let mut world = once();
    world.plan.connection.keepalive = false;
    world.plan.requests[0].url = url("http://10.0.0.1/");
    for last in [2, 3] {
        let mut other = world.plan.requests[0].clone();
        other.url = url(&format!("http://10.0.0.{last}/"));
        world.plan.requests.push(other);
    }
    let world = world.at(0, |hands| {
        let addresses = [1, 2, 3].map(|last| Ipv4Addr::new(10, 0, 0, last).into());
        hands.sim.set_name("shop.test", &addresses, 0);
    });
    let mut world = world;
    let rules = Naming {
        selection,
        ..Naming::default()
    };
    naming(&mut world, rules);
    let ran = run(world, async |requester| {
        for _ in 0..12 {
            let outcome = get(&requester, "http://shop.test/").await;
            assert_eq!(outcome, Ok(Outcome::Answered { status: 200 }));
        }
    });
    ran.seen.iter().map(|seen| seen.door).collect()
}

#[test]
fn a_connection_goes_to_the_address_that_the_selection_takes() {
    assert_eq!(doors(Selection::First), [0; 12]);
    assert_eq!(doors(Selection::RoundRobin), [0, 1, 2].repeat(4));
    let random = doors(Selection::Random);
    assert!((0..3).all(|door| random.contains(&door)), "{random:?}");
    assert_ne!(random, doors(Selection::RoundRobin));
}
