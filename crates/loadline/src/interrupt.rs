//! Ctrl-C: the first stops a run gently, the second at once.

use crate::live::CLEAR_LINE;
use loadline_engine::Handle;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::{self, Signals};
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Watches for interrupts until it is dropped.
pub(crate) struct Interrupts {
    happened: Arc<AtomicBool>,
    signals: iterator::Handle,
}

impl Interrupts {
    /// From now on interrupts stop this run instead of ending the process.
    pub(crate) fn watch(run: Handle) -> io::Result<Self> {
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let happened = Arc::new(AtomicBool::new(false));
        let interrupts = Interrupts {
            happened: Arc::clone(&happened),
            signals: signals.handle(),
        };
        thread::Builder::new()
            .name("interrupts".to_owned())
            .spawn(move || {
                for _ in signals.forever() {
                    if happened.swap(true, Ordering::Relaxed) {
                        run.abort();
                    } else {
                        run.stop();
                        let notice =
                            "Stopping: waiting for answers in flight; once more stops now.";
                        let clear = if io::stderr().is_terminal() {
                            CLEAR_LINE
                        } else {
                            ""
                        };
                        // Where stderr is closed nobody wants to know.
                        let _ = writeln!(io::stderr(), "{clear}{notice}");
                    }
                }
            })?;
        Ok(interrupts)
    }

    /// Whether there was one.
    pub(crate) fn happened(&self) -> bool {
        self.happened.load(Ordering::Relaxed)
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.signals.close();
    }
}
