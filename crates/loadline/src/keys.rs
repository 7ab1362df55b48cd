//! Keys that change the load while a run lasts, where it is watched from a terminal: `+` and `-`,
//! `p` and `q`. The terminal then hands over each key at once and does not print it; Ctrl-C stays a
//! signal. Its mode is restored when the run has ended, when a thread panics, and before the
//! command ends early. A pipe has no keys.

use crate::interrupt::say;
use anyhow::{Context, Result};
use loadline_plan::Level;
use loadline_report::level_text;
use loadline_runner::{ChangeProblem, Commands, Step};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{self, LocalModes, OptionalActions, SpecialCodeIndex, Termios};
use signal_hook::consts::SIGINT;
use signal_hook::low_level::raise;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// What the keys do, for the reader of the progress line.
const HELP: &str =
    "Keys: + and - change the load by 5 % of the plan, p pauses and resumes, q stops.";
/// How often the reader of keys looks whether the run has ended.
const LOOK_EVERY: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// The terminal's mode before, while another one is set.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Reads keys until it is dropped.
#[derive(Debug)]
pub(crate) struct Keys {
    ended: Arc<AtomicBool>,
}

impl Keys {
    /// Reads keys for the run that these commands reach; `None` where stdin or stderr is no
    /// terminal, or another process group reads it.
    ///
    /// # Errors
    /// If the system refuses it.
    pub(crate) fn watch(commands: &Commands) -> Result<Option<Keys>> {
        let (stdin, stderr) = (io::stdin(), io::stderr());
        let is_ours = termios::tcgetpgrp(&stdin).ok() == Some(rustix::process::getpgrp());
        if !stdin.is_terminal() || !stderr.is_terminal() || !is_ours {
            return Ok(None);
        }
        set_key_by_key().context("the terminal's mode can't be set")?;
        let ended = Arc::new(AtomicBool::new(false));
        let keys = Keys {
            ended: Arc::clone(&ended),
        };
        let commands = commands.clone();
        thread::Builder::new()
            .name("keys".to_owned())
            .spawn(move || read_keys(&commands, &ended))
            .context("a thread can't be started")?;
        say(HELP);
        Ok(Some(keys))
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        restore_terminal();
    }
}

/// Sets the terminal's mode back to what it was before keys were read.
pub(crate) fn restore_terminal() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(before) = before {
        // A terminal that is gone needs no mode.
        let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, &before);
    }
}

/// Each key is handed over at once and not printed.
fn set_key_by_key() -> io::Result<()> {
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

fn read_keys(commands: &Commands, ended: &AtomicBool) {
    let stdin = io::stdin();
    while !ended.load(Ordering::Relaxed) {
        let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
        let has_key = poll(&mut ready, Some(&LOOK_EVERY)).is_ok_and(|ready| ready > 0);
        if !has_key || ended.load(Ordering::Relaxed) {
            continue;
        }
        let mut keys = [0; 64];
        match rustix::io::read(&stdin, &mut keys) {
            Ok(count @ 1..) => keys[..count].iter().for_each(|key| press(*key, commands)),
            // The terminal is gone.
            _ => return,
        }
    }
}

fn press(key: u8, commands: &Commands) {
    if key == b'q' {
        // As Ctrl-C: gently at first, at once the second time.
        let _ = raise(SIGINT);
        return;
    }
    match change(key, commands) {
        Some(Ok(level)) => say(&format!("The load is {}.", level_text(level))),
        Some(Err(problem)) => say(&format!("The load stays as it is: {problem}")),
        None => {}
    }
}

/// Does what a key says; `None` for other keys.
fn change(key: u8, commands: &Commands) -> Option<Result<Level, ChangeProblem>> {
    match key {
        b'+' | b'=' => Some(commands.step(Step::Up)),
        b'-' | b'_' => Some(commands.step(Step::Down)),
        b'p' if commands.is_paused() => Some(commands.resume()),
        b'p' => Some(commands.pause()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_keys_do_something_and_no_others() {
        let commands = Commands::default();
        for key in *b"+-p" {
            assert_eq!(change(key, &commands), Some(Err(ChangeProblem::NoRun)));
        }
        for key in *b"x \n" {
            assert_eq!(change(key, &commands), None);
        }
    }
}
