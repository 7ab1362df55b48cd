//! Every report as a reader sees it.

use super::*;
use crate::samples;
use loadline_plan::{Bound, Check, Clocked, Comparison, Level, Metric, Statistic, Until};
use loadline_record::{
    Distribution, Ended, ErrorKind, Failures, LoadChange, Note, Summary, Transient,
};
use loadline_units as units;
use loadline_verdict::{CheckResult, Observed, evaluate_observed, precision, sure_precision};
use std::time::Duration;

#[test]
fn the_short_report_has_five_lines() {
    let short = TextOptions {
        extent: Extent::Short,
        ..TextOptions::default()
    };
    let reports = all().into_iter().map(|(name, summary)| {
        let report = text(&samples::result(&summary, checks(&summary)), &short);
        assert_eq!(report.lines().count(), 5, "{name}: {report}");
        assert!(!report.contains('…'), "{report}");
        format!("{name}\n{report}")
    });
    let reports: Vec<String> = reports.collect();
    insta::assert_snapshot!(reports.join("\n"));
}

#[test]
fn watched() {
    insta::assert_snapshot!(plain(&samples::watched()));
}

#[test]
fn each_metric_of_a_script_has_a_row_with_its_figures() {
    let report = plain(&samples::counted());
    let section = &report[report.find("Metrics of the script").unwrap()..];
    let end = section.find("\n\n").unwrap_or(section.len());
    insta::assert_snapshot!(&section[..end]);
}

#[test]
fn what_ended_a_run_and_what_was_left_out_stand_in_the_head() {
    let text = unwrapped(&samples::settled());
    assert!(text.contains("or until p50±5%"), "{text}");
    assert!(text.contains(", until p50 was known to ±"), "{text}");
    assert!(
        text.contains("transient 2 seconds at the beginning left out"),
        "{text}"
    );
    let mut open = samples::settled();
    open.ended = Ended::Duration;
    open.transient = Some(Transient::Never);
    let text = unwrapped(&open);
    assert!(
        text.contains("and p50±5% not reached: it is known to ±"),
        "{text}"
    );
    assert!(text.contains("The run never became steady"), "{text}");
    open.plan.until = Some(Until::Decided);
    open.transient = Some(Transient::TooShort);
    let text = unwrapped(&open);
    assert!(text.contains("and the checks not decided"), "{text}");
    assert!(text.contains("too short to detect its warm-up"), "{text}");
}

#[test]
fn a_percentile_that_is_precise_at_the_end_alone_says_what_it_lacked() {
    let mut open = samples::settled();
    open.ended = Ended::Duration;
    // A second whose times beyond the median are all slow.
    let mut second = Distribution::default();
    second.record_many_ns(1, 500);
    second.record_many_ns(10_000_000_000, 500);
    open.response_blocks.observe(&second);
    let percentile = 50.0;
    let of_run = precision(&open, percentile).unwrap();
    let sure = sure_precision(&open, percentile).unwrap();
    assert!(of_run < sure, "{of_run} {sure}");
    let mut said = |within| {
        open.plan.until = Some(Until::Precise { percentile, within });
        unwrapped(&open)
    };
    let text = said(of_run * 0.9);
    assert!(text.contains("it is known to ±"), "{text}");
    assert!(!text.contains(", but "), "{text}");
    let text = said((of_run + sure) / 2.0);
    let end = format!(
        ", but to ±{} if it varies from second to second as other percentiles do",
        units::share(sure)
    );
    assert!(text.contains(&end), "{text}");
    let text = said(sure * 1.1);
    assert!(
        text.contains(", but was not yet when the run was a quarter shorter"),
        "{text}"
    );
}

#[test]
fn iterations_that_were_dropped_stand_beside_what_was_sent() {
    let mut open = samples::stalled();
    assert!(!unwrapped(&open).contains("dropped"));
    open.total.counts.planned += 700;
    open.total.counts.dropped = 700;
    let text = unwrapped(&open);
    assert!(text.contains(" sent, 700 dropped"), "{text}");
    assert!(
        text.contains("were dropped because no user was free"),
        "{text}"
    );
}

