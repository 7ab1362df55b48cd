//! The HTML report in a browser: every plot is drawn, nothing fails, nothing is fetched.
//!
//! A script put into a copy of the report does what a reader does, and writes down what it saw.

use crate::rig::{loadline, serve, serve_with, text, url};
use loadline_page::{
    Cell, Column, Measure, Page, Scatter, StudyPage, StudyPlots, StudyRow, Timeline, Track, Unit,
};
use loadline_testbed::Freeze;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const PROBE: &str = include_str!("page/probe.js");
/// The page without data and all that a browser needs to draw it.
const LARGEST_PAGE: usize = 500_000;
const LARGEST_STUDY: usize = 3_000_000;

/// What the browser saw in the report; nothing where there is no browser.
#[allow(clippy::print_stderr, reason = "a test that is left out says why")]
fn look(report: &str) -> Option<Value> {
    let folder = tempfile::tempdir().unwrap();
    let probed = report.replacen("<head>", &format!("<head><script>{PROBE}</script>"), 1);
    let path = folder.path().join("report.html");
    std::fs::write(&path, probed).unwrap();
    let profile = format!("--user-data-dir={}", text(folder.path()));
    let address = format!("file://{}", text(&path));
    // The browser's clock jumps ahead while it is idle, so a long time costs nothing; what it
    // computes, such as a picture, takes its time.
    let said = Command::new("timeout")
        .args([
            "400",
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
        ])
        .args([
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-sync",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
        ])
        .args([
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--window-size=1200,900",
        ])
        .args([
            &profile,
            "--virtual-time-budget=3000000",
            "--dump-dom",
            &address,
        ])
        .output()
        .expect("timeout, of coreutils, is there");
    // What `timeout` says of a command that is not there.
    if said.status.code() == Some(127) {
        eprintln!("Left out: Chromium is not installed, and the page can't be looked at.");
        return None;
    }
    let document = String::from_utf8_lossy(&said.stdout).into_owned();
    let errors = String::from_utf8_lossy(&said.stderr);
    let (_, rest) = document
        .split_once("<pre id=\"probe\">")
        .unwrap_or_else(|| panic!("the page was not drawn: {errors}"));
    let (seen, _) = rest.split_once("</pre>").unwrap();
    let seen = seen
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    Some(serde_json::from_str(&seen).unwrap())
}

fn plots(seen: &Value) -> Vec<&str> {
    let plots = seen["plots"].as_array().unwrap().iter();
    plots.map(|plot| plot["name"].as_str().unwrap()).collect()
}

/// Nothing failed or was fetched, every plot shows something, and legends toggle.
fn assert_drawn(seen: &Value) {
    assert_eq!(seen["errors"], Value::Array(Vec::new()), "{seen:#}");
    assert_eq!(seen["requests"], Value::Array(Vec::new()), "{seen:#}");
    assert_eq!(seen["wider"], false, "the page is wider than its window");
    assert!(
        seen["tip"].as_str().is_some_and(|tip| !tip.is_empty()),
        "{seen:#}"
    );
    assert_eq!(
        (&seen["zoomed"], &seen["whole"]),
        (&true.into(), &true.into()),
        "{seen:#}"
    );
    for plot in seen["plots"].as_array().unwrap() {
        let coloured = plot["coloured"].as_u64().unwrap();
        // What costs much to read is read seldom: in a short run it may be a single dot.
        assert!(coloured > 10, "{plot}");
        if let Some(shown) = plot["shown"].as_u64() {
            assert_eq!(plot["pressed"], "false", "{plot}");
            assert!(plot["hidden"].as_u64().unwrap() * 4 < shown, "{plot}");
            assert!(plot["again"].as_u64().unwrap() * 10 > shown * 9, "{plot}");
        }
    }
    let files = seen["files"].as_array().unwrap();
    assert_eq!(files.len(), 2, "{files:?}");
    let of = |ending: &str| {
        files
            .iter()
            .find(|file| file["name"].as_str().unwrap().ends_with(ending))
            .unwrap()
    };
    assert_eq!(of(".svg")["svg"], true);
    assert_eq!(of(".png")["type"], "image/png");
    assert!(of(".png")["size"].as_u64().unwrap() > 5_000, "{files:?}");
}

