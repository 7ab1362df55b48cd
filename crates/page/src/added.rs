//! Tables that another program adds to the page of a run: those of the tool in whose words it was
//! begun.
//!
//! They come as JSON, from a program that knows nothing of pages. What stands in a cell is text,
//! and the page shows it as text whatever is in it.

use serde::{Deserialize, Serialize};

/// Tables under a heading of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct AddedTables {
    /// The heading.
    pub title: String,
    /// The tables, in order.
    pub tables: Vec<AddedTable>,
}

/// A table that was added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct AddedTable {
    /// What it is of.
    pub title: String,
    /// Its columns.
    pub columns: Vec<AddedColumn>,
    /// Its rows, each with a cell for every column.
    pub rows: Vec<Vec<String>>,
    /// Whether the last row is that of all others together.
    #[serde(default)]
    pub has_total: bool,
}

/// A column of a table that was added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct AddedColumn {
    /// Its heading.
    pub name: String,
    /// Whether its cells are numbers.
    #[serde(default)]
    pub is_number: bool,
}

/// What was read are no tables.
#[derive(Debug, thiserror::Error)]
pub enum NoTables {
    /// It is no JSON, or other JSON.
    #[error("these are no tables: {0}. docs/guide/html.md shows how they are written.")]
    Unreadable(#[from] serde_json::Error),
    /// A row has more cells than there are columns, or fewer.
    #[error(
        "row {row} of the table {title:?} has {cells} cells for {columns} columns. Give each row a \
         cell for every column."
    )]
    Uneven {
        /// The table.
        title: String,
        /// The row, from 1.
        row: usize,
        /// How many cells it has.
        cells: usize,
        /// How many columns there are.
        columns: usize,
    },
}

impl AddedTables {
    /// The tables that are written as this JSON.
    ///
    /// # Errors
    /// If it is none of such tables.
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
        for table in &mut self.tables {
            change(&mut table.title);
            let names = table.columns.iter_mut().map(|column| &mut column.name);
            names.for_each(&mut change);
            table.rows.iter_mut().flatten().for_each(&mut change);
        }
    }
}

/// Text with its control characters spelled out, but for those that break lines.
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
