//! Files written, cut off, damaged and read.

mod encoding;
mod merge;
mod series;

use super::*;
use crate::samples::{any_snapshot, environment, header, plan, second, started_at};
use crate::saved::encoding::decode;
use crate::watched::{Change, GENERATOR, Watched, WatchedHost, WatchedTree};
use crate::{
    Annotations, DeclaredCheck, Ended, Error, ErrorKind, IntervalArchive, LineError, LoadChange,
    Note, Snapshot, Summary, Transient, Unfinished,
};
use loadline_metrics::{CustomMetrics, CustomRecorder, Key, MetricKind, MetricUnit};
use loadline_plan::{Body, Level};
use proptest::prelude::*;
use serde_json::Value;
use std::path::Path;

/// Returns an arrival for which no connection was free, and an exchange in flight.
fn left() -> Unfinished {
    let mut left = Unfinished {
        unsent: 1,
        by_target: 1,
        in_flight: 1,
        oldest_ns: 250_000,
        ..Unfinished::default()
    };
    left.ages.response.record_ns(200_000);
    left.ages.response.record_ns(250_000);
    left.ages.service.record_ns(240_000);
    left
}

/// Returns a run of these intervals as a file, and its summary.
fn saved(header: &Header, intervals: &[Snapshot], ended: Ended) -> (Vec<u8>, Summary) {
    let mut writer = RunWriter::new(Path::new("a.run"), Vec::new(), header).unwrap();
    let mut summary = Summary::new(header.clone());
    for interval in intervals {
        writer.interval(interval).unwrap();
        summary.observe(interval);
    }
    summary.finish(ended, left());
    (writer.finish(&summary).unwrap(), summary)
}

fn two_seconds() -> (Vec<u8>, Summary) {
    saved(&header(), &[second(0), second(1)], Ended::Duration)
}

fn parse(bytes: &[u8]) -> Result<RunFile, Error> {
    RunFile::parse(Path::new("a.run"), bytes)
}

/// Returns the lines of a run of two seconds as a file, after a change.
fn changed(change: impl FnOnce(&mut Vec<String>)) -> Vec<u8> {
    let text = String::from_utf8(two_seconds().0).unwrap();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    change(&mut lines);
    (lines.join("\n") + "\n").into_bytes()
}

fn message(bytes: &[u8]) -> String {
    parse(bytes).unwrap_err().to_string()
}

#[test]
fn lines_look_like_this() {
    let text = String::from_utf8(two_seconds().0).unwrap();
    let shown: Vec<_> = text.lines().map(with_readable_times).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

/// Replaces deflated distributions by their values: the bytes differ between versions of the
/// compressor.
fn with_readable_times(line: &str) -> String {
    let value: Value = serde_json::from_str(line).unwrap();
    let times = value["times"].as_object().into_iter().flatten();
    let times = times.map(|(_, text)| text);
    let workers = value["workers"].as_object().into_iter().flatten();
    let turns = workers.map(|(_, times)| &times["turns"]);
    let unfinished = &value["unfinished"];
    let ages = ["response_ages", "service_ages"].map(|name| &unfinished[name]);
    let ages = ages.into_iter().filter(|ages| ages.is_string());
    times
        .chain(turns)
        .chain(ages)
        .fold(line.to_owned(), |line, text| {
            let text = text.as_str().unwrap();
            let steps: Vec<_> = decode(text).unwrap().steps().collect();
            line.replace(text, &format!("{steps:?}"))
        })
}

#[test]
fn what_is_read_is_what_was_written() {
    let (bytes, summary) = two_seconds();
    let run = parse(&bytes).unwrap();
    assert_eq!(run.header(), &header());
    assert_eq!(run.summary(), &summary);
    let intervals: Vec<_> = run.snapshots().collect();
    assert_eq!(intervals, [second(0), second(1)]);
}

#[test]
fn goes_through_a_real_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("real.run");
    let mut writer = RunWriter::create(&path, &header()).unwrap();
    writer.interval(&second(0)).unwrap();
    let cut = RunFile::read(&path).unwrap();
    assert_eq!(cut.summary().rows.len(), 1);
    let mut summary = cut.into_summary();
    assert!(!summary.complete);
    summary.finish(Ended::Stages, left());
    writer.finish(&summary).unwrap();
    assert_eq!(RunFile::read(&path).unwrap().into_summary(), summary);
}

