//! The target, the model of the load, and the counts.

use super::Canvas;
use crate::{layout, quantity, wording};
use loadline_plan::{DEFAULT_MAX_CONNECTIONS, Level, Plan, Until};
use loadline_record::{Counts, Ended, LoadChange, Model, Summary, Transient};
use loadline_units as units;
use loadline_units::rounding::per_second;
use loadline_verdict::{precision, sure_precision};
use std::time::Duration;

/// Columns of the facts' names.
const NAMES: usize = 15;
/// Stands for every figure of a run that recorded none.
pub(super) const MISSING: &str = "missing: no worker reported any";

pub(super) fn lines(summary: &Summary, canvas: Canvas) -> Vec<String> {
    let mut lines: Vec<String> = title(summary, canvas);
    lines.push(String::new());
    for (name, text) in facts(summary) {
        let head = layout::left(&format!("  {name}"), NAMES);
        lines.extend(layout::hanging(&head, &text, canvas.width));
    }
    lines
}

/// Returns the target, and the model of the load.
pub(super) fn title(summary: &Summary, canvas: Canvas) -> Vec<String> {
    let target = layout::harmless(&wording::target(&summary.plan));
    let target = layout::wrap(&target, canvas.width);
    let load = match summary.parts {
        0 | 1 => wording::load(&summary.plan),
        parts => format!("{parts} parts, each {}", wording::load(&summary.plan)),
    };
    let load = layout::wrap(&load, canvas.width);
    target
        .iter()
        .map(|line| canvas.style.strong(line))
        .chain(load)
        .collect()
}

/// Returns the counts, each with a name; one without a name continues the one before.
pub(crate) fn facts(summary: &Summary) -> Vec<(&'static str, String)> {
    if summary.lacks_figures() {
        let duration = "not known, ended because a worker failed".to_owned();
        return vec![("duration", duration), ("figures", MISSING.to_owned())];
    }
    let counts = &summary.total.counts;
    let mut facts = vec![("duration", duration(summary))];
    let scenarios = wording::scenarios(&summary.plan).into_iter();
    facts.extend(scenarios.map(|text| ("scenario", layout::harmless(&text))));
    facts.extend(left_out(summary).map(|text| ("transient", text)));
    facts.extend(changes(summary).map(|text| ("load", text)));
    facts.extend(notes(summary).map(|text| (NOTES, text)));
    facts.extend([
        ("rate", rate(summary)),
        ("requests", sent(summary)),
        ("", ended(counts)),
    ]);
    if !summary.total.statuses.is_empty() {
        facts.push(("statuses", statuses(summary)));
    }
    facts.push(("bytes", bytes(summary)));
    facts.push(("connections", connections(counts)));
    facts.extend(resent(counts).map(|text| ("resent", text)));
    facts.extend(few_files(summary).map(|text| ("limit", text)));
    facts.extend(beside_target(summary).map(|text| ("threads", text)));
    facts
}

/// Returns a note if the limit of open files leaves an open load fewer connections than its
/// default.
fn few_files(summary: &Summary) -> Option<String> {
    let (most, files) = (
        summary
            .plan
            .connection
            .of_users(summary.plan.load.max_users),
        summary.environment.open_files?,
    );
    let is_less = most < DEFAULT_MAX_CONNECTIONS && files < u64::from(DEFAULT_MAX_CONNECTIONS);
    (summary.model == Model::Open && is_less).then(|| {
        format!(
            "{}: this process may open {} files (ulimit -n)",
            units::counted(most.into(), "connection"),
            units::count(files),
        )
    })
}

/// Returns a note if the target runs on this host and can have a core of its own.
fn beside_target(summary: &Summary) -> Option<String> {
    let (plan, cores) = (&summary.plan, summary.environment.usable_cores?);
    let is_beside = plan.stays_on_host(|address| address.to_canonical().is_loopback());
    (is_beside && u64::from(plan.threads) + 1 == cores).then(|| {
        format!(
            "{} on {cores} cores: one is left to the target, which is on this host (-t)",
            plan.threads
        )
    })
}

