//! The mode of the terminal while keys are read: each key is handed over at once.

use crate::view::screen;
use rustix::termios::{self, LocalModes, OptionalActions, SpecialCodeIndex, Termios};
use std::io;
use std::sync::{Mutex, PoisonError};

/// The terminal's mode before, while another one is set.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Sets the terminal's screen and mode back to what they were before; whether keys were read.
pub(crate) fn restore_terminal() -> bool {
    screen::leave();
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(before) = before {
        // A terminal that is gone needs no mode.
        let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, &before);
        return true;
    }
    false
}

/// Reads keys again, after the terminal was restored for a time.
pub(crate) fn set_again() {
    // A terminal that is gone needs no mode.
    let _ = set_key_by_key();
}

/// Has each key handed over at once and not printed.
///
/// # Errors
/// If the system refuses it.
pub(crate) fn set_key_by_key() -> io::Result<()> {
    let stdin = io::stdin();
    let before = termios::tcgetattr(&stdin)?;
    let mut mode = before.clone();
    mode.local_modes
        .remove(LocalModes::ICANON | LocalModes::ECHO);
    mode.special_codes[SpecialCodeIndex::VMIN] = 1;
    mode.special_codes[SpecialCodeIndex::VTIME] = 0;
    *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
    Ok(termios::tcsetattr(&stdin, OptionalActions::Now, &mode)?)
}
