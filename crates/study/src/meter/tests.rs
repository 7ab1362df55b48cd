//! Sums and means of artificial samples, and the CPU time of real processes.

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
        backends: None,
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
    let mean = sums.averages(false, None).tool;
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
    assert_eq!(sums.averages(false, None).tool.sockets, Some(1.0));
    sums.add(&later, &second(&later, 0, 7, false), 7);
    let tool = sums.averages(false, None).tool;
    assert_eq!((tool.sockets, tool.memory_kb), (Some(9.0), Some(30.0)));
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
    let mean = sums.averages(false, None).tool;
    assert_eq!((mean.memory_kb, mean.sockets), (Some(100.0), Some(4.0)));
}

#[test]
fn backends_are_added_up_and_are_no_target() {
    let mut look = watched(
        "lo",
        SECOND_NS,
        vec![
            tree("7", 0, 10, 1),
            tree("20", SECOND_NS / 4, 100, 2),
            tree("9", 0, 50, 1),
            tree("21", SECOND_NS / 4, 300, 4),
        ],
    );
    let backends = take(&mut look, &["20".to_owned(), "21".to_owned()]).unwrap();
    let seen = second(&look, SECOND_NS, 7, true);
    assert_eq!(seen.target.unwrap().memory_kb, Some(50.0));
    let mut sums = Sums::default();
    sums.add(&look, &seen, 7);
    sums.add_backends(&backends, 1.0);
    let mean = sums.averages(true, None).backends.unwrap();
    assert_eq!(
        (mean.cpu_percent, mean.memory_kb),
        (Some(50.0), Some(400.0))
    );
    assert_eq!(mean.sockets, Some(6.0));
    assert_eq!(take(&mut look, &[]), None);
}

#[test]
fn nothing_seen_is_no_mean() {
    assert_eq!(Sums::default().averages(false, None), Averages::default());
}

/// Returns the averages of samples of a tool, each with its length in seconds and with true if the
/// tool's sockets and CPU time could be read.
fn seen(looks: &[(u64, bool)]) -> Averages {
    let mut sums = Sums::default();
    for &(length_s, is_read) in looks {
        let mut tool = tree("7", SECOND_NS, 100, 4);
        if !is_read {
            (tool.usage.sockets, tool.usage.cpu_ns) = (None, None);
        }
        let look = watched("lo", length_s * SECOND_NS, vec![tool]);
        sums.add(&look, &second(&look, 0, 7, false), 7);
    }
    sums.averages(false, None)
}

#[test]
fn a_mean_over_less_than_half_of_a_run_is_no_figure() {
    let brief = seen(&[(1, true), (1, true), (10, false)]);
    assert_eq!(brief.tool.sockets, None);
    assert_eq!((brief.tool.cpu_s, brief.tool.cpu_percent), (None, None));
    assert_eq!(brief.tool.memory_kb, Some(100.0));
    assert!(brief.seen_too_briefly);
    let enough = seen(&[(1, true), (1, true), (2, false)]);
    assert_eq!(
        (enough.tool.sockets, enough.tool.cpu_s),
        (Some(4.0), Some(2.0))
    );
    assert!(!enough.seen_too_briefly);
}

#[test]
fn what_a_tool_used_in_its_whole_life_is_no_brief_look() {
    let mut sums = Sums::default();
    for (length_s, trees) in [(1, vec![tree("7", SECOND_NS, 100, 4)]), (3, vec![])] {
        let look = watched("lo", length_s * SECOND_NS, trees);
        sums.add(&look, &second(&look, 0, 7, false), 7);
    }
    let averages = sums.averages(false, Some(2.0));
    let tool = averages.tool;
    assert_eq!((tool.cpu_s, tool.cpu_percent), (Some(2.0), Some(50.0)));
}

#[test]
fn what_is_read_now_and_then_stands_for_the_time_between() {
    let spaced = [
        (1, true),
        (1, false),
        (1, false),
        (1, true),
        (1, false),
        (1, false),
    ];
    assert_eq!(seen(&spaced).tool.sockets, Some(4.0));
    // A late reading represents a few seconds, not all the time that was not covered.
    assert_eq!(seen(&[(1, false), (12, true)]).tool.sockets, None);
}

#[test]
fn a_run_counts_from_before_its_tool_was_started() {
    let mut meter = Meter::prepare(None, None, &[]).begin();
    std::thread::sleep(std::time::Duration::from_millis(30));
    meter.follow(std::process::id());
    meter.look();
    let averages = meter.averages(None);
    assert!(averages.elapsed_s >= 0.03, "{averages:?}");
}