/// Returns the duration of the run, and the reason of its end if that is not the plan.
pub(super) fn duration(summary: &Summary) -> String {
    let length = units::elapsed(Duration::from_nanos(summary.duration_ns));
    match &summary.ended {
        Ended::Duration | Ended::Requests | Ended::Stages => length + &not_reached(summary),
        Ended::Precise | Ended::Decided => length + &reached(summary),
        Ended::Interrupted => format!("{length}, interrupted"),
        Ended::Aborted(check) => format!("{length}, ended because {check} failed"),
        Ended::Threw(_) => format!("{length}, ended because the script raised an error"),
        Ended::Failed(_) if summary.lasted_as_planned() => {
            format!("{length}, without a worker that failed")
        }
        Ended::Failed(_) => format!("{length}, ended because a worker failed"),
        Ended::Unknown => format!("{length}, then the record breaks off"),
    }
}

/// Returns the condition that ended a run before its time.
fn reached(summary: &Summary) -> String {
    match summary.plan.until {
        Some(Until::Precise { percentile, .. }) => {
            format!(
                ", until {} was known to {}",
                quantity::percentile(percentile),
                precise(summary)
            )
        }
        _ => ", until the checks were decided".to_owned(),
    }
}

/// Returns the condition of the run's end, if it ended before.
fn not_reached(summary: &Summary) -> String {
    match summary.plan.until {
        Some(until @ Until::Precise { percentile, within }) => {
            let why = why_not_reached(summary, percentile, within);
            let precise = precise(summary);
            format!(", and {until} not reached: it is known to {precise}{why}")
        }
        Some(Until::Decided) => ", and the checks not decided".to_owned(),
        None => String::new(),
    }
}

/// Returns why a run did not end although the interval of its percentile is narrow enough, as the
/// end of a sentence; nothing if it is not.
fn why_not_reached(summary: &Summary, percentile: f64, within: f64) -> String {
    let is_narrow = precision(summary, percentile).is_some_and(|found| found <= within);
    match sure_precision(summary, percentile).filter(|_| is_narrow) {
        None => String::new(),
        Some(sure) if sure > within => format!(
            ", but to ±{} if it varies from second to second as other percentiles do",
            units::share(sure)
        ),
        Some(_) => ", but was not yet when the run was a quarter shorter".to_owned(),
    }
}

/// Returns the precision of the percentile that was to end the run: `±2.1 %`.
fn precise(summary: &Summary) -> String {
    let found = match summary.plan.until {
        Some(Until::Precise { percentile, .. }) => precision(summary, percentile),
        _ => None,
    };
    found.map_or_else(
        || "no precision yet".to_owned(),
        |share| format!("±{}", units::share(share)),
    )
}

/// Returns the beginning that was left out, if `--warmup auto` was given.
pub(super) fn left_out(summary: &Summary) -> Option<String> {
    let Transient::Cut { intervals } = summary.transient? else {
        return None;
    };
    Some(match intervals {
        0 => "steady from its beginning, nothing left out".to_owned(),
        intervals => {
            let seconds = units::counted(intervals as u64, "second");
            format!("{seconds} at the beginning left out: not steady yet")
        }
    })
}

/// The name of the fact that has the notes.
pub(crate) const NOTES: &str = "notes";
/// Notes that are listed.
const LISTED_NOTES: usize = 20;

