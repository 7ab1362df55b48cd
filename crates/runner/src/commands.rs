//! Commands to runs, from any thread: signals are one source of them, observers another.
//!
//! The same handle serves all runs of a series or a search. A command stays in force: a run that
//! begins behind it is aborted before it measures anything.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a run can be told while it lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Command {
    /// Begin no new request and wait for the answers in flight, at most until the duration is over.
    Stop,
    /// End at once; requests in flight stay without an answer.
    Abort,
}

/// When a command came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before the first run began its load.
    BeforeLoad,
    /// While a run lasts.
    Running,
    /// After a run ended, when no other one lasts.
    Ended,
}

/// Carries commands out in a run that is under way.
pub trait Control: Send {
    /// As [`Command::Stop`].
    fn stop(&self);

    /// As [`Command::Abort`].
    fn abort(&self);
}

impl Control for loadline_engine::Handle {
    fn stop(&self) {
        loadline_engine::Handle::stop(self);
    }

    fn abort(&self) {
        loadline_engine::Handle::abort(self);
    }
}

/// Sends commands to the run that is under way, and to those behind it.
#[derive(Clone, Default)]
pub struct Commands(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// The strongest command so far.
    command: Option<Command>,
    /// The run that is under way.
    run: Option<Box<dyn Control>>,
    /// Whether a run has ended already, so that there is something to report.
    has_ended: bool,
}

impl Commands {
    /// Sends a command. Returns when it came.
    pub fn send(&self, command: Command) -> Phase {
        let mut state = self.state();
        state.command = state.command.max(Some(command));
        if let Some(run) = &state.run {
            carry_out(command, run.as_ref());
        }
        state.phase()
    }

    /// Whether a command was sent that ends runs.
    pub fn is_ending(&self) -> bool {
        self.state().command.is_some()
    }

    /// Whether a run lasts, or has ended.
    pub fn phase(&self) -> Phase {
        self.state().phase()
    }

    /// A run has begun its load: this controls it.
    pub(crate) fn attach(&self, run: Box<dyn Control>) {
        let mut state = self.state();
        if state.command.is_some() {
            run.abort();
        }
        state.run = Some(run);
    }

    /// The run has ended.
    pub(crate) fn detach(&self) {
        let mut state = self.state();
        state.run = None;
        state.has_ended = true;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn phase(&self) -> Phase {
        match self.run {
            Some(_) => Phase::Running,
            None if self.has_ended => Phase::Ended,
            None => Phase::BeforeLoad,
        }
    }
}

impl std::fmt::Debug for Commands {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.state();
        f.debug_struct("Commands")
            .field("command", &state.command)
            .field("phase", &state.phase())
            .finish()
    }
}

fn carry_out(command: Command, run: &dyn Control) {
    match command {
        Command::Stop => run.stop(),
        Command::Abort => run.abort(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Told(Arc<Mutex<Vec<Command>>>);

    impl Control for Told {
        fn stop(&self) {
            self.0.lock().unwrap().push(Command::Stop);
        }

        fn abort(&self) {
            self.0.lock().unwrap().push(Command::Abort);
        }
    }

    #[test]
    fn a_command_reaches_the_run_that_lasts_and_aborts_those_behind_it() {
        let commands = Commands::default();
        let told = Arc::default();
        assert_eq!(commands.phase(), Phase::BeforeLoad);
        commands.attach(Box::new(Told(Arc::clone(&told))));
        assert!(!commands.is_ending());
        assert_eq!(commands.send(Command::Stop), Phase::Running);
        commands.detach();
        assert_eq!(commands.phase(), Phase::Ended);
        commands.attach(Box::new(Told(Arc::clone(&told))));
        assert_eq!(*told.lock().unwrap(), [Command::Stop, Command::Abort]);
        assert!(commands.is_ending());
    }

    #[test]
    fn a_command_before_the_first_load_is_told_apart() {
        let commands = Commands::default();
        assert_eq!(commands.send(Command::Abort), Phase::BeforeLoad);
        assert_eq!(commands.send(Command::Stop), Phase::BeforeLoad);
        assert_eq!(commands.state().command, Some(Command::Abort));
    }
}
