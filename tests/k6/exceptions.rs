//! What scripts throw and do not handle: in the reports each with its stack and how often.

use crate::k6::Scripts;
use crate::rig::{command, serve, text};
use serde_json::Value;

/// Three users with three iterations each, of which the first two throw at one place, with a
/// message and a secret of their own, and the third one rejects a promise.
const THROWS: &str = "
import http from 'k6/http';
export const options = { scenarios: { all: {
  executor: 'per-vu-iterations', vus: 3, iterations: 3 } } };
function pay(number) {
  throw new TypeError(`no basket ${number}, token=hunter${number}`);
}
export default async function () {
  http.get(__ENV.BASE);
  if (__ITER < 2) pay(__ITER);
  throw 'sold out';
}
";

/// The exceptions of a saved run, as the JSON report has them.
fn exceptions(scripts: &Scripts) -> Vec<Value> {
    let run = scripts.path().join("a.run");
    let words = ["report", text(&run), "--allow-invalid", "-o", "json"];
    let said = command(&words).output().unwrap();
    let report: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert!(report["summary"].get("exceptions_left_out").is_none());
    report["summary"]["exceptions"].as_array().unwrap().clone()
}

#[test]
fn exceptions_of_iterations_are_in_the_reports_with_count_and_stack() {
    let server = serve();
    let base = format!("BASE=http://{}", server.addr());
    for (processes, parts) in [
        (&[][..], &[][..]),
        (
            &["--processes", "3"],
            &["process 1 of 3", "process 2 of 3", "process 3 of 3"],
        ),
    ] {
        let scripts = Scripts::new(&[("throws.js", THROWS)]);
        let outputs = ["--out", "loadline=a.run", "--out", "html=a.html"];
        let words = [
            &["run"],
            processes,
            &["-e", &base],
            &outputs[..],
            &["throws.js"],
        ]
        .concat();
        let said = scripts.run(&words);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let found = exceptions(&scripts);
        let of = |count: u64| {
            let one = found.iter().find(|one| one["count"] == count);
            one.unwrap_or_else(|| panic!("{found:#?}"))
        };
        assert_eq!(found.len(), 2, "{found:#?}");
        let (pays, sold) = (of(6), of(3));
        assert_eq!(pays["kind"], "Uncaught (in promise) TypeError");
        assert_eq!(pays["message"], "no basket 0, token=****");
        let trace = pays["trace"].as_str().unwrap();
        let frames: Vec<&str> = trace.lines().collect();
        assert!(frames[0].starts_with("at pay (file:///"), "{trace}");
        assert!(frames[0].contains("throws.js:6:"), "{trace}");
        assert!(frames[1].contains("throws.js:10:"), "{trace}");
        assert_eq!(sold["message"], "Uncaught (in promise) sold out");
        assert_eq!(sold["trace"], "");
        for one in [pays, sold] {
            let named = one["parts"].as_array().cloned().unwrap_or_default();
            assert_eq!(named, parts, "{processes:?}");
            assert!(one["first_s"].is_number());
        }
        let page = std::fs::read_to_string(scripts.path().join("a.html")).unwrap();
        assert!(
            page.contains("no basket 0, token=****"),
            "the page has them"
        );
        assert!(!page.contains("hunter"), "without secrets");
        let run = scripts.path().join("a.run");
        let said = command(&["report", text(&run), "--allow-invalid"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&said.stdout);
        let shown = "  Uncaught (in promise) TypeError: no basket 0, token=****\n    6 times";
        assert!(said.contains(shown), "{said}");
    }
}

#[test]
fn of_many_exceptions_the_first_are_listed_and_the_others_counted() {
    let server = serve();
    let base = format!("BASE=http://{}", server.addr());
    let throws = (0..30).map(|number| format!("() => {{ throw new Error('{number}'); }},\n"));
    let script = format!(
        "import http from 'k6/http';
         const all = [\n{}];
         export const options = {{ vus: 1, iterations: 30 }};
         export default function () {{ http.get(__ENV.BASE); all[__ITER](); }}",
        throws.collect::<String>()
    );
    let scripts = Scripts::new(&[("many.js", &script)]);
    let said = scripts.run(&["run", "-e", &base, "--out", "loadline=a.run", "many.js"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let run = scripts.path().join("a.run");
    let words = ["report", text(&run), "--allow-invalid", "-o", "json"];
    let said = command(&words).output().unwrap();
    let report: Value = serde_json::from_slice(&said.stdout).unwrap();
    let summary = &report["summary"];
    let listed = summary["exceptions"].as_array().unwrap();
    assert_eq!(listed.len(), 20);
    assert!(listed.iter().all(|one| one["count"] == 1), "{listed:#?}");
    assert_eq!(summary["exceptions_left_out"], 10);
}
