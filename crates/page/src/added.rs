//! Tables that another program adds to the page of a run, such as those of the tool whose command
//! line started the run.
//!
//! The program passes them as JSON and needs to know nothing about pages. A cell is text, and the
//! page shows it as plain text whatever it contains.

use crate::{Headline, RunPage, Tone};
use serde::{Deserialize, Serialize};

/// Tables under a heading of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct AddedTables {
    /// The heading.
    pub title: String,
    /// The program's own verdicts on the test; empty if it does not judge it.
    #[serde(default)]
    pub verdicts: Vec<AddedVerdict>,
    /// The tables, in order.
    pub tables: Vec<AddedTable>,
}

/// A program's verdict on a test by its own rules, in few words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct AddedVerdict {
    /// The subject of the verdict: `Thresholds`, `Failed`.
    pub name: String,
    /// The result: `2 of 3 crossed`.
    pub figure: String,
    /// Details of the result: the names of the thresholds that were crossed.
    #[serde(default)]
    pub note: String,
    /// True if the result is bad.
    #[serde(default)]
    pub is_bad: bool,
}

/// A table that was added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct AddedTable {
    /// The heading of the table.
    pub title: String,
    /// The columns.
    pub columns: Vec<AddedColumn>,
    /// The rows, each with a cell for every column.
    pub rows: Vec<Vec<String>>,
    /// True if the last row is the total of all others.
    #[serde(default)]
    pub has_total: bool,
}

/// A column of a table that was added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct AddedColumn {
    /// The heading of the column.
    pub name: String,
    /// True if the cells are numbers.
    #[serde(default)]
    pub is_number: bool,
}

/// The error of JSON that does not hold tables.
#[derive(Debug, thiserror::Error)]
pub enum NoTables {
    /// The text is not JSON, or JSON of another shape.
    #[error("these are no tables: {0}. docs/guide/html.md shows how they are written.")]
    Unreadable(#[from] serde_json::Error),
    /// A row has more cells than there are columns, or fewer.
    #[error(
        "row {row} of the table {title:?} has {cells} cells for {columns} columns. Give each row a \
         cell for every column."
    )]
    Uneven {
        /// The title of the table.
        title: String,
        /// The number of the row, from 1.
        row: usize,
        /// The number of cells in the row.
        cells: usize,
        /// The number of columns of the table.
        columns: usize,
    },
}

impl AddedTables {
    /// Reads tables from JSON, and escapes control characters in their texts.
    ///
    /// # Errors
    /// If the JSON does not hold such tables.
    pub fn parse(json: &[u8]) -> Result<Self, NoTables> {
        let mut tables: AddedTables = serde_json::from_slice(json)?;
        for table in &tables.tables {
            let columns = table.columns.len();
            let uneven = table.rows.iter().position(|row| row.len() != columns);
            if let Some(index) = uneven {
                return Err(NoTables::Uneven {
                    title: table.title.clone(),
                    row: index + 1,
                    cells: table.rows[index].len(),
                    columns,
                });
            }
        }
        tables.each_text(|text| *text = harmless(text));
        Ok(tables)
    }

    fn each_text(&mut self, mut change: impl FnMut(&mut String)) {
        change(&mut self.title);
        for verdict in &mut self.verdicts {
            [&mut verdict.name, &mut verdict.figure, &mut verdict.note]
                .into_iter()
                .for_each(&mut change);
        }
        for table in &mut self.tables {
            change(&mut table.title);
            let names = table.columns.iter_mut().map(|column| &mut column.name);
            names.for_each(&mut change);
            table.rows.iter_mut().flatten().for_each(&mut change);
        }
    }
}

/// Puts the program's verdicts at the head of a page, each in place of a headline of the same name,
/// and adapts the page to them: after a bad verdict, a valid result loses its colour; Loadline's
/// count of failures is renamed to requests without a response; and sentences that name an option
/// of Loadline are removed.
pub(crate) fn put_first(page: &mut RunPage, verdicts: &[AddedVerdict]) {
    for verdict in verdicts {
        let headline = Headline {
            name: verdict.name.clone(),
            figure: verdict.figure.clone(),
            note: verdict.note.clone(),
            tone: if verdict.is_bad {
                Tone::Bad
            } else {
                Tone::Good
            },
        };
        let mut ours = page.headlines.iter_mut();
        match ours.find(|ours| ours.name == headline.name) {
            Some(ours) => *ours = headline,
            None => page.headlines.push(headline),
        }
    }
    if page.validity.tone == Tone::Good && verdicts.iter().any(|verdict| verdict.is_bad) {
        page.validity.tone = Tone::Plain;
    }
    for fact in &mut page.facts {
        fact.text = fact.text.replace(" failed", " without a response");
    }
    for column in &mut page.name_columns {
        if column == "failed" {
            "no response".clone_into(column);
        }
    }
    let texts = page.warnings.iter_mut().chain(&mut page.validity.findings);
    let advice = page.errors.iter_mut().map(|row| &mut row.advice);
    let notes = page.time_notes.iter_mut().chain(&mut page.name_notes);
    for text in texts.chain(advice).chain(notes) {
        *text = without_options(text);
    }
}

