//! The events of k6's web dashboard, as programs that read them find them.

use super::{Event, Running};
use crate::rig::{beside_others, command, serve, url};
use serde_json::{Value, json};

/// A test of three seconds with a group and two thresholds, one of which is crossed.
fn begin(folder: &std::path::Path, target: &str) -> Running {
    let script = format!(
        "import http from 'k6/http';
         import {{ group }} from 'k6';
         export const options = {{ vus: 2, duration: '3s', thresholds: {{
           http_reqs: ['count<1'], http_req_duration: ['max<60000'] }} }};
         export default function () {{ group('pay', () => http.get('{target}')); }}"
    );
    std::fs::write(folder.join("own.js"), script).unwrap();
    let mut k6 = command(&["--web=0", "k6", "run", "-q", "own.js"]);
    k6.current_dir(folder);
    k6.env("K6_WEB_DASHBOARD", "true");
    k6.env("K6_WEB_DASHBOARD_PERIOD", "1s");
    Running::of(k6, "The live page is at ")
}

fn data(event: &Event) -> Value {
    serde_json::from_str(&event.data).unwrap()
}

/// The aggregates of a metric of this type, as `param` lists them.
fn count_of(param: &Value, kind: &str) -> usize {
    param["aggregates"][kind].as_array().unwrap().len()
}

#[test]
fn a_program_that_reads_k6s_dashboard_gets_its_events() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve();
    let _beside_others = beside_others();
    let running = begin(folder.path(), &url(&server, "delay=5ms"));
    let events: Vec<Event> = running.events_at("/events", None).collect();
    let (code, said) = running.end();
    assert_eq!(code, Some(99), "a threshold is crossed: {said}");

    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names[..4], ["config", "param", "metric", "start"]);
    assert_eq!(names.last(), Some(&"stop"));
    let ids: Vec<usize> = events
        .iter()
        .map(|event| event.id.parse().unwrap())
        .collect();
    assert_eq!(ids, (1..=events.len()).collect::<Vec<_>>());

    let param = data(&events[1]);
    assert_eq!(
        (&param["period"], &param["endOffset"]),
        (&json!(1_000), &json!(33_000))
    );
    assert_eq!(param["scenarios"], json!(["default"]));
    assert_eq!(param["thresholds"]["http_reqs"], json!(["count<1"]));
    assert!(param["scriptPath"].as_str().unwrap().ends_with("/own.js"));

    // Each list has an element for each metric that is known by then, in the order of names.
    let mut known = serde_json::Map::new();
    let mut snapshots = 0;
    for event in &events {
        let data = data(event);
        match event.name.as_str() {
            "metric" => known.extend(data.as_object().unwrap().clone()),
            "cumulative" | "snapshot" => {
                snapshots += usize::from(event.name == "snapshot");
                let mut names: Vec<&String> = known.keys().collect();
                names.sort();
                let values = data.as_array().unwrap();
                assert_eq!(values.len(), names.len(), "{names:?}");
                for (name, values) in names.iter().zip(values) {
                    let kind = known[*name]["type"].as_str().unwrap();
                    let length = values.as_array().unwrap().len();
                    let is_empty = length == 0 && event.name == "snapshot";
                    assert!(
                        is_empty || length == count_of(&param, kind),
                        "{name}: {values}"
                    );
                }
            }
            _ => {}
        }
    }
    assert!(snapshots >= 2, "{names:?}");
    for name in [
        "time",
        "http_reqs",
        "http_req_duration{group:::pay}",
        "vus",
        "iterations",
    ] {
        assert!(known.contains_key(name), "{name}: {known:?}");
    }
    let crossed = events.iter().find(|event| event.name == "threshold");
    let crossed = data(crossed.expect("a threshold is crossed"));
    assert_eq!(crossed, json!({ "http_reqs": ["count<1"] }));
    let last = events.iter().rfind(|event| event.name == "cumulative");
    let mut names: Vec<&String> = known.keys().collect();
    names.sort();
    let reqs = names.iter().position(|name| *name == "http_reqs").unwrap();
    let count = data(last.unwrap())[reqs][0].as_u64();
    assert_eq!(
        count,
        Some(server.stop().requests),
        "all of them are in the last event"
    );
}

#[test]
fn only_a_test_whose_dashboard_was_asked_for_has_its_events() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve();
    let script = format!(
        "import http from 'k6/http';
         export default function () {{ http.get('{}'); }}",
        url(&server, "delay=500ms"),
    );
    std::fs::write(folder.path().join("own.js"), script).unwrap();
    let _beside_others = beside_others();
    let mut k6 = command(&["--web=0", "k6", "run", "-q", "own.js"]);
    k6.current_dir(folder.path());
    let running = Running::of(k6, "The live page is at ");
    let (status, said) = running.ask("GET", "/events", "", "");
    assert_eq!(status, 404, "{said}");
    assert_eq!(running.end().0, Some(0));
}
