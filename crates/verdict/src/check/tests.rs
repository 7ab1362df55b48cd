use super::*;
use loadline_metrics::{Key, SeriesId, SeriesTable};
use loadline_plan::{Statistic, Statuses};
use loadline_record::{Distribution, ErrorKind, Exchange, Model, Outcome, Recorder};

const MS: u64 = 1_000_000;
const TEN_SECONDS: Duration = Duration::from_secs(10);

fn exchange(blocked_ns: u64, lateness_ns: u64, service_ns: u64, outcome: Outcome) -> Exchange {
    let start_ns = blocked_ns + lateness_ns;
    Exchange {
        intended_ns: 0,
        ready_ns: blocked_ns,
        start_ns,
        dial_ns: 0,
        resolve_ns: 0,
        tls_ns: 0,
        sent_ns: start_ns,
        first_byte_ns: start_ns + service_ns,
        end_ns: start_ns + service_ns,
        wakeup_ns: 0,
        bytes_in: 0,
        bytes_out: 0,
        outcome,
        request: None,
    }
}

fn snapshot(exchanges: impl IntoIterator<Item = Exchange>) -> Snapshot {
    let mut recorder = Recorder::new(Model::Open);
    for exchange in exchanges {
        recorder.begin(0);
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
        tags: std::collections::BTreeMap::new(),
        name: None,
        custom: None,
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
    let observed = Observed::of_part(snapshot, TEN_SECONDS);
    evaluate(&check(metric, comparison, bound), &observed)
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
        assert!(result.estimate_holds);
        assert_eq!(result.samples, 100);
    }
}

#[test]
fn comparisons_differ_only_at_the_bound() {
    let snapshot = with_failures(1, 1_000);
    let shares = [(0.0009, true), (0.001, false), (0.0011, false)];
    for (share, above) in shares {
        let passed = |comparison| {
            result(&snapshot, Metric::Errors, comparison, Bound::Share(share)).passed()
        };
        let at = share == 0.001;
        assert_eq!(passed(Comparison::Greater), above);
        assert_eq!(passed(Comparison::GreaterOrEqual), above || at);
        assert_eq!(passed(Comparison::LessOrEqual), !above);
        assert_eq!(passed(Comparison::Less), !above && !at);
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
    assert!(!share.passed());
    let count = result(&snapshot, Metric::Errors, Comparison::Less, Bound::Count(8));
    assert_eq!(count.actual, Some(Quantity::Count(7)));
    assert!(count.passed());
}

#[test]
fn responses_that_a_script_rejects_are_errors() {
    let mut snapshot = with_failures(7, 1_000);
    snapshot.counts.rejected = 13;
    let bound = Bound::Share(0.02);
    let share = result(&snapshot, Metric::Errors, Comparison::Less, bound);
    assert_eq!(share.actual, Some(Quantity::Share(0.02)));
    assert!(!share.passed());
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
        assert_eq!((result.passed(), result.samples), (share < 0.5, 900));
    }
}

#[test]
fn a_status_other_than_2xx_is_an_answer_of_its_own_kind() {
    let mut snapshot = with_failures(100, 1_000);
    snapshot.statuses = [(200, 700), (204, 20), (301, 80), (503, 100)].into();
    let share = Bound::Share(0.2);
    let share = result(&snapshot, Metric::Non2xx, Comparison::Less, share);
    assert_eq!(share.actual, Some(Quantity::Share(0.2)));
    assert_eq!((share.passed(), share.samples), (false, 900));
    let count = result(
        &snapshot,
        Metric::Non2xx,
        Comparison::Less,
        Bound::Count(181),
    );
    assert_eq!(count.actual, Some(Quantity::Count(180)));
    assert!(count.passed());
}

#[test]
fn what_is_in_flight_is_neither_answered_nor_failed() {
    let mut recorder = Recorder::new(Model::Open);
    recorder.begin(0);
    recorder.begin(0);
    recorder.end(&exchange(0, 0, MS, Outcome::Failed(ErrorKind::Read)));
    let snapshot = recorder.take(MS);
    let all = result(
        &snapshot,
        Metric::Errors,
        Comparison::GreaterOrEqual,
        Bound::Share(1.0),
    );
    assert!(all.passed(), "one of one that ended has failed: {all:?}");
}

