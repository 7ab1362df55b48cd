//! The figures of each agent in what exporters send.

use super::{Agent, Bus, end, start, url};
use crate::exporters::scrape::scraped;
use crate::rig::{command, free_port, loadline, serve};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The value of a series in what a scrape says.
fn value(text: &str, series: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(series));
    line?.trim().parse().ok()
}

/// What the endpoint of a run on two agents says once it has series of both, and what the run
/// reports.
fn scraped_of_run(more: &[&str], is_complete: impl Fn(&str) -> bool) -> String {
    let (bus, server, port) = (Bus::start(&[]), serve(), free_port());
    let _agents = ["one", "two"].map(|name| Agent::start(&bus.url(), name, &[]));
    let output = format!("scrape=127.0.0.1:{port}");
    let words = ["-t", "2", "-r", "200", "-n", "2000", "-o", &output];
    let target = url(&server);
    let mut run = start(&bus, "2", &[&words[..], more, &[&target]].concat());
    let patience = Instant::now() + Duration::from_secs(60);
    let text = loop {
        assert!(Instant::now() < patience, "nothing is scraped");
        let ended = run.coordinator.try_wait().expect("the command");
        assert_eq!(ended, None, "the run has ended and nothing was scraped");
        if let Some(text) = scraped(port).filter(|text| is_complete(text)) {
            break text;
        }
        sleep(Duration::from_millis(100));
    };
    let (found, stderr, code) = end(run);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(found["planned"], 2_000, "{stderr}");
    text
}

const ONE: &str = r#"loadline_requests_total{agent="one",outcome="sent"}"#;
const TWO: &str = r#"loadline_requests_total{agent="two",outcome="sent"}"#;
const ALL: &str = r#"loadline_requests_total{outcome="sent"}"#;
const PLANNED: &str = r#"loadline_requests_total{outcome="planned"}"#;

#[test]
fn each_series_has_the_figures_of_one_agent_if_that_is_requested() {
    let has_both = |text: &str| {
        let sent = |series| value(text, series).is_some_and(|sent| sent > 0.0);
        sent(ONE) && sent(TWO)
    };
    let text = scraped_of_run(&["--per-agent"], has_both);
    let [one, two, planned] = [ONE, TWO, PLANNED].map(|series| value(&text, series));
    let (one, two, planned) = (one.unwrap(), two.unwrap(), planned.expect(&text));
    // All of them are of the same intervals; a busy machine may leave something unsent.
    assert!(one + two <= planned, "{one} + {two} of {planned}: {text}");
    assert!(one.max(two) <= planned / 2.0 + 1.0, "{one}, {two}: {text}");
    let series = text.lines().filter(|line| line.starts_with("loadline_"));
    let without: Vec<&str> = series.filter(|line| !line.contains(r#"agent=""#)).collect();
    assert_eq!(without.len(), 1, "{without:?}");
    assert!(without[0].starts_with(PLANNED), "{without:?}");
    let times = r#"loadline_response_seconds_count{agent="two",name="#;
    assert!(text.contains(times), "{text}");
}

#[test]
fn series_have_the_figures_of_all_agents_and_no_label_otherwise() {
    let text = scraped_of_run(&[], |text| value(text, ALL).is_some_and(|sent| sent > 0.0));
    assert!(!text.contains("agent="), "{text}");
}

#[test]
fn labels_of_agents_are_refused_without_agents_or_series() {
    let target = "http://127.0.0.1:9/";
    let alone = loadline(&["--per-agent", "-o", "scrape=127.0.0.1:1", target]);
    assert_eq!(alone.code, Some(2), "{}", alone.stderr);
    assert!(alone.stderr.contains("--agents"), "{}", alone.stderr);
    let agents = [
        "--nats",
        "nats://127.0.0.1:1",
        "--agents",
        "2",
        "--per-agent",
    ];
    for outputs in [&["-o", "json"][..], &["-o", "webhook=http://127.0.0.1:1/"]] {
        let said = loadline(&[&agents[..], outputs, &[target]].concat());
        assert_eq!(said.code, Some(2), "{}", said.stderr);
        let sentence = "--per-agent gives series of exporters the label agent, and no output";
        assert!(said.stderr.contains(sentence), "{}", said.stderr);
    }
    let scraped = ["-o", "scrape=127.0.0.1:1"];
    for (count, said) in [
        (
            "65",
            "--per-agent is for at most 64 agents, and there are 65: beyond, some of them",
        ),
        (
            "region=eu,100",
            "--per-agent is for at most 64 agents, and there are 100: beyond,",
        ),
        ("64", "is nats-server running there?"),
    ] {
        let agents = [
            "--nats",
            "nats://127.0.0.1:1",
            "--per-agent",
            "--agents",
            count,
        ];
        let refused = loadline(&[&agents[..], &scraped, &[target]].concat());
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
    let of_tool = [&agents[..], &["oha", "-n", "1", target]].concat();
    let said = command(&of_tool).output().expect("the command");
    let stderr = String::from_utf8_lossy(&said.stderr);
    assert!(!said.status.success());
    assert!(
        stderr.contains("leave it out in front of another tool"),
        "{stderr}"
    );
}
