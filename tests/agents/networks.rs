//! Agents on networks of their own that are slow, or cut, and agents that are stopped. They take
//! minutes and need root, so that `make soak` runs them.

use super::measured::printed_error;
use super::namespaces::{Network, ip};
use super::often::times;
use super::slow_link::{Delay, delay};
use super::{assert_sums, report, signal};
use crate::rig::count;
use serde_json::Value;
use std::net::SocketAddr;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The summary of a run that has ended, what it has printed beside, and its exit code.
fn end(run: Child) -> (Value, String, Option<i32>) {
    let (report, stderr, code) = report(run);
    (report["summary"].clone(), stderr, code)
}

/// Asserts that an open load of 300/s for so long adds up although an agent was lost.
fn assert_one_lost(run: Child, since: Instant, seconds: u64) {
    let (found, stderr, code) = end(run);
    let most = Duration::from_secs(seconds + 10);
    assert!(since.elapsed() < most, "{:?}: {stderr}", since.elapsed());
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        stderr.contains("said nothing for 3 s and was ended"),
        "{stderr}"
    );
    let lost = assert_sums(&found);
    assert_eq!(count(&found, "planned"), 300 * seconds, "{found:#}");
    assert_eq!(count(&found, "sent") + lost, 300 * seconds, "{found:#}");
    assert!(lost > 0, "{found:#}");
}

#[test]
#[ignore = "soak: needs root, and minutes"]
fn agents_on_slow_and_uneven_links_send_exactly_what_is_planned() {
    let Some(mut network) = Network::of("slow", 3) else {
        return;
    };
    // 15 to 25 ms each way, which differ.
    let uneven = Delay {
        least: Duration::from_millis(15),
        jitter: Duration::from_millis(5),
    };
    let at = |port: u16| SocketAddr::from(([10, 213, 0, 1], port));
    delay(&network.hub(), at(4223), at(4222), uneven);
    delay(&network.hub(), at(8081), at(8080), uneven);
    network.agents_bus = "nats://10.213.0.1:4223";
    (1..=3).for_each(|number| network.agent(number));
    let load = ["-c", "60", "-r", "300", "-d", "10s"];
    let run = network.start_at(8081, &load);
    let (found, stderr, code) = end(run);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(assert_sums(&found), 0);
    assert_eq!(count(&found, "planned"), 3_000, "{found:#}");
    assert!(
        found["service_time_us"]["min"].as_f64() >= Some(30_000.0),
        "{found:#}"
    );
    let error = printed_error(&stderr);
    println!("the begin is known to within {error:?}");
    // Half of the shortest of eight round trips, and what a busy machine adds.
    assert!(error >= Duration::from_millis(15), "{stderr}");
    assert!(error <= Duration::from_millis(100), "{stderr}");
    network.await_free();
}

#[test]
#[ignore = "soak: needs root, and minutes"]
fn an_agent_whose_link_is_cut_is_lost_and_comes_back() {
    for _ in 0..times() {
        let Some(mut network) = Network::of("cut", 3) else {
            return;
        };
        (1..=3).for_each(|number| network.agent(number));
        let since = Instant::now();
        let run = network.start(&["-c", "30", "-r", "300", "-d", "12s"]);
        sleep(Duration::from_secs(4));
        let hub = network.hub();
        assert!(ip(&["-n", &hub, "link", "set", "near2", "down"]));
        sleep(Duration::from_secs(5));
        assert!(ip(&["-n", &hub, "link", "set", "near2", "up"]));
        assert_one_lost(run, since, 12);
        network.await_free();
    }
}

/// Stops an agent for so long in the middle of a run of so many seconds.
fn stop_for(test: &str, stop_s: u64, seconds: u64) {
    let Some(mut network) = Network::of(test, 3) else {
        return;
    };
    (1..=3).for_each(|number| network.agent(number));
    let since = Instant::now();
    let length = format!("{seconds}s");
    let run = network.start(&["-c", "30", "-r", "300", "-d", &length]);
    sleep(Duration::from_secs(4));
    // `ip netns exec` has become the agent.
    let agent = network.children.last().expect("an agent");
    signal(agent, "STOP");
    let stopped = Instant::now();
    if stop_s < seconds - 4 {
        sleep(Duration::from_secs(stop_s));
        signal(agent, "CONT");
    }
    assert_one_lost(run, since, seconds);
    sleep(Duration::from_secs(stop_s).saturating_sub(stopped.elapsed()));
    signal(agent, "CONT");
    network.await_free();
}

#[test]
#[ignore = "soak: needs root, and minutes"]
fn an_agent_that_is_stopped_for_five_seconds_is_lost_and_free_again() {
    stop_for("five", 5, 14);
}

#[test]
#[ignore = "soak: needs root, and minutes"]
fn an_agent_that_is_stopped_for_a_minute_is_lost_and_free_again() {
    stop_for("minute", 60, 20);
}

#[test]
#[ignore = "soak: needs root, and minutes"]
fn a_second_coordinator_waits_for_the_agents_of_the_first() {
    let Some(mut network) = Network::of("two", 2) else {
        return;
    };
    (1..=2).for_each(|number| network.agent(number));
    let load = ["-c", "20", "-r", "300", "-d", "5s"];
    let first = network.start(&load);
    sleep(Duration::from_secs(2));
    let second = network.start(&load);
    for run in [first, second] {
        let (found, stderr, code) = end(run);
        assert_eq!(code, Some(0), "{stderr}");
        assert_eq!(assert_sums(&found), 0);
        assert_eq!(count(&found, "planned"), 1_500, "{found:#}");
    }
}

#[test]
#[ignore = "soak: needs root, and minutes"]
fn a_full_disk_of_the_coordinator_costs_the_saved_run_and_nothing_else() {
    let Some(mut network) = Network::of("full", 2) else {
        return;
    };
    (1..=2).for_each(|number| network.agent(number));
    let run = network.start(&["-c", "20", "-r", "300", "-d", "5s", "--save", "/dev/full"]);
    let (found, stderr, code) = end(run);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("/dev/full"), "{stderr}");
    assert_eq!(assert_sums(&found), 0);
    assert_eq!(count(&found, "planned"), 1_500, "{found:#}");
    network.await_free();
}

#[test]
#[ignore = "soak: needs root, and the machine alone"]
fn four_agents_at_fifty_thousand_requests_a_second_each_account_for_all_of_them() {
    const SECONDS: u64 = 5;
    let Some(mut network) = Network::of("load", 4) else {
        return;
    };
    let server = network.counting_server(8090);
    (1..=4).for_each(|number| network.agent(number));
    let length = format!("{SECONDS}s");
    let run = network.start_at(8090, &["-c", "200", "-r", "200k", "-d", &length]);
    let (found, stderr, code) = end(run);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(assert_sums(&found), 0, "{stderr}");
    assert_eq!(count(&found, "planned"), 200_000 * SECONDS, "{found:#}");
    assert_eq!(count(&found, "failed"), 0, "{found:#}");
    // What was in flight at the end may have arrived or not.
    let (sent, seen) = (count(&found, "sent"), server.stop().requests);
    assert!(
        (count(&found, "answered")..=sent).contains(&seen),
        "{seen}: {found:#}"
    );
    println!("{} of 200 000/s were sent", sent / SECONDS);
    network.await_free();
}
