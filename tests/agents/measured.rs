//! When agents begin, and how much they send.

use super::overheard::overhear;
use super::{Agent, Bus, assert_sums, end, start, url};
use crate::rig::{count, serve, text};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// What a busy machine may add to the begin of an agent.
const SCHEDULING: Duration = Duration::from_millis(500);
/// The most bytes of an interval's report: 4 KB of a steady load, and what a busy machine spreads
/// the times by.
const MOST_REPORT_BYTES: usize = 8_192;
/// The most bytes of one of a hundred names: 12 KB, which a test of the engine holds where no
/// machine spreads the times, and twice as many on a busy one.
const MOST_BYTES_OF_NAMES: usize = 24_576;

/// A server that answers each request; returns its URL, and the instant of the first request of
/// each connection.
fn first_requests() -> (String, Receiver<Instant>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (send, instants) = channel();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let (connection, send) = (connection.unwrap(), send.clone());
            thread::spawn(move || {
                let mut lines = BufReader::new(connection.try_clone().unwrap()).lines();
                let mut is_first = true;
                while let Some(Ok(line)) = lines.next() {
                    if std::mem::take(&mut is_first) {
                        let _ = send.send(Instant::now());
                    }
                    if line.is_empty() {
                        let response = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
                        let _ = (&connection).write_all(response);
                    }
                }
            });
        }
    });
    (url, instants)
}

/// The error of the begin that a run prints.
pub(super) fn printed_error(stderr: &str) -> Duration {
    let (_, behind) = stderr.split_once("known to within ").expect(stderr);
    let (text, _) = behind.split_once(", on ").expect(stderr);
    printed_time(text)
}

/// The time at the begin of a text, such as `85 µs  free`.
pub(super) fn printed_time(text: &str) -> Duration {
    let mut words = text.split_whitespace();
    let number: f64 = words.next().and_then(|word| word.parse().ok()).unwrap();
    let ns = match words.next() {
        Some("ns") => number,
        Some("µs") => number * 1e3,
        Some("ms") => number * 1e6,
        other => panic!("{other:?}: {text}"),
    };
    Duration::from_nanos(ns as u64)
}

/// Has four agents of a bus send so many requests, and asserts that they begin together.
#[expect(clippy::print_stderr, reason = "whoever looks for the skew finds it")]
pub(super) fn assert_four_begin_at_one_instant(bus: &Bus, requests: u64) {
    let (url, instants) = first_requests();
    let number = requests.to_string();
    let words = ["-t", "4", "-c", "4", "-n", &number, &url];
    let (found, stderr, code) = end(start(bus, "4", &words));
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(assert_sums(&found), 0);
    assert_eq!(count(&found, "answered"), requests);
    let mut first: Vec<Instant> = instants.try_iter().collect();
    first.sort_unstable();
    assert_eq!(first.len(), 4, "{stderr}");
    let skew = first[3] - first[0];
    eprintln!("{skew:?} between the first and the last of four agents");
    // Each of two clocks is wrong by as much at most.
    let most = 2 * printed_error(&stderr) + SCHEDULING;
    assert!(skew <= most, "{skew:?}, and not {most:?}: {stderr}");
}

#[test]
fn agents_begin_at_one_instant_as_well_as_they_say() {
    let bus = Bus::start(&[]);
    let _agents = ["one", "two", "three", "four"].map(|name| Agent::start(&bus.url(), name, &[]));
    assert_four_begin_at_one_instant(&bus, 4);
}

/// The CPU time of a process so far, in seconds, and the most memory that it had, in megabytes.
pub(super) fn usage(process: u32) -> Option<(f64, f64)> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Behind the name: fields 14 and 15 are ticks of a hundredth of a second.
    let (_, fields) = stat.rsplit_once(") ")?;
    let ticks = fields.split(' ').skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = peak.trim().strip_suffix(" kB")?.parse().ok()?;
    Some((ticks as f64 / 100.0, kilobytes / 1_024.0))
}

#[test]
#[ignore = "soak: starts 64 agents, which need the machine alone"]
fn a_coordinator_follows_sixty_four_agents() {
    let (bus, server) = (Bus::start(&[]), serve());
    let nats = bus.url();
    let agents = (1..=64).map(|number| Agent::start(&nats, &format!("agent-{number}"), &[]));
    let _agents: Vec<Agent> = agents.collect();
    let url = url(&server);
    let words = ["-t", "64", "-c", "64", "-r", "1280", "-d", "20s", &url];
    let begun = Instant::now();
    let run = start(&bus, "64", &words);
    let process = run.coordinator.id();
    let (mut first, mut last) = (None, None);
    while let Some(used) = usage(process) {
        let now = (begun.elapsed().as_secs_f64(), used);
        if now.0 > 8.0 {
            first.get_or_insert(now);
            last = Some(now);
        }
        if now.0 > 22.0 {
            break;
        }
        thread::sleep(Duration::from_millis(200));
    }
    let (found, stderr, code) = end(run);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(assert_sums(&found), 0);
    assert_eq!(count(&found, "planned"), 25_600);
    let ((from_s, (cpu_before_s, _)), (to_s, (cpu_s, peak_mb))) = first.zip(last).expect("usage");
    let cores = (cpu_s - cpu_before_s) / (to_s - from_s);
    println!("the coordinator of 64 agents: {cores:.3} of a core, {peak_mb:.0} MB at most");
    assert!(cores <= 0.5, "{cores} cores");
    assert!(peak_mb <= 300.0, "{peak_mb} MB");
}

/// The sizes of the messages with a whole report that agents send.
fn reports(bus: &Bus) -> Receiver<usize> {
    let (send, sizes) = channel();
    overhear(bus, &["loadline.run.*.*.up"], move |_, message| {
        // A number of four bytes, the kind, and a frame: `r` is a report.
        if message[4..].starts_with(b"fr") {
            let _ = send.send(message.len());
        }
        None
    });
    sizes
}

/// Runs 2 000 requests a second for 5 s on an agent, of what these words name. Asserts that no
/// report has more bytes.
#[expect(
    clippy::print_stdout,
    reason = "whoever looks for the sizes finds them"
)]
fn assert_reports_are_small(words: &[&str], most_bytes: usize) {
    let bus = Bus::start(&[]);
    let _agent = Agent::start(&bus.url(), "one", &[]);
    let sizes = reports(&bus);
    let load = ["-t", "1", "-r", "2000", "-d", "5s"];
    let (found, stderr, code) = end(start(&bus, "1", &[&load[..], words].concat()));
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(assert_sums(&found), 0);
    let sizes: Vec<usize> = sizes.try_iter().collect();
    // Five intervals, and the end.
    assert!((5..=8).contains(&sizes.len()), "{sizes:?}");
    println!("{sizes:?} bytes a report");
    assert!(sizes.iter().all(|bytes| *bytes <= most_bytes), "{sizes:?}");
}

#[test]
fn a_report_of_one_name_is_small() {
    let server = serve();
    assert_reports_are_small(&[&url(&server)], MOST_REPORT_BYTES);
}

#[test]
fn a_report_of_a_hundred_names_is_small() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let urls = folder.path().join("urls");
    let lines = (1..=100).map(|number| format!("{}item/{number}\n", url(&server)));
    fs::write(&urls, lines.collect::<String>()).unwrap();
    assert_reports_are_small(&["--urls", text(&urls)], MOST_BYTES_OF_NAMES);
}