#[test]
fn notes_stand_in_the_head() {
    let note = |at_ns| Note::new(at_ns, "cache cleared").unwrap();
    let mut run = samples::steady();
    run.notes = vec![note(1_240_000_000), note(12_000_000_000)];
    let text = unwrapped(&run);
    let listed = "notes cache cleared at 1.2 s, cache cleared at 12.0 s";
    assert!(text.contains(listed), "{text}");
    run.notes = vec![note(0); 21];
    assert!(unwrapped(&run).contains(", and 1 note more"));
}

#[test]
fn changes_of_the_load_stand_in_the_head() {
    let change = |at_ms: i64, level| LoadChange {
        at_ns: at_ms * 1_000_000,
        level,
        scenario: None,
    };
    let mut run = samples::steady();
    run.changes = vec![
        change(-500, Level::Share(1_050)),
        change(1_240, Level::Paused),
        change(2_000, Level::Share(995)),
        change(3_000, Level::Users(12)),
    ];
    let text = unwrapped(&run);
    assert!(
        text.contains(
            "load changed to 105 % of the plan in the warm-up, paused at 1.2 s, changed to 99.5 % \
             of the plan at 2.0 s, changed to 12 users at 3.0 s"
        ),
        "{text}"
    );
    let one = loadline_plan::Scenario {
        part: loadline_plan::Part {
            name: "browsers".to_owned(),
            ..loadline_plan::Part::default()
        },
        requests: Vec::new(),
        script: None,
        order: loadline_plan::Order::default(),
        think: None,
        client: loadline_plan::Client::default(),
        load: run.plan.load.clone(),
        duration: None,
        request_limit: None,
    };
    run.plan.scenarios = vec![one];
    run.changes = vec![LoadChange {
        scenario: Some(0),
        ..change(3_000, Level::Users(12))
    }];
    let text = unwrapped(&run);
    assert!(
        text.contains("changed to 12 users of browsers at 3.0 s"),
        "{text}"
    );
    run.changes = vec![change(1_000, Level::Paused); 12];
    let text = unwrapped(&run);
    assert!(
        text.contains("paused at 1.0 s, and 2 changes more"),
        "{text}"
    );
}

#[test]
fn a_run_that_was_mostly_not_served_says_so_before_its_times() {
    let text = unwrapped(&samples::not_found());
    let (alarm, times) = (text.find("were not served"), text.find("Response time"));
    assert!(alarm.is_some() && alarm < times, "{text}");
    assert!(!unwrapped(&samples::steady()).contains("were not served"));

    let mut one = samples::not_found();
    one.total.counts.answered = 1;
    one.total.statuses = [(404, 1)].into();
    let text = unwrapped(&one);
    assert!(
        text.contains("1 of 1 request (100 %) was not served"),
        "{text}"
    );
}

#[test]
fn a_run_whose_worker_failed_before_it_reported_has_no_figures() {
    let steady = samples::steady();
    let mut lost = samples::steady();
    (lost.rows, lost.duration_ns) = (Vec::new(), 0);
    lost.total = loadline_record::Snapshot::empty(0);
    lost.ended = Ended::Failed("worker 0 did not respond.".to_owned());
    let text = unwrapped(&lost);
    assert!(
        text.contains("figures missing: no worker reported any"),
        "{text}"
    );
    assert!(
        text.contains("missing because worker 0 did not respond. Run it again."),
        "{text}"
    );
    assert!(
        !text.contains(" 0/s") && !text.contains("Validity"),
        "{text}"
    );
    lost.rows = steady.rows;
    assert!(unwrapped(&lost).contains("Validity"));
}

#[test]
fn a_run_that_lost_its_workers_says_beside_its_rate_what_was_lost() {
    let mut lost = samples::steady();
    lost.total.counts.planned *= 4;
    lost.unfinished.lost = lost.total.counts.planned / 4 * 3;
    let line = short::rate(&lost, "3.00 s");
    let all = loadline_units::count(lost.total.counts.planned);
    let said = format!(" of {all} planned requests were lost");
    assert!(
        line.contains("answered in 3.00 s; ") && line.ends_with(&said),
        "{line}"
    );
}

