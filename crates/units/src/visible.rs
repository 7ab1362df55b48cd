//! Texts of others (a server's, a script's, a file's) on a terminal: none of them may move its
//! cursor, colour what stands there or name its window.

use std::borrow::Cow;

/// Returns the same text, with every control character but line ends and tabs written out: `\x1b`.
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_obeyed = |char: char| char.is_control() && !matches!(char, '\n' | '\t');
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        match is_obeyed(char) {
            true => shown.push_str(&format!("\\x{:02x}", u32::from(char))),
            false => shown.push(char),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_written_out_and_the_rest_stays() {
        assert!(matches!(visible("two\nlines,\ta – b"), Cow::Borrowed(_)));
        assert_eq!(visible("\u{1b}]0;title\u{7}"), "\\x1b]0;title\\x07");
        assert_eq!(visible("a\rb\u{9b}2J\u{7f}"), "a\\x0db\\x9b2J\\x7f");
    }
}
