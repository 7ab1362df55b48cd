//! The figures that a reader looks for first: rate, response time, failures, checks.

use super::tables::NEAR;
use crate::wording::lost_text;
use crate::{layout, percentiles, quantity};
use loadline_page::{Headline, Tone};
use loadline_record::{Model, Summary};
use loadline_units as units;
use loadline_verdict::{CheckOutcome, CheckResult, RunResult};

/// The percentile that is shown, if there are enough samples for it; else the highest below.
const SHOWN: f64 = 95.0;

/// Of a run.
pub(super) fn of_run(run: &RunResult) -> Vec<Headline> {
    let summary = &run.summary;
    if summary.lacks_figures() {
        return Vec::new();
    }
    let headlines = [
        Some(rate(summary)),
        response(run),
        Some(failures(summary)),
        checks(&run.checks),
    ];
    headlines.into_iter().flatten().collect()
}

fn headline(name: &str, figure: String, note: String, tone: Tone) -> Headline {
    Headline {
        name: name.to_owned(),
        figure,
        note,
        tone,
    }
}

fn rate(summary: &Summary) -> Headline {
    let note = match summary.model {
        Model::Open => {
            let asked = units::rate(summary.asked_per_s());
            format!("of {asked} asked{}", lost_text(summary))
        }
        Model::Closed => "as fast as the responses came".to_owned(),
    };
    let figure = units::rate(summary.answers_per_s());
    headline("Rate", figure, note, Tone::Plain)
}

fn response(run: &RunResult) -> Option<Headline> {
    let times = run.summary.response();
    let has_enough = |percentile: &&f64| percentiles::missing(times, **percentile) == 0;
    let known = NEAR.iter().filter(|percentile| **percentile <= SHOWN);
    let percentile = *known.rev().find(has_enough)?;
    let interval = run.response_interval(percentile);
    let is_known = interval.lower_ns.is_some() || interval.upper_ns.is_some();
    let note = match is_known {
        true => quantity::interval(interval.lower_ns, interval.upper_ns),
        false => String::new(),
    };
    Some(headline(
        &format!("{} of the response time", quantity::percentile(percentile)),
        quantity::bounded_time(times.percentile(percentile).map(|ns| ns as f64)),
        note,
        Tone::Plain,
    ))
}

fn failures(summary: &Summary) -> Headline {
    let (total, counts) = (&summary.total, &summary.total.counts);
    let ended = counts.ended();
    let refused = total.accepted_with(|status| status >= 400);
    let mut note = format!(
        "{} of {} without a response",
        units::count(counts.failed),
        units::count(ended)
    );
    if counts.rejected > 0 {
        note += &format!(", {} rejected by the script", units::count(counts.rejected));
    }
    if refused > 0 {
        note += &format!(", {} with a status of 400 or above", units::count(refused));
    }
    let figure = units::share((counts.failures() + refused) as f64 / ended.max(1) as f64);
    let tone = match counts.failures() + refused {
        0 => Tone::Plain,
        _ => Tone::Bad,
    };
    headline("Failed", figure, note, tone)
}

/// Returns the number of checks that passed or failed, and their names.
fn checks(checks: &[CheckResult]) -> Option<Headline> {
    if checks.is_empty() {
        return None;
    }
    let names = |outcome| {
        let named = checks.iter().filter(|check| check.outcome == outcome);
        let named = named.map(|check| layout::harmless(&check.text));
        named.collect::<Vec<_>>()
    };
    let all = checks.len();
    let [failed, open] = [CheckOutcome::Failed, CheckOutcome::Undecided].map(names);
    let (figure, shown, tone) = match (failed.len(), open.len()) {
        (0, 0) => ("passed".to_owned(), names(CheckOutcome::Passed), Tone::Good),
        (0, count) => (format!("{count} of {all} undecided"), open, Tone::Doubtful),
        (count, _) => (format!("{count} of {all} failed"), failed, Tone::Bad),
    };
    Some(headline("Checks", figure, shown.join(", "), tone))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn headlines_of(checks: &[&str]) -> Vec<Headline> {
        let mut summary = samples::steady();
        summary.plan.checks = checks.iter().map(|text| text.parse().unwrap()).collect();
        of_run(&RunResult::new(summary))
    }

    #[test]
    fn a_run_begins_with_its_rate_its_p95_its_failures_and_its_checks() {
        let found = headlines_of(&["p99<1ns", "p50<10s", "errors<1%"]);
        let names: Vec<_> = found.iter().map(|one| &*one.name).collect();
        assert_eq!(
            names,
            ["Rate", "p95 of the response time", "Failed", "Checks"]
        );
        assert_eq!(found[3].figure, "1 of 3 failed");
        assert_eq!((&*found[3].note, found[3].tone), ("p99<1ns", Tone::Bad));
        let passed = headlines_of(&["p50<10s"]);
        assert_eq!((&*passed[3].figure, passed[3].tone), ("passed", Tone::Good));
        assert_eq!(headlines_of(&[]).len(), 3);
    }

    #[test]
    fn the_rate_of_a_run_that_lost_its_workers_says_what_was_planned_and_lost() {
        let mut summary = samples::steady();
        let planned = summary.total.counts.planned;
        assert!(!rate(&summary).note.contains("lost"));
        summary.total.counts.planned = planned * 4;
        summary.unfinished.unsent = planned * 3;
        summary.unfinished.lost = planned * 3;
        let said = format!(
            "{} of {} planned requests were lost",
            units::count(planned * 3),
            units::count(planned * 4)
        );
        let note = rate(&summary).note;
        assert!(note.ends_with(&said), "{note}");
    }

    #[test]
    fn a_status_of_an_error_counts_among_the_failures() {
        let mut summary = samples::steady();
        let answered = summary.total.counts.answered;
        summary.total.counts.failed = 0;
        summary.total.statuses = [(200, answered - 5), (503, 5)].into();
        let found = failures(&summary);
        assert!(found.note.ends_with("5 with a status of 400 or above"));
        assert_eq!(found.tone, Tone::Bad);
        // A response that the script rejected fails once, whatever its status.
        summary.total.counts.rejected = 4;
        summary.total.rejected = [(200, 1), (503, 3)].into();
        let found = failures(&summary);
        let note = "4 rejected by the script, 2 with a status of 400 or above";
        assert!(found.note.ends_with(note), "{}", found.note);
        assert_eq!(found.figure, units::share(6.0 / answered as f64));
    }
}
