//! Cells of heatmaps, and the memory of long runs.

use super::*;
use crate::samples::{self, SECOND_NS};
use loadline_record::watched::{TreeUsage, Watched, WatchedTree};
use loadline_record::{Environment, Header};
use std::sync::Arc;
use std::time::SystemTime;

/// A request that ended in this second: it was blocked, late and served so long, in milliseconds.
fn request(second: u64, (blocked, late, service): (u64, u64, u64), name: &str) -> SlowRequest {
    let intended_ns = second * SECOND_NS;
    let ready_ns = intended_ns + blocked * 1_000_000;
    let start_ns = ready_ns + late * 1_000_000;
    let end_ns = start_ns + service * 1_000_000;
    SlowRequest {
        exchange: Exchange {
            intended_ns,
            ready_ns,
            start_ns,
            dial_ns: 0,
            resolve_ns: 0,
            tls_ns: 0,
            sent_ns: start_ns,
            first_byte_ns: end_ns,
            end_ns,
            wakeup_ns: 0,
            bytes_in: 100,
            bytes_out: 100,
            outcome: Outcome::Answered { status: 200 },
            request: None,
        },
        name: Some(name.to_owned()),
        served_before: Some(3),
    }
}

fn stretch(second: u64, slow: Vec<SlowRequest>) -> Stretch {
    let header = Header::new(
        &Plan::default(),
        Environment::default(),
        SystemTime::UNIX_EPOCH,
    );
    let snapshot = samples::second(second, []);
    Stretch {
        watched: Some(Watched {
            length_ns: SECOND_NS,
            trees: vec![WatchedTree {
                name: "nginx".to_owned(),
                usage: TreeUsage {
                    cpu_ns: Some(SECOND_NS / 2),
                    ..TreeUsage::default()
                },
                ..WatchedTree::default()
            }],
            ..Watched::default()
        }),
        slow,
        ..samples::stretch(&Arc::new(header), second, snapshot)
    }
}

fn rows(slow: &Slow, seconds: (f64, f64), us: (f64, f64)) -> SlowRows {
    slow.rows(Cell { seconds, us }, &Plan::default())
}

#[test]
fn a_cell_has_its_requests_and_what_took_most_of_their_time() {
    let mut slow = Slow::default();
    slow.observe(&stretch(0, vec![request(0, (0, 0, 40), "early")]));
    let second = vec![
        request(1, (0, 0, 30), "served"),
        request(1, (30, 1, 5), "blocked"),
        request(1, (0, 30, 5), "late"),
        request(1, (0, 0, 300), "slower"),
    ];
    slow.observe(&stretch(1, second));
    let found = rows(&slow, (1.0, 2.0), (10_000.0, 100_000.0));
    let told: Vec<_> = (found.requests.iter())
        .map(|row| (row.name.as_deref().unwrap(), row.response_us, row.cause))
        .collect();
    assert_eq!(
        told,
        [
            ("blocked", 36_000.0, Cause::Connections),
            ("late", 35_000.0, Cause::Generator),
            ("served", 30_000.0, Cause::Target),
        ]
    );
    assert_eq!(found.cpu.len(), 1);
    assert_eq!((&*found.cpu[0].name, found.cpu[0].percent), ("nginx", 50.0));
    assert_eq!(found.requests[0].served_before, Some(3));
    assert!(rows(&slow, (5.0, 6.0), (0.0, 1e9)).requests.is_empty());
}

#[test]
fn a_long_run_keeps_the_slowest_of_each_part() {
    let mut slow = Slow::default();
    for second in 0..3_600 {
        let all = (1..=16).map(|index| request(second, (0, 0, index), "usual"));
        let one = (second == 1_000).then(|| request(second, (0, 0, 900), "the slow one"));
        slow.observe(&stretch(second, all.chain(one).collect()));
    }
    assert!(slow.columns.len() <= MOST_COLUMNS);
    let kept = slow.columns.iter().map(|column| column.requests.len());
    assert!(kept.max().unwrap() <= MOST_KEPT);
    let all = rows(&slow, (0.0, 3_600.0), (0.0, 1e9));
    assert_eq!(all.requests.len(), MOST_SHOWN);
    assert_eq!(all.requests[0].name.as_deref(), Some("the slow one"));
    // It is in the column of its time.
    let part = rows(&slow, (992.0, 1_008.0), (0.0, 1e9));
    assert_eq!(part.requests[0].name.as_deref(), Some("the slow one"));
}