#[test]
fn a_run_is_drawn_in_full() {
    let server = serve_with(|config| {
        config.freeze = Some(Freeze {
            length: Duration::from_millis(300),
            every: None,
            first_at: Duration::from_secs(1),
        });
    });
    let folder = tempfile::tempdir().unwrap();
    let (saved, page) = (folder.path().join("a.run"), folder.path().join("a.html"));
    let to_page = format!("html={}", text(&page));
    let words = [
        "-r",
        "500",
        "-d",
        "4s",
        "-q",
        "--allow-invalid",
        "--save",
        text(&saved),
    ];
    let target = url(&server, "status=503&every=9");
    let run = loadline(&[&words[..], &["--check", "p99<1ms", "-o", &to_page, &target]].concat());
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let report = std::fs::read_to_string(&page).unwrap();
    let again = folder.path().join("again.html");
    let words = [
        "report",
        text(&saved),
        "--allow-invalid",
        "--html",
        text(&again),
    ];
    assert_eq!(loadline(&words).stdout, "");
    assert_eq!(std::fs::read_to_string(&again).unwrap(), report);
    assert!(report.len() < LARGEST_PAGE, "{}", report.len());
    let Some(seen) = look(&report) else { return };
    let drawn = plots(&seen);
    for plot in [
        "rate",
        "response-time",
        "heatmap",
        "spectrum",
        "in-flight",
        "cpu",
        "memory",
    ] {
        assert!(drawn.contains(&plot), "{plot}: {drawn:?}");
    }
    assert_drawn(&seen);
}

/// Tables of another program as it writes them; names in them are what somebody sent.
const TABLES: &str = r#"{"title": "Tables of another tool", "tables": [
    {"title": "Requests",
     "columns": [{"name": "Name"}, {"name": "Count", "is_number": true}],
     "rows": [["<img src=x onerror=alert(1)></script>", "2"], ["two\nlines", "3"], ["All", "5"]],
     "has_total": true}]}"#;

#[test]
fn tables_of_another_program_are_drawn_as_text() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (saved, tables, page) = (path("a.run"), path("tables.json"), path("a.html"));
    std::fs::write(&tables, TABLES).unwrap();
    let words = ["-r", "200", "-d", "2s", "-q", "--allow-invalid", "--save"];
    loadline(&[&words[..], &[text(&saved), &url(&server, "")]].concat());
    let words = [
        "report",
        text(&saved),
        "--allow-invalid",
        "--html",
        text(&page),
    ];
    let told = loadline(&[&words[..], &["--tables", text(&tables)]].concat());
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    let report = std::fs::read_to_string(&page).unwrap();
    assert!(report.contains("Tables of another tool") && !report.contains("<img src=x"));
    let Some(seen) = look(&report) else { return };
    assert_drawn(&seen);
    let expected = serde_json::json!([[
        ["Name", "Count"],
        ["<img src=x onerror=alert(1)></script>", "2"],
        ["two\nlines", "3"],
        ["All", "5"]
    ]]);
    assert_eq!(seen["added"], expected);
}

#[test]
fn what_are_no_tables_is_refused() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (saved, tables) = (path("a.run"), path("tables.json"));
    std::fs::write(&tables, TABLES.replace("\"has_total\"", "\"total\"")).unwrap();
    let words = ["-n", "5", "-q", "--save", text(&saved), &url(&server, "")];
    loadline(&words);
    let told = loadline(&["report", text(&saved), "--tables", text(&tables)]);
    assert_eq!(told.code, Some(2));
    assert!(
        told.stderr
            .contains("these are no tables: unknown field `total`"),
        "{}",
        told.stderr
    );
}

