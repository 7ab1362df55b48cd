//! The best performance of the machine.

use super::Canvas;
use loadline_record::{Floor, Summary};
use loadline_units as units;

pub(super) fn lines(summary: &Summary, canvas: Canvas) -> Vec<String> {
    let Some(floor) = &summary.environment.floor else {
        return Vec::new();
    };
    let mut lines =
        vec![canvas.heading("Floor", "  this machine against a server that does nothing")];
    lines.extend(canvas.paragraph(&measured(floor)));
    lines
}

/// Returns the measured floor in one sentence.
pub(crate) fn floor_text(floor: &Floor) -> String {
    format!("Floor of this machine: {}", measured(floor))
}

fn measured(floor: &Floor) -> String {
    format!(
        "a response takes {} (p50; at least {}) with one request at a time; with {} the maximum \
         is {}.",
        units::time(floor.p50_ns as f64),
        units::time(floor.min_ns as f64),
        units::counted(floor.connections.into(), "connection"),
        units::rate(floor.answers_per_s),
    )
}
