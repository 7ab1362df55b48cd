//! The sentence when connections take long to open: the load has not begun, and there is nothing
//! else to show.

use crate::live::say_line;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// So long a wait needs no word.
const PATIENCE: Duration = Duration::from_secs(2);
/// The sentence that is printed then.
const STILL_CONNECTING: &str = "Still connecting: the load begins when each connection is open or \
                                has failed.";

/// Says that connections are still brought up, unless it is dropped before.
pub(crate) struct Connecting {
    _done: Sender<()>,
}

impl Connecting {
    /// Begins to wait.
    ///
    /// # Errors
    /// Those of the system, if it refuses a thread.
    pub(crate) fn watch() -> io::Result<Self> {
        let (done, over) = channel::<()>();
        thread::Builder::new()
            .name("connecting".to_owned())
            .spawn(move || {
                if over.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                    say_line(STILL_CONNECTING);
                }
            })?;
        Ok(Connecting { _done: done })
    }
}
