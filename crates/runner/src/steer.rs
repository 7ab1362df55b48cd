//! What a page may do to runs: all that [`Commands`] can, or what another tool lets its users do.

use crate::commands::{Command, Commands, NoteProblem, Phase};
use crate::steering::ChangeProblem;
use loadline_plan::Level;
use loadline_record::{LoadChange, Note};

/// Steers the runs of a command, from any thread. Without methods of its own a load can only be
/// ended.
pub trait Steer: Send + Sync {
    /// Returns what can be changed of the current run, or of the next one.
    fn means(&self) -> Means {
        Means::default()
    }

    /// Returns the current phase: before the first load, during a run, or after one.
    fn phase(&self) -> Phase;

    /// True if the load of the current run is paused.
    fn is_paused(&self) -> bool {
        false
    }

    /// True if all runs are being ended.
    fn is_ending(&self) -> bool;

    /// True if another run of a series follows the current one, or the last one.
    fn has_more(&self) -> bool {
        false
    }

    /// Pauses or resumes the load.
    ///
    /// # Errors
    /// If there is no load, or it can't be paused.
    fn set_paused(&self, _is_paused: bool) -> Changed {
        Err(SteerProblem::OnlyEnded)
    }

    /// Changes the load of the current run.
    ///
    /// # Errors
    /// If there is no load, or it can't be brought to this level.
    fn change(&self, _level: Level) -> Changed {
        Err(SteerProblem::OnlyEnded)
    }

    /// Sets the number of users, who start and stop at this rate, in users per second; without
    /// one, at that of the test.
    ///
    /// # Errors
    /// If there is no load, or its users don't start at a rate.
    fn spawn(&self, _users: u32, _rate_per_s: Option<f64>) -> Result<Spawning, SteerProblem> {
        Err(SteerProblem::OnlyEnded)
    }

    /// Sets the number of users of one of several scenarios.
    ///
    /// # Errors
    /// The errors of [`change`](Self::change).
    fn set_users_of(&self, _scenario: usize, _users: u32) -> Changed {
        Err(SteerProblem::OnlyEnded)
    }

    /// Writes a note on the current run.
    ///
    /// # Errors
    /// If there is no run, or it keeps none.
    fn note(&self, _note: Note) -> Result<(), NoteProblem> {
        Err(NoteProblem::NotKept)
    }

    /// Ends all runs.
    fn end(&self, command: Command);
}

/// What changed, from when; `None` if that is when the load is resumed, or is not known.
pub type Changed = Result<Option<LoadChange>, SteerProblem>;

/// A change of the number of users that takes its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spawning {
    /// The change, with the instant of its begin.
    pub change: LoadChange,
    /// The users who start or stop each second.
    pub rate_per_s: f64,
    /// The instant at which the last one does, in seconds of the measured part.
    pub reached_s: f64,
}

/// The changes of a load that are possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Means {
    /// True if it can be paused.
    pub pauses: bool,
    /// The levels to which it can be brought.
    pub levels: Levels,
}

/// The levels to which a load can be brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Levels {
    /// None: it stays as planned.
    #[default]
    None,
    /// Numbers of users.
    Users,
    /// Numbers of users, who start and stop at a rate.
    Spawned,
    /// All that loads of its plan can have.
    OfPlan,
}

/// The reason why a load stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SteerProblem {
    /// The run refuses it.
    #[error(transparent)]
    Run(#[from] ChangeProblem),
    /// The tool whose load it is refuses it; a sentence in its words.
    #[error("{0}")]
    Tool(String),
    /// The tool whose load it is changes none.
    #[error("the load of this tool can only be stopped.")]
    OnlyEnded,
}

impl Steer for Commands {
    fn means(&self) -> Means {
        Means {
            pauses: true,
            levels: Levels::OfPlan,
        }
    }

    fn phase(&self) -> Phase {
        Commands::phase(self)
    }

    fn is_paused(&self) -> bool {
        Commands::is_paused(self)
    }

    fn is_ending(&self) -> bool {
        Commands::is_ending(self)
    }

    fn has_more(&self) -> bool {
        Commands::has_more(self)
    }

    fn set_paused(&self, is_paused: bool) -> Changed {
        let changed = match is_paused {
            true => self.pause(),
            false => self.resume(),
        };
        Ok(Some(changed?))
    }

    fn change(&self, level: Level) -> Changed {
        Ok(Some(Commands::change(self, level)?))
    }

    fn set_users_of(&self, scenario: usize, users: u32) -> Changed {
        Ok(Commands::set_users_of(self, scenario, users)?)
    }

    fn note(&self, note: Note) -> Result<(), NoteProblem> {
        Commands::note(self, note)
    }

    fn end(&self, command: Command) {
        self.send(command);
    }
}

/// Steers the runs of a tool that changes no load: it ends them, and nothing else.
#[derive(Clone, Debug)]
pub struct OnlyEnds(pub Commands);

impl Steer for OnlyEnds {
    fn phase(&self) -> Phase {
        self.0.phase()
    }

    fn is_ending(&self) -> bool {
        self.0.is_ending()
    }

    fn note(&self, note: Note) -> Result<(), NoteProblem> {
        self.0.note(note)
    }

    fn end(&self, command: Command) {
        self.0.send(command);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_without_levels_is_ended_and_nothing_else() {
        let commands = Commands::default();
        let tool = OnlyEnds(commands.clone());
        assert_eq!(tool.means(), Means::default());
        for refused in [
            tool.set_paused(true),
            tool.change(Level::Users(3)),
            tool.set_users_of(0, 3),
        ] {
            assert_eq!(refused, Err(SteerProblem::OnlyEnded));
        }
        assert!(!tool.is_ending());
        tool.end(Command::Stop);
        assert!(tool.is_ending() && commands.is_ending());
    }

    #[test]
    fn what_a_run_refuses_is_told_in_its_words() {
        let steer: &dyn Steer = &Commands::default();
        assert!(steer.means().pauses);
        let refused = steer.set_paused(true).expect_err("there is no run");
        assert_eq!(refused, SteerProblem::Run(ChangeProblem::NoRun));
        assert_eq!(refused.to_string(), ChangeProblem::NoRun.to_string());
    }
}
