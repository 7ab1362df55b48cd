//! The error rates of regression rules, counted on targets whose truth is known and whose response
//! times depend on each other.

use super::tests::{Dice, environment, plan};
use super::*;
use crate::CheckOutcome;
use crate::simulated::{SECOND, Target, repetitions};
use loadline_plan::Plan;
use loadline_record::{Ended, Header, RunWriter, Snapshot, Unfinished};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Targets, and how many seconds of a run it takes to see 20 % where 10 % are allowed.
const TARGETS: [(Target, u64); 3] = [
    (Target::Independent, 30),
    (Target::Queue(0.5), 120),
    (Target::Carried(0.5), 150),
];

fn rules() -> Vec<Tolerance> {
    ["p95:+10%", "rate:-5%"]
        .map(|text| text.parse().unwrap())
        .to_vec()
}

/// A second whose response times are this many times as long.
fn slower(second: &Snapshot, times: f64) -> Snapshot {
    let mut slower = second.clone();
    slower.times.response = Distribution::default();
    for (ns, count) in second.times.response.steps() {
        slower
            .times
            .response
            .record_many_ns((ns as f64 * times) as u64, count);
    }
    slower
}

/// A saved run of a target that is this many times as slow.
pub(super) fn saved(target: Target, seconds: u64, seed: u64, times: f64) -> SavedRun {
    let plan = Plan {
        duration: Some(Duration::from_secs(seconds)),
        ..plan(500, 50)
    };
    let started_at = SystemTime::UNIX_EPOCH + Duration::from_secs(seed);
    let header = Header::new(&plan, environment(), started_at);
    let path = format!("{seed}.run");
    let mut writer = RunWriter::new(Path::new(&path), Vec::new(), &header).unwrap();
    let mut summary = Summary::new(header);
    for second in target.seconds(seconds, seed) {
        let mut second = slower(&second, times);
        second.counts.completed = second.counts.answered;
        writer.interval(&second).unwrap();
        summary.observe(&second);
    }
    summary.finish(Ended::Duration, Unfinished::default());
    let bytes = writer.finish(&summary).unwrap();
    SavedRun {
        run: RunFile::parse(Path::new(&path), bytes.as_slice()).unwrap(),
        path: path.into(),
        number: None,
    }
}

fn compared(base: &[SavedRun], with: &[SavedRun]) -> Comparison {
    Comparison::of_rules(base, with, &[95.0], &rules()).unwrap()
}

fn outcome(found: &Comparison) -> CheckOutcome {
    rules()[0].judge(found).outcome
}

/// The results of many pairs: equal ones that were called slower, or broke a rule; slower ones, by
/// twice the tolerance, that broke the rule on the p95.
#[derive(Debug, Default)]
struct Found {
    pairs: u64,
    called_slower: u64,
    false_alarms: u64,
    found: u64,
}

fn pairs_of_runs(target: Target, seconds: u64, pairs: u64) -> Found {
    let mut found = Found {
        pairs,
        ..Found::default()
    };
    for pair in 0..pairs {
        let run = |number: u64, times| saved(target, seconds, 3 * pair + number, times);
        let base = [run(1, 1.0)];
        found.count(&base, &[run(2, 1.0)], &[run(3, 1.2)]);
    }
    println!("{target:?} of {seconds} s: {found:?}");
    found
}

/// Pairs of sets of six runs of 10 s, each of which is faster or slower than the others by some
/// percent, as runs of a server that was started again are.
fn pairs_of_sets(deviation: f64, pairs: u64) -> Found {
    let mut found = Found {
        pairs,
        ..Found::default()
    };
    let mut dice = Dice(11);
    let mut next_seed = 0;
    for _ in 0..pairs {
        let mut set = |times: f64| -> Vec<SavedRun> {
            let mut one = |_| {
                next_seed += 1;
                // The sum of twelve is nearly normal, with a variance of one.
                let normal: f64 = (0..12).map(|_| dice.roll()).sum::<f64>() - 6.0;
                let times = times * (deviation * normal).exp();
                saved(Target::Independent, 10, next_seed, times)
            };
            (0..6).map(&mut one).collect()
        };
        let (base, equal, slow) = (set(1.0), set(1.0), set(1.2));
        found.count(&base, &equal, &slow);
    }
    println!("sets of six: {found:?}");
    found
}

impl Found {
    fn count(&mut self, base: &[SavedRun], equal: &[SavedRun], slow: &[SavedRun]) {
        let same = compared(base, equal);
        self.called_slower += u64::from(same.standing() == Standing::Slower);
        let broken = |rule: &Tolerance| rule.judge(&same).outcome == CheckOutcome::Failed;
        self.false_alarms += u64::from(rules().iter().any(broken));
        self.found += u64::from(outcome(&compared(base, slow)) == CheckOutcome::Failed);
    }

    fn assert_right(&self) {
        assert!(self.called_slower * 20 <= self.pairs.max(20), "{self:?}");
        assert!(self.false_alarms * 20 <= self.pairs, "{self:?}");
        assert!(self.found * 10 >= self.pairs * 9, "{self:?}");
    }
}

/// The few pairs of a quick test may have one that is called slower.
#[test]
fn equal_runs_raise_no_alarm_and_twice_the_tolerance_does() {
    pairs_of_runs(Target::Independent, 30, repetitions(false).min(8)).assert_right();
}

#[test]
#[ignore = "two hundred pairs take minutes; make soak runs it"]
fn rules_are_right_in_two_hundred_pairs_of_independent_responses() {
    let (target, seconds) = TARGETS[0];
    pairs_of_runs(target, seconds, 200).assert_right();
}

#[test]
#[ignore = "two hundred pairs take minutes; make soak runs it"]
fn rules_are_right_in_two_hundred_pairs_of_a_queue() {
    let (target, seconds) = TARGETS[1];
    pairs_of_runs(target, seconds, 200).assert_right();
}

#[test]
#[ignore = "two hundred pairs take minutes; make soak runs it"]
fn rules_are_right_in_two_hundred_pairs_of_a_series_that_carries_over() {
    let (target, seconds) = TARGETS[2];
    pairs_of_runs(target, seconds, 200).assert_right();
}

#[test]
#[ignore = "two hundred pairs of sets take minutes; make soak runs it"]
fn rules_are_right_in_two_hundred_pairs_of_sets() {
    pairs_of_sets(0.015, 200).assert_right();
}

/// The changes that are announced as visible before a run are those that these targets show: with
/// the lengths above, 20 %.
#[test]
fn the_lengths_are_those_at_which_the_change_is_said_to_be_visible() {
    for (target, seconds) in TARGETS {
        let base = [saved(target, seconds, 1, 1.0)];
        let against = Against {
            runs: 1,
            length_ns: Some(seconds * SECOND),
        };
        let found = visible_changes(&base, &[95.0], &rules(), against);
        let ratio = found[0].ratio.unwrap();
        assert!((1.1..=1.22).contains(&ratio), "{target:?}: {ratio}");
    }
}
