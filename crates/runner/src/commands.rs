//! Commands to runs, from any thread: signals are one source of them, observers another.
//!
//! The same handle serves all runs of a series or a search. A command stays in force: a run that
//! begins after it is aborted before it measures anything.

use crate::steering::{ChangeProblem, Steering};
use loadline_plan::Level;
use loadline_record::{Ended, Note};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The most notes on a run.
pub const MOST_NOTES: usize = 200;

/// A command to a run in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Command {
    /// Begin no new request and wait for those in flight, at most until the duration is over; if it
    /// is sent by [`Commands::send`], at most [`STOP_TIMEOUT`](crate::STOP_TIMEOUT) as well.
    Stop,
    /// End at once; requests in flight stay without a response.
    Abort,
}

/// The time of a command relative to the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before the first run began its load.
    BeforeLoad,
    /// While a run lasts.
    Running,
    /// After a run ended, while no other one lasts.
    Ended,
}

/// Executes commands in a run in progress.
pub trait Control: Send {
    /// Stops the run, like [`Command::Stop`].
    fn stop(&self);

    /// Aborts the run, like [`Command::Abort`].
    fn abort(&self);

    /// Changes the load to this level a moment later. Returns that moment, in nanoseconds from the
    /// begin of the load; `None` if it is over by then.
    fn change(&self, level: Level) -> Option<u64>;

    /// Changes the load of one of several scenarios in the same way.
    fn change_scenario(&self, scenario: usize, level: Level) -> Option<u64>;
}

impl Control for loadline_engine::Handle {
    fn stop(&self) {
        loadline_engine::Handle::stop(self);
    }

    fn abort(&self) {
        loadline_engine::Handle::abort(self);
    }

    fn change(&self, level: Level) -> Option<u64> {
        let change = loadline_engine::Handle::change(self, level)?;
        Some(change.at_ns)
    }

    fn change_scenario(&self, scenario: usize, level: Level) -> Option<u64> {
        let change = loadline_engine::Handle::change_scenario(self, scenario, level)?;
        Some(change.at_ns)
    }
}

/// Sends commands to the current run, and to later ones.
#[derive(Clone, Default)]
pub struct Commands(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// The strongest command so far that applies to all runs.
    command: Option<Command>,
    /// The time of the first of these commands.
    stopped_at: Option<Instant>,
    /// The strongest command to the current run only, and its reason.
    own_end: Option<(Command, Ended)>,
    /// The current run.
    run: Option<Box<dyn Control>>,
    /// The state of its load.
    steering: Option<Steering>,
    /// The notes on it.
    notes: Notes,
    /// True if a run has ended already, so that there is something to report.
    has_ended: bool,
    /// The number of runs of a series that have not begun their load.
    runs_left: usize,
}

/// The notes on a run.
#[derive(Default)]
struct Notes {
    /// True while the run takes some.
    are_taken: bool,
    /// Their number so far.
    count: usize,
    /// Those that the run has not taken yet.
    waiting: Vec<Note>,
}

/// The reason why a note is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoteProblem {
    /// No run lasts.
    #[error("There is no run to write on: write notes while one lasts, or after the last one.")]
    NoRun,
    /// The run has too many already.
    #[error("The run has 200 notes, and keeps no more.")]
    TooMany,
    /// The run is made by a program that keeps none.
    #[error("The program that makes this run keeps no notes.")]
    NotKept,
}

impl Commands {
    /// Sends a command. Returns its time relative to the runs.
    pub fn send(&self, command: Command) -> Phase {
        let mut state = self.state();
        state.command = state.command.max(Some(command));
        state.stopped_at.get_or_insert_with(Instant::now);
        if let Some(run) = &state.run {
            carry_out(command, run.as_ref());
        }
        state.phase()
    }

    /// Ends the current run only; `why` becomes the end of its summary, unless all runs were ended
    /// as well.
    pub fn end_run(&self, command: Command, why: Ended) {
        let mut state = self.state();
        let Some(run) = &state.run else { return };
        carry_out(command, run.as_ref());
        let is_stronger = |(sent, _): &(Command, Ended)| command > *sent;
        if state.own_end.as_ref().is_none_or(is_stronger) {
            state.own_end = Some((command, why));
        }
    }

    /// Writes a note on the current run, which takes it with its next interval.
    ///
    /// # Errors
    /// If there is no run, or it has too many notes.
    pub fn note(&self, note: Note) -> Result<(), NoteProblem> {
        let notes = &mut self.state().notes;
        if !notes.are_taken {
            return Err(NoteProblem::NoRun);
        }
        if notes.count >= MOST_NOTES {
            return Err(NoteProblem::TooMany);
        }
        notes.count += 1;
        notes.waiting.push(note);
        Ok(())
    }

    /// Returns the notes since the last call.
    pub(crate) fn take_notes(&self) -> Vec<Note> {
        mem::take(&mut self.state().notes.waiting)
    }

    /// Returns the notes since the last call, and takes no more of this run.
    pub(crate) fn end_notes(&self) -> Vec<Note> {
        mem::take(&mut self.state().notes).waiting
    }

    /// True if a command was sent that ends all runs.
    pub fn is_ending(&self) -> bool {
        self.state().command.is_some()
    }

    /// Returns the current phase: before the first load, during a run, or after one.
    pub fn phase(&self) -> Phase {
        self.state().phase()
    }

    /// True if another run of a series follows: between the two there is something to end.
    pub fn has_more(&self) -> bool {
        self.state().runs_left > 0
    }

    /// Declares how many runs of a series follow.
    pub(crate) fn expect_runs(&self, count: usize) {
        self.state().runs_left = count;
    }