#[test]
fn every_ending_is_read_back() {
    let aborted = Ended::Aborted("p99<50ms".to_owned());
    for ended in [
        Ended::Duration,
        Ended::Requests,
        Ended::Stages,
        Ended::Interrupted,
        aborted,
        Ended::Threw("script.lua, line 3, in request(): no".to_owned()),
        Ended::Failed("worker 0 failed: no".to_owned()),
        Ended::Unknown,
    ] {
        let (bytes, _) = saved(&header(), &[second(0)], ended.clone());
        assert_eq!(parse(&bytes).unwrap().summary().ended, ended);
    }
}

#[test]
fn the_check_that_aborted_is_named() {
    let (bytes, _) = saved(&header(), &[], Ended::Aborted("p99<50ms".to_owned()));
    let text = String::from_utf8(bytes).unwrap();
    assert!(
        text.contains(r#""ended":"aborted","check":"p99<50ms""#),
        "{text}"
    );
}

#[test]
fn what_a_script_threw_is_kept() {
    let error = "token.lua, line 7, in request(): no token".to_owned();
    let (bytes, _) = saved(&header(), &[], Ended::Threw(error));
    let text = String::from_utf8(bytes).unwrap();
    assert!(
        text.contains(r#""ended":"threw","error":"token.lua, line 7, in request(): no token""#),
        "{text}"
    );
}

#[test]
fn an_unfinished_summary_is_not_written() {
    let writer = RunWriter::new(Path::new("a.run"), Vec::new(), &header()).unwrap();
    let bytes = writer.finish(&Summary::new(header())).unwrap();
    assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), 1);
}

#[test]
fn fails_with_the_path_when_nothing_can_be_written() {
    let path = Path::new("/nowhere/a.run");
    let error = RunWriter::create(path, &header()).err().unwrap();
    assert!(
        error
            .to_string()
            .starts_with("the saved run /nowhere/a.run can't be written: ")
    );
    let error = RunFile::read(path).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("/nowhere/a.run can't be read: ")
    );
}

#[test]
fn a_run_cut_anywhere_is_read_up_to_there() {
    let (bytes, summary) = two_seconds();
    let ends: Vec<_> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').collect();
    for length in 0..bytes.len() {
        let result = parse(&bytes[..length]);
        // A line that lacks only its newline counts.
        let whole = ends.iter().filter(|end| length >= **end).count();
        if whole == 0 {
            let error = result.unwrap_err();
            let expected = matches!(error, Error::Empty { .. } | Error::CutHeader { .. });
            assert!(expected, "{length}: {error}");
        } else {
            let cut = result.unwrap_or_else(|error| panic!("{length}: {error}"));
            assert_eq!(cut.summary().rows.len(), (whole - 1).min(2), "{length}");
            assert_eq!(cut.summary().complete, whole == 4, "{length}");
        }
    }
    assert_eq!(parse(&bytes).unwrap().summary(), &summary);
}

#[test]
fn a_killed_run_lacks_nothing_but_its_end() {
    let bytes = changed(|lines| drop(lines.pop()));
    let cut = parse(&bytes).unwrap().into_summary();
    let whole = two_seconds().1;
    assert_eq!((cut.complete, &cut.ended), (false, &Ended::Unknown));
    let unfinished = Unfinished {
        unsent: 1,
        in_flight: 1,
        ..Unfinished::default()
    };
    assert_eq!(cut.unfinished, unfinished, "as the intervals tell");
    assert_eq!((&cut.total, &cut.rows), (&whole.total, &whole.rows));
}

