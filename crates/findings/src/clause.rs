//! Limits of the generator or its machine, each as a clause: runs and searches add their own
//! advice.

use loadline_record::{Stretch, WINDOW_NS};
use loadline_units as units;

/// Returns a sentence of a clause and the rest: *; so do this.*, or *. Do this.*
pub(crate) fn sentence(clause: &str, rest: &str) -> String {
    let mut letters = clause.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect::<String>() + rest
}

pub(crate) fn busy(share: f64) -> String {
    format!("a worker's CPU load was {}", units::share(share))
}

pub(crate) fn busy_at_times(stretch: Stretch) -> String {
    format!(
        "{} from {} to {} of the run",
        busy(stretch.cpu_share),
        units::time(stretch.start_ns as f64),
        units::time(stretch.end_ns as f64),
    )
}

pub(crate) fn crowded(share: f64) -> String {
    format!(
        "a worker waited for the CPU for {} of its time",
        units::share(share)
    )
}

pub(crate) fn bunched(share: f64) -> String {
    format!(
        "{} of the requests were sent in a different {} window than planned",
        units::share(share),
        units::time(WINDOW_NS as f64),
    )
}

/// A search compares the longest stall with the length of its trials, and has no share of the time.
pub(crate) fn stalled(share: Option<f64>, longest_ns: u64) -> String {
    let longest = units::time(longest_ns as f64);
    match share {
        Some(share) => format!(
            "Loadline was stalled for {} of the time, up to {longest} at once",
            units::share(share),
        ),
        None => format!("Loadline was stalled for up to {longest}"),
    }
}

pub(crate) fn stolen(share: f64) -> String {
    format!(
        "the hypervisor gave {} of this machine's CPU time to other machines",
        units::share(share)
    )
}
