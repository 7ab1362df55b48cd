//! Several runs in one file.

use super::*;
use crate::{Role, RoleKind};

fn role(number: u32) -> Role {
    Role {
        kind: RoleKind::Repeat,
        number,
        of: Some(2),
        name: None,
        search: None,
        spent_s: None,
    }
}

fn header_of(number: u32) -> Header {
    Header {
        role: Some(role(number)),
        ..header()
    }
}

/// Returns two runs, of two seconds and of one.
fn two_runs() -> (Vec<u8>, [Summary; 2]) {
    let (mut bytes, first) = saved(&header_of(1), &[second(0), second(1)], Ended::Duration);
    let (behind, other) = saved(&header_of(2), &[second(0)], Ended::Interrupted);
    bytes.extend(behind);
    (bytes, [first, other])
}

fn parse_all(bytes: &[u8]) -> Result<Vec<RunFile>, Error> {
    RunFile::parse_all(Path::new("a.run"), bytes)
}

fn summaries(runs: Vec<RunFile>) -> Vec<Summary> {
    runs.into_iter().map(RunFile::into_summary).collect()
}

#[test]
fn each_run_is_read_back_with_its_role() {
    let (bytes, written) = two_runs();
    let runs = parse_all(&bytes).unwrap();
    assert_eq!(runs[1].header().role, Some(role(2)));
    assert_eq!(summaries(runs), written);
    let text = String::from_utf8(bytes).unwrap();
    let in_file = r#""role":{"kind":"repeat","number":2,"of":2}"#;
    assert!(text.contains(in_file), "{text}");
}

#[test]
fn one_run_is_a_series_of_one() {
    let (bytes, summary) = two_seconds();
    assert_eq!(summaries(parse_all(&bytes).unwrap()), [summary]);
}

#[test]
fn several_are_refused_where_one_is_wanted() {
    let message = parse(&two_runs().0).unwrap_err().to_string();
    assert!(
        message.starts_with("a.run holds 2 runs, and one is needed here."),
        "{message}"
    );
}

#[test]
fn a_series_cut_anywhere_is_read_up_to_there() {
    let (bytes, _) = two_runs();
    let ends: Vec<_> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').collect();
    for length in ends[0]..bytes.len() {
        let runs = parse_all(&bytes[..length]).unwrap_or_else(|e| panic!("{length}: {e}"));
        let whole = ends.iter().filter(|end| length >= **end).count();
        assert_eq!(runs.len(), if whole > 4 { 2 } else { 1 }, "{length}");
        assert_eq!(runs[0].summary().complete, whole >= 4, "{length}");
        let rows: usize = runs.iter().map(|run| run.summary().rows.len()).sum();
        assert_eq!(rows, [0, 0, 1, 2, 2, 2, 3, 3][whole], "{length}");
    }
}

#[test]
fn a_killed_run_may_have_others_behind_it() {
    let killed = changed(|lines| drop(lines.pop()));
    let bytes = [killed, two_runs().0].concat();
    let complete: Vec<bool> = summaries(parse_all(&bytes).unwrap())
        .iter()
        .map(|summary| summary.complete)
        .collect();
    assert_eq!(complete, [false, true, true]);
}

#[test]
fn what_is_appended_stands_behind_the_last_whole_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("series.run");
    for number in [1, 2] {
        let writer = RunWriter::append(&path, &header_of(number)).unwrap();
        let mut summary = Summary::new(header_of(number));
        summary.finish(Ended::Duration, left());
        writer.finish(&summary).unwrap();
    }
    // A third run is killed within a line that is longer than the reader's step.
    let cut = format!("{{\"kind\":\"interval\",\"{}", "x".repeat(200_000));
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, [&whole[..], cut.as_bytes()].concat()).unwrap();
    drop(RunWriter::append(&path, &header_of(3)).unwrap());
    let runs = RunFile::read_all(&path).unwrap();
    let numbers: Vec<u32> = runs
        .iter()
        .filter_map(|run| Some(run.header().role.as_ref()?.number))
        .collect();
    assert_eq!(numbers, [1, 2, 3]);
    assert!(!runs[2].summary().complete);
}

#[test]
fn a_later_programs_kind_and_version() {
    let text = String::from_utf8(two_runs().0).unwrap();
    let later = text.replace(r#""kind":"repeat""#, r#""kind":"encore""#);
    let runs = parse_all(later.as_bytes()).unwrap();
    let kind = runs[1].header().role.as_ref().map(|role| role.kind);
    assert_eq!(kind, Some(RoleKind::Unknown));
    let at = text.rfind(r#"{"loadline":3"#).unwrap();
    let other = format!("{}{}", &text[..at], text[at..].replace(":3,", ":9,"));
    let message = parse_all(other.as_bytes()).unwrap_err().to_string();
    assert!(
        message.starts_with("a.run, line 5: a run of format version 9 begins there"),
        "{message}"
    );
}