#[test]
fn a_file_of_the_first_version_is_read_with_the_counts_of_its_time() {
    let old = include_bytes!("tests/version-1.run");
    let summary = parse(old).unwrap().into_summary();
    assert_eq!((summary.format, summary.complete), (1, true));
    let counts = summary.total.counts;
    assert_eq!(
        (counts.sent, counts.answered, counts.in_flight),
        (20, 19, 1)
    );
    assert_eq!(counts.completed, counts.answered);
    assert_eq!((summary.unfinished.count(), summary.drained_ns), (1, 0));
    assert!(!summary.unfinished.ages_are_known());
    let max_ns = summary.response().max_ns();
    assert!(
        max_ns.is_at_least(),
        "one request may take longer: {max_ns:?}"
    );
}

#[test]
fn users_that_were_called_connections_are_read_as_users() {
    let old = include_bytes!("tests/version-2.run");
    let summary = parse(old).unwrap().into_summary();
    assert_eq!((summary.format, summary.complete), (2, true));
    let load = &summary.plan.load;
    assert_eq!((load.users, load.max_users), (2, 5));
    assert_eq!(summary.total.counts.answered, 6);
}

#[test]
fn kinds_of_failures_that_only_a_later_version_knows_are_counted_together() {
    let bytes = changed(|lines| {
        for (line, errors) in lines.iter_mut().skip(1).zip([
            r#"{"reset":{"count":1,"example":"gone"},"timeout":{"count":3,"example":"late"}}"#,
            r#"{"goaway":{"count":2,"example":"go"}}"#,
            r#"{"goaway":{"count":2,"example":"go"},"reset":{"count":1,"example":"gone"},
                "timeout":{"count":3,"example":"late"}}"#,
        ]) {
            let mut value: Value = serde_json::from_str(line).unwrap();
            value["errors"] = serde_json::from_str(errors).unwrap();
            *line = value.to_string();
        }
    });
    let errors = parse(&bytes).unwrap().into_summary().total.errors;
    let counts: Vec<_> = errors.iter().map(|(kind, of)| (*kind, of.count)).collect();
    assert_eq!(counts, [(ErrorKind::Timeout, 3), (ErrorKind::Other, 3)]);
    assert!(errors[&ErrorKind::Other].example.contains("later version"));
}

#[test]
fn a_drain_is_in_the_times_and_in_no_row() {
    let mut drain = second(2);
    (drain.drain, drain.end_ns) = (true, 2_200_000_000);
    let intervals = [second(0), second(1), drain];
    let (bytes, summary) = saved(&header(), &intervals, Ended::Duration);
    let run = parse(&bytes).unwrap();
    assert_eq!(run.summary(), &summary);
    assert_eq!((summary.rows.len(), run.snapshots().len()), (2, 2));
    assert_eq!(summary.duration_ns, 2_000_000_000);
    assert_eq!(summary.drained_ns, 200_000_000);
    assert_eq!(summary.total.times.service.len(), 9);
    let behind = changed(|lines| {
        lines[1] = lines[1].replace("\"counts\"", "\"drain\":true,\"counts\"");
    });
    let message = message(&behind);
    assert!(
        message.contains("an interval follows the drain"),
        "{message}"
    );
}

