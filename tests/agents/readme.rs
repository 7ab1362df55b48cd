//! The README's commands that have four agents send one load, as they stand there.

use super::{Bus, assert_sums, url};
use crate::rig::{beside_others, count, program, serve};
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const README: &str = include_str!("../../README.md");

/// The commands without what is said of them: the bus, its agents and the run.
fn commands() -> Vec<&'static str> {
    let begin = README.split_once("send one load, and make one report:\n\n```\n");
    let (block, _) = begin
        .and_then(|(_, rest)| rest.split_once("\n```"))
        .unwrap();
    let command = |line: &'static str| line.split(" #").next().unwrap_or_default().trim();
    block.lines().map(command).collect()
}

/// A line for a shell whose `loadline` is the tested program, in a process group of its own.
fn shell(line: &str, folder: &Path) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    for proxies in ["HTTP_PROXY", "http_proxy"] {
        shell.env_remove(proxies);
    }
    shell
        .args(["-c", line])
        .env("PATH", format!("{}:{path}", folder.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    shell
}

/// A shell that is ended with all that it has started.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        let group = format!("-{}", self.0.id());
        let _ = Command::new("kill")
            .args(["-s", "KILL", "--", &group])
            .status();
        let _ = self.0.wait();
    }
}

#[test]
fn three_commands_make_one_report_of_four_agents() {
    let commands = commands();
    let [bus_of_readme, agents, run] = commands[..] else {
        panic!("{commands:?}");
    };
    assert_eq!(bus_of_readme, "nats-server");
    let (bus, server) = (Bus::start(&[]), serve());
    let folder = tempfile::tempdir().unwrap();
    symlink(program(), folder.path().join("loadline")).unwrap();
    // Another port than that of a bus which may run here.
    let here = |line: &str| line.replace("nats://127.0.0.1", &bus.url());
    let agents = shell(&format!("{}; wait", here(agents)), folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let _agents = Started(agents.expect("a shell"));
    bus.await_free(4);
    let shorter = here(run).replace(" -r 2k -d 1m ", " -r 200 -d 2s --allow-invalid -o json ");
    assert_ne!(shorter, here(run));
    let _beside_others = beside_others();
    let run = shell(&shorter, folder.path())
        .env("URL", url(&server))
        .output()
        .expect("a shell");
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains(" on 4 agents: "), "{stderr}");
    let report: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    let found = &report["summary"];
    assert_eq!(assert_sums(found), 0);
    assert_eq!(count(found, "planned"), 400, "{stderr}");
}
