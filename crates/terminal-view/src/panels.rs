//! The panels of the view, a file for each, and what they share: headings and colours.

pub(crate) mod checks;
pub(crate) mod counts;
pub(crate) mod foot;
pub(crate) mod head;
pub(crate) mod help;
pub(crate) mod histogram;
pub(crate) mod names;
pub(crate) mod outcomes;
pub(crate) mod percentiles;
pub(crate) mod plot;
pub(crate) mod rate;
pub(crate) mod response;
pub(crate) mod small;
pub(crate) mod usage;

use loadline_report::{cut, width};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

/// The colour of a good state.
pub(crate) const GOOD: Color = Color::Green;
/// The colour of a doubtful state.
pub(crate) const DOUBTFUL: Color = Color::Yellow;
/// The colour of a bad state.
pub(crate) const BAD: Color = Color::Red;
/// The colour of a plot's most important line or bar.
pub(crate) const MARK: Color = Color::Cyan;

/// Draws the heading of a panel, a figure after it and a rule to the right edge; returns the
/// remaining area for the panel.
pub(crate) fn headed(title: &str, figure: &str, area: Rect, frame: &mut Frame<'_>) -> Rect {
    let columns = usize::from(area.width);
    let title = cut(title, columns);
    let figure = match figure {
        "" => String::new(),
        figure => cut(&format!(" {figure}"), columns - width(&title)),
    };
    let rest = columns - width(&title) - width(&figure);
    let rule = match rest {
        0 | 1 => String::new(),
        rest => format!(" {}", "─".repeat(rest - 1)),
    };
    let line = Line::from(vec![
        Span::from(title).bold(),
        Span::from(figure),
        faint(rule),
    ]);
    let head = Rect {
        height: area.height.min(1),
        ..area
    };
    frame.render_widget(line, head);
    Rect {
        y: area.y + head.height,
        height: area.height - head.height,
        ..area
    }
}

/// Returns explanatory text, drawn dim.
pub(crate) fn faint<'a>(text: impl Into<std::borrow::Cow<'a, str>>) -> Span<'a> {
    Span::styled(text, Style::new().add_modifier(Modifier::DIM))
}

/// Draws lines from the top of an area; lines without room are left out.
pub(crate) fn lines<'a>(lines: Vec<Line<'a>>, area: Rect, frame: &mut Frame<'_>) {
    frame.render_widget(Paragraph::new(lines), area);
}

/// Returns the indices of the rows that are shown if only `room` of them have room: those that come
/// first in `ranked`, in their original order.
pub(crate) fn most_important(ranked: &[usize], rows: usize, room: usize) -> Vec<usize> {
    let known = ranked.iter().copied().filter(|index| *index < rows);
    let mut shown: Vec<usize> = known.take(room).collect();
    shown.sort_unstable();
    shown
}
