use super::*;
use loadline_plan::Statuses;
use loadline_record::{ErrorKind, Exchange, Model, Outcome, Recorder};

const MS: u64 = 1_000_000;
const TEN_SECONDS: Duration = Duration::from_secs(10);

fn exchange(blocked_ns: u64, lateness_ns: u64, service_ns: u64, outcome: Outcome) -> Exchange {
    let start_ns = blocked_ns + lateness_ns;
    Exchange {
        intended_ns: 0,
        ready_ns: blocked_ns,
        start_ns,
        dial_ns: 0,
        first_byte_ns: start_ns + service_ns,
        end_ns: start_ns + service_ns,
        wakeup_ns: 0,
        bytes_in: 0,
        bytes_out: 0,
        outcome,
    }
}

fn snapshot(exchanges: impl IntoIterator<Item = Exchange>) -> Snapshot {
    let mut recorder = Recorder::new(Model::Open);
    for exchange in exchanges {
        recorder.begin();
        recorder.end(&exchange);
    }
    recorder.take(10_000 * MS)
}

/// 1 to 100 ms of service after 10 ms blocked and 2 ms of lateness.
fn hundred() -> Snapshot {
    let answered = Outcome::Answered { status: 200 };
    snapshot((1..=100).map(|ms| exchange(10 * MS, 2 * MS, ms * MS, answered)))
}

/// `failed` failures among `ended` exchanges.
fn with_failures(failed: u64, ended: u64) -> Snapshot {
    snapshot((0..ended).map(|index| {
        let outcome = if index < failed {
            Outcome::Failed(ErrorKind::Read)
        } else {
            Outcome::Answered { status: 200 }
        };
        exchange(0, 0, MS, outcome)
    }))
}

fn check(metric: Metric, comparison: Comparison, bound: Bound) -> Check {
    Check {
        text: "as typed".to_owned(),
        metric,
        comparison,
        bound,
    }
}

fn result(
    snapshot: &Snapshot,
    metric: Metric,
    comparison: Comparison,
    bound: Bound,
) -> CheckResult {
    evaluate(&check(metric, comparison, bound), snapshot, TEN_SECONDS)
}

fn near_ms(actual: Option<Quantity>, ms: f64) -> bool {
    let Some(Quantity::TimeNs(ns)) = actual else {
        return false;
    };
    (ns / 1e6 - ms).abs() <= ms * 0.001
}

#[test]
fn every_time_and_statistic_is_looked_up_where_it_stands() {
    let snapshot = hundred();
    let expected = [
        (Clocked::Response, Statistic::Percentile(99.0), 111.0),
        (Clocked::Response, Statistic::Percentile(50.0), 62.0),
        (Clocked::Service, Statistic::Percentile(50.0), 50.0),
        (Clocked::Service, Statistic::Mean, 50.5),
        (Clocked::Service, Statistic::Min, 1.0),
        (Clocked::Service, Statistic::Max, 100.0),
        (Clocked::Service, Statistic::Stdev, 28.866),
        (Clocked::Blocked, Statistic::Max, 10.0),
        (Clocked::Lateness, Statistic::Mean, 2.0),
    ];
    for (clocked, statistic, ms) in expected {
        let metric = Metric::Time(clocked, statistic);
        let bound = Bound::TimeNs(1_000 * MS);
        let result = result(&snapshot, metric, Comparison::Less, bound);
        assert!(
            near_ms(result.actual, ms),
            "{clocked:?} {statistic:?}: {:?}",
            result.actual
        );
        assert!(result.is_kept());
        assert_eq!(result.samples, 100);
    }
}

#[test]
fn comparisons_differ_only_at_the_bound() {
    let snapshot = with_failures(1, 1_000);
    let shares = [(0.0009, true), (0.001, false), (0.0011, false)];
    for (share, above) in shares {
        let kept = |comparison| {
            result(&snapshot, Metric::Errors, comparison, Bound::Share(share)).is_kept()
        };
        let at = share == 0.001;
        assert_eq!(kept(Comparison::Greater), above);
        assert_eq!(kept(Comparison::GreaterOrEqual), above || at);
        assert_eq!(kept(Comparison::LessOrEqual), !above);
        assert_eq!(kept(Comparison::Less), !above && !at);
    }
}

#[test]
fn errors_are_a_share_or_a_count_as_the_bound_says() {
    let snapshot = with_failures(7, 1_000);
    let share = result(
        &snapshot,
        Metric::Errors,
        Comparison::Less,
        Bound::Share(0.007),
    );
    assert_eq!(share.actual, Some(Quantity::Share(0.007)));
    assert!(!share.is_kept());
    let count = result(&snapshot, Metric::Errors, Comparison::Less, Bound::Count(8));
    assert_eq!(count.actual, Some(Quantity::Count(7)));
    assert!(count.is_kept());
}

