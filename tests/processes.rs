//! A run on several processes: the report of one, and exact sums when one of them is lost.

use crate::rig::{beside_others, command, count, loadline, serve, summary, text};
use loadline_testbed::Server;
use serde_json::Value;
use std::fs;
use std::process::{Child, Command, Output};
use std::sync::RwLockReadGuard;
use std::time::{Duration, Instant};

fn url(server: &Server) -> String {
    format!("http://{}/", server.addr())
}

#[test]
fn the_report_is_that_of_as_many_threads() {
    let server = serve();
    let url = url(&server);
    let words = ["-t", "2", "-c", "6", "-r", "500", "-n", "1000", &url];
    let two = summary(&[&words[..], &["--processes", "2"]].concat());
    let one = summary(&words);
    for found in [&two, &one] {
        assert_eq!(
            (count(found, "planned"), count(found, "failed")),
            (1_000, 0)
        );
        assert_eq!(count(found, "answered"), 1_000);
        assert_eq!(found["statuses"], serde_json::json!({"200": 1_000}));
        assert_eq!(found["response_time_us"]["count"], 1_000);
    }
    let keys = |found: &Value| -> Vec<String> {
        let object = found.as_object().expect("an object");
        object.keys().cloned().collect()
    };
    assert_eq!(keys(&two), keys(&one));
    assert_eq!(server.stop().answers, 2_000);
}

#[test]
fn requests_are_counted_out_over_processes_and_logged() {
    let server = serve();
    let url = url(&server);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.csv");
    let found = summary(&[
        "-t",
        "3",
        "--processes",
        "3",
        "-c",
        "9",
        "-n",
        "300",
        "--log",
        text(&log),
        &url,
    ]);
    assert_eq!(
        (count(&found, "sent"), count(&found, "answered")),
        (300, 300)
    );
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 301);
    assert_eq!(server.stop().answers, 300);
}

#[test]
fn each_process_needs_only_the_open_files_of_its_own_part() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("a.json");
    let words = "-t 4 --processes 4 -c 160 -n 1600 -q --allow-invalid -o json=";
    let line = format!("ulimit -n 64; exec \"$0\" {words}{} \"$1\"", text(&json));
    let _beside_others = beside_others();
    let said = Command::new("sh")
        .args(["-c", &line, text(&crate::rig::program()), &url(&server)])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&said.stderr);
    assert_eq!(said.status.code(), Some(0), "{errors}");
    let report: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(count(&report["summary"], "answered"), 1_600);
    assert_eq!(count(&report["summary"], "failed"), 0);
    let words = words.replace("160 ", "260 ");
    let line = format!("ulimit -n 64; exec \"$0\" {words}{} \"$1\"", text(&json));
    let said = Command::new("sh")
        .args(["-c", &line, text(&crate::rig::program()), &url(&server)])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&said.stderr);
    assert_eq!(said.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("needs 81 open files and this process may have 64"),
        "{errors}"
    );
}

#[test]
fn several_scenarios_run_on_processes_as_well() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    let url = url(&server);
    let scenarios = ["a", "b"].map(|name| {
        let load = "connections = 2\nrequests = 50\n";
        format!("[[scenario]]\nname = \"{name}\"\nurl = \"{url}{name}\"\n{load}")
    });
    fs::write(
        &plan,
        format!("threads = 2\nprocesses = 2\n{}", scenarios.join("\n")),
    )
    .unwrap();
    let found = summary(&[text(&plan)]);
    assert_eq!(count(&found, "answered"), 100);
    assert_eq!(found["names"].as_array().map(Vec::len), Some(2));
}

/// A run of five seconds on two processes, and what it says in the end.
struct Running {
    coordinator: Child,
    since: Instant,
    _beside_others: RwLockReadGuard<'static, ()>,
}

impl Running {
    fn start(url: &str, more: &[&str]) -> Running {
        let words = [
            "-t",
            "2",
            "--processes",
            "2",
            "-c",
            "4",
            "-d",
            "5s",
            "-o",
            "json",
        ];
        let words = [&words[..], more, &["--no-progress", url]].concat();
        Running {
            _beside_others: beside_others(),
            coordinator: command(&words).spawn().expect("the command"),
            since: Instant::now(),
        }
    }

    /// The number of its second process, once both are there.
    fn second(&self) -> u32 {
        self.both()[1]
    }