#[test]
fn a_run_that_went_on_without_a_worker_does_not_say_that_it_ended_early() {
    let mut lost = samples::steady();
    lost.ended = Ended::Failed("agent a2 was lost.".to_owned());
    lost.plan.duration = Some(std::time::Duration::from_nanos(lost.duration_ns));
    let text = unwrapped(&lost);
    assert!(text.contains(", without a worker that failed"), "{text}");
    assert!(
        text.contains("lacks a part of its load: agent a2 was lost. Run it again."),
        "{text}"
    );
    lost.duration_ns -= 1;
    let text = unwrapped(&lost);
    assert!(
        text.contains("because agent a2 was lost. The figures cover only"),
        "{text}"
    );
}

#[test]
fn times_are_said_to_be_of_failures_only_where_most_of_them_are() {
    let unserved_of = |kind, answered: u64, failed: u64, statuses: &[(u16, u64)]| {
        let mut summary = samples::closed();
        let counts = &mut summary.total.counts;
        (counts.answered, counts.failed, counts.rejected) = (answered, failed, 0);
        let failures = Failures {
            count: failed,
            example: String::new(),
        };
        summary.total.errors = [(kind, failures)].into();
        summary.total.statuses = statuses.iter().copied().collect();
        outcome::unserved(&summary).expect("most are not served")
    };
    let unserved = |answered, failed, statuses: &[_]| {
        unserved_of(ErrorKind::Connect, answered, failed, statuses)
    };
    let none = unserved(0, 400, &[]);
    assert!(none.ends_with("0 had a status other than 2xx."), "{none}");
    let few = unserved(20, 380, &[(200, 20)]);
    assert!(
        few.ends_with(" The times below are those of 20 responses."),
        "{few}"
    );
    let refused = unserved(400, 0, &[(404, 400)]);
    assert!(
        refused.ends_with(" Most of the times below are theirs."),
        "{refused}"
    );
    for answered in [0, 20] {
        let late = unserved_of(ErrorKind::Timeout, answered, 380, &[(200, answered)]);
        let theirs = " Most of the times below are theirs.";
        assert!(late.ends_with(theirs), "{late}");
    }
}

