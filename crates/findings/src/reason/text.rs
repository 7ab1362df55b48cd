//! Each reason as a sentence that ends in what to do, and what the machine did in a few words.

use super::Reason;
use crate::advice;
use crate::{Effect, statistic_name};
use loadline_record::Stretch;
use loadline_units as units;

impl Reason {
    /// What was found, and what to do about it.
    pub fn sentence(&self) -> String {
        match *self {
            Reason::Decisive { effect, is_kept } => decisive(effect, is_kept),
            Reason::Late { effect } => late(effect),
            Reason::PlanLimit {
                max_connections,
                effect,
                unsent,
                planned,
            } => plan_limit(max_connections, effect, unsent, planned),
            Reason::Unstamped { share } => unstamped(share),
            Reason::Busy { share } => busy(share),
            Reason::BusyAtTimes { stretch } => busy_at_times(stretch),
            Reason::Crowded { share, by_target } => crowded(share, by_target),
            Reason::Bunched { share } => bunched(share),
            Reason::StoodStill { share, longest_ns } => stood_still(share, longest_ns),
            Reason::Unsent {
                planned,
                unsent,
                by_loadline,
            } => self::unsent(planned, unsent, by_loadline),
            Reason::Descriptors { failed, sent } => descriptors(failed, sent),
            Reason::Ports { failed, sent } => ports(failed, sent),
            Reason::Stolen { share } => stolen(share),
            Reason::Lost { share } => lost(share),
            Reason::NotSteady => UNSETTLED.to_owned(),
            Reason::TooShort => TOO_SHORT.to_owned(),
            Reason::BrokenOff => BROKEN_OFF.to_owned(),
            Reason::OwnQueue {
                in_flight,
                users,
                beside_target,
            } => own_queue(in_flight, users, beside_target),
            Reason::Limit {
                share,
                beside_target,
            } => limit(share, beside_target),
        }
    }

    /// What the machine did, in a few words; of any other reason the whole sentence.
    pub fn phrase(&self) -> String {
        let share = units::share;
        match *self {
            Reason::Busy { share: part } => {
                format!("a worker's CPU load was {}", share(part))
            }
            Reason::BusyAtTimes { stretch } => format!(
                "a worker's CPU load was {} from {} to {}",
                share(stretch.cpu_share),
                units::time(stretch.start_ns as f64),
                units::time(stretch.end_ns as f64),
            ),
            Reason::Crowded {
                share: part,
                by_target,
            } => format!(
                "a worker waited for the CPU for {} of its time, because {} used it",
                share(part),
                if by_target { "the target" } else { "others" },
            ),
            Reason::Bunched { share: part } => {
                format!(
                    "{} of the requests were sent in a different 20 ms window than planned",
                    share(part)
                )
            }
            Reason::StoodStill {
                share: part,
                longest_ns,
            } => format!(
                "Loadline was stalled for {} of the time, up to {} at once",
                share(part),
                units::time(longest_ns as f64)
            ),
            Reason::Stolen { share: part } => {
                format!(
                    "the hypervisor gave {} of its CPU time to other machines",
                    share(part)
                )
            }
            Reason::Lost { share: part } => {
                format!("{} of its TCP segments were retransmitted", share(part))
            }
            ref other => other.sentence(),
        }
    }
}

// What was late or slow in the generator itself.

