//! The order of requests: weights, sequences, random draws.

use super::plans::{SECOND, closed, get};
use super::ran::Ran;
use super::server::Reply;
use super::world::World;
use loadline_plan::{Order, Plan, Request};

const WEIGHTS: [u32; 3] = [1, 2, 3];

fn weighted(order: Order, limit: u64, threads: u32, seed: u64) -> Plan {
    let request = |(index, weight): (usize, u32)| Request {
        weight,
        name: None,
        ..get(&format!("http://10.0.0.1/{index}"))
    };
    Plan {
        requests: WEIGHTS.into_iter().enumerate().map(request).collect(),
        order,
        threads,
        seed,
        request_limit: Some(limit),
        ..closed(4, 100 * SECOND)
    }
}

fn counts(ran: &Ran) -> [u64; 3] {
    [0, 1, 2].map(|index| {
        let target = format!("/{index}");
        ran.seen.iter().filter(|seen| seen.target == target).count() as u64
    })
}

#[test]
fn a_sequence_repeats_a_request_as_its_weight_says() {
    let mut plan = weighted(Order::Sequential, 14, 1, 1);
    plan.load.users = 1;
    let ran = World::new(plan).run();
    let targets: String = ran.seen.iter().map(|seen| &seen.target[1..]).collect();
    assert_eq!(targets, "01122201122201");
}

#[test]
fn a_sequence_is_dealt_out_exactly() {
    for threads in 1..=3 {
        let ran = World::new(weighted(Order::Sequential, 36, threads, 1)).run();
        assert_eq!(counts(&ran), [6, 12, 18]);
    }
    let ran = World::new(weighted(Order::Sequential, 60, 2, 1)).run();
    assert_eq!(counts(&ran), [10, 20, 30]);
}

#[test]
fn workers_begin_at_different_places_of_a_sequence() {
    let plan = Plan {
        request_limit: Some(2),
        ..weighted(Order::Sequential, 2, 2, 1)
    };
    let mut targets: Vec<_> = World::new(plan).run().seen;
    targets.sort_by_key(|seen| seen.target.clone());
    let targets: Vec<&str> = targets.iter().map(|seen| &*seen.target).collect();
    // Places 0 and 3 of 0 1 1 2 2 2.
    assert_eq!(targets, ["/0", "/2"]);
}

#[test]
fn draws_follow_the_weights() {
    for threads in [1, 3] {
        let ran = World::new(weighted(Order::Random, 6_000, threads, 42)).run();
        let chi_square: f64 = counts(&ran)
            .into_iter()
            .zip(WEIGHTS)
            .map(|(count, weight)| {
                let expected = 1_000.0 * f64::from(weight);
                (count as f64 - expected).powi(2) / expected
            })
            .sum();
        // The 99.9th percentile of the distribution with two degrees of freedom.
        assert!(chi_square < 13.8, "{chi_square}");
    }
}

#[test]
fn draws_come_from_the_seed() {
    let targets = |seed| {
        let ran = World::new(weighted(Order::Random, 60, 2, seed)).run();
        ran.seen
            .into_iter()
            .map(|seen| seen.target)
            .collect::<Vec<_>>()
    };
    assert_eq!(targets(5), targets(5));
    assert_ne!(targets(5), targets(6));
}

#[test]
fn a_pipeline_keeps_each_request_with_its_host() {
    let hosts = ["http://10.0.0.1/a", "http://10.0.0.2/b"];
    let mut plan = Plan {
        requests: hosts.map(get).to_vec(),
        request_limit: Some(12),
        ..closed(1, SECOND)
    };
    plan.connection.pipeline = 4;
    let ran = World::new(plan).run();
    assert_eq!(ran.counts(), [12, 12, 12, 0, 0]);
    for seen in &ran.seen {
        assert_eq!(seen.target, ["/a", "/b"][seen.door]);
    }
}

#[test]
fn connections_take_the_addresses_of_a_name_in_turn() {
    let mut world = World::new(Plan {
        request_limit: Some(60),
        ..closed(6, SECOND)
    });
    world.doors = 3;
    let ran = world.script(|_| Reply::ok().after(1)).run();
    let at_door = |door| ran.seen.iter().filter(|seen| seen.door == door).count();
    assert_eq!([0, 1, 2].map(at_door), [20, 20, 20]);
}
