//! Text in a given width: wrapping, padding, columns; and text that came from elsewhere made safe.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Units that stay with their number.
const UNITS: [&str; 12] = [
    "%", "µs", "ms", "s", "min", "h", "B", "kB", "MB", "GB", "TB", "PB",
];

/// Columns that `text` takes on a terminal; it must not hold escape sequences.
pub fn width(text: &str) -> usize {
    text.width()
}

/// `text` with blanks after it, up to `columns`.
pub fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", blanks(columns.saturating_sub(width(text))))
}

/// `text` with blanks before it, up to `columns`.
pub fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", blanks(columns.saturating_sub(width(text))))
}

/// This many blanks.
pub(crate) fn blanks(columns: usize) -> String {
    " ".repeat(columns)
}

/// Lines of at most `columns`, broken at blanks where possible and else within a word. Figures
/// with their units (`20 000`, `1.02 ms`) stay together.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words(text) {
        let line = lines.last_mut().expect("there is always a line");
        let space = usize::from(!line.is_empty());
        if width(line) + space + width(word) <= columns {
            line.push_str(&blanks(space));
            line.push_str(word);
        } else {
            push_pieces(&mut lines, word, columns);
        }
    }
    lines
}

/// As [`wrap`], with `head` before the first line and as many blanks before the others.
pub(crate) fn hanging(head: &str, text: &str, columns: usize) -> Vec<String> {
    let indent = width(head);
    let lines = wrap(text, columns.saturating_sub(indent));
    let first = |index| {
        if index == 0 {
            head.to_owned()
        } else {
            blanks(indent)
        }
    };
    lines
        .iter()
        .enumerate()
        .map(|(index, line)| first(index) + line)
        .collect()
}

/// At most `columns` of `text`, the last one a `…` where something was cut.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    match columns {
        0 | 1 => "…"[..columns * '…'.len_utf8()].to_owned(),
        _ => format!("{}…", prefix(text, columns - 1)),
    }
}

/// Returns `text` with control characters spelled out: a server's words must not control the
/// terminal, nor break a line.
pub(crate) fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.width().is_none_or(|width| width == 0) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// `text` in ASCII, character by character so that columns stay in line.
pub fn ascii(text: &str) -> String {
    text.chars().map(ascii_character).collect()
}

fn ascii_character(character: char) -> char {
    match character {
        c if c.is_ascii() => c,
        'µ' => 'u',
        '≤' => '<',
        '×' => 'x',
        '–' => '-',
        '…' => '.',
        '█' | '▉' | '▊' | '▋' | '▌' => '#',
        '▍' | '▎' | '▏' | '░' => '.',
        '│' | '├' | '┤' => '|',
        '─' => '-',
        '●' => 'o',
        '±' => '~',
        _ => '?',
    }
}

/// The words of `text`; a blank within a figure (`20 000`, `1.02 ms`) does not part them.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    for (index, _) in text.match_indices(' ') {
        if !within_figure(text, index) {
            words.push(&text[start..index]);
            start = index + 1;
        }
    }
    words.push(&text[start..]);
    words.retain(|word| !word.is_empty());
    words
}

fn within_figure(text: &str, blank: usize) -> bool {
    let (before, after) = (&text[..blank], &text[blank + 1..]);
    let next = after.split(' ').next().unwrap_or_default();
    let unit = next.trim_end_matches([',', '.', ';', ':', ')']);
    let goes_on = after.starts_with(|c: char| c.is_ascii_digit()) || UNITS.contains(&unit);
    goes_on && before.ends_with(|c: char| c.is_ascii_digit())
}

/// Adds a word that does not fit into the last line. One that fits into no line begins there all
/// the same if much of the line is free.
fn push_pieces(lines: &mut Vec<String>, word: &str, columns: usize) {
    let mut rest = word;
    let line = lines.last_mut().expect("there is always a line");
    let room = columns.saturating_sub(width(line) + 1);
    if line.is_empty() {
        lines.pop();
    } else if width(word) > columns && room > columns / 2 {
        let piece = prefix(rest, room);
        line.push(' ');
        line.push_str(piece);
        rest = &rest[piece.len()..];
    }
    while width(rest) > columns {
        let piece = prefix(rest, columns);
        lines.push(piece.to_owned());
        rest = &rest[piece.len()..];
    }
    lines.push(rest.to_owned());
}

/// The longest beginning of at most `columns`, but at least one character.
fn prefix(text: &str, columns: usize) -> &str {
    let mut taken = 0;
    let mut end = text.len();
    for (index, character) in text.char_indices() {
        taken += character.width().unwrap_or(0);
        if taken > columns && index > 0 {
            end = index;
            break;
        }
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_wrapped_and_figures_kept_whole() {
        assert_eq!(
            wrap("all of 152 µs, (2.00 %) done", 10),
            ["all of", "152 µs,", "(2.00 %)", "done"]
        );
        assert_eq!(
            wrap("it took 20 000 requests", 12),
            ["it took", "20 000", "requests"]
        );
    }

    #[test]
    fn a_word_too_long_for_a_line_is_broken() {
        let url = "http://127.0.0.1/";
        assert_eq!(
            wrap(&format!("go {url}"), 8),
            ["go http:", "//127.0.", "0.1/"]
        );
        assert_eq!(
            wrap(&format!("fetch {url}"), 8),
            ["fetch", "http://1", "27.0.0.1", "/"]
        );
    }

    #[test]
    fn later_lines_hang_under_the_first() {
        assert_eq!(hanging("! ", "one two three", 9), ["! one two", "  three"]);
    }

    #[test]
    fn a_cut_shows() {
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("abcd", 4), "abcd");
        assert_eq!(cut("abcd", 1), "…");
        assert_eq!(cut("abcd", 0), "");
    }

    #[test]
    fn control_characters_are_spelled_out() {
        assert_eq!(harmless("a\x1b[31mb\r\n"), "a\\u{1b}[31mb\\r\\n");
        assert_eq!(harmless("naïve 日本"), "naïve 日本");
    }

    #[test]
    fn ascii_keeps_the_columns() {
        assert_eq!(ascii("≤ 1 µs █▌▏"), "< 1 us ##.");
    }

    proptest! {
        #[test]
        fn no_line_is_too_long_and_no_letter_lost(text in ".{0,200}", columns in 4usize..40) {
            let text = harmless(&text);
            let lines = wrap(&text, columns);
            prop_assert!(lines.iter().all(|line| width(line) <= columns));
            let letters = |text: &str| text.replace(' ', "");
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
        }
    }
}
