//! The sentences about limits of the generator that ended a search before the target reached its
//! own.

use crate::{advice, clause};
use loadline_capacity::OwnLimit;
use loadline_units as units;

/// Returns the limit of the generator as a clause, and the advice: the rest of a sentence.
pub fn limit_and_advice(limit: OwnLimit) -> String {
    match limit {
        OwnLimit::Busy { share } => format!(
            "{}. Use more cores (-t), or run the generator on another machine than the target.",
            clause::busy(share)
        ),
        OwnLimit::Connections { most } => format!(
            "all of its {most} connections were in use, and responses were as fast as before. \
             Allow more (--max-connections)."
        ),
        OwnLimit::Exhausted { failed } => format!(
            "{} could not be sent, because it had no file descriptor or no local port left. \
             Ports: {} Descriptors: {}",
            units::counted(failed, "request"),
            advice::PORTS,
            advice::DESCRIPTORS,
        ),
        OwnLimit::Late { share } => format!(
            "it sent {} of its requests late. {}",
            units::share(share),
            advice::OWN_CORES
        ),
        OwnLimit::Crowded { share } => {
            format!("{}. {}", clause::crowded(share), advice::OWN_CORES)
        }
        OwnLimit::Stalled { longest_ns } => format!(
            "{}. Run nothing else on this machine, or search again.",
            clause::stalled(None, longest_ns)
        ),
        OwnLimit::Stolen { share } => {
            format!("{}. {}", clause::stolen(share), advice::QUIET_HOST)
        }
        OwnLimit::Others { cores } => format!(
            "other processes of its machine used {:.0} % of a core. Stop them, or use another \
             machine.",
            cores * 100.0
        ),
        OwnLimit::Floor { answers_per_s } => format!(
            "this machine reaches at most {}/s with a server that does nothing. Use another \
             machine than the target's, or one with more cores.",
            units::count(answers_per_s.round() as u64)
        ),
    }
}
