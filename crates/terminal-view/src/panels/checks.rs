//! The current results of the checks, and the reasons to doubt the result if the run ended now.

use super::{BAD, DOUBTFUL, GOOD, faint, head, headed, lines};
use crate::state::State;
use loadline_report::{CheckRow, cut, left, width};
use loadline_verdict::{CheckOutcome, Grade};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Stylize};
use ratatui::text::{Line, Span};

pub(crate) fn draw(state: &State, area: Rect, frame: &mut Frame<'_>) {
    let area = headed("Checks and validity", "", area, frame);
    let columns = usize::from(area.width);
    let report = &state.report;
    let words = report.checks.iter().map(|row| row.outcome.word().len());
    let words = words.max().unwrap_or(0) + 1;
    let checks = report.checks.iter().map(|row| check(row, words, columns));
    let mut shown: Vec<Line<'_>> = checks.collect();
    if report.percentiles.is_empty() {
        shown.push(Line::from(faint("nothing to judge yet")));
    } else {
        let grade = Span::from(report.grade.name()).fg(head::colour(report.grade));
        shown.push(Line::from(vec![faint("validity: "), grade]));
    }
    if report.grade > Grade::Valid {
        let reasons = report
            .reasons
            .iter()
            .flat_map(|reason| wrapped(reason, columns));
        shown.extend(reasons.map(Line::from));
    }
    lines(shown, area, frame);
}

fn check(row: &CheckRow, words: usize, columns: usize) -> Line<'static> {
    let word = left(row.outcome.word(), words);
    let figure = format!(" ({})", row.measured);
    let room = columns.saturating_sub(words + width(&figure));
    let text = match room {
        // The condition is shortened in favour of the figure, because the user knows it; only with
        // very little room the figure is dropped.
        0..=5 => cut(&row.text, columns.saturating_sub(words)),
        room => cut(&row.text, room) + &figure,
    };
    Line::from(vec![
        Span::from(word).fg(colour(row.outcome)),
        Span::from(text),
    ])
}

fn colour(outcome: CheckOutcome) -> Color {
    match outcome {
        CheckOutcome::Passed => GOOD,
        CheckOutcome::Failed => BAD,
        CheckOutcome::Undecided => DOUBTFUL,
    }
}

/// Breaks the text at blanks into lines of at most this width.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