#[test]
fn the_rate_counts_answers_alone() {
    let snapshot = with_failures(100, 10_000);
    let bound = Bound::PerSecond(990.0);
    let result = result(&snapshot, Metric::Rate, Comparison::GreaterOrEqual, bound);
    assert_eq!(result.actual, Some(Quantity::PerSecond(990.0)));
    assert!(result.passed());
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
        assert!(!result.passed() && !result.failed());
    }
    let instant = check(Metric::Rate, Comparison::Less, Bound::PerSecond(1.0));
    let nothing = Observed::of_part(&nothing, Duration::ZERO);
    assert_eq!(evaluate(&instant, &nothing).actual, None);
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
    assert!(result.passed());
}

#[test]
fn a_bound_of_another_unit_never_holds() {
    for comparison in [Comparison::Less, Comparison::GreaterOrEqual] {
        let result = result(&hundred(), Metric::Rate, comparison, Bound::TimeNs(MS));
        assert!(!result.passed());
    }
}

#[test]
fn all_checks_are_answered_in_their_order() {
    let checks = [
        check(Metric::Errors, Comparison::Less, Bound::Count(1)),
        check(Metric::Errors, Comparison::Greater, Bound::Count(1)),
    ];
    let results = evaluate_all(&checks, &hundred(), TEN_SECONDS);
    let passed: Vec<bool> = results.iter().map(|result| result.passed()).collect();
    assert_eq!(passed, [true, false]);
    assert_eq!(results[0].text, "as typed");
}

/// Response times of this many milliseconds each, and ages of unfinished requests.
struct Cut {
    total: Snapshot,
    unfinished: Unfinished,
}

impl Cut {
    fn of(times_ms: impl IntoIterator<Item = u64>, ages_ms: &[u64]) -> Cut {
        let answered = Outcome::Answered { status: 200 };
        let times = times_ms.into_iter();
        let total = snapshot(times.map(|ms| exchange(0, 0, ms * MS, answered)));
        let mut ages = Distribution::default();
        ages_ms.iter().for_each(|ms| ages.record_ns(ms * MS));
        let mut unfinished = Unfinished {
            in_flight: ages.len(),
            oldest_ns: ages.max_ns(),
            ..Unfinished::default()
        };
        unfinished.ages.response = ages.clone();
        unfinished.ages.service = ages;
        Cut { total, unfinished }
    }

    fn result(&self, check: &str) -> CheckResult {
        let observed = Observed {
            unfinished: Some(&self.unfinished),
            timeout: Some(Duration::from_secs(30)),
            ..Observed::of_part(&self.total, TEN_SECONDS)
        };
        evaluate(&check.parse().unwrap(), &observed)
    }

    fn outcome(&self, check: &str) -> CheckOutcome {
        self.result(check).outcome
    }
}

use CheckOutcome::{Failed, Passed, Undecided};

/// A thousand answers of 2 ms of the name `a`, and one of 2 s of `b`.
fn of_two_names(ages_ms: &[u64]) -> Cut {
    let mut table = SeriesTable::new(2);
    for name in ["a", "b"] {
        table.intern(&Key::new(name).unwrap());
    }
    let mut recorder = Recorder::new(Model::Open).with_series(table);
    let times = [(0, 2); 1_000].into_iter().chain([(1, 2_000)]);
    for (id, ms) in times {
        let exchange = exchange(0, 0, ms * MS, Outcome::Answered { status: 200 });
        recorder.begin(0);
        recorder.end(&exchange);
        recorder.count_in_series(SeriesId(id), &exchange);
    }
    Cut {
        total: recorder.take(10_000 * MS),
        ..Cut::of([], ages_ms)
    }
}

