//! Parts of one run, and files that are not parts.

use super::{changed, left, parse, saved};
use crate::samples::{any_snapshot, header, plan, second, started_at};
use crate::{Ended, Error, Header, RunFile, Snapshot};
use loadline_plan::{Rate, Shape};
use proptest::prelude::*;
use std::path::Path;

/// Returns a part of a run that started this many seconds after the others.
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
    let run = RunFile::merge_concurrent(parts).unwrap();
    let summary = run.summary();
    assert_eq!(summary.started_at, started_at(0.0));
    assert_eq!(summary.total.counts.sent, 27);
    assert_eq!(summary.total.times.service.len(), 18);
    assert!(summary.complete && summary.total.balanced(0));
    assert_eq!((summary.parts, summary.unfinished.unsent), (3, 3));
    assert_eq!(summary.unfinished.oldest_ns, left().oldest_ns);
    let mut expected = second(1);
    expected.merge(&second(1));
    expected.merge(&second(1));
    // Each part has a worker of its own.
    let worker = &second(1).workers[&0];
    expected.workers = (0..3).map(|number| (number, worker.clone())).collect();
    assert_eq!(run.snapshots().nth(1), Some(expected));
}

#[test]
fn parts_may_have_different_seeds() {
    let mut other = part("b.run", 0.1, &[second(0)]);
    other.header.plan.seed += 1;
    other.header.seed += 1;
    let run = RunFile::merge_concurrent(vec![part("a.run", 0.0, &[second(0)]), other]);
    assert_eq!(run.unwrap().summary().parts, 2);
}

#[test]
fn a_single_part_stays_as_it_is() {
    let run = RunFile::merge_concurrent(vec![part("a.run", 0.0, &[second(0)])]).unwrap();
    assert_eq!(run.summary(), part("a.run", 0.0, &[second(0)]).summary());
}

#[test]
fn a_part_that_is_over_keeps_its_exchanges_in_flight() {
    let parts = vec![
        part("a.run", 0.0, &[second(0)]),
        part("b.run", 0.1, &[second(0), second(1)]),
    ];
    let run = RunFile::merge_concurrent(parts).unwrap();
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
    let summary = RunFile::merge_concurrent(parts).unwrap().into_summary();
    assert_eq!((summary.complete, summary.ended), (false, Ended::Unknown));
    assert_eq!(summary.total.counts.sent, 18);
    assert_eq!(
        (summary.unfinished.unsent, summary.unfinished.in_flight),
        (2, 2)
    );
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
        RunFile::merge_concurrent(parts[..2].to_vec())
            .unwrap()
            .summary()
            .ended,
        Ended::Interrupted
    );
    assert_eq!(
        RunFile::merge_concurrent(parts).unwrap().summary().ended,
        aborted
    );
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
            "are not parts of one run: plan.load.shape.rate.rate.count is 2000 in the first and \
             3000 in the second.",
        ),
        (
            limited,
            "are not parts of one run: plan.request_limit is null in the first and 5 in the \
             second.",
        ),
        (longer, "are not parts of one run: plan.requests is [{"),
        (part("b.run", 0.0, &second), "are the same run."),
        (
            part("b.run", 1.5, &second),
            "are not parts of one run: they were not started together but 1.5 s apart.",
        ),
    ];
    for (other, reason) in cases {
        let error =
            RunFile::merge_concurrent(vec![part("a.run", 0.0, &second), other]).unwrap_err();
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
    let message = RunFile::merge_concurrent(parts).unwrap_err().to_string();
    assert!(
        message.starts_with("b.run and c.run are the same run."),
        "{message}"
    );
}

#[test]
fn nothing_is_not_merged() {
    assert!(matches!(
        RunFile::merge_concurrent(Vec::new()),
        Err(Error::NothingToMerge)
    ));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn merging_files_is_merging_snapshots(one in any_snapshot(), two in any_snapshot()) {
        let (mut one, mut two) = (one, two);
        for snapshot in [&mut one, &mut two] {
            snapshot.end_ns += 1_000_000_000;
        }
        let parts = vec![part("a.run", 0.0, &[one.clone()]), part("b.run", 0.1, &[two.clone()])];
        one.merge(&two);
        let run = RunFile::merge_concurrent(parts).unwrap();
        prop_assert_eq!(run.snapshots().next(), Some(one));
    }
}
