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

/// A step of the descent. Intervals are seconds: one that held both levels would tell of neither.
fn whole((level, seconds): (f64, f64)) -> (f64, Duration) {
    (level, length(seconds.ceil()))
}

/// What a trial saw, which took longer than the search reckoned with: a locustfile's users may need
/// more time to settle, and to come round. For files that keep no clock.
fn longer(seen: Observation, plan: &Plan, reckoned_s: f64) -> Observation {
    let took_s = (plan.warmup + plan.duration.unwrap_or_default()).as_secs_f64();
    Observation {
        drained_s: seen.drained_s + (took_s - reckoned_s).max(0.0),
        ..seen
    }
}

/// A length of time. Those of a saved search are whatever its file says: no sum of some may be more
/// than a time can be.
fn length(seconds: f64) -> Duration {
    const LONGEST_S: f64 = 1e9;
    // Of a NaN `max` leaves 0.
    let seconds = seconds.max(0.0);
    Duration::from_secs_f64(seconds.min(LONGEST_S))
}
