//! A row of a report, built column by column.

use loadline_json::{Seconds, Us};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

/// The columns of a row, each with its value.
#[derive(Debug, Default)]
pub(super) struct Row {
    names: Vec<String>,
    values: Vec<Value>,
}

impl Row {
    /// Creates a row of this run.
    pub(super) fn of_run(run: u64) -> Row {
        Row::default().integer("run", run)
    }

    /// Adds a whole number or NULL.
    pub(super) fn integer(self, name: impl Into<String>, value: impl Into<Option<u64>>) -> Row {
        self.with(name, value.into().map(whole))
    }

    /// Adds a truth value: 1 for true, 0 for false.
    pub(super) fn flag(self, name: &str, value: bool) -> Row {
        self.integer(name, u64::from(value))
    }

    /// Adds a number or NULL.
    pub(super) fn real(self, name: &str, value: impl Into<Option<f64>>) -> Row {
        self.with(name, value.into())
    }

    /// Adds a text or NULL.
    pub(super) fn text<'a>(self, name: &str, value: impl Into<Option<&'a str>>) -> Row {
        self.with(name, value.into().map(str::to_owned))
    }

    /// Adds a time in nanoseconds or NULL.
    pub(super) fn time(self, name: impl Into<String>, value: Option<Us>) -> Row {
        self.with(name, value.map(nanoseconds))
    }

    /// Adds a duration of the run, in nanoseconds.
    pub(super) fn stretch(self, name: &str, Seconds(seconds): Seconds) -> Row {
        self.with(name, (seconds * 1e9).round() as i64)
    }

    /// Inserts the row into this table.
    pub(super) fn insert(self, connection: &Connection, table: &str) -> rusqlite::Result<()> {
        let places = vec!["?"; self.values.len()].join(", ");
        let names = self.names.join(", ");
        let insert = format!("INSERT INTO {table} ({names}) VALUES ({places})");
        connection.execute(&insert, params_from_iter(self.values))?;
        Ok(())
    }

    fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Row {
        self.names.push(name.into());
        self.values.push(value.into());
        self
    }
}

/// Converts the number to SQLite's signed integers; larger numbers become the largest one.
pub(super) fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Converts the time, which the JSON has exact to the nanosecond.
pub(super) fn nanoseconds(Us(us): Us) -> i64 {
    (us * 1e3).round() as i64
}
