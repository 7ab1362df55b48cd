//! The figures that a closed-loop tool would have shown of an open load: two columns and the
//! reason.

use super::{Canvas, validity_summary};
use crate::closed_loop::{ClosedLoop, Difference};
use crate::table::{Column, indented, line};
use crate::{layout, percentiles, quantity};
use loadline_record::Summary;
use loadline_units as units;
use loadline_verdict::RunResult;

const PERCENTILES: [f64; 6] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9];
const TRUTH: &str = "what this run shows";
const NAIVE: &str = "what a closed-loop tool would have shown";
/// Columns of a row's name.
const NAMES: usize = 9;
/// Columns between the two figures.
const GAP: usize = 4;

/// Returns the figures of this run beside those that a closed-loop tool would have shown, with the
/// reason for the difference; empty for a closed load or without a response time.
pub(super) fn always(summary: &Summary, canvas: Canvas) -> Vec<String> {
    ClosedLoop::of(summary).map_or_else(Vec::new, |found| lines(&found, canvas))
}

/// Returns the figures that a closed-loop tool would have shown, in one sentence, if the target
/// stalled.
pub(super) fn instead(summary: &Summary) -> Option<String> {
    ClosedLoop::of(summary)?.instead()
}

/// The same for a report: only where the target stalled.
pub(super) fn lines_after_stall(summary: &Summary, canvas: Canvas) -> Vec<String> {
    ClosedLoop::of(summary)
        .filter(|found| found.difference() == Difference::Stall)
        .map_or_else(Vec::new, |found| lines(&found, canvas))
}

/// In which runs of a series the target stalled, with what a closed-loop tool would have shown of
/// the first of them.
pub(super) fn of_series(runs: &[RunResult], canvas: Canvas) -> Vec<String> {
    let stalled = runs.iter().enumerate().filter_map(|(index, run)| {
        let note = ClosedLoop::of(&run.summary)?.note()?;
        Some((validity_summary::label(index, &run.summary), note))
    });
    let (labels, notes): (Vec<String>, Vec<String>) = stalled.unzip();
    let text = match (labels.as_slice(), notes.first()) {
        ([only], Some(note)) => format!("The target stalled in run {only}. {note}"),
        (several, Some(note)) => format!(
            "The target stalled in runs {}. Of the first of them: {note}",
            several.join(", ")
        ),
        (_, None) => return Vec::new(),
    };
    canvas.paragraph(&text)
}

fn lines(found: &ClosedLoop<'_>, canvas: Canvas) -> Vec<String> {
    let both = [&found.times.response, &found.shown];
    let mut lines = vec![header(canvas)];
    let percentile = |p: f64| {
        let [truth, naive] = both.map(|times| percentiles::cell(times, p));
        row(&quantity::percentile(p), &truth, &naive)
    };
    lines.extend(PERCENTILES.map(percentile));
    let [truth, naive] = both.map(|times| units::time_cell(times.max_ns() as f64));
    lines.push(row("max", &truth, &naive));
    lines.push(String::new());
    lines.extend(canvas.paragraph(&found.reason()));
    lines
}

fn header(canvas: Canvas) -> String {
    canvas.style.strong(&row("", TRUTH, NAIVE))
}

fn row(name: &str, truth: &str, naive: &str) -> String {
    let columns = [
        Column::Left(NAMES),
        Column::Right(layout::width(TRUTH)),
        Column::Right(layout::width(NAIVE) + GAP),
    ];
    line(columns, [&indented(name), truth, naive])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::text::{TextOptions, assemble};

    /// At 80 columns.
    fn omission(summary: &Summary) -> Option<String> {
        let options = TextOptions::default();
        let lines = always(summary, Canvas::new(&options));
        (!lines.is_empty()).then(|| assemble(&[lines], &options))
    }

    #[test]
    fn a_stall_is_hidden_from_the_other_column() {
        insta::assert_snapshot!(omission(&samples::stalled()).unwrap());
    }

    #[test]
    fn a_stall_is_hidden_where_connections_grew() {
        let summary = samples::stalled_while_growing();
        insta::assert_snapshot!(omission(&summary).unwrap());
        let canvas = Canvas::new(&TextOptions::default());
        assert!(!lines_after_stall(&summary, canvas).is_empty());
    }

    #[test]
    fn a_stall_too_short_for_the_p99_is_shown_all_the_same() {
        let mut summary = samples::steady();
        let canvas = Canvas::new(&TextOptions::default());
        assert_eq!(lines_after_stall(&summary, canvas), Vec::<String>::new());
        let times = &mut summary.total.times;
        times.response.record_many_ns(200_000_000, 60);
        times.blocked.record_many_ns(199_000_000, 60);
        times.service.record_many_ns(1_000_000, 60);
        assert!(!lines_after_stall(&summary, canvas).is_empty());
    }

    #[test]
    fn of_a_series_the_runs_with_a_stall_are_named() {
        let canvas = Canvas::new(&TextOptions::default());
        let told = |runs: Vec<Summary>| {
            let judged = |summary| samples::result(&summary, Vec::new());
            let runs: Vec<RunResult> = runs.into_iter().map(judged).collect();
            let lines = of_series(&runs, canvas);
            assert!(lines.iter().all(|line| layout::width(line) <= 80));
            let lines = lines.iter().map(|line| line.trim());
            lines.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(told(vec![samples::steady(), samples::closed()]), "");
        let one = told(vec![samples::steady(), samples::stalled()]);
        let begin = "The target stalled in run 2. A closed-loop tool would have shown a p90 of ";
        assert!(one.starts_with(begin), "{one}");
        let two = told(vec![
            samples::stalled(),
            samples::steady(),
            samples::stalled(),
        ]);
        let begin = "The target stalled in runs 1, 3. Of the first of them: A closed-loop tool";
        assert!(two.starts_with(begin), "{two}");
    }

    #[test]
    fn without_a_stall_both_agree() {
        insta::assert_snapshot!(omission(&samples::steady()).unwrap());
    }

    #[test]
    fn our_own_lateness_is_named() {
        insta::assert_snapshot!(omission(&samples::late()).unwrap());
    }

    #[test]
    fn there_is_nothing_to_compare_in_a_closed_load_or_without_an_answer() {
        assert_eq!(omission(&samples::closed()), None);
        assert_eq!(omission(&samples::unanswered()), None);
    }
}
