//! Requests with traces: each has its own, and the slowest are kept.

use super::plans::{MS, SECOND, URL, closed, get, open, time};
use super::ran::Ran;
use super::server::Reply;
use super::world::World;
use loadline_metrics::Key;
use loadline_plan::{Body, Client, Plan};
use std::collections::BTreeSet;
use std::num::NonZeroU32;

fn traced(plan: Plan) -> Plan {
    Plan {
        traceparent: NonZeroU32::new(1),
        ..plan
    }
}

/// Returns the trace of each received request.
fn traces(ran: &Ran) -> Vec<String> {
    let of = |text: &str| {
        let mut lines = text.lines();
        let line = lines.find_map(|line| line.strip_prefix("traceparent: "));
        line.expect("a trace").to_owned()
    };
    ran.seen.iter().map(|seen| of(&seen.text)).collect()
}

fn assert_all_differ(traces: &[String]) {
    let different: BTreeSet<&String> = traces.iter().collect();
    assert_eq!(different.len(), traces.len());
}

#[test]
fn the_slowest_requests_are_kept_with_the_traces_that_the_server_saw() {
    let mut plan = traced(open(100, 20, SECOND));
    (plan.duration, plan.request_limit) = (None, Some(100));
    plan.requests = ["a", "b"].map(|path| get(&format!("{URL}{path}"))).to_vec();
    let b = Key::new(&plan.requests[1].series_name()).expect("a name");
    // Of /a each is slower than the one before, and of /b all are fast.
    let ran = World::new(plan)
        .script(|seen| match seen.target.as_str() {
            "/a" => Reply::ok().after(seen.number as u64 * MS),
            _ => Reply::ok().after(MS),
        })
        .run();
    let seen = traces(&ran);
    assert_all_differ(&seen);
    let slowest = ran.total.traced.slowest();
    let slowest: Vec<String> = slowest.map(|(_, one)| one.trace.to_string()).collect();
    let of_a = (0..seen.len())
        .rev()
        .filter(|number| ran.seen[*number].target == "/a");
    let of_a: Vec<&String> = of_a.map(|number| &seen[number]).take(10).collect();
    assert_eq!(slowest.iter().collect::<Vec<_>>(), of_a);
    let of_b: Vec<_> = ran.total.traced.of(Some(&b)).collect();
    assert_eq!(of_b.len(), 1, "the slowest of its name");
    assert_eq!(of_b[0].status, Some(200));
}

#[test]
fn requests_of_a_pipeline_have_a_trace_each() {
    let mut plan = traced(closed(2, 50 * MS));
    plan.connection.pipeline = 4;
    plan.requests[0].method = "POST".to_owned();
    plan.requests[0].body = Body::Bytes(b"a body".to_vec().into());
    let ran = World::new(plan).serves_in(MS).run();
    assert!(ran.seen.len() > 20, "{}", ran.seen.len());
    assert_all_differ(&traces(&ran));
    assert!(ran.seen.iter().all(|seen| seen.text.contains("a body")));
    assert_eq!(ran.total.traced.slowest().count(), 10);
}

#[test]
fn users_that_follow_redirects_send_a_trace_with_each_request() {
    let mut plan = traced(closed(1, 50 * MS));
    plan.client = Client {
        follow_redirects: 3,
        ..Client::default()
    };
    let moved = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /there\r\n\r\n";
    let ran = World::new(plan)
        .script(move |seen| match seen.target.as_str() {
            "/there" => Reply::ok(),
            _ => Reply::raw(moved),
        })
        .run();
    assert!(ran.seen.iter().any(|seen| seen.target == "/there"));
    assert_all_differ(&traces(&ran));
}

#[test]
fn the_warm_up_is_in_no_list() {
    let mut plan = traced(open(100, 20, 100 * MS));
    plan.warmup = time(100 * MS);
    // The requests of the warm-up are the slow ones.
    let ran = World::new(plan)
        .script(|seen| Reply::ok().after(if seen.number < 5 { 50 * MS } else { MS }))
        .run();
    let times = ran.total.traced.slowest();
    let longest = times.map(|(_, one)| one.response_ns).max();
    assert!(longest < Some(50 * MS), "{longest:?}");
    assert!(ran.total.traced.slowest().count() > 5);
}

#[test]
fn the_same_seed_gives_the_same_traces() {
    let run = |seed| {
        let plan = Plan {
            seed,
            ..traced(closed(2, 20 * MS))
        };
        traces(&World::new(plan).serves_in(MS).run())
    };
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
}