    /// The numbers of its processes, once both are there.
    fn both(&self) -> [u32; 2] {
        loop {
            let own = self.coordinator.id();
            let path = format!("/proc/{own}/task/{own}/children");
            let children = fs::read_to_string(path).unwrap_or_default();
            let pids: Vec<u32> = children
                .split_whitespace()
                .filter_map(|pid| pid.parse().ok())
                .collect();
            if let Ok(both) = pids.try_into() {
                return both;
            }
            assert!(self.since.elapsed() < Duration::from_secs(10), "{children}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends a signal to a process this long after the start of the run.
    fn signal(&self, pid: u32, signal: &str, after: Duration) {
        std::thread::sleep(after.saturating_sub(self.since.elapsed()));
        let sent = Command::new("kill")
            .args(["-s", signal, &pid.to_string()])
            .status();
        assert!(sent.expect("kill").success());
    }

    fn end(self) -> (Value, Output) {
        let output = self.coordinator.wait_with_output().expect("an end");
        let summary: Value = serde_json::from_slice(&output.stdout).expect("a report");
        (summary["summary"].clone(), output)
    }
}

/// planned = sent + unsent + lost, and sent = answered + failed + in flight.
fn assert_sums(found: &Value) -> u64 {
    let unfinished = &found["unfinished"];
    let of = |key: &str| unfinished[key].as_u64().unwrap_or(0);
    let sent = count(found, "sent");
    assert_eq!(
        count(found, "planned"),
        sent + of("unsent") + of("lost"),
        "{found:#}"
    );
    let ended = count(found, "answered") + count(found, "failed");
    assert_eq!(sent, ended + of("in_flight"), "{found:#}");
    of("lost")
}

#[test]
fn a_process_that_is_killed_loses_its_share_from_then_on() {
    let server = serve();
    let run = Running::start(&url(&server), &["-r", "400"]);
    run.signal(run.second(), "KILL", Duration::from_millis(2_500));
    let (found, output) = run.end();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("process 2 of 2 was killed by signal 9"),
        "{stderr}"
    );
    assert!(
        stderr.contains("50% of the load is lost from there on"),
        "{stderr}"
    );
    assert_eq!(count(&found, "planned"), 2_000);
    let lost = assert_sums(&found);
    // It sends 200 a second, and had told of so many of five seconds.
    let told = stderr
        .split("the interval up to ")
        .nth(1)
        .unwrap_or_default();
    let told: f64 = told.split(' ').next().unwrap_or_default().parse().unwrap();
    let silent = (200.0 * (5.0 - told)).round() as u64;
    assert!((1.0..=4.0).contains(&told), "{stderr}");
    assert!((silent..=silent + 100).contains(&lost), "{lost}: {stderr}");
    // The other went on to the end.
    assert!(count(&found, "answered") >= 1_195, "{found:#}");
}

#[test]
fn all_processes_that_are_killed_are_named_and_what_was_planned_stays_whole() {
    let server = serve();
    let run = Running::start(&url(&server), &["-r", "400"]);
    for pid in run.both() {
        run.signal(pid, "KILL", Duration::from_millis(2_500));
    }
    let (found, output) = run.end();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    for process in [1, 2] {
        let said = format!("rocess {process} of 2 was killed by signal 9");
        assert!(stderr.contains(&said), "{stderr}");
    }
    assert_eq!(
        stderr.matches("50% of the load is lost").count(),
        2,
        "{stderr}"
    );
    assert_eq!(count(&found, "planned"), 2_000);
    assert!(assert_sums(&found) >= 900, "{found:#}");
}

#[test]
fn a_process_that_is_stopped_is_ended_and_named() {
    let server = serve();
    let run = Running::start(&url(&server), &["-r", "400"]);
    run.signal(run.second(), "STOP", Duration::from_millis(1_300));
    let (found, output) = run.end();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let said = "process 2 of 2 said nothing for 3 s and was ended";
    assert!(stderr.contains(said), "{stderr}");
    assert!(assert_sums(&found) > 0);
}

#[test]
fn a_closed_load_goes_on_with_the_users_that_are_left() {
    let server = serve();
    let run = Running::start(&url(&server), &[]);
    run.signal(run.second(), "KILL", Duration::from_millis(2_500));
    let (found, output) = run.end();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(assert_sums(&found), 0, "nobody plans in a closed load");
    assert_eq!(
        found["duration_s"].as_f64().map(f64::round),
        Some(5.0),
        "{found:#}"
    );
}

#[test]
fn an_interrupt_ends_all_processes_with_a_report() {
    let server = serve();
    let run = Running::start(&url(&server), &["-r", "200"]);
    let second = run.second();
    run.signal(run.coordinator.id(), "INT", Duration::from_millis(1_500));
    let (found, output) = run.end();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(assert_sums(&found), 0);
    assert!(count(&found, "answered") > 0);
    assert!(
        !fs::exists(format!("/proc/{second}")).unwrap(),
        "it is gone"
    );
}

#[test]
fn children_whose_coordinator_is_killed_end_by_themselves() {
    let server = serve();
    let mut run = Running::start(&url(&server), &["-r", "200"]);
    let second = run.second();
    std::thread::sleep(Duration::from_millis(800));
    run.coordinator.kill().unwrap();
    run.coordinator.wait().unwrap();
    let patience = Instant::now() + Duration::from_secs(5);
    // Whoever takes it over may let it wait as a zombie, which runs no more.
    let runs = || {
        let stat = fs::read_to_string(format!("/proc/{second}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    while runs() {
        assert!(Instant::now() < patience, "it still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_can_not_run_on_processes_is_refused_in_a_sentence() {
    for (words, start) in [
        (&["--processes", "0"][..], "--processes 0 runs nothing"),
        (
            &["--processes", "5", "-c", "4"],
            "--processes 5 is more than --connections 4",
        ),
        (
            &["--processes", "3", "-t", "2"],
            "--processes 3 needs as many threads",
        ),
    ] {
        let said = loadline(&[words, &["http://127.0.0.1:9/"]].concat());
        assert_eq!(said.code, Some(2), "{words:?}");
        assert!(said.stderr.contains(start), "{words:?}: {}", said.stderr);
    }
    // Nobody listens there, which both processes say as one.
    let said = loadline(&[
        "--processes",
        "2",
        "-c",
        "4",
        "-d",
        "1s",
        "http://127.0.0.1:9/",
    ]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.stderr
            .contains("start the server or correct the address"),
        "{}",
        said.stderr
    );
    assert_eq!(loadline(&["worker-process"]).code, Some(2));
}

/// The number in front of which a report has these words.
fn number_behind(report: &str, words: &str) -> u64 {
    let rest = report.split(words).nth(1).unwrap_or_default();
    let number = rest.split_whitespace().next().unwrap_or_default();
    number
        .parse()
        .unwrap_or_else(|_| panic!("{words} in {report}"))
}

#[test]
fn ab_counts_on_processes_what_it_counts_on_threads() {
    let server = serve();
    let url = url(&server);
    let words = ["-n", "1200", "-c", "4", &url];
    let one = loadline(&[&["ab"], &words[..]].concat());
    let two = loadline(&[&["ab", "--processes", "2"], &words[..]].concat());
    assert_eq!((one.code, two.code), (Some(0), Some(0)), "{}", two.stderr);
    for line in [
        "Complete requests:",
        "Failed requests:",
        "HTML transferred:",
    ] {
        let figure = |report: &str| number_behind(report, line);
        assert_eq!(figure(&one.stdout), figure(&two.stdout), "{line}");
    }
    assert_eq!(one.stderr, two.stderr, "the lines of progress");
    assert_eq!(server.stop().answers, 2_400);
}

#[test]
fn oha_counts_on_processes_what_it_counts_on_threads() {
    let server = serve();
    let url = url(&server);
    let report = |more: &[&str]| -> Value {
        let words = [
            "--no-tui",
            "--output-format",
            "json",
            "-n",
            "900",
            "-c",
            "4",
            &url,
        ];
        let _beside_others = beside_others();
        let output = command(&[&["oha"], more, &words[..]].concat())
            .output()
            .unwrap();
        assert!(output.stderr.is_empty(), "{output:?}");
        serde_json::from_slice(&output.stdout).expect("a report")
    };
    let (one, two) = (report(&[]), report(&["--processes", "2"]));
    for key in ["statusCodeDistribution", "errorDistribution"] {
        assert_eq!(one[key], two[key], "{key}");
    }
    assert_eq!(two["statusCodeDistribution"]["200"], 900);
    for key in ["totalData", "sizePerRequest", "successRate"] {
        assert_eq!(one["summary"][key], two["summary"][key], "{key}");
    }
    let csv = [
        "oha",
        "--processes",
        "3",
        "--no-tui",
        "--output-format",
        "csv",
        "-n",
        "90",
        "-c",
    ];
    let csv = loadline(&[&csv[..], &["3", &url]].concat());
    assert_eq!(csv.stdout.lines().count(), 91, "{}", csv.stderr);
    assert_eq!(server.stop().answers, 1_890);
}

#[test]
fn wrk_counts_on_processes_what_its_server_answers() {
    let server = serve();
    let words = [
        "wrk",
        "--processes",
        "2",
        "-t",
        "2",
        "-c",
        "4",
        "-d",
        "1",
        "--latency",
    ];
    let said = loadline(&[&words[..], &[&url(&server)]].concat());
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    let counted = said
        .stdout
        .split(" requests in ")
        .next()
        .unwrap_or_default();
    let counted: u64 = counted
        .lines()
        .last()
        .unwrap_or_default()
        .trim()
        .parse()
        .unwrap();
    // What was in flight at the end is answered as well.
    let answered = server.stop().answers;
    assert!(
        (counted..=counted + 4).contains(&answered),
        "{counted} of {answered}"
    );
    let rates = said
        .stdout
        .lines()
        .find(|line| line.trim_start().starts_with("Req/Sec"));
    let mean = rates.and_then(|line| line.split_whitespace().nth(1));
    assert!(
        mean.is_some_and(|mean| !mean.starts_with("0.00")),
        "{}",
        said.stdout
    );
}

#[test]
fn tools_say_what_does_not_run_on_processes() {
    for (line, code, sentence) in [
        (
            "ab --processes 0 http://127.0.0.1/",
            22,
            "--processes takes a number",
        ),
        (
            "ab --processes 3 -n 9 -c 2 http://127.0.0.1/",
            1,
            "ab: --processes 3 is more than -c 2",
        ),
        (
            "oha --processes 3 -n 9 -c 2 http://127.0.0.1/",
            2,
            "oha: --processes 3 is more than -c 2",
        ),
        (
            "oha --processes 2 -D /dev/stdin http://127.0.0.1/",
            2,
            "oha: each of several processes reads the files",
        ),
        (
            "wrk --processes 3 -t 2 http://127.0.0.1/",
            1,
            "--processes 3 needs as many threads",
        ),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let said = loadline(&words);
        assert_eq!(said.code, Some(code), "{line}: {}", said.stderr);
        assert!(said.stderr.contains(sentence), "{line}: {}", said.stderr);
    }
}

/// The number of requests in a report of ab, wrk or oha.
fn counted(report: &str) -> u64 {
    if let Ok(report) = serde_json::from_str::<Value>(report) {
        return report["statusCodeDistribution"]["200"]
            .as_u64()
            .unwrap_or(0);
    }
    match report.split_once(" requests in ") {
        Some((before, _)) => {
            let number = before.split_whitespace().last().unwrap_or_default();
            number.parse().unwrap_or_else(|_| panic!("{report}"))
        }
        None => number_behind(report, "Complete requests:"),
    }
}

#[test]
fn a_report_of_a_tool_says_what_it_lacks_of_a_process_that_was_killed() {
    for (tool, own) in [
        ("ab", &["-q", "-t", "3", "-n", "50000000"][..]),
        ("wrk", &["-t", "2", "-d", "3"]),
        ("oha", &["--no-tui", "--output-format", "json", "-z", "3s"]),
    ] {
        let server = serve();
        let url = url(&server);
        let words = [&[tool, "--processes", "2", "-c", "2"], own, &[&url]].concat();
        let run = Running {
            _beside_others: beside_others(),
            coordinator: command(&words).spawn().expect("the command"),
            since: Instant::now(),
        };
        run.signal(run.second(), "KILL", Duration::from_millis(1_500));
        let output = run.coordinator.wait_with_output().expect("an end");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{tool}: {stderr}");
        assert!(
            stderr.contains("process 2 of 2 was killed by signal 9"),
            "{tool}: {stderr}"
        );
        assert!(
            stderr.contains("50% of the load is lost from there on"),
            "{tool}: {stderr}"
        );
        let report = String::from_utf8_lossy(&output.stdout).into_owned();
        let (counted, answered) = (counted(&report), server.stop().answers);
        assert!(
            counted > 0 && counted <= answered,
            "{tool}: {counted} of {answered}"
        );
    }
}

#[test]
fn the_errors_of_a_lua_script_end_the_load_of_all_processes() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("a.lua");
    let source = "local number, sent = 0, 0\n\
                  function setup(thread) number = number + 1 thread:set('number', number) end\n\
                  function request()\n\
                  sent = sent + 1\n\
                  if _G.number == 2 and sent == 5 then error('enough') end\n\
                  return wrk.format()\n\
                  end\n";
    fs::write(&script, source).unwrap();
    let (script, url) = (text(&script), url(&server));
    let since = Instant::now();
    for words in [
        &[
            "--processes",
            "2",
            "-t",
            "2",
            "-c",
            "2",
            "-d",
            "60s",
            "-s",
            script,
            &url,
        ][..],
        &[
            "wrk",
            "--processes",
            "2",
            "-t",
            "2",
            "-c",
            "2",
            "-d",
            "60",
            "-s",
            script,
            &url,
        ],
    ] {
        let said = loadline(words);
        assert_ne!(said.code, Some(0), "{words:?}: {}", said.stderr);
        assert!(said.stderr.contains("enough"), "{words:?}: {}", said.stderr);
    }
    assert!(
        since.elapsed() < Duration::from_secs(40),
        "half of one of them"
    );
}
