//! The meaning of a response's fields (RFC 9113, sections 8.1 to 8.3).

use super::error::StreamError;
use super::hpack::FieldList;
use crate::excerpt::Excerpt;

/// The head of a response, interim or final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The status, 100 to 999.
    pub(crate) status: u16,
    pub(crate) content_length: Option<u64>,
}

impl Head {
    pub(crate) fn is_interim(self) -> bool {
        self.status < 200
    }
}

/// The meaning of a block of fields, both as a head and as trailers: the memo does not know where a
/// block will be used.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// The block read as a head; `None` before any block was read.
    head: Option<Result<Head, StreamError>>,
    /// The error of the block read as trailers, if there is one.
    trailers: Option<StreamError>,
}

impl Facts {
    pub(crate) fn of(fields: &FieldList) -> Self {
        Self {
            head: Some(read_head(fields)),
            trailers: check_trailers(fields).err(),
        }
    }

    /// Returns the block read as a head.
    #[inline]
    pub(crate) fn head(&self) -> Result<Head, StreamError> {
        self.head.clone().unwrap_or(Err(StreamError::Status))
    }

    /// Checks that the fields may be trailers.
    pub(crate) fn trailers(&self) -> Result<(), StreamError> {
        self.trailers.clone().map_or(Ok(()), Err)
    }
}

fn read_head(fields: &FieldList) -> Result<Head, StreamError> {
    let (mut status, mut content_length) = (None, None);
    let mut is_past_pseudo_fields = false;
    for (name, value) in fields.iter() {
        if name.starts_with(b":") {
            if is_past_pseudo_fields || name != b":status" {
                return Err(StreamError::PseudoField(Excerpt::of(name)));
            }
            if status.is_some() {
                return Err(StreamError::Status);
            }
            status = Some(read_status(value)?);
            continue;
        }
        is_past_pseudo_fields = true;
        check_field(name, value)?;
        if name == b"content-length" {
            content_length = Some(read_length(value, content_length)?);
        }
    }
    Ok(Head {
        status: status.ok_or(StreamError::Status)?,
        content_length,
    })
}

fn check_trailers(fields: &FieldList) -> Result<(), StreamError> {
    let mut fields = fields.iter();
    fields.try_for_each(|(name, value)| {
        if name.starts_with(b":") {
            return Err(StreamError::PseudoField(Excerpt::of(name)));
        }
        check_field(name, value)
    })
}

fn read_status(value: &[u8]) -> Result<u16, StreamError> {
    let [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] = *value else {
        return Err(StreamError::Status);
    };
    let [a, b, c] = [a, b, c].map(|digit| u16::from(digit - b'0'));
    Ok(100 * a + 10 * b + c)
}

fn read_length(value: &[u8], before: Option<u64>) -> Result<u64, StreamError> {
    let digits = value.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).ok().filter(|_| digits);
    let length = text.and_then(|text| text.parse().ok());
    length
        .filter(|&length: &u64| length < 1 << 63 && before.is_none_or(|before| before == length))
        .ok_or_else(|| StreamError::ContentLength(Excerpt::of(value)))
}

/// Fields that describe a connection of HTTP/1.1 (RFC 9113, section 8.2.2).
pub(crate) const CONNECTION_FIELDS: [&str; 5] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
];

/// Checks the bytes of a field (RFC 9113, section 8.2.1), and that it does not describe a
/// connection.
fn check_field(name: &[u8], value: &[u8]) -> Result<(), StreamError> {
    let is_forbidden = |byte: &u8| matches!(byte, 0..=b' ' | b'A'..=b'Z' | 0x7f.. | b':');
    if name.is_empty() || name.iter().any(is_forbidden) {
        return Err(StreamError::FieldName(Excerpt::of(name)));
    }
    if value.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n')) {
        return Err(StreamError::FieldValue(Excerpt::of(name)));
    }
    if CONNECTION_FIELDS
        .iter()
        .any(|other| other.as_bytes() == name)
    {
        return Err(StreamError::ConnectionField(Excerpt::of(name)));
    }
    Ok(())
}
