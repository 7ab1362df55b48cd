//! The sentence when something takes long before the load begins: there is nothing else to show.

use crate::terminal::print_line;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// So long a wait needs no word.
const NOTICE_AFTER: Duration = Duration::from_secs(2);
/// The sentence while requests are prepared and connections are brought up.
const STILL_PREPARING: &str = "Still preparing requests and opening connections: the load begins \
                               when each connection is open or has failed.";
/// The sentence while a script is loaded.
const STILL_LOADING: &str = "Still loading the script: the load begins when it has returned. If \
                             it does not, look for an endless loop in it.";

/// Prints the reason of a wait, unless it is dropped before.
pub(crate) struct Waiting {
    _done: Sender<()>,
}

impl Waiting {
    /// Begins to wait for requests and connections.
    ///
    /// # Errors
    /// Those of the system, if it refuses a thread.
    pub(crate) fn for_connections() -> io::Result<Self> {
        Waiting::begin(STILL_PREPARING)
    }

    /// Begins to wait for a script.
    ///
    /// # Errors
    /// Those of the system, if it refuses a thread.
    pub(crate) fn for_script() -> io::Result<Self> {
        Waiting::begin(STILL_LOADING)
    }

    fn begin(sentence: &'static str) -> io::Result<Self> {
        let (done, over) = channel::<()>();
        thread::Builder::new()
            .name("waiting".to_owned())
            .spawn(move || {
                if over.recv_timeout(NOTICE_AFTER) == Err(RecvTimeoutError::Timeout) {
                    print_line(sentence);
                }
            })?;
        Ok(Waiting { _done: done })
    }
}
