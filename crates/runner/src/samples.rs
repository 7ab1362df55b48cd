//! Plans and searches for tests.

use loadline_capacity::Settings;
use loadline_plan::{Arrivals, Body, Load, Order, Plan, Request, Shape};
use loadline_record::Searched;
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

/// Returns the settings of a search for a rate.
pub(crate) fn searched() -> Searched {
    let settings = Settings {
        lowest: 1.0,
        highest: 1e6,
        first: 10.0,
        whole: false,
        users_keep_pace: false,
        checks: 0,
        samples: 100.0,
        trial_s: 2.0,
        overhead_s: 1.0,
        recovery_s: 10.0,
        warm_up_s: 2.0,
        spent_s: 0.0,
        width: 0.05,
        trials: 5,
        budget_s: 120.0,
        floor_per_s: None,
    };
    Searched {
        users: false,
        settings,
        errors_added: false,
        plan: plan(),
    }
}
