//! What a script counts and judges, in Loadline's own outputs: the database, the comparison, and the
//! failures that the script declares.

use crate::k6::Scripts;
use crate::rig::{Said, command, serve, text};
use crate::sqlite::rows;
use loadline_testbed::Server;
use serde_json::Value;

/// A shop whose orders, sizes and checks follow the iteration's number; every fifth page is missing,
/// which is not expected, and so is nothing of `fine`.
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
fn shop(scripts: &Scripts, server: &Server, name: &str, orders: u32, words: &[&str]) -> Said {
    let base = format!("BASE=http://{}", server.addr());
    let (orders, out) = (format!("ORDERS={orders}"), format!("loadline={name}"));
    let own = ["run", "--out", &out, "-e", &base, "-e", &orders, "shop.js"];
    scripts.say(&[&own[..], words].concat())
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
    let shown = command(&["compare", text(&a), text(&b)]).output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout);
    assert!(
        shown.contains("orders") && shown.contains("basket_size"),
        "{shown}"
    );
    server.stop();
}
