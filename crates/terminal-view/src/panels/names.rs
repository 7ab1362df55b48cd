//! The requests by name so far, the busiest first.

use super::{BAD, faint, headed, lines};
use crate::state::State;
use loadline_report::{LiveReport, NameRow, cut, left, right};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Stylize;
use ratatui::text::{Line, Span};

/// The columns of each number.
const NUMBERS: [usize; 6] = [10, 8, 11, 9, 9, 9];

pub(crate) fn draw(state: &State, area: Rect, frame: &mut Frame<'_>) {
    let columns = usize::from(area.width);
    let name = columns.saturating_sub(NUMBERS.iter().sum());
    let title = left("By name", name) + &numbers(&LiveReport::NAME_COLUMNS);
    let area = headed(&title, "", area, frame);
    let (rows, room) = (&state.report.names, usize::from(area.height));
    let shown = match rows.len() > room {
        true => room.saturating_sub(1),
        false => rows.len(),
    };
    let mut shown: Vec<Line<'_>> = rows.iter().take(shown).map(|row| line(row, name)).collect();
    if rows.len() > room {
        let more = rows.len() - shown.len();
        shown.push(Line::from(faint(format!("and {more} more, in the report"))));
    }
    lines(shown, area, frame);
}

fn line(row: &NameRow, columns: usize) -> Line<'static> {
    let name = left(&cut(&row.name, columns.saturating_sub(1)), columns);
    let numbers = Span::from(numbers(&row.cells.each_ref().map(|cell| cell.trim_end())));
    Line::from(vec![
        faint(name),
        if row.has_failed {
            numbers.fg(BAD)
        } else {
            numbers
        },
    ])
}

fn numbers(cells: &[&str; 6]) -> String {
    let cells = cells.iter().zip(NUMBERS);
    cells.map(|(cell, columns)| right(cell, columns)).collect()
}
