//! Watching, beside a run and alone.

use crate::rig::{CommandOutput, beside_others, command, loadline, serve, text, url};
use crate::schemas::document;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command};

/// A process that does nothing, gone with the value.
struct Sleeper(Child);

impl Sleeper {
    fn start() -> Self {
        Sleeper(Command::new("sleep").arg("60").spawn().unwrap())
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a command prints first; it prints the rest unread.
fn first_line(command: &mut Child) -> String {
    let mut line = String::new();
    let stdout = command.stdout.as_mut().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    line
}

fn report(said: &CommandOutput) -> Value {
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    serde_json::from_str(&said.stdout).expect("the report is JSON")
}

#[test]
fn a_run_watches_itself_the_target_and_what_was_named() {
    let (server, sleeper) = (serve(), Sleeper::start());
    let folder = tempfile::tempdir().unwrap();
    let (saved, csv) = (folder.path().join("a.run"), folder.path().join("a.csv"));
    let (url, csv_output) = (url(&server, ""), format!("csv={}", text(&csv)));
    let words = [
        "-c",
        "4",
        "-d",
        "2s",
        "--allow-invalid",
        "--watch",
        &sleeper.pid(),
        "--save",
        text(&saved),
    ];
    let outputs = ["-o", "json", "-o", &csv_output, &url];
    let result = report(&loadline(&[&words[..], &outputs].concat()));
    let watch = &result["summary"]["watch"];
    let names: Vec<&str> = watch["trees"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tree| tree["name"].as_str().unwrap())
        .collect();
    let target = format!(":{}", server.addr().port());
    assert_eq!(names, ["generator", &sleeper.pid(), &target]);
    assert_eq!(watch["trees"][1]["command"], "sleep");
    assert_eq!(watch["trees"][2]["pid"], std::process::id());
    assert!(
        watch["trees"][0]["cpu_s"].as_f64().unwrap() > 0.05,
        "{watch:#}"
    );
    assert!(
        watch["trees"][1]["cpu_s"].as_f64().unwrap() < 0.05,
        "{watch:#}"
    );
    assert_eq!(watch["host"]["interface"], "lo");
    let first = &result["intervals"][0]["watch"];
    assert!(
        first["trees"][0]["tcp"]["established"].as_u64().unwrap() >= 4,
        "{first:#}"
    );
    assert!(first["host"]["net_in_bytes_per_s"].as_f64().unwrap() > 0.0);
    let again = report(&loadline(&[
        "report",
        "--allow-invalid",
        "-o",
        "json",
        text(&saved),
    ]));
    assert_eq!(&again["summary"]["watch"], watch);
    let rows = std::fs::read_to_string(&csv).unwrap();
    assert!(
        rows.lines()
            .next()
            .unwrap()
            .ends_with(",net_out_bytes_per_s")
    );
    assert!(!rows.lines().nth(1).unwrap().contains(",,,"), "{rows}");
}

#[test]
fn the_target_is_not_looked_for_where_that_is_turned_off() {
    let server = serve();
    let url = url(&server, "");
    let result = report(&loadline(&[
        "-d",
        "1s",
        "--allow-invalid",
        "--no-watch",
        "-o",
        "json",
        &url,
    ]));
    let trees = result["summary"]["watch"]["trees"].as_array().unwrap();
    assert_eq!(
        (trees.len(), &trees[0]["name"]),
        (1, &Value::from("generator"))
    );
}

#[test]
fn what_is_not_there_is_said_before_anything_is_sent() {
    let server = serve();
    let url = url(&server, "");
    for words in [
        &["--watch", "no-such-program", url.as_str()][..],
        &["watch", "no-such-program"],
    ] {
        let said = loadline(words);
        assert_eq!(
            (said.code, said.stdout.as_str()),
            (Some(2), ""),
            "{words:?}"
        );
        let expected = "no program named no-such-program is running; start it first";
        assert!(said.stderr.contains(expected), "{}", said.stderr);
        assert_eq!(said.stderr.lines().count(), 1);
    }
    assert_eq!(server.stop().requests, 0);
}

#[test]
fn watching_alone_prints_a_row_for_each_look() {
    let sleeper = Sleeper::start();
    let said = loadline(&[
        "watch",
        &sleeper.pid(),
        "-i",
        "200ms",
        "-n",
        "3",
        "-o",
        "csv",
    ]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let columns: Vec<usize> = said
        .stdout
        .lines()
        .map(|row| row.split(',').count())
        .collect();
    assert_eq!(columns.len(), 4, "{}", said.stdout);
    assert!(
        columns.iter().all(|count| *count == columns[0]),
        "{}",
        said.stdout
    );
    let row: Vec<&str> = said.stdout.lines().nth(2).unwrap().split(',').collect();
    assert_eq!(row[1], sleeper.pid());
    assert!(row[4].parse::<u64>().unwrap() > 100_000, "{row:?}");
}

#[test]
fn watching_alone_ends_with_its_target_and_says_so() {
    let mut sleeper = Sleeper::start();
    let beside_others = beside_others();
    let mut watching = command(&["watch", &sleeper.pid(), "-i", "200ms"])
        .spawn()
        .unwrap();
    let head = first_line(&mut watching);
    sleeper.0.kill().unwrap();
    sleeper.0.wait().unwrap();
    let said: CommandOutput = watching.wait_with_output().unwrap().into();
    drop(beside_others);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(
        said.stderr,
        format!("sleep (process {}) has ended.\n", sleeper.pid())
    );
    assert!(head.starts_with("     time"), "{head}");
}

#[test]
fn an_interrupt_is_a_good_end_of_watching() {
    let sleeper = Sleeper::start();
    let beside_others = beside_others();
    let mut watching = command(&["watch", &sleeper.pid(), "-i", "200ms", "-o", "json"])
        .spawn()
        .unwrap();
    // Once something is printed the command hears the interrupt.
    let first = first_line(&mut watching);
    let kill = Command::new("kill")
        .args(["-s", "INT", &watching.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let said: CommandOutput = watching.wait_with_output().unwrap().into();
    drop(beside_others);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    let look = document(&first);
    assert_eq!(look["trees"][0]["command"], "sleep");
}
