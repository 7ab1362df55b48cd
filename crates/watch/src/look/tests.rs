use super::*;
use crate::fixture::Fixture;
use loadline_record::watched::{Change, Why};

const SECOND: u64 = 1_000_000_000;
const OWN: u32 = 50;

/// A server with two workers, this process, and a shell unrelated to both.
fn host() -> Fixture {
    let fixture = Fixture::new();
    fixture.process(1, 0, "init");
    fixture.process(10, 1, "server");
    fixture.process(11, 10, "worker");
    fixture.process(12, 10, "worker");
    fixture.process(40, 1, "sh");
    fixture.process(OWN, 40, "loadline");
    fixture
}

fn watching(fixture: &Fixture, targets: &[&str]) -> Watcher {
    let mut watcher = Watcher::as_process(fixture.proc(), OWN);
    for target in targets {
        watcher.watch(&target.parse().unwrap()).unwrap();
    }
    watcher.begin(SECOND);
    watcher
}

fn not_found(fixture: &Fixture, target: &str) -> NotFound {
    let mut watcher = Watcher::as_process(fixture.proc(), OWN);
    watcher.watch(&target.parse().unwrap()).unwrap_err()
}

#[test]
fn a_tree_is_a_process_with_all_that_descend_from_it() {
    let fixture = host();
    let mut watcher = watching(&fixture, &["10"]);
    fixture.process_with(11, 10, "worker", 'R', 100, 30);
    fixture.process_with(13, 12, "helper", 'R', 300, 5);
    let seen = watcher.look(3 * SECOND);
    assert_eq!(seen.length_ns, 2 * SECOND);
    let tree = &seen.trees[0];
    assert_eq!((tree.name.as_str(), tree.pid), ("10", Some(10)));
    assert_eq!(tree.command.as_deref(), Some("server"));
    assert_eq!(tree.usage.processes, 4);
    assert_eq!(tree.usage.cpu_ns, Some(fixture.proc().ticks_ns(35)));
    assert_eq!(tree.usage.threads, Some(4 * 3));
    let pages = fixture.proc().pages_bytes(4 * 25);
    assert_eq!(tree.usage.rss_bytes, Some(pages));
}

#[test]
fn a_child_whose_parent_ends_stays_in_its_tree() {
    let fixture = host();
    fixture.process(20, 11, "helper");
    let mut watcher = watching(&fixture, &["server"]);
    fixture.end(11);
    fixture.process_with(20, 1, "helper", 'R', 100, 4);
    let tree = watcher.look(2 * SECOND).trees.remove(0);
    assert_eq!(tree.usage.processes, 3);
    assert_eq!(tree.usage.cpu_ns, Some(fixture.proc().ticks_ns(4)));
}

#[test]
fn the_generator_is_part_of_no_other_tree() {
    let fixture = host();
    let mut watcher = Watcher::as_process(fixture.proc(), OWN);
    watcher.watch_generator();
    watcher.watch(&Target::Name("sh".to_owned())).unwrap();
    let seen = watcher.look(SECOND);
    let sizes: Vec<_> = seen
        .trees
        .iter()
        .map(|t| (t.name.as_str(), t.usage.processes))
        .collect();
    assert_eq!(sizes, [("generator", 1), ("sh", 1)]);
}

#[test]
fn processes_of_the_generator_are_its_own_whenever_the_list_was_read() {
    let fixture = host();
    let mut watcher = Watcher::as_process(fixture.proc(), OWN);
    watcher.watch_generator();
    fixture.process(51, OWN, "loadline");
    // The search for the target reads the list of processes too.
    watcher.watch(&"server".parse().unwrap()).unwrap();
    watcher.begin(SECOND);
    let seen = watcher.look(2 * SECOND);
    assert_eq!(seen.trees[0].usage.processes, 2);
    assert_eq!(seen.trees[1].usage.processes, 3);
}

#[test]
fn a_name_means_all_of_that_name_and_never_this_process() {
    let fixture = host();
    fixture.process(30, 1, "server");
    let mut watcher = watching(&fixture, &["server"]);
    assert_eq!(watcher.look(2 * SECOND).trees[0].usage.processes, 4);
    assert_eq!(
        not_found(&fixture, "loadline"),
        NotFound::Name("loadline".to_owned())
    );
}

