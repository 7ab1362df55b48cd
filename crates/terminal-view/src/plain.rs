//! A screen without colours, and one in ASCII: the last steps of drawing, so that no panel has to
//! handle either.

use ratatui::buffer::Buffer;
use ratatui::style::Color;

/// Removes all colours; bold and dim stay.
pub(crate) fn without_colours(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        (cell.fg, cell.bg) = (Color::Reset, Color::Reset);
    }
}

/// Replaces every character by ASCII, in the same columns.
pub(crate) fn in_ascii(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if !cell.symbol().is_ascii() {
            let ascii = cell.symbol().chars().next().map_or(' ', ascii);
            cell.set_char(ascii);
        }
    }
}

fn ascii(character: char) -> char {
    match character {
        '\u{2800}' => ' ',
        '\u{2801}'..='\u{28ff}' => '*',
        '•' => '.',
        '┌' | '┐' | '└' | '┘' => '+',
        other => loadline_report::ascii(other.encode_utf8(&mut [0; 4]))
            .chars()
            .next()
            .unwrap_or('?'),
    }
}
