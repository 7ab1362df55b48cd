//! Each peer with its real reports (see `fixtures/README.md`), and with text that is not a report.

use super::*;
use crate::figures::Percentiles;
use crate::settings::{Flag, Setting};
use loadline_plan::Rate;
use proptest::prelude::*;

fn read(kind: ToolKind, stdout: &str) -> Result<Figures, Unreadable> {
    let folder = tempfile::tempdir().unwrap();
    kind.peer().read(&Captured {
        stdout,
        folder: folder.path(),
    })
}

/// Reads a report that a tool writes to a file of this name.
fn read_file(kind: ToolKind, name: &str, text: &str) -> Result<Figures, Unreadable> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), text).unwrap();
    kind.peer().read(&Captured {
        stdout: "",
        folder: folder.path(),
    })
}

#[test]
fn loadlines_own_figures_are_those_of_its_json() {
    let report = include_str!("../../fixtures/loadline.json");
    let found = read_file(ToolKind::Loadline, "loadline.json", report).unwrap();
    assert_eq!((found.rps, found.answers), (1_279.318, Some(3)));
    assert_eq!((found.errors, found.bad_statuses), (Some(0), Some(0)));
    assert_eq!(found.percentiles.p50_us, Some(600.063));
    assert_eq!(found.validity.as_deref(), Some("valid"));
    assert_eq!(found.moments.len(), 1);
    // An earlier version wrote fewer keys, and a later one writes more.
    let mut other: serde_json::Value = serde_json::from_str(report).unwrap();
    let summary = other["summary"].as_object_mut().unwrap();
    summary.remove("wakeup_us");
    summary.insert("later".to_owned(), 1.into());
    let again = read_file(ToolKind::Loadline, "loadline.json", &other.to_string()).unwrap();
    assert_eq!(again, found);
}

#[test]
fn a_search_is_read_with_its_interval_and_the_recovery() {
    let report = include_str!("../../fixtures/capacity.json");
    let found = read_file(ToolKind::Capacity, "capacity.json", report).unwrap();
    let line = found.load_line.unwrap();
    assert_eq!(
        (found.rps, line.rate, line.recovery_s),
        (298.8, 298.8, Some(0.0))
    );
    let tenth = |rate: Option<f64>| rate.map(|rate| (rate * 10.0).round() / 10.0);
    assert_eq!(
        (tenth(line.low), tenth(line.high)),
        (Some(292.3), Some(418.8))
    );
    assert_eq!(found.percentiles.p99_us, Some(29_933.567), "at 90 % of it");
    let verdict = found.verdict.unwrap();
    assert!(
        verdict.starts_with("load line: 299 req/s (292 … 419);"),
        "{verdict}"
    );
    assert!(
        verdict.ends_with("of it all checks passed again at once."),
        "{verdict}"
    );
}

#[test]
fn a_comparison_is_read_with_what_differs() {
    let report = include_str!("../../fixtures/versus.json");
    let found = read_file(ToolKind::Versus, "versus.json", report).unwrap();
    assert_eq!(found.percentiles.p50_us, Some(20_914.65));
    let begin = "B is slower than A. B / A: p50 1.90 (1.27 – 2.84, slower), p90 1.39 (0.62 – 3.11, \
                 cannot tell), mean";
    let verdict = found.verdict.unwrap();
    assert!(verdict.starts_with(begin), "{verdict}");
}

fn percentiles(us: [Option<f64>; 6]) -> Percentiles {
    let mut us = us.into_iter();
    Percentiles::each(|_| us.next().flatten().map(|us| (us * 1e3).round() / 1e3))
}

/// Rounds figures to a thousandth, as tests write them.
fn rounded(figures: Figures) -> Figures {
    let round = |number: f64| (number * 1e3).round() / 1e3;
    let Percentiles {
        p50_us,
        p75_us,
        p90_us,
        p95_us,
        p99_us,
        p99_9_us,
    } = figures.percentiles;
    Figures {
        rps: round(figures.rps),
        duration_s: figures.duration_s.map(round),
        mean_us: figures.mean_us.map(round),
        max_us: figures.max_us.map(round),
        percentiles: percentiles([p50_us, p75_us, p90_us, p95_us, p99_us, p99_9_us]),
        ..figures
    }
}

