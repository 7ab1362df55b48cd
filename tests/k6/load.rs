//! A test under load: users, arrivals, its early end, and what is kept of it.

use crate::k6::{Scripts, default};
use crate::rig::{CommandOutput, beside_others, command, serve, serve_with, text};
use serde_json::Value;
use std::fs;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

#[test]
fn an_interrupt_ends_iterations_and_teardown_follows() {
    let script = "import { sleep } from 'k6';
        export const options = { vus: 2, duration: '10m' };
        export default function () { console.log('in'); sleep(600); }
        export function teardown() { console.log('torn down'); }";
    let scripts = Scripts::new(&[("long.js", script)]);
    let log = scripts.path().join("log");
    let _beside_others = beside_others();
    let log_output = format!("file={}", text(&log));
    let child = command(&["k6", "run", "--log-output", &log_output, "long.js"])
        .current_dir(scripts.path())
        .spawn()
        .unwrap();
    let has_begun = || fs::read_to_string(&log).is_ok_and(|log| log.matches("msg=in").count() == 2);
    while !has_begun() {
        thread::sleep(Duration::from_millis(10));
    }
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(105));
    let log = fs::read_to_string(&log).unwrap();
    assert!(log.contains("msg=\"torn down\""), "{log}");
    assert!(
        log.contains("because k6 received a 'interrupt' signal"),
        "{log}"
    );
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        stdout.contains("0 complete and 2 interrupted iterations"),
        "{stdout}"
    );
}

fn interrupt(child: &Child) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn a_second_signal_ends_the_process_and_says_so() {
    let script = "import { sleep } from 'k6';
        export const options = { vus: 1, duration: '20s' };
        export default function () { console.log('in'); sleep(20); }
        export function teardown() { console.log('ending'); sleep(20); }";
    let scripts = Scripts::new(&[("long.js", script)]);
    let log = scripts.path().join("log");
    let _beside_others = beside_others();
    let log_output = format!("file={}", text(&log));
    let child = command(&["k6", "run", "--log-output", &log_output, "long.js"])
        .current_dir(scripts.path())
        .spawn()
        .unwrap();
    for logged in ["msg=in", "msg=ending"] {
        while !fs::read_to_string(&log).is_ok_and(|log| log.contains(logged)) {
            thread::sleep(Duration::from_millis(10));
        }
        interrupt(&child);
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(105));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "loadline: interrupt: the test ends at once, without its summary\n"
    );
}

