//! The summary in the form of older versions of k6: groups with their checks, then all metrics in
//! one list, with marks before those that have thresholds.

use super::block::{check_texts, table_of};
use super::data::Tree;
use super::paint::{Paint, Part};
use super::{Ended, Shown};

/// The indentation of all lines, in columns.
const INDENT: usize = 5;

/// Formats the summary of k6's `--summary-mode legacy`.
pub fn legacy(ended: &Ended<'_>) -> String {
    let tree = Tree {
        tally: &ended.totals.tally,
        md5_hex: &|_| String::new(),
        is_keyed: false,
    };
    let mut text = "\n".to_owned();
    let paint = Paint::of(ended, true);
    group(&tree, "", INDENT, (paint, &mut text));
    let shown = ended.shown();
    for (shown, line) in shown.iter().zip(table_of(ended, &shown, paint)) {
        text.push_str(&marked(ended, shown, (paint, &line)));
        text.push('\n');
    }
    text + "\n"
}

/// Formats the checks of a group, then the groups in it.
fn group(tree: &Tree<'_>, path: &str, indent: usize, (paint, text): (Paint, &mut String)) {
    let checks = tree.check_counts(path);
    for check in &checks {
        let (first, second) = check_texts(check);
        let part = Part::held(second.is_none());
        let further = second.map(|counts| format!("\n{:1$}{counts}", "", indent + 1));
        let both = format!("{:indent$}{first}{}", "", further.unwrap_or_default());
        text.push_str(&paint.text(part, &both));
        text.push('\n');
    }
    if !checks.is_empty() {
        text.push('\n');
    }
    for child in tree.children(path) {
        let name = child.rsplit("::").next().unwrap_or_default();
        text.push_str(&format!("{:indent$}█ {name}\n\n", ""));
        group(tree, &child, indent + 2, (paint, &mut *text));
    }
}

/// Formats the line of a metric after its mark; the mark of a submetric is before its own name.
fn marked(ended: &Ended<'_>, shown: &Shown, (paint, line): (Paint, &str)) -> String {
    let name = shown.name();
    let mut own = ended
        .outcomes
        .iter()
        .filter(|outcome| outcome.metric == name);
    let mark = match own.next() {
        None => " ".to_owned(),
        Some(first) if first.is_ok && own.all(|outcome| outcome.is_ok) => {
            paint.text(Part::Good, "✓")
        }
        Some(_) => paint.text(Part::Bad, "✗"),
    };
    match line.strip_prefix("  ").filter(|_| shown.suffix.is_some()) {
        Some(rest) => format!("     {mark} {rest}"),
        None => format!("   {mark} {line}"),
    }
}
