//! `-F`: a multipart form (RFC 7578), built once.
//!
//! A part is `name=value`, `name=@path` (a file with its name) or `name=<path` (a file's content),
//! optionally followed by `;type=…` and `;filename=…`. A semicolon that begins neither of these
//! belongs to the value.

use super::outcome::Output;
use rand::RngCore;
use std::fs;
use std::path::Path;

/// A form, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// The value of the `Content-Type` header.
    pub(super) content_type: String,
    pub(super) body: Vec<u8>,
}

/// Builds the form from these parts.
pub(super) fn build(parts: &[String], random: &mut impl RngCore) -> Result<Form, Output> {
    let boundary = format!(
        "----formdata-oha-{:016x}{:016x}",
        random.next_u64(),
        random.next_u64()
    );
    let mut body = Vec::new();
    for text in parts {
        let part = Part::parse(text)
            .map_err(|problem| Output::error(format!("Failed to parse form data: {problem}")))?;
        part.write(&boundary, &mut body);
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok(Form {
        content_type: format!("multipart/form-data; boundary={boundary}"),
        body,
    })
}

struct Part<'a> {
    name: &'a str,
    file_name: Option<String>,
    content_type: Option<&'a str>,
    content: Vec<u8>,
}

impl<'a> Part<'a> {
    fn parse(text: &'a str) -> Result<Self, String> {
        let (name, rest) = text.split_once('=').ok_or_else(|| {
            format!("{text} has no `=`; write name=value, name=@file or name=<file")
        })?;
        let (value, options) = split_options(rest);
        let option = |key| options.iter().rev().find(|(name, _)| *name == key);
        let (content, own_name) = match value.split_at_checked(1) {
            Some(("@", path)) => (read(path)?, base_name(path)),
            Some(("<", path)) => (read(path)?, None),
            _ => (value.as_bytes().to_vec(), None),
        };
        let given = option("filename").map(|(_, name)| (*name).to_owned());
        Ok(Part {
            name,
            file_name: given.or(own_name),
            content_type: option("type").map(|(_, value)| *value),
            content,
        })
    }

    fn write(&self, boundary: &str, out: &mut Vec<u8>) {
        let name = escaped(self.name);
        let mut head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"");
        if let Some(file_name) = &self.file_name {
            head += &format!("; filename=\"{}\"", escaped(file_name));
        }
        if let Some(content_type) = self.content_type {
            head += &format!("\r\nContent-Type: {content_type}");
        }
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(b"\r\n\r\n");
        out.extend_from_slice(&self.content);
        out.extend_from_slice(b"\r\n");
    }
}

/// Splits the options off the end of a part.
fn split_options(text: &str) -> (&str, Vec<(&str, &str)>) {
    let mut value = text;
    let mut options = Vec::new();
    while let Some((before, option)) = value.rsplit_once(';') {
        let pair = option.trim().split_once('=');
        let Some((key, given)) = pair.filter(|(key, _)| ["type", "filename"].contains(key)) else {
            break;
        };
        options.insert(0, (key, given.trim_matches('"')));
        value = before;
    }
    (value, options)
}

fn read(path: &str) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{path} can't be read: {error}"))
}

fn base_name(path: &str) -> Option<String> {
    let name = Path::new(path).file_name()?;
    Some(name.to_string_lossy().into_owned())
}

/// Escapes a name as browsers do (HTML standard, multipart form data).
fn escaped(name: &str) -> String {
    name.replace('"', "%22")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    fn built(parts: &[&str]) -> Result<(String, String), Output> {
        let parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
        let form = build(&parts, &mut ChaCha8Rng::seed_from_u64(1))?;
        let prefix = "multipart/form-data; boundary=";
        let boundary = form.content_type.strip_prefix(prefix).expect("a boundary");
        assert_eq!(boundary.len(), "----formdata-oha-".len() + 32);
        let text = String::from_utf8_lossy(&form.body).replace(boundary, "B");
        Ok((text, form.content_type))
    }

    #[test]
    fn parts_are_values_and_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("f.txt");
        std::fs::write(&path, "content").expect("a file");
        let path = path.to_str().expect("a name");
        let (text, _) = built(&[
            "a=1",
            &format!("f=@{path};type=text/plain"),
            &format!("g=<{path}"),
            "h=x;filename=\"n\"",
        ])
        .expect("a form");
        let expected = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n\
            --B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f.txt\"\r\n\
            Content-Type: text/plain\r\n\r\ncontent\r\n\
            --B\r\nContent-Disposition: form-data; name=\"g\"\r\n\r\ncontent\r\n\
            --B\r\nContent-Disposition: form-data; name=\"h\"; filename=\"n\"\r\n\r\nx\r\n\
            --B--\r\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_semicolon_of_a_value_stays() {
        let (text, _) = built(&["a=x;y"]).expect("a form");
        assert!(text.contains("\r\n\r\nx;y\r\n"), "{text}");
    }

    #[test]
    fn what_can_not_be_read_is_named() {
        for (part, start) in [
            ("a", "Error: Failed to parse form data: a has no `=`"),
            (
                "a=@/no/such",
                "Error: Failed to parse form data: /no/such can't be read",
            ),
        ] {
            let output = built(&[part]).expect_err("a refusal");
            assert!(output.stderr.starts_with(start), "{}", output.stderr);
            assert_eq!(output.code, 1);
        }
    }
}