/// The page of this search is the one that its saved trials give, and all of it is drawn; its plots
/// are written without a browser as well.
pub(crate) fn assert_search_is_drawn(page: &Path, saved: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let (again, pictures) = (
        folder.path().join("again.html"),
        folder.path().join("plots"),
    );
    let files = ["--html", text(&again), "--plots", text(&pictures)];
    let told = loadline(&[&["report", text(saved)][..], &files].concat());
    assert_eq!(
        (told.code, told.stdout.as_str()),
        (Some(0), ""),
        "{}",
        told.stderr
    );
    let report = std::fs::read_to_string(page).unwrap();
    assert_eq!(std::fs::read_to_string(&again).unwrap(), report);
    assert!(report.len() < LARGEST_PAGE, "{}", report.len());
    assert!(report.contains("load line: 7 users"));
    let names = ["response-time-over-load", "trials"];
    for name in names {
        let read = |ending: &str| std::fs::read(pictures.join(format!("{name}.{ending}"))).unwrap();
        assert!(read("svg").starts_with(b"<svg"), "{name}");
        assert!(read("png").starts_with(b"\x89PNG"), "{name}");
    }
    assert_plots_cost_no_rows(saved, folder.path());
    let Some(seen) = look(&report) else { return };
    assert_eq!(plots(&seen), names);
    assert_drawn(&seen);
}

/// Plots that can't be written, because their folder's name is that of a file, do not keep the rows
/// from being written.
fn assert_plots_cost_no_rows(saved: &Path, folder: &Path) {
    let (nowhere, rows) = (folder.join("again.html"), folder.join("rows.csv"));
    let to_rows = format!("csv={}", text(&rows));
    let told = loadline(&[
        "report",
        text(saved),
        "--plots",
        text(&nowhere),
        "-o",
        &to_rows,
    ]);
    assert_eq!(told.code, Some(2), "{}", told.stdout);
    assert!(told.stderr.contains(text(&nowhere)), "{}", told.stderr);
    assert!(std::fs::metadata(&rows).is_ok_and(|file| file.len() > 0));
}

/// A study of this many runs of four tools, each watched for a minute.
fn study(runs: usize) -> StudyPage {
    let column = |name: &str, title: &str, unit| Column {
        name: name.to_owned(),
        title: title.to_owned(),
        unit,
    };
    let scatter = |title: &str, y: &str| Scatter {
        name: format!("{y}-by-rps"),
        title: title.to_owned(),
        x: "rps".to_owned(),
        y: y.to_owned(),
        is_log: false,
        groups: None,
    };
    let columns = vec![
        column("exp_name", "Run", Unit::Text),
        column("rps", "Requests/s", Unit::PerSecond),
        column("avg_cpu", "CPU", Unit::Percent),
        column("avg_memory", "Memory", Unit::Bytes),
        column("p99", "p99", Unit::Us),
    ];
    let scatters = [
        scatter("Requests per second and CPU", "avg_cpu"),
        scatter("Requests per second and memory", "avg_memory"),
    ];
    let rows: Vec<_> = (0..runs).map(study_row).collect();
    StudyPage {
        title: "HTTP tools".to_owned(),
        plots: StudyPlots::new(&columns, &rows, &scatters),
        columns,
        rows: rows.into_iter().map(|(row, _)| row).collect(),
        ..StudyPage::default()
    }
}

fn study_row(index: usize) -> (StudyRow, Option<Timeline>) {
    let tool = ["wrk", "oha", "loadline", "Locust"][index % 4];
    let level = (index + 1) as f64;
    let track = |measure, base: f64| Track {
        measure,
        values: (0..240)
            .map(|second| Some(base + base * f64::sin(f64::from(second)) / 9.0))
            .collect(),
    };
    let row = StudyRow {
        tool: tool.to_owned(),
        name: format!("{tool} {index}"),
        cells: vec![
            Cell::Text(format!("{tool} {index}")),
            Cell::Number(977.7 * level),
            Cell::Number(3.1 * level),
            Cell::Number(2.3e6 * level),
            if index.is_multiple_of(5) {
                Cell::Absent
            } else {
                Cell::Number(120.0 * level)
            },
        ],
        finding: None,
    };
    let timeline = Timeline {
        time_s: (0..240).map(|second| f64::from(second) + 0.513).collect(),
        tracks: vec![
            track(Measure::Rate, 977.7 * level),
            track(Measure::ResponseP99, 120.0 * level),
            track(Measure::Cpu, 3.1 * level),
            track(Measure::Memory, 2.3e6 * level),
            track(Measure::Bandwidth, 1.1e6 * level),
            track(Measure::Sockets, level),
        ],
    };
    (row, Some(timeline))
}

