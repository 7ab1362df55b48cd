//! Request bodies that a script gives: texts, bytes, forms; and their compression.

use super::brotli;
use super::multipart::{self, Field};
use super::script_request::{Read, UnreadableParams};
use crate::native::{Call, Text, lossy};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use loadline_k6_modules::bytes_of_buffer;
use loadline_k6_modules::urlencoded;
use rquickjs::{Object, Result, Value};
use std::io::Write;

/// The body of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestBody {
    /// The bytes; `None` if there is no body.
    pub(crate) bytes: Option<Vec<u8>>,
    /// The content type that follows from the form of the body.
    pub(crate) content_type: Option<String>,
}

/// Reads a body.
///
/// # Errors
/// If the value can't be sent as a body.
pub(crate) fn read<'js>(call: &Call<'_, 'js>, value: &Value<'js>) -> Read<RequestBody> {
    if value.is_undefined() || value.is_null() {
        return Ok(RequestBody::default());
    }
    let plain = |bytes: Vec<u8>| RequestBody {
        bytes: Some(bytes),
        content_type: None,
    };
    if let Some(text) = value.as_string() {
        return Ok(plain(lossy(text)?.into_bytes()));
    }
    if let Some(bytes) = bytes_of_buffer(value) {
        return Ok(plain(bytes));
    }
    match value.as_object() {
        Some(object) => Ok(form(call, object)?),
        None => {
            let kind = match value.as_number() {
                Some(number) if number.fract() == 0.0 => "int64",
                Some(_) => "float64",
                None => value.type_name(),
            };
            let sentence = format!("unknown request body type {kind}");
            Err(UnreadableParams::Refused(sentence))
        }
    }
}

/// Encodes an object as a form; with a file in it, as one of several parts.
fn form<'js>(call: &Call<'_, 'js>, object: &Object<'js>) -> Result<RequestBody> {
    let mut fields = Vec::new();
    let mut has_file = false;
    for entry in object.props::<Text, Value<'js>>() {
        let (Text(name), value) = entry?;
        if let Some(file) = multipart::file_of(&value) {
            has_file = true;
            fields.push((name, Field::File(file)));
            continue;
        }
        match value.as_array() {
            Some(values) => {
                for value in values.iter::<Value<'js>>() {
                    fields.push((name.clone(), Field::Text(field_text(call, &value?)?)));
                }
            }
            None => fields.push((name, Field::Text(field_text(call, &value)?))),
        }
    }
    let (bytes, content_type) = if has_file {
        multipart::body(&fields)
    } else {
        let pairs = fields.into_iter().filter_map(|(name, field)| match field {
            Field::Text(text) => Some((name, text)),
            Field::File(_) => None,
        });
        let text = urlencoded(&pairs.collect::<Vec<_>>());
        (
            text.into_bytes(),
            "application/x-www-form-urlencoded".to_owned(),
        )
    };
    Ok(RequestBody {
        bytes: Some(bytes),
        content_type: Some(content_type),
    })
}

/// Returns the text of a field; Go's `<nil>` for one without a value.
fn field_text<'js>(call: &Call<'_, 'js>, value: &Value<'js>) -> Result<String> {
    match value.is_null() || value.is_undefined() {
        true => Ok("<nil>".to_owned()),
        false => call.text(value),
    }
}

/// Compresses a body with each of these codings in order, such as `gzip, br`.
///
/// # Errors
/// If a coding is unknown.
// Inlined, its buffers would take three pages of each user's stack.
#[inline(never)]
pub(crate) fn compressed(
    mut bytes: Vec<u8>,
    codings: &str,
) -> std::result::Result<Vec<u8>, String> {
    for coding in codings.split(',').map(str::trim) {
        let encoded = match coding {
            "gzip" => gzip(&bytes),
            "deflate" => deflate(&bytes),
            "br" => Ok(brotli::compressed(&bytes)),
            "zstd" => zstd::encode_all(bytes.as_slice(), 3),
            other => return Err(format!("unknown compression algorithm {other}")),
        };
        bytes = encoded.map_err(|error| error.to_string())?;
    }
    Ok(bytes)
}

fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn deflate(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}
