use super::*;
use crate::samples;

const SECOND_NS: u64 = 1_000_000_000;

fn per_second(count: u64) -> Rate {
    Rate {
        count,
        per_ns: SECOND_NS,
    }
}

fn stage<T>(seconds: u64, target: T) -> Stage<T> {
    Stage {
        duration: Duration::from_secs(seconds),
        target,
    }
}

fn words(shape: Shape) -> String {
    let mut plan = samples::closed_plan(50, 2);
    plan.load.shape = shape;
    load(&plan)
}

#[test]
fn every_shape_has_its_words() {
    let constant = Arrivals::Constant;
    let shapes = [
        Shape::Closed,
        Shape::ClosedStages {
            start: 1,
            stages: vec![stage(10, 1_000), stage(60, 1_000), stage(0, 5)],
        },
        Shape::Rate {
            rate: per_second(2_000),
            arrivals: constant,
        },
        Shape::Rate {
            rate: Rate {
                count: 1,
                per_ns: 5 * SECOND_NS,
            },
            arrivals: Arrivals::Poisson,
        },
        Shape::RateStages {
            start: per_second(0),
            stages: vec![stage(10, per_second(100)), stage(60, per_second(100))],
            arrivals: constant,
        },
        Shape::Burst {
            size: 20,
            every: Duration::from_millis(500),
        },
    ];
    insta::assert_snapshot!(shapes.map(words).join("\n"));
}

#[test]
fn what_is_out_of_the_ordinary_is_said() {
    let mut plan = samples::open_plan(2_000, 50);
    plan.load.max_users = 1_000;
    plan.threads = 1;
    plan.duration = None;
    plan.request_limit = Some(10_000);
    plan.warmup = Duration::from_secs(2);
    plan.connection.keepalive = false;
    plan.connection.pipeline = 16;
    assert_eq!(
        load(&plan),
        "open loop: 2 000/s constant, 50 to 1 000 connections, 1 thread, 10 000 requests, after \
         2 s of warm-up, a new connection for every request, pipelined by 16"
    );
}

#[test]
fn several_processes_are_told_with_their_threads() {
    let mut plan = samples::closed_plan(50, 2);
    (plan.threads, plan.processes) = (4, 2);
    assert!(load(&plan).contains("4 threads in 2 processes"));
}

#[test]
fn one_request_is_named_and_many_are_counted() {
    let mut plan = samples::closed_plan(1, 1);
    assert_eq!(target(&plan), "GET http://127.0.0.1:8080/");
    plan.requests
        .push(samples::request("POST", "http://127.0.0.1:8080/login"));
    assert_eq!(
        target(&plan),
        "2 requests (GET, POST) to http://127.0.0.1:8080: /, /login"
    );
    plan.requests
        .push(samples::request("GET", "https://localhost/"));
    assert_eq!(
        target(&plan),
        "3 requests (GET, POST) to http://127.0.0.1:8080 and https://localhost: /, /login, /"
    );
    let mut many = plan.clone();
    for host in [
        "http://c.example/",
        "http://d.example/",
        "http://e.example/",
    ] {
        many.requests.push(samples::request("GET", host));
    }
    assert!(
        target(&many).contains(
            " to http://127.0.0.1:8080, http://c.example, http://d.example and 2 more: /"
        ),
        "{}",
        target(&many)
    );
    plan.requests
        .push(samples::request("GET", "https://localhost/last"));
    assert!(target(&plan).ends_with(": /, /login, /, …"));
    plan.connection.unix_socket = Some("/run/app.sock".into());
    plan.requests.truncate(1);
    assert_eq!(
        target(&plan),
        "GET http://127.0.0.1:8080/ through the Unix socket /run/app.sock"
    );
    plan.connection.unix_socket = None;
    plan.script = Some(loadline_plan::Script {
        path: "login.lua".into(),
        args: Vec::new(),
        crc32: None,
        names_urls: false,
    });
    assert_eq!(target(&plan), "script login.lua at http://127.0.0.1:8080/");
}

#[test]
fn users_that_share_connections_are_called_so() {
    let mut plan = samples::closed_plan(50, 1);
    plan.connection.shared = std::num::NonZeroU32::new(4);
    assert!(
        load(&plan).starts_with("closed loop: 50 users on 4 shared connections"),
        "{}",
        load(&plan)
    );
}

#[test]
fn users_of_scripts_that_open_their_connections_are_called_so() {
    let mut plan = samples::closed_plan(50, 2);
    plan.script = Some(loadline_plan::Script {
        path: "locustfile.py".into(),
        args: Vec::new(),
        crc32: None,
        names_urls: false,
    });
    assert!(load(&plan).starts_with("closed loop: 50 connections,"));
    plan.connection.ahead = false;
    assert!(load(&plan).starts_with("closed loop: 50 users,"));
    assert!(target(&plan).starts_with("script locustfile.py at http://"));
}

#[test]
fn names_are_counted_where_requests_have_some() {
    let mut plan = samples::closed_plan(1, 1);
    plan.requests = ["/a", "/b", "/c"]
        .map(|path| samples::request("GET", &format!("http://h{path}")))
        .to_vec();
    assert_eq!(target(&plan), "3 requests (GET) to http://h: /a, /b, /c");
    for request in &mut plan.requests[..2] {
        request.name = Some("read".to_owned());
    }
    assert_eq!(
        target(&plan),
        "3 requests, 2 names (GET) to http://h: /a, /b, /c"
    );
}
