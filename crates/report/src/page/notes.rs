//! The notes on the course of a run: what people wrote, and what the record shows by itself.

use crate::{layout, wording};
use loadline_page::NoteRow;
use loadline_plan::Level;
use loadline_record::{Ended, LoadChange, Note, Summary};

/// The most characters of a note in a plot.
const LONGEST_MARK: usize = 24;

/// Returns the notes in chronological order: the changes of the load, pauses, what people wrote,
/// and an end that was not planned.
pub(super) fn rows(summary: &Summary) -> Vec<NoteRow> {
    let changes = summary.changes.iter().map(|one| of_change(one, summary));
    let written = summary.notes.iter().map(of_note);
    let mut rows: Vec<NoteRow> = changes.chain(written).chain(of_end(summary)).collect();
    rows.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
    rows
}

/// Returns the times of the load's changes and of the notes, in seconds, each in so few words that
/// marks close to each other have room.
pub(super) fn marks(summary: &Summary) -> Vec<(f64, String)> {
    let changes = summary.changes.iter().map(|change| {
        let words = wording::change_text(change, &summary.plan);
        (change.at_ns as f64 / 1e9, words.replace(" of the plan", ""))
    });
    let notes = summary.notes.iter().map(|note| {
        let words = layout::cut(&layout::harmless(&note.text), LONGEST_MARK);
        (note.at_ns as f64 / 1e9, words)
    });
    let mut marks: Vec<(f64, String)> = changes.chain(notes).collect();
    marks.sort_by(|one, other| one.0.total_cmp(&other.0));
    marks
}

fn of_change(change: &LoadChange, summary: &Summary) -> NoteRow {
    let words = wording::change_text(change, &summary.plan);
    let text = match change.level {
        Level::Paused => "Load paused".to_owned(),
        Level::Share(_) | Level::Rate(_) | Level::Users(_) => format!("Load changed to {words}"),
    };
    row(change.at_ns as f64 / 1e9, text)
}

fn of_note(note: &Note) -> NoteRow {
    NoteRow {
        is_written: true,
        ..row(note.at_ns as f64 / 1e9, layout::harmless(&note.text))
    }
}

/// Returns the note on an end that was not planned.
fn of_end(summary: &Summary) -> Option<NoteRow> {
    let text = match &summary.ended {
        Ended::Failed(why) => format!("A worker was lost: {}", layout::harmless(why)),
        Ended::Aborted(check) => format!("Aborted by {}", layout::harmless(check)),
        Ended::Threw(_) => "Aborted by an error of the script".to_owned(),
        Ended::Interrupted => "Stopped".to_owned(),
        Ended::Duration
        | Ended::Requests
        | Ended::Stages
        | Ended::Precise
        | Ended::Decided
        | Ended::Unknown => return None,
    };
    Some(row(summary.duration_ns as f64 / 1e9, text))
}

fn row(at_s: f64, text: String) -> NoteRow {
    NoteRow {
        at_s: (at_s * 1e3).round() / 1e3,
        at: match at_s < 0.0 {
            true => "in the warm-up".to_owned(),
            false => format!("{at_s:.1} s"),
        },
        text,
        is_written: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn notes_changes_and_an_early_end_are_in_the_order_of_time() {
        let mut run = samples::steady();
        run.duration_ns = 20_000_000_000;
        run.changes = vec![
            LoadChange {
                at_ns: -1,
                level: Level::Share(1_050),
                scenario: None,
            },
            LoadChange {
                at_ns: 9_000_000_000,
                level: Level::Paused,
                scenario: None,
            },
        ];
        let text = "deployed a very long name of a version";
        run.notes = vec![Note::new(3_240_000_000, text).unwrap()];
        run.ended = Ended::Failed("worker 1 was killed".to_owned());
        let rows = rows(&run);
        let told: Vec<_> = (rows.iter())
            .map(|row| (&*row.at, &*row.text, row.is_written))
            .collect();
        assert_eq!(
            told,
            [
                ("in the warm-up", "Load changed to 105 % of the plan", false),
                ("3.2 s", "deployed a very long name of a version", true),
                ("9.0 s", "Load paused", false),
                ("20.0 s", "A worker was lost: worker 1 was killed", false),
            ]
        );
        let marks = marks(&run);
        assert_eq!(marks.len(), 3);
        let (first, second, third) = (&marks[0], &marks[1], &marks[2]);
        assert_eq!((&*first.1, second.0, &*third.1), ("105 %", 3.24, "paused"));
        assert!(layout::width(&second.1) <= LONGEST_MARK, "{second:?}");
        run.ended = Ended::Duration;
        assert_eq!(super::rows(&run).len(), 3);
    }
}
