use super::encoding::{Encoder, decode};
use super::*;
use crate::samples::{any_snapshot, environment, header, plan, second, started_at};
use crate::{DecodeError, Distribution, Ended, Error, LineError, Snapshot, Summary, Unfinished};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use loadline_plan::{Body, Rate, Shape};
use proptest::prelude::*;
use serde_json::Value;
use std::path::Path;

const UNFINISHED: Unfinished = Unfinished {
    unsent: 1,
    in_flight: 1,
    oldest_ns: 250_000,
};

/// A run of these intervals as a file, and its summary.
fn saved(header: &Header, intervals: &[Snapshot], ended: Ended) -> (Vec<u8>, Summary) {
    let mut writer = RunWriter::new(Path::new("a.run"), Vec::new(), header).unwrap();
    let mut summary = Summary::new(header.clone());
    for interval in intervals {
        writer.interval(interval).unwrap();
        summary.observe(interval);
    }
    summary.finish(ended, UNFINISHED);
    (writer.finish(&summary).unwrap(), summary)
}

fn two_seconds() -> (Vec<u8>, Summary) {
    saved(&header(), &[second(0), second(1)], Ended::Duration)
}

fn parse(bytes: &[u8]) -> Result<RunFile, Error> {
    RunFile::parse(Path::new("a.run"), bytes)
}

/// The lines of a run of two seconds, changed, as a file.
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

/// Deflated bytes differ from one version of the compressor to the next; what they say does not.
fn with_readable_times(line: &str) -> String {
    let value: Value = serde_json::from_str(line).unwrap();
    let times = value["times"].as_object().into_iter().flatten();
    times.fold(line.to_owned(), |line, (_, text)| {
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
    summary.finish(Ended::Stages, UNFINISHED);
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
            .starts_with("The saved run /nowhere/a.run cannot be written: ")
    );
    let error = RunFile::read(path).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("/nowhere/a.run cannot be read: ")
    );
}

