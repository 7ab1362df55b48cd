//! Agents whose clocks are not those of the coordinator.

use super::measured::{SCHEDULING, first_requests, printed_error, printed_time};
use super::{Agent, Bus, assert_sums, await_agent, end, start};
use crate::rig::{command, count, program};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// How far the monotonic clocks of some agents are ahead, in seconds: as that of a machine that has
/// run for longer.
const AHEAD_S: u64 = 90_000;
/// The lead of the wall clock of an agent.
const WALL_AHEAD: Duration = Duration::from_millis(200);

/// Starts an agent with a monotonic clock of its own; `None` where the system does not allow that,
/// which is said.
#[expect(clippy::print_stderr, reason = "a test that was not made says so")]
fn agent_ahead(bus: &Bus, name: &str) -> Option<Agent> {
    let ahead = AHEAD_S.to_string();
    let space = ["--time", "--monotonic", &ahead, "--fork", "--kill-child"];
    let allowed = Command::new("unshare").args(space).arg("true").output();
    if !allowed.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: a clock of its own needs root, and unshare of util-linux");
        return None;
    }
    let child = Command::new("unshare")
        .args(space)
        .arg(program())
        .args(["agent", "--nats", &bus.url(), "--name", name])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    Some(await_agent(child.expect("unshare")))
}

#[test]
fn agents_whose_monotonic_clocks_are_a_day_ahead_begin_with_the_others() {
    let bus = Bus::start(&[]);
    let Some(_ahead) = ["three", "four"]
        .map(|name| agent_ahead(&bus, name))
        .into_iter()
        .collect::<Option<Vec<_>>>()
    else {
        return;
    };
    let _agents = ["one", "two"].map(|name| Agent::start(&bus.url(), name, &[]));
    let (url, instants) = first_requests();
    let words = ["-t", "4", "-c", "4", "-n", "400", &url];
    let (found, stderr, code) = end(start(&bus, "4", &words));
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(assert_sums(&found), 0);
    assert_eq!(count(&found, "answered"), 400);
    let mut first: Vec<Instant> = instants.try_iter().collect();
    first.sort_unstable();
    assert_eq!(first.len(), 4, "{stderr}");
    let skew = first[3] - first[0];
    println!("{skew:?} between the first and the last of four agents");
    let most = 2 * printed_error(&stderr) + SCHEDULING;
    assert!(skew <= most, "{skew:?}, and not {most:?}: {stderr}");
}

/// Serves on a bus as an agent whose wall clock is ahead, which takes no part in runs.
fn agent_of_another_time(bus: &Bus) {
    let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, bus.port)).unwrap();
    let subscribe = b"CONNECT {\"verbose\":false}\r\nSUB loadline.agents 1\r\n\
                      SUB loadline.agent.0123.clock 2\r\nPING\r\n";
    connection.write_all(subscribe).unwrap();
    let mut from = BufReader::new(connection.try_clone().unwrap());
    let (send, is_there) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let mut line = String::new();
        while from.read_line(&mut line).is_ok_and(|length| length > 0) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["PONG"] => send.send(()).unwrap_or_default(),
                ["PING"] => connection.write_all(b"PONG\r\n").unwrap(),
                ["MSG", _, number, inbox, length] => {
                    let mut contents = vec![0; length.parse::<usize>().unwrap() + 2];
                    from.read_exact(&mut contents).unwrap();
                    let answer = match number {
                        "1" => card(),
                        _ => clocks(),
                    };
                    let length = answer.len();
                    let message = format!("PUB {inbox} {length}\r\n{answer}\r\n");
                    connection.write_all(message.as_bytes()).unwrap();
                }
                _ => {}
            }
            line.clear();
        }
    });
    is_there.recv().expect("a bus");
}

fn card() -> String {
    let versions = r#"{"loadline":"0.0.0","protocol":0,"reports":0}"#;
    format!(
        r#"{{"id":"0123","name":"future","versions":{versions},"cores":1,
            "open_files":1024,"busy_with":null}}"#
    )
}

/// The reading of clocks: the monotonic one does not matter here.
fn clocks() -> String {
    let wall = SystemTime::now() + WALL_AHEAD;
    let wall_ns = wall.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    format!(r#"{{"now_ns":0,"wall_ns":{}}}"#, wall_ns.as_nanos())
}

#[test]
fn an_agent_whose_wall_clock_is_ahead_is_listed_with_how_far() {
    let bus = Bus::start(&[]);
    agent_of_another_time(&bus);
    let listed = command(&["agents", "--nats", &bus.url()]).output().unwrap();
    let list = String::from_utf8_lossy(&listed.stdout).into_owned();
    let row = list.lines().nth(1).expect(&list);
    assert!(row.starts_with("future "), "{list}");
    let (_, clock) = row.split_once('+').expect(&list);
    let ahead: f64 = clock
        .split_once(" ms ± ")
        .and_then(|(ahead, _)| ahead.trim().parse().ok())
        .expect(&list);
    let error = printed_time(clock.split_once(" ± ").expect(&list).1);
    let off = Duration::from_secs_f64((ahead - 200.0).abs() / 1e3);
    // It is printed with three digits.
    assert!(off <= error + Duration::from_millis(1), "{list}");
}
