//! The sentences about the measurement: the effects of Loadline and its machine, and advice.

use crate::advice;
use crate::clause::{self, sentence};
use crate::{Effect, statistic_name};
use loadline_record::Stretch;
use loadline_units as units;
use std::time::Duration;

// Delays in the generator itself.

pub(super) fn decisive(effect: Effect, passed: bool) -> String {
    let (with, without) = if passed {
        ("passes", "fails")
    } else {
        ("fails", "passes")
    };
    format!(
        "Delay added by Loadline decides a check: the check on the {} {with} with this delay ({}) \
         and {without} without it ({}). {}",
        statistic_name(effect.statistic),
        units::time(effect.with_ns),
        units::time(effect.without_ns),
        advice::MORE_CORES,
    )
}

pub(super) fn late(effect: Effect) -> String {
    format!(
        "Delay added by Loadline is a large part of the {}: {}, {} without it. {}",
        statistic_name(effect.statistic),
        units::time(effect.with_ns),
        units::time(effect.without_ns),
        advice::MORE_CORES,
    )
}

/// The sentence that comes before all figures if the plan was the limit.
pub(super) fn plan_limit(
    max_connections: u32,
    effect: Option<Effect>,
    unsent: u64,
    planned: u64,
) -> String {
    let mut parts = Vec::new();
    if let Some(effect) = effect {
        parts.push(format!(
            "requests waited for a free one: the {} is {}, and {} without that wait",
            statistic_name(effect.statistic),
            units::time(effect.with_ns),
            units::time(effect.without_ns),
        ));
    }
    if unsent > 0 {
        parts.push(format!(
            "{} of {} were never sent",
            units::count(unsent),
            units::counted(planned, "planned request"),
        ));
    }
    format!(
        "The plan's limit of {} was reached, and the target did not slow down: {}. Allow more \
         connections (--max-connections).",
        units::counted(max_connections.into(), "connection"),
        parts.join("; "),
    )
}

pub(super) fn unstamped(share: f64) -> String {
    format!(
        "A worker was busy or waited for the CPU for {} of its time, and no kernel timestamp says \
         when a response arrived: the times include Loadline's own queue. Use --clock kernel over \
         TCP, fewer connections (-c), or more cores (-t).",
        units::share(share)
    )
}

pub(super) fn busy(share: f64) -> String {
    sentence(
        &clause::busy(share),
        ". Use more cores (-t), or lower the rate (-r).",
    )
}

pub(super) fn busy_at_times(stretch: Stretch) -> String {
    sentence(
        &clause::busy_at_times(stretch),
        ". Use more cores (-t), or a load that does not rise so high.",
    )
}

pub(super) fn crowded(share: f64, by_target: bool) -> String {
    let rest = if by_target {
        ": the target used it. Give each of them cores of its own (-t 1, taskset -c), or run them \
         on two machines."
            .to_owned()
    } else {
        format!(": other processes used it. {}", advice::OWN_CORES)
    };
    sentence(&clause::crowded(share), &rest)
}

pub(super) fn bunched(share: f64) -> String {
    let rest = format!(
        ", because of delay added by Loadline: the arrivals were bunched. {}",
        advice::MORE_CORES
    );
    sentence(&clause::bunched(share), &rest)
}

pub(super) fn stalled(share: f64, longest_ns: u64) -> String {
    sentence(
        &clause::stalled(Some(share), longest_ns),
        ", while the target went on: its process was stopped, or other work used its core. Run \
         nothing else on this machine, or run longer (-d), so that stalls matter less.",
    )
}

// Planned requests that were not sent.

pub(super) fn unsent(planned: u64, unsent: u64, by_loadline: u64, lost: u64) -> String {
    let of = units::count(planned);
    // Whichever is more has the sentence.
    if lost > 0 && 2 * lost >= by_loadline {
        return format!(
            "{} of {of} planned requests were lost with a process or an agent that ended: what it \
             had sent since its last report is unknown, and the load was lower than planned while \
             nobody else sent its part. Make the run again.",
            units::count(lost),
        );
    }
    if by_loadline > 0 {
        return format!(
            "{} of {of} planned requests were never sent, although a connection was free or could \
             be opened: Loadline was stopped or had no CPU. Run nothing else on this machine, \
             lower the rate (-r), or use more cores (-t).",
            units::count(by_loadline),
        );
    }
    format!(
        "{} of {of} planned requests were never sent, because all connections were waiting for \
         the target: the load was lower than planned. Lower the rate (-r) to what the target can \
         carry, or allow more connections (--max-connections).",
        units::count(unsent),
    )
}

