//! The rows of a CSV file: the options of `k6/experimental/csv` and their effect.

use crate::csv::{CsvError, Records};
use rquickjs::{Array, Result};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The records to read, and the form of their rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The byte between two fields.
    pub(crate) delimiter: u8,
    /// True if the first record is skipped.
    pub(crate) skips_first: bool,
    /// The first record to read, from 0.
    pub(crate) from: i64,
    /// The last record to read; 0 for all.
    pub(crate) to: i64,
    /// True if rows are objects, with the names of the first record.
    pub(crate) as_objects: bool,
}

impl Layout {
    /// Reads the layout from the list that the module's JavaScript passes: its fields in order.
    pub(crate) fn of(fields: &Array<'_>) -> Result<Layout> {
        Ok(Layout {
            delimiter: fields.get(0)?,
            skips_first: fields.get(1)?,
            from: fields.get::<f64>(2)? as i64,
            to: fields.get::<f64>(3)? as i64,
            as_objects: fields.get(4)?,
        })
    }

    /// Returns the message for an invalid layout.
    fn problem(&self) -> Option<String> {
        let header = "the 'header' option cannot be enabled when";
        let negative = |name: &str, line: i64| {
            format!("the '{name}' option must be greater than or equal to 0; got {line}")
        };
        if self.as_objects && self.skips_first {
            return Some(format!("{header} 'skipFirstLine' is true"));
        }
        if self.as_objects && self.from > 0 {
            let value = "'fromLine' is set to a value greater than 0";
            return Some(format!("{header} {value}"));
        }
        if self.from < 0 {
            return Some(negative("fromLine", self.from));
        }
        (self.to < 0).then(|| negative("toLine", self.to))
    }
}

/// The rows of a file.
#[derive(Debug)]
pub(crate) struct Table {
    records: Records,
    layout: Layout,
    /// The names of fields, if rows are objects.
    names: Option<Vec<String>>,
    /// The number of the next record.
    next: i64,
}

impl Table {
    /// Creates a table of the rows from byte `at` on.
    ///
    /// # Errors
    /// The problem of the layout, or of a record before the first row.
    pub(crate) fn new(
        content: Arc<[u8]>,
        at: usize,
        layout: Layout,
    ) -> std::result::Result<Table, String> {
        if let Some(problem) = layout.problem() {
            return Err(problem);
        }
        let mut table = Table {
            records: Records::new(content, at, layout.delimiter),
            layout,
            names: None,
            next: 0,
        };
        if layout.skips_first {
            table.leave_out("failed to skip the first line")?;
        }
        while table.next < layout.from {
            table.leave_out(&format!("failed to skip lines until line {}", layout.from))?;
        }
        if layout.as_objects {
            table.names = Some(table.leave_out("failed to read the first line")?);
        }
        Ok(table)
    }

    /// Reads a record that is not a row.
    fn leave_out(&mut self, what_fails: &str) -> std::result::Result<Vec<String>, String> {
        let record = self.records.record();
        self.next += 1;
        match record {
            Ok(Some(record)) => Ok(record),
            Ok(None) => Err(format!("{what_fails}; reason: EOF")),
            Err(error) => Err(format!("{what_fails}; reason: {error}")),
        }
    }

    /// Returns the next row as JSON, an array or an object; `None` after the last one.
    ///
    /// # Errors
    /// If the record is invalid.
    pub(crate) fn row(&mut self) -> std::result::Result<Option<String>, CsvError> {
        if self.layout.to > 0 && self.next > self.layout.to {
            return Ok(None);
        }
        let Some(record) = self.records.record()? else {
            return Ok(None);
        };
        self.next += 1;
        let row = match &self.names {
            // Fields are sorted, and of equal names the last one is used.
            Some(names) => {
                let named: BTreeMap<&String, String> = names.iter().zip(record).collect();
                serde_json::json!(named)
            }
            None => record.into_iter().collect(),
        };
        Ok(Some(row.to_string()))
    }
}
