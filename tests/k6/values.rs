//! The values of a run with their tags, as the outputs write them and thresholds see them.

use crate::k6::Scripts;
use crate::rig::serve;
use std::fs;

#[test]
fn all_values_are_written_as_json_and_csv() {
    let server = serve();
    let script = "import http from 'k6/http';
        import { Trend } from 'k6/metrics';
        const own = new Trend('own', true);
        export const options = { iterations: 2,
            thresholds: { own: ['p(95)<5'], 'own{scenario:default}': ['avg<5'] } };
        export default function () {
          own.add(1.5, { kind: 'x,y' });
          http.get(__ENV.BASE, { tags: { name: 'n' } });
        }";
    let scripts = Scripts::new(&[("values.js", script)]);
    let base = format!("BASE=http://{}", server.addr());
    let words = |json: &'static str, csv: &'static str| -> Vec<String> {
        let words = [
            "run",
            "-q",
            "--summary-mode",
            "disabled",
            "--out",
            json,
            "--out",
            csv,
        ];
        let words = words.into_iter().chain(["-e", &base, "values.js"]);
        words.map(str::to_owned).collect()
    };
    let read = |name: &str| {
        let text = fs::read_to_string(scripts.path().join(name)).unwrap();
        let mut lines: Vec<String> = text.lines().map(figureless).collect();
        lines.sort();
        lines
    };
    let ours = words("json=ours.json", "csv=ours.csv");
    let said = scripts.run(&ours.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    // Two iterations of an own value, of nine of a request and of four at the end.
    assert_eq!(read("ours.csv").len(), 1 + 2 * (1 + 9 + 4));
    assert!(read("ours.csv")[0].starts_with("data_received,"));
    if let Some(theirs) = scripts.real(
        &words("json=theirs.json", "csv=theirs.csv")
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>(),
    ) {
        assert_eq!(theirs.code, Some(0), "{}", theirs.stderr);
        assert_eq!(read("theirs.json"), read("ours.json"));
        assert_eq!(read("theirs.csv"), read("ours.csv"));
    }
}

/// A line of a file of values, without the instant and the value.
fn figureless(line: &str) -> String {
    if let Some((before, rest)) = line.split_once("\"time\":\"") {
        let rest = rest.split_once(",\"tags\"").map_or("", |(_, rest)| rest);
        return format!("{before}{rest}");
    }
    let mut fields: Vec<&str> = line.split(',').collect();
    if fields
        .get(1)
        .is_some_and(|field| field.parse::<u64>().is_ok())
    {
        fields.drain(1..3);
    }
    fields.join(",")
}

#[test]
fn tags_that_were_not_asked_for_match_no_threshold() {
    let server = serve();
    let script = "import http from 'k6/http';
        export const options = {
          systemTags: ['method', 'name'],
          thresholds: {
            'http_reqs{method:GET}': ['count==3'], 'http_reqs{status:200}': ['count==0'],
            'http_reqs{scenario:default}': ['count==0'], 'http_reqs{name:n}': ['count==3'],
          },
        };
        export default function () { http.get(__ENV.BASE, { tags: { name: 'n' } }); }";
    let scripts = Scripts::new(&[("tags.js", script)]);
    let base = format!("BASE=http://{}", server.addr());
    let said = scripts.run(&["run", "-q", "-i", "3", "-e", &base, "tags.js"]);
    assert_eq!(said.code, Some(0), "{}", said.stdout);
}

#[test]
fn tags_that_are_asked_for_are_set() {
    let server = serve();
    let script = "import http from 'k6/http';
        export const options = { iterations: 2, systemTags: ['ip', 'iter', 'status', 'vu'] };
        export default function () { http.get(__ENV.BASE); }";
    let scripts = Scripts::new(&[("tags.js", script)]);
    let base = format!("BASE=http://{}", server.addr());
    let words = |out: &'static str| {
        let words = ["run", "-q", "-e", &base, "--out", out, "tags.js"];
        words.map(str::to_owned)
    };
    let run = |words: &[String; 7], real: bool| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match real {
            true => scripts.real(&words),
            false => Some(scripts.run(&words)),
        }
    };
    let requests = |name: &str| -> Vec<serde_json::Value> {
        let text = fs::read_to_string(scripts.path().join(name)).unwrap();
        let points = text.lines().filter(|line| line.contains("\"Point\""));
        let points = points.filter(|line| line.contains("\"http_reqs\""));
        let read = |line: &str| -> serde_json::Value { serde_json::from_str(line).unwrap() };
        let told = points.map(|line| read(line)["data"].take());
        told.map(|data| serde_json::json!([data["tags"], data["metadata"]]))
            .collect()
    };
    run(&words("json=ours.json"), false).unwrap();
    let ours = requests("ours.json");
    let tags = serde_json::json!({ "ip": "127.0.0.1", "status": "200" });
    let second = serde_json::json!([tags, { "vu": "1", "iter": "1" }]);
    assert_eq!(ours[1], second);
    if run(&words("json=theirs.json"), true).is_some() {
        assert_eq!(requests("theirs.json"), ours);
    }
}
