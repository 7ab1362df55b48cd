//! Ctrl-C: the first stops a run gently, the second at once. While a run still connects there is
//! nothing to stop and nothing to report, and the command ends.

use crate::exit::Exit;
use crate::live::{CLEAR_LINE, draws};
use loadline_engine::Handle;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::{self, Signals};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

/// Watches for interrupts until it is dropped.
pub(crate) struct Interrupts {
    shared: Arc<Shared>,
    signals: iterator::Handle,
}

/// What the first interrupt of a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It begins nothing new and waits for answers; the second ends the run.
    Gently,
    /// It ends the run, without a word.
    AtOnce,
}

struct Shared {
    manner: Manner,
    happened: AtomicBool,
    /// What stops the run, once there is one.
    run: OnceLock<Handle>,
}

impl Interrupts {
    /// From now on interrupts don't end the process by themselves: they end it in our words as long
    /// as there is no run, and stop the run from then on.
    pub(crate) fn watch(manner: Manner) -> io::Result<Self> {
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let shared = Arc::new(Shared {
            manner,
            happened: AtomicBool::new(false),
            run: OnceLock::new(),
        });
        let interrupts = Interrupts {
            shared: Arc::clone(&shared),
            signals: signals.handle(),
        };
        thread::Builder::new()
            .name("interrupts".to_owned())
            .spawn(move || signals.forever().for_each(|_| shared.interrupt()))?;
        Ok(interrupts)
    }

    /// The run has begun: this stops it.
    pub(crate) fn attach(&self, run: Handle) {
        // Only the first run is: there is one for each watch.
        let _ = self.shared.run.set(run);
    }

    /// Whether there was one.
    pub(crate) fn happened(&self) -> bool {
        self.shared.happened.load(Ordering::Relaxed)
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.signals.close();
    }
}

impl Shared {
    fn interrupt(&self) {
        let Some(run) = self.run.get() else {
            say("loadline: interrupted before the load began; nothing was measured.");
            std::process::exit(Exit::Interrupted.code().into());
        };
        if self.happened.swap(true, Ordering::Relaxed) || self.manner == Manner::AtOnce {
            run.abort();
        } else {
            run.stop();
            say("Stopping: waiting for answers in flight; once more stops now.");
        }
    }
}

fn say(notice: &str) {
    let stderr = io::stderr();
    let clear = if draws(&stderr) { CLEAR_LINE } else { "" };
    // Where stderr is closed nobody wants to know.
    let _ = writeln!(&stderr, "{clear}{notice}");
}