#[test]
fn wrk_is_read() {
    let figures = read(ToolKind::Wrk, include_str!("../../fixtures/wrk.txt")).unwrap();
    let expected = Figures {
        rps: 60_752.45,
        duration_s: Some(1.0),
        answers: Some(60_768),
        errors: Some(0),
        timeouts: Some(0),
        bad_statuses: Some(0),
        mean_us: Some(815.03),
        max_us: Some(24_160.0),
        percentiles: percentiles([
            Some(109.0),
            Some(343.0),
            Some(2_600.0),
            None,
            Some(10_850.0),
            None,
        ]),
        ..Figures::default()
    };
    assert_eq!(rounded(figures), expected);
    let missing = read(
        ToolKind::Wrk,
        include_str!("../../fixtures/wrk-missing.txt"),
    )
    .unwrap();
    assert_eq!(missing.bad_statuses, Some(25_531));
}

#[test]
fn the_socket_errors_of_wrk_are_added_up() {
    let report = include_str!("../../fixtures/wrk.txt").replace(
        "Requests/sec:",
        "  Socket errors: connect 1, read 20, write 0, timeout 300\nRequests/sec:",
    );
    let figures = read(ToolKind::Wrk, &report).unwrap();
    assert_eq!((figures.errors, figures.timeouts), (Some(321), Some(300)));
}

#[test]
fn a_wrk_without_an_answer_has_no_times() {
    let report = "Running 1s test @ http://127.0.0.1:1/\n  1 threads and 1 connections\n  Thread \
                  Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     0.00us    0.00us   \
                  0.00us    -nan%\n    Req/Sec     0.00      0.00     0.00      -nan%\n  Latency \
                  Distribution\n     50%    0.00us\n     75%    0.00us\n     90%    0.00us\n     \
                  99%    0.00us\n  0 requests in 1.00s, 0.00B read\nRequests/sec:      0.00\n\
                  Transfer/sec:       0.00B\n";
    let figures = read(ToolKind::Wrk, report).unwrap();
    assert_eq!((figures.rps, figures.answers), (0.0, Some(0)));
    assert_eq!((figures.mean_us, figures.max_us), (None, None));
    assert_eq!(figures.percentiles, Percentiles::default());
}

#[test]
fn wrk2_is_read() {
    let figures = read(ToolKind::Wrk2, include_str!("../../fixtures/wrk2.txt")).unwrap();
    assert_eq!(figures.rps, 494.3);
    assert_eq!(figures.answers, Some(5_979));
    assert_eq!(figures.mean_us, Some(4_470.0));
    let expected = [
        Some(1_920.0),
        Some(5_890.0),
        Some(11_160.0),
        None,
        Some(25_890.0),
        Some(33_790.0),
    ];
    assert_eq!(rounded(figures).percentiles, percentiles(expected));
}

#[test]
fn ab_is_read() {
    let figures = read(ToolKind::Ab, include_str!("../../fixtures/ab.txt")).unwrap();
    let expected = Figures {
        rps: 6_716.46,
        duration_s: Some(0.149),
        answers: Some(1_000),
        errors: Some(0),
        bad_statuses: Some(0),
        mean_us: Some(1_489.0),
        max_us: Some(96_000.0),
        percentiles: percentiles([
            Some(0.0),
            Some(0.0),
            Some(0.0),
            Some(1_000.0),
            Some(34_000.0),
            None,
        ]),
        resolution_us: Some(1_000.0),
        ..Figures::default()
    };
    assert_eq!(rounded(figures), expected);
    let missing = read(ToolKind::Ab, include_str!("../../fixtures/ab-missing.txt")).unwrap();
    assert_eq!(missing.bad_statuses, Some(100));
}

#[test]
fn h2load_is_read() {
    let figures = read(ToolKind::H2load, include_str!("../../fixtures/h2load.txt")).unwrap();
    let expected = Figures {
        rps: 21_118.0,
        duration_s: Some(1.01),
        answers: Some(21_118),
        errors: Some(0),
        bad_statuses: Some(0),
        mean_us: Some(473.0),
        max_us: Some(23_820.0),
        ..Figures::default()
    };
    assert_eq!(rounded(figures), expected);
    let missing = read(
        ToolKind::H2load,
        include_str!("../../fixtures/h2load-missing.txt"),
    )
    .unwrap();
    assert_eq!((missing.bad_statuses, missing.errors), (Some(100), Some(0)));
}

