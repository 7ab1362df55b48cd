//! The interface of InfluxDB 2, to VictoriaMetrics, which takes it: InfluxDB 2 itself is in no
//! distribution.

use super::bodies::Bodies;
use super::{Receiver, get_json, list, listed, run_with};
use crate::rig::{serve, url};

fn victoria_metrics() -> Receiver {
    Receiver::start("victoria-metrics", |folder, port| {
        vec![
            format!("-storageDataPath={}", folder.join("data").display()),
            format!("-httpListenAddr=127.0.0.1:{port}"),
            "-search.latencyOffset=0s".to_owned(),
            "-retentionPeriod=1d".to_owned(),
        ]
    })
}

/// The sum of a query's values.
fn sum(receiver: &Receiver, expression: &str) -> f64 {
    let pairs = [("query", expression)];
    let answer = get_json(&receiver.url("/prometheus/api/v1/query"), &pairs);
    let results = answer["data"]["result"].as_array().cloned();
    let results = results.unwrap_or_else(|| panic!("{expression}: {answer}"));
    let value = |one: &serde_json::Value| one["value"][1].as_str()?.parse::<f64>().ok();
    results.iter().filter_map(value).sum()
}

#[test]
fn a_bucket_of_version_2_has_every_second() {
    let (server, receiver) = (serve(), victoria_metrics());
    let folder = tempfile::tempdir().unwrap();
    let (fast, slow) = (url(&server, "delay=5ms"), url(&server, "delay=80ms"));
    let urls = list(&folder, &[("fast, one", fast), ("slow", slow)]);
    let output = format!("influxdb={}", receiver.url("/?org=shop&bucket=runs"));
    let said = run_with(&listed(&urls, "4s", &output), &[]);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    let flushed = std::process::Command::new("curl")
        .args(["-sSf", &receiver.url("/internal/force_flush")])
        .status();
    assert!(flushed.unwrap().success());
    let answered = "sum_over_time(loadline_requests_value{outcome='answered'}[10m])";
    let answered = sum(&receiver, answered);
    assert!(answered > 100.0, "{answered}");
    let counted = sum(&receiver, "sum_over_time(loadline_response_count[10m])");
    assert_eq!(counted, answered);
    let p50 = "max_over_time(loadline_response_p50{name='slow'}[10m])";
    assert!((0.08..0.4).contains(&sum(&receiver, p50)));
    let points = "count_over_time(loadline_response_count{name='fast, one'}[10m])";
    let points = sum(&receiver, points);
    assert!((3.0..=5.0).contains(&points), "{points}");
}

#[test]
fn a_bucket_is_written_with_its_token_and_precision() {
    let (server, receiver) = (serve(), Bodies::listen());
    let folder = tempfile::tempdir().unwrap();
    let urls = list(&folder, &[("one", url(&server, ""))]);
    let token = folder.path().join("token");
    std::fs::write(&token, "hidden\n").unwrap();
    let address = receiver.address;
    let output = format!("influxdb=http://{address}/base/?org=a%20b&bucket=runs&precision=ms");
    let variables = [("LOADLINE_INFLUXDB_TOKEN_FILE", token.to_str().unwrap())];
    let said = run_with(&listed(&urls, "2s", &output), &variables);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    let taken = receiver.taken();
    assert!(taken.len() >= 2);
    for (head, body) in &taken {
        let path = "POST /base/api/v2/write?org=a+b&bucket=runs&precision=ms HTTP/1.1\r\n";
        assert!(head.starts_with(path), "{head}");
        assert!(
            head.contains("\r\nAuthorization: Token hidden\r\n"),
            "{head}"
        );
        let text = std::str::from_utf8(body).unwrap();
        for line in text.lines() {
            let instant = line.rsplit_once(' ').unwrap().1;
            assert_eq!(instant.len(), 13, "milliseconds since 1970: {line}");
        }
    }
}
