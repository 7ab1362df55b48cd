//! The percentiles of the response time in the latest second, and in the run so far.

use super::{faint, headed, lines, most_important};
use crate::state::State;
use loadline_report::{PercentileRow, left, right};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Stylize;
use ratatui::text::{Line, Span};

/// The indices of the report's rows in the order of their importance: with little room, the first
/// are shown.
const RANKED: [usize; 7] = [0, 4, 6, 2, 5, 3, 1];
/// The columns of a name and of a time.
const NAME: usize = 6;
const TIME: usize = 9;

pub(crate) fn draw(state: &State, area: Rect, frame: &mut Frame<'_>) {
    let columns = format!("{}{}", right("last s", 5), right("so far", TIME));
    let area = headed("Times", &columns, area, frame);
    let rows = &state.report.percentiles;
    let shown = most_important(&RANKED, rows.len(), area.height.into());
    let rows = shown.into_iter().map(|index| line(&rows[index]));
    lines(rows.collect(), area, frame);
}

fn line(row: &PercentileRow) -> Line<'_> {
    Line::from(vec![
        faint(left(&row.name, NAME)),
        Span::from(right(row.latest.trim_end(), TIME)).bold(),
        Span::from(right(row.so_far.trim_end(), TIME)),
    ])
}
