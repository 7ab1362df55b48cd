//! The validity summary of several runs: the suspect and invalid ones, with their gravest reason.

use super::Canvas;
use crate::layout;
use loadline_record::Summary;
use loadline_verdict::{Findings, Grade, RunResult};

/// The validity summary of a series.
pub(super) fn of_series(runs: &[RunResult], canvas: Canvas) -> Vec<String> {
    let runs = runs.iter().enumerate();
    section(
        runs.map(|(index, run)| (label(index, &run.summary), &run.findings)),
        canvas,
    )
}

/// The number of a run in its file, and its side.
pub(crate) fn label(index: usize, run: &Summary) -> String {
    let name = run.role.as_ref().and_then(|role| role.name.as_ref());
    let side = name.map_or_else(String::new, |name| format!(" ({name})"));
    format!("{}{side}", index + 1)
}

/// Returns the validity summary of these labelled runs: a list of those that are not valid, or a
/// sentence that all are.
pub(super) fn section<'a>(
    runs: impl Iterator<Item = (String, &'a Findings)>,
    canvas: Canvas,
) -> Vec<String> {
    let heading = canvas.heading("Validity", "");
    let lines = lines(runs, canvas.width);
    if lines.is_empty() {
        return vec![heading + ": " + &canvas.style.good(Grade::Valid.name())];
    }
    [vec![heading], lines].concat()
}

/// The suspect and invalid runs of a series, a sentence for each reason.
pub(crate) fn validity_sentences(runs: &[RunResult]) -> Vec<String> {
    let runs = runs.iter().enumerate();
    sentences(runs.map(|(index, run)| (label(index, &run.summary), &run.findings)))
}

fn lines<'a>(runs: impl Iterator<Item = (String, &'a Findings)>, width: usize) -> Vec<String> {
    let sentences = sentences(runs);
    let lines = sentences
        .iter()
        .map(|text| layout::hanging("  - ", text, width));
    lines.flatten().collect()
}

/// The suspect and invalid runs, grouped by their gravest reason, in the words of the first.
fn sentences<'a>(runs: impl Iterator<Item = (String, &'a Findings)>) -> Vec<String> {
    let mut groups: Vec<Group> = Vec::new();
    let mut count = 0;
    for (label, findings) in runs {
        count += 1;
        let grade = findings.grade();
        let Some(finding) = findings.list.first().filter(|_| grade > Grade::Valid) else {
            continue;
        };
        let kind = finding.cause.name();
        let alike = |group: &&mut Group| group.grade == grade && group.kind == kind;
        match groups.iter_mut().find(alike) {
            Some(group) => group.runs.push(label),
            None => groups.push(Group {
                grade,
                kind,
                runs: vec![label],
                reason: finding.cause.sentence(),
            }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.grade));
    groups.iter().map(|group| group.text(count)).collect()
}

/// Suspect or invalid runs that share their gravest reason.
struct Group {
    grade: Grade,
    kind: &'static str,
    runs: Vec<String>,
    /// The reason of the first of them, in its numbers.
    reason: String,
}

impl Group {
    /// As a sentence, where there are this many runs in all.
    fn text(&self, count: usize) -> String {
        let (grade, runs, reason) = (self.grade.name(), self.runs.join(", "), &self.reason);
        if self.runs.len() == count && count > 2 {
            return format!("All {count} runs are {grade}; the reason of the first: {reason}");
        }
        if self.runs.len() == 1 {
            return format!("Run {runs} is {grade}: {reason}");
        }
        format!("Runs {runs} are {grade}; the reason of the first: {reason}")
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
