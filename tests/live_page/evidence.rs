//! What the page keeps of a run, and what it says beside another one: notes, the report that holds
//! the run, a baseline, the slowest requests, a search.

use super::*;
use crate::rig::serve_with;
use loadline_testbed::Freeze;
use std::fs;

/// Begins a run of this rate from the page, and waits until something was answered.
fn begin(page: &Running, new: &Value) {
    page.command("start", &new.to_string());
    page.await_that(|state| state["figures"]["answered"].as_u64() > Some(20));
}

fn ended(page: &Running) -> Value {
    page.await_that(|state| state["can_start"] == true)
}

/// The JSON report of a file.
fn report(path: &Path) -> Value {
    let said = loadline(&["report", text(path), "--allow-invalid", "-o", "json"]);
    let report = serde_json::from_str(&said.stdout);
    report.unwrap_or_else(|error| panic!("{error}: {}", said.stderr))
}

#[test]
fn the_report_of_the_page_holds_the_run_with_its_notes() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve();
    let beside_others = beside_others();
    let page = Running::start_page(folder.path());
    let new = json!({
        "target": url(&server, "delay=2ms"), "rate": "200", "duration": "4s",
    });
    begin(&page, &new);
    page.command("note", r#"{"at_s": 0.5, "text": "deployed"}"#);
    page.command("pause", "");
    page.command("resume", "");
    let written = |state: &Value| state["page"]["notes"].to_string().contains("deployed");
    page.await_that(written);
    let (status, so_far) = page.request("GET", "/report.html", "", "");
    assert_eq!(status, 200);
    assert!(so_far.contains("\"kind\":\"run\"") && so_far.contains("deployed"));
    fs::write(folder.path().join("so-far.html"), &so_far).unwrap();
    let state = ended(&page);
    let notes: Vec<&str> = (state["page"]["notes"].as_array().unwrap().iter())
        .filter_map(|note| note["text"].as_str())
        .collect();
    assert_eq!(notes[..2], ["deployed", "Load paused"], "{notes:?}");
    page.command("note", r#"{"at_s": 1.5, "text": "late"}"#);
    let (_, state) = page.request("GET", "/api/v1/state", "", "");
    assert!(state.contains("\"text\":\"late\""), "the page shows it");
    let (_, json) = page.request("GET", "/report.json", "", "");
    assert!(json.contains("\"late\""), "{json}");
    let (status, shared) = page.request("GET", "/report.html", "", "");
    assert_eq!(status, 200);
    fs::write(folder.path().join("shared.html"), &shared).unwrap();
    let (_, runs) = page.request("GET", "/api/v1/runs", "", "");
    assert!(
        runs.contains("shared.html") && runs.contains("so-far.html"),
        "{runs}"
    );
    let (status, same) = page.request(
        "GET",
        "/api/v1/compare?base=shared.html&with=run-1.run",
        "",
        "",
    );
    assert_eq!(status, 422);
    assert!(same.contains("are the same run"), "{same}");
    assert_eq!(page.interrupt().0, Some(0));
    drop(beside_others);
    let own = report(&folder.path().join("run-1.run"));
    assert_eq!(own, report(&folder.path().join("shared.html")));
    let written = json!([{ "at_s": 0.5, "text": "deployed" }]);
    let with_late = json!([
        { "at_s": 0.5, "text": "deployed" },
        { "at_s": 1.5, "text": "late" },
    ]);
    assert_eq!(own["summary"]["notes"], with_late);
    let so_far = report(&folder.path().join("so-far.html"));
    assert_eq!(so_far["summary"]["complete"], false);
    assert_eq!(so_far["summary"]["notes"], written);
}

/// Drops a file onto the page; returns the status and the message.
fn drop_file(page: &Running, name: &str, content: &[u8]) -> (u16, String) {
    let mut stream = page.connect();
    let head = format!(
        "POST /api/v1/drop?name={name} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n",
        content.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    // What is too long is refused before it is sent as a whole.
    let _ = stream.write_all(content);
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    let status = answer.split(' ').nth(1).and_then(|word| word.parse().ok());
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    (status.unwrap_or(0), body.to_owned())
}

#[test]
fn a_dropped_run_or_report_is_the_baseline_of_the_runs_that_follow() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve();
    let beside_others = beside_others();
    let page = Running::start_page(folder.path());
    let new = json!({ "target": url(&server, "delay=2ms"), "rate": "200", "duration": "1s" });
    page.start(&new);
    let run = fs::read(folder.path().join("run-1.run")).unwrap();
    let (_, report) = page.request("GET", "/report.html", "", "");
    for (name, content) in [
        ("old%20run.run", &run[..]),
        ("shared.html", report.as_bytes()),
    ] {
        let (status, message) = drop_file(&page, name, content);
        let shown = name.replace("%20", " ");
        assert_eq!(status, 200, "{message}");
        assert!(message.contains(&shown), "{message}");
        assert_eq!(page.state()["baseline"], shown);
        let (_, base) = page.request("GET", "/api/v1/baseline", "", "");
        assert!(base.contains("\"kind\":\"run\""), "{name}");
    }
    page.start(&new);
    let against = &page.state()["page"]["against"];
    assert_eq!(against["baseline"], "shared.html", "{against}");
    let files = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 2, "what was dropped is kept nowhere");
    for (name, content, status, said) in [
        ("a.run", &b"no run"[..], 422, "Drop a saved run"),
        ("a.html", b"<!doctype html>", 422, "a.html"),
        ("", b"", 422, "the dropped file"),
    ] {
        let (found, message) = drop_file(&page, name, content);
        assert!(
            found == status && message.contains(said),
            "{found}: {message}"
        );
    }
    assert_eq!(page.state()["baseline"], "shared.html");
    let too_long = vec![b' '; (64 << 20) + 1];
    assert_eq!(drop_file(&page, "a.run", &too_long).0, 413);
    assert_eq!(page.interrupt().0, Some(0));
    drop(beside_others);
}

