//! Ctrl-Z while the live view is on: the shell that comes back must find its own screen, and the
//! view must be drawn again when the command goes on.

use crate::keys::{restore_terminal, set_again};
use crate::view::screen;
use signal_hook::consts::SIGTSTP;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::sync::Once;
use std::thread;

/// From now on the screen is left before the command is stopped. Where the system refuses that, a
/// stopped command leaves its screen to the shell.
pub(super) fn watch() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        let Ok(mut signals) = Signals::new([SIGTSTP]) else {
            return;
        };
        let begun = thread::Builder::new()
            .name("suspension".to_owned())
            .spawn(move || signals.forever().for_each(|_| suspend()));
        // Without the thread Ctrl-Z does nothing while the view is on.
        drop(begun);
    });
}

fn suspend() {
    let was_entered = screen::is_entered();
    let had_keys = restore_terminal();
    // It stops here, until the shell lets it go on.
    let _ = emulate_default_handler(SIGTSTP);
    if had_keys {
        set_again();
    }
    if was_entered {
        screen::enter();
    }
}