#[test]
fn a_run_is_judged_and_saved_with_its_names() {
    let server = serve();
    let script = "import http from 'k6/http';
        export default function () {
          http.get(`${__ENV.BASE}/?size=7`, { tags: { name: 'seven' } });
          http[__ITER % 2 ? 'get' : 'post'](`${__ENV.BASE}/a`);
        }";
    let scripts = Scripts::new(&[("named.js", script)]);
    let base = format!("BASE=http://{}", server.addr());
    let said = scripts.run(&[
        "run",
        "-i",
        "20",
        "-e",
        &base,
        "--out",
        "loadline=a.run",
        "--out",
        "web-dashboard=port=-1&export=page.html",
        "named.js",
    ]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(
        said.stdout
            .contains("output: loadline (a.run), html (page.html)"),
        "{}",
        said.stdout
    );
    assert!(
        said.stderr.contains("msg=\"the result is "),
        "{}",
        said.stderr
    );
    let page = fs::read_to_string(scripts.path().join("page.html")).unwrap();
    assert!(page.contains("script named.js"));
    let saved = scripts.path().join("a.run");
    let report = command(&["report", text(&saved)]).output().unwrap();
    let report = String::from_utf8_lossy(&report.stdout);
    assert!(report.starts_with("script "), "{report}");
    assert!(report.starts_with("script named.js"), "{report}");
    assert!(!report.contains("{scenario"), "{report}");
    assert!(report.contains("40 answered, 0 failed"), "{report}");
    let rows = [
        "seven ".to_owned(),
        format!("http://{}/a ", server.addr()),
        format!("POST http://{}/a", server.addr()),
    ];
    for row in rows {
        let is_row = |line: &str| line.trim_start().starts_with(&row);
        assert!(report.lines().any(is_row), "{row}: {report}");
    }
    assert_eq!(server.stop().requests, 40);
}

#[test]
fn the_verdict_speaks_of_failures_that_were_not_expected() {
    let server = serve();
    let script = "import http from 'k6/http';
        if (__ENV.EXPECTED) http.setResponseCallback(http.expectedStatuses(404));
        export default function () { http.get(`${__ENV.BASE}/?status=404`); }";
    let scripts = Scripts::new(&[("missing.js", script)]);
    let base = format!("BASE=http://{}", server.addr());
    for expected in ["", "yes"] {
        let variable = format!("EXPECTED={expected}");
        let words = ["run", "-q", "-e", &base, "-e", &variable, "missing.js"];
        let said = scripts.run(&words);
        let verdict = said.stderr.lines().find(|line| line.contains("result is"));
        let verdict = verdict.unwrap_or_else(|| panic!("{}", said.stderr));
        // A busy machine may have distorted the figures.
        let is_told = verdict.contains("level=info") && expected.is_empty();
        assert_eq!(
            verdict.contains("many requests failed"),
            is_told,
            "{verdict}"
        );
    }
}

#[test]
fn a_dashboard_is_the_live_page_and_the_process_ends_with_its_test() {
    let scripts = Scripts::new(&[("good.js", &default(""))]);
    for (output, variable, is_served) in [
        ("web-dashboard=port=0", "false", true),
        ("web-dashboard=port=-1", "false", false),
        ("json=all.json", "true", true),
        ("json=all.json", "false", false),
    ] {
        let _beside_others = beside_others();
        let said: CommandOutput = command(&["k6", "run", "--out", output, "good.js"])
            .current_dir(scripts.path())
            .env("K6_WEB_DASHBOARD", variable)
            .env("K6_WEB_DASHBOARD_PORT", "0")
            .output()
            .unwrap()
            .into();
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let told = said.stdout.contains(" web dashboard: http://127.0.0.1:");
        assert_eq!(told, is_served, "{output} {variable}: {}", said.stdout);
    }
}

#[test]
fn what_a_dashboard_can_not_do_is_told() {
    let scripts = Scripts::new(&[("good.js", &default(""))]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = format!("web-dashboard=port={}", taken.local_addr().unwrap().port());
    for (output, code, sentence) in [
        (
            port.as_str(),
            255,
            "another program listens there; give another port",
        ),
        (
            "web-dashboard=port=http",
            255,
            "is not a port, such as 5665",
        ),
        (
            "web-dashboard=port=-1&record=a.ndjson",
            0,
            "does not record the web dashboard's events: save the run with --out loadline=FILE",
        ),
    ] {
        let said = scripts.run(&["run", "-q", "--out", output, "good.js"]);
        assert_eq!(said.code, Some(code), "{output}: {}", said.stderr);
        assert!(said.stderr.contains(sentence), "{output}: {}", said.stderr);
    }
}

#[test]
fn users_that_share_a_runtime_print_what_others_print() {
    let server = serve();
    let script = "import http from 'k6/http'; import { check, sleep } from 'k6';
        export const options = { vus: 20, iterations: 100 };
        let own = 0;
        export function setup() { return { n: 1 }; }
        export default async function (data) {
          own += data.n;
          const res = http.get(`http://${__ENV.HOST}/`);
          sleep(0.001);
          await http.asyncRequest('GET', `http://${__ENV.HOST}/`);
          check(res, { ok: (r) => r.status === 200, counted: () => own === __ITER + 1 });
        }
        export function teardown() { console.log('end'); }";
    let scripts = Scripts::new(&[("own.js", script)]);
    let host = format!("HOST={}", server.addr());
    for mode in ["isolated", "shared"] {
        let said = scripts.run(&["run", "-e", &host, "--vu-mode", mode, "own.js"]);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        for line in [
            "checks_succeeded...: 100.00% 200 out of 200",
            "iterations.....................: 100 ",
            "http_reqs......................: 200 ",
        ] {
            assert!(
                said.stdout.contains(line),
                "{mode}: {line}: {}",
                said.stdout
            );
        }
        assert!(said.stderr.contains("msg=end"), "{}", said.stderr);
        assert!(!said.stderr.contains("vu-mode"), "{}", said.stderr);
    }
    let said = scripts.run(&["run", "--vu-mode", "own", "own.js"]);
    let sentence = "invalid vu mode \\\"own\\\". Use: \\\"isolated\\\", \\\"shared\\\"";
    assert_eq!(said.code, Some(255), "{}", said.stderr);
    assert!(said.stderr.contains(sentence), "{}", said.stderr);
}

#[test]
fn late_iterations_that_wait_are_timed_from_their_intended_starts() {
    let server = serve_with(|config| config.freeze = "500ms".parse().ok());
    let script = "import http from 'k6/http';
        export const options = {
          scenarios: { all: { executor: 'constant-arrival-rate', rate: 100, duration: '1s',
            preAllocatedVUs: 1, maxVUs: 1 } },
          thresholds: { http_req_response: ['max>400', 'p(90)>100'], iteration_delay: ['max>300'],
            dropped_iterations: ['count==0'], iterations: ['count==100'] },
        };
        export default function () { http.get(__ENV.BASE); }";
    let scripts = Scripts::new(&[("late.js", script)]);
    let base = format!("BASE=http://{}/", server.addr());
    let said = scripts.run(&["run", "--late-iterations", "wait", "-e", &base, "late.js"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("http_req_response"), "{}", said.stdout);
    assert!(said.stdout.contains("iteration_delay"), "{}", said.stdout);
}

#[test]
fn the_time_for_which_a_script_waits_before_a_request_is_in_no_time_of_it() {
    let server = serve();
    let script = "import http from 'k6/http';
        import { sleep } from 'k6';
        export const options = { scenarios: { all: { executor: 'constant-arrival-rate', rate: 20,
            duration: '2s', preAllocatedVUs: 40 } } };
        const wait = () => new Promise((then) => setTimeout(then, 500));
        export default async function () {
          if (__ENV.SLEEPS) { sleep(0.5); } else { await wait(); }
          http.get(__ENV.BASE);
        }";
    let scripts = Scripts::new(&[("late.js", script)]);
    let base = format!("BASE=http://{}/", server.addr());
    for more in [&["-e", "SLEEPS=yes"][..], &[]] {
        let words = ["run", "-q", "-e", &base, "--out", "loadline=a.run"];
        let said = scripts.run(&[&words, more, &["late.js"]].concat());
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let saved = scripts.path().join("a.run");
        let words = ["report", "--allow-invalid", "-o", "json", text(&saved)];
        let report = command(&words).output().unwrap();
        let report: Value = serde_json::from_slice(&report.stdout).expect("a report");
        for time in ["response_time_us", "blocked_us", "lateness_us"] {
            let times = &report["summary"][time];
            assert_eq!(times["count"], 40, "{more:?}, {time}");
            let median_us = times["p50"].as_f64().expect("a time");
            assert!(median_us < 250_000.0, "{more:?}, {time}: {times}");
        }
    }
}

#[test]
fn no_request_is_planned_for_an_iteration_that_sends_none() {
    let server = serve();
    let script = "import http from 'k6/http';
        export const options = { scenarios: { all: { executor: 'constant-arrival-rate', rate: 50,
            duration: '2s', preAllocatedVUs: 10 } } };
        export default function () {
          if (__ENV.SENDS && __ITER % 2 === 0) { http.get(__ENV.BASE); }
        }";
    let scripts = Scripts::new(&[("some.js", script)]);
    let base = format!("BASE=http://{}/", server.addr());
    let saved = scripts.path().join("a.run");
    let reported = |more: &[&str]| {
        let words = ["run", "-q", "-e", &base, "--out", "loadline=a.run"];
        let said = scripts.run(&[&words, more, &["some.js"]].concat());
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let words = ["report", "--allow-invalid", "-o", "json", text(&saved)];
        let report = command(&words).output().unwrap();
        serde_json::from_slice::<Value>(&report.stdout).expect("a report")["summary"].take()
    };
    let half = reported(&["-e", "SENDS=yes"]);
    let sent = half["sent"].as_u64().expect("a count");
    assert!((30..=60).contains(&sent), "{half}");
    assert_eq!(
        (&half["planned"], &half["answered"]),
        (&half["sent"], &half["sent"])
    );
    assert_eq!(half["unfinished"]["unsent"], 0);
    let none = reported(&[]);
    assert_eq!((&none["planned"], &none["sent"]), (&0.into(), &0.into()));
    let warnings = none["warnings"].to_string();
    assert!(warnings.contains("The script sent nothing"), "{warnings}");
}

#[test]
fn users_are_too_few_only_where_none_can_be_added() {
    let lack = |most: u32| {
        let script = format!(
            "import {{ sleep }} from 'k6';
            export const options = {{ scenarios: {{ all: {{ executor: 'constant-arrival-rate',
                rate: 10, duration: '2s', preAllocatedVUs: 1, maxVUs: {most} }} }} }};
            export default function () {{ sleep(0.35); }}"
        );
        let scripts = Scripts::new(&[("few.js", &script)]);
        let said = scripts.run(&["run", "few.js"]);
        assert!(
            said.stdout.contains("dropped_iterations"),
            "{}",
            said.stdout
        );
        said.stderr.contains("Insufficient VUs, reached")
    };
    assert!(lack(2));
    assert!(!lack(50));
}

#[test]
fn users_are_counted_before_a_load_of_whole_seconds_ends() {
    let script = "import { sleep } from 'k6';
        export const options = { vus: 3, duration: '2s', thresholds: { vus: ['value==3'] } };
        export default function () { sleep(0.05); }
        export function handleSummary(data) {
          const { value, min, max } = data.metrics.vus.values;
          console.log('users', value, min, max);
          return {};
        }";
    let scripts = Scripts::new(&[("vus.js", script)]);
    let said = scripts.run(&["run", "-q", "--log-format", "raw", "vus.js"]);
    assert!(said.stderr.contains("users 3 3 3"), "{}", said.stderr);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
}

#[test]
fn an_arrival_rate_begins_all_that_users_are_free_for() {
    let script = "export const options = { scenarios: { c: {
          executor: 'constant-arrival-rate', duration: '1s', rate: 50,
          preAllocatedVUs: 1, maxVUs: 40 } },
          thresholds: { dropped_iterations: ['count<1'] } };
        export default function () {}
        export function handleSummary(data) {
          console.log('begun', data.metrics.iterations.values.count);
          return {};
        }";
    let scripts = Scripts::new(&[("rate.js", script)]);
    let run = |more: &[&str]| {
        let words = ["run", "-q", "--log-format", "raw"];
        scripts.run(&[&words, more, &["rate.js"]].concat())
    };
    let said = run(&[]);
    assert!(said.stderr.contains("begun 50"), "{}", said.stderr);
    assert!(!said.stderr.contains("Insufficient VUs"), "{}", said.stderr);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let sequence = ["--execution-segment-sequence", "0,1/3,2/3,1"];
    let begun: u32 = ["0:1/3", "1/3:2/3", "2/3:1"]
        .into_iter()
        .map(|segment| {
            let said = run(&[&sequence[..], &["--execution-segment", segment]].concat());
            assert_eq!(said.code, Some(0), "{}", said.stderr);
            let begun = said.stderr.split("begun ").nth(1).unwrap();
            begun.lines().next().unwrap().trim().parse::<u32>().unwrap()
        })
        .sum();
    assert_eq!(begun, 50);
}

