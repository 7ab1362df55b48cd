//! A search as JSON: the answer, the ladder, every trial. Times are microseconds, as in the JSON of
//! a run.

use super::CapacityReport;
use super::words::{self, answer_line};
use loadline_capacity::{
    Breaking, Conclusion, LoadLine, Observation, OwnLimit, Recovery, Settings, TooShort, Trial, Why,
};
use loadline_plan::Check;
use loadline_units::rounding;
use serde_json::{Value, json};

/// The version of the schema. It rises when a program that reads the older one would be misled.
pub const CAPACITY_SCHEMA: u64 = 2;

/// The search as one JSON object.
pub fn capacity_json(report: &CapacityReport<'_>) -> Value {
    let outcome = report.outcome;
    let checks = &report.plan.checks;
    let ladder = outcome.ladder.rungs.iter().map(|rung| {
        let mut object = seen(&rung.trial.seen, checks);
        object["part"] = rung.part.name().into();
        object["level"] = rung.trial.level.into();
        object["held"] = rung.trial.held().into();
        object
    });
    json!({
        "capacity_schema": CAPACITY_SCHEMA,
        "version": env!("CARGO_PKG_VERSION"),
        "plan": report.plan,
        "searched": if report.users { "users" } else { "rate" },
        "goal": goal(report),
        "answer": answer(report),
        "trials_too_short": report.too_short().map(too_short),
        "interrupted": report.interrupted,
        "ladder": ladder.collect::<Vec<_>>(),
        "recovery": outcome.ladder.recovery.map(recovery),
        "floor": report.floor(),
        "trials": outcome.trials.iter().map(|one| trial(one, checks)).collect::<Vec<_>>(),
    })
}

/// What was searched for: the attributes of a goal in RFC 9971. The loss ratio is that of the
/// checks.
fn goal(report: &CapacityReport<'_>) -> Value {
    let settings = report.settings;
    let checks = report.plan.checks.iter().map(|check| &check.text);
    json!({
        "checks": checks.collect::<Vec<_>>(),
        "errors_check_added": report.errors_added,
        "trial_s": settings.trial_s,
        "duration_sum_s": settings.required_s(),
        "trials": settings.trials,
        "exceed_ratio": Settings::EXCEED_RATIO,
        "width": settings.width,
        "confirmation_trials": Settings::CONFIRMATION_TRIALS,
        "budget_s": settings.budget_s,
        "lowest": settings.lowest,
        "highest": settings.highest,
    })
}

fn answer(report: &CapacityReport<'_>) -> Value {
    let checks = &report.plan.checks;
    let mut object = match &report.outcome.conclusion {
        Conclusion::Found(line) => found(line, checks),
        Conclusion::AtLeast { level, why } => json!({
            "kind": "at_least",
            "level": level,
            "why": match why {
                Why::Generator { .. } => "generator",
                Why::Highest => "highest",
            },
            "own_limit": match why {
                Why::Generator { limit, .. } => own_limit(*limit),
                Why::Highest => Value::Null,
            },
        }),
        Conclusion::NothingHolds {
            level,
            breaks,
            own_limit: limit,
        } => json!({
            "kind": "nothing_holds",
            "level": level,
            "breaks": names(breaks, checks),
            "own_limit": limit.map(own_limit),
        }),
        Conclusion::Inconclusive(known) => json!({
            "kind": "unsettled",
            "lower": known.lower,
            "upper": known.upper,
            "refuted": known.refuted,
            "own_limit": known.own_limit.map(own_limit),
        }),
    };
    object["text"] = answer_line(report).into();
    object
}

fn found(line: &LoadLine, checks: &[Check]) -> Value {
    json!({
        "kind": "found",
        "level": line.carried,
        "low": line.low,
        "high": line.high,
        "lower_bound": line.level,
        "upper_bound": line.upper,
        "conditional_throughput": line.throughput,
        "breaks": names(&line.breaks, checks),
        "confirmed_s": line.confirmed_s,
        "target_cpu_percent": line.target_cores.map(|cores| cores * 100.0),
        "disturbance": line.disturbance.map(own_limit),
    })
}

fn names(breaks: &[Breaking], checks: &[Check]) -> Vec<String> {
    let name = |what: &Breaking| match what {
        Breaking::Check(index) => checks
            .get(*index)
            .map_or(String::new(), |check| check.text.clone()),
        Breaking::KeepingUp => "keeping up".to_owned(),
    };
    breaks.iter().map(name).collect()
}

fn own_limit(limit: OwnLimit) -> Value {
    match limit {
        OwnLimit::Busy { share } => json!({ "kind": "busy", "share": share }),
        OwnLimit::Connections { most } => json!({ "kind": "connections", "most": most }),
        OwnLimit::Exhausted { failed } => json!({ "kind": "exhausted", "failed": failed }),
        OwnLimit::Late { share } => json!({ "kind": "late", "share": share }),
        OwnLimit::Crowded { share } => json!({ "kind": "crowded", "share": share }),
        OwnLimit::StoodStill { longest_ns } => {
            json!({ "kind": "stood_still", "longest_us": rounding::us(longest_ns as f64) })
        }
        OwnLimit::Stolen { share } => json!({ "kind": "stolen", "share": share }),
        OwnLimit::Others { cores } => json!({ "kind": "others", "cpu_percent": cores * 100.0 }),
        OwnLimit::Floor { answers_per_s } => json!({ "kind": "floor", "rate": answers_per_s }),
    }
}

fn too_short(found: TooShort) -> Value {
    json!({
        "trial_s": found.trial_s,
        "response_s": found.response_s,
        "needed_s": found.needed_s(),
        "text": words::too_short(found),
    })
}

fn recovery(recovery: Recovery) -> Value {
    match recovery {
        Recovery::After { seconds } => json!({ "recovered": true, "after_s": seconds }),
        Recovery::NotWithin { seconds } => json!({ "recovered": false, "within_s": seconds }),
    }
}

fn trial(trial: &Trial, checks: &[Check]) -> Value {
    let mut object = seen(&trial.seen, checks);
    object["number"] = trial.number.into();
    object["purpose"] = trial.purpose.name().into();
    object["level"] = trial.level.into();
    object["seconds"] = trial.seconds.into();
    object["held"] = trial.held().into();
    object["kept_up"] = trial.kept_up.into();
    object["set_aside"] = trial.set_aside.into();
    object
}

fn seen(seen: &Observation, checks: &[Check]) -> Value {
    let checks = checks.iter().zip(&seen.checks);
    let checks = checks.map(|(check, held)| json!({ "check": check.text, "held": held }));
    json!({
        "checks": checks.collect::<Vec<_>>(),
        "rate": seen.answers_per_s,
        "failed_share": seen.failed_share,
        "p50_us": rounding::us(seen.p50_ns as f64),
        "p99_us": rounding::us(seen.p99_ns as f64),
        "outstanding_s": seen.outstanding_s,
        "grown": seen.grown,
        "target_cpu_percent": seen.target_cores.map(|cores| cores * 100.0),
        "lost_time": seen.lost_time,
        "own_limit": seen.own_limit.map(own_limit),
        "disturbance": seen.disturbance.map(own_limit),
    })
}