#[test]
fn a_long_name_is_looked_up_as_it_was_called() {
    let fixture = host();
    fixture.process(30, 1, "a-very-long-nam");
    fixture.write("30/cmdline", "/opt/a-very-long-name-indeed\0--flag\0");
    let mut watcher = watching(&fixture, &["a-very-long-name-indeed"]);
    assert_eq!(watcher.look(2 * SECOND).trees[0].pid, Some(30));
}

#[test]
fn a_port_means_who_listens_on_it_for_both_versions() {
    let fixture = host();
    let four = Fixture::tcp(&[("0100007F:1F90", "0A", 71), ("0100007F:1F90", "01", 72)]);
    fixture.write("net/tcp", &four);
    let any = "0".repeat(32);
    fixture.write(
        "net/tcp6",
        &Fixture::tcp(&[(&format!("{any}:1F91"), "0A", 73)]),
    );
    for (pid, inode) in [(10, 71), (11, 71), (12, 72), (40, 73)] {
        fixture.open(pid, 3, &format!("socket:[{inode}]"));
    }
    let mut watcher = watching(&fixture, &[":8080", ":8081"]);
    let seen = watcher.look(2 * SECOND);
    let roots: Vec<_> = seen.trees.iter().map(|tree| tree.pid).collect();
    assert_eq!(roots, [Some(10), Some(40)]);
    assert_eq!(not_found(&fixture, ":8082"), NotFound::Nobody(8082));
}

#[test]
fn the_first_process_only_listens_on_behalf_of_others() {
    let fixture = host();
    fixture.write("net/tcp", &Fixture::tcp(&[("00000000:0050", "0A", 71)]));
    fixture.open(1, 3, "socket:[71]");
    fixture.open(12, 3, "socket:[71]");
    let mut watcher = watching(&fixture, &[":80"]);
    assert_eq!(watcher.look(2 * SECOND).trees[0].pid, Some(12));
}

#[test]
fn a_listener_that_may_not_be_looked_at_is_told_from_none() {
    let fixture = host();
    fixture.write("net/tcp", &Fixture::tcp(&[("00000000:0050", "0A", 71)]));
    assert_eq!(not_found(&fixture, ":80"), NotFound::NotReported(80));
    let mut watcher = Watcher::as_process(fixture.proc(), OWN);
    let address = "127.0.0.1:80".parse().unwrap();
    assert_eq!(watcher.watch_listeners([address]), 0);
    watcher.find_listeners(&[80]);
    assert_eq!(watcher.watch_listeners([address]), 1);
    let tree = watcher.look(SECOND).trees.remove(0);
    assert_eq!((tree.name.as_str(), tree.usage.cpu_ns), (":80", None));
    assert_eq!(tree.missing, [missing(Figure::Cpu, Why::Rights)]);
}

#[test]
fn the_address_decides_who_listens_and_nobody_is_watched_twice() {
    let fixture = host();
    let table = Fixture::tcp(&[("0100007F:0050", "0A", 71), ("0200007F:0050", "0A", 72)]);
    fixture.write("net/tcp", &table);
    fixture.open(10, 3, "socket:[71]");
    fixture.open(40, 3, "socket:[72]");
    let mut watcher = watching(&fixture, &["10"]);
    watcher.find_listeners(&[80]);
    let mut watch = |address: &str| watcher.watch_listeners([address.parse().unwrap()]);
    assert_eq!(watch("127.0.0.1:80"), 1);
    assert_eq!(watcher.look(2 * SECOND).trees.len(), 1);
    let mut watch = |address: &str| watcher.watch_listeners([address.parse().unwrap()]);
    assert_eq!((watch("127.0.0.2:80"), watch("127.0.0.3:80")), (1, 0));
    let trees = watcher.look(3 * SECOND).trees;
    assert_eq!((trees.len(), trees[1].pid), (2, Some(40)));
}

#[test]
fn who_listens_is_read_when_it_is_looked_for_and_not_again() {
    let fixture = host();
    let table = Fixture::tcp(&[("0100007F:0050", "0A", 71), ("0100007F:0051", "0A", 72)]);
    fixture.write("net/tcp", &table);
    fixture.open(10, 3, "socket:[71]");
    fixture.open(40, 3, "socket:[72]");
    let mut watcher = Watcher::as_process(fixture.proc(), OWN);
    watcher.find_listeners(&[]);
    // Another reading of the lists of sockets or open files would find none.
    fixture.write("net/tcp", &Fixture::tcp(&[]));
    fixture.close_all(10);
    fixture.close_all(40);
    let addresses = (80..1_000).map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
    assert_eq!(watcher.watch_listeners(addresses), 2);
    let trees = watcher.look(SECOND).trees;
    let pids: Vec<_> = trees.iter().map(|tree| tree.pid).collect();
    assert_eq!(pids, [Some(10), Some(40)]);
}