/// The metric of this name and these tags in the JSON report of a run.
pub(crate) fn metric<'a>(summary: &'a Value, name: &str, tags: &Value) -> &'a Value {
    let metrics = summary["metrics"].as_array().expect("metrics");
    let is_it = |metric: &&Value| metric["name"] == name && metric["tags"] == *tags;
    let found = metrics.iter().find(is_it);
    found.unwrap_or_else(|| panic!("{name} {tags} in {summary:#}"))
}

#[test]
fn a_saved_run_has_what_its_script_measures_and_what_its_thresholds_say() {
    let server = serve();
    let script = "import http from 'k6/http'; import { check, group } from 'k6';
        import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
        const size = new Trend('basket_size'), orders = new Counter('orders');
        const rare = new Rate('rare'), level = new Gauge('level');
        export const options = { vus: 2, iterations: 20, thresholds: {
          'http_req_waiting{status:200}': ['max>=0', 'p(95)<0.000001'],
          checks: ['rate==0.5'], orders: ['count==40'] } };
        export default function () {
          group('cart', () => {
            const res = http.get(`${__ENV.BASE}/${__ITER === 0 ? '?status=404' : ''}`);
            check(res, { 'has come': (r) => r.status > 0, 'is odd': (r) => r.status === 1 });
          });
          size.add(10); orders.add(2); rare.add(false); level.add(7);
        }";
    let scripts = Scripts::new(&[("s.js", script)]);
    let base = format!("BASE=http://{}", server.addr());
    let said = scripts.run(&["run", "-e", &base, "--out", "loadline=a.run", "s.js"]);
    assert_eq!(said.code, Some(99), "{}", said.stderr);
    let saved = scripts.path().join("a.run");
    let report = |words: &[&str]| command(&[&["report", text(&saved)], words].concat()).output();
    let json = report(&["-o", "json"]).unwrap();
    assert_eq!(json.status.code(), Some(1), "a check failed: {json:?}");
    let json: Value = serde_json::from_slice(&json.stdout).expect("a report");
    let summary = &json["summary"];
    let outcomes: Vec<(&str, &str)> = summary["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .map(|check| {
            (
                check["text"].as_str().unwrap(),
                check["outcome"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("checks: rate==0.5", "kept"),
        ("http_req_waiting{status:200}: max>=0", "kept"),
        ("http_req_waiting{status:200}: p(95)<0.000001", "broken"),
        ("orders: count==40", "kept"),
    ];
    assert_eq!(outcomes, expected);
    let csv = report(&["-o", "csv"]).unwrap();
    let csv = String::from_utf8_lossy(&csv.stdout).into_owned();
    for fields in [
        ",checks: rate==0.5,passed,0.5,false,0.5,",
        ",http_req_waiting{status:200}: p(95)<0.000001,failed,",
        ",\"checks.share{check:is odd,group:::cart}\",0",
    ] {
        assert!(csv.contains(fields), "{fields} in {csv}");
    }
    let (none, cart) = (
        Value::Null,
        |check: &str| serde_json::json!({ "check": check, "group": "::cart" }),
    );
    assert_eq!(metric(summary, "basket_size", &none)["count"], 20);
    assert_eq!(metric(summary, "basket_size", &none)["max"], 10.0);
    assert_eq!(metric(summary, "orders", &none)["sum"], 40.0);
    assert_eq!(metric(summary, "rare", &none)["share"], 0.0);
    assert_eq!(metric(summary, "level", &none)["last"], 7.0);
    assert_eq!(metric(summary, "iterations", &none)["sum"], 20.0);
    assert_eq!(metric(summary, "vus_max", &none)["max"], 2.0);
    assert_eq!(metric(summary, "group_duration", &none)["count"], 20);
    assert_eq!(metric(summary, "checks", &none)["share"], 0.5);
    assert_eq!(metric(summary, "checks", &cart("has come"))["share"], 1.0);
    assert_eq!(metric(summary, "checks", &cart("is odd"))["share"], 0.0);
    assert_eq!(metric(summary, "http_req_failed", &none)["share"], 0.1);
    let waiting = metric(
        summary,
        "http_req_waiting",
        &serde_json::json!({ "status": "200" }),
    );
    assert_eq!(
        (&waiting["count"], &waiting["unit"]),
        (&18.into(), &"ms".into())
    );
    let full = report(&["--full"]).unwrap();
    let full = String::from_utf8_lossy(&full.stdout).into_owned();
    for words in [
        "basket_size",
        "checks{check:is odd,group:::cart}",
        "http_req_waiting{status:200}: p(95)<0.0",
    ] {
        assert!(full.contains(words), "{words} in {full}");
    }
    let csv = String::from_utf8_lossy(&report(&["-o", "csv"]).unwrap().stdout).into_owned();
    assert!(csv.contains("basket_size"), "{csv}");
}
