//! A generator that is starved on purpose has to say so, every time and for the right reason; one
//! that is left alone has to be believed.

use crate::rig::{beside_others, command, count, program, serve, url};
use crate::schemas::assert_fits;
use crate::witness::Witness;
use loadline_testbed::Server;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity, set_current_timer_slack};
use serde_json::Value;
use std::num::NonZeroU64;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// "Every time" is as often as this here.
const TIMES: usize = 3;

/// What a report says of its own validity.
#[derive(Debug)]
struct Verdict {
    grade: String,
    kinds: Vec<String>,
    summary: Value,
    code: Option<i32>,
}

impl Verdict {
    fn of(output: &Output) -> Verdict {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert_fits(&stdout);
        let report: Value = serde_json::from_str(&stdout)
            .unwrap_or_else(|error| panic!("no report: {error}: {stderr}"));
        let summary = report["summary"].clone();
        let validity = &summary["validity"];
        let kinds = validity["findings"].as_array().expect("findings").iter();
        Verdict {
            grade: validity["grade"].as_str().expect("a grade").to_owned(),
            kinds: kinds
                .map(|finding| finding["kind"].as_str().expect("a kind").to_owned())
                .collect(),
            code: output.status.code(),
            summary,
        }
    }

    /// Not valid, and for this reason.
    fn blames(&self, kind: &str) {
        self.blames_one_of(&[kind]);
    }

    /// For this reason, whether that is an explanation or counts against it.
    fn assert_kind(&self, kind: &str) {
        assert!(
            self.kinds.iter().any(|found| found == kind),
            "{:?} {:#}",
            self.kinds,
            self.summary["generator"]
        );
    }

    fn blames_one_of(&self, reasons: &[&str]) {
        let Verdict {
            grade,
            kinds,
            summary,
            code,
        } = self;
        let generator = &summary["generator"];
        assert_ne!(grade, "valid", "{kinds:?} {generator:#}");
        assert!(
            kinds.iter().any(|found| reasons.contains(&found.as_str())),
            "{kinds:?} {generator:#}"
        );
        let expected = if grade == "invalid" { 3 } else { 0 };
        assert_eq!(*code, Some(expected), "{grade} {kinds:?}");
    }
}

/// A run of the command, as JSON.
fn words<'a>(flags: &[&'a str], url: &'a str) -> Vec<&'a str> {
    [&["--no-progress", "-o", "json", "-t", "1"], flags, &[url]].concat()
}

fn run(command: &mut Command) -> Verdict {
    let _beside_others = beside_others();
    Verdict::of(&command.output().expect("the command starts"))
}