/// Adds idle processes with 200 open files each.
fn crowd(fixture: &Fixture, pids: std::ops::Range<u32>) {
    for pid in pids {
        fixture.process(pid, 1, "idle");
        (0..200).for_each(|number| fixture.open(pid, number, "/dev/null"));
    }
}

#[test]
fn beside_the_load_only_the_files_of_what_is_watched_are_read() {
    let fixture = host();
    crowd(&fixture, 100..120);
    fixture.write("net/tcp", &Fixture::tcp(&[("0100007F:0050", "0A", 71)]));
    fixture.open(10, 3, "socket:[71]");
    fixture.open(OWN, 3, "/dev/null");
    let mut watcher = Watcher::as_process(fixture.proc(), OWN);
    watcher.watch_generator();
    watcher.watch(&"server".parse().unwrap()).unwrap();
    watcher.find_listeners(&[80]);
    let before = watcher.links_read();
    assert_eq!(
        watcher.watch_listeners(["127.0.0.1:80".parse().unwrap()]),
        1
    );
    watcher.begin(SECOND);
    (2..7).for_each(|at| drop(watcher.look(at * SECOND)));
    assert_eq!(watcher.links_read() - before, 5 * 2);
}

#[test]
fn what_ended_is_looked_for_among_new_processes_alone() {
    let fixture = host();
    fixture.write("net/tcp", &Fixture::tcp(&[("0100007F:0050", "0A", 71)]));
    fixture.open(10, 3, "socket:[71]");
    crowd(&fixture, 100..120);
    let mut watcher = watching(&fixture, &[":80"]);
    [10, 11, 12].into_iter().for_each(|pid| fixture.end(pid));
    let before = watcher.links_read();
    let change = |seen: Watched| (seen.trees[0].change, seen.trees[0].pid);
    assert_eq!(change(watcher.look(2 * SECOND)).0, Some(Change::Ended));
    assert_eq!(watcher.links_read() - before, 0);
    // Every process begins under another name and without its port.
    fixture.process(200, 1, "sh");
    assert_eq!(change(watcher.look(3 * SECOND)).0, None);
    fixture.open(200, 5, "socket:[71]");
    let back = change(watcher.look(4 * SECOND));
    assert_eq!(back, (Some(Change::Restarted), Some(200)));
    // Two during the search, one of them for the count of its files.
    assert_eq!(watcher.links_read() - before, 2);
}

#[test]
fn one_that_began_while_the_old_one_ran_takes_its_place() {
    let fixture = host();
    let mut watcher = watching(&fixture, &["server"]);
    fixture.process(200, 1, "server");
    watcher.look(2 * SECOND);
    [10, 11, 12].into_iter().for_each(|pid| fixture.end(pid));
    let seen = watcher.look(3 * SECOND).trees.remove(0);
    assert_eq!(
        (seen.change, seen.pid),
        (Some(Change::Restarted), Some(200))
    );
}

/// Real processes, not watched, with as many open files as this process may have.
#[test]
fn files_of_other_processes_are_not_read_beside_a_load() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let null = std::fs::File::open("/dev/null").unwrap();
    // Duplicates made this way are inherited by children.
    let files: Vec<_> = (0..2_000)
        .map_while(|_| rustix::io::dup(&null).ok())
        .collect();
    let idle = || std::process::Command::new("sleep").arg("60").spawn();
    let idle: Vec<_> = (0..10).map_while(|_| idle().ok()).collect();
    let held = (files.len() * idle.len()) as u64;
    drop(files);
    let mut watcher = Watcher::new(Proc::default());
    watcher.find_listeners(&[address.port()]);
    let searched = watcher.links_read();
    let found = watcher.watch_listeners([address]);
    watcher.begin(0);
    (1..4).for_each(|at| drop(watcher.look(at * SECOND)));
    let beside = watcher.links_read() - searched;
    for mut process in idle {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    assert_eq!(found, 1);
    // Other tests of this process may have files open at the same time.
    assert!(beside <= 3 * 500, "{beside} of {held}");
}

