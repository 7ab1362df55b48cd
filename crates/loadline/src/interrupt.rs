//! Ctrl-C, and every other signal that requests the command's end: the first stops a run gently,
//! and at once if responses keep it waiting; the second at once. While the first run still connects
//! there is nothing to stop and nothing to report, and the command ends. Between two runs of a
//! series the next one is stopped before it measures anything, and the measurements so far are
//! reported. An output that can't be written any more, such as a pipe without a reader, does not
//! keep the command alive: there is nothing left to stop then.

use crate::exit::Exit;
use crate::terminal::mode::restore_terminal;
use crate::terminal::print_line;
use anyhow::{Context, Result};
use loadline_runner::preflight::discard_all;
use loadline_runner::{Command, Commands, Phase, STOP_TIMEOUT};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag::{register, register_conditional_default};
use signal_hook::iterator::{self, Signals};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

/// The time for a run to end. A run that is aborted ends in much less; a worker that does not
/// respond is given up in about half of it.
const END_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest time for writing and printing the results after the run has ended.
const REPORT_TIMEOUT: Duration = Duration::from_secs(8);
/// The sentence where there is nothing to report.
const NOTHING_MEASURED: &str = "loadline: interrupted before the load began; nothing was measured.";

/// Watches for interrupts until it is dropped.
pub(crate) struct Interrupts {
    shared: Arc<Shared>,
    signals: iterator::Handle,
    _watching: Watching,
}

/// As long as one of these is there, interrupts don't end the process by themselves.
struct Watching;

/// The number of those that are there.
static WATCHING: AtomicUsize = AtomicUsize::new(0);

impl Watching {
    fn begin() -> io::Result<Self> {
        let unwatched = unwatched()?;
        WATCHING.fetch_add(1, Ordering::SeqCst);
        unwatched.store(false, Ordering::SeqCst);
        Ok(Watching)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        WATCHING.fetch_sub(1, Ordering::SeqCst);
        if let Ok(unwatched) = unwatched() {
            unwatched.store(WATCHING.load(Ordering::SeqCst) == 0, Ordering::SeqCst);
        }
    }
}

/// The effect of the first interrupt of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It begins nothing new and waits for responses; the second ends the run.
    Gently,
    /// It ends the run, without a word.
    AtOnce,
}

struct Shared {
    manner: Manner,
    happened: AtomicBool,
    commands: Commands,
}

impl Interrupts {
    /// From now on interrupts don't end the process by themselves: they end it in our words as long
    /// as there is no run, and stop the run from then on.
    ///
    /// # Errors
    /// If the system refuses it.
    pub(crate) fn watch(manner: Manner, commands: &Commands) -> Result<Self> {
        Self::begin(manner, commands).context("signals can't be watched")
    }

    fn begin(manner: Manner, commands: &Commands) -> io::Result<Self> {
        let mut signals = Signals::new(ending_signals())?;
        let watching = Watching::begin()?;
        let shared = Arc::new(Shared {
            manner,
            happened: AtomicBool::new(false),
            commands: commands.clone(),
        });
        let interrupts = Interrupts {
            shared: Arc::clone(&shared),
            signals: signals.handle(),
            _watching: watching,
        };
        thread::Builder::new()
            .name("interrupts".to_owned())
            .spawn(move || signals.forever().for_each(|_| shared.interrupt()))?;
        Ok(interrupts)
    }

    /// Whether there was one.
    pub(crate) fn happened(&self) -> bool {
        self.shared.happened.load(Ordering::Relaxed)
    }

    /// Ends the process in our words if there was one, where what was measured so far is no result.
    pub(crate) fn end_before_load(&self) {
        if self.shared.commands.is_ending() {
            give_up(NOTHING_MEASURED);
        }
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.signals.close();
    }
}

/// Returns the signals that request the command's end. Signals that the parent process set to be
/// ignored, as `nohup` does for the end of a terminal, are not among them.
pub(crate) fn ending_signals() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = ignored(&status);
    let is_handled = |signal: &i32| ignored & 1 << (signal - 1) == 0;
    let hang_up = [SIGHUP].into_iter().filter(is_handled);
    [SIGINT, SIGTERM].into_iter().chain(hang_up).collect()
}

/// The ignored signals of a process, a bit each from the lowest for signal 1 (proc_pid_status(5)).
fn ignored(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or(0)
}

/// Waits for a signal that asks the command to end, where it has nothing else left to do.
///
/// # Errors
/// If signals can't be watched.
pub(crate) fn wait_for_interrupt() -> io::Result<()> {
    let mut signals = Signals::new(ending_signals())?;
    let _watching = Watching::begin()?;
    signals.forever().next();
    Ok(())
}

/// A file that may not grow any more is then an error of the write, and does not end the process.
///
/// # Errors
/// Those of the system.
pub(crate) fn outlive_full_files() -> io::Result<()> {
    register(SIGXFSZ, Arc::default()).map(|_| ())
}

/// Returns a flag that is true if interrupts end the process by themselves again: the system does
/// not restore that when a watch is over.
fn unwatched() -> io::Result<Arc<AtomicBool>> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(flag) = FLAG.get() {
        return Ok(Arc::clone(flag));
    }
    let flag = FLAG.get_or_init(Arc::default);
    for signal in ending_signals() {
        register_conditional_default(signal, Arc::clone(flag))?;
    }
    Ok(Arc::clone(flag))
}

impl Shared {
    fn interrupt(&self) {
        let again = self.happened.swap(true, Ordering::Relaxed);
        let command = match self.manner {
            Manner::Gently if !again => Command::Stop,
            Manner::Gently | Manner::AtOnce => Command::Abort,
        };
        match self.commands.send(command) {
            Phase::Running if command == Command::Abort => self.end_after_grace(again),
            Phase::Running => {
                print_line(&format!(
                    "Stopping: waiting at most {} s for responses in flight; interrupt again to \
                     stop now.",
                    STOP_TIMEOUT.as_secs(),
                ));
            }
            Phase::BeforeLoad => give_up(NOTHING_MEASURED),
            Phase::Ended if again => give_up("loadline: interrupted."),
            Phase::Ended => {
                print_line("Stopping: the report follows; interrupt again to stop now.")
            }
        }
    }

    /// Ends the process if a run that must end does not, because an output blocks it. The actions
    /// of a script after the run may take any time, unless the interrupt came again.
    fn end_after_grace(&self, again: bool) {
        thread::sleep(END_TIMEOUT);
        if self.commands.phase() != Phase::Running {
            if !again {
                return;
            }
            thread::sleep(REPORT_TIMEOUT);
        }
        give_up("loadline: an output took no data any more; ended without it.");
    }
}

fn give_up(notice: &str) -> ! {
    discard_all();
    restore_terminal();
    print_line(notice);
    std::process::exit(Exit::Interrupted.code().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_mask() {
        let status = "Name:\tloadline\nSigBlk:\t00000000000000ff\nSigIgn:\t0000000000001001\n";
        assert_eq!(ignored(status), 1 << (SIGHUP - 1) | 1 << 12);
        assert_eq!(ignored("no such line"), 0);
    }

    #[test]
    fn an_interrupt_and_a_request_to_end_are_heard_always() {
        let signals = ending_signals();
        assert!(signals.starts_with(&[SIGINT, SIGTERM]), "{signals:?}");
    }
}