/// `words` as typed to another program, which runs the command under conditions of its own.
fn under(program: &str, arguments: &[&str], words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .arg(self::program())
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Threads that compute on one core until this is dropped.
struct Neighbours {
    done: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Neighbours {
    fn on(core: usize, count: usize) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let compute = |done: Arc<AtomicBool>| {
            thread::spawn(move || {
                let mut only = CpuSet::new();
                only.set(core);
                sched_setaffinity(None, &only).expect("a core that this process may use");
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        let threads = (0..count).map(|_| compute(Arc::clone(&done))).collect();
        Neighbours { done, threads }
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().expect("it only computes");
        }
    }
}

fn a_core() -> usize {
    let usable = sched_getaffinity(None).expect("Linux tells");
    let core = (0..CpuSet::MAX_CPU).find(|core| usable.is_set(*core));
    core.expect("this runs on a core")
}

/// Where a hypervisor takes the core away, the worker does not wait for it in the kernel's queue:
/// that the core is stolen is the reason then.
#[test]
fn busy_loops_on_its_core_are_noticed() {
    let server = serve();
    let url = url(&server, "");
    let core = a_core();
    let only = core.to_string();
    for _ in 0..TIMES {
        let _neighbours = Neighbours::on(core, 12);
        let words = words(&["-r", "2000", "-d", "1s", "-c", "20"], &url);
        let verdict = run(&mut under("taskset", &["-c", &only], &words));
        verdict.blames_one_of(&["crowded", "stolen"]);
    }
}

fn stop_for(length: Duration, child: &Child) {
    let signal = |name: &str| {
        let status = Command::new("kill")
            .args(["-s", name, &child.id().to_string()])
            .status();
        assert!(status.expect("kill is there").success());
    };
    signal("STOP");
    thread::sleep(length);
    signal("CONT");
}

fn await_requests(server: &Server, at_least: u64) {
    let patience = Instant::now() + Duration::from_secs(20);
    while server.counts().requests < at_least {
        assert!(Instant::now() < patience, "nothing reached the server");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_stop_of_a_fifth_of_a_second_is_noticed_in_either_model() {
    for flags in [&["-r", "1000"] as &[&str], &["-r", "50"], &["-c", "20"]] {
        for _ in 0..TIMES {
            let server = serve();
            let url = url(&server, "");
            let flags = [flags, &["-d", "1500ms"]].concat();
            let _beside_others = beside_others();
            let child = command(&words(&flags, &url)).spawn();
            let child = child.expect("the command starts");
            await_requests(&server, 10);
            stop_for(Duration::from_millis(200), &child);
            let output = child.wait_with_output().expect("the command ends");
            let verdict = Verdict::of(&output);
            if flags.contains(&"-r") {
                verdict.blames("stood_still");
            } else {
                // A closed loop shows less than a tenth of the rate too little, and no time too
                // long.
                verdict.assert_kind("stood_still");
            }
            let longest = &verdict.summary["generator"]["workers"][0]["turns_us"]["max"];
            let longest_us = longest.as_f64().expect("a time");
            assert!(longest_us > 99_000.0, "{longest_us}");
        }
    }
}

#[test]
fn a_stop_that_outlasts_the_run_makes_it_invalid() {
    let server = serve();
    let url = url(&server, "");
    let words = words(&["-r", "500", "-d", "1500ms"], &url);
    let _beside_others = beside_others();
    let child = command(&words).spawn().expect("the command starts");
    await_requests(&server, 100);
    stop_for(Duration::from_secs(2), &child);
    let verdict = Verdict::of(&child.wait_with_output().expect("the command ends"));
    verdict.blames("unsent");
    assert_eq!(verdict.grade, "invalid", "{:?}", verdict.kinds);
}

#[test]
fn a_target_that_hangs_is_not_taken_for_a_slow_generator() {
    let server = serve();
    let url = url(&server, "delay=20s");
    let words = words(&["-c", "2", "-d", "1500ms"], &url);
    let _beside_others = beside_others();
    let output = command(&words).output().expect("the command starts");
    let verdict = Verdict::of(&output);
    let blamed = ["own_queue", "limit"];
    assert!(
        !verdict.kinds.iter().any(|kind| blamed.contains(&&**kind)),
        "{:?}",
        verdict.kinds
    );
}

/// Two hundred a second of 100 ms need twenty connections.
#[test]
fn a_limit_of_connections_in_the_plan_is_said_first() {
    let server = serve();
    let url = url(&server, "delay=100ms");
    let limit = |most: &str| {
        let flags = [
            "-r",
            "200",
            "-d",
            "2s",
            "-c",
            "5",
            "-t",
            "1",
            "--max-connections",
            most,
        ];
        let more = ["--no-progress", "--allow-invalid", "--full", &url];
        let words = [&flags[..], &more].concat();
        let _beside_others = beside_others();
        let output = command(&words).output().expect("the command starts");
        String::from_utf8(output.stdout).expect("a report")
    };
    let limited = limit("10");
    let (said, figures) = (
        limited.find("The plan's limit"),
        limited.find("Response time"),
    );
    assert!(said.is_some() && said < figures, "{limited}");
    assert!(!limited.contains("closed-loop tool"), "{limited}");
    let ample = limit("1000");
    assert!(!ample.contains("The plan's limit"), "{ample}");
}

#[test]
fn running_out_of_descriptors_is_our_fault_and_said_to_be() {
    let server = serve();
    let url = url(&server, "delay=20ms");
    let flags = ["-r", "2000", "-c", "48", "-d", "1500ms", "--no-keepalive"];
    let words = words(&flags, &url);
    let limited = ["-c", "ulimit -n 64; exec \"$0\" \"$@\""];
    for _ in 0..TIMES {
        let _beside_others = beside_others();
        let before = server.counts().requests;
        let child = under("sh", &limited, &words).spawn();
        let child = child.expect("the command starts");
        await_requests(&server, before + 10);
        // A plan that needs more than there are is refused; so they become fewer while it runs.
        let pid = child.id().to_string();
        let lowered = Command::new("prlimit")
            .args(["--pid", &pid, "--nofile=24:64"])
            .status();
        assert!(lowered.expect("prlimit is there").success());
        let verdict = Verdict::of(&child.wait_with_output().expect("the command ends"));
        verdict.blames("descriptors");
        let failures = &verdict.summary["errors"]["descriptors"];
        assert!(count(failures, "count") > 0);
        let example = failures["example"].as_str().expect("an example");
        assert!(example.contains("no free file descriptor"), "{example}");
        let findings = verdict.summary["validity"]["findings"].to_string();
        assert!(findings.contains("ulimit -n"), "{findings}");
    }
}

/// A network of its own with sixteen local ports, a server in it, and a run against that.
const FEW_PORTS: &str = r#"
set -e
ip link set lo up
echo "20000 20015" >/proc/sys/net/ipv4/ip_local_port_range
"$0" serve --listen 127.0.0.1:8080 >/dev/null &
trap "kill $!" EXIT
"$@"
"#;

#[test]
fn running_out_of_ports_is_our_fault_and_said_to_be() {
    let alone = Command::new("unshare").args(["-n", "ip", "link"]).output();
    if !alone.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: a network of its own needs root, unshare and ip");
        return;
    }
    let ours = program();
    let until_up = "until \"$0\" -n 1 -c 1 -q http://127.0.0.1:8080/ >&2; do sleep 0.1; done";
    let script = FEW_PORTS.replace("\"$@\"", &format!("{until_up}\n\"$0\" \"$@\""));
    for _ in 0..TIMES {
        let words = words(&["-c", "40", "-d", "1s"], "http://127.0.0.1:8080/");
        let mut command = Command::new("unshare");
        command
            .args(["-n", "sh", "-c", &script])
            .arg(&ours)
            .args(words)
            .stdin(Stdio::null());
        let verdict = run(&mut command);
        verdict.blames("ports");
        let failures = &verdict.summary["errors"]["ports"];
        assert!(count(failures, "count") > 0);
        let example = failures["example"].as_str().expect("an example");
        assert!(example.contains("no free local port"), "{example}");
    }
}

/// The workers set a slack of their own, a nanosecond: what they inherit does them no harm. A slack
/// of milliseconds would make the usual send that late each time; a machine whose cores are taken
/// away does so now and then.
#[test]
fn a_timer_slack_of_five_milliseconds_does_no_harm() {
    let server = serve();
    let url = url(&server, "");
    let words = words(&["-r", "200", "-c", "10", "-d", "1s"], &url);
    let mut harmed = Vec::new();
    for _ in 0..SLACK_ATTEMPTS {
        let witness = Witness::start();
        let usual_us = usual_lateness_us(&words);
        let taken = witness.taken();
        if usual_us < 1_000.0 {
            return;
        }
        if taken.share < 0.05 {
            harmed.push(usual_us);
        }
        eprintln!("{usual_us} µs late, while this was taken from a core: {taken:?}");
    }
    assert!(harmed.len() < 2, "late by microseconds: {harmed:?}");
}

const SLACK_ATTEMPTS: usize = 5;

/// The median of how late sends are in a run that inherits a timer slack of five milliseconds.
fn usual_lateness_us(words: &[&str]) -> f64 {
    let starved = || {
        // A process inherits the slack of the thread that starts it.
        set_current_timer_slack(NonZeroU64::new(5_000_000)).expect("Linux takes any");
        run(&mut command(words))
    };
    let verdict = thread::scope(|scope| scope.spawn(starved).join().expect("the command runs"));
    let lateness_us = &verdict.summary["lateness_us"]["p50"];
    lateness_us.as_f64().expect("a time")
}

/// Fifty short runs at a tenth of what one core can do.
#[test]
#[ignore = "for a machine that does nothing else; make soak runs it"]
fn healthy_runs_are_believed_forty_eight_times_of_fifty() {
    let server = serve();
    let url = url(&server, "");
    let doubted: Vec<Verdict> = (0..50)
        .map(|_| {
            run(&mut command(&words(
                &["-r", "1000", "-c", "20", "-d", "1s"],
                &url,
            )))
        })
        .filter(|verdict| verdict.grade != "valid")
        .collect();
    let reasons: Vec<_> = doubted.iter().map(|verdict| &verdict.kinds).collect();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    eprintln!(
        "{} of 50 were valid, at a load of {load}",
        50 - doubted.len()
    );
    assert!(doubted.len() <= 2, "load {load}: {reasons:#?}");
}
