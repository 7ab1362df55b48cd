//! `debug.getinfo`: the place of a function and the current line. It only reads, so it is offered
//! although the rest of `debug` is not.

use mlua::{Function, Lua, LuaString, Table, Value};

/// The valid letters of `what`.
const KNOWN: &[u8] = b"SlnufL";

/// Returns information about a function, or about a level of the stack, where 0 is the call of this
/// function. Returns nil if there is no such level, and false if a letter of `what` is unknown.
pub(crate) fn info(lua: &Lua, (subject, what): (Value, LuaString)) -> mlua::Result<Value> {
    let what = what.as_bytes().to_vec();
    if what.iter().any(|letter| !KNOWN.contains(letter)) {
        return Ok(Value::Boolean(false));
    }
    if let Value::Function(function) = &subject {
        return of_function(lua, function, &what).map(Value::Table);
    }
    let Some(level) = level(&subject) else {
        return Ok(Value::Nil);
    };
    let found = lua.inspect_stack(level, |debug| {
        let table = of_function(lua, &debug.function(), &what)?;
        if what.contains(&b'l') {
            table.raw_set("currentline", line(debug.current_line()))?;
        }
        if what.contains(&b'n') {
            let names = debug.names();
            table.raw_set("name", names.name.as_deref())?;
            table.raw_set("namewhat", names.name_what.unwrap_or_default())?;
        }
        Ok(table)
    });
    found
        .transpose()
        .map(|found| found.map_or(Value::Nil, Value::Table))
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the library's values: it converts the others itself"
)]
fn level(subject: &Value) -> Option<usize> {
    let level = match subject {
        Value::Integer(level) => *level as f64,
        other => other.as_number()?,
    };
    // There is no level below 0, or beyond the size of a stack.
    (0.0..1e6).contains(&level).then_some(level as usize)
}

fn of_function(lua: &Lua, function: &Function, what: &[u8]) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    let info = function.info();
    if what.contains(&b'S') {
        table.raw_set("source", info.source)?;
        table.raw_set("short_src", info.short_src)?;
        table.raw_set("what", info.what)?;
        table.raw_set("linedefined", line(info.line_defined))?;
        table.raw_set("lastlinedefined", line(info.last_line_defined))?;
    }
    if what.contains(&b'l') {
        table.raw_set("currentline", -1)?;
    }
    if what.contains(&b'n') {
        table.raw_set("namewhat", "")?;
    }
    if what.contains(&b'u') {
        table.raw_set("nups", info.num_upvalues)?;
    }
    if what.contains(&b'f') {
        table.raw_set("func", function)?;
    }
    Ok(table)
}

/// Returns a line as Lua does: -1 if there is no line.
fn line(line: Option<usize>) -> i64 {
    line.map_or(-1, |line| line as i64)
}
