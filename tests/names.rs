//! Several URLs and named lines: what was sent of each, in every report.

use crate::rig::{loadline, serve, summary, text};
use serde_json::{Value, json};

/// Runs 60 requests over two lines of the same name, one of another and one without.
fn list(address: &str) -> String {
    [
        json!({"url": format!("{address}/a"), "name": "read"}),
        json!({"url": format!("{address}/b"), "name": "read"}),
        json!({"url": format!("{address}/?status=503"), "name": "broken, \"really\""}),
        json!({"url": format!("{address}/c"), "method": "POST", "weight": 3}),
    ]
    .map(|line| line.to_string())
    .join("\n")
}

fn of<'a>(summary: &'a Value, name: &str) -> &'a Value {
    let names = summary["names"].as_array().expect("names");
    let found = names.iter().find(|row| row["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {names:#?}"))
}

#[test]
fn each_name_has_its_exact_counts_in_every_report() {
    let server = serve();
    let address = format!("http://{}", server.addr());
    let folder = tempfile::tempdir().unwrap();
    let [urls, saved] = ["urls", "a.run"].map(|name| folder.path().join(name));
    std::fs::write(&urls, list(&address)).unwrap();
    let words = [
        "-n",
        "60",
        "-c",
        "3",
        "-t",
        "1",
        "--urls",
        text(&urls),
        "--save",
        text(&saved),
    ];
    let found = summary(&words);
    assert_eq!(found["names"].as_array().map(Vec::len), Some(3));
    let post = format!("POST {address}/c");
    for (name, count, status) in [
        ("read", 20, "200"),
        ("broken, \"really\"", 10, "503"),
        (&post, 30, "200"),
    ] {
        let row = of(&found, name);
        assert_eq!(row["answered"], count, "{row}");
        assert_eq!(row["failed"], 0, "{row}");
        assert_eq!(row["statuses"], json!({status: count}), "{row}");
        let times = &row["response_time_us"];
        assert!(times["p50"].as_f64() > Some(0.0), "{row}");
        assert!(times["p50"].as_f64() <= times["max"].as_f64(), "{row}");
    }
    let report = |words: &[&str]| loadline(&[&["report", text(&saved)], words].concat()).stdout;
    let again: Value = serde_json::from_str(&report(&["-o", "json"])).unwrap();
    assert_eq!(again["summary"]["names"], found["names"]);
    let shown = report(&[]);
    assert!(shown.contains("By name"), "{shown}");
    assert!(shown.contains("    statuses 503: 10"), "{shown}");
    let csv = report(&["-o", "csv"]);
    let row = csv.lines().last().expect("a row");
    assert!(row.ends_with(",\"broken, \"\"really\"\"\""), "{csv}");
    assert_eq!(row.split(',').nth(3), Some("10"), "{csv}");
}

#[test]
fn each_row_of_the_log_has_the_name_and_url_of_its_request() {
    let server = serve();
    let address = format!("http://{}", server.addr());
    let folder = tempfile::tempdir().unwrap();
    let [urls, log] = ["urls", "log.csv"].map(|name| folder.path().join(name));
    std::fs::write(&urls, list(&address)).unwrap();
    let few = ["-n", "60", "-c", "3", "-t", "1"];
    summary(&[&few[..], &["--urls", text(&urls), "--log", text(&log)]].concat());
    let log = std::fs::read_to_string(&log).unwrap();
    for (status, name, path, count) in [
        ("200", "read", "a", 10),
        ("200", "read", "b", 10),
        ("503", "\"broken, \"\"really\"\"\"", "?status=503", 10),
        ("200", &format!("POST {address}/c"), "c", 30),
    ] {
        let end = format!(",{name},{address}/{path}");
        let rows = log.lines().filter(|row| row.ends_with(&end));
        let rows: Vec<&str> = rows.collect();
        assert_eq!(rows.len(), count, "{end} in {log}");
        let is_answered = |row: &&str| row.split(',').nth(8) == Some(status);
        assert!(rows.iter().all(is_answered), "{log}");
    }
}

