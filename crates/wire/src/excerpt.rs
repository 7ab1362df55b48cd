//! Printable excerpts of malformed input.

use std::fmt;

/// The most bytes of the original in an excerpt.
const SHOWN_BYTES: usize = 40;

/// The first bytes of refused input, escaped to printable ASCII and shortened, in quotation marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt(Box<str>);

impl Excerpt {
    /// Returns an excerpt of the start of `bytes`.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let shown = &bytes[..bytes.len().min(SHOWN_BYTES)];
        let more = if shown.len() < bytes.len() { "…" } else { "" };
        Excerpt(format!("“{}{more}”", shown.escape_ascii()).into())
    }

    /// Returns an excerpt of the start of the first line of `bytes`.
    pub(crate) fn of_line(bytes: &[u8]) -> Self {
        let line = bytes.split(|&b| b == b'\n').next().unwrap_or_default();
        Excerpt::of(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_printable_text_as_it_is() {
        assert_eq!(Excerpt::of(b"SSH-2.0").to_string(), "“SSH-2.0”");
        assert_eq!(Excerpt::of(b"").to_string(), "“”");
    }

    #[test]
    fn escapes_what_a_terminal_must_not_see() {
        assert_eq!(
            Excerpt::of(b"\x15\x03\x1b[2J\r\n\xff").to_string(),
            r"“\x15\x03\x1b[2J\r\n\xff”"
        );
    }

    #[test]
    fn cuts_long_bytes_short() {
        assert_eq!(
            Excerpt::of(&[b'a'; 40]).to_string(),
            format!("“{}”", "a".repeat(40))
        );
        assert_eq!(
            Excerpt::of(&[b'a'; 41]).to_string(),
            format!("“{}…”", "a".repeat(40))
        );
    }

    #[test]
    fn shows_one_line_without_its_end() {
        assert_eq!(Excerpt::of_line(b"one\r\ntwo").to_string(), "“one”");
        assert_eq!(Excerpt::of_line(b"one\ntwo").to_string(), "“one”");
        assert_eq!(Excerpt::of_line(b"one").to_string(), "“one”");
    }
}
