//! Metrics, checks and failures of a script in Loadline's own outputs: the database, the
//! comparison, the counts beside k6's own, and what is measured outside of the load.

use crate::agreement::few;
use crate::k6::Scripts;
use crate::k6::load::metric;
use crate::rig::{CommandOutput, command, count, serve, text};
use crate::sqlite::rows;
use loadline_testbed::Server;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A shop whose orders, sizes and checks follow the iteration's number. Every fifth page is
/// missing, which is not expected; that `fine` is missing is.
const SHOP: &str = "
    import http from 'k6/http';
    import exec from 'k6/execution';
    import { check, group, sleep } from 'k6';
    import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
    const orders = new Counter('orders');
    const size = new Trend('basket_size');
    const paid = new Rate('paid');
    const stock = new Gauge('stock');
    export const options = { vus: 2, iterations: 40, thresholds: {
      orders: ['count>=40'], 'basket_size{kind:web}': ['p(95)<1'], checks: ['rate>0.4'] } };
    export default function () {
      const number = exec.scenario.iterationInTest;
      orders.add(Number(__ENV.ORDERS));
      size.add(number % 10, { kind: 'web' });
      paid.add(number % 4 === 0);
      stock.add(7);
      group('cart', () => check(number, { 'is even': (n) => n % 2 === 0 }));
      const status = number % 5 === 0 ? 404 : 200;
      http.get(`${__ENV.BASE}/?status=${status}`, { tags: { name: 'page' } });
      http.get(`${__ENV.BASE}/?status=404`, { tags: { name: 'fine' },
        responseCallback: http.expectedStatuses(404) });
      sleep(Number(__ENV.PAUSE || 0));
    }";

/// A run of the shop, saved under this name.
fn shop(
    scripts: &Scripts,
    server: &Server,
    name: &str,
    orders: u32,
    words: &[&str],
) -> CommandOutput {
    let base = format!("BASE=http://{}", server.addr());
    let (orders, out) = (format!("ORDERS={orders}"), format!("loadline={name}"));
    let own = ["run", "--out", &out, "-e", &base, "-e", &orders, "shop.js"];
    scripts.run(&[&own[..], words].concat())
}

/// A report of Loadline's own, as JSON.
fn report(words: &[&str]) -> Value {
    let output = command(words).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let report = serde_json::from_slice(&output.stdout);
    report.unwrap_or_else(|error| panic!("{error}: {stderr}"))
}