#[test]
fn a_run_is_compared_with_a_baseline_that_is_chosen_on_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve();
    let new =
        |delay: &str| json!({ "target": url(&server, delay), "rate": "200", "duration": "4s" });
    let _beside_others = beside_others();
    let page = Running::start_page(folder.path());
    page.start(&new("delay=2ms"));
    let (status, missing) = page.request("POST", "/api/v1/baseline", "", r#"{"name": "no.run"}"#);
    assert_eq!(status, 422, "{missing}");
    page.command("baseline", r#"{"name": "run-1.run"}"#);
    assert_eq!(page.state()["baseline"], "run-1.run");
    let (status, base) = page.request("GET", "/api/v1/baseline", "", "");
    assert_eq!(status, 200);
    assert!(base.contains("\"kind\":\"run\""));
    begin(&page, &new("delay=8ms"));
    let claim = |state: &Value| {
        state["page"]["against"]["claim"]
            .as_str()
            .map(str::to_owned)
    };
    let early = page.await_that(|state| claim(state).is_some());
    let early = claim(&early).unwrap();
    assert!(early.contains("the first look is after 30 s"), "{early}");
    let against = ended(&page)["page"]["against"].clone();
    assert_eq!(against["baseline"], "run-1.run");
    assert!(
        against["claim"].as_str().unwrap().starts_with("Slower"),
        "{against:#}"
    );
    assert_eq!(against["rows"][0]["name"], "all requests");
    let query = "/api/v1/compare?base=run-1.run&with=run-2.run";
    let (status, compared) = page.request("GET", query, "", "");
    assert_eq!(status, 200, "{compared}");
    assert!(compared.contains("B is slower"), "{compared}");
    page.command("baseline", r#"{"name": null}"#);
    assert_eq!(page.state()["baseline"], Value::Null);
    assert_eq!(page.interrupt().0, Some(0));
}

#[test]
fn a_baseline_of_the_command_line_is_on_its_page() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("a.run");
    let server = serve();
    let target = url(&server, "delay=2ms");
    let run = [
        "-r",
        "200",
        "-d",
        "3s",
        "--no-progress",
        "--allow-invalid",
        "--save",
        text(&base),
    ];
    let said = loadline(&[&run[..], &[&target]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let _beside_others = beside_others();
    let rest = ["-r", "200", "-d", "1h", "--baseline", text(&base)];
    let running = Running::begin(&words(&rest, &target));
    let state = running.await_that(|state| !state["page"]["against"].is_null());
    assert_eq!(state["baseline"], text(&base));
    running.command("abort", "");
    running.end();
}

/// The check is on so many requests that those that wait break it within a second.
#[test]
fn a_freeze_breaks_a_check_on_the_page_within_three_seconds() {
    let freeze = Freeze {
        length: Duration::from_secs(600),
        every: None,
        first_at: Duration::from_secs(3),
    };
    let server = serve_with(|config| config.freeze = Some(freeze));
    let target = url(&server, "");
    let _beside_others = beside_others();
    let rest = ["-r", "200", "-d", "1h", "--check", "p90<300ms"];
    let running = Running::begin(&words(&rest, &target));
    let (mut answered, mut frozen_s) = (0, 0.0);
    for event in running.events(None) {
        let data: Value = serde_json::from_str(&event.data).unwrap();
        let figures = &data["figures"];
        let elapsed_s = figures["elapsed_s"].as_f64().unwrap();
        let so_far = figures["answered"].as_u64().unwrap();
        if so_far > answered {
            (answered, frozen_s) = (so_far, elapsed_s);
        }
        let check = &figures["checks"][0];
        assert_eq!(check["proven"], Value::Null, "a few seconds prove nothing");
        if answered > 0 && check["outcome"] == "failed" {
            break;
        }
        assert!(elapsed_s <= frozen_s + 3.0, "{figures:#}");
    }
    assert!(answered > 0);
    running.command("abort", "");
    running.end();
}

/// One request of a thousand is slow.
#[test]
fn a_cell_of_the_heatmap_names_the_slow_request_and_who_was_slow() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve();
    let list = folder.path().join("list.jsonl");
    let line = |delay, weight| json!({ "url": url(&server, delay), "weight": weight });
    let lines = [line("delay=1ms", 999), line("delay=300ms", 1)].map(|line| line.to_string());
    fs::write(&list, lines.join("\n")).unwrap();
    let _beside_others = beside_others();
    let rest = ["-r", "1000", "-d", "1h", "--urls"];
    let running = Running::begin(&words(&rest, text(&list)));
    running.await_that(|state| state["figures"]["elapsed_s"].as_f64() > Some(7.5));
    let cell = "/api/v1/slow?from_s=0&to_s=1000&from_us=250000&to_us=1e9";
    let (status, found) = running.request("GET", cell, "", "");
    assert_eq!(status, 200, "{found}");
    let found: Value = serde_json::from_str(&found).unwrap();
    let requests = found["requests"].as_array().unwrap();
    assert!(requests.len() > 3, "{found:#}");
    let named = |request: &&Value| {
        request["name"]
            .as_str()
            .is_some_and(|name| name.contains("300ms"))
    };
    let count = requests.iter().filter(named).count();
    assert!(count * 20 >= requests.len() * 19, "{found:#}");
    let first = requests.iter().find(named).unwrap();
    assert_eq!(first["status"], 200);
    let parts = ["blocked_us", "lateness_us", "dial_us", "wait_us", "rest_us"];
    let sum: f64 = parts
        .iter()
        .map(|part| first[*part].as_f64().unwrap())
        .sum();
    assert!(
        (sum - first["response_us"].as_f64().unwrap()).abs() < 1.0,
        "{first:#}"
    );
    let slow_by_target = |request: &Value| request["cause"] == "target";
    assert!(requests.iter().any(slow_by_target), "{found:#}");
    running.command("abort", "");
    running.end();
}

/// Waits until the page has so many examples of error responses; returns them.
fn error_responses(running: &Running, count: usize) -> Vec<Value> {
    let examples = |state: &Value| state["page"]["error_responses"].as_array().cloned();
    let state = running.await_that(|state| examples(state).is_some_and(|all| all.len() >= count));
    examples(&state).unwrap()
}

#[test]
fn the_page_and_its_reports_show_what_errors_say_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve();
    let good = url(&server, "");
    let refused = url(&server, "").replace("/?", "/echo?status=403");
    let busy = url(&server, "").replace("/?", "/echo?status=503&token=abc");
    let saved = folder.path().join("a.run");
    for protocol in [&[][..], &["--http", "2"], &["--processes", "2"]] {
        let _beside_others = beside_others();
        let rest = [
            "-r",
            "100",
            "-d",
            "1h",
            "-H",
            "Authorization: Bearer hunter2",
            "-H",
            "X-Login: hunter2",
            "--save",
            text(&saved),
            &good,
            &refused,
        ];
        let rest = [protocol, &rest].concat();
        let running = Running::begin(&words(&rest, &busy));
        let examples = error_responses(&running, 2);
        let statuses: Vec<_> = examples.iter().map(|one| one["status"].as_u64()).collect();
        assert_eq!(statuses, [Some(503), Some(403)], "{protocol:?}");
        for example in &examples {
            let body = example["body"].as_str().unwrap().to_ascii_lowercase();
            assert!(body.contains("authorization: ****"), "{body}");
            assert!(body.contains("x-login: ****"), "{body}");
            assert!(!body.contains("hunter2") && !body.contains("abc"), "{body}");
            assert!(example["count"].as_u64() > Some(0), "{example:#}");
        }
        assert!(examples[0]["name"].as_str().unwrap().contains("status=503"));
        running.command("stop", "");
        assert_eq!(running.end().0, Some(130), "{protocol:?}");
        let own = &report(&saved)["summary"];
        let kept = own["error_responses"].as_array().unwrap();
        assert_eq!(kept.len(), 2, "{kept:#?}");
        let named = own["names"].as_array().unwrap().iter();
        let busy = named.clone().find(|one| one["name"] == kept[0]["name"]);
        assert_eq!(kept[0]["count"], busy.unwrap()["statuses"]["503"]);
        assert_eq!(kept[0]["body"], examples[0]["body"]);
        std::fs::remove_file(&saved).unwrap();
    }
}

#[test]
fn a_run_without_the_page_keeps_no_bodies() {
    let server = serve();
    let busy = url(&server, "status=503&size=5");
    let words = [
        "-r",
        "50",
        "-n",
        "20",
        "--allow-invalid",
        "-o",
        "json",
        &busy,
    ];
    let said = loadline(&words);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(report["summary"]["statuses"]["503"], 20);
    assert!(report["summary"].get("error_responses").is_none());
}

#[test]
fn the_errors_of_a_script_of_wrk_are_on_its_page() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("a.lua");
    fs::write(
        &script,
        "request = function() return wrk.format('GET', '/echo?status=500') end",
    )
    .unwrap();
    let server = serve();
    let target = url(&server, "");
    let _beside_others = beside_others();
    let words = [
        "--web=0",
        "wrk",
        "-t1",
        "-c2",
        "-d1h",
        "-s",
        text(&script),
        &target,
    ];
    let running = Running::of(command(&words), "The live page is at ");
    let example = &error_responses(&running, 1)[0];
    assert_eq!(example["status"], 500);
    let body = example["body"].as_str().unwrap();
    assert!(body.starts_with("GET /echo?status=500"), "{body}");
    running.command("stop", "");
    running.end();
}

