//! The parts of the exchanges that the kernel's clock split, by their cause.

use super::Canvas;
use super::parts::table;
use crate::split::{HELD, overstated_ns, parts};
use crate::{percentiles, quantity};
use loadline_record::{Summary, Times};
use loadline_units as units;

pub(super) fn lines(summary: &Summary, canvas: Canvas) -> Vec<String> {
    if summary.plan.connection.kernel_timestamps.is_none() {
        return Vec::new();
    }
    let times = &summary.total.times;
    if times.split_wire.is_empty() {
        let mut lines = vec![canvas.heading("Kernel's split", "")];
        lines.extend(canvas.paragraph(NOTHING));
        return lines;
    }
    let parts = parts(times).map(|(name, _, times)| (name, times.into()));
    let mut lines = table("Kernel's split", &parts, canvas);
    lines.extend(canvas.paragraph(&overstated(times)));
    lines
}

const NOTHING: &str = "No request was sampled: a sample needs an open TCP connection and one \
                       request at a time, and 1 in K requests is one. Use keep-alive, or sample \
                       more requests (--kernel-timestamps=1/1).";

/// Returns the percentiles that a clock in user space would have shown, as far as there are
/// samples.
fn overstated(times: &Times) -> String {
    let enough = |percentile: &f64| percentiles::missing(&times.split_user, *percentile) == 0;
    let held = HELD.into_iter().filter(enough).map(|percentile| {
        format!(
            "{} of {} ({} more)",
            quantity::percentile(percentile),
            units::time(times.split_user.percentile_ns(percentile) as f64),
            units::time(overstated_ns(times, percentile) as f64),
        )
    });
    let held: Vec<String> = held.collect();
    if held.is_empty() {
        return "Too few samples to say by how much a user-space clock would overstate wire and \
                server; sample more requests (--kernel-timestamps=1/1), or run longer (-d)."
            .to_owned();
    }
    format!(
        "A user-space clock would have shown, for wire and server, a {}.",
        held.join(" and a ")
    )
}