#[test]
fn a_study_of_a_hundred_runs_is_drawn_and_sorted() {
    let report = loadline_page::html(&Page::Study(Box::new(study(100)))).unwrap();
    assert!(report.len() < LARGEST_STUDY, "{}", report.len());
    let Some(seen) = look(&report) else { return };
    let drawn = plots(&seen);
    for plot in [
        "avg_cpu-by-rps",
        "avg_cpu-by-rps-locust",
        "avg_memory-by-rps",
        "timeline-rate",
        "timeline-response-p99",
        "timeline-cpu",
        "timeline-memory",
        "timeline-bandwidth",
        "timeline-sockets",
    ] {
        assert!(drawn.contains(&plot), "{plot}: {drawn:?}");
    }
    assert_drawn(&seen);
    let order = |press: usize| {
        (
            &seen["order"][press]["sort"],
            &seen["order"][press]["first"],
        )
    };
    assert_eq!(order(0), (&"ascending".into(), &"978/s".into()));
    assert_eq!(order(1), (&"descending".into(), &"97\u{202f}770/s".into()));
}

#[test]
fn plots_are_written_without_a_browser() {
    let server = serve_with(|_| ());
    let folder = tempfile::tempdir().unwrap();
    let (saved, plots) = (folder.path().join("a.run"), folder.path().join("plots"));
    let target = url(&server, "");
    let run = loadline(&[
        "-r",
        "50",
        "-d",
        "4s",
        "-q",
        "--allow-invalid",
        "--save",
        text(&saved),
        &target,
    ]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let words = [
        "report",
        text(&saved),
        "--allow-invalid",
        "--plots",
        text(&plots),
    ];
    let said = loadline(&words);
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (Some(0), ""),
        "{}",
        said.stderr
    );
    for name in ["rate", "response-time", "spectrum", "heatmap"] {
        let read = |ending: &str| std::fs::read(plots.join(format!("{name}.{ending}"))).unwrap();
        assert!(read("svg").starts_with(b"<svg"), "{name}");
        assert!(read("png").starts_with(b"\x89PNG"), "{name}");
    }
}

#[test]
fn a_page_that_cannot_be_written_is_said_before_anything_is_sent() {
    let server = serve_with(|_| ());
    let target = url(&server, "");
    for words in [&["-n", "10"][..], &["capacity", "--no-floor"]] {
        let said = loadline(&[words, &["-o", "html=/nowhere/at/all", &target]].concat());
        assert_eq!(said.code, Some(2), "{}", said.stdout);
        assert!(said.stderr.contains("/nowhere/at/all"), "{}", said.stderr);
    }
    assert_eq!(server.stop().requests, 0);
    assert!(!Path::new("/nowhere").exists());
}

#[test]
fn several_runs_of_a_file_have_one_page() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let (saved, page) = (
        folder.path().join("two.run"),
        folder.path().join("two.html"),
    );
    let target = url(&server, "");
    let words = [
        "-n",
        "50",
        "-c",
        "2",
        "--repeat",
        "2",
        "--allow-invalid",
        "-q",
    ];
    let kept = ["--save", text(&saved), &target];
    let run = loadline(&[&words[..], &kept].concat());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let pictures = folder.path().join("plots");
    let to = ["--html", text(&page), "--plots", text(&pictures)];
    let report = loadline(&[&["report", "--allow-invalid", text(&saved)][..], &to].concat());
    assert_eq!(report.code, Some(0), "{}", report.stderr);
    let html = std::fs::read_to_string(&page).unwrap();
    for part in ["\"kind\":\"series\"", "Across the runs", "Run 1", "Run 2"] {
        assert!(html.contains(part), "{part}");
    }
    assert!(pictures.join("run-2-spectrum.svg").exists());
}
