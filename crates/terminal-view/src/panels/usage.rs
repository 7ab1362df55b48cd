//! CPU, memory and sockets of the generator, the target and the host, in the latest second.

use super::{faint, headed, lines};
use crate::state::State;
use loadline_report::{UsedRow, cut, left, right};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

/// The columns of a share of CPU, of memory, and of a number of sockets.
const CPU: usize = 7;
const MEMORY: usize = 9;
const SOCKETS: usize = 8;
/// The columns from which there is room for the sockets.
const WIDE: usize = 36;

pub(crate) fn draw(state: &State, area: Rect, frame: &mut Frame<'_>) {
    let columns = usize::from(area.width);
    let is_wide = columns >= WIDE;
    let sockets = if is_wide { SOCKETS } else { 0 };
    let name = columns.saturating_sub(CPU + MEMORY + sockets);
    let figures = |row: &UsedRow| {
        let mut text = right(&row.cpu, CPU) + &right(&row.memory, MEMORY);
        if is_wide {
            text.push_str(&right(&row.sockets, SOCKETS));
        }
        text
    };
    let heading = UsedRow {
        name: String::new(),
        cpu: "CPU".to_owned(),
        memory: "memory".to_owned(),
        sockets: "sockets".to_owned(),
    };
    let title = left("Used", name);
    let area = headed(&format!("{title}{}", figures(&heading)), "", area, frame);
    let rows = state.report.used.iter().map(|row| {
        let name = left(&cut(&row.name, name.saturating_sub(1)), name);
        Line::from(vec![faint(name), Span::from(figures(row))])
    });
    lines(rows.collect(), area, frame);
}
