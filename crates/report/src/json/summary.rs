//! The whole run.

use super::distribution::{distribution, response, service};
use super::judgement::{check, validity};
use super::{
    error_responses, exceptions, generator, metrics, names, run::counts, traced, us, watch,
};
use crate::closed_loop::{ClosedLoop, Difference};
use crate::{PERCENTILES, split};
use loadline_findings::statistic_name;
use loadline_json as json;
use loadline_plan::{Level, Plan, Statistic};
use loadline_record::{Ended, LoadChange, Note, Summary, Times};
use loadline_units::rounding;
use loadline_verdict::{Effect, Finding, RunResult};

pub(super) fn summary(run: &RunResult) -> json::Summary {
    let summary = &run.summary;
    let total = &summary.total;
    let (ended, aborted_by) = ended(&summary.ended);
    let errors = total.errors.iter();
    let errors = errors.map(|(kind, failures)| {
        let (count, example) = (failures.count, failures.example.clone());
        (*kind, json::Failures { count, example })
    });
    let every = summary.plan.connection.kernel_timestamps;
    json::Summary {
        duration_s: json::Seconds(rounding::seconds(summary.duration_ns)),
        drained_s: json::Seconds(rounding::seconds(summary.drained_ns)),
        complete: summary.complete,
        parts: summary.parts,
        ended,
        aborted_by,
        transient: summary.transient,
        changes: summary
            .changes
            .iter()
            .map(|one| change(one, &summary.plan))
            .collect(),
        notes: summary.notes.iter().map(note).collect(),
        counts: counts(&total.counts, summary.rated_ns()),
        unfinished: unfinished(summary),
        response_time_us: response(run),
        service_time_us: service(run),
        blocked_us: distribution(&total.times.blocked),
        lateness_us: distribution(&total.times.lateness),
        phases: phases(&total.times),
        iteration_us: (!total.times.iteration.is_empty())
            .then(|| distribution(&total.times.iteration)),
        wakeup_us: distribution(&total.times.wakeup),
        own_delay: (!total.times.undelayed.is_empty()).then(|| own_delay(run)),
        closed_loop: ClosedLoop::of(summary).map(|found| closed_loop(&found)),
        statuses: total.statuses.clone(),
        errors: errors.collect(),
        error_responses: error_responses::error_responses(summary),
        exceptions: exceptions::exceptions(summary),
        exceptions_left_out: Some(total.exceptions.others()).filter(|others| *others > 0),
        names: names::names(summary),
        metrics: metrics::metrics(summary),
        metric_values_left_out: Some(summary.total.metrics.left_out())
            .filter(|left_out| *left_out > 0),
        slowest_traces: traced::traced(summary),
        checks: run.checks.iter().map(check).collect(),
        validity: validity(&run.findings),
        generator: generator::generator(summary),
        warnings: warning_list(run),
        kernel_timestamps: every.map(|every| kernel_timestamps(every.get(), &total.times)),
        watch: watch::whole_run(&summary.watch, total.start_ns),
    }
}

fn note(note: &Note) -> json::Note {
    json::Note {
        at_s: rounding::seconds(note.at_ns),
        text: note.text.clone(),
    }
}

fn change(change: &LoadChange, plan: &Plan) -> json::LoadChange {
    let per_mille = |share: u32| f64::from(share) / 1_000.0;
    json::LoadChange {
        at_s: rounding::seconds(change.at_ns.unsigned_abs()) * change.at_ns.signum() as f64,
        to: match change.level {
            Level::Share(share) => json::LoadLevel::Share(json::Share(per_mille(share))),
            Level::Rate(rate) => json::LoadLevel::Rate(json::PerSecond(rate.per_second())),
            Level::Users(users) => json::LoadLevel::Users(users),
            Level::Paused => json::LoadLevel::Paused,
        },
        scenario: change.scenario_of(plan).map(str::to_owned),
    }
}

