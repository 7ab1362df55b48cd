//! What reports say of the exceptions of a script, whatever their form.

use loadline_record::{Exception, Summary};
use loadline_units as units;

/// Returns the instant from which on an exception occurred, in nanoseconds from the begin of the
/// measured part.
pub(crate) fn after_ns(exception: &Exception, summary: &Summary) -> u64 {
    exception.first_ns.saturating_sub(summary.total.start_ns)
}

/// Returns the agents or processes in which it occurred, as a list; empty if they are not told
/// apart.
pub(crate) fn parts(exception: &Exception) -> String {
    let parts: Vec<&str> = exception.parts.iter().map(String::as_str).collect();
    parts.join(", ")
}

/// Returns the sentence about exceptions that are not kept, if there are any.
pub(crate) fn left_out(summary: &Summary) -> Option<String> {
    let others = summary.total.exceptions.others();
    let were = if others == 1 { "was" } else { "were" };
    (others > 0).then(|| {
        let others = units::counted(others, "further exception");
        format!("{others} with other stacks {were} only counted.")
    })
}
