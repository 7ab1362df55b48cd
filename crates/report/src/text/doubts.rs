//! Of several runs those that may not be believed, with their gravest reason.

use super::Canvas;
use crate::layout;
use loadline_record::Summary;
use loadline_verdict::{Grade, RunResult, Validity};

/// The section of the doubtful runs of a series.
pub(super) fn of_series(runs: &[RunResult], canvas: Canvas) -> Vec<String> {
    let runs = runs.iter().enumerate();
    section(
        runs.map(|(index, run)| (label(index, &run.summary), &run.validity)),
        canvas,
    )
}

/// The number of a run in its file, and its side.
pub(crate) fn label(index: usize, run: &Summary) -> String {
    let name = run.role.as_ref().and_then(|role| role.name.as_ref());
    let side = name.map_or_else(String::new, |name| format!(" ({name})"));
    format!("{}{side}", index + 1)
}

/// The section of the doubtful ones among these runs, each of which has a label; where there are
/// none, all are valid.
pub(super) fn section<'a>(
    runs: impl Iterator<Item = (String, &'a Validity)>,
    canvas: Canvas,
) -> Vec<String> {
    let heading = canvas.heading("Validity", "");
    let lines = doubts(runs, canvas.width);
    if lines.is_empty() {
        return vec![heading + ": " + &canvas.ink.good(Grade::Valid.name())];
    }
    [vec![heading], lines].concat()
}

/// The doubtful runs of a series, a sentence for each reason.
pub(crate) fn doubt_sentences(runs: &[RunResult]) -> Vec<String> {
    let runs = runs.iter().enumerate();
    sentences(runs.map(|(index, run)| (label(index, &run.summary), &run.validity)))
}

fn doubts<'a>(runs: impl Iterator<Item = (String, &'a Validity)>, width: usize) -> Vec<String> {
    let sentences = sentences(runs);
    let lines = sentences
        .iter()
        .map(|text| layout::hanging("  - ", text, width));
    lines.flatten().collect()
}

/// The runs that may not be believed, by their gravest reason, with that of the first of them.
fn sentences<'a>(runs: impl Iterator<Item = (String, &'a Validity)>) -> Vec<String> {
    let mut groups: Vec<Doubt> = Vec::new();
    let mut count = 0;
    for (label, validity) in runs {
        count += 1;
        let grade = validity.grade();
        let Some(finding) = validity.findings.first().filter(|_| grade > Grade::Valid) else {
            continue;
        };
        let kind = finding.reason.name();
        let alike = |doubt: &&mut Doubt| doubt.grade == grade && doubt.kind == kind;
        match groups.iter_mut().find(alike) {
            Some(doubt) => doubt.runs.push(label),
            None => groups.push(Doubt {
                grade,
                kind,
                runs: vec![label],
                reason: finding.reason.sentence(),
            }),
        }
    }
    groups.sort_by_key(|doubt| std::cmp::Reverse(doubt.grade));
    groups.iter().map(|doubt| doubt.text(count)).collect()
}

/// Runs that may not be believed for one reason.
struct Doubt {
    grade: Grade,
    kind: &'static str,
    runs: Vec<String>,
    /// The reason of the first of them, in its numbers.
    reason: String,
}

impl Doubt {
    /// As a sentence, where there are so many runs in all.
    fn text(&self, count: usize) -> String {
        let (grade, runs, reason) = (self.grade.name(), self.runs.join(", "), &self.reason);
        if self.runs.len() == count && count > 2 {
            return format!("All {count} runs are {grade}, the first of them for this: {reason}");
        }
        if self.runs.len() == 1 {
            return format!("Run {runs} is {grade}: {reason}");
        }
        format!("Runs {runs} are {grade}, the first of them for this: {reason}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TextOptions;
    use crate::samples;

    #[test]
    fn a_run_that_may_not_be_believed_is_named() {
        let canvas = Canvas::new(&TextOptions::default());
        let judged = |summary| samples::result(&summary, Vec::new());
        let mut runs = vec![judged(samples::steady())];
        assert_eq!(of_series(&runs, canvas), ["Validity: valid"]);
        runs.push(judged(samples::late()));
        assert!(of_series(&runs, canvas)[1].starts_with("  - Run 2 is "));
        runs.push(judged(samples::late()));
        let lines = of_series(&runs, canvas);
        let all = of_series(&[&runs[1..], &runs[1..]].concat(), canvas);
        assert!(all[1].starts_with("  - All 4 runs are "), "{all:?}");
        assert_eq!(lines[0], "Validity");
        assert!(lines[1].starts_with("  - Runs 2, 3 are "), "{lines:?}");
        assert!(lines.iter().all(|line| layout::width(line) <= 80));
    }
}
