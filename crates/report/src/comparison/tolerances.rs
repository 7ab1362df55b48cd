//! What the tolerances of a comparison (`--fail-on p95:+10%`) came out as.

use super::{name, times};
use crate::layout;
use crate::style::Style;
use crate::table::{Column, indented, line, widest};
use loadline_verdict::{CheckOutcome, ToleranceResult};

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

fn word(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Undecided => "cannot tell",
        other => other.word(),
    }
}

/// `B / A is 1.205 (1.110 – 1.312)`.
fn measured(result: &ToleranceResult) -> String {
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

/// Why a comparison does not keep a tolerance, in a sentence that says what to do; `None` where it
/// does.
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
