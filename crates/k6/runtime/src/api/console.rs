//! The global `console`: entries of the log, with objects printed as k6 prints them.

use crate::native::{Call, Text, set};
use crate::run::Level;
use loadline_k6_modules::bytes_of_buffer;
use rquickjs::{ArrayBuffer, Ctx, Object, Result, Value};
use std::fmt::Write;

/// The maximum depth at which objects are printed.
const DEEPEST: usize = 64;

pub(super) fn install(ctx: &Ctx<'_>) -> Result<()> {
    let console = Object::new(ctx.clone())?;
    let levels = [
        ("log", Level::Info),
        ("info", Level::Info),
        ("debug", Level::Debug),
        ("warn", Level::Warning),
        ("error", Level::Error),
    ];
    for (name, level) in levels {
        set(&console, name, move |call| write(call, level))?;
    }
    ctx.globals().set("console", console)
}

fn write<'js>(call: Call<'_, 'js>, level: Level) -> Result<Value<'js>> {
    let mut message = String::new();
    for (index, arg) in call.args().enumerate() {
        if index > 0 {
            message.push(' ');
        }
        match arg.as_object() {
            Some(_) => print(&call, &mut message, &arg, &mut Vec::new())?,
            None => message.push_str(&plain(&call, &arg)?),
        }
    }
    let program = &call.vu().program;
    program.log(level, &message, &[("source", "console")]);
    Ok(Value::new_undefined(call.ctx.clone()))
}

/// Prints a value as a part of another one.
fn print<'js>(
    call: &Call<'_, 'js>,
    out: &mut String,
    value: &Value<'js>,
    above: &mut Vec<Value<'js>>,
) -> Result<()> {
    let Some(object) = value.as_object() else {
        return print_plain(call, out, value);
    };
    if above.contains(value) || above.len() >= DEEPEST {
        out.push_str("[Circular]");
        return Ok(());
    }
    above.push(value.clone());
    let printed = print_object(call, out, object, above);
    above.pop();
    printed
}

fn print_plain<'js>(call: &Call<'_, 'js>, out: &mut String, value: &Value<'js>) -> Result<()> {
    if value.is_null() || value.is_undefined() {
        out.push_str("null");
    } else if value.is_symbol() {
        push_quoted(out, &plain(call, value)?);
    } else if value.is_string() {
        push_quoted(out, &call.text(value)?);
    } else {
        out.push_str(&plain(call, value)?);
    }
    Ok(())
}

/// Returns the text of a value that is not an object; of a symbol its description.
fn plain<'js>(call: &Call<'_, 'js>, value: &Value<'js>) -> Result<String> {
    match value.as_symbol() {
        Some(symbol) => {
            let description = symbol.description()?;
            match description.is_undefined() {
                true => Ok(String::new()),
                false => call.text(&description),
            }
        }
        None => call.text(value),
    }
}

fn push_quoted(out: &mut String, text: &str) {
    // Writing to a string can't fail.
    let _ = write!(out, "{}", serde_json::Value::from(text));
}

fn print_object<'js>(
    call: &Call<'_, 'js>,
    out: &mut String,
    object: &Object<'js>,
    above: &mut Vec<Value<'js>>,
) -> Result<()> {
    if object.is_function() {
        out.push_str("[object Function]");
        return Ok(());
    }
    if object.is_error() {
        out.push_str(&call.text(object.as_value())?);
        return Ok(());
    }
    if print_bytes(out, object) {
        return Ok(());
    }
    if let Some(array) = object.as_array() {
        let items = array.iter::<Value<'js>>().map(|item| Ok((None, item?)));
        return print_list(call, out, ('[', ']'), items, above);
    }
    let class = class_of(object);
    if is_view(&class) {
        return print_view(call, out, &class, object);
    }
    if class == "Date" {
        let json: Option<String> = object
            .get::<_, rquickjs::Function<'js>>("toJSON")?
            .call((rquickjs::function::This(object.clone()),))?;
        push_quoted(out, &json.unwrap_or_default());
        return Ok(());
    }
    let entries = object.props::<Text, Value<'js>>();
    let entries = entries.map(|entry| entry.map(|(name, value)| (Some(name.0), value)));
    print_list(call, out, ('{', '}'), entries, above)
}

fn class_of(object: &Object<'_>) -> String {
    let constructor = object.get::<_, Option<Object<'_>>>("constructor");
    let name = constructor
        .ok()
        .flatten()
        .map(|of| of.get::<_, Text>("name"));
    name.and_then(Result::ok)
        .map_or_else(String::new, |name| name.0)
}

fn is_view(class: &str) -> bool {
    class.ends_with("Array") && class != "Array" && class != "SharedArray"
}

/// Prints a typed array.
fn print_view<'js>(
    call: &Call<'_, 'js>,
    out: &mut String,
    class: &str,
    view: &Object<'js>,
) -> Result<()> {
    let length: usize = view.get("length")?;
    let _ = write!(out, "{class}({length}) [");
    for index in 0..length {
        out.push_str(if index == 0 { " " } else { ", " });
        out.push_str(&call.text(&view.get(index as u32)?)?);
    }
    out.push_str(" ]");
    Ok(())
}

/// Prints a buffer. Returns true if the object is one.
fn print_bytes(out: &mut String, object: &Object<'_>) -> bool {
    if ArrayBuffer::from_object(object.clone()).is_none() {
        return false;
    }
    let bytes = bytes_of_buffer(object.as_value()).unwrap_or_default();
    let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let _ = write!(
        out,
        "ArrayBuffer {{ [Uint8Contents]: <{}>, byteLength: {} }}",
        hex.join(" "),
        bytes.len()
    );
    true
}

fn print_list<'js>(
    call: &Call<'_, 'js>,
    out: &mut String,
    (open, close): (char, char),
    entries: impl Iterator<Item = Result<(Option<String>, Value<'js>)>>,
    above: &mut Vec<Value<'js>>,
) -> Result<()> {
    out.push(open);
    let mut is_first = true;
    for entry in entries {
        let (name, value) = entry?;
        out.push_str(if is_first { " " } else { ", " });
        is_first = false;
        if let Some(name) = name {
            out.push_str(&name);
            out.push_str(": ");
        }
        print(call, out, &value, above)?;
    }
    if !is_first {
        out.push(' ');
    }
    out.push(close);
    Ok(())
}
