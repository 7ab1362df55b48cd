//! The terminal that a command prints to: its screen, its characters, and single lines on it.

use loadline_units::visible;
use std::io::{self, IsTerminal, Write};

pub(crate) mod mode;

/// Moves to the begin of the line, and erases the line.
pub(crate) const CLEAR_LINE: &str = "\r\x1b[K";

/// True if this is a terminal on which can be drawn: a dumb terminal would show the escapes.
pub(crate) fn draws(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// True if the locale's characters are Unicode, by the variables that decide it.
pub(crate) fn speaks_utf8() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL")
        .or_else(|| set("LC_CTYPE"))
        .or_else(|| set("LANG"));
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

/// Prints a separate line in place of the one that is redrawn.
pub(crate) fn print_line(line: &str) {
    let clear = if draws(&io::stderr()) { CLEAR_LINE } else { "" };
    print(&format!("{clear}{}\n", visible(line)));
}

/// Writes to stderr. Errors are ignored: if stderr is closed, nobody reads it.
pub(crate) fn print(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr
        .write_all(text.as_bytes())
        .and_then(|()| stderr.flush());
}