#[test]
fn metrics_checks_and_thresholds_are_rows_of_the_database() {
    let server = serve();
    let scripts = Scripts::new(&[("shop.js", SHOP)]);
    let said = shop(&scripts, &server, "a.run", 2, &[]);
    assert_eq!(said.code, Some(99), "{}", said.stderr);
    let run = scripts.path().join("a.run");
    let said = command(&["report", text(&run)]).output().unwrap();
    let said = String::from_utf8_lossy(&said.stdout);
    assert!(
        said.contains("80 answered (8 of them rejected by the script), 0 failed"),
        "{said}"
    );
    let [run, database] = ["a.run", "a.sqlite"].map(|name| scripts.path().join(name));
    let to = format!("sqlite={}", text(&database));
    let reported = command(&["report", "-o", &to, text(&run)])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&reported.stderr);
    assert_eq!(
        reported.status.code(),
        Some(1),
        "a threshold is crossed: {stderr}"
    );
    let metric = |name: &str, figures: &str| {
        let query = format!("SELECT kind, count, {figures} FROM metrics WHERE name = '{name}'");
        let found = rows(&database, &format!("{query} AND tags = '{{}}'"));
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        found[0].clone()
    };
    let orders = metric("orders", "sum");
    assert_eq!(
        (&orders["kind"], &orders["sum"]),
        (&"counter".into(), &80.0.into())
    );
    let size = metric("basket_size", "min, max, mean");
    assert_eq!((&size["count"], &size["mean"]), (&40.into(), &4.5.into()));
    assert_eq!((&size["min"], &size["max"]), (&0.0.into(), &9.0.into()));
    assert_eq!(metric("paid", "share")["share"], 0.25);
    assert_eq!(metric("stock", "last")["last"], 7.0);
    assert_eq!(metric("checks", "share")["share"], 0.5);
    assert_eq!(metric("iterations", "sum")["sum"], 40.0);
    let check = "SELECT share, tags FROM metrics WHERE name = 'checks' AND tags LIKE '%is even%'";
    let check = rows(&database, check);
    assert_eq!(check[0]["share"], 0.5);
    assert!(
        check[0]["tags"]
            .as_str()
            .unwrap()
            .contains("\"group\":\"::cart\""),
        "{check:?}"
    );
    // Eight of the pages are not expected.
    let failures = rows(&database, "SELECT failed, rejected, answered FROM runs");
    assert_eq!(
        (&failures[0]["failed"], &failures[0]["rejected"]),
        (&0.into(), &8.into())
    );
    assert_eq!(failures[0]["answered"], 80);
    let by_name = rows(&database, "SELECT name, rejected FROM names ORDER BY name");
    let by_name: Vec<(&str, u64)> = by_name
        .iter()
        .map(|row| {
            (
                row["name"].as_str().unwrap(),
                row["rejected"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(by_name, [("fine", 0), ("page", 8)]);
    let thresholds = rows(&database, "SELECT text, outcome FROM checks ORDER BY text");
    let found: Vec<(&str, &str)> = thresholds
        .iter()
        .map(|row| {
            (
                row["text"].as_str().unwrap(),
                row["outcome"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("basket_size{kind:web}: p(95)<1", "failed"),
        ("checks: rate>0.4", "passed"),
        ("orders: count>=40", "passed"),
    ];
    assert_eq!(found, expected);
    server.stop();
}

#[test]
fn runs_of_a_script_are_compared_by_its_metrics() {
    let server = serve();
    let scripts = Scripts::new(&[("shop.js", SHOP)]);
    // Runs of less than two seconds are not compared.
    let slowly = ["-e", "PAUSE=0.2"];
    for (name, orders, words) in [("a.run", 2, &[][..]), ("b.run", 3, &["--processes", "2"])] {
        let words = [&slowly[..], words].concat();
        let said = shop(&scripts, &server, name, orders, &words);
        assert_eq!(said.code, Some(99), "{}", said.stderr);
    }
    let [a, b] = ["a.run", "b.run"].map(|name| scripts.path().join(name));
    let compared = report(&["compare", "-o", "json", text(&a), text(&b)]);
    let metrics = compared["metrics"].as_array().expect("metrics");
    let of = |name: &str| {
        let has = |metric: &&Value| metric["name"] == name && metric.get("tags").is_none();
        let found = metrics.iter().find(has);
        found.unwrap_or_else(|| panic!("{name}: {metrics:#?}"))
    };
    let orders = of("orders");
    assert_eq!(
        (&orders["a"]["sum"], &orders["b"]["sum"]),
        (&80.0.into(), &120.0.into())
    );
    let size = of("basket_size");
    assert_eq!(
        size["a"], size["b"],
        "the same values, in one process and in two"
    );
    assert_eq!(of("paid")["b"]["share"], 0.25);
    assert_eq!(of("checks")["b"]["share"], 0.5);
    assert_eq!(
        (&compared["a"]["failed"], &compared["b"]["failed"]),
        (&0.1.into(), &0.1.into())
    );
    let shown = command(&["compare", text(&a), text(&b)]).output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout);
    assert!(
        shown.contains("orders") && shown.contains("basket_size"),
        "{shown}"
    );
    server.stop();
}

/// Requests whose statuses and expectations follow a seed: some of them fail by the network, some
/// are answered and not expected.
const MIXED: &str = "
    import http from 'k6/http';
    import exec from 'k6/execution';
    function random(number) {
      let x = (number + 1) * 2654435761 % 4294967296;
      x = (x ^ (x >>> 13)) * 1274126177 % 4294967296;
      return Math.abs(x) % 1000;
    }
    export default function () {
      const draw = random(exec.scenario.iterationInTest + Number(__ENV.SEED) * 1000);
      const status = [200, 204, 301, 404, 500][draw % 5];
      const expected = [http.expectedStatuses({ min: 200, max: 399 }),
        http.expectedStatuses(404), http.expectedStatuses({ min: 200, max: 599 })];
      http.setResponseCallback(expected[draw % 3]);
      const fault = draw % 7 === 0 ? '&fault=close-in-body' : '';
      http.get(`${__ENV.BASE}/?status=${status}${fault}`,
        { redirects: 0, tags: { name: `n${draw % 4}` } });
    }";

/// A test of this script.
#[derive(Clone, Debug)]
struct Mixed {
    vus: u32,
    iterations: u32,
    seed: u32,
    on_processes: bool,
}

fn any_mixed() -> impl Strategy<Value = Mixed> {
    let drawn = (1..6_u32, 0..60_u32, 0..100_000_u32, any::<bool>());
    drawn.prop_map(|(vus, more, seed, on_processes)| Mixed {
        vus,
        iterations: vus + more,
        seed,
        // Each process needs a VU.
        on_processes: on_processes && vus > 1,
    })
}

impl Mixed {
    /// Runs it against a server; returns k6's summary, and our own of the saved run.
    fn summaries(&self, server: &Server) -> (Value, Value) {
        let scripts = Scripts::new(&[("mixed.js", MIXED)]);
        let numbers = [self.vus, self.iterations].map(|number| number.to_string());
        let variables = [
            format!("BASE=http://{}", server.addr()),
            format!("SEED={}", self.seed),
        ];
        let processes: &[&str] = match self.on_processes {
            true => &["--processes", "2"],
            false => &[],
        };
        let load = ["--vus", &numbers[0], "--iterations", &numbers[1]];
        let given = ["-e", &variables[0], "-e", &variables[1]];
        let files = ["--out", "loadline=a.run", "--summary-export", "a.json"];
        let said = scripts.run(
            &[
                &["run"],
                processes,
                &load[..],
                &given,
                &files,
                &["mixed.js"],
            ]
            .concat(),
        );
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let theirs = std::fs::read(scripts.path().join("a.json")).unwrap();
        let saved = scripts.path().join("a.run");
        let ours = report(&["report", "-o", "json", text(&saved)]);
        (
            serde_json::from_slice(&theirs).unwrap(),
            ours["summary"].clone(),
        )
    }
}

fn assert_k6s_words_agree(theirs: &Value, ours: &Value) {
    let figure = |metric: &str, figure: &str| {
        let number = &theirs["metrics"][metric][figure];
        number
            .as_u64()
            .unwrap_or_else(|| panic!("{metric} {figure}: {theirs:#}"))
    };
    let of = |counts: &Value, name: &str| counts[name].as_u64().unwrap_or(0);
    let ended = of(ours, "answered") + of(ours, "failed");
    assert_eq!(ended, figure("http_reqs", "count"), "{ours:#}");
    let failures = of(ours, "rejected") + of(ours, "failed");
    assert_eq!(failures, figure("http_req_failed", "passes"), "{ours:#}");
    let fine = ended - failures;
    assert_eq!(fine, figure("http_req_failed", "fails"), "{ours:#}");
    // Where all requests have one name there are no rows by name.
    let names = ours["names"].as_array().filter(|names| !names.is_empty());
    for key in ["rejected", "failed", "answered"] {
        let sum = |names: &Vec<Value>| names.iter().map(|name| of(name, key)).sum::<u64>();
        let by_name = names.map_or(of(ours, key), sum);
        assert_eq!(by_name, of(ours, key), "{key} by name: {ours:#}");
    }
}

proptest! {
    #![proptest_config(few(6))]

    #[test]
    fn failures_in_k6s_words_and_in_ours_agree_to_the_last_request(test in any_mixed()) {
        let server = serve();
        let (theirs, ours) = test.summaries(&server);
        assert_eq!(count(&ours, "answered") + count(&ours, "failed"), u64::from(test.iterations));
        assert_k6s_words_agree(&theirs, &ours);
        server.stop();
    }
}

#[test]
fn a_script_has_failures_of_the_network_and_rejected_responses() {
    let server = serve();
    let test = Mixed {
        vus: 3,
        iterations: 60,
        seed: 0,
        on_processes: false,
    };
    let (_, ours) = test.summaries(&server);
    let of = |name: &str| ours[name].as_u64().unwrap_or(0);
    assert!(of("rejected") > 0 && of("failed") > 0, "{ours:#}");
    server.stop();
}

/// Requests, checks and metrics before, in and after the load.
const AROUND: &str = "
    import http from 'k6/http';
    import { check } from 'k6';
    import { Counter, Trend } from 'k6/metrics';
    const orders = new Counter('orders'), size = new Trend('size');
    export const options = { vus: 2, iterations: 6, thresholds: {
      orders: ['count==14'], 'http_reqs{group:::setup}': ['count==2'],
      'http_reqs{group:::teardown}': ['count==1'], http_reqs: ['count==9'],
      'http_req_duration{group:::teardown}': ['max>0'], checks: ['rate>0.5'],
      iterations: ['count==6'] } };
    function call(status, name) {
      const response = http.get(`${__ENV.BASE}/?status=${status}`);
      check(response, { [name]: (r) => r.status === 200 });
    }
    export function setup() {
      call(200, 'before'); call(404, 'before'); orders.add(3); size.add(50);
    }
    export default function () { call(200, 'within'); orders.add(1); size.add(2); }
    export function teardown() { call(404, 'after'); orders.add(5); size.add(1); }";

#[test]
fn what_setup_and_teardown_measure_is_in_every_output() {
    let server = serve();
    let scripts = Scripts::new(&[("around.js", AROUND)]);
    let base = format!("BASE=http://{}", server.addr());
    for (name, processes) in [("one", &[][..]), ("two", &["--processes", "2"])] {
        let files = ["run", "html"].map(|kind| format!("{name}.{kind}"));
        let outs = [
            format!("loadline={}", files[0]),
            format!("html={}", files[1]),
        ];
        let words = [
            "--out",
            &outs[0],
            "--out",
            &outs[1],
            "-e",
            &base,
            "around.js",
        ];
        let said = scripts.run(&[&["run"], processes, &words].concat());
        assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
        let run = scripts.path().join(&files[0]);
        let reported = report(&["report", "-o", "json", text(&run)]);
        assert_around(&reported["summary"]);
        let database = scripts.path().join(format!("{name}.db"));
        let sqlite = format!("sqlite={}", text(&database));
        let said = command(&["report", text(&run), "-o", &sqlite])
            .output()
            .unwrap();
        assert_eq!(said.status.code(), Some(0), "{said:?}");
        let orders = rows(&database, "SELECT sum FROM metrics WHERE name = 'orders'");
        assert_eq!(orders[0]["sum"], 14.0);
        let page = std::fs::read_to_string(scripts.path().join(&files[1])).unwrap();
        assert!(page.contains("check:after"), "{name}");
        let csv = command(&["report", "-o", "csv", text(&run)])
            .output()
            .unwrap();
        let csv = String::from_utf8_lossy(&csv.stdout).into_owned();
        assert!(csv.contains("check:before"), "{csv}");
    }
    server.stop();
}

/// Compares the metrics of a run with what its script measured, whichever part did so.
fn assert_around(summary: &Value) {
    let none = Value::Null;
    let of = |name: &str, tags: &Value| metric(summary, name, tags).clone();
    assert_eq!(of("orders", &none)["sum"], 14.0);
    assert_eq!(of("size", &none)["count"], 8);
    assert_eq!(of("size", &none)["max"], 50.0);
    assert_eq!(of("iterations", &none)["sum"], 6.0);
    assert_eq!(of("checks", &none)["count"], 9);
    let check = |name: &str, group: &str| json!({ "check": name, "group": group });
    assert_eq!(of("checks", &check("before", "::setup"))["share"], 0.5);
    assert_eq!(of("checks", &check("after", "::teardown"))["share"], 0.0);
    assert_eq!(of("checks", &json!({ "check": "within" }))["share"], 1.0);
    let group = |group: &str| json!({ "group": group });
    assert_eq!(of("http_reqs", &none)["sum"], 9.0);
    assert_eq!(of("http_reqs", &group("::setup"))["sum"], 2.0);
    assert_eq!(of("http_req_duration", &group("::teardown"))["count"], 1);
    // The load alone has a rate: its requests, and no others.
    assert_eq!(summary["answered"], 6);
    let checks = summary["checks"].as_array().expect("checks");
    assert_eq!(checks.len(), 7);
    assert!(
        checks.iter().all(|check| check["outcome"] == "kept"),
        "{checks:?}"
    );
}

/// Tests that do not end well, with k6's exit code, that of `loadline report`, and its reason.
const ENDS: [(&str, &str, i32, i32, &str); 5] = [
    (
        "thresholds: { checks: [{ threshold: 'rate>0.9', abortOnFail: true }] }, duration: '1m'",
        "check(null, { no: () => false }); sleep(0.05);",
        99,
        1,
        "aborted: checks: rate>0.9 failed (abortOnFail)",
    ),
    (
        "duration: '1m'",
        "sleep(0.05); if (__ITER > 3) exec.test.abort('enough');",
        108,
        2,
        "test aborted: enough",
    ),
    (
        "iterations: 8",
        "exec.test.fail('bad');",
        110,
        1,
        "exec.test.fail(): value==0 (1)",
    ),
    (
        "iterations: 8",
        "} export function teardown() { throw new Error('torn');",
        107,
        2,
        "Error: torn",
    ),
    ("iterations: 8", "", 0, 0, ""),
];

#[test]
fn the_report_of_a_saved_run_ends_as_its_test_did() {
    let server = serve();
    let base = format!("BASE=http://{}", server.addr());
    for (options, body, theirs, ours, reason) in ENDS {
        let script = format!(
            "import http from 'k6/http';
             import exec from 'k6/execution';
             import {{ check, sleep }} from 'k6';
             export const options = {{ vus: 2, {options} }};
             export default function () {{ http.get(__ENV.BASE); {body} }}"
        );
        let scripts = Scripts::new(&[("end.js", &script)]);
        for processes in [&[][..], &["--processes", "2"]] {
            let words = ["--out", "loadline=a.run", "-e", &base, "end.js"];
            let said = scripts.run(&[&["run"], processes, &words[..]].concat());
            assert_eq!(said.code, Some(theirs), "{reason}: {}", said.stderr);
            let run = scripts.path().join("a.run");
            let reported = command(&["report", text(&run)]).output().unwrap();
            let stderr = String::from_utf8_lossy(&reported.stderr);
            assert_eq!(reported.status.code(), Some(ours), "{reason}: {stderr}");
            assert!(stderr.contains(reason), "{reason}: {stderr}");
        }
    }
    server.stop();
}

/// Users that become more, with a pause in each iteration.
const RISING: &str = "
    import http from 'k6/http';
    import { sleep } from 'k6';
    export const options = { scenarios: { rising: { executor: 'ramping-vus', startVUs: 1,
      stages: [{ duration: '2500ms', target: 6 }], gracefulRampDown: '1s' } } };
    export default function () { http.get(__ENV.BASE); sleep(0.05); }";

#[test]
fn users_and_iterations_over_time_are_in_the_outputs() {
    let server = serve();
    let scripts = Scripts::new(&[("rising.js", RISING)]);
    let base = format!("BASE=http://{}", server.addr());
    for processes in [&[][..], &["--processes", "2"]] {
        let words = ["--out", "loadline=a.run", "-e", &base, "rising.js"];
        let said = scripts.run(&[&["run"], processes, &words[..]].concat());
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let [run, database, csv] = ["a.run", "a.db", "a.csv"].map(|name| scripts.path().join(name));
        let outputs = [
            format!("sqlite={}", text(&database)),
            format!("csv={}", text(&csv)),
        ];
        let words = ["-o", &outputs[0], "-o", &outputs[1], "-o", "json"];
        let reported = report(&[&["report", text(&run)], &words[..]].concat());
        let all = metric(&reported["summary"], "iterations", &Value::Null)["sum"].as_f64();
        let intervals = reported["intervals"].as_array().expect("intervals");
        let course = |name: &str| -> Vec<u64> {
            let of = |interval: &Value| interval[name].as_u64();
            intervals.iter().filter_map(of).collect()
        };
        let (users, iterations) = (course("users"), course("iterations"));
        let in_load: u64 = iterations.iter().sum();
        // Those that ended after the load are in no interval.
        let last = all.unwrap() - in_load as f64;
        assert!(
            in_load > 50 && (0.0..=6.0).contains(&last),
            "{iterations:?}"
        );
        assert!(users.len() >= 2 && users.is_sorted(), "{users:?}");
        assert!(users.first() < users.last(), "{users:?}");
        let found = rows(&database, "SELECT users, iterations FROM intervals");
        let column = |name: &str| -> Vec<u64> {
            found.iter().filter_map(|row| row[name].as_u64()).collect()
        };
        assert_eq!((column("users"), column("iterations")), (users, iterations));
        let csv = std::fs::read_to_string(csv).unwrap();
        let columns = csv.lines().next().unwrap_or_default();
        assert!(columns.contains(",users,iterations,"), "{columns}");
        std::fs::remove_file(database).unwrap();
    }
    server.stop();
}
