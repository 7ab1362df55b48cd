//! Bytes from scripts: texts, buffers, and views of them.

use crate::error::go_error;
use crate::text::{lossy, text_of};
use rquickjs::function::Opt;
use rquickjs::{ArrayBuffer, Ctx, Object, Result, Type, Value};

/// Copies the bytes of an `ArrayBuffer`, or of a view of one; `None` for anything else.
pub fn bytes_of_buffer(value: &Value<'_>) -> Option<Vec<u8>> {
    let object = value.as_object()?;
    if let Some(buffer) = ArrayBuffer::from_object(object.clone()) {
        return copy(&buffer);
    }
    let bytes = copy(&ArrayBuffer::from_object(buffer_of(object)?)?)?;
    let number = |name: &str| object.get::<_, usize>(name).ok();
    let (from, length) = (number("byteOffset")?, number("byteLength")?);
    bytes
        .get(from..from.checked_add(length)?)
        .map(<[u8]>::to_vec)
}

fn buffer_of<'js>(view: &Object<'js>) -> Option<Object<'js>> {
    view.get::<_, Option<Object<'js>>>("buffer").ok()?
}

#[expect(unsafe_code, reason = "a script could change what is lent out")]
fn copy(buffer: &ArrayBuffer<'_>) -> Option<Vec<u8>> {
    // SAFETY: no script runs before they are copied.
    unsafe { buffer.as_bytes() }.map(<[u8]>::to_vec)
}

/// Returns the bytes of a text or a buffer; throws for anything else.
pub(crate) fn of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Vec<u8>> {
    if let Some(text) = value.as_string() {
        return Ok(lossy(text)?.into_bytes());
    }
    match bytes_of_buffer(value) {
        Some(bytes) => Ok(bytes),
        None => Err(go_error(
            ctx,
            format!(
                "invalid type {}, expected string, []byte or ArrayBuffer",
                type_in_go(value)
            ),
        )),
    }
}

/// Returns the bytes of an optional argument; a missing one is `undefined`.
pub(crate) fn given<'js>(ctx: &Ctx<'js>, value: Opt<Value<'js>>) -> Result<Vec<u8>> {
    let value = value.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    of(ctx, &value)
}

/// Returns Go's name for the type of a value, as k6 prints it.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "every other type is an object in Go"
)]
pub fn type_in_go(value: &Value<'_>) -> &'static str {
    match value.type_of() {
        Type::Undefined | Type::Null => "<nil>",
        Type::Bool => "bool",
        Type::Int => "int64",
        Type::Float => "float64",
        Type::Array => "[]interface {}",
        Type::Function | Type::Constructor => "func(sobek.FunctionCall) sobek.Value",
        _ => "map[string]interface {}",
    }
}

/// Creates an `ArrayBuffer` with these bytes.
///
/// # Errors
/// If there is no memory for it.
pub fn buffer<'js>(ctx: &Ctx<'js>, bytes: Vec<u8>) -> Result<Value<'js>> {
    // A realm has the class only after it was accessed.
    ctx.globals().get::<_, Value<'js>>("ArrayBuffer")?;
    ArrayBuffer::new(ctx.clone(), bytes).map(ArrayBuffer::into_value)
}

/// Creates a text for scripts; bytes that are not UTF-8 become replacement characters.
pub(crate) fn text<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Value<'js>> {
    let text = String::from_utf8_lossy(bytes);
    rquickjs::String::from_str(ctx.clone(), &text).map(rquickjs::String::into_value)
}

/// Converts an optional argument to a text as JavaScript does; `None` if it is missing, `undefined`
/// or `null`.
pub(crate) fn word<'js>(value: Option<Value<'js>>) -> Result<Option<String>> {
    match value {
        Some(value) if !value.is_undefined() && !value.is_null() => text_of(&value).map(Some),
        _ => Ok(None),
    }
}
