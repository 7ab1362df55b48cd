//! The signals that end another tool's command.

use loadline_runner::Command;
use loadline_tool_host::{Host, Signal};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::thread;

/// Passes SIGINT and SIGTERM on to a host from now on: each aborts the run, and is received by the
/// tool. `then` is called with the signal, and true if the tool ends in an orderly way now.
///
/// # Errors
/// If the system refuses it.
pub(crate) fn watch(
    host: &Host,
    mut then: impl FnMut(Signal, bool) + Send + 'static,
) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let (commands, received) = (host.commands.clone(), host.signals.clone());
    let wait = move || {
        for signal in signals.forever() {
            let signal = match signal {
                SIGTERM => Signal::Terminate,
                _ => Signal::Interrupt,
            };
            commands.send(Command::Abort);
            then(signal, received.receive(signal));
        }
    };
    let interrupts = thread::Builder::new().name("interrupts".to_owned());
    interrupts.spawn(wait).map(drop)
}