/// Returns what people wrote on the run: `cache cleared at 12.3 s, deployed at 15.0 s`.
pub(super) fn notes(summary: &Summary) -> Option<String> {
    let notes = summary.notes.iter().take(LISTED_NOTES).map(|note| {
        let at_s = note.at_ns as f64 / 1e9;
        format!("{} at {at_s:.1} s", layout::harmless(&note.text))
    });
    let mut texts: Vec<String> = notes.collect();
    match summary.notes.len().saturating_sub(LISTED_NOTES) {
        0 => {}
        more => texts.push(format!("and {} more", units::counted(more as u64, "note"))),
    }
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// Changes of the load that are listed.
const LISTED_CHANGES: usize = 10;

/// Returns the changes of the load during the run: `changed to 105 % at 12.3 s, paused at 15.0 s`.
pub(super) fn changes(summary: &Summary) -> Option<String> {
    let changes = summary.changes.iter().take(LISTED_CHANGES);
    let mut texts: Vec<String> = changes.map(|one| change(one, &summary.plan)).collect();
    match summary.changes.len().saturating_sub(LISTED_CHANGES) {
        0 => {}
        more => texts.push(format!(
            "and {} more",
            units::counted(more as u64, "change")
        )),
    }
    (!texts.is_empty()).then(|| texts.join(", "))
}

fn change(change: &LoadChange, plan: &Plan) -> String {
    let at = match u64::try_from(change.at_ns) {
        Ok(at_ns) => format!("at {:.1} s", Duration::from_nanos(at_ns).as_secs_f64()),
        Err(_) => "in the warm-up".to_owned(),
    };
    match change.level {
        Level::Paused => format!("paused {at}"),
        Level::Share(_) | Level::Rate(_) | Level::Users(_) => {
            format!("changed to {} {at}", wording::change_text(change, plan))
        }
    }
}

fn rate(summary: &Summary) -> String {
    let achieved = units::rate(summary.answers_per_s());
    if summary.model == Model::Closed {
        return achieved;
    }
    let asked = units::rate(summary.asked_per_s());
    format!("{asked} asked, {achieved} achieved")
}

fn sent(summary: &Summary) -> String {
    let Counts { planned, sent, .. } = summary.total.counts;
    let sent = format!("{} sent", units::count(sent));
    if summary.model == Model::Closed {
        return sent;
    }
    format!(
        "{} planned, {sent}{}",
        units::count(planned),
        not_sent(summary)
    )
}

/// Returns the arrivals that fell due and were not sent, by reason, each after a comma.
pub(super) fn not_sent(summary: &Summary) -> String {
    let unfinished = &summary.unfinished;
    let mut text = String::new();
    let never = unfinished.unsent.saturating_sub(unfinished.lost);
    for (count, what) in [
        (summary.total.counts.dropped, "dropped"),
        (summary.total.counts.missed, "missed"),
        (never, "never sent"),
        (unfinished.lost, "lost with a worker"),
    ] {
        if count > 0 {
            text.push_str(&format!(", {} {what}", units::count(count)));
        }
    }
    text
}

fn ended(counts: &Counts) -> String {
    let rejected = match counts.rejected {
        0 => String::new(),
        count => format!(" ({} of them rejected by the script)", units::count(count)),
    };
    format!(
        "{} answered{rejected}, {} failed, {} in flight",
        units::count(counts.answered),
        units::count(counts.failed),
        units::count(counts.in_flight),
    )
}

/// The responses by their status.
pub(super) fn statuses(summary: &Summary) -> String {
    let answered = summary.total.counts.answered;
    let alone = summary.total.statuses.len() == 1;
    let each = summary.total.statuses.iter().map(|(status, &count)| {
        let share = units::share(count as f64 / answered as f64);
        let share = if alone {
            String::new()
        } else {
            format!(" ({share})")
        };
        format!("{status}: {}{share}", units::count(count))
    });
    each.collect::<Vec<_>>().join(", ")
}

fn bytes(summary: &Summary) -> String {
    let amount = |n: u64| {
        let per_second = units::bytes(per_second(n, summary.duration_ns));
        (units::bytes(n as f64), per_second)
    };
    let (bytes_in, in_per_second) = amount(summary.total.counts.bytes_in);
    let (bytes_out, out_per_second) = amount(summary.total.counts.bytes_out);
    format!("{bytes_in} in ({in_per_second}/s), {bytes_out} out ({out_per_second}/s)")
}

fn connections(counts: &Counts) -> String {
    let opened = units::count(counts.connections);
    format!(
        "{opened} opened, {}",
        units::counted(counts.reconnects, "reconnect")
    )
}

fn resent(counts: &Counts) -> Option<String> {
    let resent = units::counted(counts.resent, "request");
    (counts.resent > 0).then(|| format!("{resent} sent again"))
}
