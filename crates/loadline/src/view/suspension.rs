//! Ctrl-Z and Ctrl-\ while keys are read or the live view is on: the shell that comes back must
//! find its own screen, and the view must be drawn again when the command goes on.

use crate::terminal::mode::{restore_terminal, set_again};
use crate::view::screen;
use signal_hook::consts::{SIGQUIT, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::sync::Once;
use std::thread;

/// From now on the screen is left before the command is stopped, or quits at once. Where the system
/// refuses that, it leaves its screen to the shell.
pub(crate) fn watch() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        let Ok(mut signals) = Signals::new([SIGTSTP, SIGQUIT]) else {
            return;
        };
        let begun = thread::Builder::new()
            .name("suspension".to_owned())
            .spawn(move || signals.forever().for_each(obey));
        // Without the thread Ctrl-Z does nothing while the view is on.
        drop(begun);
    });
}

fn obey(signal: i32) {
    match signal {
        SIGQUIT => {
            restore_terminal();
            // The process ends here, with its core where those are kept.
            let _ = emulate_default_handler(SIGQUIT);
        }
        _ => suspend(),
    }
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
