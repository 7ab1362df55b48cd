//! The warnings of the made-up runs.

use crate::{PERCENTILES, samples};
use loadline_findings::{Cause, Shortfall};
use loadline_plan::{Bound, Check, Clocked, Comparison, Metric, Script, Statistic};
use loadline_record::{Ended, Summary, Unfinished};
use loadline_verdict::RunResult;
use std::time::Duration;

fn warnings(summary: &Summary, percentiles: &[f64]) -> Vec<Cause> {
    let run = RunResult::new(summary.clone());
    run.warnings_for(percentiles)
        .map(|found| found.cause)
        .collect()
}

fn of(summary: &Summary) -> Vec<&'static str> {
    warnings(summary, &PERCENTILES)
        .iter()
        .map(Cause::name)
        .collect()
}

#[test]
fn a_good_run_needs_no_word() {
    let mut summary = samples::steady();
    assert_eq!(warnings(&summary, &[50.0, 99.0, 99.9]), []);
    summary.total.counts.reconnects = 200;
    assert_eq!(
        warnings(&summary, &[50.0]),
        [],
        "1 % of the answers is not many"
    );
    summary.total.counts.reconnects = 201;
    assert_eq!(of(&summary)[0], "reconnects");
}

#[test]
fn requests_sent_again_are_told_from_one_in_a_thousand_on() {
    let mut summary = samples::steady();
    let sent = summary.total.counts.sent;
    summary.total.counts.resent = sent / 1_000;
    assert_eq!(warnings(&summary, &[50.0]), []);
    summary.total.counts.resent += 1;
    assert_eq!(of(&summary)[0], "resent");
}

#[test]
fn connections_given_up_for_extra_bytes_are_not_blamed_on_keep_alive() {
    let mut summary = samples::steady();
    let counts = &mut summary.total.counts;
    (counts.reconnects, counts.closed_for_extra_bytes) = (400, 300);
    assert_eq!(warnings(&summary, &[50.0]).len(), 1);
    assert_eq!(of(&summary)[0], "surplus");
    summary.total.counts.closed_for_extra_bytes = 100;
    assert_eq!(of(&summary)[..2], ["surplus", "reconnects"]);
}

#[test]
fn a_run_that_ended_early_says_so_first() {
    assert_eq!(of(&samples::interrupted())[0], "interrupted");
    let mut summary = samples::steady();
    summary.ended = Ended::Aborted("p99<1ms".to_owned());
    assert_eq!(of(&summary)[0], "aborted");
    summary.ended = Ended::Threw("script.lua, line 1, in request(): no".to_owned());
    assert_eq!(of(&summary)[0], "script_threw");
    summary.ended = Ended::Failed("worker 0 failed: no memory.".to_owned());
    assert_eq!(of(&summary)[0], "worker_failed");
}

#[test]
fn arrivals_that_were_never_sent_are_left_to_the_validity_and_their_age_is_told() {
    let found = warnings(&samples::frozen_at_the_end(), &[]);
    let [
        Cause::Unanswered {
            unsent,
            in_flight,
            oldest_ns,
            counted: true,
        },
    ] = &found[..]
    else {
        panic!("{found:?}");
    };
    assert_eq!((unsent + in_flight, *in_flight), (1_000, 50));
    assert!(
        (499_000_000..=501_000_000).contains(oldest_ns),
        "{oldest_ns}"
    );
}

#[test]
fn failures_may_be_what_a_rate_is_short_of() {
    let mut summary = samples::steady();
    let counts = &mut summary.total.counts;
    (counts.answered, counts.failed) = (counts.answered - 1_000, 1_000);
    counts.completed = counts.answered;
    let shortfall = |warning: &Cause| match warning {
        Cause::RateBelowAsked {
            asked,
            achieved,
            shortfall,
        } => Some((*asked, *achieved, *shortfall)),
        _ => None,
    };
    let found: Vec<_> = warnings(&summary, &[])
        .iter()
        .filter_map(shortfall)
        .collect();
    assert_eq!(found, [(2_000.0, 1_900.0, Shortfall::Failed)]);
}

#[test]
fn the_pauses_of_a_script_may_be_what_a_rate_is_short_of() {
    let mut summary = samples::steady();
    summary.plan.script = Some(Script {
        path: "a.lua".into(),
        args: Vec::new(),
        crc32: None,
        names_urls: false,
    });
    let counts = &mut summary.total.counts;
    counts.answered -= 1_000;
    (counts.planned, counts.sent) = (counts.planned - 1_000, counts.sent - 1_000);
    counts.completed = counts.answered;
    let below = Cause::RateBelowAsked {
        asked: 2_000.0,
        achieved: 1_900.0,
        shortfall: Shortfall::NotDue,
    };
    let found = warnings(&summary, &[]);
    assert!(found.contains(&below), "{found:?}");
}

