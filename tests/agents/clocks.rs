//! Agents whose clocks are not those of the coordinator.

use super::measured::{assert_four_begin_at_one_instant, printed_time};
use super::overheard::overhear;
use super::{Agent, Bus, await_agent};
use crate::rig::{command, program};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// How far the monotonic clocks of some agents are ahead, in seconds: as that of a machine that has
/// run for longer.
pub(super) const AHEAD_S: u64 = 90_000;
/// The lead of the wall clock of an agent.
const WALL_AHEAD: Duration = Duration::from_millis(200);

/// Starts an agent whose monotonic clock is so many seconds ahead; `None` where the system does not
/// allow that, which is said.
#[expect(clippy::print_stderr, reason = "a test that was not made says so")]
pub(super) fn agent_ahead(bus: &Bus, name: &str, ahead_s: u64) -> Option<Agent> {
    let ahead = ahead_s.to_string();
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
        .map(|name| agent_ahead(&bus, name, AHEAD_S))
        .into_iter()
        .collect::<Option<Vec<_>>>()
    else {
        return;
    };
    let _agents = ["one", "two"].map(|name| Agent::start(&bus.url(), name, &[]));
    assert_four_begin_at_one_instant(&bus, 400);
}

/// Serves on a bus as an agent whose wall clock is ahead, which takes no part in runs.
fn agent_of_another_time(bus: &Bus) {
    let subjects = ["loadline.agents", "loadline.agent.0123.clock"];
    let answers = [card, clocks];
    overhear(bus, &subjects, move |subject, _| Some(answers[subject]()));
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
