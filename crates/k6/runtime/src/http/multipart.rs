//! Files in forms: `http.file`, and the bodies of forms with files.

use super::held;
use crate::errors::k6_error;
use crate::native::Call;
use loadline_k6_modules::bytes_of_buffer;
use rquickjs::{Object, Result, Value};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A file in a form.
#[derive(Debug)]
pub(crate) struct File {
    data: Vec<u8>,
    name: String,
    content_type: String,
}

/// A field of a form.
pub(crate) enum Field {
    /// A value.
    Text(String),
    /// A file.
    File(Rc<File>),
}

/// Implements `http.file(data, name, contentType)`.
pub(crate) fn file<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    let data = call.arg(0);
    let bytes = match bytes_of_buffer(&data) {
        Some(bytes) => bytes,
        None if data.is_string() => call.text(&data)?.into_bytes(),
        None => {
            let sentence = "invalid type for http.file: a text or an ArrayBuffer is needed";
            return Err(k6_error(call.ctx, sentence));
        }
    };
    let text = |index: usize| {
        let value = call.arg(index);
        let is_given = !value.is_undefined() && !value.is_null();
        is_given.then(|| call.text(&value)).transpose()
    };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let file = File {
        name: text(1)?.unwrap_or_else(|| now.as_nanos().to_string()),
        content_type: text(2)?.unwrap_or_else(|| "application/octet-stream".to_owned()),
        data: bytes,
    };
    let (name, content_type) = (file.name.clone(), file.content_type.clone());
    let value = held::hold(Rc::new(file), Object::new(call.ctx.clone())?)?;
    if let Some(object) = value.as_object() {
        object.set("data", data)?;
        object.set("filename", name)?;
        object.set("content_type", content_type)?;
    }
    Ok(value)
}

/// Returns the file of a value, if it is one.
pub(crate) fn file_of(value: &Value<'_>) -> Option<Rc<File>> {
    held::held(value)
}

/// Returns the body of a form with files, and its content type.
pub(crate) fn body(fields: &[(String, Field)]) -> (Vec<u8>, String) {
    let boundary = boundary();
    let mut body = Vec::new();
    for (name, field) in fields {
        body.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        let name = quoted(name);
        match field {
            Field::Text(text) => {
                let head = format!("Content-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}");
                body.extend_from_slice(head.as_bytes());
            }
            Field::File(file) => {
                let head = format!(
                    "Content-Disposition: form-data; name=\"{name}\"; filename=\"{}\"\r\n\
                     Content-Type: {}\r\n\r\n",
                    quoted(&file.name),
                    file.content_type
                );
                body.extend_from_slice(head.as_bytes());
                body.extend_from_slice(&file.data);
            }
        }
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    (body, format!("multipart/form-data; boundary={boundary}"))
}

/// Returns a boundary between parts: 60 random digits that no part contains.
fn boundary() -> String {
    use std::hash::{BuildHasher, RandomState};
    let digits = (0..4_u8).map(|one| format!("{:016x}", RandomState::new().hash_one(one)));
    let digits: String = digits.collect();
    digits[..60].to_owned()
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    escaped.replace(['\r', '\n'], " ")
}