/// Removes the sentences that name an option of a command line. If no sentence is left, returns the
/// first clause, which stands before the advice.
fn without_options(text: &str) -> String {
    let sentences: Vec<&str> = text.split_inclusive(". ").map(str::trim_end).collect();
    let kept: Vec<&str> = sentences
        .iter()
        .copied()
        .filter(|sentence| !names_option(sentence))
        .collect();
    match (kept.is_empty(), sentences.first()) {
        (true, Some(first)) => {
            let clause = first.split(['(', ';']).next().unwrap_or(first).trim_end();
            match names_option(clause) {
                true => String::new(),
                false => format!("{}.", clause.trim_end_matches(['.', ',', ':'])),
            }
        }
        _ => kept.join(" "),
    }
}

/// True if the text contains an option: `--drain`, `(-r)`, `-c`.
fn names_option(sentence: &str) -> bool {
    sentence.split_whitespace().any(|word| {
        let option = word.trim_start_matches(['(', '`', '\'']).strip_prefix('-');
        option.is_some_and(|rest| {
            let rest = rest.strip_prefix('-').unwrap_or(rest);
            rest.starts_with(|letter: char| letter.is_ascii_alphabetic())
        })
    })
}

/// Returns the text with its control characters escaped, except for line breaks and tabs.
fn harmless(text: &str) -> String {
    let is_kept = |character: char| !character.is_control() || matches!(character, '\n' | '\t');
    text.chars()
        .map(|character| match is_kept(character) {
            true => character.to_string(),
            false => character.escape_default().to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = r#"{"title": "T", "tables": [{"title": "a", "columns":
        [{"name": "n"}, {"name": "m", "is_number": true}], "rows": [["x\u0007\ny", "1"]]}]}"#;

    #[test]
    fn tables_are_read_and_their_text_is_harmless() {
        let tables = AddedTables::parse(ONE.as_bytes()).expect("tables");
        let [table] = tables.tables.as_slice() else {
            panic!("{tables:?}");
        };
        assert_eq!(table.rows, [["x\\u{7}\ny", "1"]]);
        assert!(table.columns[1].is_number && !table.columns[0].is_number && !table.has_total);
    }

    #[test]
    fn what_a_program_judges_stands_at_the_head_and_contradicts_nothing() {
        let headline = |name: &str, figure: &str| Headline {
            name: name.to_owned(),
            figure: figure.to_owned(),
            note: String::new(),
            tone: Tone::Plain,
        };
        let page = RunPage {
            headlines: vec![headline("Rate", "70/s"), headline("Failed", "0 %")],
            facts: vec![crate::Fact {
                name: String::new(),
                text: "141 answered, 0 failed".to_owned(),
            }],
            name_columns: ["ended", "failed"].map(str::to_owned).to_vec(),
            warnings: vec!["Few samples. Give --duration 1m. All is slow.".to_owned()],
            ..RunPage::default()
        };
        let verdict = |name: &str, figure: &str| AddedVerdict {
            name: name.to_owned(),
            figure: figure.to_owned(),
            note: "POST /order".to_owned(),
            is_bad: true,
        };
        let tables = AddedTables {
            verdicts: vec![
                verdict("Failed", "104 of 245"),
                verdict("Thresholds", "1 of 2"),
            ],
            ..AddedTables::default()
        };
        let page = page.with_added(Some(tables));
        let shown: Vec<_> = page.headlines.iter().map(|one| &*one.figure).collect();
        assert_eq!(shown, ["70/s", "104 of 245", "1 of 2"]);
        assert_eq!(
            page.validity.tone,
            Tone::Plain,
            "not green above a failed test"
        );
        assert_eq!(page.facts[0].text, "141 answered, 0 without a response");
        assert_eq!(page.name_columns, ["ended", "no response"]);
        assert_eq!(page.warnings, ["Few samples. All is slow."]);
        let alone = RunPage::default().with_added(Some(AddedTables::default()));
        assert_eq!(alone.validity.tone, Tone::Good);
    }

    #[test]
    fn advice_for_a_command_line_of_ours_is_left_out() {
        for (text, kept) in [
            ("It was late. Lower the rate (-r).", "It was late."),
            ("It was late (-r helps).", "It was late."),
            ("Give --cert.", ""),
            ("p50 is 3 - 4 ms; give -t 2.", "p50 is 3 - 4 ms."),
            ("All is well - or so.", "All is well - or so."),
        ] {
            assert_eq!(without_options(text), kept, "{text}");
        }
    }

    #[test]
    fn what_is_no_table_is_refused_in_a_sentence() {
        let refused = |json: &str| AddedTables::parse(json.as_bytes()).unwrap_err().to_string();
        let uneven = ONE.replace(r#", "1"]"#, "]");
        assert_eq!(
            refused(&uneven),
            "row 1 of the table \"a\" has 1 cells for 2 columns. Give each row a cell for every \
             column."
        );
        assert!(refused("{").starts_with("these are no tables: "));
        assert!(refused(&ONE.replace("\"rows\"", "\"lines\"")).contains("`lines`"));
    }
}
