//! Bytes that scripts hand over: texts, buffers, and views of them.
//!
//! Buffers are read element by element: QuickJS lends their memory only to unsafe code.

use crate::error::go_error;
use rquickjs::{ArrayBuffer, Ctx, Function, Object, Result, Value};

/// The bytes of an `ArrayBuffer` or of a view of one; `None` of anything else.
pub(crate) fn of_buffer<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Option<Vec<u8>>> {
    let Some(object) = value.as_object() else {
        return Ok(None);
    };
    let is_buffer = object.is_array_buffer();
    if !is_buffer && !is_view(ctx, object)? {
        return Ok(None);
    }
    let look: Function<'js> = ctx.eval(
        "(from) => from instanceof ArrayBuffer ? new Uint8Array(from)
            : new Uint8Array(from.buffer, from.byteOffset, from.byteLength)",
    )?;
    let view: Object<'js> = look.call((object.clone(),))?;
    let length: u32 = view.get("length")?;
    (0..length)
        .map(|at| view.get(at))
        .collect::<Result<_>>()
        .map(Some)
}

fn is_view<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> Result<bool> {
    let buffer: Object<'js> = ctx.globals().get("ArrayBuffer")?;
    let is_view: Function<'js> = buffer.get("isView")?;
    is_view.call((object.clone(),))
}

/// The bytes of a text or a buffer; throws for anything else.
pub(crate) fn of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Vec<u8>> {
    if let Some(text) = value.as_string() {
        return Ok(text.to_string()?.into_bytes());
    }
    match of_buffer(ctx, value)? {
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