#[test]
fn a_check_of_a_name_looks_at_its_requests_alone() {
    let cut = of_two_names(&[]);
    assert_eq!(cut.outcome("max{name:a}<3ms"), Passed);
    assert_eq!(cut.outcome("max<3ms"), Failed);
    assert_eq!(cut.outcome("max{name:b}<3ms"), Failed);
    assert_eq!(cut.outcome("status:200{name:a}>=1000"), Passed);
    assert_eq!(cut.outcome("rate{name:b}>0.2"), Failed);
    assert_eq!(cut.result("p99{name:a}<3ms").samples, 1_000);
    assert_eq!(cut.result("p99{name:c}<3ms").actual, None);
}

#[test]
fn requests_without_a_response_may_be_of_any_name() {
    let cut = of_two_names(&[5_000; 30]);
    let found = cut.result("p99{name:a}<1s");
    assert_eq!(found.outcome, Undecided);
    assert_eq!(found.undecided, Some(WhyUndecided::Unfinished(30)));
    assert_eq!(cut.outcome("p90{name:a}<1s"), Passed);
    assert_eq!(cut.outcome("p50{name:a}<1ms"), Failed);
    assert_eq!(cut.outcome("errors{name:a}<1%"), Undecided);
    assert_eq!(cut.outcome("errors{name:a}<50%"), Passed);
}

#[test]
fn a_percentile_beyond_all_that_is_known_breaks_only_a_bound_below_it() {
    let cut = Cut::of([2; 1_000], &[2_000; 30]);
    let found = cut.result("p99<1s");
    assert_eq!((found.outcome, found.is_at_least), (Failed, true));
    assert_eq!(cut.outcome("p99>1s"), Passed);
    assert_eq!(cut.outcome("p90<1s"), Passed);
    let young = Cut::of([2; 1_000], &[500; 30]);
    let found = young.result("p99<1s");
    assert_eq!(found.outcome, Undecided);
    assert_eq!(found.undecided, Some(WhyUndecided::Unfinished(30)));
    assert!(!found.estimate_holds);
    assert_eq!(young.outcome("p99>1s"), Undecided);
    assert_eq!(young.outcome("p99>=100ms"), Passed);
}

#[test]
fn a_few_young_requests_leave_a_healthy_run_decided() {
    let healthy = Cut::of(
        (0..10_000).map(|n| 1 + n % 20),
        &[1, 3, 5, 7, 9, 11, 15, 19],
    );
    for check in [
        "p99<50ms",
        "p99.9<50ms",
        "p50<15ms",
        "mean<50ms",
        "max<50ms",
        "stdev<50ms",
    ] {
        assert_eq!(healthy.outcome(check), Passed, "{check}");
    }
    assert_eq!(healthy.outcome("p50<5ms"), Failed);
}

/// More requests are in flight than the percentile leaves; the estimate decides where it is sure.
#[test]
fn young_requests_that_could_change_it_are_left_to_the_estimate() {
    let ages: Vec<u64> = (0..400).map(|n| n % 20).collect();
    let slow = Cut::of((0..10_000).map(|n| 1 + n % 20), &ages);
    assert_eq!(slow.outcome("p99<50ms"), Passed);
    assert_eq!(slow.outcome("p90<10ms"), Failed);
    let near = Cut::of(
        (0..10_000).map(|n| 1 + n % 20 + 200 * u64::from(n % 103 == 0)),
        &ages,
    );
    assert_eq!(near.outcome("p99<50ms"), Undecided);
}

/// A run that was drained until all that is left was older than the bound.
#[test]
fn an_age_at_the_bound_is_beyond_it() {
    let mut drained = Cut::of([2; 1_000], &[]);
    let ages = &mut drained.unfinished.ages;
    ages.response.record_many_ns(1_000 * MS + 1, 30);
    drained.unfinished.in_flight = 30;
    assert_eq!(drained.outcome("p99<1s"), Failed);
    assert_eq!(drained.outcome("p90<1s"), Passed);
}

#[test]
fn failures_that_unfinished_requests_may_become_are_not_known() {
    let frozen = Cut::of([2; 16_009], &[1_000; 3_927]);
    assert_eq!(frozen.outcome("errors<1%"), Undecided);
    assert_eq!(frozen.outcome("non2xx<1%"), Undecided);
    assert_eq!(frozen.outcome("errors<1"), Undecided);
    assert_eq!(frozen.outcome("errors<50%"), Passed);
    assert_eq!(frozen.outcome("errors>50%"), Failed);
    assert_eq!(frozen.outcome("p99<200ms"), Failed);
    let healthy = Cut::of([2; 16_000], &[1; 12]);
    assert_eq!(healthy.outcome("errors<1%"), Passed);
    assert_eq!(healthy.result("errors<1%").undecided, None);
}