#[test]
fn oha_is_read() {
    let figures = read(ToolKind::Oha, include_str!("../../fixtures/oha.json")).unwrap();
    assert_eq!(figures.answers, Some(37_765));
    assert_eq!(figures.errors, Some(0), "what the end cut off is no error");
    let figures = rounded(figures);
    assert_eq!(figures.rps, 36_944.112);
    assert_eq!(
        (figures.mean_us, figures.max_us),
        (Some(262.843), Some(30_727.54))
    );
    assert_eq!(figures.percentiles.p50_us, Some(197.001));
    assert_eq!(figures.percentiles.p99_9_us, Some(8_064.172));
    let refused = read(
        ToolKind::Oha,
        include_str!("../../fixtures/oha-refused.json"),
    )
    .unwrap();
    assert_eq!(
        (refused.rps, refused.answers, refused.errors),
        (0.0, Some(0), Some(20))
    );
    assert_eq!(refused.mean_us, None);
}

#[test]
fn hey_is_read() {
    let figures = read(ToolKind::Hey, include_str!("../../fixtures/hey.txt")).unwrap();
    assert_eq!((figures.answers, figures.errors), (Some(9_745), Some(0)));
    let figures = rounded(figures);
    assert_eq!(figures.rps, 9_736.237);
    assert_eq!(
        (figures.mean_us, figures.max_us),
        (Some(1_000.0), Some(46_500.0))
    );
    assert_eq!(figures.percentiles.p99_us, Some(11_900.0));
    assert_eq!(figures.resolution_us, Some(100.0));
    let missing = read(
        ToolKind::Hey,
        include_str!("../../fixtures/hey-missing.txt"),
    )
    .unwrap();
    assert_eq!(
        (missing.answers, missing.bad_statuses),
        (Some(20), Some(20))
    );
    let refused = read(
        ToolKind::Hey,
        include_str!("../../fixtures/hey-refused.txt"),
    )
    .unwrap();
    assert_eq!(
        (refused.rps, refused.answers, refused.errors),
        (0.0, Some(0), Some(20))
    );
    assert_eq!((refused.mean_us, refused.max_us), (None, None));
}

#[test]
fn the_percentiles_of_a_later_hey_have_two_signs() {
    let report = include_str!("../../fixtures/hey.txt");
    let later = report.replace("% in", "%% in");
    assert_ne!(later, report);
    assert_eq!(read(ToolKind::Hey, &later), read(ToolKind::Hey, report));
}

#[test]
fn processes_of_locust_meet_at_a_free_port() {
    let common = [Setting::Threads(2), TEN_SECONDS];
    let words = words(ToolKind::Locust, &common).unwrap();
    let meet = "--processes 2 --master-bind-port 40000 --master-port 40000 ";
    assert!(words.contains(meet), "{words}");
}

#[test]
fn k6_is_read() {
    let figures = read_file(
        ToolKind::K6,
        "k6.json",
        include_str!("../../fixtures/k6.json"),
    )
    .unwrap();
    let expected = Figures {
        rps: 7_855.147,
        answers: Some(23_574),
        errors: Some(2_619),
        mean_us: Some(588.948),
        max_us: Some(58_685.319),
        percentiles: percentiles(
            [368.544, 550.409, 971.439, 1_672.638, 4_435.621, 19_999.515].map(Some),
        ),
        ..Figures::default()
    };
    assert_eq!(rounded(figures), expected);
    let refused = include_str!("../../fixtures/k6-refused.json");
    let figures = read_file(ToolKind::K6, "k6.json", refused).unwrap();
    let expected = Figures {
        answers: Some(0),
        errors: Some(5_134),
        ..Figures::default()
    };
    assert_eq!(figures, expected);
}

#[test]
fn locust_is_read() {
    let table = include_str!("../../fixtures/locust_stats.csv");
    let figures = read_file(ToolKind::Locust, "locust_stats.csv", table).unwrap();
    let expected = Figures {
        rps: 2_325.888,
        answers: Some(4_644),
        errors: Some(0),
        mean_us: Some(1_420.36),
        max_us: Some(98_036.693),
        percentiles: percentiles(
            [1_000.0, 1_000.0, 1_000.0, 4_000.0, 26_000.0, 47_000.0].map(Some),
        ),
        resolution_us: Some(1_000.0),
        ..Figures::default()
    };
    assert_eq!(rounded(figures), expected);
    let processes = include_str!("../../fixtures/locust-processes_stats.csv");
    let figures = read_file(ToolKind::Locust, "locust_stats.csv", processes).unwrap();
    assert_eq!(figures.answers, Some(406));
}

#[test]
fn what_is_empty_is_no_report() {
    for kind in ToolKind::ALL {
        let missing = match kind {
            ToolKind::K6 | ToolKind::Locust => Unreadable::NoFile,
            kind if kind.is_own() => Unreadable::NoFile,
            _ => Unreadable::Empty,
        };
        assert_eq!(read(kind, ""), Err(missing.clone()), "{kind:?}");
        assert_eq!(read(kind, " \n\n").unwrap_err(), missing, "{kind:?}");
    }
    for (kind, name) in [
        (ToolKind::Loadline, "loadline.json"),
        (ToolKind::K6, "k6.json"),
        (ToolKind::Locust, "locust_stats.csv"),
    ] {
        assert!(read_file(kind, name, "").is_err(), "{kind:?}");
    }
}

