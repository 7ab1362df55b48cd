//! The counts so far: requests, connections, bytes.

use super::{BAD, faint, headed, lines};
use crate::state::State;
use loadline_report::{left, right, width};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Stylize;
use ratatui::text::{Line, Span};

/// The counts that are highlighted unless they are zero.
const TROUBLES: [&str; 2] = ["failed", "unsent"];

pub(crate) fn draw(state: &State, area: Rect, frame: &mut Frame<'_>) {
    let area = headed("Requests", "", area, frame);
    let columns = usize::from(area.width);
    let line = |(name, value): &(&'static str, String)| {
        let name = left(name, columns.saturating_sub(width(value)).min(12));
        let room = columns.saturating_sub(width(&name));
        let is_trouble = TROUBLES.contains(&name.trim_end()) && value != "0";
        let value = Span::from(right(value, room));
        Line::from(vec![
            faint(name),
            if is_trouble {
                value.fg(BAD).bold()
            } else {
                value
            },
        ])
    };
    lines(state.report.counted.iter().map(line).collect(), area, frame);
}
