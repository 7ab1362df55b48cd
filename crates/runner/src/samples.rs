//! Plans for tests.

use loadline_plan::{Arrivals, Body, Client, Connection, Load, Order, Plan, Request, Shape};
use std::time::Duration;

/// A plan of one second at 20 requests a second to an address where nobody is.
pub(crate) fn plan() -> Plan {
    Plan {
        requests: vec![Request {
            method: "GET".to_owned(),
            url: "http://127.0.0.1:1/".parse().expect("a URL"),
            headers: Vec::new(),
            body: Body::None,
            weight: 1,
            name: None,
        }],
        script: None,
        think: None,
        client: Client::default(),
        order: Order::Sequential,
        load: Load {
            users: 1,
            max_users: 1,
            shape: Shape::Rate {
                rate: "20".parse().expect("a rate"),
                arrivals: Arrivals::Constant,
            },
        },
        threads: 1,
        processes: 1,
        duration: Some(Duration::from_secs(1)),
        request_limit: None,
        warmup: Duration::ZERO,
        settle: false,
        until: None,
        max_series: loadline_plan::DEFAULT_MAX_SERIES,
        seed: 7,
        connection: Connection::default(),
        checks: Vec::new(),
        abort_on: Vec::new(),
        scenarios: Vec::new(),
        part: None,
    }
}