#[test]
fn files_that_are_too_many_to_read_are_named_as_missing() {
    let fixture = host();
    fixture.write("10/status", "Name:\tserver\nFDSize:\t131072\n");
    fixture.open(10, 0, "/dev/null");
    let mut watcher = watching(&fixture, &["10"]);
    let seen = watcher.look(2 * SECOND).trees.remove(0);
    assert_eq!(seen.usage.open_files, None);
    assert!(
        seen.missing
            .contains(&missing(Figure::OpenFiles, Why::TooLarge))
    );
    assert_eq!(watcher.links_read(), 0);
}

#[test]
fn open_files_and_sockets_are_counted_each_socket_once() {
    let fixture = host();
    let table = Fixture::tcp(&[
        ("0100007F:0050", "0A", 71),
        ("0100007F:0050", "01", 72),
        ("0100007F:0050", "08", 73),
        ("0100007F:0050", "06", 0),
        ("0100007F:0050", "01", 99),
    ]);
    for pid in [10, 11, 12] {
        fixture.namespace(pid, &table);
        fixture.open(pid, 0, "/dev/null");
        fixture.open(pid, 3, "socket:[71]");
    }
    fixture.open(11, 4, "socket:[72]");
    fixture.open(12, 4, "socket:[73]");
    fixture.open(12, 5, "socket:[500]");
    let usage = watching(&fixture, &["10"]).look(2 * SECOND).trees[0].usage;
    assert_eq!((usage.open_files, usage.sockets), (Some(9), Some(4)));
    let tcp = usage.tcp.unwrap();
    assert_eq!((tcp.established, tcp.close_wait, tcp.listening), (1, 1, 1));
}

#[test]
fn proportional_memory_is_read_now_and_then() {
    let fixture = host();
    for pid in [10, 11, 12] {
        let rollup =
            "00400000-7fff0000 ---p 00000000 00:00 0    [rollup]\nRss:  50 kB\nPss:  20 kB\n";
        fixture.write(&format!("{pid}/smaps_rollup"), rollup);
    }
    let mut watcher = watching(&fixture, &["10"]);
    let mut pss = |at_s: u64| watcher.look(at_s * SECOND).trees[0].usage.pss_bytes;
    assert_eq!(pss(2), Some(60 * 1024));
    assert_eq!(pss(3), None);
    assert_eq!(pss(7), Some(60 * 1024));
}

#[test]
fn a_kernel_without_proportional_memory_is_named() {
    let fixture = host();
    let seen = Watcher::as_process(fixture.proc(), OWN).look_at("10");
    assert!(seen.missing.contains(&missing(Figure::Pss, Why::Untold)));
    assert_eq!(seen.usage.pss_bytes, None);
}

#[test]
fn a_process_that_ends_is_said_so_once() {
    let fixture = host();
    let mut watcher = watching(&fixture, &["10"]);
    // It has ended, and its parent has not reaped it yet.
    fixture.process_with(10, 1, "server", 'Z', 100, 0);
    let seen = watcher.look(2 * SECOND);
    assert_eq!(seen.trees[0].change, Some(Change::Ended));
    assert_eq!(
        (seen.trees[0].usage.processes, seen.trees[0].usage.cpu_ns),
        (0, None)
    );
    fixture.end(10);
    assert_eq!(watcher.look(3 * SECOND).trees[0].change, None);
}

#[test]
fn a_name_comes_back_as_another_process() {
    let fixture = host();
    let mut watcher = watching(&fixture, &["server"]);
    for pid in [10, 11, 12] {
        fixture.end(pid);
    }
    assert_eq!(
        watcher.look(2 * SECOND).trees[0].change,
        Some(Change::Ended)
    );
    fixture.process_with(60, 1, "server", 'R', 900, 8);
    let tree = watcher.look(3 * SECOND).trees.remove(0);
    assert_eq!((tree.change, tree.pid), (Some(Change::Restarted), Some(60)));
    fixture.process_with(60, 1, "server", 'R', 900, 10);
    let usage = watcher.look(4 * SECOND).trees[0].usage;
    assert_eq!(usage.cpu_ns, Some(fixture.proc().ticks_ns(2)));
}

#[test]
fn a_number_that_was_given_away_is_an_end() {
    let fixture = host();
    let mut watcher = watching(&fixture, &["10"]);
    fixture.process_with(10, 40, "other", 'R', 5_000, 0);
    assert_eq!(
        watcher.look(2 * SECOND).trees[0].change,
        Some(Change::Ended)
    );
}

impl Watcher {
    /// The first sample of one target.
    fn look_at(mut self, target: &str) -> WatchedTree {
        self.watch(&target.parse().unwrap()).unwrap();
        self.look(SECOND).trees.remove(0)
    }
}
