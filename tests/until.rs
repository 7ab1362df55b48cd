//! Runs that end, or begin to count, by what they measure: `--until` and `--warmup auto`.

use crate::rig::{count, loadline, serve, text, url};
use serde_json::Value;

/// A run over 20 connections at 100 requests a second, as JSON. Few enough that what a neighbour
/// takes of the cores is small against the delays of the server.
fn report(flags: &[&str], options: &str) -> (Option<i32>, Value) {
    let server = serve();
    let url = url(&server, options);
    let words = [
        "-r",
        "100",
        "-c",
        "20",
        "-t",
        "1",
        "--no-progress",
        "-o",
        "json",
    ];
    let said = loadline(&[&words[..], flags, &[&url]].concat());
    let report = serde_json::from_str(&said.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", said.stdout, said.stderr));
    (said.code, report)
}

/// A half: a neighbour who takes a second of the machine leaves few independent times.
#[test]
fn a_run_ends_when_its_percentile_is_precise() {
    let (code, report) = report(
        &["-d", "120s", "--until", "p50+-50%", "--allow-invalid"],
        "delay=exp:50ms",
    );
    let summary = &report["summary"];
    assert_eq!(
        (code, &summary["ended"]),
        (Some(0), &"precise".into()),
        "{summary:#}"
    );
    let seconds = summary["duration_s"].as_f64().unwrap();
    assert!((8.0..119.0).contains(&seconds), "{seconds}");
    assert_eq!(count(summary, "in_flight"), 0, "it stops gently");
    let times = &summary["response_time_us"];
    let median = times["p50"].as_f64().unwrap();
    let upper = times["confidence_intervals"]["p50"]["upper"]
        .as_f64()
        .unwrap();
    assert!(upper <= 1.55 * median, "{upper} {median}");
    assert!(report["plan"]["until"]["precise"]["within"].as_f64() == Some(0.5));
}

/// Half a minute each, at the same time.
#[test]
fn a_run_ends_when_its_checks_are_decided() {
    let ended = |check: &'static str, options: &'static str| {
        let flags = ["--allow-invalid", "-d", "90s", "--until", "decided"];
        let (code, report) = report(&[&flags[..], &["--check", check]].concat(), options);
        let summary = &report["summary"];
        assert_eq!(summary["ended"], "decided", "{summary:#}");
        let seconds = summary["duration_s"].as_f64().unwrap();
        assert!((29.0..80.0).contains(&seconds), "{seconds}");
        code
    };
    std::thread::scope(|scope| {
        let kept = scope.spawn(|| ended("p90<5s", "delay=2ms"));
        let served = scope.spawn(|| ended("non2xx<10%", "status=503"));
        assert_eq!(ended("p90<1ms", "delay=5ms"), Some(1));
        assert_eq!(kept.join().unwrap(), Some(0));
        assert_eq!(served.join().unwrap(), Some(1));
    });
}

#[test]
fn a_run_that_is_over_before_says_how_far_it_came() {
    let server = serve();
    let url = url(&server, "delay=exp:2ms");
    let words = [
        "-r",
        "100",
        "-d",
        "8s",
        "-t",
        "1",
        "--no-progress",
        "--until",
        "p90±0.5%",
        "--allow-invalid",
    ];
    let said = loadline(&[&words[..], &[&url]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(
        said.stdout.contains("and p90±0.5% not reached"),
        "{}",
        said.stdout
    );
}

#[test]
fn a_transient_is_found_at_the_end_and_kept_in_the_saved_run() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("settled.run");
    let flags = [
        "-d",
        "9s",
        "--warmup",
        "auto",
        "--save",
        text(&path),
        "--allow-invalid",
    ];
    let (_, first) = report(&flags, "delay=2ms");
    let transient = &first["summary"]["transient"];
    let cut = transient["cut"]["intervals"].as_u64();
    assert!(cut.is_some() || transient == "never", "{transient}");
    let left = first["intervals"].as_array().unwrap().len() as u64;
    assert_eq!(left, 9 - cut.unwrap_or(0));
    let words = ["report", text(&path), "-o", "json", "--allow-invalid"];
    let again: Value = serde_json::from_str(&loadline(&words).stdout).unwrap();
    assert_eq!(again["summary"], first["summary"]);
}

#[test]
fn a_run_too_short_to_settle_is_suspect() {
    let (code, report) = report(&["-d", "1s", "--warmup", "auto", "--strict"], "delay=2ms");
    assert_eq!(code, Some(3));
    let findings = report["summary"]["validity"]["findings"]
        .as_array()
        .unwrap();
    let kinds: Vec<&Value> = findings.iter().map(|finding| &finding["kind"]).collect();
    assert!(kinds.contains(&&"too_short".into()), "{kinds:?}");
}
