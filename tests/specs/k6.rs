//! Scripts in the words of k6: what their pages say holds here, and of the real k6 where that is
//! installed. There the two also record the same, apart from times, but for the page `here.md`.

use super::{Case, Outcome, all_cases, assert_no_differences, run};
use crate::k6::real_k6;
use crate::rig::command;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

/// The page of what is not compared value by value.
const HERE: &str = "here.md";

/// Metrics that depend on when they are looked at, down to whether they have a value at all.
const OF_THE_MOMENT: [&str; 2] = ["vus", "vus_max"];

#[test]
fn scripts_in_the_words_of_k6_do_what_their_pages_say() {
    let all = all_cases("k6");
    let all: Vec<&Case> = all.iter().collect();
    assert_no_differences(&all, |case| run(case, command).differences(case));
}

#[test]
fn the_real_k6_does_what_the_pages_say_and_records_the_same() {
    let Some(program) = real_k6() else {
        return;
    };
    let all = all_cases("k6");
    let common = all.iter().filter(|case| !case.place.starts_with(HERE));
    let common: Vec<&Case> = common.collect();
    assert_no_differences(&common, |case| {
        let theirs = run(case, |words| {
            let mut real = Command::new(&program);
            real.env("K6_NO_USAGE_REPORT", "true");
            recording(&mut real, &words[1..]);
            real.args(["--address", ""]);
            real
        });
        let ours = run(case, |words| {
            let mut command = command(&["k6"]);
            recording(&mut command, &words[1..]);
            command
        });
        let mut differences = theirs.differences(case);
        differences.extend(recorded_differences(&ours, &theirs));
        differences
    });
}

/// Has a command record what it measures.
fn recording(command: &mut Command, words: &[&str]) {
    command.args(words);
    command.args(["--summary-export", "summary.json", "--out", "json=values"]);
}

/// What two programs recorded otherwise.
fn recorded_differences(ours: &Outcome, theirs: &Outcome) -> Vec<String> {
    let [summaries, values] = [summary, values].map(|read| [read(ours), read(theirs)]);
    let mut differences = Vec::new();
    for [ours, theirs] in [summaries, values] {
        let missing = theirs
            .iter()
            .filter(|(key, value)| ours.get(*key) != Some(value));
        let more = ours.iter().filter(|(key, _)| !theirs.contains_key(*key));
        differences.extend(missing.map(|(key, value)| {
            let ours = ours.get(key).map_or("nothing", String::as_str);
            format!("k6 records {key} = {value}, here {ours}")
        }));
        differences.extend(more.map(|(key, value)| format!("only here {key} = {value}")));
    }
    differences
}

/// The exported summary: each key with its value where that is a count, or what was checked.
fn summary(of: &Outcome) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let Some(text) = written(of, "summary.json") else {
        return found;
    };
    let summary: Value = serde_json::from_str(&text).expect("the summary is JSON");
    flatten(String::new(), &summary, &mut found);
    found.retain(|place, _| {
        let of = |metric| place.starts_with(&format!("/metrics/{metric}/"));
        !OF_THE_MOMENT.iter().any(of)
    });
    found
}

fn flatten(place: String, value: &Value, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                flatten(format!("{place}/{key}"), value, found);
            }
        }
        Value::Number(number) => {
            let is_count = ["/count", "/passes", "/fails"]
                .iter()
                .any(|key| place.ends_with(key));
            let is_fixed = is_count && !place.contains("/data_");
            let value = if is_fixed {
                number.to_string()
            } else {
                "a number".to_owned()
            };
            found.insert(place, value);
        }
        other => {
            found.insert(place, other.to_string());
        }
    }
}

/// How many values of each metric with the same tags were written; and each metric's kind.
fn values(of: &Outcome) -> BTreeMap<String, String> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let text = written(of, "values").unwrap_or_default();
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).expect("a line of JSON");
        let metric = value["metric"].as_str().unwrap_or_default();
        let is_of_moment = OF_THE_MOMENT.contains(&metric);
        let key = match value["type"].as_str() {
            _ if is_of_moment => continue,
            Some("Point") => format!("{metric} {}", value["data"]["tags"]),
            _ => description(value.clone()),
        };
        *counts.entry(key).or_default() += 1;
    }
    let text = |(key, count): (String, u64)| (key, count.to_string());
    counts.into_iter().map(text).collect()
}

/// A line that describes a metric. k6 names its submetrics in any order.
fn description(mut line: Value) -> String {
    if let Some(submetrics) = line["data"]["submetrics"].as_array_mut() {
        submetrics.sort_by_key(Value::to_string);
    }
    line.to_string()
}

/// A file that was written; the server's address is the same for all.
fn written(of: &Outcome, name: &str) -> Option<String> {
    let text = fs::read_to_string(of.folder.path().join(name)).ok()?;
    let folder = of.folder.path().to_string_lossy().into_owned();
    // A query may have it too.
    let escaped = of.host.replace(':', "%3A");
    let text = text.replace(&of.host, "HOST").replace(&escaped, "HOST");
    Some(text.replace(&folder, "FOLDER"))
}
