//! The arguments of `done`, for wrk and for wrk2.

use super::Bench;
use crate::{Error, Figures, Flavour, Samples};
use loadline_record::SocketErrors;

fn figures() -> Figures {
    Figures {
        duration_us: 2_000_000,
        requests: 100,
        bytes: 12_345,
        errors: SocketErrors {
            connect: 1,
            read: 2,
            write: 3,
            timeout: 5,
        },
        bad_statuses: 4,
        latency: Samples::counted([(100, 2), (200, 1), (400, 1)]),
        rates: Samples::counted([(50, 2)]),
    }
}

fn lines_of(flavour: Flavour, figures: &Figures, body: &str) -> Vec<String> {
    let mut bench = Bench::new();
    bench.options.flavour = flavour;
    let source = format!("function done(summary, latency, requests)\n{body}\nend");
    bench.load(&source).unwrap().done(figures).unwrap();
    bench.lines()
}

#[test]
fn the_summary_has_what_was_counted() {
    let lines = lines_of(
        Flavour::Wrk,
        &figures(),
        "log(summary.duration, summary.requests, summary.bytes)
        local e = summary.errors
        log(e.connect, e.read, e.write, e.status, e.timeout)
        local n = 0 for _ in pairs(summary) do n = n + 1 end log(n)",
    );
    assert_eq!(lines, ["2000000 100 12345", "1 2 3 4 5", "4"]);
}

#[test]
fn figures_in_wrks_words() {
    let lines = lines_of(
        Flavour::Wrk,
        &figures(),
        "log(type(latency), latency.min, latency.max, latency.mean, ('%.3f'):format(latency.stdev))
        log(latency:percentile(50), latency:percentile(99.999), latency:percentile(100))
        log(#latency, latency(1)) log(latency(3)) log(latency(4)) log(latency(0))
        log(latency[1], type(latency[1]), latency.nothing)
        log(#requests, requests(1)) log(requests.mean, requests.stdev)",
    );
    assert_eq!(
        lines,
        [
            "userdata 100 400 200 141.421",
            "200 400 400",
            "3 100 2",
            "400 1",
            "0 3",
            "0 3",
            "1 string nothing",
            "1 50 2",
            "50 0",
        ]
    );
}

#[test]
fn figures_in_wrk2s_words() {
    let lines = lines_of(
        Flavour::Wrk2,
        &figures(),
        "log(latency.min, latency.max, latency.mean, ('%.3f'):format(latency.stdev))
        log(latency:percentile(50), latency:percentile(100), #latency)
        log(latency[1], latency[2], latency[3], latency[4])
        log(pcall(function() return latency(1) end))
        log(latency.nothing)",
    );
    assert_eq!(
        lines[..3],
        ["100 400 200 122.474", "100 400 4", "100 100 200 400"]
    );
    assert!(
        lines[3].starts_with("false") && lines[3].contains("attempt to call"),
        "{lines:?}"
    );
    assert_eq!(lines[4], "nothing");
}

#[test]
fn figures_without_samples() {
    let none = Figures::default();
    let lines = lines_of(
        Flavour::Wrk,
        &none,
        "log(latency.min, latency.max, latency.mean, #latency)",
    );
    assert_eq!(lines, ["1.844674407371e+19 0 0 0"]);
    let lines = lines_of(
        Flavour::Wrk2,
        &none,
        "log(latency.min, latency.mean ~= latency.mean, #latency)",
    );
    assert_eq!(lines, ["1.844674407371e+19 true 0"]);
}

#[test]
fn done_sees_the_main_state() {
    let mut bench = Bench::new();
    bench.options.threads = 2;
    let script = bench.load(
        "value = 'top'
        function init() value = 'init' end
        function done() log(value, wrk.thread) end",
    );
    script.unwrap().done(&figures()).unwrap();
    assert_eq!(bench.lines(), ["top nil"]);
}

#[test]
fn an_error_in_done_is_told() {
    let bench = Bench::new();
    let script = bench.load("function done()\nerror('x') end").unwrap();
    match script.done(&figures()) {
        Err(Error::Script(error)) => {
            assert_eq!((error.line, error.message.as_str()), (Some(2), "x"))
        }
        other => panic!("{other:?}"),
    }
    assert!(bench.load("done = 1").unwrap().done(&figures()).is_ok());
}
