//! Searches for the load line, and the floor: what is found, what is kept of it, and what is said
//! where nothing can be.

use crate::rig::{CommandOutput, beside_others, command, loadline, serve, serve_with, text, url};
use loadline_record::RunFile;
use loadline_testbed::{Limit, Server};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A server that carries this rate and no more.
fn limited(rate_per_s: f64) -> Server {
    let counters = 2;
    serve_with(|config| {
        config.limit = Some(Limit {
            rate_per_s,
            counters,
        });
    })
}

/// Flags of a search that takes seconds.
const QUICK: [&str; 12] = [
    "capacity",
    "-d",
    "500ms",
    "--warmup",
    "500ms",
    "--trials",
    "3",
    "--precision",
    "10%",
    "--budget",
    "40s",
    "-t1",
];

fn search(flags: &[&str], url: &str) -> CommandOutput {
    loadline(&[&QUICK[..], flags, &["--no-progress", url]].concat())
}

fn json(said: &CommandOutput) -> Value {
    serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{}{}", said.stdout, said.stderr))
}

fn level(report: &Value) -> f64 {
    report["answer"]["level"]
        .as_f64()
        .unwrap_or_else(|| panic!("{:#}", report["answer"]))
}

/// A server that answers 200 to each request while so few connections are open, and 503 to all
/// while there are more: where its load line lies does not depend on how fast anything is.
struct Turnstile {
    addr: SocketAddr,
    closing: Arc<AtomicBool>,
}

impl Turnstile {
    fn of(most: usize) -> Turnstile {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let addr = listener.local_addr().expect("it is bound");
        let (closing, open) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let closes = Arc::clone(&closing);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if closes.load(Ordering::Relaxed) {
                    return;
                }
                let open: Arc<AtomicUsize> = Arc::clone(&open);
                std::thread::spawn(move || serve_one(&stream, &open, most));
            }
        });
        Turnstile { addr, closing }
    }
}

impl Drop for Turnstile {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Relaxed);
        // The listener wakes up for it.
        let _ = TcpStream::connect(self.addr);
    }
}

/// Answers the requests of a connection until it is closed, each after 5 ms.
fn serve_one(stream: &TcpStream, open: &AtomicUsize, most: usize) {
    open.fetch_add(1, Ordering::Relaxed);
    let (mut writer, lines) = (stream, BufReader::new(stream).lines());
    for line in lines.map_while(Result::ok) {
        if !line.is_empty() {
            continue;
        }
        std::thread::sleep(Duration::from_millis(5));
        let status = match open.load(Ordering::Relaxed) <= most {
            true => "200 OK",
            false => "503 Service Unavailable",
        };
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
        if writer.write_all(answer.as_bytes()).is_err() {
            break;
        }
    }
    open.fetch_sub(1, Ordering::Relaxed);
}

/// Each trial is a run of the database that the file is reported as.
fn assert_in_database(saved: &Path, trials: usize) {
    let database = saved.with_extension("sqlite");
    let to = format!("sqlite={}", text(&database));
    let told = loadline(&["report", text(saved), "-o", &to]);
    assert!(database.exists(), "{}", told.stderr);
    let query = "SELECT count(*) AS n FROM runs WHERE role = 'trial'";
    assert_eq!(crate::sqlite::count(&database, query), trials as u64);
}

