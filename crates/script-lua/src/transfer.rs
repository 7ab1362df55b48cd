//! Copies values from one state to another: `thread:get` and `thread:set`.
//!
//! Tables are copied deeply. A table that occurs in several places, even in itself, occurs there in
//! the copy as well. Functions, userdata and coroutines belong to the state that created them.

use mlua::{Lua, Table, Value};
use std::collections::HashMap;
use std::ffi::c_void;

/// The maximum depth of nested tables: a deeper one is a mistake, or a list that would exhaust the
/// stack.
const DEEPEST: usize = 1000;

/// The reason why a value can't be transferred.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TransferError {
    /// The value belongs to its state.
    #[error("cannot transfer '{0}' to thread")]
    Kind(&'static str),
    /// The tables are nested too deep.
    #[error("cannot transfer tables that are nested more than {DEEPEST} deep")]
    Depth,
    /// The thread ran in another process.
    #[error(
        "cannot reach the globals of a thread whose load another process sent; count with \
         loadline.counter(), and read the sum in the report"
    )]
    Elsewhere,
    /// A state has no memory left.
    #[error("{0}")]
    Lua(#[from] mlua::Error),
}

/// Copies a value into a state.
pub(crate) fn transfer(value: &Value, to: &Lua) -> Result<Value, TransferError> {
    let mut transfer = Transfer {
        to,
        copied: HashMap::new(),
    };
    transfer.value(value, 0)
}

struct Transfer<'a> {
    to: &'a Lua,
    /// The copies of tables, by the addresses of the originals.
    copied: HashMap<*const c_void, Table>,
}

impl Transfer<'_> {
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the library's values: the others belong to one state"
    )]
    fn value(&mut self, value: &Value, depth: usize) -> Result<Value, TransferError> {
        Ok(match value {
            Value::Nil => Value::Nil,
            Value::Boolean(value) => Value::Boolean(*value),
            Value::Integer(value) => Value::Integer(*value),
            Value::Number(value) => Value::Number(*value),
            Value::String(text) => Value::String(self.to.create_string(text.as_bytes())?),
            Value::Table(table) => Value::Table(self.table(table, depth)?),
            other => return Err(TransferError::Kind(other.type_name())),
        })
    }

    fn table(&mut self, table: &Table, depth: usize) -> Result<Table, TransferError> {
        if let Some(copy) = self.copied.get(&table.to_pointer()) {
            return Ok(copy.clone());
        }
        if depth == DEEPEST {
            return Err(TransferError::Depth);
        }
        let copy = self.to.create_table()?;
        self.copied.insert(table.to_pointer(), copy.clone());
        for pair in table.pairs::<Value, Value>() {
            let (key, value) = pair?;
            let (key, value) = (self.value(&key, depth + 1)?, self.value(&value, depth + 1)?);
            copy.raw_set(key, value)?;
        }
        Ok(copy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(expression: &str) -> Result<String, String> {
        let (from, to) = (Lua::new(), Lua::new());
        let value: Value = from.load(expression).eval().unwrap();
        let copy = transfer(&value, &to).map_err(|error| error.to_string())?;
        to.globals().set("v", copy).unwrap();
        let shown = "local function show(v)
            if type(v) ~= 'table' then return type(v) .. ' ' .. tostring(v) end
            local parts = {}
            for key, value in pairs(v) do
                parts[#parts + 1] = '[' .. show(key) .. '] = ' .. show(value)
            end
            table.sort(parts)
            return '{' .. table.concat(parts, ', ') .. '}'
        end
        return show(v)";
        Ok(to.load(shown).eval().unwrap())
    }

    #[test]
    fn plain_values_stay_what_they_are() {
        for (expression, shown) in [
            ("nil", "nil nil"),
            ("true", "boolean true"),
            ("7", "number 7"),
            ("1.5", "number 1.5"),
            ("'text'", "string text"),
            ("'a\\0b'", "string a\0b"),
        ] {
            assert_eq!(moved(expression).unwrap(), shown, "{expression}");
        }
    }

    #[test]
    fn tables_keep_keys_and_values_however_deep() {
        assert_eq!(
            moved("{ a = 1, [2] = { b = { 'c' } } }").unwrap(),
            "{[number 2] = {[string b] = {[number 1] = string c}}, [string a] = number 1}"
        );
    }

    #[test]
    fn a_table_that_holds_itself_still_does() {
        let (from, to) = (Lua::new(), Lua::new());
        let value: Value = from
            .load("local t = {}; t.t = t; t.u = {t}; return t")
            .eval()
            .unwrap();
        to.globals()
            .set("t", transfer(&value, &to).unwrap())
            .unwrap();
        let same: bool = to.load("return t.t == t and t.u[1] == t").eval().unwrap();
        assert!(same);
    }

    #[test]
    fn what_belongs_to_its_state_stays_there() {
        for (expression, kind) in [
            ("print", "function"),
            ("newproxy()", "userdata"),
            ("coroutine.create(print)", "thread"),
            ("{ a = { print } }", "function"),
        ] {
            let told = moved(expression).unwrap_err();
            assert_eq!(told, format!("cannot transfer '{kind}' to thread"));
        }
    }

    #[test]
    fn tables_without_a_bottom_are_refused() {
        let told =
            moved("(function() local t = {} for i = 1, 1e5 do t = { t } end return t end)()");
        assert!(told.unwrap_err().contains("nested"), "a limit is named");
    }
}
