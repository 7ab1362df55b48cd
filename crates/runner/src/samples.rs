//! Plans for tests.

use loadline_plan::{Arrivals, Body, Load, Order, Plan, Request, Shape};
use std::time::Duration;

/// Returns a plan of one second at 20 requests per second to an address without a server.
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
        seed: 7,
        ..Plan::default()
    }
}
