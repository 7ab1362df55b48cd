//! Loadline's page of a k6 test: what k6 says of the test stands at its head.

use crate::k6::Scripts;
use crate::rig::serve;
use serde_json::Value;
use std::fs;

const SCRIPT: &str = "import http from 'k6/http'; import { check } from 'k6';
    export const options = {
      iterations: 10,
      thresholds: { http_req_duration: ['p(95)<0.001', 'max<60000'], checks: ['rate>0.9'] },
    };
    export default function () {
      const res = http.get(`${__ENV.BASE}/?status=${__ITER % 2 ? 503 : 200}`);
      check(res, { 'is 200': (r) => r.status === 200, 'is there': () => true });
    }";

/// What a page shows, as data.
fn data_of(page: &str) -> Value {
    let (_, data) = page.split_once("type=\"application/json\"").expect("data");
    let (data, _) = data.split_once("</script>").expect("an end");
    let (_, data) = data.split_once('>').expect("a begin");
    serde_json::from_str(data).expect("JSON")
}

#[test]
fn a_failed_test_is_no_good_page() {
    let server = serve();
    let scripts = Scripts::new(&[("a.js", SCRIPT)]);
    let base = format!("BASE=http://{}", server.addr());
    let said = scripts.run(&["run", "-e", &base, "--out", "html=a.html", "a.js"]);
    assert_eq!(said.code, Some(99), "{}", said.stderr);
    let page = data_of(&fs::read_to_string(scripts.path().join("a.html")).unwrap());
    let headline = |name: &str| {
        let all = page["headlines"].as_array().unwrap().iter();
        let mut found = all.filter(|headline| headline["name"] == name);
        found
            .next()
            .unwrap_or_else(|| panic!("{name}: {page:#}"))
            .clone()
    };
    let thresholds = headline("Thresholds");
    assert_eq!(thresholds["figure"], "2 of 3 crossed");
    let note = thresholds["note"].as_str().unwrap();
    assert!(note.contains("http_req_duration p(95)<0.001"), "{note}");
    assert_eq!(thresholds["tone"], "bad");
    let checks = headline("Checks");
    assert_eq!(
        (&checks["figure"], &checks["note"]),
        (&"5 of 20 failed".into(), &"is 200".into())
    );
    assert_eq!(headline("Failed")["figure"], "50.00 %");
    assert_ne!(page["validity"]["tone"], "good");
    let tables = page["added"]["tables"].as_array().unwrap().iter();
    let titles: Vec<_> = tables
        .map(|table| table["title"].as_str().unwrap())
        .collect();
    assert_eq!(titles, ["Thresholds", "Checks", "Metrics"]);
    let words = page["warnings"].to_string() + &page["validity"].to_string();
    assert!(!words.contains("(-r)") && !words.contains("--"), "{words}");
}
