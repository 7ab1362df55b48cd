//! Sums and means on looks that are made up, and the CPU time of real processes.

use super::*;
use loadline_record::watched::{HostUsage, Traffic, WatchedHost, WatchedTree};

const SECOND_NS: u64 = 1_000_000_000;

fn tree(name: &str, cpu_ns: u64, rss_kb: u64, sockets: u64) -> WatchedTree {
    WatchedTree {
        name: name.to_owned(),
        usage: TreeUsage {
            processes: 1,
            cpu_ns: Some(cpu_ns),
            rss_bytes: Some(rss_kb * 1024),
            sockets: Some(sockets),
            ..TreeUsage::default()
        },
        ..WatchedTree::default()
    }
}

fn watched(interface: &str, length_ns: u64, trees: Vec<WatchedTree>) -> Watched {
    Watched {
        length_ns,
        host: WatchedHost {
            interface: Some(interface.to_owned()),
            link_bits_per_s: Some(8 * 1024 * 100),
            usage: HostUsage {
                cpu_ns: Some(length_ns),
                traffic: Some(Traffic {
                    net_in_bytes: 10 * 1024,
                    net_out_bytes: 30 * 1024,
                    ..Traffic::default()
                }),
                ..HostUsage::default()
            },
            ..WatchedHost::default()
        },
        trees,
    }
}

#[test]
fn a_second_has_both_sides_and_what_passed_between_them() {
    let trees = vec![
        tree("7", SECOND_NS / 2, 100, 3),
        tree("9", SECOND_NS / 4, 200, 5),
    ];
    let look = watched("eth0", SECOND_NS, trees);
    let seen = second(&look, 3 * SECOND_NS, 7, true);
    let expected = Second {
        at_s: 3.0,
        length_s: 1.0,
        tool: Used {
            cpu_percent: Some(50.0),
            memory_kb: Some(100.0),
            sockets: Some(3),
        },
        target: Some(Used {
            cpu_percent: Some(25.0),
            memory_kb: Some(200.0),
            sockets: Some(5),
        }),
        bandwidth_kb_per_s: Some(40.0),
        bandwidth_percent: Some(30.0),
        host_cpu_percent: Some(100.0),
    };
    assert_eq!(seen, expected);
    assert_eq!(second(&look, 0, 7, false).target, None);
    assert_eq!(second(&look, 0, 8, true).tool, Used::default());
    let loopback = watched("lo", SECOND_NS, vec![]);
    assert_eq!(
        second(&loopback, 0, 7, false).bandwidth_kb_per_s,
        Some(10.0)
    );
}

#[test]
fn a_look_too_short_for_ticks_has_no_cpu_of_its_own_but_counts_in_the_sum() {
    let looks = [
        watched(
            "lo",
            SECOND_NS / 10,
            vec![tree("7", SECOND_NS / 10, 100, 1)],
        ),
        watched(
            "lo",
            SECOND_NS * 9 / 10,
            vec![tree("7", SECOND_NS / 10, 200, 2)],
        ),
    ];
    let mut sums = Sums::default();
    for look in &looks {
        sums.add(look, &second(look, 0, 7, false), 7);
    }
    assert_eq!(second(&looks[0], 0, 7, false).tool.cpu_percent, None);
    let mean = sums.tool.mean(sums.length_s);
    assert_eq!((mean.cpu_s, mean.cpu_percent), (Some(0.2), Some(20.0)));
    assert_eq!(mean.memory_kb, Some(190.0));
    assert_eq!(mean.max_memory_kb, Some(200.0));
    assert_eq!(mean.sockets, Some(1.9));
}

#[test]
fn what_was_seen_while_a_tool_came_up_counts_where_nothing_else_was() {
    let early = watched("lo", SECOND_NS / 20, vec![tree("7", 0, 10, 1)]);
    let later = watched("lo", SECOND_NS / 4, vec![tree("7", 0, 30, 9)]);
    let mut sums = Sums::default();
    sums.add(&early, &second(&early, 0, 7, false), 7);
    assert_eq!(sums.tool.mean(1.0).sockets, Some(1.0));
    sums.add(&later, &second(&later, 0, 7, false), 7);
    assert_eq!(sums.tool.mean(1.0).sockets, Some(9.0));
    assert_eq!(sums.tool.mean(1.0).memory_kb, Some(30.0));
}

#[test]
fn a_tree_that_has_ended_lowers_no_mean() {
    let ended = WatchedTree {
        name: "7".to_owned(),
        ..WatchedTree::default()
    };
    let mut sums = Sums::default();
    for trees in [vec![tree("7", 0, 100, 4)], vec![ended]] {
        let look = watched("lo", SECOND_NS, trees);
        sums.add(&look, &second(&look, 0, 7, false), 7);
    }
    let mean = sums.tool.mean(sums.length_s);
    assert_eq!((mean.memory_kb, mean.sockets), (Some(100.0), Some(4.0)));
}

#[test]
fn nothing_seen_is_no_mean() {
    assert_eq!(Sums::default().tool.mean(0.0), Mean::default());
}
