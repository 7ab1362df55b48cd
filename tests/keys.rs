//! Keys on a terminal: what they make of the load of a run, and where it is reported.

use crate::rig::{assert_balanced, beside_others, loadline, program, serve, text, url};
use crate::schemas::document;
use loadline_testbed::Server;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// From one key to the next: longer than a change takes to hold, and so that the run has plots.
const BETWEEN: Duration = Duration::from_millis(900);

/// Runs the command on a terminal of its own, presses the keys when its load has begun, and returns
/// its exit code and what the terminal showed.
fn on_terminal(server: &Server, line: &str, keys: &[&str]) -> (Option<i32>, String) {
    let _beside_others = beside_others();
    let mut child = Command::new("script")
        .args(["-q", "-e", "-c", line, "/dev/null"])
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script, of bsdutils, is there");
    let patience = Instant::now() + Duration::from_secs(20);
    while server.counts().requests < 4 {
        assert!(Instant::now() < patience, "nothing reached the server");
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut stdin = child.stdin.take().expect("a pipe");
    for key in keys {
        std::thread::sleep(BETWEEN);
        stdin.write_all(key.as_bytes()).expect("the keys are read");
    }
    let ended = child.wait_with_output().expect("the command ends");
    drop(stdin);
    (
        ended.status.code(),
        String::from_utf8_lossy(&ended.stdout).into_owned(),
    )
}

fn levels(report: &Value) -> Vec<Value> {
    let changes = report["summary"]["changes"].as_array().expect("changes");
    changes.iter().map(|change| change["to"].clone()).collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("it was written")
}

#[test]
fn keys_change_all_scenarios_and_every_report_tells_it() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let (plan, saved, report) = (file("shop.toml"), file("a.run"), file("a.json"));
    let keys = format!(
        "threads = 1\nduration = '60s'\nurl = '{}'\n\
         [[scenario]]\nname = 'browse'\nrate = 50\nconnections = 2\n\
         [[scenario]]\nname = 'order'\nconnections = 3\n",
        url(&server, "delay=5ms"),
    );
    std::fs::write(&plan, keys).unwrap();
    let line = format!(
        "{} {} --allow-invalid --save {} -o json={}",
        text(&program()),
        text(&plan),
        text(&saved),
        text(&report)
    );
    // The last change has not come into effect when the run is stopped.
    let (code, shown) = on_terminal(&server, &line, &["+", "p", "p", "-q"]);
    assert_eq!(code, Some(130), "{shown}");
    for said in ["105 % of the plan.", "The load is paused.", "100 % of the"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    let report = document(&read(&report));
    assert_balanced(&report["summary"]);
    let share = |share: f64| json!({ "share": share });
    let expected = [share(1.05), json!("paused"), share(1.05), share(1.0)];
    assert_eq!(levels(&report), expected);
    let again = loadline(&["report", text(&saved), "-o", "json"]).stdout;
    assert_eq!(
        document(&again)["summary"]["changes"],
        report["summary"]["changes"]
    );
    let plots = file("plots");
    let drawn = loadline(&["report", text(&saved), "--plots", text(&plots)]);
    assert_eq!(drawn.code, Some(0), "{}", drawn.stderr);
    assert!(read(&plots.join("rate.svg")).contains("105 %"), "no mark");
}

#[test]
fn more_users_than_descriptors_are_refused_in_a_sentence() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("a.json");
    let line = format!(
        "ulimit -n 64; {} -t 1 -c 47 -d 60s --allow-invalid -o json={} '{}'",
        text(&program()),
        text(&report),
        url(&server, "delay=5ms")
    );
    let (code, shown) = on_terminal(&server, &line, &["+", "-", "q"]);
    assert_eq!(code, Some(130), "{shown}");
    let refused = "The load stays as it is: it takes 65 open files, and this process may have 64;";
    assert!(shown.contains(refused), "{shown}");
    let report = document(&read(&report));
    assert_eq!(levels(&report), [json!({ "users": 45 })]);
}
