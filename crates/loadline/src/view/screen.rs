//! The screen of the terminal: entered when there is something to show, and left as it was however
//! the command ends. There is one terminal, and so one screen in the process: a signal that ends
//! the command leaves it, too.

use crate::view::backend::Escapes;
use crate::view::redirected_streams::RedirectedStreams;
use loadline_terminal_view::{State, draw};
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use rustix::termios::{tcgetpgrp, tcgetwinsize};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The size that is assumed if that of the terminal is not known.
const USUAL_SIZE: (u16, u16) = (80, 24);
/// The largest part of a terminal that is used.
const MOST_COLUMNS: u16 = 1_000;
/// As [`MOST_COLUMNS`].
const MOST_LINES: u16 = 500;

/// The screen while it is shown.
static SCREEN: Mutex<Shown> = Mutex::new(Shown {
    screen: None,
    is_refused: false,
    generation: 0,
});

struct Shown {
    screen: Option<Screen>,
    /// True if the screen could not be entered, so that it is not tried again.
    is_refused: bool,
    /// The number of screens so far.
    generation: u64,
}

/// The alternate screen.
pub(crate) struct Screen {
    terminal: Terminal<Escapes>,
    size: (u16, u16),
    /// The number of this screen.
    generation: u64,
    /// The streams whose output is kept meanwhile.
    redirected: Option<RedirectedStreams>,
    /// True if the terminal is gone.
    is_gone: bool,
}

/// Enters the screen, if it is not entered yet. A terminal that refuses it has no view.
pub(crate) fn enter() {
    let mut shown = shown();
    if shown.screen.is_some() || shown.is_refused {
        return;
    }
    shown.generation += 1;
    match Screen::enter(shown.generation) {
        Ok(screen) => shown.screen = Some(screen),
        Err(_) => shown.is_refused = true,
    }
}

/// Leaves the screen, if it is entered: what was on the terminal before is there again, and what
/// was printed meanwhile below it.
pub(crate) fn leave() {
    if let Some(screen) = shown().screen.take() {
        screen.leave();
    }
}

/// True if the screen is entered.
pub(super) fn is_entered() -> bool {
    shown().screen.is_some()
}

/// Does something with the screen, if it is entered.
pub(super) fn with(act: impl FnOnce(&mut Screen)) {
    if let Some(screen) = &mut shown().screen {
        act(screen);
    }
}

fn shown() -> MutexGuard<'static, Shown> {
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Screen {
    fn enter(generation: u64) -> io::Result<Screen> {
        let terminal = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        let size = size_of(&terminal).unwrap_or(USUAL_SIZE);
        let redirected = RedirectedStreams::keep()?;
        let options = TerminalOptions {
            viewport: Viewport::Fixed(Rect::new(0, 0, size.0, size.1)),
        };
        let terminal = Terminal::with_options(Escapes::new(terminal, size), options)?;
        let mut screen = Screen {
            terminal,
            size,
            generation,
            redirected: Some(redirected),
            is_gone: false,
        };
        screen.is_gone = screen.terminal.backend_mut().enter().is_err();
        Ok(screen)
    }

    fn leave(mut self) {
        // A terminal that is gone needs no screen.
        let _ = self.terminal.backend_mut().leave();
        if let Some(redirected) = self.redirected.take() {
            redirected.print();
        }
    }

    /// Returns the number of the screen: a new one has to be drawn in full.
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// Its size in columns and lines, as it is now.
    pub(super) fn size(&self) -> (u16, u16) {
        size_of(self.terminal.backend().terminal()).unwrap_or(self.size)
    }

    /// Returns the lines that were printed since the last call.
    pub(super) fn new_lines(&mut self) -> Vec<String> {
        self.redirected
            .as_mut()
            .map_or_else(Vec::new, RedirectedStreams::new_lines)
    }

    /// Draws this state, unless the terminal is gone or belongs to another job.
    pub(super) fn draw(&mut self, state: &State, now: Instant) {
        if self.is_gone || !is_ours(self.terminal.backend().terminal()) {
            return;
        }
        let size = self.size();
        let resized = match size == self.size {
            true => Ok(()),
            false => self.resize(size),
        };
        let drawn = resized.and_then(|()| {
            let drawn = self.terminal.draw(|frame| draw(state, now, frame));
            drawn.map(|_| ())
        });
        self.is_gone = drawn.is_err();
    }

    fn resize(&mut self, size: (u16, u16)) -> io::Result<()> {
        self.size = size;
        self.terminal.backend_mut().resize(size);
        self.terminal.resize(Rect::new(0, 0, size.0, size.1))
    }
}

/// The size of a terminal in columns and lines, where it knows it.
pub(super) fn size_of(terminal: &impl AsFd) -> Option<(u16, u16)> {
    let size = tcgetwinsize(terminal).ok()?;
    bounded(size.ws_col, size.ws_row)
}

/// A size of which a picture fits in memory: who sets it may set any.
fn bounded(columns: u16, lines: u16) -> Option<(u16, u16)> {
    let is_known = columns > 0 && lines > 0;
    is_known.then_some((columns.min(MOST_COLUMNS), lines.min(MOST_LINES)))
}

/// True if this process is in the foreground of a terminal.
pub(crate) fn is_ours(terminal: &impl AsFd) -> bool {
    tcgetpgrp(terminal).ok() == Some(rustix::process::getpgrp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_a_bounded_size() {
        assert_eq!(bounded(80, 24), Some((80, 24)));
        assert_eq!(bounded(65_535, 65_535), Some((1_000, 500)));
        assert_eq!(bounded(30_000, 1), Some((1_000, 1)));
        assert_eq!(bounded(0, 24), None);
    }
}