#[test]
fn statuses_are_counted_one_by_one_or_by_class() {
    let mut snapshot = with_failures(100, 1_000);
    snapshot.statuses = [(200, 700), (204, 20), (301, 80), (500, 10), (503, 90)].into();
    for (statuses, share) in [
        (Statuses::Class(5), 100.0 / 900.0),
        (Statuses::Class(2), 0.8),
        (Statuses::Class(4), 0.0),
        (Statuses::Code(503), 0.1),
        (Statuses::Code(200), 700.0 / 900.0),
    ] {
        let metric = Metric::Statuses(statuses);
        let result = result(&snapshot, metric, Comparison::Less, Bound::Share(0.5));
        assert_eq!(result.actual, Some(Quantity::Share(share)), "{statuses}");
        assert_eq!((result.is_kept(), result.samples), (share < 0.5, 900));
    }
}

#[test]
fn a_status_other_than_2xx_is_an_answer_of_its_own_kind() {
    let mut snapshot = with_failures(100, 1_000);
    snapshot.statuses = [(200, 700), (204, 20), (301, 80), (503, 100)].into();
    let share = Bound::Share(0.2);
    let share = result(&snapshot, Metric::Non2xx, Comparison::Less, share);
    assert_eq!(share.actual, Some(Quantity::Share(0.2)));
    assert_eq!((share.is_kept(), share.samples), (false, 900));
    let count = result(
        &snapshot,
        Metric::Non2xx,
        Comparison::Less,
        Bound::Count(181),
    );
    assert_eq!(count.actual, Some(Quantity::Count(180)));
    assert!(count.is_kept());
}

#[test]
fn what_is_in_flight_is_neither_answered_nor_failed() {
    let mut recorder = Recorder::new(Model::Open);
    recorder.begin();
    recorder.begin();
    recorder.end(&exchange(0, 0, MS, Outcome::Failed(ErrorKind::Read)));
    let snapshot = recorder.take(MS);
    let all = result(
        &snapshot,
        Metric::Errors,
        Comparison::GreaterOrEqual,
        Bound::Share(1.0),
    );
    assert!(all.is_kept(), "one of one that ended has failed: {all:?}");
}

#[test]
fn the_rate_counts_answers_alone() {
    let snapshot = with_failures(100, 10_000);
    let bound = Bound::PerSecond(990.0);
    let result = result(&snapshot, Metric::Rate, Comparison::GreaterOrEqual, bound);
    assert_eq!(result.actual, Some(Quantity::PerSecond(990.0)));
    assert!(result.is_kept());
}

#[test]
fn without_a_sample_every_check_fails_but_none_is_broken() {
    let nothing = snapshot([]);
    let fast = Metric::Time(Clocked::Response, Statistic::Percentile(99.0));
    let cases = [
        (fast, Bound::TimeNs(MS)),
        (Metric::Errors, Bound::Share(0.5)),
    ];
    for (metric, bound) in cases {
        let result = result(&nothing, metric, Comparison::Less, bound);
        assert_eq!(result.actual, None);
        assert!(!result.is_kept() && !result.is_broken());
    }
    let instant = check(Metric::Rate, Comparison::Less, Bound::PerSecond(1.0));
    assert_eq!(evaluate(&instant, &nothing, Duration::ZERO).actual, None);
}

#[test]
fn no_error_among_nothing_is_no_error_counted() {
    let result = result(
        &snapshot([]),
        Metric::Errors,
        Comparison::Less,
        Bound::Count(1),
    );
    assert_eq!(result.actual, Some(Quantity::Count(0)));
    assert!(result.is_kept());
}

#[test]
fn a_bound_of_another_unit_never_holds() {
    for comparison in [Comparison::Less, Comparison::GreaterOrEqual] {
        let result = result(&hundred(), Metric::Rate, comparison, Bound::TimeNs(MS));
        assert!(!result.is_kept());
    }
}

#[test]
fn all_checks_are_answered_in_their_order() {
    let checks = [
        check(Metric::Errors, Comparison::Less, Bound::Count(1)),
        check(Metric::Errors, Comparison::Greater, Bound::Count(1)),
    ];
    let results = evaluate_all(&checks, &hundred(), TEN_SECONDS);
    let kept: Vec<bool> = results.iter().map(|result| result.is_kept()).collect();
    assert_eq!(kept, [true, false]);
    assert_eq!(results[0].text, "as typed");
}