#[test]
fn a_run_cut_anywhere_is_read_up_to_there() {
    let (bytes, summary) = two_seconds();
    let ends: Vec<_> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').collect();
    for length in 0..bytes.len() {
        let result = parse(&bytes[..length]);
        // A line that lacks nothing but its newline counts.
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
    assert_eq!(cut.unfinished, Unfinished::default());
    assert_eq!((&cut.total, &cut.rows), (&whole.total, &whole.rows));
}

#[test]
fn garbage_is_named_with_file_and_line() {
    let cases: [(&str, Vec<u8>); 7] = [
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
            changed(|lines| drop(lines.remove(1))),
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
        changed(|lines| lines[0] = lines[0].replace(r#"{"loadline":1,"#, r#"{"loadline":2,"#));
    assert!(message(&bytes).starts_with(
        "a.run is a saved run of format version 2, and this program reads version 1."
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
    long.body = Body::Bytes(b"123456789".repeat(100));
    plan.requests.push(long);
    plan.requests[0].body = Body::Bytes(vec![0; LONGEST_KEPT_BODY]);
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
fn other_programs_can_decode_the_times() {
    let interval = second(0);
    let text = Encoder::new().encode(&interval.times.response).unwrap();
    let bytes = STANDARD.decode(text).unwrap();
    let histogram: Histogram<u64> = Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .unwrap();
    let own = &interval.times.response;
    assert_eq!(histogram.len(), own.len());
    assert_eq!(
        (histogram.low(), histogram.high(), histogram.sigfig()),
        (1, 3_600_000_000_000, 3)
    );
    assert_eq!(
        (histogram.min(), histogram.max()),
        (own.min_ns(), own.max_ns())
    );
    assert_eq!(
        (histogram.mean(), histogram.stdev()),
        (own.mean_ns(), own.stdev_ns())
    );
    let steps = histogram.iter_recorded();
    let steps = steps.map(|step| (step.value_iterated_to(), step.count_at_value()));
    assert!(steps.eq(own.steps()));
}

#[test]
fn an_empty_distribution_has_no_text() {
    assert_eq!(Encoder::new().encode(&Distribution::default()), None);
}

/// A histogram of other bounds, as another program may write it.
fn foreign(low: u64, high: u64, digits: u8) -> String {
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
    let mut histogram = Histogram::<u64>::new_with_bounds(low, high, digits).unwrap();
    histogram.record(high).unwrap();
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(&histogram, &mut bytes)
        .unwrap();
    STANDARD.encode(bytes)
}

#[test]
fn foreign_bounds_are_refused() {
    for text in [
        foreign(1, 1_000, 3),
        foreign(1_000, crate::LONGEST_NS, 3),
        foreign(1, crate::LONGEST_NS, 2),
    ] {
        assert!(matches!(decode(&text), Err(DecodeError::Bounds)));
    }
    assert!(decode(&foreign(1, crate::LONGEST_NS, 3)).is_ok());
}

#[test]
fn what_is_no_histogram_is_refused() {
    assert!(matches!(decode("!"), Err(DecodeError::Base64(_))));
    assert!(matches!(decode(""), Err(DecodeError::Encoding)));
    assert!(matches!(decode("AAAAAAAAAAA="), Err(DecodeError::Encoding)));
}

/// The uncompressed encoding of our bounds with this payload, compressed.
fn with_payload(payload: &[u8]) -> String {
    use std::io::Write;
    let mut inner = Vec::new();
    for word in [0x1c84_9313, payload.len() as u32, 0, 3] {
        inner.extend_from_slice(&word.to_be_bytes());
    }
    for long in [1, crate::LONGEST_NS, 1.0_f64.to_bits()] {
        inner.extend_from_slice(&long.to_be_bytes());
    }
    inner.extend_from_slice(payload);
    let mut deflated = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    deflated.write_all(&inner).unwrap();
    let deflated = deflated.finish().unwrap();
    let mut bytes = 0x1c84_9314_u32.to_be_bytes().to_vec();
    bytes.extend_from_slice(&(deflated.len() as u32).to_be_bytes());
    bytes.extend_from_slice(&deflated);
    STANDARD.encode(bytes)
}

#[test]
fn counts_that_would_burst_a_sum_are_refused() {
    assert_eq!(decode(&with_payload(&[2, 4])).unwrap().len(), 3);
    assert!(matches!(
        decode(&with_payload(&[0xff; 9])),
        Err(DecodeError::Count)
    ));
    let just_below = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f].repeat(20);
    assert!(matches!(
        decode(&with_payload(&just_below)),
        Err(DecodeError::Count)
    ));
    let far_skip = with_payload(&[0xff, 0xff, 0xff, 0xff, 0x0f, 2]);
    assert!(matches!(decode(&far_skip), Err(DecodeError::Encoding)));
}

#[test]
fn a_bomb_is_not_inflated() {
    let bomb = with_payload(&vec![0; 1 << 24]);
    assert!(bomb.len() < 1 << 19);
    assert!(matches!(decode(&bomb), Err(DecodeError::Encoding)));
}

/// A part of a run that started so many seconds after the others.
fn part(name: &str, seconds: f64, intervals: &[Snapshot]) -> RunFile {
    let header = Header {
        started_at: started_at(seconds),
        ..header()
    };
    let (bytes, _) = saved(&header, intervals, Ended::Duration);
    RunFile::parse(Path::new(name), bytes.as_slice()).unwrap()
}

#[test]
fn parts_of_one_run_add_up() {
    let parts = vec![
        part("a.run", 0.2, &[second(0), second(1)]),
        part("b.run", 0.0, &[second(0), second(1)]),
        part("c.run", 0.1, &[second(0), second(1)]),
    ];
    let run = RunFile::merge(parts).unwrap();
    let summary = run.summary();
    assert_eq!(summary.started_at, started_at(0.0));
    assert_eq!(summary.total.counts.sent, 27);
    assert_eq!(summary.total.times.service.len(), 18);
    assert!(summary.complete && summary.total.balanced(0));
    assert_eq!(summary.unfinished.unsent, 3);
    assert_eq!(summary.unfinished.oldest_ns, UNFINISHED.oldest_ns);
    let mut expected = second(1);
    expected.merge(&second(1));
    expected.merge(&second(1));
    assert_eq!(run.snapshots().nth(1), Some(expected));
}

#[test]
fn a_single_part_stays_as_it_is() {
    let run = RunFile::merge(vec![part("a.run", 0.0, &[second(0)])]).unwrap();
    assert_eq!(run.summary(), part("a.run", 0.0, &[second(0)]).summary());
}

#[test]
fn a_part_that_is_over_keeps_its_exchanges_in_flight() {
    let parts = vec![
        part("a.run", 0.0, &[second(0)]),
        part("b.run", 0.1, &[second(0), second(1)]),
    ];
    let run = RunFile::merge(parts).unwrap();
    assert_eq!(run.summary().total.counts.in_flight, 2);
    assert!(run.summary().total.balanced(0));
    assert!(run.snapshots().nth(1).unwrap().balanced(2));
}

#[test]
fn a_cut_part_makes_the_whole_incomplete() {
    let cut = RunFile::parse(
        Path::new("b.run"),
        changed(|lines| drop(lines.pop())).as_slice(),
    );
    let parts = vec![part("a.run", 0.5, &[second(0), second(1)]), cut.unwrap()];
    let summary = RunFile::merge(parts).unwrap().into_summary();
    assert_eq!((summary.complete, summary.ended), (false, Ended::Unknown));
    assert_eq!(summary.total.counts.sent, 18);
}

#[test]
fn a_stopped_part_says_how_the_run_ended() {
    let stopped = |ended: Ended, seconds| {
        let header = Header {
            started_at: started_at(seconds),
            ..header()
        };
        parse(&saved(&header, &[second(0)], ended).0).unwrap()
    };
    let aborted = Ended::Aborted("errors<1%".to_owned());
    let parts = vec![
        stopped(Ended::Duration, 0.0),
        stopped(Ended::Interrupted, 0.1),
        stopped(aborted.clone(), 0.2),
    ];
    assert_eq!(
        RunFile::merge(parts[..2].to_vec()).unwrap().summary().ended,
        Ended::Interrupted
    );
    assert_eq!(RunFile::merge(parts).unwrap().summary().ended, aborted);
}

#[test]
fn what_does_not_belong_together_is_refused_with_the_reason() {
    let second = [second(0)];
    let mut faster = part("b.run", 0.1, &second);
    faster.header.plan.load.shape = Shape::Rate {
        rate: Rate {
            count: 3000,
            per_ns: 1_000_000_000,
        },
        arrivals: Default::default(),
    };
    let mut limited = part("b.run", 0.1, &second);
    limited.header.plan.request_limit = Some(5);
    let mut longer = part("b.run", 0.1, &second);
    longer.header.plan.requests.push(plan().requests[0].clone());
    let cases = [
        (
            faster,
            "are not parts of one run: plan.load.shape.rate.rate.count is 2000 in the first and 3000 in the second.",
        ),
        (
            limited,
            "are not parts of one run: plan.request_limit is null in the first and 5 in the second.",
        ),
        (longer, "are not parts of one run: plan.requests is [{"),
        (part("b.run", 0.0, &second), "are the same run."),
        (
            part("b.run", 1.5, &second),
            "are not parts of one run: they were not started together but 1.5 s apart.",
        ),
    ];
    for (other, reason) in cases {
        let error = RunFile::merge(vec![part("a.run", 0.0, &second), other]).unwrap_err();
        let message = error.to_string();
        assert!(
            message.starts_with(&format!("a.run and b.run {reason}")),
            "{message}"
        );
    }
}

#[test]
fn any_two_parts_are_compared() {
    let second = [second(0)];
    let parts = vec![
        part("a.run", 0.0, &second),
        part("b.run", 0.5, &second),
        part("c.run", 0.5, &second),
    ];
    let message = RunFile::merge(parts).unwrap_err().to_string();
    assert!(
        message.starts_with("b.run and c.run are the same run."),
        "{message}"
    );
}

#[test]
fn nothing_is_not_merged() {
    assert!(matches!(
        RunFile::merge(Vec::new()),
        Err(Error::NothingToMerge)
    ));
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
    fn merging_files_is_merging_snapshots(one in any_snapshot(), two in any_snapshot()) {
        let (mut one, mut two) = (one, two);
        for snapshot in [&mut one, &mut two] {
            snapshot.end_ns += 1_000_000_000;
        }
        let parts = vec![part("a.run", 0.0, &[one.clone()]), part("b.run", 0.1, &[two.clone()])];
        one.merge(&two);
        let run = RunFile::merge(parts).unwrap();
        prop_assert_eq!(run.snapshots().next(), Some(one));
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

    #[test]
    fn changed_histogram_bytes_never_panic(
        payload in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        if let Ok(distribution) = decode(&with_payload(&payload)) {
            prop_assert!(distribution.len() <= 1 << 48);
            prop_assert!(distribution.percentile_ns(99.0) <= distribution.max_ns());
        }
    }
}
