//! One document or more of every kind that is printed as JSON, made of the samples.

use crate::{
    ComparedFiles, FileRun, capacity, comparison_json, comparison_of_files_json, json, machine,
    machine_json, samples, series_json, watch_json,
};
use loadline_plan::{Bound, Check, Clocked, Comparison, Metric, Statistic};
use loadline_record::watched::Change;
use loadline_record::{Role, RoleKind, Summary};
use loadline_verdict::{self as verdict, RunResult, Tolerance, evaluate_all};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Every document with its name; that of its kind comes first.
pub(crate) fn all() -> Vec<(String, Value)> {
    let runs = runs()
        .into_iter()
        .map(|(name, summary)| (format!("run_{name}"), checked(&summary)));
    let searches = capacity::tests::documents()
        .into_iter()
        .map(|(name, search)| (format!("search_{name}"), search));
    runs.chain(searches)
        .chain([
            ("series_repeats".to_owned(), repeats()),
            ("series_sides".to_owned(), sides()),
            ("series_others".to_owned(), others()),
            ("comparison_pair".to_owned(), pair()),
            ("comparison_files".to_owned(), files()),
            (
                "watch_look".to_owned(),
                watch_json(&samples::look(3, None), 3.0),
            ),
            (
                "watch_ended".to_owned(),
                watch_json(&samples::look(3, Some(Change::Ended)), 3.0),
            ),
            (
                "doctor_good".to_owned(),
                machine_json(&machine::tests::good()),
            ),
            (
                "doctor_unknown".to_owned(),
                machine_json(&machine::tests::unknown()),
            ),
        ])
        .collect()
}

/// Runs with all that a run may have.
pub(crate) fn runs() -> Vec<(&'static str, Summary)> {
    vec![
        ("closed", samples::closed()),
        ("counted", samples::counted()),
        ("named", samples::named()),
        ("stalled", samples::stalled()),
        ("grown", samples::stalled_while_growing()),
        ("interrupted", samples::interrupted()),
        ("frozen", samples::frozen_at_the_end()),
        ("failing", samples::failing()),
        ("late", samples::late()),
        ("unanswered", samples::unanswered()),
        ("three", samples::three()),
        ("not_found", samples::not_found()),
        ("huge", samples::huge()),
        ("watched", samples::watched()),
        ("settled", samples::settled()),
        ("cut_off", samples::cut_off()),
        ("split", split()),
        ("traced", samples::traced()),
        ("with_bodies", samples::with_bodies()),
        ("with_exceptions", samples::with_exceptions()),
    ]
}

fn split() -> Summary {
    let mut summary = samples::steady();
    summary.plan.connection.kernel_timestamps = std::num::NonZeroU32::new(10);
    summary
}

/// A run with a check of each unit.
pub(crate) fn checked(summary: &Summary) -> Value {
    let check = |metric, bound| Check {
        tags: std::collections::BTreeMap::new(),
        name: None,
        custom: None,
        text: "as typed".to_owned(),
        metric,
        comparison: Comparison::Less,
        bound,
    };
    let p99 = Metric::Time(Clocked::Response, Statistic::Percentile(99.0));
    let checks = [
        check(p99, Bound::TimeNs(1_500)),
        check(Metric::Errors, Bound::Share(0.001)),
        check(Metric::Errors, Bound::Count(1)),
        check(Metric::Rate, Bound::PerSecond(0.5)),
    ];
    let duration = Duration::from_nanos(summary.duration_ns);
    let checks = evaluate_all(&checks, &summary.total, duration);
    json(&samples::result(summary, checks))
}

fn judged(mut summary: Summary, role: Option<Role>) -> RunResult {
    summary.plan.checks = vec!["p99<10ms".parse().unwrap()];
    summary.role = role;
    RunResult::new(summary)
}

fn role(kind: RoleKind, number: u32, name: Option<&str>) -> Option<Role> {
    Some(Role {
        kind,
        number,
        of: Some(6),
        name: name.map(str::to_owned),
        search: None,
        spent_s: None,
    })
}

fn repeats() -> Value {
    let repeat = |number| judged(samples::steady(), role(RoleKind::Repeat, number, None));
    series_json(&(1..=6).map(repeat).collect::<Vec<_>>())
}

fn sides() -> Value {
    let pair = |number| {
        let side = |summary, name| judged(summary, role(RoleKind::Side, number, Some(name)));
        [side(samples::stalled(), "A"), side(samples::steady(), "B")]
    };
    series_json(&(1..=2).flat_map(pair).collect::<Vec<_>>())
}

fn others() -> Value {
    series_json(&[
        judged(samples::steady(), None),
        judged(samples::late(), None),
    ])
}

fn pair() -> Value {
    let (base, with) = (samples::stalled(), samples::steady());
    let found = verdict::Comparison::of_pairs(&[&base; 2], &[&with; 2]).unwrap();
    comparison_json(&found, &base.plan, &with.plan)
}

fn files() -> Value {
    let (base, with) = (samples::stalled(), samples::cut_off());
    let comparison = verdict::Comparison::of_pairs(&[&base; 2], &[&with; 2]).unwrap();
    let (base, with) = (RunResult::new(base), RunResult::new(with));
    let run = |result, number| FileRun {
        file: Path::new("a.run"),
        number,
        result,
    };
    comparison_of_files_json(&ComparedFiles {
        comparison: &comparison,
        base: vec![run(&base, None)],
        with: vec![run(&with, Some(2))],
        tolerances: ["p50:+10%", "rate:-5%", "p97:+1%"]
            .map(|text| text.parse::<Tolerance>().unwrap().judge(&comparison))
            .to_vec(),
        slower_fails: false,
    })
}
