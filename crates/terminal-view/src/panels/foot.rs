//! The foot: the latest messages, and the keys.

use super::{DOUBTFUL, faint, lines};
use crate::keys::Keys;
use crate::state::State;
use loadline_report::cut;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Stylize;
use ratatui::text::{Line, Span};

pub(crate) fn draw(state: &State, area: Rect, frame: &mut Frame<'_>) {
    let columns = usize::from(area.width);
    let room = usize::from(area.height.saturating_sub(1));
    let messages = &state.messages;
    let last = messages.iter().skip(messages.len().saturating_sub(room));
    let mut shown: Vec<Line<'_>> = last
        .map(|message| Line::from(Span::from(cut(message, columns)).fg(DOUBTFUL)))
        .collect();
    shown.resize(room, Line::default());
    shown.push(keys(state));
    lines(shown, area, frame);
}

fn keys(state: &State) -> Line<'static> {
    let mut line = state.keys.line().to_owned();
    if state.keys == Keys::Scale {
        let how = match state.has_automatic_scale() {
            true => ", automatic",
            false => "",
        };
        line.push_str(&format!("  time scale: {}{how}", state.time_scale().name()));
    }
    Line::from(faint(line))
}