#[test]
fn ages_that_nobody_knows_decide_nothing() {
    let mut cut = Cut::of([2; 1_000], &[]);
    cut.unfinished.in_flight = 30;
    assert_eq!(cut.outcome("p99<1s"), Undecided);
    assert_eq!(cut.outcome("p90<1s"), Passed);
    assert_eq!(cut.outcome("p90<1ms"), Failed);
}

#[test]
fn a_mean_that_is_a_lower_bound_is_held_against_the_timeout() {
    let cut = Cut::of([2; 10_000], &[60]);
    assert!(cut.result("mean<50ms").is_at_least);
    assert_eq!(cut.outcome("mean<50ms"), Passed);
    assert_eq!(cut.outcome("mean<3ms"), Undecided);
    assert_eq!(cut.outcome("mean<1ms"), Failed);
    assert_eq!(cut.outcome("max<50ms"), Failed);
    assert_eq!(cut.outcome("max<70ms"), Undecided);
    assert_eq!(cut.outcome("min<3ms"), Passed);
    assert_eq!(cut.outcome("p100<50ms"), Failed);
    assert_eq!(Cut::of([2; 1_000], &[1]).outcome("p100<50ms"), Passed);
}

#[test]
fn few_samples_decide_what_the_binomial_bound_decides() {
    let ten = Cut::of([20; 10], &[]);
    assert_eq!(ten.outcome("p99<10ms"), Failed);
    assert_eq!(ten.outcome("p99>10ms"), Passed);
    let under = ten.result("p99<30ms");
    assert_eq!(
        (under.outcome, under.undecided),
        (Undecided, Some(WhyUndecided::FewSamples(368)))
    );
    assert!(under.estimate_holds);
    assert_eq!(ten.outcome("p50<30ms"), Passed);
    assert_eq!(Cut::of([20; 5], &[]).outcome("p50<30ms"), Passed);
    assert_eq!(Cut::of([20; 4], &[]).outcome("p50<30ms"), Undecided);
    assert_eq!(Cut::of([20; 4], &[]).outcome("max<30ms"), Passed);
    // One of a hundred beyond a p99 is what one expects.
    let one_slow = |all: u64| Cut::of((0..all).map(|n| if n == 0 { 90 } else { 1 }), &[]);
    assert_eq!(one_slow(100).outcome("p99<10ms"), Undecided);
    assert_eq!(one_slow(5).outcome("p99<10ms"), Failed);
    assert_eq!(one_slow(368).outcome("p99<10ms"), Passed);
    assert_eq!(ten.outcome("errors<1%"), Passed);
}

#[test]
fn runs_together_put_their_ages_together() {
    let (one, other) = (Cut::of([2; 500], &[2_000; 10]), Cut::of([2; 500], &[]));
    let summary = |cut: &Cut| {
        let plan = crate::comparison::tests::plan(400, 50);
        let environment = crate::comparison::tests::environment();
        let header =
            loadline_record::Header::new(&plan, environment, std::time::SystemTime::UNIX_EPOCH);
        let mut summary = Summary::new(header);
        summary.observe(&cut.total);
        summary.unfinished = cut.unfinished.clone();
        summary
    };
    let (one, other) = (summary(&one), summary(&other));
    let checks: Vec<Check> = vec!["p99<1s".parse().unwrap(), "p98.5<1s".parse().unwrap()];
    let together = evaluate_together(&checks, &[&one, &other]);
    let outcomes: Vec<_> = together.iter().map(|result| result.outcome).collect();
    // Ten of 1 010 are what a p99 leaves; of 510 they are more.
    assert_eq!(outcomes, [Passed, Passed]);
    let alone = evaluate_together(&checks, &[&one]);
    assert!(alone.iter().all(|result| result.outcome == Failed));
}
