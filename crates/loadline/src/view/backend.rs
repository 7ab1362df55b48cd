//! The escapes of a terminal: where the cursor goes, how a character looks (ECMA-48, and the modes
//! of xterm). A picture is collected in memory and written at once, so that a terminal never shows
//! half of one.

use ratatui::backend::{Backend, ClearType, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use ratatui::style::{Color, Modifier};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};

/// The alternate screen, an invisible cursor, and nothing on the screen.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[0m\x1b[2J";
/// Plain characters, the cursor, and the screen of before.
const LEAVE: &str = "\x1b[0m\x1b[?25h\x1b[?1049l";

/// A terminal in the form that `ratatui` requires.
#[derive(Debug)]
pub(super) struct Escapes {
    terminal: File,
    /// The output that is not written yet.
    pending: String,
    size: Size,
}

/// The appearance of a character.
type Looks = (Color, Color, Modifier);

impl Escapes {
    /// On this terminal, of this size in columns and lines.
    pub(super) fn new(terminal: File, size: (u16, u16)) -> Escapes {
        Escapes {
            terminal,
            pending: String::new(),
            size: size.into(),
        }
    }

    pub(super) fn resize(&mut self, size: (u16, u16)) {
        self.size = size.into();
    }

    pub(super) fn enter(&mut self) -> io::Result<()> {
        self.pending.push_str(ENTER);
        self.flush()
    }

    pub(super) fn leave(&mut self) -> io::Result<()> {
        self.pending.clear();
        self.pending.push_str(LEAVE);
        self.flush()
    }

    pub(super) fn terminal(&self) -> &File {
        &self.terminal
    }
}

impl Backend for Escapes {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let out = &mut self.pending;
        let mut next = None;
        let mut looks: Option<Looks> = None;
        for (x, y, cell) in content {
            if next != Some((x, y)) {
                out.push_str(&format!("\x1b[{};{}H", y + 1, x + 1));
            }
            let own = (cell.fg, cell.bg, cell.modifier);
            if looks != Some(own) {
                out.push_str(&rendition(own));
                looks = Some(own);
            }
            out.push_str(cell.symbol());
            // Behind a wide character it is not known which column follows.
            next = cell.symbol().is_ascii().then_some((x + 1, y));
        }
        if looks.is_some() {
            out.push_str("\x1b[0m");
        }
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.pending.push_str("\x1b[?25l");
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.pending.push_str("\x1b[?25h");
        Ok(())
    }

    /// Not called: the view has no cursor.
    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let Position { x, y } = position.into();
        self.pending.push_str(&format!("\x1b[{};{}H", y + 1, x + 1));
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.pending.push_str("\x1b[0m\x1b[2J");
        Ok(())
    }

    fn clear_region(&mut self, region: ClearType) -> io::Result<()> {
        self.pending.push_str(match region {
            ClearType::All => "\x1b[2J",
            ClearType::AfterCursor => "\x1b[0J",
            ClearType::BeforeCursor => "\x1b[1J",
            ClearType::CurrentLine => "\x1b[2K",
            ClearType::UntilNewLine => "\x1b[0K",
        });
        Ok(())
    }

    fn size(&self) -> io::Result<Size> {
        Ok(self.size)
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize {
            columns_rows: self.size,
            pixels: Size::default(),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        let pending = std::mem::take(&mut self.pending);
        self.terminal.write_all(pending.as_bytes())
    }
}

/// The escape that makes what follows look so (SGR of ECMA-48).
fn rendition((fg, bg, modifier): Looks) -> String {
    let mut text = "\x1b[0".to_owned();
    if modifier.contains(Modifier::BOLD) {
        text.push_str(";1");
    }
    if modifier.contains(Modifier::DIM) {
        text.push_str(";2");
    }
    for (color, first) in [(fg, 30), (bg, 40)] {
        if let Some(index) = index(color) {
            // A text of our own can be written to.
            let _ = write!(text, ";{}", first + index);
        }
    }
    text + "m"
}

/// The colours that the view has, of the eight that every terminal has.
fn index(color: Color) -> Option<u8> {
    [
        Color::Black,
        Color::Red,
        Color::Green,
        Color::Yellow,
        Color::Blue,
        Color::Magenta,
        Color::Cyan,
    ]
    .into_iter()
    .position(|one| one == color)
    .map(|index| index as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek};

    fn drawn(cells: &[(u16, u16, Cell)]) -> String {
        let mut file = tempfile::tempfile().unwrap();
        let mut escapes = Escapes::new(file.try_clone().unwrap(), (80, 24));
        escapes
            .draw(cells.iter().map(|(x, y, cell)| (*x, *y, cell)))
            .unwrap();
        escapes.flush().unwrap();
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        text
    }

    fn cell(symbol: &str, fg: Color) -> Cell {
        let mut cell = Cell::default();
        cell.set_symbol(symbol).set_fg(fg);
        cell
    }

    #[test]
    fn neighbours_that_look_alike_take_one_escape() {
        let cells = [
            (3, 0, cell("a", Color::Red)),
            (4, 0, cell("b", Color::Red)),
            (0, 1, cell("c", Color::Reset)),
        ];
        assert_eq!(
            drawn(&cells),
            "\x1b[1;4H\x1b[0;31mab\x1b[2;1H\x1b[0mc\x1b[0m"
        );
    }

    #[test]
    fn behind_a_character_that_may_be_wide_the_column_is_said() {
        let cells = [
            (0, 0, cell("漢", Color::Reset)),
            (2, 0, cell("b", Color::Reset)),
        ];
        assert_eq!(drawn(&cells), "\x1b[1;1H\x1b[0m漢\x1b[1;3Hb\x1b[0m");
    }

    #[test]
    fn nothing_to_draw_writes_nothing() {
        assert_eq!(drawn(&[]), "");
    }
}