fn decisive(effect: Effect, is_kept: bool) -> String {
    let (with, without) = if is_kept {
        ("is kept", "broken")
    } else {
        ("is broken", "kept")
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

fn late(effect: Effect) -> String {
    format!(
        "Delay added by Loadline is a large part of the {}: {}, {} without it. {}",
        statistic_name(effect.statistic),
        units::time(effect.with_ns),
        units::time(effect.without_ns),
        advice::MORE_CORES,
    )
}

/// The sentence before all figures where the plan was the limit.
fn plan_limit(max_connections: u32, effect: Option<Effect>, unsent: u64, planned: u64) -> String {
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

fn unstamped(share: f64) -> String {
    format!(
        "A worker was busy or waited for the CPU for {} of its time, and no kernel timestamp says \
         when a response arrived: the times include Loadline's own queue. Use --clock kernel over \
         TCP, fewer connections (-c), or more cores (-t).",
        units::share(share)
    )
}

fn busy(share: f64) -> String {
    format!(
        "A worker's CPU load was {}. Use more cores (-t), or lower the rate (-r).",
        units::share(share)
    )
}

fn busy_at_times(stretch: Stretch) -> String {
    format!(
        "From {} to {} of the run a worker's CPU load was {}. Use more cores (-t), or a load that \
         does not rise so high.",
        units::time(stretch.start_ns as f64),
        units::time(stretch.end_ns as f64),
        units::share(stretch.cpu_share)
    )
}

fn crowded(share: f64, by_target: bool) -> String {
    let by = if by_target {
        "the target used it. Give each of them cores of its own (-t 1, taskset -c), or run them \
         on two machines"
    } else {
        "other processes used it. Give the generator cores of its own (taskset -c), or run it on \
         another machine than the target"
    };
    format!(
        "A worker waited for the CPU for {} of its time: {by}.",
        units::share(share)
    )
}

fn bunched(share: f64) -> String {
    format!(
        "{} of the requests were sent in a different {} window than planned, because of delay \
         added by Loadline: the arrivals were bunched. {}",
        units::share(share),
        units::time(loadline_record::WINDOW_NS as f64),
        advice::MORE_CORES,
    )
}

fn stood_still(share: f64, longest_ns: u64) -> String {
    format!(
        "Loadline was stalled for {} of the time, up to {} at once, while the target went on: its \
         process was stopped, or other work used its core. Run nothing else on this machine, or \
         run longer (-d), so that stalls matter less.",
        units::share(share),
        units::time(longest_ns as f64),
    )
}

// What was asked for and could not be sent.

fn unsent(planned: u64, unsent: u64, by_loadline: u64) -> String {
    let of = units::count(planned);
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

fn descriptors(failed: u64, sent: u64) -> String {
    format!(
        "{} of {} requests could not be sent because this process had no file descriptor left. {}",
        units::count(failed),
        units::count(sent),
        advice::DESCRIPTORS,
    )
}

fn ports(failed: u64, sent: u64) -> String {
    format!(
        "{} of {} requests could not be sent because this machine had no local port left for the \
         target. {}",
        units::count(failed),
        units::count(sent),
        advice::PORTS,
    )
}

// What the machine and the network did.

fn stolen(share: f64) -> String {
    format!(
        "The hypervisor gave {} of this machine's CPU time to other machines. Repeat the run when \
         they are quiet, or on a dedicated machine.",
        units::share(share)
    )
}

fn lost(share: f64) -> String {
    format!(
        "{} of this machine's TCP segments, those of other programs included, were retransmitted: \
         where they belonged to this run, its responses came later. Look for a lossy link or a \
         full queue between this machine and the target.",
        units::share(share)
    )
}

// How the run went over time.

const UNSETTLED: &str = "The run never became steady: its rate or its times changed until the \
                         end, so its figures depend on when it ended. Run longer (-d), and look \
                         at the intervals (-o csv).";

const TOO_SHORT: &str = "The run was too short to detect its warm-up: --warmup auto needs at \
                         least 8 s, better 40 s. Run longer (-d).";

const BROKEN_OFF: &str = "The run was killed, so the requests in flight at its end are unknown. \
                          Repeat the run, and let it end.";

// Where a closed load asked for as much as there is, and got what the generator could do.

fn own_queue(in_flight: f64, users: u32, beside_target: bool) -> String {
    format!(
        "The rate is a lower bound: of {} connections {in_flight:.1} had a request in flight on \
         average (rate times response time); the rest waited for Loadline. {}",
        units::count(u64::from(users)),
        more(beside_target),
    )
}

fn limit(share: f64, beside_target: bool) -> String {
    format!(
        "The rate is a lower bound: a worker's CPU load was {}. {}",
        units::share(share),
        more(beside_target),
    )
}

/// How a closed load may get more out of the target.
fn more(beside_target: bool) -> &'static str {
    if beside_target {
        "The target shares this machine: leave it more cores (-t 1), or run Loadline on another \
         machine."
    } else {
        "To find the target's maximum, use more cores (-t), or keep other work off them."
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_plan::Statistic;

    #[test]
    fn every_reason_is_a_sentence_that_ends_in_what_to_do() {
        let effect = Effect {
            statistic: Statistic::Percentile(99.0),
            with_ns: 682_000.0,
            without_ns: 224_000.0,
        };
        let reasons = [
            Reason::Decisive {
                effect,
                is_kept: false,
            },
            Reason::Late { effect },
            Reason::PlanLimit {
                max_connections: 50,
                effect: Some(effect),
                unsent: 31,
                planned: 5_000,
            },
            Reason::Unstamped { share: 0.91 },
            Reason::Busy { share: 0.71 },
            Reason::BusyAtTimes {
                stretch: Stretch {
                    start_ns: 50_000_000_000,
                    end_ns: 60_000_000_000,
                    cpu_share: 0.93,
                },
            },
            Reason::Crowded {
                share: 0.3,
                by_target: true,
            },
            Reason::Crowded {
                share: 0.3,
                by_target: false,
            },
            Reason::Bunched { share: 0.11 },
            Reason::StoodStill {
                share: 0.04,
                longest_ns: 201_000_000,
            },
            Reason::Unsent {
                planned: 20_000,
                unsent: 5_000,
                by_loadline: 0,
            },
            Reason::Unsent {
                planned: 20_000,
                unsent: 5_000,
                by_loadline: 4_900,
            },
            Reason::Descriptors {
                failed: 12,
                sent: 20_000,
            },
            Reason::Ports {
                failed: 9_000,
                sent: 37_000,
            },
            Reason::Stolen { share: 0.08 },
            Reason::Lost { share: 0.02 },
            Reason::NotSteady,
            Reason::TooShort,
            Reason::BrokenOff,
            Reason::OwnQueue {
                in_flight: 38.3,
                users: 100,
                beside_target: true,
            },
            Reason::Limit {
                share: 0.97,
                beside_target: false,
            },
        ];
        let sentences: Vec<String> = reasons.iter().map(Reason::sentence).collect();
        insta::assert_snapshot!(sentences.join("\n"));
    }
}