/// All trials are in the file, in their order and with what they were for; up and back down again
/// is one run of two rungs.
fn assert_kept(saved: &Path, report: &Value, code: Option<i32>) {
    let again = loadline(&["report", text(saved), "-o", "json"]);
    assert_eq!(again.code, code, "{}", again.stderr);
    assert_eq!(&json(&again), report);
    assert_kept_by_trials_alone(saved, report);
    let runs = RunFile::read_all(saved).unwrap();
    let told = loadline(&["report", text(saved), "-o", "csv"]);
    assert_eq!(told.code, code, "{}", told.stderr);
    assert!(told.stdout.lines().count() > runs.len(), "{}", told.stdout);
    assert_in_database(saved, runs.len());
    let one = loadline(&["report", text(saved), "--run", "1"]);
    assert_eq!(one.code, Some(0), "a trial may break: {}", one.stderr);
    assert!(!one.stdout.contains("load line:"), "{}", one.stdout);
    let trials = report["trials"].as_array().unwrap();
    assert_each_is_as_by_itself(saved, trials);
    let purposes = trials.iter().map(|trial| trial["purpose"].as_str());
    let purposes: Vec<_> = purposes
        .filter(|name| *name != Some("back at 90 %"))
        .collect();
    let roles: Vec<_> = runs
        .iter()
        .map(|run| run.header().role.clone().unwrap())
        .collect();
    let names: Vec<_> = roles.iter().map(|role| role.name.as_deref()).collect();
    assert_eq!(names, purposes);
    assert!(
        roles
            .iter()
            .zip(1..)
            .all(|(role, number)| role.number == number)
    );
    assert!(runs[0].header().environment.floor.is_some());
    assert!(report["floor"]["p50_ns"].as_u64().unwrap() > 0);
}

/// The times of a trial are those of its run, to the last digit: what had no response counts in
/// both, and what is a lower bound is one in both.
fn assert_each_is_as_by_itself(saved: &Path, trials: &[Value]) {
    let alone =
        |trial: &&Value| !matches!(trial["purpose"].as_str(), Some("110 %" | "back at 90 %"));
    for trial in trials.iter().filter(alone) {
        let number = trial["number"].to_string();
        let words = ["report", text(saved), "--run", &number, "-o", "json"];
        let run = json(&loadline(&words));
        let times = &run["summary"]["response_time_us"];
        let is_bound = |name: &str| {
            let bounds = times["at_least"].as_array();
            bounds.is_some_and(|bounds| bounds.iter().any(|bound| bound == name))
        };
        let has_any = times["count"] != 0 || times["unfinished"] != 0;
        for name in ["p50", "p99"] {
            let (figure, bound) = (format!("{name}_us"), format!("{name}_at_least"));
            if has_any && !times[name].is_null() {
                assert_eq!(trial[&figure], times[name], "{name} of {trial:#}");
            }
            assert_eq!(trial[&bound], is_bound(name), "{name} of {trial:#}");
        }
        let checks = run["summary"]["checks"].as_array().unwrap().iter();
        for (of_trial, of_run) in trial["checks"].as_array().unwrap().iter().zip(checks) {
            assert_eq!(of_trial["outcome"], of_run["outcome"], "{trial:#}");
        }
    }
}

/// The outcome stands behind the trials, and they alone give the same one.
fn assert_kept_by_trials_alone(saved: &Path, report: &Value) {
    let whole = std::fs::read_to_string(saved).unwrap();
    let (trials, outcome) = whole.rsplit_once("{\"kind\":\"search\"").unwrap();
    assert_eq!(outcome.lines().count(), 1, "it is the last line");
    let without = saved.with_extension("trials");
    std::fs::write(&without, trials).unwrap();
    assert_eq!(
        &json(&loadline(&["report", text(&without), "-o", "json"])),
        report
    );
}

/// A search that was killed tells what it knew; trials that are not those of one search are told
/// one by one.
fn assert_cut_and_mixed_up(saved: &Path) {
    let whole = std::fs::read_to_string(saved).unwrap();
    let starts: Vec<usize> = whole
        .match_indices("{\"loadline\":")
        .map(|found| found.0)
        .collect();
    let told = |content: &str| {
        std::fs::write(saved, content).unwrap();
        let said = loadline(&["report", text(saved)]);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        said.stdout
    };
    let third = starts[2];
    let killed = told(&whole[..third + 200]);
    assert!(killed.contains("searched in 2 trials"), "{killed}");
    assert!(killed.contains("when the search ended early."), "{killed}");
    for other in [
        &whole[starts[1]..],
        &[&whole[..starts[1]], &whole[third..]].concat(),
    ] {
        let each = told(other);
        assert!(!each.contains("load line:"), "{each}");
        assert!(each.contains("trial 3 of search"), "{each}");
    }
}