/// The report with every line break a blank.
fn unwrapped(summary: &Summary) -> String {
    plain(summary)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn plain(summary: &Summary) -> String {
    text(
        &samples::result(summary, Vec::new()),
        &TextOptions::default(),
    )
}

fn colored() -> TextOptions {
    TextOptions {
        color: true,
        ..TextOptions::default()
    }
}

pub(super) fn checks(summary: &Summary) -> Vec<CheckResult> {
    let check = |text: &str, metric, comparison, bound| Check {
        tags: std::collections::BTreeMap::new(),
        name: None,
        custom: None,
        text: text.to_owned(),
        metric,
        comparison,
        bound,
    };
    let p99 = |clocked| Metric::Time(clocked, Statistic::Percentile(99.0));
    let checks = [
        check(
            "p99<50ms",
            p99(Clocked::Response),
            Comparison::Less,
            Bound::TimeNs(50_000_000),
        ),
        check(
            "service.p99<5ms",
            p99(Clocked::Service),
            Comparison::Less,
            Bound::TimeNs(5_000_000),
        ),
        check(
            "errors<0.1%",
            Metric::Errors,
            Comparison::Less,
            Bound::Share(0.001),
        ),
        check(
            "rate>=990",
            Metric::Rate,
            Comparison::GreaterOrEqual,
            Bound::PerSecond(990.0),
        ),
    ];
    let duration = Duration::from_nanos(summary.duration_ns);
    let observed = Observed {
        unfinished: Some(&summary.unfinished),
        ..Observed::of_part(&summary.total, duration)
    };
    evaluate_observed(&checks, &observed)
}

/// Every sample with its name.
pub(super) fn all() -> Vec<(&'static str, Summary)> {
    vec![
        ("closed", samples::closed()),
        ("stalled", samples::stalled()),
        ("steady", samples::steady()),
        ("interrupted", samples::interrupted()),
        ("frozen_at_the_end", samples::frozen_at_the_end()),
        ("cut_off", samples::cut_off()),
        ("late", samples::late()),
        ("failing", samples::failing()),
        ("unanswered", samples::unanswered()),
        ("three", samples::three()),
        ("not_found", samples::not_found()),
        ("huge", samples::huge()),
    ]
}

fn without_colour(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\x1b') {
        shown.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    shown + rest
}

#[test]
fn every_report_reads_well() {
    for (name, summary) in all() {
        insta::assert_snapshot!(name, plain(&summary));
    }
}

#[test]
fn checks_are_listed() {
    let summary = samples::stalled();
    let report = text(
        &samples::result(&summary, checks(&summary)),
        &TextOptions::default(),
    );
    let section = &report[report.find("Checks").unwrap()..];
    insta::assert_snapshot!(section);
}

#[test]
fn a_check_without_a_sample_says_so() {
    let summary = samples::unanswered();
    let report = text(
        &samples::result(&summary, checks(&summary)),
        &TextOptions::default(),
    );
    let section = &report[report.find("Checks").unwrap()..report.find("Warnings").unwrap()];
    insta::assert_snapshot!(section);
}

#[test]
fn colour_marks_what_matters() {
    let summary = samples::failing();
    insta::assert_snapshot!(text(
        &samples::result(&summary, checks(&summary)),
        &colored()
    ));
}

#[test]
fn colour_changes_no_letter() {
    for (name, summary) in all() {
        let checks = checks(&summary);
        let painted = text(&samples::result(&summary, checks.clone()), &colored());
        let plain = text(
            &samples::result(&summary, checks.clone()),
            &TextOptions::default(),
        );
        let trimmed: Vec<String> = without_colour(&painted)
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect();
        assert_eq!(trimmed.join("\n"), plain.trim_end(), "{name}");
    }
}

#[test]
fn ascii_has_nothing_else() {
    let options = TextOptions {
        ascii: true,
        ..TextOptions::default()
    };
    for (name, summary) in all() {
        assert!(
            text(&samples::result(&summary, Vec::new()), &options).is_ascii(),
            "{name}"
        );
    }
    insta::assert_snapshot!(
        "in_ascii",
        text(&samples::result(&samples::stalled(), Vec::new()), &options)
    );
}

#[test]
fn no_line_is_wider_than_asked() {
    for (name, summary) in all() {
        for width in [0, 80, 100, 1_000] {
            let options = TextOptions {
                width,
                ..TextOptions::default()
            };
            let report = text(&samples::result(&summary, checks(&summary)), &options);
            let widest = report.lines().map(layout::width).max().unwrap();
            assert!(
                widest <= width.clamp(80, 120),
                "{name} at {width}: {widest}\n{report}"
            );
        }
    }
}

#[test]
fn no_line_ends_in_blanks_and_no_control_character_passes() {
    for (name, summary) in all() {
        let report = plain(&summary);
        assert!(report.lines().all(|line| !line.ends_with(' ')), "{name}");
        assert!(
            !report.chars().any(|c| c.is_control() && c != '\n'),
            "{name}"
        );
        assert!(
            report.ends_with('\n') && !report.contains("\n\n\n"),
            "{name}"
        );
    }
}

#[test]
fn other_percentiles_can_be_asked_for() {
    let percentiles = vec![99.999_99, 10.0, 50.0, 100.0];
    let options = TextOptions {
        percentiles,
        ..TextOptions::default()
    };
    let report = text(&samples::result(&samples::stalled(), Vec::new()), &options);
    let section = &report[report.find("Response time").unwrap()..report.find("what this").unwrap()];
    insta::assert_snapshot!(section);
}

#[test]
fn an_open_report_leads_with_response_time_from_the_intended_start() {
    let report = plain(&samples::steady());
    let response = report
        .find("Response time, timed from the intended start")
        .unwrap();
    assert!(response < report.find("service").unwrap());
}

#[test]
fn a_closed_report_has_no_delay() {
    let report = plain(&samples::closed());
    assert!(!report.contains("blocked") && !report.contains("lateness"));
    assert!(report.contains("no delay"));
}

#[test]
fn only_a_stall_brings_the_other_column_into_a_report() {
    let brings = |summary: &Summary| plain(summary).contains("would have shown");
    assert!(brings(&samples::stalled()));
    assert!(!brings(&samples::steady()));
    assert!(!brings(&samples::late()));
    assert!(!brings(&samples::closed()));
}
