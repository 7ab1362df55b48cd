//! Bytes that scripts hand over: texts, buffers, and views of them.

use crate::error::go_error;
use rquickjs::{ArrayBuffer, Ctx, Object, Result, Value};

/// A copy of the bytes of an `ArrayBuffer`, or of a view of one; `None` of anything else.
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

/// The bytes of a text or a buffer; throws for anything else.
pub(crate) fn of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Vec<u8>> {
    if let Some(text) = value.as_string() {
        return Ok(text.to_string()?.into_bytes());
    }
    match bytes_of_buffer(value) {
        Some(bytes) => Ok(bytes),
        None => Err(go_error(
            ctx,
            format!(
                "invalid type {}, expected string or ArrayBuffer",
                value.type_name()
            ),
        )),
    }
}

/// A new `ArrayBuffer` with these bytes.
pub(crate) fn buffer<'js>(ctx: &Ctx<'js>, bytes: Vec<u8>) -> Result<Value<'js>> {
    ArrayBuffer::new(ctx.clone(), bytes).map(ArrayBuffer::into_value)
}

/// A text for scripts: bytes that are no UTF-8 become replacement characters.
pub(crate) fn text<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Value<'js>> {
    let text = String::from_utf8_lossy(bytes);
    rquickjs::String::from_str(ctx.clone(), &text).map(rquickjs::String::into_value)
}

/// An optional argument as text; `None` if it is missing, `undefined` or `null`.
pub(crate) fn word<'js>(value: Option<Value<'js>>) -> Result<Option<String>> {
    match value {
        Some(value) if !value.is_undefined() && !value.is_null() => value.get().map(Some),
        _ => Ok(None),
    }
}
