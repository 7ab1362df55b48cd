//! The head: the target, the load, the progress of the run and the remaining time.

use super::{BAD, DOUBTFUL, GOOD, MARK, faint, lines};
use crate::state::State;
use loadline_report::{bar, cut, width};
use loadline_verdict::Grade;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Stylize};
use ratatui::text::{Line, Span};
use std::time::Instant;

/// The columns of the progress bar.
const BAR: usize = 20;

pub(crate) fn draw(state: &State, now: Instant, area: Rect, frame: &mut Frame<'_>) {
    let columns = usize::from(area.width);
    let grade = grade(state);
    let room = columns.saturating_sub(grade.width() + 2);
    let target = cut(&format!("{}{}", state.title, state.head.target), room);
    let blanks = columns.saturating_sub(width(&target) + grade.width());
    let first = Line::from(vec![
        Span::from(target).bold(),
        Span::from(" ".repeat(blanks)),
        grade,
    ]);
    let second = Line::from(cut(&state.head.load, columns));
    lines(vec![first, second, clock(state, now)], area, frame);
}

/// Returns the grade of the result if the run ended now.
fn grade(state: &State) -> Span<'static> {
    if state.report.percentiles.is_empty() {
        return faint("no figures yet");
    }
    let grade = state.report.grade;
    Span::from(format!("{} so far", grade.name())).fg(colour(grade))
}

pub(crate) fn colour(grade: Grade) -> Color {
    match grade {
        Grade::Valid => GOOD,
        Grade::Suspect => DOUBTFUL,
        Grade::Invalid => BAD,
    }
}

/// Returns the bar, the time, the remaining time, and the changed load.
fn clock(state: &State, now: Instant) -> Line<'static> {
    let Some(progress) = state.progress(now) else {
        return Line::from("waiting for the load to begin");
    };
    let mut spans = Vec::new();
    if let Some(share) = progress.share() {
        let full = bar((share * 1e6) as u64, 1_000_000, BAR);
        let rest = "░".repeat(BAR.saturating_sub(width(&full)));
        spans.extend([Span::from(full).fg(MARK), faint(rest), Span::from("  ")]);
    }
    let mut words = vec![match progress.warming_up {
        true => "warming up".to_owned(),
        false => progress.position(),
    }];
    words.extend(progress.left());
    spans.push(Span::from(words.join(", ")));
    if let Some(level) = &state.report.level {
        spans.extend([
            Span::from("  load: "),
            Span::from(level.clone()).fg(DOUBTFUL).bold(),
        ]);
    }
    Line::from(spans)
}
