//! Plans for a simulated world, and the units of their times.

use loadline_plan::{Arrivals, Body, Load, Plan, Rate, Request, Shape, Stage};
use std::time::Duration;

pub(crate) const US: u64 = 1_000;
pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000_000_000;

/// The URL of the simulated server.
pub(crate) const URL: &str = "http://10.0.0.1:80/";

pub(crate) fn time(ns: u64) -> Duration {
    Duration::from_nanos(ns)
}

pub(crate) fn get(url: &str) -> Request {
    Request {
        method: "GET".to_owned(),
        url: url.parse().unwrap(),
        headers: Vec::new(),
        body: Body::None,
        weight: 1,
        name: None,
    }
}

/// Returns a closed load of one worker that lasts `duration_ns`.
pub(crate) fn closed(connections: u32, duration_ns: u64) -> Plan {
    shaped(Shape::Closed, connections, duration_ns)
}

/// Returns an open load of one worker with even arrivals that lasts `duration_ns`.
pub(crate) fn open(per_second: u64, connections: u32, duration_ns: u64) -> Plan {
    let shape = Shape::Rate {
        rate: Rate::each_second(per_second),
        arrivals: Arrivals::Constant,
    };
    shaped(shape, connections, duration_ns)
}

pub(crate) fn shaped(shape: Shape, connections: u32, duration_ns: u64) -> Plan {
    Plan {
        requests: vec![get(URL)],
        load: Load {
            users: connections,
            max_users: connections,
            shape,
        },
        duration: Some(time(duration_ns)),
        ..Plan::default()
    }
}

/// Returns a load with stages of `(duration, target)`, which end it.
pub(crate) fn staged(shape: Shape, connections: u32) -> Plan {
    Plan {
        duration: None,
        ..shaped(shape, connections, SECOND)
    }
}

pub(crate) fn stages<T>(stages: impl IntoIterator<Item = (u64, T)>) -> Vec<Stage<T>> {
    let stage = |(duration_ns, target)| Stage {
        duration: time(duration_ns),
        target,
    };
    stages.into_iter().map(stage).collect()
}
