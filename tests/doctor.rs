//! What a machine can carry, and that runs record it.

use crate::rig::{CommandOutput, loadline, program, serve, text, url};
use crate::schemas::document;
use serde_json::{Deserializer, Value};
use std::path::Path;
use std::process::Command;

/// What does not change between a look and a run after it.
const LASTING: [&str; 12] = [
    "kernel",
    "cpu_model",
    "cores",
    "usable_cores",
    "cpu_quota",
    "memory_bytes",
    "open_files_hard",
    "clock_source",
    "governor",
    "smt",
    "is_virtual",
    "tcp",
];

/// The command with so many descriptors.
fn with_descriptors(most: u32, words: &str) -> CommandOutput {
    let script = format!("ulimit -n {most}; exec \"$0\" doctor {words}");
    let mut shell = Command::new("sh");
    let output = shell.arg("-c").arg(script).arg(program()).output();
    output.expect("the shell starts").into()
}

fn save_a_run(saved: &Path) -> CommandOutput {
    let server = serve();
    let url = url(&server, "");
    let words = ["-n", "20", "--allow-invalid", "--save", text(saved), &url];
    loadline(&words)
}

fn environment_of(saved: &Path) -> Value {
    let said = loadline(&["report", "--allow-invalid", "-o", "json", text(saved)]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    document(&said.stdout)["environment"].clone()
}

/// The header of a run, its keys in their order, as it was before it had these facts.
fn without_new_facts(header: &str) -> String {
    let key = "\"environment\":";
    let begin = header.find(key).expect("a header has it") + key.len();
    let mut values = Deserializer::from_str(&header[begin..]).into_iter::<Value>();
    let mut environment = values.next().unwrap().unwrap();
    let end = begin + values.byte_offset();
    let facts = environment.as_object_mut().unwrap();
    for name in ["cpu_quota", "open_files_hard", "is_virtual", "tcp"] {
        assert!(facts.remove(name).is_some(), "{name} is missing");
    }
    format!("{}{environment}{}", &header[..begin], &header[end..])
}

#[test]
fn few_descriptors_are_something_to_change() {
    let said = with_descriptors(256, "");
    assert_eq!((said.code, said.stderr.as_str()), (Some(1), ""));
    let expected = "change  descriptors  256: 240 connections at once. Raise the hard limit \
                    (ulimit -Hn, LimitNOFILE).";
    assert!(
        said.stdout.lines().any(|line| line == expected),
        "{}",
        said.stdout
    );
    assert_eq!(said.stdout.lines().count(), 10, "{}", said.stdout);
}

#[test]
fn the_exit_code_is_0_only_where_there_is_nothing_to_change() {
    let folder = tempfile::tempdir().unwrap();
    let lines = folder.path().join("lines");
    let output = format!("text={}", text(&lines));
    let said = loadline(&["doctor", "-o", "json", "-o", &output]);
    let json = document(&said.stdout);
    let changes = json["changes"].as_array().expect("a list");
    let code = i32::from(!changes.is_empty());
    assert_eq!(
        (said.code, said.stderr.as_str()),
        (Some(code), ""),
        "{json:#}"
    );
    let lines = std::fs::read_to_string(&lines).unwrap();
    assert_eq!(lines.lines().count(), 10, "{lines}");
    let marked = lines.lines().filter(|line| line.starts_with("change "));
    assert_eq!(marked.count(), changes.len(), "{lines}");
}

#[test]
fn a_saved_run_has_the_facts_that_the_doctor_tells() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("a.run");
    let said = save_a_run(&saved);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let recorded = environment_of(&saved);
    let told = document(&loadline(&["doctor", "-o", "json"]).stdout)["environment"].clone();
    for name in LASTING {
        assert_eq!(recorded.get(name), told.get(name), "{name}");
        assert!(recorded.get(name).is_some(), "{name} is missing");
    }
    let ports = &recorded["tcp"]["ip_local_port_range"];
    assert!(ports[0].as_u64() < ports[1].as_u64(), "{ports}");
}

#[test]
fn a_saved_run_from_before_these_facts_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("a.run");
    save_a_run(&saved);
    let lines = std::fs::read_to_string(&saved).unwrap();
    let (header, rest) = lines.split_once('\n').expect("several lines");
    std::fs::write(&saved, format!("{}\n{rest}", without_new_facts(header))).unwrap();
    let environment = environment_of(&saved);
    assert!(environment["cores"].as_u64() >= Some(1), "{environment:#}");
    assert!(environment["open_files_hard"].is_null(), "{environment:#}");
    assert!(environment["tcp"]["somaxconn"].is_null(), "{environment:#}");
}

#[test]
fn another_format_is_refused() {
    let said = loadline(&["doctor", "-o", "csv"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""));
    let expected = "a machine is reported as text or json";
    assert!(said.stderr.contains(expected), "{}", said.stderr);
    assert_eq!(said.stderr.lines().count(), 1);
}