#[test]
fn the_last_gap_counts_where_the_number_of_requests_ends_the_run() {
    let mut summary = samples::steady();
    let planned = summary.total.counts.planned;
    summary.ended = Ended::Requests;
    // The last response comes almost as soon as it was asked for, one gap before the time is over.
    summary.duration_ns -= 400_000;
    summary.total.counts.failed = planned / 2;
    summary.total.counts.answered = planned - planned / 2;
    summary.total.counts.completed = summary.total.counts.answered;
    let below = Cause::RateBelowAsked {
        asked: 2_000.0,
        achieved: 1_000.0,
        shortfall: Shortfall::Failed,
    };
    let found = warnings(&summary, &[]);
    assert!(found.contains(&below), "{found:?}");
}

#[test]
fn many_failures_of_a_closed_load_are_a_warning_and_few_are_none() {
    let found = |failed| {
        let mut summary = samples::closed();
        let counts = &mut summary.total.counts;
        (counts.failed, counts.answered) = (failed, 1_000 - failed);
        of(&summary).contains(&"many_failed")
    };
    assert_eq!(
        [500, 11, 10, 0, 1_000].map(found),
        [true, true, false, false, false]
    );
}

#[test]
fn a_closed_load_has_no_rate_to_keep() {
    assert!(!of(&samples::failing()).contains(&"rate_below_asked"));
}

#[test]
fn what_is_in_flight_at_the_end_is_no_matter_unless_much_of_it_is_old() {
    let mut summary = samples::closed();
    assert!(summary.total.counts.in_flight > 0);
    assert_eq!(of(&summary), Vec::<&str>::new());
    let p99_ns = summary.total.times.response.percentile_ns(99.0);
    let few = summary.total.counts.planned / 100;
    let old = |count: u64| {
        let mut unfinished = loadline_record::Unfinished {
            in_flight: count,
            oldest_ns: p99_ns * 2,
            ..Default::default()
        };
        unfinished.ages.response.record_many_ns(p99_ns * 2, count);
        unfinished.ages.service.record_many_ns(p99_ns * 2, count);
        unfinished
    };
    summary.unfinished = old(few);
    assert_eq!(of(&summary), Vec::<&str>::new());
    summary.unfinished = old(few + 1);
    assert_eq!(of(&summary), ["unanswered"]);
}

#[test]
fn percentiles_are_said_to_count_only_what_has_an_age() {
    let mut summary = samples::unanswered();
    let counts = |summary: &Summary| {
        let text = warnings(summary, &PERCENTILES)[1].sentence();
        text.contains("Percentiles count each")
    };
    assert!(counts(&summary));
    summary.unfinished.ages = loadline_record::Ages::default();
    assert!(!counts(&summary));
}

#[test]
fn silence_is_named_once() {
    assert_eq!(
        of(&samples::unanswered()),
        ["nothing_answered", "unanswered"]
    );
}

#[test]
fn what_has_no_answer_is_a_sample_too() {
    let mut summary = samples::not_found();
    let warned = |summary: &Summary| {
        let found = warnings(summary, &[99.9]);
        found.iter().any(|found| found.name() == "few_samples")
    };
    assert!(warned(&summary));
    let ages = &mut summary.unfinished.ages;
    ages.response.record_many_ns(1_000_000, 2_688);
    assert!(!warned(&summary));
}

#[test]
fn percentiles_of_checks_need_their_samples_too() {
    let mut summary = samples::not_found();
    summary.plan.checks.push(Check {
        tags: std::collections::BTreeMap::new(),
        name: None,
        custom: None,
        text: "p99.9<1s".to_owned(),
        metric: Metric::Time(Clocked::Response, Statistic::Percentile(99.9)),
        comparison: Comparison::Less,
        bound: Bound::TimeNs(1_000_000_000),
    });
    let found = warnings(&summary, &[50.0]);
    let Some(Cause::FewSamples {
        percentiles,
        samples,
        needed,
        length,
    }) = found.last()
    else {
        panic!("{found:?}");
    };
    assert_eq!(
        (percentiles.as_slice(), *samples, *needed),
        ([99.9].as_slice(), 1_000, 3_688)
    );
    assert_eq!(*length, Some(Duration::from_secs(4)));
}

#[test]
fn statuses_other_than_2xx_are_counted_together() {
    let found = warnings(&samples::failing(), &[]);
    let odd = Cause::NotSuccessful {
        count: 80,
        answered: 3_904,
        status: 503,
    };
    assert!(found.contains(&odd), "{found:?}");
}

#[test]
fn a_closed_loop_that_stands_still_at_its_end_says_so() {
    let mut summary = samples::closed();
    let left = |users, age_ns| {
        let mut unfinished = Unfinished {
            in_flight: users,
            oldest_ns: age_ns,
            ..Unfinished::default()
        };
        let ages = &mut unfinished.ages;
        ages.response.record_many_ns(age_ns, users);
        ages.service.record_many_ns(age_ns, users);
        unfinished
    };
    summary.unfinished = left(50, 300_000_000);
    assert_eq!(of(&summary)[0], "unanswered");
    summary.unfinished = left(49, 300_000_000);
    assert_ne!(of(&summary).first(), Some(&"unanswered"), "one goes on");
    summary.unfinished = left(50, 150_000_000);
    assert_ne!(of(&summary).first(), Some(&"unanswered"), "not for long");
}