#[test]
fn every_cut_of_a_report_is_read_or_refused() {
    for (kind, report) in [
        (ToolKind::Wrk, include_str!("../../fixtures/wrk.txt")),
        (ToolKind::Ab, include_str!("../../fixtures/ab.txt")),
        (ToolKind::H2load, include_str!("../../fixtures/h2load.txt")),
        (
            ToolKind::Oha,
            include_str!("../../fixtures/oha-refused.json"),
        ),
    ] {
        let mut refused = 0;
        for end in (0..report.len()).filter(|end| report.is_char_boundary(*end)) {
            refused += u32::from(read(kind, &report[..end]).is_err());
        }
        assert!(refused > 100, "{kind:?}");
    }
}

proptest! {
    #[test]
    fn no_text_upsets_a_reader(text in "(\\PC|\n){0,300}") {
        for kind in ToolKind::ALL {
            let _ = read(kind, &text);
        }
        for (kind, name) in [(ToolKind::K6, "k6.json"), (ToolKind::Locust, "locust_stats.csv")] {
            let _ = read_file(kind, name, &text);
        }
    }
}

fn settings(settings: &[Setting]) -> Settings {
    let mut all = Settings::default();
    settings.iter().for_each(|setting| all.set(setting));
    all
}

fn words(kind: ToolKind, set: &[Setting]) -> Result<String, Unsupported> {
    let place = RunTarget {
        port: 40_000,
        url: "http://h/",
        against: None,
        folder: Path::new("/w"),
        script: None,
    };
    kind.peer()
        .call(&settings(set), &place)
        .map(|call| call.words.join(" "))
}

const TEN_SECONDS: Setting = Setting::Duration(Duration::from_secs(10));

#[test]
fn settings_become_the_arguments_of_each_tool() {
    use Setting::{Connections, KeepAlive, Requests, Threads};
    let common = [Connections(8), TEN_SECONDS, KeepAlive(true)];
    for (kind, expected) in [
        (
            ToolKind::Loadline,
            "--no-progress -o text -o json=/w/loadline.json --connections 8 --duration 10s \
             http://h/",
        ),
        (ToolKind::Wrk, "--latency -c 8 -d 10s http://h/"),
        (
            ToolKind::Oha,
            "--no-tui --output-format json -c 8 -z 10s http://h/",
        ),
        (ToolKind::Ab, "-q -t 10 -n 50000000 -c 8 -k http://h/"),
        (ToolKind::H2load, "--h1 -c 8 -D 10 http://h/"),
        (ToolKind::Hey, "-c 8 -z 10s http://h/"),
        (
            ToolKind::Locust,
            "--headless --only-summary --exit-code-on-error 0 -t 10s -u 8 -r 8 --csv /w/locust \
             -f /w/locustfile.py",
        ),
    ] {
        assert_eq!(words(kind, &common).as_deref(), Ok(expected), "{kind:?}");
    }
    let versus = RunTarget {
        port: 40_000,
        url: "http://h/",
        against: Some("http://i/"),
        folder: Path::new("/w"),
        script: None,
    };
    let call = ToolKind::Versus
        .peer()
        .call(&settings(&common), &versus)
        .unwrap();
    let expected = "--no-progress -o text -o json=/w/versus.json --connections 8 --duration 10s \
                    http://h/ http://i/";
    assert_eq!(call.words.join(" "), expected);
    let expected = "--no-progress -o text -o json=/w/capacity.json --connections 8 --duration 10s \
                    http://h/";
    assert_eq!(words(ToolKind::Capacity, &common).as_deref(), Ok(expected));
    let paced = [
        Threads(2),
        Connections(8),
        TEN_SECONDS,
        Setting::Rate(Rate::each_second(2_000)),
        KeepAlive(false),
    ];
    for (kind, expected) in [
        (
            ToolKind::Loadline,
            "--no-progress -o text -o json=/w/loadline.json --threads 2 --connections 8 \
             --duration 10s --rate 2000 --max-connections 8 --no-keepalive http://h/",
        ),
        (
            ToolKind::Wrk2,
            "--latency -t 2 -c 8 -d 10s -R 2000 -H Connection: close http://h/",
        ),
        (
            ToolKind::Oha,
            "--no-tui --output-format json --worker-threads 2 -c 8 -z 10s -q 2000 \
             --disable-keepalive http://h/",
        ),
        (
            ToolKind::Hey,
            "-cpus 2 -c 8 -z 10s -q 250 -disable-keepalive http://h/",
        ),
    ] {
        assert_eq!(words(kind, &paced).as_deref(), Ok(expected), "{kind:?}");
    }
    let flag = Setting::Flag(Flag {
        name: "-l".to_owned(),
        value: None,
        on: true,
    });
    let streams = Setting::Flag(Flag {
        name: "-m".to_owned(),
        value: Some("10".to_owned()),
        on: true,
    });
    let over_http2 = [Connections(4), TEN_SECONDS, streams];
    let expected = "-c 4 -D 10 -m 10 http://h/";
    assert_eq!(
        words(ToolKind::H2load, &over_http2).as_deref(),
        Ok(expected)
    );
    let counted = [Connections(4), Requests(10_000), flag];
    let expected = "-q -n 10000 -c 4 -l http://h/";
    assert_eq!(words(ToolKind::Ab, &counted).as_deref(), Ok(expected));
}

