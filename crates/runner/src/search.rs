//! A search for the highest rate or number of users at which all checks hold.

mod evaluation;
mod limits;
mod replay;
mod saved;
mod trials;

use evaluation::Evaluation;
pub use saved::{SavedSearch, is_search};
pub use trials::{Progress, Search, SearchResult, conduct_search};

use loadline_capacity::Observation;
use loadline_plan::Plan;
use std::time::Duration;

/// Rounds a step of the descent up to whole seconds, the length of an interval: an interval with
/// both levels would describe neither.
fn whole((level, seconds): (f64, f64)) -> (f64, Duration) {
    (level, length(seconds.ceil()))
}

/// Corrects the observation of a trial that took longer than the search planned: a locustfile's
/// users may need more time to settle, and to complete a cycle. For files that contain no times.
fn longer(seen: Observation, plan: &Plan, reckoned_s: f64) -> Observation {
    let took_s = (plan.warmup + plan.duration.unwrap_or_default()).as_secs_f64();
    Observation {
        drained_s: seen.drained_s + (took_s - reckoned_s).max(0.0),
        ..seen
    }
}

/// Returns a duration. Values of a saved search may be arbitrary, so it is limited: no sum of some
/// may overflow.
fn length(seconds: f64) -> Duration {
    const LONGEST_S: f64 = 1e9;
    // For a NaN, `max` returns 0.
    let seconds = seconds.max(0.0);
    Duration::from_secs_f64(seconds.min(LONGEST_S))
}
