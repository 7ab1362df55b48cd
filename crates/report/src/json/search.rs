//! A search for the load line: the answer, the ladder, every trial.

use super::us;
use crate::CapacityReport;
use crate::capacity::words::{self, answer_line};
use loadline_capacity::{
    Breaking, Conclusion, LoadLine, Observation, OwnLimit, Recovery, Rung, Settings, TooShort,
    Trial, Why,
};
use loadline_json as json;
use loadline_plan::Check;

pub(super) fn search(report: &CapacityReport<'_>) -> json::Search {
    let outcome = report.outcome;
    let checks = &report.plan.checks;
    let ladder = outcome.ladder.rungs.iter();
    let trials = outcome.trials.iter();
    json::Search {
        capacity_schema: json::SEARCH_SCHEMA,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        plan: report.plan.clone(),
        searched: match report.users {
            true => json::Searched::Users,
            false => json::Searched::Rate,
        },
        goal: goal(report),
        answer: answer(report),
        trials_too_short: report.too_short().map(too_short),
        interrupted: report.interrupted,
        ladder: ladder.map(|one| rung(one, checks)).collect(),
        recovery: outcome.ladder.recovery.map(recovery),
        floor: report.floor(),
        trials: trials.map(|one| trial(one, checks)).collect(),
    }
}

fn goal(report: &CapacityReport<'_>) -> json::Goal {
    let settings = report.settings;
    let checks = report.plan.checks.iter();
    json::Goal {
        checks: checks.map(|check| check.text.clone()).collect(),
        errors_check_added: report.errors_added,
        trial_s: json::Seconds(settings.trial_s),
        duration_sum_s: json::Seconds(settings.required_s()),
        trials: settings.trials,
        exceed_ratio: json::Share(Settings::EXCEED_RATIO),
        width: json::Share(settings.width),
        confirmation_trials: Settings::CONFIRMATION_TRIALS,
        budget_s: json::Seconds(settings.budget_s),
        lowest: settings.lowest,
        highest: settings.highest,
    }
}

fn answer(report: &CapacityReport<'_>) -> json::SearchAnswer {
    let checks = &report.plan.checks;
    let text = answer_line(report);
    match &report.outcome.conclusion {
        Conclusion::Found(line) => found(line, checks, text),
        Conclusion::AtLeast { level, why } => {
            let (why, own_limit) = match why {
                Why::Generator { limit, .. } => {
                    (json::WhyNoMore::Generator, Some(own_limit(*limit)))
                }
                Why::Highest => (json::WhyNoMore::Highest, None),
                Why::TimeOver { known, .. } => {
                    (json::WhyNoMore::TimeOver, known.own_limit.map(own_limit))
                }
            };
            json::SearchAnswer::AtLeast {
                level: *level,
                why,
                own_limit,
                text,
            }
        }
        Conclusion::NothingHolds {
            level,
            breaks,
            own_limit: limit,
        } => json::SearchAnswer::NothingHolds {
            level: *level,
            breaks: names(breaks, checks),
            own_limit: limit.map(own_limit),
            text,
        },
        Conclusion::Inconclusive(known) => json::SearchAnswer::Unsettled {
            lower: known.lower,
            upper: known.upper,
            refuted: known.refuted,
            own_limit: known.own_limit.map(own_limit),
            text,
        },
    }
}

fn found(line: &LoadLine, checks: &[Check], text: String) -> json::SearchAnswer {
    json::SearchAnswer::Found {
        level: line.carried,
        low: line.low,
        high: line.high,
        lower_bound: line.level,
        upper_bound: line.upper,
        conditional_throughput: line.throughput,
        breaks: names(&line.breaks, checks),
        confirmed_s: json::Seconds(line.confirmed_s),
        target_cpu_percent: line.target_cores.map(|cores| cores * 100.0),
        disturbance: line.disturbance.map(own_limit),
        text,
    }
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

fn own_limit(limit: OwnLimit) -> json::OwnLimit {
    let of = json::Share;
    match limit {
        OwnLimit::Busy { share } => json::OwnLimit::Busy { share: of(share) },
        OwnLimit::Connections { most } => json::OwnLimit::Connections { most },
        OwnLimit::Exhausted { failed } => json::OwnLimit::Exhausted { failed },
        OwnLimit::Late { share } => json::OwnLimit::Late { share: of(share) },
        OwnLimit::Crowded { share } => json::OwnLimit::Crowded { share: of(share) },
        OwnLimit::Stalled { longest_ns } => json::OwnLimit::Stalled {
            longest_us: us(longest_ns as f64),
        },
        OwnLimit::Stolen { share } => json::OwnLimit::Stolen { share: of(share) },
        OwnLimit::Others { cores } => json::OwnLimit::Others {
            cpu_percent: cores * 100.0,
        },
        OwnLimit::Floor { answers_per_s } => json::OwnLimit::Floor {
            rate: json::PerSecond(answers_per_s),
        },
    }
}

fn too_short(found: TooShort) -> json::TooShort {
    json::TooShort {
        trial_s: json::Seconds(found.trial_s),
        response_s: json::Seconds(found.response_s),
        needed_s: json::Seconds(found.needed_s()),
        text: words::too_short(found),
    }
}

fn recovery(recovery: Recovery) -> json::Recovery {
    let (after_s, within_s) = match recovery {
        Recovery::After { seconds } => (Some(json::Seconds(seconds)), None),
        Recovery::NotWithin { seconds } => (None, Some(json::Seconds(seconds))),
    };
    json::Recovery {
        recovered: after_s.is_some(),
        after_s,
        within_s,
    }
}

fn rung(rung: &Rung, checks: &[Check]) -> json::Rung {
    json::Rung {
        measured: measured(&rung.trial.seen, checks),
        part: rung.part.name().to_owned(),
        level: rung.trial.level,
        held: rung.trial.held(),
    }
}

fn trial(trial: &Trial, checks: &[Check]) -> json::Trial {
    json::Trial {
        measured: measured(&trial.seen, checks),
        number: trial.number,
        purpose: trial.purpose.name().to_owned(),
        level: trial.level,
        seconds: json::Seconds(trial.seconds),
        held: trial.held(),
        kept_up: trial.kept_up,
        set_aside: trial.discarded,
    }
}

fn measured(seen: &Observation, checks: &[Check]) -> json::Measured {
    let undecided = seen.undecided.iter().chain(std::iter::repeat(&false));
    let checks = checks.iter().zip(&seen.checks).zip(undecided);
    let checks = checks.map(|((check, held), undecided)| json::TrialCheck {
        check: check.text.clone(),
        held: *held,
        outcome: Some(match (undecided, held) {
            (true, _) => json::CheckOutcome::Undecided,
            (false, true) => json::CheckOutcome::Passed,
            (false, false) => json::CheckOutcome::Failed,
        }),
    });
    json::Measured {
        checks: checks.collect(),
        rate: json::PerSecond(seen.answers_per_s),
        failed_share: json::Share(seen.failed_share),
        p50_us: us(seen.p50_ns as f64),
        p50_at_least: seen.p50_at_least,
        p99_us: us(seen.p99_ns as f64),
        p99_at_least: seen.p99_at_least,
        outstanding_s: seen.outstanding_s,
        grown: seen.grown,
        target_cpu_percent: seen.target_cores.map(|cores| cores * 100.0),
        lost_time: seen.lost_time,
        own_limit: seen.own_limit.map(own_limit),
        disturbance: seen.disturbance.map(own_limit),
    }
}
