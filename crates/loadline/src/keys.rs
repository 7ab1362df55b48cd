//! Keys while a run lasts, where it is watched from a terminal: most of them change the load, some
//! the live view. The terminal then hands over each key at once and does not print it; Ctrl-C
//! stays a signal. Its mode is restored when the run has ended, when a thread panics, and before
//! the command ends early. A pipe has no keys.

use crate::terminal::mode::{restore_terminal, set_key_by_key};
use crate::terminal::print_line;
use crate::view::{ViewHandle, screen, suspension};
use anyhow::{Context, Result};
use loadline_record::LoadChange;
use loadline_report::level_text;
use loadline_runner::{ChangeProblem, Commands, Step};
use loadline_terminal_view::{Action, Keys as KeyMap};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::SIGINT;
use signal_hook::low_level::raise;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The effects of the keys, for the reader of the progress line.
const HELP: &str =
    "Keys: + and - change the load by 5 % of the plan, p pauses and resumes, q stops.";
/// The interval in which the reader of keys checks whether the run has ended.
const POLL_INTERVAL: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// Reads keys until it is dropped.
#[derive(Debug)]
pub(crate) struct Keys {
    ended: Arc<AtomicBool>,
}

impl Keys {
    /// Reads the keys of this map for the run that these commands reach, and for its live view;
    /// `None` where stdin or stderr is no terminal, or another process group reads it.
    ///
    /// # Errors
    /// If the system refuses it.
    pub(crate) fn watch(
        map: KeyMap,
        commands: &Commands,
        view: Option<ViewHandle>,
    ) -> Result<Option<Keys>> {
        let (stdin, stderr) = (io::stdin(), io::stderr());
        if !stdin.is_terminal() || !stderr.is_terminal() || !screen::is_ours(&stdin) {
            view.inspect(ViewHandle::without_keys);
            return Ok(None);
        }
        suspension::watch();
        set_key_by_key().context("the terminal's mode can't be set")?;
        let ended = Arc::new(AtomicBool::new(false));
        let keys = Keys {
            ended: Arc::clone(&ended),
        };
        // The view shows its keys by itself.
        if view.is_none() {
            print_line(HELP);
        }
        let pressed = Pressed {
            map,
            commands: commands.clone(),
            view,
        };
        thread::Builder::new()
            .name("keys".to_owned())
            .spawn(move || read_keys(&pressed, &ended))
            .context("a thread can't be started")?;
        Ok(Some(keys))
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        restore_terminal();
    }
}

/// The objects that keys act on.
struct Pressed {
    map: KeyMap,
    commands: Commands,
    view: Option<ViewHandle>,
}

fn read_keys(pressed: &Pressed, ended: &AtomicBool) {
    let stdin = io::stdin();
    while !ended.load(Ordering::Relaxed) {
        let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
        let has_key = poll(&mut ready, Some(&POLL_INTERVAL)).is_ok_and(|ready| ready > 0);
        if !has_key || ended.load(Ordering::Relaxed) {
            continue;
        }
        let mut keys = [0; 64];
        match rustix::io::read(&stdin, &mut keys) {
            Ok(count @ 1..) => keys[..count].iter().for_each(|key| pressed.press(*key)),
            // The terminal is gone.
            _ => return,
        }
    }
}

impl Pressed {
    fn press(&self, key: u8) {
        let Some(action) = self.map.action(key) else {
            return;
        };
        if self.view.as_ref().is_some_and(|view| view.act(action)) {
            return;
        }
        match action {
            // As Ctrl-C: gently at first, at once the second time.
            Action::Quit => drop(raise(SIGINT)),
            Action::Help => print_line(HELP),
            Action::MoreLoad
            | Action::LessLoad
            | Action::PauseOrResume
            | Action::Finer
            | Action::Coarser
            | Action::AutomaticScale => print_change(change(action, &self.commands)),
        }
    }
}

fn print_change(changed: Option<Result<LoadChange, ChangeProblem>>) {
    match changed {
        Some(Ok(change)) => print_line(&format!("The load is {}.", level_text(change.level))),
        Some(Err(problem)) => print_line(&format!("The load stays as it is: {problem}")),
        None => {}
    }
}

/// Changes the load by an action; `None` for actions that don't.
fn change(action: Action, commands: &Commands) -> Option<Result<LoadChange, ChangeProblem>> {
    match action {
        Action::MoreLoad => Some(commands.step(Step::Up)),
        Action::LessLoad => Some(commands.step(Step::Down)),
        Action::PauseOrResume if commands.is_paused() => Some(commands.resume()),
        Action::PauseOrResume => Some(commands.pause()),
        Action::Quit | Action::Help | Action::Finer | Action::Coarser | Action::AutomaticScale => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_keys_change_the_load_and_no_others() {
        let commands = Commands::default();
        let changed = |key| change(KeyMap::Load.action(key)?, &commands);
        for key in *b"+-p" {
            assert_eq!(changed(key), Some(Err(ChangeProblem::NoRun)));
        }
        for key in *b"x \n?a" {
            assert_eq!(changed(key), None);
        }
    }
}
