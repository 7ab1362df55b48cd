//! Saved runs compared: how they stand, what else differs between them, and which may not be
//! believed.

use super::{Canvas, TextOptions, assemble, validity_summary};
use crate::comparison::{ComparedFiles, comparison, mismatch_sentence, tolerance_lines};
use crate::layout;
use crate::style::Style;
use loadline_verdict::Mismatch;

/// The comparison of saved runs as text, ending in a line feed.
pub fn comparison_of_files(compared: &ComparedFiles<'_>, options: &TextOptions) -> String {
    let canvas = Canvas::new(options);
    let [base, with] = compared.plans();
    let comparison = comparison(compared.comparison, base, with, options);
    let labelled = compared.each().map(|(side, run)| {
        let place = run.number.map_or_else(String::new, |n| format!("{n} of "));
        let file = layout::harmless(&run.file.display().to_string());
        (format!("{place}{file} ({side})"), &run.result.findings)
    });
    let sections = [
        comparison.lines().map(str::to_owned).collect(),
        tolerance_lines(
            &compared.tolerances,
            Style::new(options.color),
            canvas.width,
        ),
        warnings(&compared.mismatches(), canvas),
        validity_summary::section(labelled, canvas),
    ];
    assemble(&sections, options)
}

fn warnings(mismatches: &[Mismatch], canvas: Canvas) -> Vec<String> {
    if mismatches.is_empty() {
        return Vec::new();
    }
    let each = mismatches.iter().flat_map(|mismatch| {
        let text = layout::harmless(&mismatch_sentence(mismatch));
        layout::hanging("  ! ", &text, canvas.width)
    });
    std::iter::once(canvas.heading("Warnings", ""))
        .chain(each)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::FileRun;
    use crate::{comparison_of_files_json, samples};
    use loadline_plan::Clock;
    use loadline_verdict::{ComparedMetrics, ComparedNames, Comparison, RunResult};
    use std::path::Path;

    fn comparison() -> Comparison {
        Comparison {
            base_runs: 1,
            with_runs: 2,
            paired: false,
            figures: Vec::new(),
            bounds: Vec::new(),
            base_failed: 0.0,
            with_failed: 0.0,
            names: ComparedNames::default(),
            of_rules: Default::default(),
            metrics: ComparedMetrics::default(),
        }
    }

    fn compared<'a>(
        comparison: &'a Comparison,
        base: &'a RunResult,
        with: &'a RunResult,
    ) -> ComparedFiles<'a> {
        let run = |file, number, result| FileRun {
            file: Path::new(file),
            number,
            result,
        };
        ComparedFiles {
            comparison,
            base: vec![run("a.run", None, base)],
            with: vec![run("b.run", Some(1), base), run("b.run", Some(3), with)],
            tolerances: Vec::new(),
            slower_fails: false,
        }
    }

    #[test]
    fn doubtful_runs_and_other_conditions_are_told_below_the_figures() {
        let (sides, base, mut with) = (comparison(), samples::steady(), samples::late());
        with.plan.connection.clock = Clock::User;
        with.environment.kernel = Some("5.15".to_owned());
        let (base, with) = (RunResult::new(base), RunResult::new(with));
        let all = compared(&sides, &base, &with);
        let text = comparison_of_files(&all, &TextOptions::default());
        let (_, below) = text.split_once("Warnings\n").expect("warnings");
        insta::assert_snapshot!(below);
        assert!(text.lines().all(|line| layout::width(line) <= 80), "{text}");
    }

    #[test]
    fn runs_made_alike_and_believed_get_one_word_more() {
        let (sides, base) = (comparison(), RunResult::new(samples::steady()));
        let text = comparison_of_files(&compared(&sides, &base, &base), &TextOptions::default());
        let plan = &base.summary.plan;
        let figures = crate::comparison(&sides, plan, plan, &TextOptions::default());
        assert_eq!(text, figures + "\nValidity: valid\n");
    }

    #[test]
    fn json_has_the_validity_of_each_run_and_what_differs() {
        let (sides, base, mut with) = (comparison(), samples::steady(), samples::late());
        with.plan.connection.clock = Clock::User;
        let (base, with) = (RunResult::new(base), RunResult::new(with));
        let found = comparison_of_files_json(&compared(&sides, &base, &with));
        let files = |side: &str| found[side]["files"].as_array().cloned().unwrap();
        assert_eq!((files("a").len(), files("b").len()), (1, 2));
        assert_eq!(files("a")[0]["validity"]["grade"], "valid");
        assert_eq!(files("a")[0]["run"], serde_json::Value::Null);
        let late = &files("b")[1];
        assert_eq!((&late["file"], &late["run"]), (&"b.run".into(), &3.into()));
        assert_ne!(late["validity"]["grade"], "valid");
        assert_eq!(late["validity"]["findings"][0]["kind"], "late");
        assert_eq!(found["warnings"][0]["kind"], "clock");
        assert_eq!(found["warnings"].as_array().map(Vec::len), Some(1));
    }
}