#[test]
fn the_users_that_a_server_lets_in_are_found_confirmed_and_all_of_it_kept() {
    let server = Turnstile::of(7);
    let dir = tempfile::tempdir().unwrap();
    let saved = dir.path().join("search.run");
    let flags = ["--users", "--max-users", "200", "--check", "non2xx<50%"];
    let svg = dir.path().join("search.svg");
    let files = ["-o", "json", "--save", text(&saved), "--svg", text(&svg)];
    let page = dir.path().join("search.html");
    let to_page = format!("-ohtml={}", text(&page));
    let paged = [to_page.as_str()];
    let paged = &paged[..usize::from(cfg!(feature = "html"))];
    let flags = [&flags[..], &files, paged].concat();
    let said = search(&flags, &format!("http://{}/", server.addr));
    let report = json(&said);
    assert_eq!(said.code, Some(0), "{:#} {}", report["answer"], said.stderr);
    let answer = &report["answer"];
    assert_eq!(
        (level(&report), &report["searched"]),
        (7.0, &"users".into())
    );
    assert_eq!(answer["breaks"], serde_json::json!(["non2xx<50%"]));
    let bounds = (&answer["lower_bound"], &answer["upper_bound"]);
    assert_eq!(bounds, (&7.0.into(), &8.0.into()), "{answer:#}");
    assert_eq!(answer["confirmed_s"], 2.5, "{answer:#}");
    let goal = &report["goal"];
    assert_eq!(
        goal["checks"],
        serde_json::json!(["non2xx<50%", "errors<1%"])
    );
    assert_eq!((&goal["trials"], &goal["width"]), (&3.into(), &0.1.into()));
    let rungs = report["ladder"].as_array().unwrap();
    let rungs: Vec<_> = rungs
        .iter()
        .map(|rung| {
            (
                rung["part"].as_str().unwrap(),
                rung["level"].as_f64().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("idle", 1.0),
        ("10 %", 1.0),
        ("50 %", 4.0),
        ("90 %", 6.0),
        ("110 %", 8.0),
        ("back at 90 %", 6.0),
    ];
    assert_eq!(rungs, expected);
    assert_eq!(report["ladder"][4]["held"], false);
    assert_eq!(report["recovery"]["recovered"], true);
    let svg = std::fs::read_to_string(&svg).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("p99, failed"));
    assert_kept(&saved, &report, said.code);
    #[cfg(feature = "html")]
    crate::page::assert_search_is_drawn(&page, &saved);
    assert_cut_and_mixed_up(&saved);
}

/// How much of this machine there is for the search is not known here, so neither is what it finds:
/// whether that is right is for the targets in virtual time. Whatever it is, it has its reason.
#[test]
fn a_search_of_rates_ends_in_an_answer_with_its_reason_and_all_of_it_kept() {
    let server = limited(400.0);
    let dir = tempfile::tempdir().unwrap();
    let saved = dir.path().join("search.run");
    let flags = ["--check", "p99<200ms", "-o", "json", "--save", text(&saved)];
    let said = search(&flags, &url(&server, ""));
    let report = json(&said);
    let answer = &report["answer"];
    let code = match answer["kind"].as_str().unwrap() {
        "found" => 0,
        "nothing_holds" if answer["own_limit"].is_null() => 1,
        _ => 3,
    };
    assert_eq!(said.code, Some(code), "{answer:#} {}", said.stderr);
    // It never carries more than its limit, but for what half a second of trial lets pass.
    if let Some(found) = answer["level"].as_f64() {
        assert!(found <= 480.0, "{found}");
    }
    let trials = report["trials"].as_array().unwrap();
    assert!(
        trials.iter().any(|trial| trial["held"] == false),
        "{trials:#?}"
    );
    assert_eq!(trials[0]["purpose"], "warm-up");
    let ladder = report["ladder"].as_array().unwrap();
    assert!(code == 0 || ladder.is_empty(), "{ladder:#?}");
    if answer["kind"] == "unsettled" {
        assert!(
            answer["lower"].is_f64() || answer["upper"].is_f64(),
            "{answer:#}"
        );
    }
    assert_kept(&saved, &report, said.code);
}

#[test]
#[ignore = "twenty searches take a quarter of an hour of a machine that does nothing else; make \
            soak runs them"]
fn the_load_line_of_a_limited_server_is_found_within_two_percent() {
    let searches: u32 = 20;
    let near = (0..searches).filter(|seed| {
        let capacity = 4_000.0 + 137.0 * f64::from(*seed);
        let server = serve_with(|config| {
            config.limit = Some(Limit {
                rate_per_s: capacity,
                counters: 4,
            })
        });
        let seed = seed.to_string();
        let flags = [
            "capacity",
            "-d1s",
            "--trials=5",
            "--precision=1%",
            "--budget=5m",
            "--min-rate=1000",
            "--check=p99<200ms",
            "--warmup=0s",
            "--no-floor",
            "-t1",
            "--no-progress",
            "-o=json",
            "--seed",
            &seed,
            &url(&server, ""),
        ];
        let report = json(&loadline(&flags));
        // A search without a load line is not near either.
        let found = report["answer"]["level"].as_f64().unwrap_or(f64::NAN);
        let off = found / capacity - 1.0;
        println!("{capacity}/s: {:+.2} %", off * 100.0);
        off.abs() <= 0.02
    });
    let near = near.count() as u32;
    assert!(100 * near >= 95 * searches, "{near} of {searches}");
}

#[test]
fn a_server_that_carries_all_that_is_tried_has_no_load_line_yet() {
    let server = serve();
    let flags = [
        "--users",
        "--max-users",
        "4",
        "--check",
        "errors<1%",
        "--no-floor",
    ];
    let said = search(&flags, &url(&server, "delay=1ms"));
    assert_eq!(said.code, Some(2), "{}{}", said.stdout, said.stderr);
    let line = "load line: at least 4 users, the highest that was tried; raise --max-users";
    assert!(said.stdout.contains(line), "{}", said.stdout);
}

#[test]
fn a_server_that_keeps_no_check_has_none() {
    let server = serve();
    let flags = ["--min-rate", "50", "--check", "non2xx<1%", "--no-floor"];
    let said = search(&flags, &url(&server, "status=503"));
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    let line = "load line: none; non2xx<1% fails even at 50 req/s, the lowest";
    assert!(said.stdout.contains(line), "{}", said.stdout);
}

#[test]
fn connections_that_run_out_are_no_capacity_of_the_target() {
    let server = serve();
    // Four connections, each 100 ms for an answer, carry 40 a second, whatever the server does.
    let check = ["--check", "mean<1s"];
    let flags = ["-c", "4", "--max-connections", "4", "--no-floor"];
    let said = search(&[&check[..], &flags].concat(), &url(&server, "delay=100ms"));
    assert_eq!(said.code, Some(3), "{}{}", said.stdout, said.stderr);
    assert!(
        said.stdout
            .contains("the generator reaches its limit first"),
        "{}",
        said.stdout
    );
    assert!(
        said.stdout.contains("4 connections were in use"),
        "{}",
        said.stdout
    );
}

#[test]
fn an_interrupted_search_tells_what_it_knows() {
    let server = limited(400.0);
    let _beside_others = beside_others();
    let url = url(&server, "");
    let words = [
        "capacity",
        "-d",
        "300ms",
        "--warmup",
        "0s",
        "--no-floor",
        "--no-progress",
        &url,
    ];
    let child = command(&words).spawn().expect("the command starts");
    let patience = Instant::now() + Duration::from_secs(30);
    // The first trials alone are this many.
    while server.counts().requests < 200 {
        assert!(Instant::now() < patience, "nothing reached the server");
        std::thread::sleep(Duration::from_millis(10));
    }
    let id = child.id().to_string();
    let killed = Command::new("kill").args(["-s", "INT", &id]).status();
    assert!(killed.expect("kill is there").success());
    let said: CommandOutput = child.wait_with_output().expect("the command ends").into();
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    assert!(said.stdout.contains("load line: "), "{}", said.stdout);
    assert!(
        said.stdout.contains("when the search ended early."),
        "{}",
        said.stdout
    );
}

#[test]
fn a_search_ends_where_its_target_does_and_says_so() {
    let server = limited(400.0);
    let _beside_others = beside_others();
    let target = url(&server, "");
    let mut words: Vec<&str> = QUICK.to_vec();
    words.extend(["--min-rate", "100", "--no-floor", &target]);
    let mut child = command(&words).spawn().expect("the command starts");
    let said = child.stderr.take().expect("its standard error is read");
    let mut lines = BufReader::new(said).lines().map_while(Result::ok);
    let third = lines.find(|line| line.starts_with("trial   3"));
    assert!(third.is_some(), "the search has begun");
    drop(server);
    let rest: Vec<String> = lines.collect();
    let output = child.wait_with_output().expect("the command ends");
    let (said, report) = (rest.join("\n"), String::from_utf8_lossy(&output.stdout));
    assert_eq!(output.status.code(), Some(2), "{said}{report}");
    assert!(said.contains("the search ended early: "), "{said}");
    assert!(report.contains("when the search ended early."), "{report}");
    assert!(!report.contains("give it more"), "{report}");
}

#[test]
fn a_picture_is_drawn_over_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let plan = dir.path().join("plan.toml");
    std::fs::write(&plan, "url = 'http://127.0.0.1:1/'").unwrap();
    let refused = |flags: &[&str], what: &str| {
        let said = loadline(&[&QUICK[..], flags].concat());
        assert_eq!(said.code, Some(2), "{}", said.stderr);
        assert!(said.stderr.contains(what), "{}", said.stderr);
    };
    refused(
        &["--svg", text(&plan), text(&plan)],
        "is read, so it can't be written",
    );
    let other = dir.path().join("other");
    let both = [
        "--svg",
        text(&other),
        "--save",
        text(&other),
        "http://127.0.0.1:1/",
    ];
    refused(&both, "would be written twice");
    assert!(std::fs::read_to_string(&plan).unwrap().starts_with("url"));
}