/// Returns the reason of a run's end, and the condition that ended it.
fn ended(ended: &Ended) -> (json::Ended, Option<String>) {
    let ended = match ended {
        Ended::Duration => json::Ended::Duration,
        Ended::Requests => json::Ended::Requests,
        Ended::Stages => json::Ended::Stages,
        Ended::Precise => json::Ended::Precise,
        Ended::Decided => json::Ended::Decided,
        Ended::Interrupted => json::Ended::Interrupted,
        Ended::Aborted(check) => return (json::Ended::Aborted, Some(check.clone())),
        Ended::Threw(_) => json::Ended::Threw,
        Ended::Failed(_) => json::Ended::Failed,
        Ended::Unknown => json::Ended::Unknown,
    };
    (ended, None)
}

fn unfinished(summary: &Summary) -> json::Unfinished {
    let unfinished = &summary.unfinished;
    json::Unfinished {
        unsent: unfinished.unsent.saturating_sub(unfinished.lost),
        by_target: unfinished.by_target,
        by_plan: unfinished.by_plan.saturating_add(unfinished.by_stop),
        by_loadline: unfinished.by_loadline.saturating_sub(unfinished.lost),
        lost: Some(unfinished.lost).filter(|lost| *lost > 0),
        in_flight: unfinished.in_flight,
        oldest_us: us(unfinished.oldest_ns as f64),
    }
}

fn phases(times: &Times) -> json::Phases {
    json::Phases {
        resolve_us: distribution(&times.resolve),
        connect_us: distribution(&times.connect),
        tls_us: distribution(&times.tls),
        first_byte_us: distribution(&times.first_byte),
        rest_us: distribution(&times.rest),
    }
}

/// The response time without the delay that Loadline added, and the figures that are not the
/// target's alone.
fn own_delay(run: &RunResult) -> json::OwnDelay {
    let percentiles = PERCENTILES.map(Statistic::Percentile);
    let statistics = percentiles
        .into_iter()
        .chain([Statistic::Mean, Statistic::Max]);
    let affected = statistics.flat_map(|statistic| {
        let found = [
            (json::AffectedBy::OwnDelay, run.own_delay(statistic)),
            (json::AffectedBy::Plan, run.plan_wait(statistic)),
        ];
        let found = found.into_iter();
        found.filter_map(|(by, effect)| effect.map(|effect| affected(by, effect)))
    });
    json::OwnDelay {
        response_time_without_us: distribution(&run.summary.total.times.undelayed),
        affected: affected.collect(),
    }
}

fn affected(by: json::AffectedBy, effect: Effect) -> json::Affected {
    json::Affected {
        figure: statistic_name(effect.statistic),
        by,
        with_us: us(effect.with_ns),
        without_us: us(effect.without_ns),
    }
}

/// Returns the figures that a closed-loop tool would have shown of an open load.
fn closed_loop(found: &ClosedLoop<'_>) -> json::ClosedLoop {
    let hides = match found.difference() {
        Difference::None => None,
        Difference::Lateness => Some(json::Hides::Lateness),
        Difference::Plan => Some(json::Hides::Plan),
        Difference::Stall => Some(json::Hides::Stall),
    };
    json::ClosedLoop {
        users: found.users,
        omitted: found.times.omitted.len(),
        waited: found.waited(),
        hides,
        shown_us: distribution(&found.shown),
    }
}

fn warning_list(run: &RunResult) -> Vec<json::Warning> {
    let warning = |found: Finding| json::Warning {
        kind: found.cause.name().to_owned(),
        text: found.cause.sentence(),
    };
    run.warnings_for(&PERCENTILES).map(warning).collect()
}

/// The exchanges that the kernel's clock split, and what a clock in user space makes of them.
fn kernel_timestamps(every: u32, times: &Times) -> json::KernelTimestamps {
    let overstated = |percentile: f64| {
        let ns = split::overstated_ns(times, percentile);
        (!times.split_wire.is_empty()).then(|| us(ns as f64))
    };
    json::KernelTimestamps {
        every,
        schedule_wait_us: distribution(&times.split_wait),
        send_us: distribution(&times.split_send),
        wire_and_server_us: distribution(&times.split_wire),
        wakeup_us: distribution(&times.split_wakeup),
        parse_us: distribution(&times.split_parse),
        user_space_us: distribution(&times.split_user),
        overstated_us: json::Overstated {
            p50: overstated(50.0),
            p99: overstated(99.0),
        },
    }
}
