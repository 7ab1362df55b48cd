//! JSON as Go writes it: numbers without an unneeded `.0`, and characters with a meaning in HTML
//! escaped. Programs that read k6's JSON compare texts.

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};

/// Serialises a value on one line.
pub(super) fn compact<T: Serialize + ?Sized>(value: &T) -> String {
    let mut text = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut text, Go);
    value
        .serialize(&mut serializer)
        .expect("memory takes every write, and our types have strings for keys");
    String::from_utf8(text).expect("JSON is text")
}

/// Formats JSON on many lines, two spaces for each level.
pub(super) fn indented(json: &str) -> String {
    indented_by(2, json)
}

/// Formats JSON on many lines, with this many spaces for each level.
pub(super) fn indented_by(spaces: usize, json: &str) -> String {
    let mut page = Page {
        spaces,
        ..Page::default()
    };
    let mut letters = json.chars().peekable();
    while let Some(letter) = letters.next() {
        if page.is_in_string {
            page.quoted(letter);
            continue;
        }
        match letter {
            '{' | '[' => {
                while letters.next_if(|next| next.is_whitespace()).is_some() {}
                let end = letters.next_if(|next| matches!(next, '}' | ']'));
                page.open(letter, end);
            }
            _ => page.put(letter),
        }
    }
    page.text
}

/// An indented text that is being written.
#[derive(Default)]
struct Page {
    text: String,
    spaces: usize,
    level: usize,
    is_in_string: bool,
    is_escaped: bool,
}

impl Page {
    fn quoted(&mut self, letter: char) {
        self.text.push(letter);
        self.is_in_string = self.is_escaped || letter != '"';
        self.is_escaped = letter == '\\' && !self.is_escaped;
    }

    fn open(&mut self, letter: char, end: Option<char>) {
        self.text.push(letter);
        match end {
            Some(end) => self.text.push(end),
            None => {
                self.level += 1;
                self.break_line();
            }
        }
    }

    fn put(&mut self, letter: char) {
        match letter {
            '}' | ']' => {
                self.level = self.level.saturating_sub(1);
                self.break_line();
                self.text.push(letter);
            }
            ',' => {
                self.text.push(letter);
                self.break_line();
            }
            ':' => self.text.push_str(": "),
            ' ' | '\t' | '\n' | '\r' => {}
            _ => {
                self.is_in_string = letter == '"';
                self.text.push(letter);
            }
        }
    }

    fn break_line(&mut self) {
        self.text.push('\n');
        self.text.push_str(&" ".repeat(self.spaces * self.level));
    }
}

/// The number and string formats of Go's encoder.
struct Go;

impl Formatter for Go {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(number(value).as_bytes())
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let is_special = |c: char| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
        let mut rest = fragment;
        while let Some(at) = rest.find(is_special) {
            let special = rest[at..].chars().next().unwrap_or_default();
            write!(writer, "{}\\u{:04x}", &rest[..at], u32::from(special))?;
            rest = &rest[at + special.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

/// Formats a number: with an exponent below 10⁻⁶ and from 10²¹ on.
fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return value.to_string();
    }
    let text = format!("{value:e}");
    match text.contains("e-") {
        true => text,
        false => text.replace('e', "e+"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn numbers_are_written_as_go_writes_them() {
        let values = [0.0, 100.0, 1.5, 0.00001, 1e-7, 1e20, 1e21, -2.0];
        let text = "[0,100,1.5,0.00001,1e-7,100000000000000000000,1e+21,-2]";
        assert_eq!(compact(&values), text);
    }

    #[test]
    fn letters_of_html_are_escaped() {
        assert_eq!(
            compact("a<b>&\u{2028}\"ü\n"),
            r#""a\u003cb\u003e\u0026\u2028\"ü\n""#
        );
    }

    #[test]
    fn lists_and_objects_are_indented_unless_they_are_empty() {
        let text = indented(r#"{"a":[ ],"b":[1,"x, {\"}"],"c":{}, "d":null}"#);
        let lines = [
            "{",
            "  \"a\": [],",
            "  \"b\": [",
            "    1,",
            "    \"x, {\\\"}\"",
            "  ],",
            "  \"c\": {},",
            "  \"d\": null",
            "}",
        ];
        assert_eq!(text, lines.join("\n"));
    }

    proptest! {
        #[test]
        fn what_is_indented_or_escaped_is_read_back(text: String, value: f64, n: i64) {
            let value = if value.is_finite() { value } else { 0.5 };
            let all = json!({ "t": text, "l": [value, n, { "e": {} }] });
            let read: Value = serde_json::from_str(&indented(&compact(&all))).expect("JSON");
            prop_assert_eq!(read["t"].as_str(), Some(text.as_str()));
            prop_assert_eq!(read["l"][0].as_f64(), Some(value));
            prop_assert_eq!(read["l"][1].as_i64(), Some(n));
        }
    }
}