#[test]
fn a_lost_interval_is_named_even_without_a_summary() {
    let three = [second(0), second(1), second(2)];
    let text = String::from_utf8(saved(&header(), &three, Ended::Duration).0).unwrap();
    let mut lines: Vec<_> = text.lines().collect();
    lines.pop();
    let killed = lines.join("\n") + "\n";
    assert!(parse(killed.as_bytes()).is_ok());
    lines.remove(2);
    let message = message((lines.join("\n") + "\n").as_bytes());
    let expected = "a.run, line 3: the interval begins at 2000000000 ns, and the line above it \
                    ends at 1000000000 ns";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn garbage_is_named_with_file_and_line() {
    let cases: [(&str, Vec<u8>); 9] = [
        (
            "a.run, line 3: it is damaged: ",
            changed(|lines| lines[2].truncate(40)),
        ),
        (
            "a.run, line 2: it is damaged: ",
            changed(|lines| lines[1] = "}{".to_owned()),
        ),
        (
            "a.run, line 1: it is damaged: ",
            changed(|lines| lines[0] = r#"{"loadline":1}"#.to_owned()),
        ),
        (
            "a.run, line 2: its kind is `intervals`, which is neither `interval` nor `summary`",
            changed(|lines| lines[1] = lines[1].replace("interval", "intervals")),
        ),
        (
            "a.run, line 5: a line follows the summary",
            changed(|lines| lines.push(lines[1].clone())),
        ),
        (
            "a.run, line 3: the summary is not the sum of the intervals",
            changed(|lines| drop(lines.remove(2))),
        ),
        (
            "a.run, line 2: the interval begins at 1000000000 ns, and the line above it ends at 0 \
             ns: lines were lost",
            changed(|lines| drop(lines.remove(1))),
        ),
        (
            "a.run, line 3: the interval begins at 0 ns, before the one above it ends at \
             1000000000 ns",
            changed(|lines| lines.insert(2, lines[1].clone())),
        ),
        (
            "a.run, line 3: the interval ends at 0 ns, before it begins at 1000000000 ns",
            changed(|lines| lines[2] = lines[2].replace("\"end_ns\":2000000000", "\"end_ns\":0")),
        ),
    ];
    for (expected, bytes) in cases {
        let message = message(&bytes);
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn blank_lines_say_nothing() {
    let blank = changed(|lines| lines.extend([String::new(), " ".to_owned()]));
    assert_eq!(parse(&blank).unwrap().summary(), &two_seconds().1);
}

#[test]
fn a_damaged_distribution_is_named() {
    let bytes =
        changed(|lines| lines[1] = lines[1].replace(r#""response":"H"#, r#""response":"I"#));
    let message = message(&bytes);
    let expected = "a.run, line 2: the distribution `response` is damaged: it is no HdrHistogram";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn another_version_is_refused() {
    let bytes =
        changed(|lines| lines[0] = lines[0].replace(r#"{"loadline":3,"#, r#"{"loadline":4,"#));
    assert!(message(&bytes).starts_with(
        "a.run is a saved run of format version 4, and this program reads versions 1 to 3."
    ));
}

#[test]
fn what_is_no_run_is_refused() {
    for text in [
        "hello\n",
        "{}\n",
        "{\"kind\":\"header\"}",
        "[]\n",
        "\n",
        "\u{0}\u{1}",
    ] {
        let error = parse(text.as_bytes()).unwrap_err();
        assert!(matches!(error, Error::NotARun { .. }), "{text:?}: {error}");
    }
}

#[test]
fn keys_of_a_later_program_are_passed_over() {
    let bytes = changed(|lines| {
        for line in lines {
            *line = line.replacen('{', r#"{"later":[1,{}],"#, 1);
        }
    });
    assert_eq!(parse(&bytes).unwrap().into_summary(), two_seconds().1);
}

#[test]
fn long_bodies_are_known_by_length_and_sum() {
    let mut plan = plan();
    let (short, mut long) = (plan.requests[0].clone(), plan.requests[0].clone());
    long.body = Body::Bytes(b"123456789".repeat(100).into());
    plan.requests.push(long);
    plan.requests[0].body = Body::Bytes(vec![0; LONGEST_KEPT_BODY].into());
    let header = Header::new(&plan, environment(), started_at(0.0));
    assert_eq!(header.plan.requests[0], plan.requests[0]);
    assert_eq!(header.plan.requests[1], short);
    let expected = LongBody {
        request: 1,
        length: 900,
        crc32: "09fd0fd7".to_owned(),
    };
    assert_eq!(header.long_bodies, [expected]);
    let (bytes, summary) = saved(&header, &[], Ended::Duration);
    assert_eq!(parse(&bytes).unwrap().into_summary(), summary);
}

#[test]
fn what_was_watched_is_read_back_and_its_lack_as_well() {
    let watched = Watched {
        length_ns: 1_000_000_000,
        host: WatchedHost {
            cores: Some(2),
            ..WatchedHost::default()
        },
        trees: vec![WatchedTree {
            name: GENERATOR.to_owned(),
            change: Some(Change::Restarted),
            ..WatchedTree::default()
        }],
    };
    let mut writer = RunWriter::new(Path::new("a.run"), Vec::new(), &header()).unwrap();
    let mut summary = Summary::new(header());
    for (index, watched) in [(0, Some(&watched)), (1, None)] {
        writer
            .interval_beside(&second(index), watched, Annotations::default())
            .unwrap();
        summary.observe(&second(index));
        if let Some(watched) = watched {
            summary.observe_watched(watched);
        }
    }
    summary.finish(Ended::Duration, Unfinished::default());
    let bytes = writer.finish(&summary).unwrap();
    let run = parse(&bytes).unwrap();
    assert_eq!(run.summary(), &summary);
    assert_eq!(run.summary().watch.rows[0].at_ns, 1_000_000_000);
    let alone = RunFile::merge_concurrent(vec![run]).unwrap().into_summary();
    assert_eq!(alone.watch, summary.watch);
}

#[test]
fn changes_of_the_load_are_read_back_and_merged() {
    let change = |at_ns, level| LoadChange {
        at_ns,
        level,
        scenario: (level == Level::Users(7)).then_some(1),
    };
    let annotations = [
        change(-20, Level::Share(1_050)),
        change(1_500_000_000, Level::Paused),
        // A change after the last interval.
        change(2_900_000_000, Level::Users(7)),
    ];
    let mut writer = RunWriter::new(Path::new("a.run"), Vec::new(), &header()).unwrap();
    let mut summary = Summary::new(header());
    for (index, changes) in [(0, &annotations[..1]), (1, &annotations[1..2]), (2, &[])] {
        let interval = second(index);
        let annotations = Annotations {
            changes,
            ..Annotations::default()
        };
        writer
            .interval_beside(&interval, None, annotations)
            .unwrap();
        summary.observe(&interval);
    }
    summary.changes = annotations.to_vec();
    summary.finish(Ended::Duration, Unfinished::default());
    let bytes = writer.finish(&summary).unwrap();
    let run = parse(&bytes).unwrap();
    assert_eq!(run.summary(), &summary);
    let text = String::from_utf8(bytes).unwrap();
    assert!(
        text.contains(r#""changes":[{"at_ns":-20,"level":{"share":1050}}]"#),
        "{text}"
    );
    let last = text.lines().last().unwrap();
    let late = r#""changes":[{"at_ns":2900000000,"level":{"users":7},"scenario":1}]"#;
    assert!(last.contains(late), "{last}");
}

#[test]
fn a_run_is_cut_to_what_it_was_at_an_instant() {
    let intervals: Vec<Snapshot> = (0..4).map(second).collect();
    let (bytes, whole) = saved(&header(), &intervals, Ended::Duration);
    let run = parse(&bytes).unwrap();
    let end_ns = |count: usize| intervals[count - 1].end_ns;
    let cut = run.until_ns(end_ns(3) - 1);
    assert_eq!(cut.summary().duration_ns, end_ns(2));
    assert_eq!(cut.snapshots().count(), 2);
    assert!(!cut.summary().complete);
    let all = run.until_ns(u64::MAX);
    assert_eq!(all.summary().total, whole.total);
}

#[test]
fn notes_are_read_back_from_intervals_and_from_the_end() {
    let notes = [
        Note::new(500_000_000, "cache cleared").unwrap(),
        Note::new(1_900_000_000, "deployed").unwrap(),
    ];
    let mut writer = RunWriter::new(Path::new("a.run"), Vec::new(), &header()).unwrap();
    let mut summary = Summary::new(header());
    for (index, notes) in [(0, &notes[..1]), (1, &[])] {
        let annotations = Annotations {
            notes,
            ..Annotations::default()
        };
        let interval = second(index);
        writer
            .interval_beside(&interval, None, annotations)
            .unwrap();
        summary.observe(&interval);
    }
    summary.notes = notes.to_vec();
    summary.finish(Ended::Duration, Unfinished::default());
    let bytes = writer.finish(&summary).unwrap();
    let run = parse(&bytes).unwrap();
    assert_eq!(run.summary(), &summary);
    let text = String::from_utf8(bytes).unwrap();
    let late = r#""notes":[{"at_ns":1900000000,"text":"deployed"}]"#;
    assert!(text.lines().last().unwrap().contains(late), "{text}");
    let merged = RunFile::merge_concurrent(vec![run]).unwrap();
    assert_eq!(merged.summary().notes, notes);
}

#[test]
fn notes_that_come_after_the_end_are_read_behind_those_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.run");
    let note = |at_ns, text| Note::new(at_ns, text).unwrap();
    let notes = [note(1, "deployed"), note(0, "begun"), note(7, "restarted")];
    std::fs::write(&path, two_seconds().0).unwrap();
    append_notes(&path, &notes[..1]).unwrap();
    append_notes(&path, &notes[1..]).unwrap();
    let read = RunFile::read(&path).unwrap();
    assert!(read.summary().complete);
    assert_eq!(read.summary().notes, notes);
    // The next run of a series has none of them.
    RunWriter::append(&path, &header()).unwrap();
    let runs = RunFile::read_all(&path).unwrap();
    assert_eq!(runs[0].summary().notes, notes);
    assert!(runs[1].summary().notes.is_empty());
}

#[test]
fn a_condition_that_is_judged_after_the_end_belongs_to_the_last_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.run");
    let check = |text: &str| DeclaredCheck {
        text: text.to_owned(),
        holds: false,
        actual: Some(1.0),
        bound: 0.0,
        samples: 1,
    };
    std::fs::write(&path, two_seconds().0).unwrap();
    assert_eq!(RunFile::read(&path).unwrap().summary().declared, []);
    append_notes(&path, &[Note::new(1, "deployed").unwrap()]).unwrap();
    append_declared(&path, &check("code==0")).unwrap();
    let read = RunFile::read(&path).unwrap();
    assert!(read.summary().complete);
    assert_eq!(read.summary().declared, [check("code==0")]);
    assert_eq!(read.summary().notes.len(), 1);
    assert!(append_declared(folder.path(), &check("code==0")).is_err());
}

#[test]
fn changes_that_come_after_the_end_belong_to_the_last_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.run");
    let change = LoadChange {
        at_ns: 1_500_000_000,
        level: Level::Users(20),
        scenario: None,
    };
    std::fs::write(&path, two_seconds().0).unwrap();
    append_changes(&path, &[change]).unwrap();
    append_notes(&path, &[Note::new(1, "deployed").unwrap()]).unwrap();
    let read = RunFile::read(&path).unwrap();
    assert!(read.summary().complete);
    assert_eq!(read.summary().changes, [change]);
    assert_eq!(read.summary().notes.len(), 1);
    assert!(append_changes(folder.path(), &[change]).is_err());
}

#[test]
fn notes_find_no_place_where_there_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let note = [Note::new(1, "deployed").unwrap()];
    let path = folder.path().join("a.run");
    assert!(matches!(
        append_notes(&path, &note),
        Err(Error::Write { .. })
    ));
    assert!(!path.exists());
    assert!(append_notes(folder.path(), &note).is_err());
}

#[test]
fn a_transient_is_cut_when_it_is_read_and_kept_in_the_file() {
    let intervals: Vec<Snapshot> = (0..6).map(second).collect();
    let mut writer = RunWriter::new(Path::new("a.run"), Vec::new(), &header()).unwrap();
    let (mut summary, mut archive) = (Summary::new(header()), IntervalArchive::default());
    for interval in &intervals {
        writer.interval(interval).unwrap();
        summary.observe(interval);
        archive.observe(interval);
    }
    summary.finish(Ended::Duration, left());
    summary.transient = Some(Transient::Cut { intervals: 2 });
    let bytes = writer.finish(&summary).unwrap();
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(
        text.contains(r#""transient":{"cut":{"intervals":2}}"#),
        "{text}"
    );
    let run = parse(&bytes).unwrap();
    assert_eq!(run.snapshots().collect::<Vec<_>>(), intervals[2..]);
    assert_eq!(run.into_summary(), archive.cut(summary));
}

#[test]
fn metrics_from_outside_of_the_load_are_in_the_total_and_in_no_interval() {
    let metrics = |values: &[f64]| {
        let mut recorder = CustomRecorder::new(5);
        let key = Key::new("orders").unwrap();
        let id = recorder.define(&key, MetricKind::Counter, MetricUnit::None);
        values
            .iter()
            .for_each(|value| recorder.add(id.unwrap(), *value, 1));
        recorder.take()
    };
    let mut interval = second(0);
    interval.metrics = metrics(&[1.0, 2.0]);
    let mut writer = RunWriter::new(Path::new("a.run"), Vec::new(), &header()).unwrap();
    writer.interval(&interval).unwrap();
    let mut summary = Summary::new(header());
    summary.observe(&interval);
    summary.finish(Ended::Duration, left());
    summary.add_outside(&CustomMetrics::default());
    assert!(summary.outside.is_none(), "nothing was counted");
    summary.add_outside(&metrics(&[4.0]));
    summary.add_outside(&metrics(&[8.0]));
    let bytes = writer.finish(&summary).unwrap();
    let run = parse(&bytes).unwrap();
    assert_eq!(run.summary(), &summary);
    let intervals: Vec<_> = run.snapshots().collect();
    assert_eq!(intervals, [interval]);
    assert_eq!(run.summary().total.metrics, metrics(&[1.0, 2.0, 4.0, 8.0]));
    let text = String::from_utf8(bytes).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last["metrics"]["custom"][0]["count"], 2);
    assert_eq!(last["outside"]["custom"][0]["count"], 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_run_is_read_back(intervals in prop::collection::vec(any_snapshot(), 0..4)) {
        let (mut intervals, mut end_ns) = (intervals, 0);
        for interval in &mut intervals {
            interval.start_ns = end_ns;
            end_ns += interval.end_ns;
            interval.end_ns = end_ns;
        }
        let (bytes, summary) = saved(&header(), &intervals, Ended::Duration);
        let run = parse(&bytes).unwrap();
        prop_assert_eq!(run.snapshots().collect::<Vec<_>>(), intervals);
        prop_assert_eq!(run.into_summary(), summary);
    }

    #[test]
    fn a_changed_byte_never_panics(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = two_seconds().0;
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Err(Error::Line { line, reason, .. }) = parse(&bytes) {
            prop_assert!((1..=5).contains(&line));
            prop_assert!(!matches!(reason, LineError::AfterSummary));
        }
    }
}

#[test]
fn a_file_without_an_end_is_refused_before_its_first_line_is_read() {
    let endless = std::io::BufReader::new(std::io::repeat(0));
    let refused = RunFile::parse(Path::new("zero"), endless).unwrap_err();
    assert!(matches!(refused, Error::NotARun { .. }), "{refused}");
}

#[test]
fn a_run_that_lost_all_its_workers_is_read_with_what_they_would_have_sent() {
    let header = header();
    let mut writer = RunWriter::new(Path::new("a.run"), Vec::new(), &header).unwrap();
    let mut summary = Summary::new(header);
    writer.interval(&second(0)).unwrap();
    summary.observe(&second(0));
    let reported = summary.total.counts.planned;
    let left = Unfinished {
        unsent: 9_000,
        by_loadline: 9_000,
        lost: 9_000,
        ..Unfinished::default()
    };
    summary.finish(Ended::Failed("no agent was left".to_owned()), left);
    assert!(summary.total.counts.planned > reported);
    let bytes = writer.finish(&summary).unwrap();
    assert_eq!(parse(&bytes).unwrap().summary(), &summary);
}

#[test]
fn bytes_behind_the_end_of_a_run_are_counted_and_not_read() {
    let (bytes, summary) = two_seconds();
    let behind = |more: &[u8]| {
        let run = parse(&[&bytes[..], more].concat()).unwrap();
        assert_eq!(run.summary(), &summary);
        run.stray_bytes()
    };
    assert_eq!(behind(b""), 0);
    assert_eq!(behind(b"\n\n"), 0);
    assert_eq!(behind(b"x"), 1);
    assert_eq!(behind(b"{\"kind\":\"notes\",\"no"), 19);
    let killed = parse(&bytes[..bytes.len() - 5]).unwrap();
    assert_eq!(killed.stray_bytes(), 0, "it lacks its own end");
}