pub(super) fn dropped(planned: u64, dropped: u64) -> String {
    format!(
        "{} of {} planned iterations were dropped because no user was free: percentiles leave them \
         out, and the load was lower than planned. Allow more users, or lower the rate.",
        units::count(dropped),
        units::count(planned),
    )
}

pub(super) fn unreachable(away_ns: u64, duration_ns: u64) -> String {
    format!(
        "For {} of {} no connection could be opened and nothing was answered. Users of a closed \
         load then wait up to 100 ms before they try again, so fewer requests failed than would \
         have been sent. Look at the seconds before it, or set a rate (-r): then each request that \
         falls due counts.",
        units::duration(Duration::from_nanos(away_ns)),
        units::duration(Duration::from_nanos(duration_ns)),
    )
}

pub(super) fn missed(planned: u64, missed: u64) -> String {
    format!(
        "{} of {} starts were missed, because their users still waited for a response: each counts \
         among the response times until its user went on, but the load on the target was lower \
         meanwhile. For a load that does not depend on responses, use a rate.",
        units::count(missed),
        units::count(planned),
    )
}

pub(super) fn descriptors(failed: u64, sent: u64) -> String {
    format!(
        "{} of {} requests could not be sent because this process had no file descriptor left. {}",
        units::count(failed),
        units::count(sent),
        advice::DESCRIPTORS,
    )
}

pub(super) fn ports(failed: u64, sent: u64) -> String {
    format!(
        "{} of {} requests could not be sent because this machine had no local port left for the \
         target. {}",
        units::count(failed),
        units::count(sent),
        advice::PORTS,
    )
}

// Effects of the machine and of the network.

pub(super) fn stolen(share: f64) -> String {
    sentence(&clause::stolen(share), &format!(". {}", advice::QUIET_HOST))
}

pub(super) fn uneven_begin(agent: &str, late_ns: u64, clock_error_ns: u64, others: u64) -> String {
    let off = units::time(late_ns.saturating_add(clock_error_ns) as f64);
    let more = match others {
        0 => String::new(),
        _ => format!(", as did that of {} more", units::count(others)),
    };
    format!(
        "The load of agent {agent} began up to {off} before or after that of the others{more}: it \
         was {} late by its own clock, which is known to within {}. Give agents cores of their \
         own and a faster link to the bus, or leave the begin out (--warmup 1s).",
        units::time(late_ns as f64),
        units::time(clock_error_ns as f64),
    )
}

pub(super) fn lost(share: f64) -> String {
    format!(
        "{} of this machine's TCP segments, those of other programs included, were retransmitted: \
         where they belonged to this run, its responses came later. Look for a lossy link or a \
         full queue between this machine and the target.",
        units::share(share)
    )
}

// The course of the run over time.

pub(super) const UNSETTLED: &str = "The run never became steady: its rate or its times changed \
     until the end, so its figures depend on when it ended. Run longer (-d), and look at the \
     intervals (-o csv).";

pub(super) const TOO_SHORT: &str = "The run was too short to detect its warm-up: --warmup auto \
     needs at least 8 s, better 40 s. Run longer (-d).";

pub(super) const BROKEN_OFF: &str = "The run was killed, so the requests in flight at its end are \
     unknown. Repeat the run, and let it end.";

// Closed loads that the generator limited.

/// `of` is the number of connections or streams, as text.
pub(super) fn own_queue(in_flight: f64, of: &str, beside_target: bool) -> String {
    format!(
        "The rate is a lower bound: of {of} {in_flight:.1} had a request in flight on average \
         (rate times response time); the rest waited for Loadline. {}",
        more(beside_target),
    )
}

pub(super) fn limit(share: f64, beside_target: bool) -> String {
    format!(
        "The rate is a lower bound: {}. {}",
        clause::busy(share),
        more(beside_target),
    )
}

/// Returns advice for a higher rate in a closed load.
fn more(beside_target: bool) -> &'static str {
    if beside_target {
        "The target shares this machine: leave it more cores (-t 1), or run Loadline on another \
         machine."
    } else {
        "To find the target's maximum, use more cores (-t), or keep other work off them."
    }
}
