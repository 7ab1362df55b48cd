//! The names of two sides, compared: the figures of each name under it, and what only one side has.

use super::{FEW_FAILED, row};
use crate::layout;
use crate::style::Style;
use crate::table::indented;
use loadline_metrics::Key;
use loadline_units as units;
use loadline_verdict::{ComparedName, ComparedNames};

/// The most names that are shown; more of them are in the JSON.
pub(crate) const MOST: usize = 20;
/// The most names of one side that are listed.
const MOST_LISTED: usize = 5;

/// Returns the section, if there is anything to report about names.
pub(super) fn lines(names: &ComparedNames, width: usize, style: Style) -> Vec<String> {
    if names.is_empty() {
        return Vec::new();
    }
    let heading = super::cells(["", "A", "B", "B / A", "  95 % interval"]);
    let heading = format!(
        "By name{}",
        heading.strip_prefix("     ").unwrap_or(&heading)
    );
    let mut lines = vec![style.strong(heading.trim_end())];
    for name in names.common.iter().take(MOST) {
        lines.push(indented(&label(name)));
        lines.extend(
            name.figures
                .iter()
                .map(|figure| format!("  {}", row(figure, style))),
        );
        lines.extend(failures(name));
    }
    for paragraph in notes(names, MOST) {
        lines.extend(layout::wrap(&paragraph, width));
    }
    lines.push(String::new());
    lines
}

/// Returns the label of the name.
pub(crate) fn label(name: &ComparedName) -> String {
    layout::harmless(&name.key.to_string())
}

fn failures(name: &ComparedName) -> Option<String> {
    let (base, with) = (name.base_failed, name.with_failed);
    (base.max(with) > FEW_FAILED).then(|| {
        let cells = ["failed", &units::share(base), &units::share(with), "", ""];
        format!("  {}", super::cells(cells)).trim_end().to_owned()
    })
}

/// Returns notes on the names that are left out of so many rows, and on what the intervals apply
/// to.
pub(crate) fn notes(names: &ComparedNames, shown: usize) -> Vec<String> {
    let mut notes = Vec::new();
    let more = names.common.len().saturating_sub(shown) + names.more;
    if more > 0 {
        notes.push(format!(
            "{} with fewer requests are not shown.",
            units::counted(more as u64, "further name")
        ));
    }
    if names.open_percentiles > 0 {
        notes.push(format!(
            "{} of names are left out: requests without a response at the end of a run could move \
             them.",
            units::counted(names.open_percentiles as u64, "percentile")
        ));
    }
    notes.extend(only("A", &names.only_base));
    notes.extend(only("B", &names.only_with));
    if !names.common.is_empty() {
        notes.push(
            "The confidence of 95 % is for the intervals of all names together, apart from those \
             above."
                .to_owned(),
        );
    }
    notes
}

fn only(side: &str, keys: &[Key]) -> Option<String> {
    let listed = keys.iter().take(MOST_LISTED);
    let mut listed: Vec<String> = listed
        .map(|key| layout::harmless(&key.to_string()))
        .collect();
    let more = keys.len().saturating_sub(MOST_LISTED);
    if more > 0 {
        listed.push(format!("{} more", units::count(more as u64)));
    }
    (!keys.is_empty()).then(|| format!("Only {side} has {}.", listed.join(", ")))
}
