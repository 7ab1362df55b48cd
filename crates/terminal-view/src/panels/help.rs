//! The help, on top of the view: the keys, and explanations of the panels.

use super::lines;
use crate::state::State;
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::Stylize;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear};

/// Explanations in addition to the keys.
const NOTES: [&str; 6] = [
    "Rate: dots are asked, the line is achieved.",
    "Response time: p99 is the highest line, p50 the lowest.",
    "Times: of the latest second, and of the run so far.",
    "Used: in the latest second; CPU is in percent of one core.",
    "Checks and validity: as if the run ended now.",
    "The report follows when the run has ended.",
];
/// The columns that the frame takes.
const FRAME: u16 = 4;

pub(crate) fn draw(state: &State, area: Rect, frame: &mut Frame<'_>) {
    let keys = state.keys.explained().map(|(key, words)| {
        Line::from(vec![
            Span::from(format!("{key}  ")).bold(),
            Span::from(words),
        ])
    });
    let mut shown: Vec<Line<'_>> = keys.collect();
    shown.push(Line::from("Ctrl-C stops the run; a second time at once"));
    shown.push(Line::default());
    shown.extend(NOTES.map(Line::from));
    let columns = shown.iter().map(Line::width).max().unwrap_or(0) as u16 + FRAME;
    let area = area.centered(
        Constraint::Length(columns),
        Constraint::Length(shown.len() as u16 + 2),
    );
    let block = Block::bordered()
        .title(" Help ")
        .padding(ratatui::widgets::Padding::horizontal(1));
    let inner = block.inner(area);
    frame.render_widget(Clear, area);
    frame.render_widget(block, area);
    lines(shown, inner, frame);
}
