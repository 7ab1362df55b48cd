//! The view in a window that is too small for the panels: the progress line, and as many of the
//! most important figures as there are lines.

use super::{faint, lines};
use crate::draw::{MIN_HEIGHT, MIN_WIDTH};
use crate::state::State;
use loadline_report::cut;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use std::time::Instant;

pub(crate) fn draw(state: &State, now: Instant, area: Rect, frame: &mut Frame<'_>) {
    let columns = usize::from(area.width);
    let progress = state.progress(now);
    let progress = progress.map(|progress| progress.terminal_line(columns, false));
    let mut shown = vec![Line::from(progress.unwrap_or_default())];
    shown.extend(
        figures(state)
            .into_iter()
            .map(|text| Line::from(cut(&text, columns))),
    );
    shown.truncate(usize::from(area.height.saturating_sub(2)).max(1));
    let message = state.messages.back();
    shown.extend(message.map(|message| Line::from(cut(message, columns))));
    let hint = format!("Enlarge the window to {MIN_WIDTH} x {MIN_HEIGHT} for the whole view.");
    shown.push(Line::from(faint(cut(&hint, columns))));
    lines(shown, area, frame);
}

/// Returns the figures, the most important first.
fn figures(state: &State) -> Vec<String> {
    let report = &state.report;
    let mut figures = Vec::new();
    if !report.rate.is_empty() {
        figures.push(format!("rate: {}", report.rate));
    }
    let checks = report.checks.iter();
    figures.extend(
        checks.map(|row| format!("{}: {} ({})", row.outcome.word(), row.text, row.measured)),
    );
    let errors = report.outcomes.iter().filter(|row| !row.is_good);
    figures.extend(errors.map(|row| format!("{}: {} {}", row.name, row.count, row.example)));
    let times = report.percentiles.iter();
    figures.extend(times.map(|row| format!("{}: {}", row.name, row.so_far.trim_end())));
    figures
}