#[cfg(feature = "k6")]
#[test]
fn the_errors_of_a_script_of_k6_and_what_it_rejects_are_on_its_page() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve();
    let target = url(&server, "").replace("/?", "/echo?status=");
    let script = format!(
        "import http from 'k6/http';
         export const options = {{ vus: 1, duration: '1h' }};
         const none = {{ responseCallback: http.expectedStatuses(204), tags: {{ name: 'odd' }} }};
         export default function () {{
           http.get('{target}404', {{ tags: {{ name: 'lost' }} }});
           http.get('{target}200', none);
         }}",
    );
    fs::write(folder.path().join("own.js"), script).unwrap();
    let _beside_others = beside_others();
    let mut k6 = command(&["--web=0", "k6", "run", "-q", "own.js"]);
    k6.current_dir(folder.path());
    let running = Running::of(k6, "The live page is at ");
    let examples = error_responses(&running, 2);
    let of = |index: usize| {
        let one = &examples[index];
        let body = one["body"].as_str().unwrap();
        assert!(body.starts_with("GET /echo?status="), "{body}");
        (
            one["name"].as_str(),
            one["status"].as_u64(),
            one["is_rejected"].as_bool(),
        )
    };
    assert_eq!(of(0), (Some("lost"), Some(404), Some(false)));
    assert_eq!(of(1), (Some("odd"), Some(200), Some(true)));
    running.command("stop", "");
    running.end();
}

