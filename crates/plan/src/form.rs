//! Forms as browsers send them: `multipart/form-data` (RFC 7578), made once and sent by every
//! request.

use crate::Error;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A field of a form as typed: `name=value` or `name=@path`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormField {
    /// The field's name, never empty.
    pub name: String,
    /// The source of the field's value.
    pub source: FormSource,
}

/// The source of a form field's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormSource {
    /// The content of this file, sent under the file's name.
    File(PathBuf),
    /// This text.
    Text(String),
}

impl FromStr for FormField {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refused = || Error::FormField(text.to_owned());
        let (name, value) = text.split_once('=').ok_or_else(refused)?;
        let source = match value.strip_prefix('@') {
            Some(path) => FormSource::File(path.into()),
            None => FormSource::Text(value.to_owned()),
        };
        if name.is_empty() || source == FormSource::File(PathBuf::new()) {
            return Err(refused());
        }
        Ok(Self {
            name: name.to_owned(),
            source,
        })
    }
}

/// One part of a form, with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormPart {
    name: String,
    /// The name under which a file is sent; `None` for a text.
    file_name: Option<String>,
    content: Vec<u8>,
}

impl FormPart {
    /// Creates a part that holds a text.
    pub fn text(name: &str, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            file_name: None,
            content: text.into(),
        }
    }

    /// Creates a part that holds the content of the file at `path`.
    pub fn file(name: &str, path: &Path, content: Vec<u8>) -> Self {
        let file_name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Self {
            name: name.to_owned(),
            file_name: Some(file_name),
            content,
        }
    }

    fn write(&self, body: &mut Vec<u8>) {
        let disposition = format!(
            "Content-Disposition: form-data; name=\"{}\"",
            escape(&self.name)
        );
        body.extend(disposition.as_bytes());
        if let Some(file_name) = &self.file_name {
            let file = format!("; filename=\"{}\"\r\n", escape(file_name));
            body.extend(file.as_bytes());
            body.extend(b"Content-Type: application/octet-stream");
        }
        body.extend(b"\r\n\r\n");
        body.extend(&self.content);
        body.extend(b"\r\n");
    }
}

/// Escapes a name for its quotes, as browsers do (HTML standard, "multipart form data").
fn escape(name: &str) -> String {
    name.replace('"', "%22")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A form ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multipart {
    /// The value of the form's `Content-Type`, which names the boundary.
    pub content_type: String,
    /// The body.
    pub body: Vec<u8>,
}

impl Multipart {
    /// Joins the parts. The boundary is derived from the `seed`, and occurs in no part.
    pub fn new(parts: &[FormPart], seed: u64) -> Self {
        let boundary = free_boundary(parts, seed);
        let mut body = Vec::new();
        for part in parts {
            body.extend(format!("--{boundary}\r\n").as_bytes());
            part.write(&mut body);
        }
        body.extend(format!("--{boundary}--\r\n").as_bytes());
        Self {
            content_type: format!("multipart/form-data; boundary={boundary}"),
            body,
        }
    }
}

fn free_boundary(parts: &[FormPart], seed: u64) -> String {
    let is_free = |boundary: &String| !parts.iter().any(|part| contains(&part.content, boundary));
    (0..)
        .map(|attempt| format!("loadline-{:016x}", mix(seed.wrapping_add(attempt))))
        .find(is_free)
        .expect("some of 2^64 boundaries is not in the parts: memory can't hold all of them")
}

fn contains(content: &[u8], boundary: &str) -> bool {
    content
        .windows(boundary.len())
        .any(|window| window == boundary.as_bytes())
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): neighbouring seeds give
/// boundaries that look nothing alike.
fn mix(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_texts_or_files() {
        for (text, name, source) in [
            ("a=b", "a", FormSource::Text("b".into())),
            ("a=", "a", FormSource::Text("".into())),
            ("a=b=@c", "a", FormSource::Text("b=@c".into())),
            (
                "a=@dir/photo.png",
                "a",
                FormSource::File("dir/photo.png".into()),
            ),
        ] {
            assert_eq!(
                text.parse(),
                Ok(FormField {
                    name: name.into(),
                    source
                }),
                "{text}"
            );
        }
        for text in ["", "a", "=b", "a=@"] {
            assert_eq!(
                text.parse::<FormField>(),
                Err(Error::FormField(text.into())),
                "{text}"
            );
        }
    }

    #[test]
    fn parts_are_joined_by_a_boundary_from_the_seed() {
        let parts = [
            FormPart::text("na\"me", "value"),
            FormPart::file("photo", Path::new("dir/a.png"), vec![0, 255]),
        ];
        let form = Multipart::new(&parts, 0);
        // The first number that SplitMix64 gives from the seed 0.
        assert_eq!(
            form.content_type,
            "multipart/form-data; boundary=loadline-e220a8397b1dcdaf"
        );
        let expected: &[u8] = b"--loadline-e220a8397b1dcdaf\r\n\
            Content-Disposition: form-data; name=\"na%22me\"\r\n\r\nvalue\r\n\
            --loadline-e220a8397b1dcdaf\r\n\
            Content-Disposition: form-data; name=\"photo\"; filename=\"a.png\"\r\n\
            Content-Type: application/octet-stream\r\n\r\n\x00\xff\r\n\
            --loadline-e220a8397b1dcdaf--\r\n";
        assert_eq!(
            form.body.escape_ascii().to_string(),
            expected.escape_ascii().to_string()
        );
    }

    #[test]
    fn the_boundary_is_in_no_part() {
        let first = Multipart::new(&[], 7).content_type;
        let boundary = first.rsplit('=').next().expect("a boundary");
        let form = Multipart::new(&[FormPart::text("a", &format!("x{boundary}x"))], 7);
        assert_ne!(form.content_type, first);
        assert_eq!(
            form,
            Multipart::new(&[FormPart::text("a", &format!("x{boundary}x"))], 7)
        );
    }
}
