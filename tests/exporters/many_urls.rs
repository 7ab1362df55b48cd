//! Requests of a hundred thousand different URLs: the series that are sent stay few, and it is
//! said.

use super::bodies::Bodies;
use super::otlp::{attributes, messages, metrics, number, text as name_of};
use super::run_with;
use crate::rig::{CommandOutput, serve, text};
use std::fmt::Write;

const URLS: usize = 100_000;
/// The names that a run keeps apart, where nothing else is said.
const NAMES: usize = 2_000;
/// The series that an exporter keeps, and the metrics, each of which may have one more.
const SERIES: usize = 10_000 + 20;

/// Runs each URL once; what it said, and the last message that was sent.
fn ran(words: &[&str]) -> (CommandOutput, Vec<u8>) {
    let (server, receiver) = (serve(), Bodies::listen());
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("urls");
    let mut lines = String::new();
    for number in 0..URLS {
        writeln!(lines, "http://{}/?id={number}", server.addr()).unwrap();
    }
    std::fs::write(&list, lines).unwrap();
    let output = format!("otlp=http://{}", receiver.address);
    let requests = URLS.to_string();
    let all = [
        "-n",
        &requests,
        "-c",
        "4",
        "-t",
        "1",
        "--no-watch",
        "--allow-invalid",
    ];
    let rest = [
        "--no-progress",
        "--full",
        "-o",
        "text",
        "-o",
        &output,
        "--urls",
        text(&list),
    ];
    let said = run_with(&[&all[..], &rest, words].concat(), &[]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let taken = receiver.taken();
    let (_, last) = taken.last().unwrap();
    (said, last.clone())
}

/// The names of all points of a counter, with their values.
fn points(message: &[u8], metric: &str) -> Vec<(String, f64)> {
    let all = metrics(message).into_iter();
    let found = all.filter(|one| name_of(one, 1) == metric);
    let points = found
        .flat_map(|one| messages(&one, 7))
        .flat_map(|sum| messages(&sum, 1));
    let point = |point: Vec<u8>| {
        let labels = attributes(&point, 7);
        let name = labels.iter().find_map(|label| label.strip_prefix("name="));
        (
            name.unwrap_or_default().to_owned(),
            f64::from_bits(number(&point, 4)),
        )
    };
    points.map(point).collect()
}

/// The series of all metrics: points of sums and gauges, and of both kinds of histograms.
fn series(message: &[u8]) -> usize {
    let of = |metric: &Vec<u8>| -> usize {
        let kinds = [5, 7, 9, 10].into_iter();
        let data = kinds.flat_map(|kind| messages(metric, kind));
        data.map(|one| messages(&one, 1).len()).sum()
    };
    metrics(message).iter().map(of).sum()
}

#[test]
fn a_run_keeps_few_names_apart_and_says_so() {
    let (said, last) = ran(&[]);
    let responses = points(&last, "loadline.responses");
    assert!(responses.len() <= NAMES + 1, "{}", responses.len());
    let sum: f64 = responses.iter().map(|(_, count)| count).sum();
    assert_eq!(sum, URLS as f64, "none is lost");
    let others = responses.iter().find(|(name, _)| name == "(other)");
    assert_eq!(others.unwrap().1, (URLS - NAMES) as f64);
    let sentence = "(other) holds the requests of all names beyond the first 2 000";
    assert!(
        unwrapped(&said.stdout).contains(sentence),
        "{}",
        said.stdout
    );
}

/// A report without its line ends.
fn unwrapped(report: &str) -> String {
    report.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn an_exporter_keeps_few_series_of_many_names_and_says_so() {
    let (said, last) = ran(&["--max-series", "100000"]);
    let all = series(&last);
    assert!(all <= SERIES, "{all}");
    let responses = points(&last, "loadline.responses");
    let sum: f64 = responses.iter().map(|(_, count)| count).sum();
    assert_eq!(sum, URLS as f64, "none is lost");
    let sentence = "more than 10000 series: the others are added to the series `(other)`";
    assert_eq!(said.stderr.matches(sentence).count(), 1, "{}", said.stderr);
    let report = unwrapped(&said.stdout);
    assert!(report.contains("more than 10000 series"), "{}", said.stdout);
}
