//! Errors with an example of each, and statuses.

use super::{BAD, GOOD, faint, headed, lines};
use crate::state::State;
use loadline_report::{OutcomeRow, cut, left, right};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Stylize;
use ratatui::text::{Line, Span};

/// The columns of a name, of a count and of a share.
const NAME: usize = 9;
const COUNT: usize = 9;
const SHARE: usize = 8;

pub(crate) fn draw(state: &State, area: Rect, frame: &mut Frame<'_>) {
    let area = headed("Statuses and errors", "", area, frame);
    let rows = &state.report.outcomes;
    let mut shown: Vec<Line<'_>> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        shown.push(line(row));
        // An example is shown if every row still has a line; the first one always.
        let needed = rows.len() - index - 1;
        let has_room = shown.len() + needed < usize::from(area.height) || index == 0;
        if !row.example.is_empty() && has_room {
            let room = usize::from(area.width).saturating_sub(2);
            shown.push(Line::from(faint(format!("  {}", cut(&row.example, room)))));
        }
    }
    lines(shown, area, frame);
}

fn line(row: &OutcomeRow) -> Line<'_> {
    let name = Span::from(left(&cut(&row.name, NAME), NAME));
    Line::from(vec![
        if row.is_good {
            name.fg(GOOD)
        } else {
            name.fg(BAD).bold()
        },
        Span::from(right(&row.count, COUNT)),
        faint(right(&row.share, SHARE)),
    ])
}
