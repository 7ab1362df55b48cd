//! The results as a table of Markdown: what a document shows of a study, with when and where it was
//! made.

use crate::saved::SavedRun;
use crate::table::{COLUMNS, cells, groups, note};
use loadline_page::Fact;

/// The results of runs that were made, repeats as their medians, under what is known of the study.
pub fn markdown(runs: &[SavedRun], title: &str, started_at: &str, facts: &[Fact]) -> String {
    let mut text = format!("# {title}\n\n");
    let begun = (!started_at.is_empty()).then(|| format!("- begun: {started_at}\n"));
    text.extend(begun);
    text.extend(
        facts
            .iter()
            .map(|fact| format!("- {}: {}\n", fact.name, fact.text)),
    );
    let groups = groups(runs);
    let columns: Vec<(&str, Vec<Option<String>>)> = COLUMNS
        .iter()
        .map(|(title, cell)| (*title, cells(&groups, *cell)))
        .filter(|(_, cells)| cells.iter().any(Option::is_some))
        .collect();
    if columns.is_empty() {
        return text;
    }
    let titles: Vec<&str> = columns.iter().map(|(title, _)| *title).collect();
    text.push_str(&format!("\n{}", row(&titles)));
    text.push_str(&row(&vec!["---"; columns.len()]));
    for index in 0..groups.len() {
        let cell = |(_, cells): &(&str, Vec<Option<String>>)| cells[index].clone();
        let cells: Vec<String> = columns
            .iter()
            .map(|column| cell(column).unwrap_or_default())
            .collect();
        text.push_str(&row(&cells));
    }
    let notes = groups
        .iter()
        .filter_map(|runs| Some((runs.first()?.header.name.as_str(), note(runs)?)));
    let notes: Vec<String> = notes
        .map(|(name, note)| format!("- {name}: {note}\n"))
        .collect();
    if !notes.is_empty() {
        text.push('\n');
        text.extend(notes);
    }
    text
}

/// A row of a table.
fn row<T: AsRef<str>>(cells: &[T]) -> String {
    let cells = cells.iter().map(|cell| cell.as_ref().replace('|', "\\|"));
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::saved::samples::{done, failed};

    #[test]
    fn a_table_has_a_row_for_each_run_under_what_is_known_of_the_study() {
        let facts = [Fact {
            name: "machine".to_owned(),
            text: "2 cores".to_owned(),
        }];
        let runs = [
            done("wrk-c10", 1, 1_000.0),
            done("wrk-c10", 2, 1_500.0),
            failed("ab|c10", 1),
        ];
        insta::assert_snapshot!(markdown(&runs, "two", "2024-05-06T07:08:09Z", &facts));
    }

    #[test]
    fn nothing_is_no_table() {
        assert_eq!(markdown(&[], "none", "", &[]), "# none\n\n");
    }
}