#[test]
fn what_a_tool_cannot_do_is_refused() {
    use Setting::{KeepAlive, Requests, Threads};
    let rate = Setting::Rate(Rate::each_second(10));
    let half = Setting::Duration(Duration::from_millis(500));
    for (kind, set, refused) in [
        (
            ToolKind::Wrk,
            vec![],
            Unsupported::NoEnd("wrk", "a duration"),
        ),
        (
            ToolKind::Wrk,
            vec![half.clone()],
            Unsupported::FractionOfSecond("wrk"),
        ),
        (
            ToolKind::Wrk,
            vec![TEN_SECONDS, rate.clone()],
            Unsupported::NoRate("wrk"),
        ),
        (
            ToolKind::Wrk2,
            vec![TEN_SECONDS],
            Unsupported::NeedsRate("wrk2"),
        ),
        (
            ToolKind::Wrk,
            vec![Requests(5)],
            Unsupported::NoRequests("wrk"),
        ),
        (
            ToolKind::Ab,
            vec![TEN_SECONDS, rate.clone()],
            Unsupported::NoRate("ab"),
        ),
        (
            ToolKind::Ab,
            vec![TEN_SECONDS, Threads(2)],
            Unsupported::NoThreads("ab"),
        ),
        (
            ToolKind::H2load,
            vec![TEN_SECONDS, KeepAlive(false)],
            Unsupported::AlwaysKeepsAlive("h2load"),
        ),
        (
            ToolKind::Oha,
            vec![TEN_SECONDS, Requests(5)],
            Unsupported::TwoEnds("oha"),
        ),
        (
            ToolKind::Locust,
            vec![TEN_SECONDS, rate],
            Unsupported::NoRate("locust"),
        ),
    ] {
        assert_eq!(words(kind, &set), Err(refused), "{kind:?}");
    }
}

#[test]
fn k6_and_locust_get_scripts_that_request_the_url() {
    let set = settings(&[
        Setting::Connections(5),
        TEN_SECONDS,
        Setting::KeepAlive(false),
    ]);
    let place = RunTarget {
        port: 40_000,
        url: "http://h/a\"b",
        against: None,
        folder: Path::new("/w"),
        script: None,
    };
    let script_of = |kind: ToolKind, set: &Settings| {
        let mut files = kind.peer().call(set, &place).unwrap().files;
        assert_eq!(files.len(), 1);
        files.remove(0).1
    };
    let script = |kind: ToolKind| script_of(kind, &set);
    let k6 = script(ToolKind::K6);
    assert!(k6.contains("http.get(\"http://h/a\\\"b\")"), "{k6}");
    assert!(k6.contains("\"noConnectionReuse\":true"), "{k6}");
    assert!(k6.contains("\"vus\":5"), "{k6}");
    let locust = script(ToolKind::Locust);
    assert!(
        locust.contains("self.client.get(\"http://h/a\\\"b\", headers="),
        "{locust}"
    );
    for (rate, told) in [
        ("2000/s", "\"rate\":2000,\"timeUnit\":\"1000000000ns\""),
        ("1/300us", "\"rate\":1,\"timeUnit\":\"300000ns\""),
    ] {
        let paced = settings(&[TEN_SECONDS, Setting::Rate(rate.parse().unwrap())]);
        let k6 = script_of(ToolKind::K6, &paced);
        assert!(k6.contains(told), "{k6}");
    }
}