#[cfg(feature = "k6")]
#[test]
fn the_exceptions_of_a_script_of_k6_are_on_its_page_and_a_reader_opens_a_stack() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve();
    let script = format!(
        "import http from 'k6/http';
         export const options = {{ vus: 1, duration: '1h' }};
         export default function () {{
           http.get('{}');
           throw new RangeError('no <basket>, token=hunter2');
         }}",
        url(&server, "delay=20ms"),
    );
    fs::write(folder.path().join("own.js"), script).unwrap();
    let _beside_others = beside_others();
    let mut k6 = command(&["--web=0", "k6", "run", "-q", "own.js"]);
    k6.current_dir(folder.path());
    let running = Running::of(k6, "The live page is at ");
    let count = |state: &Value| state["page"]["exceptions"][0]["count"].as_u64();
    let state = running.await_that(|state| count(state) > Some(3));
    let rows = state["page"]["exceptions"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{rows:#?}");
    assert_eq!(rows[0]["kind"], "RangeError");
    assert_eq!(rows[0]["message"], "no <basket>, token=****");
    let trace = rows[0]["trace"].as_str().unwrap();
    assert!(trace.contains("own.js:5:"), "{trace}");
    if let Some(mut tab) = Tab::open(&running.url) {
        let stack = "[...document.querySelectorAll('table.bodies details')]
            .find((one) => one.textContent.includes('RangeError: no <basket>'))";
        tab.await_that(&format!("{stack} !== undefined"));
        tab.value(&format!("{stack}.querySelector('summary').click()"));
        tab.await_that(&format!("{stack}.querySelector('pre').offsetHeight > 0"));
        let shown = tab.value(&format!("{stack}.querySelector('pre').textContent"));
        assert_eq!(shown.as_str(), Some(trace));
        assert_accessible(&mut tab, "the exceptions of a script");
        assert_eq!(tab.errors, Vec::<String>::new());
    }
    running.command("stop", "");
    running.end();
}

#[test]
fn a_reader_opens_the_body_of_an_error_in_a_browser() {
    let server = serve();
    let busy = url(&server, "").replace("/?", "/echo?status=503");
    let _beside_others = beside_others();
    let running = Running::begin(&words(&["-r", "50", "-d", "1h"], &busy));
    let Some(mut tab) = Tab::open(&running.url) else {
        running.command("abort", "");
        running.end();
        return;
    };
    tab.await_that("document.querySelector('table.bodies details') !== null");
    tab.value("document.querySelector('table.bodies summary').click()");
    tab.await_that("document.querySelector('table.bodies pre').offsetHeight > 0");
    let body = tab.value("document.querySelector('table.bodies pre').textContent");
    let body = body.as_str().unwrap();
    assert!(body.starts_with("GET /echo?status=503"), "{body}");
    let answers = "+document.querySelector('table.bodies td').textContent.replace(/\\D/g, '')";
    let before = tab.value(answers).as_u64().unwrap();
    // The count goes on, and what was opened stays so.
    tab.await_that(&format!("{answers} > {before}"));
    tab.await_that("document.querySelector('table.bodies details').open");
    assert_accessible(&mut tab, "the bodies of errors");
    assert_eq!(tab.errors, Vec::<String>::new());
}

/// Two targets of these delays, with names of their own, as a list.
fn two_names(path: &Path, server: &Server, delays: [&str; 2]) {
    let line = |(name, delay)| json!({ "name": name, "url": url(server, delay) }).to_string();
    let lines: Vec<String> = ["item", "other"]
        .into_iter()
        .zip(delays)
        .map(line)
        .collect();
    fs::write(path, lines.join("\n")).unwrap();
}

/// The relation of a name to the baseline, as the page has it.
fn relation(state: &Value, name: &str) -> Option<String> {
    let rows = state["page"]["against"]["rows"].as_array()?;
    let row = rows.iter().find(|row| row["name"] == name)?;
    Some(row["relation"].as_str()?.to_owned())
}

#[test]
#[ignore = "two runs of a minute, on a machine that does nothing else; make soak runs it"]
fn a_name_that_takes_22_ms_instead_of_20_is_told_within_a_minute() {
    let folder = tempfile::tempdir().unwrap();
    let (list, base) = (folder.path().join("list"), folder.path().join("a.run"));
    let server = serve();
    let _beside_others = beside_others();
    two_names(&list, &server, ["delay=20ms", "delay=20ms"]);
    let load = [
        "-r",
        "200",
        "--no-progress",
        "--allow-invalid",
        "--urls",
        text(&list),
    ];
    let said = loadline(&[&load[..], &["-d", "60s", "--save", text(&base)]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    two_names(&list, &server, ["delay=22ms", "delay=20ms"]);
    let rest = ["-r", "200", "-d", "1h", "--baseline", text(&base), "--urls"];
    let running = Running::begin(&words(&rest, text(&list)));
    let told = running.await_that(|state| {
        let elapsed_s = state["figures"]["elapsed_s"].as_f64();
        relation(state, "item").as_deref() == Some("slower") || elapsed_s > Some(60.0)
    });
    assert_eq!(
        relation(&told, "item").as_deref(),
        Some("slower"),
        "{told:#}"
    );
    assert_eq!(
        relation(&told, "other").as_deref(),
        Some("open"),
        "{told:#}"
    );
    running.command("abort", "");
    running.end();
}

/// Each trial is drawn before the one after it has lasted two seconds. A search begins with a run
/// that does not count.
fn assert_drawn_at_once(events: impl Iterator<Item = Event>) {
    let (mut search, mut ended, mut was_running) = (Value::Null, 0, false);
    for event in events {
        let data: Value = serde_json::from_str(&event.data).unwrap();
        match (event.name.as_str(), &data["search"]) {
            ("state", whole) => search = whole.clone(),
            (_, Value::Null) => {}
            (_, patch) => apply(&mut search, patch),
        }
        let drawn = search["trials"].as_array().map_or(0, Vec::len);
        let is_running = data["phase"] == "running";
        ended += usize::from(was_running && !is_running);
        was_running = is_running;
        if is_running && data["figures"]["elapsed_s"].as_f64() > Some(2.0) {
            assert!(drawn + 1 >= ended, "{drawn} of {ended}");
        }
        if drawn >= 3 {
            return;
        }
    }
    panic!("the search has three trials");
}

#[test]
fn a_search_shows_its_trials_as_they_end() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve();
    let target = url(&server, "delay=2ms");
    let _beside_others = beside_others();
    let page = Running::start_page(folder.path());
    let new = json!({ "target": target, "search": true, "duration": "1m" });
    let composed = page.command("compose", &new.to_string());
    let line = format!("loadline capacity --budget 1m --save run-1.run '{target}'");
    assert_eq!(composed["command"], line);
    page.command("start", &new.to_string());
    assert_drawn_at_once(page.events(None));
    let trials = |state: &Value| state["search"]["trials"].as_array().map_or(0, Vec::len);
    let state = page.await_that(|state| trials(state) >= 2);
    assert_eq!(
        state["search"]["answer"]["text"],
        "The load line is being searched"
    );
    assert_eq!(state["load"]["levels"], json!([]));
    let (status, so_far) = page.request("GET", "/report.html", "", "");
    assert_eq!(status, 200);
    assert!(so_far.contains("\"kind\":\"search\""));
    page.command("stop", "");
    let state = ended(&page);
    assert!(trials(&state) >= 2, "{:#}", state["search"]["answer"]);
    let (status, json) = page.request("GET", "/report.json", "", "");
    assert_eq!(status, 200);
    assert!(json.contains("\"trials\""));
    assert_eq!(page.request("GET", "/report.csv", "", "").0, 404);
    assert!(!state["files"].to_string().contains("csv"), "{state:#}");
    assert_eq!(page.interrupt().0, Some(0));
}

#[test]
fn a_search_of_the_command_line_has_a_page() {
    let server = serve();
    let target = url(&server, "delay=2ms");
    let _beside_others = beside_others();
    let words = [
        "capacity",
        "--web=127.0.0.1:0",
        "--no-progress",
        "--no-floor",
        "--max-rate",
        "200",
        &target,
    ];
    let running = Running::of(command(&words), "The live page is at ");
    let shown = running.await_that(|state| !state["search"]["trials"][0].is_null());
    assert_eq!(shown["search"]["title"], format!("GET {target}"));
    running.command("stop", "");
    let (code, said) = running.end();
    assert_eq!(code, Some(130), "{said}");
}
