//! The events of k6's web dashboard, as programs that read them find them.

use super::{Event, Running};
use crate::rig::{beside_others, command, serve, url};
use serde_json::{Map, Value, json};

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
    assert_eq!(ids, (0..events.len()).collect::<Vec<_>>());

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
    let (status, said) = running.request("GET", "/events", "", "");
    assert_eq!(status, 404, "{said}");
    assert_eq!(running.end().0, Some(0));
}

/// The shape of the events of k6 v1.8.1, whose dashboard is that of k6 2, as it ran [`MEASURES`]:
/// names, types and counts.
const SHAPE: &str = include_str!("k6-events.json");

/// A test with a metric of each type, a group within a group, checks, and thresholds on metrics
/// that have values, have none, and are crossed.
const MEASURES: &str = "
    import http from 'k6/http';
    import { check, group } from 'k6';
    import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
    const [time, plain] = [new Trend('own_time', true), new Trend('own_plain')];
    const [counter, never] = [new Counter('own_counter'), new Counter('own_never')];
    const [rate, gauge] = [new Rate('own_rate'), new Gauge('own_gauge')];
    export const options = {
      scenarios: { first: { executor: 'constant-vus', vus: 2, duration: '3s' } },
      thresholds: {
        checks: ['rate>0.6'], http_req_duration: ['p(95)<0.001', 'max<60000'],
        http_reqs: ['count<1', 'rate>0'], own_never: ['count>5'], own_rate: ['rate>0.5'],
      },
    };
    export default function () {
      group('outer', () => {
        const answer = http.get(__ENV.TARGET);
        check(answer, { kept: (one) => one.status === 200, broken: (one) => one.status === 201 });
        group('inner', () => http.get(__ENV.TARGET));
      });
      time.add(1.5); plain.add(2); counter.add(3); rate.add(true); gauge.add(4.25);
    }";

/// Returns what of a value does not differ from run to run: its type, or those of what is in it.
fn shape_of(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), shape_of(value)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Number(_) => "number".into(),
        other => other.clone(),
    }
}

/// The names of events in order, each further period left out that has those of the one before.
/// In which period a metric comes first, and is told, and whether the first period has an answer,
/// and so a threshold that is crossed, differs from run to run.
fn order(events: &[Event]) -> Vec<&str> {
    let (unanswered, period) = (
        ["start", "cumulative", "snapshot"],
        ["cumulative", "threshold", "snapshot"],
    );
    let mut names: Vec<&str> = Vec::new();
    for event in events {
        if event.name == "metric" && names.contains(&"start") {
            continue;
        }
        names.push(&event.name);
        if names.ends_with(&unanswered) {
            names.truncate(names.len() - 2);
        }
        if names.ends_with(&[period, period].concat()) {
            names.truncate(names.len() - period.len());
        }
    }
    names
}

/// The shape of all events: their order and numbers, the parameters, what is told of metrics, and
/// how many values each has in the end.
fn shape(events: &[Event]) -> Value {
    let named = |name: &str| -> Vec<Value> {
        let found = events.iter().filter(|event| event.name == name);
        found.map(data).collect()
    };
    let mut param = shape_of(&named("param")[0]);
    param["scriptPath"] = "text".into();
    let mut metrics = Map::new();
    for told in named("metric") {
        metrics.extend(told.as_object().unwrap().clone());
    }
    let mut names: Vec<&String> = metrics.keys().collect();
    names.sort();
    let lengths = |name: &str| -> Map<String, Value> {
        let values = named(name).pop().unwrap();
        let values = values.as_array().unwrap().clone();
        assert_eq!(values.len(), names.len());
        let length = |value: &Value| value.as_array().unwrap().len();
        let each = names.iter().zip(&values);
        each.map(|(name, value)| ((*name).clone(), length(value).into()))
            .collect()
    };
    json!({
        "order": order(events),
        "first number": events[0].id,
        "param": param,
        "values in the end": lengths("cumulative"),
        "values of a period": lengths("snapshot"),
        "threshold": named("threshold").pop(),
        "start": shape_of(&named("start")[0][0][0]),
        "stop": shape_of(&named("stop")[0][0][0]),
        "metrics": metrics,
    })
}

#[test]
fn events_have_the_shape_of_those_of_k6() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve();
    let target = url(&server, "delay=5ms");
    let _beside_others = beside_others();
    std::fs::write(folder.path().join("measures.js"), MEASURES).unwrap();
    let mut k6 = command(&["--web=0", "k6", "run", "-q", "measures.js"]);
    k6.current_dir(folder.path()).env("TARGET", &target);
    k6.env("K6_WEB_DASHBOARD", "true");
    k6.env("K6_WEB_DASHBOARD_PERIOD", "1s");
    k6.env("K6_WEB_DASHBOARD_TAGS", "group,scenario");
    let running = Running::of(k6, "The live page is at ");
    let events: Vec<Event> = running.events_at("/events", None).collect();
    let (code, said) = running.end();
    assert_eq!(code, Some(99), "thresholds are crossed: {said}");
    let recorded: Value = serde_json::from_str(SHAPE).unwrap();
    let own = shape(&events);
    assert_eq!(own, recorded, "{own:#}");
}