#[test]
fn a_target_that_is_not_there_is_told_in_one_sentence() {
    let said = search(&["--no-floor"], "http://127.0.0.1:1/");
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (Some(2), ""),
        "{}",
        said.stderr
    );
    assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
}

#[test]
fn the_floor_of_this_machine_is_kept_with_a_run() {
    let server = serve();
    let flags = [
        "--floor",
        "-n",
        "50",
        "-c",
        "2",
        "-t",
        "1",
        "--think",
        "40ms",
        "--no-progress",
        "-o",
        "json",
    ];
    let said = loadline(&[&flags[..], &[&url(&server, "size=10&delay=1ms")]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let floor = json(&said)["environment"]["floor"].clone();
    assert_eq!(floor["connections"], 2, "{floor}");
    let (min, p50) = (
        floor["min_ns"].as_u64().unwrap(),
        floor["p50_ns"].as_u64().unwrap(),
    );
    // The target's delay, which the query asks for, is none of the floor's, nor is think time.
    assert!(min <= p50 && min < 1_000_000, "{floor}");
    assert!(floor["answers_per_s"].as_f64().unwrap() > 100.0, "{floor}");
}

#[test]
fn the_floor_is_measured_by_the_runs_own_protocol() {
    let server = serve_with(|config| config.tls = true);
    let target = format!("https://{}/", server.addr());
    let flags = [
        "--floor",
        "-k",
        "-n",
        "20",
        "-c",
        "2",
        "-t",
        "1",
        "--no-progress",
    ];
    let said = loadline(&[&flags[..], &[target.as_str()]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(
        said.stdout.contains("Floor"),
        "{}{}",
        said.stdout,
        said.stderr
    );
    assert!(said.stderr.is_empty(), "{}", said.stderr);
}
