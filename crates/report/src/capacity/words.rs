//! The sentences of a search.

use super::CapacityReport;
use crate::quantity::bounded_time;
use loadline_capacity::{
    Breaking, Conclusion, Inconclusive, LoadLine, Observation, OwnLimit, Part, Rung, Settings,
    TooShort, Trial, Why,
};
use loadline_findings::limit_and_advice;
use loadline_plan::Check;
use loadline_record::Bounded;
use loadline_units as units;

/// The reason for a check that the user did not set.
pub(super) const ERRORS_ADDED: &str = "errors<1% was added to the checks, because a rate at which \
                                       requests fail is not a capacity; give a --check on errors \
                                       for another bound.";
/// The meaning of a target that cannot keep up, in a search for users.
pub(super) const PACE_LOST: &str = "It falls behind where a user makes less than 90 % of the \
                                    requests that it makes at low load, because responses take \
                                    longer: more users would only wait longer.";
/// The reason for a missing ladder.
pub(super) const NO_LADDER: &str = "No time was left for the ladder; give more (--budget) for \
                                    runs below and above the load line.";
/// The largest width that a user is advised to use for a search.
const WIDEST: f64 = 0.2;

/// A rate or a number of users, without groups so that it can be typed again: whole numbers, but
/// four digits of low rates.
pub(super) fn amount(level: f64) -> String {
    let decimals: usize = match level {
        level if level >= 100.0 || level <= 0.0 => 0,
        level if level >= 10.0 => 1,
        level if level >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{level:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// The lower end of a range, rounded down, and the upper end rounded up, where they are printed in
/// whole numbers.
pub(super) fn outwards(low: f64, high: f64) -> (f64, f64) {
    let is_whole = |level: f64| level >= 100.0;
    (
        if is_whole(low) { low.floor() } else { low },
        if is_whole(high) { high.ceil() } else { high },
    )
}

/// The answer in one line.
pub(crate) fn answer_line(report: &CapacityReport<'_>) -> String {
    let (answer, detail) = answer_parts(report);
    answer + &detail
}

/// Returns the result, and the remarks that follow it in the same line.
pub(super) fn answer_parts(report: &CapacityReport<'_>) -> (String, String) {
    match &report.outcome.conclusion {
        Conclusion::Found(line) => found(report, line),
        Conclusion::AtLeast { level, why } => at_least(*level, *why, report),
        Conclusion::NothingHolds {
            level,
            breaks,
            own_limit,
        } => nothing_holds(*level, breaks.first().copied(), *own_limit, report),
        Conclusion::Inconclusive(known) => unsettled(*known, report),
    }
}

/// Returns the load line: `load line: 4900 req/s`.
pub(super) fn load_line(level: f64, users: bool) -> String {
    format!("load line: {} {}", amount(level), unit_of(level, users))
}

fn found(report: &CapacityReport<'_>, line: &LoadLine) -> (String, String) {
    let (low, high) = outwards(line.low, line.high);
    let mut answer = load_line(line.carried, report.users);
    answer.push_str(&format!(" ({} … {})", amount(low), amount(high)));
    let mut text = String::new();
    if let Some(first) = line.breaks.first() {
        text.push_str(&format!("; {} first", fails(*first, &report.plan.checks)));
    }
    if let Some(cores) = line.target_cores {
        text.push_str(&format!("; target CPU {}", percent(cores)));
    }
    let confirmed = units::time(line.confirmed_s * 1e9);
    text.push_str(&format!("; confirmed by a run of {confirmed}"));
    (answer, text)
}

/// Returns the goal of the search, in the words of RFC 9971, and the bounds that were found.
pub(super) fn goal(report: &CapacityReport<'_>) -> String {
    let settings = report.settings;
    let seconds = |seconds: f64| units::time(seconds * 1e9);
    let bounds = match &report.outcome.conclusion {
        Conclusion::Found(line) => format!(
            "relevant lower bound {}, upper {} {}; conditional throughput {}/s",
            amount(line.level),
            amount(line.upper),
            unit(report.users),
            amount(line.throughput)
        ),
        Conclusion::AtLeast { .. }
        | Conclusion::NothingHolds { .. }
        | Conclusion::Inconclusive(_) => {
            "no lower and upper bound close enough to each other".to_owned()
        }
    };
    format!(
        "Goal: trials of {}, {} of them in all decide on a load ({} trials), exceed ratio {}, \
         bounds within {}, budget {}. Found: {bounds}.",
        seconds(settings.trial_s),
        seconds(settings.required_s()),
        settings.trials,
        Settings::EXCEED_RATIO,
        units::share(settings.width),
        seconds(settings.budget_s),
    )
}

fn nothing_holds(
    level: f64,
    breaks: Option<Breaking>,
    own_limit: Option<OwnLimit>,
    report: &CapacityReport<'_>,
) -> (String, String) {
    let checks = &report.plan.checks;
    let what = breaks.map_or("a check fails".to_owned(), |what| failed(what, checks));
    let unit = unit_of(level, report.users);
    let where_ = format!(
        "{what} even at {} {unit}, the lowest that was tried",
        amount(level)
    );
    let (answer, detail) = match (own_limit, report.users) {
        (Some(limit), _) => (
            "load line: unknown",
            format!(
                "{where_}, and the generator may be the cause: {}",
                limit_and_advice(limit)
            ),
        ),
        (None, false) => (
            "load line: none",
            format!("{where_}. Start lower (--min-rate), or relax --check."),
        ),
        (None, true) => ("load line: none", format!("{where_}. Relax --check.")),
    };
    (answer.to_owned(), format!("; {detail}"))
}

fn at_least(level: f64, why: Why, report: &CapacityReport<'_>) -> (String, String) {
    let users = report.users;
    let unit = unit(users);
    let known = format!(
        "load line: at least {} {}",
        amount(level),
        unit_of(level, users)
    );
    let detail = match why {
        Why::Generator { limit, at } => format!(
            "; the generator reaches its limit first, at {} {unit}: {}",
            amount(at),
            limit_and_advice(limit)
        ),
        Why::Highest => {
            let flag = if users { "--max-users" } else { "--max-rate" };
            format!(", the highest that was tried; raise {flag} to find it.")
        }
        Why::TimeOver { confirmed_s, known } => format!(
            ", confirmed by a run of {}{}",
            units::time(confirmed_s * 1e9),
            above(known, report)
        ),
    };
    (known, detail)
}

/// Returns a note that trials were too short and may have missed a backlog, with the length that
/// they need.
pub(crate) fn too_short(found: TooShort) -> String {
    format!(
        "Trials of {} are too short to see a backlog grow when a response takes {}, so this may \
         be too high or too low; give --duration {:.0}s.",
        units::time(found.trial_s * 1e9),
        units::time(found.response_s * 1e9),
        found.needed_s().ceil()
    )
}

/// Returns the disturbance by the machine that a reader of a load line must know, if there was one.
pub(super) fn disturbed(line: &LoadLine) -> Option<String> {
    let limit = line.disturbance?;
    Some(format!(
        "The load line may be higher, because the trials just above it were disturbed: {}",
        limit_and_advice(limit)
    ))
}

/// Returns the reason why a check may have failed at a rung other than the target. Above the load
/// line a failure is expected.
pub(super) fn other_cause(rung: &Rung) -> Option<String> {
    let limit = rung
        .trial
        .other_cause()
        .filter(|_| rung.part != Part::Over)?;
    Some(format!(
        "The check at the step \"{}\" may have failed because of the generator or its machine: {}",
        rung.part.name(),
        limit_and_advice(limit)
    ))
}

/// The rest of a sentence on a level that was confirmed: what is not known of those above.
fn above(known: Inconclusive, report: &CapacityReport<'_>) -> String {
    let upper = known.upper.map_or(String::new(), |upper| {
        let (_, upper) = outwards(0.0, upper);
        format!(
            ", up to {} {},",
            amount(upper),
            unit_of(upper, report.users)
        )
    });
    format!(
        "; whether it is higher{upper} was not decided{} {}{}",
        refuted(known),
        end_of(report),
        own_limit(known)
    )
}

fn unsettled(known: Inconclusive, report: &CapacityReport<'_>) -> (String, String) {
    let unit = unit(report.users);
    let where_ = match (known.lower, known.upper) {
        (Some(lower), Some(upper)) => {
            let (lower, upper) = outwards(lower, upper);
            format!("between {} and {} {unit}", amount(lower), amount(upper))
        }
        (Some(lower), None) => {
            let unit = unit_of(lower, report.users);
            format!("at least {} {unit}", amount(lower))
        }
        (None, Some(upper)) => format!("below {} {unit}", amount(upper)),
        (None, None) => "unknown, no trial counted yet".to_owned(),
    };
    (
        format!("load line: {where_}"),
        format!("{} {}{}", refuted(known), end_of(report), own_limit(known)),
    )
}

/// The level at which only short trials passed, in parentheses, if there is one.
fn refuted(known: Inconclusive) -> String {
    known.refuted.map_or(String::new(), |level| {
        format!(
            " (most short trials at {} passed, but neither all their responses together nor a \
             long run did)",
            amount(level)
        )
    })
}

/// The reason why a search ended before it had its answer, and what to do.
fn end_of(report: &CapacityReport<'_>) -> String {
    match report.interrupted {
        true => "when the search ended early.".to_owned(),
        false => time_over(report.settings),
    }
}

/// A sentence on the generator or its machine, if they may be why checks failed.
fn own_limit(known: Inconclusive) -> String {
    known.own_limit.map_or(String::new(), |limit| {
        format!(
            " The generator or its machine may be why checks failed: {}",
            limit_and_advice(limit)
        )
    })
}

/// Returns advice for a search whose time was over. A user who set low requirements is not advised
/// to lower them.
fn time_over(settings: &Settings) -> String {
    let budget = units::time(settings.budget_s * 1e9);
    let more = units::time(2.0 * settings.budget_s * 1e9);
    let wider = 2.0 * settings.width;
    let less = match wider <= WIDEST {
        true => format!(", or ask for less (--precision {}%)", round_percent(wider)),
        false => String::new(),
    };
    format!(
        "when its time of {budget} was over; give it more (--budget {}){less}.",
        more.replace(' ', "")
    )
}

fn round_percent(share: f64) -> String {
    amount((share * 1_000.0).round() / 10.0)
}

/// One line on a trial: `trial 12, search: 3200 req/s passed, p50 0.3 ms, p99 0.9 ms`.
pub fn trial_line(trial: &Trial, checks: &[Check], users: bool) -> String {
    format!(
        "trial {:>3} {:<13} {:>8} {}  p50 {:>9}  p99 {:>9}  {}",
        trial.number,
        trial.purpose.name(),
        amount(trial.level),
        unit_of(trial.level, users),
        bounded_time(p50(&trial.seen)),
        bounded_time(p99(&trial.seen)),
        trial_outcome(trial, checks),
    )
}

/// The median of the response time in nanoseconds.
pub(super) fn p50(seen: &Observation) -> Bounded<f64> {
    bounded(seen.p50_ns, seen.p50_at_least)
}

/// The 99th percentile of the response time in nanoseconds.
pub(super) fn p99(seen: &Observation) -> Bounded<f64> {
    bounded(seen.p99_ns, seen.p99_at_least)
}

fn bounded(ns: u64, is_at_least: bool) -> Bounded<f64> {
    match is_at_least {
        true => Bounded::AtLeast(ns as f64),
        false => Bounded::Exactly(ns as f64),
    }
}

/// Returns whether a trial passed, or else the failed checks and the possible cause.
pub(super) fn trial_outcome(trial: &Trial, checks: &[Check]) -> String {
    let ours = match (trial.own_limit(), trial.other_cause()) {
        _ if trial.seen.unreached => "; discarded, because the target was not reached",
        _ if trial.seen.is_void => "; discarded, because a part of its load was lost",
        _ if trial.discarded => "; discarded, because the machine was disturbed",
        (Some(_), _) => " because of the generator",
        (None, Some(_)) => " on a disturbed machine",
        (None, None) => "",
    };
    format!("{}{ours}", verdict(&trial.seen, trial.held(), checks))
}

/// Returns whether a trial passed, or else the failed checks, or those that the estimate fails and
/// that are undecided.
pub(super) fn verdict(seen: &Observation, passed: bool, checks: &[Check]) -> String {
    let is_undecided = |index: usize| seen.undecided.get(index).is_some_and(|open| *open);
    let seen_of = seen.checks.iter().zip(checks).enumerate();
    let mut not_held = seen_of.filter(|(_, (held, _))| !**held);
    let first = not_held.clone().next();
    let failed = not_held.find(|(index, _)| !is_undecided(*index)).or(first);
    match (passed, failed) {
        (true, _) => "passed".to_owned(),
        (false, Some((index, (_, check)))) if is_undecided(index) => {
            format!("{} undecided", check.text)
        }
        (false, Some((_, (_, check)))) => format!("{} failed", check.text),
        (false, None) => "fell behind".to_owned(),
    }
}

fn fails(what: Breaking, checks: &[Check]) -> String {
    match what {
        Breaking::Check(index) => format!("{} fails", metric(checks.get(index))),
        Breaking::KeepingUp => "the target falls behind".to_owned(),
    }
}

fn failed(what: Breaking, checks: &[Check]) -> String {
    match what {
        Breaking::Check(index) => {
            let text = checks.get(index).map_or("a check", |check| &check.text);
            format!("{text} fails")
        }
        Breaking::KeepingUp => "the target falls behind".to_owned(),
    }
}

/// Returns the metric of a check, as it was typed: `p99`.
fn metric(check: Option<&Check>) -> &str {
    let text = check.map_or("a check", |check| &check.text);
    text.split(['<', '>']).next().unwrap_or(text).trim()
}

pub(super) fn unit(users: bool) -> &'static str {
    if users { "users" } else { "req/s" }
}

fn unit_of(level: f64, users: bool) -> &'static str {
    if users && level == 1.0 {
        return "user";
    }
    unit(users)
}

/// Cores in percent of one, in whole numbers.
fn percent(cores: f64) -> String {
    format!("{:.0} %", cores * 100.0)
}