#[test]
fn urls_beyond_the_most_series_are_counted_together() {
    let server = serve();
    let urls = ["a", "b", "c", "d"].map(|path| format!("http://{}/{path}", server.addr()));
    let few = ["-n", "8", "-c", "1", "-t", "1", "--max-series", "2"];
    let words = [&few[..], &urls.each_ref().map(String::as_str)].concat();
    let found = summary(&words);
    assert_eq!(found["names"].as_array().map(Vec::len), Some(3));
    assert_eq!(of(&found, "(other)")["answered"], 4);
    let shown = loadline(&[&words[..], &["--allow-invalid", "--full"]].concat()).stdout;
    assert!(
        shown.contains("(other) holds the requests of all names beyond the first 2"),
        "{shown}"
    );
}

#[test]
fn checks_look_at_one_name() {
    let server = serve();
    let address = format!("http://{}", server.addr());
    let folder = tempfile::tempdir().unwrap();
    let [urls, saved] = ["urls", "a.run"].map(|name| folder.path().join(name));
    std::fs::write(&urls, list(&address)).unwrap();
    let run = |check: &str| {
        let run = [
            "-n",
            "60",
            "-c",
            "3",
            "--allow-invalid",
            "--urls",
            text(&urls),
        ];
        let words = ["--check", check, "--save", text(&saved)];
        let _ = std::fs::remove_file(&saved);
        loadline(&[&run[..], &words].concat())
    };
    for (check, code) in [
        ("non2xx{name:read}<=0", 0),
        ("non2xx<=0", 1),
        ("status:503{name:broken, \"really\"}>=100%", 0),
        ("p50{name:read}<10s", 0),
        ("p50{name:read}<1us", 1),
        ("rate{name:read}>1", 0),
    ] {
        let ran = run(check);
        assert_eq!(ran.code, Some(code), "{check}: {}", ran.stdout);
        assert!(ran.stdout.contains(check), "{}", ran.stdout);
        let again = loadline(&["report", text(&saved)]);
        assert!(again.stdout.contains(check), "{}", again.stdout);
    }
    let unknown = run("p99{name:write}<1s");
    assert_eq!(unknown.code, Some(2));
    assert!(
        unknown
            .stderr
            .contains("no request has; the names are `read`"),
        "{}",
        unknown.stderr
    );
    assert!(!saved.exists());
}

#[test]
fn one_url_has_no_rows_by_name() {
    let server = serve();
    let url = format!("http://{}/", server.addr());
    assert_eq!(summary(&["-n", "5", "-c", "1", &url])["names"], Value::Null);
}

#[test]
fn several_urls_are_named_by_themselves() {
    let server = serve();
    let urls = ["a", "b"].map(|path| format!("http://{}/{path}", server.addr()));
    let found = summary(&["-n", "10", "-c", "1", "-t", "1", &urls[0], &urls[1]]);
    for url in &urls {
        assert_eq!(of(&found, url)["answered"], 5);
    }
    let words = [
        "-n",
        "10",
        "-c",
        "1",
        "-t",
        "1",
        "--allow-invalid",
        "--full",
        &urls[0],
        &urls[1],
    ];
    let shown = loadline(&words).stdout;
    assert!(shown.contains("\n  /a "), "{shown}");
}

#[test]
fn a_check_on_a_name_ends_a_run_early() {
    let server = serve();
    let address = format!("http://{}", server.addr());
    let folder = tempfile::tempdir().unwrap();
    let urls = folder.path().join("urls");
    let lines = [
        json!({"url": format!("{address}/a"), "name": "good"}),
        json!({"url": format!("{address}/?status=503"), "name": "bad"}),
    ];
    std::fs::write(&urls, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let run = |words: &[&str]| {
        let few = [
            "-r",
            "200",
            "-d",
            "20s",
            "-t",
            "1",
            "-o",
            "json",
            "--allow-invalid",
        ];
        let said = loadline(&[&few[..], &["--urls", text(&urls)], words].concat());
        let found: Value = serde_json::from_str(&said.stdout).expect("a report");
        (said.code, found["summary"].clone())
    };
    let (code, aborted) = run(&["--abort-on", "5xx{name:bad}<50%"]);
    assert_eq!(
        (code, aborted["ended"].as_str()),
        (Some(1), Some("aborted"))
    );
    assert_eq!(
        of(&aborted, "good")["statuses"].as_object().unwrap().len(),
        1
    );
}