    /// Returns the time at which the first command to all runs was sent.
    pub(crate) fn stopped_at(&self) -> Option<Instant> {
        self.state().stopped_at
    }

    /// Returns the end of the current run by commands, if one was sent: an abort of this run only
    /// has precedence over an interrupt, and that over a goal that it reached.
    pub(crate) fn ended(&self) -> Option<Ended> {
        let state = self.state();
        match &state.own_end {
            Some((Command::Abort, why)) => Some(why.clone()),
            _ if state.command.is_some() => Some(Ended::Interrupted),
            own_end => own_end.as_ref().map(|(_, why)| why.clone()),
        }
    }

    /// Attaches a run that has begun its load, so that commands reach it.
    pub(crate) fn attach(&self, run: Box<dyn Control>, steering: Steering) {
        let mut state = self.state();
        if state.command.is_some() {
            run.abort();
        }
        state.runs_left = state.runs_left.saturating_sub(1);
        state.run = Some(run);
        state.steering = Some(steering);
        state.notes = Notes {
            are_taken: true,
            ..Notes::default()
        };
        state.own_end = None;
    }

    /// Detaches the run, which has ended.
    pub(crate) fn detach(&self) {
        let mut state = self.state();
        state.run = None;
        state.has_ended = true;
    }

    /// Calls `act` with the load of the current run.
    pub(crate) fn steer<T>(
        &self,
        act: impl FnOnce(&mut Steering, &dyn Control) -> Result<T, ChangeProblem>,
    ) -> Result<T, ChangeProblem> {
        let state = &mut *self.state();
        match (&mut state.steering, &state.run) {
            (Some(steering), Some(run)) => act(steering, run.as_ref()),
            _ => Err(ChangeProblem::NoRun),
        }
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

    fn steering() -> Steering {
        Steering::new(&loadline_plan::Plan::default(), u64::MAX)
    }

    struct RecordingControl(Arc<Mutex<Vec<Command>>>);

    impl Control for RecordingControl {
        fn change(&self, _level: Level) -> Option<u64> {
            None
        }

        fn change_scenario(&self, _scenario: usize, _level: Level) -> Option<u64> {
            None
        }

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
        commands.attach(Box::new(RecordingControl(Arc::clone(&told))), steering());
        assert!(!commands.is_ending());
        assert_eq!(commands.send(Command::Stop), Phase::Running);
        commands.detach();
        assert_eq!(commands.phase(), Phase::Ended);
        commands.attach(Box::new(RecordingControl(Arc::clone(&told))), steering());
        assert_eq!(*told.lock().unwrap(), [Command::Stop, Command::Abort]);
        assert!(commands.is_ending());
    }

    #[test]
    fn a_series_has_more_until_its_last_run_has_begun() {
        let commands = Commands::default();
        let attach = || commands.attach(Box::new(RecordingControl(Arc::default())), steering());
        assert!(!commands.has_more());
        commands.expect_runs(2);
        attach();
        commands.detach();
        assert_eq!(
            (commands.phase(), commands.has_more()),
            (Phase::Ended, true)
        );
        attach();
        assert!(!commands.has_more());
        attach();
        assert!(!commands.has_more(), "a run of no series");
    }

    #[test]
    fn notes_are_taken_by_the_run_that_lasts_up_to_a_number() {
        let note = || Note::new(5, "deployed").unwrap();
        let commands = Commands::default();
        assert_eq!(commands.note(note()), Err(NoteProblem::NoRun));
        let attach = || commands.attach(Box::new(RecordingControl(Arc::default())), steering());
        attach();
        assert_eq!(commands.note(note()), Ok(()));
        assert_eq!(commands.take_notes(), [note()]);
        for _ in 1..MOST_NOTES {
            assert_eq!(commands.note(note()), Ok(()));
        }
        assert_eq!(commands.note(note()), Err(NoteProblem::TooMany));
        assert_eq!(commands.end_notes().len(), MOST_NOTES - 1);
        assert_eq!(commands.note(note()), Err(NoteProblem::NoRun));
        attach();
        assert_eq!(commands.note(note()), Ok(()));
    }

    #[test]
    fn the_end_of_one_run_ends_none_behind_it() {
        let commands = Commands::default();
        let told = Arc::default();
        commands.end_run(Command::Abort, Ended::Precise);
        commands.attach(Box::new(RecordingControl(Arc::clone(&told))), steering());
        assert_eq!(commands.ended(), None);
        commands.end_run(Command::Stop, Ended::Decided);
        assert_eq!(commands.ended(), Some(Ended::Decided));
        assert!(!commands.is_ending());
        commands.detach();
        commands.attach(Box::new(RecordingControl(Arc::clone(&told))), steering());
        assert_eq!(commands.ended(), None);
        assert_eq!(*told.lock().unwrap(), [Command::Stop]);
    }

    #[test]
    fn an_abort_of_one_run_stands_above_an_interrupt_and_that_above_a_goal() {
        let commands = Commands::default();
        commands.attach(Box::new(RecordingControl(Arc::default())), steering());
        commands.end_run(Command::Stop, Ended::Precise);
        commands.send(Command::Stop);
        assert_eq!(commands.ended(), Some(Ended::Interrupted));
        let aborted = Ended::Aborted("p99<1s".to_owned());
        commands.end_run(Command::Abort, aborted.clone());
        assert_eq!(commands.ended(), Some(aborted));
    }

    #[test]
    fn a_command_before_the_first_load_is_told_apart() {
        let commands = Commands::default();
        assert_eq!(commands.send(Command::Abort), Phase::BeforeLoad);
        assert_eq!(commands.send(Command::Stop), Phase::BeforeLoad);
        assert_eq!(commands.state().command, Some(Command::Abort));
    }
}
