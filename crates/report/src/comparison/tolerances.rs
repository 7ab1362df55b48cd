//! The results of the tolerances of a comparison (`--fail-on p95:+10%`).

use super::{name, times};
use crate::layout;
use crate::style::Style;
use crate::table::{Column, indented, line, widest};
use loadline_units as units;
use loadline_verdict::{CheckOutcome, Figure, ToleranceResult, VISIBLE_IN, VisibleChange};

/// A heading and a line for each; nothing where there are none.
pub(crate) fn lines(results: &[ToleranceResult], style: Style, width: usize) -> Vec<String> {
    if results.is_empty() {
        return Vec::new();
    }
    let texts = results.iter().map(|result| indented(&result.text));
    let columns = [Column::Left(widest(texts) + 2), Column::Left(12)];
    let mut lines = vec![style.strong("Tolerances")];
    for result in results {
        let cells = line(columns, [&indented(&result.text), word(result.outcome)]);
        let cells = match result.outcome {
            CheckOutcome::Passed => style.good(&cells),
            CheckOutcome::Failed => style.bad(&cells),
            CheckOutcome::Undecided => cells,
        };
        lines.push(format!("{cells}{}", measured(result)).trim_end().to_owned());
    }
    let undecided = results.iter().filter_map(advice);
    lines.extend(undecided.flat_map(|text| layout::wrap(&text, width)));
    lines
}

/// The word for it.
pub(crate) fn word(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Undecided => "cannot tell",
        CheckOutcome::Passed | CheckOutcome::Failed => outcome.word(),
    }
}

/// `B / A is 1.205 (1.110 – 1.312)`.
pub(crate) fn measured(result: &ToleranceResult) -> String {
    let Some(ratio) = result.ratio else {
        return format!("no {} was compared", name(result.figure));
    };
    format!(
        "B / A is {} ({} – {})",
        times(ratio.ratio),
        times(ratio.lower),
        times(ratio.upper)
    )
}

/// Returns the reason why a comparison does not keep a tolerance, in a sentence with advice; `None`
/// if it does.
pub fn tolerance_sentence(result: &ToleranceResult) -> Option<String> {
    match result.outcome {
        CheckOutcome::Passed => None,
        CheckOutcome::Failed => Some(format!(
            "the {}'s {}, which --fail-on {} does not allow.",
            name(result.figure),
            measured(result),
            result.text
        )),
        CheckOutcome::Undecided => advice(result),
    }
}

fn advice(result: &ToleranceResult) -> Option<String> {
    if result.outcome != CheckOutcome::Undecided {
        return None;
    }
    let why = match result.ratio {
        Some(_) => format!(
            "the interval of B / A has {} in it; make longer runs, or repeat them (--repeat 6).",
            times(result.limit)
        ),
        None => format!(
            "there is no {} of both sides; make longer runs, or repeat them (--repeat 6).",
            name(result.figure)
        ),
    };
    Some(format!("Whether {} holds is not known: {why}", result.text))
}

/// Returns the change that a rule can detect with so many runs, given the baseline's noise; it is
/// printed before the runs are made.
pub fn visible_sentence(visible: &VisibleChange, runs: u32) -> String {
    let rule = &visible.rule;
    let (figure, text) = (name(rule.figure()), rule.text());
    let Some(ratio) = visible.ratio else {
        return format!(
            "{text}: what this baseline lets one see is not known; it takes a longer one, or \
             repeats (--repeat 6)."
        );
    };
    let share = units::share((ratio - 1.0).abs());
    let direction = match (ratio >= 1.0, rule.figure()) {
        (true, Figure::Rate) => "higher",
        (true, _) => "longer",
        (false, Figure::Rate) => "lower",
        (false, _) => "shorter",
    };
    let side = match runs {
        1 => "a run as long as this one".to_owned(),
        runs => units::counted(runs.into(), "run"),
    };
    let cases = (VISIBLE_IN * 10.0).round();
    let longer = match (ratio.ln() / rule.limit().ln()).abs() > 2.0 {
        true => " To see less, run longer, or repeat both sides (--repeat).",
        false => "",
    };
    format!(
        "{text}: with {side} a {figure} that is {share} {direction} is visible, in {cases} of 10 \
         cases.{longer}"
    )
}
