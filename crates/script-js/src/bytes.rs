//! Bytes that scripts hand over: buffers, and views of them.

use rquickjs::{ArrayBuffer, Object, Value};

/// A copy of the bytes of an `ArrayBuffer`, or of a view of one; `None` of anything else.
pub(crate) fn of(value: &Value<'_>) -> Option<Vec<u8>> {
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
