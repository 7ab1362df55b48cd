//! Changing the load of the run that is under way: levels, steps and pauses.

use crate::commands::{Commands, Control};
use loadline_plan::{LEAST_SHARE, Level, LevelProblem, Load, MOST_SHARE, MOST_USERS, Shape};

/// The load as planned, in thousandths.
const WHOLE: u32 = 1_000;
/// A step is a twentieth of the planned load.
const STEPS: u32 = 20;

/// Why a load can't be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeProblem {
    /// What was asked for makes no sense, or is out of range.
    #[error(transparent)]
    Level(#[from] LevelProblem),
    /// There is nothing to change.
    #[error("no load is under way that could be changed; change it while a run lasts.")]
    NoRun,
}

/// Which way a load is stepped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// More by a twentieth of the plan.
    Up,
    /// Less by a twentieth of the plan.
    Down,
}

/// The load of a run, as it was changed last.
#[derive(Clone, Debug)]
pub(crate) struct Steering {
    load: Load,
    /// Pauses left out.
    level: Level,
    is_paused: bool,
}

impl Steering {
    pub(crate) fn new(load: &Load) -> Self {
        Steering {
            load: load.clone(),
            level: Level::Share(WHOLE),
            is_paused: false,
        }
    }

    /// Changes the load of this run.
    pub(crate) fn change(
        &mut self,
        run: &dyn Control,
        level: Level,
    ) -> Result<Level, ChangeProblem> {
        level.check(&self.load.shape)?;
        if !run.change(level) {
            return Err(ChangeProblem::NoRun);
        }
        self.is_paused = level == Level::Paused;
        if !self.is_paused {
            self.level = level;
        }
        Ok(level)
    }

    /// The level that is a step away, within what can be asked for. Users of a constant number are
    /// stepped one by one at least.
    fn stepped(&self, step: Step) -> Level {
        let planned = self.load.connections;
        match (self.level, &self.load.shape) {
            (Level::Share(WHOLE), Shape::Closed) => Level::Users(stepped(planned, step, planned)),
            (Level::Users(users), _) => Level::Users(stepped(users, step, planned)),
            (Level::Share(share), _) => {
                let share = match step {
                    Step::Up => share + WHOLE / STEPS,
                    Step::Down => share.saturating_sub(WHOLE / STEPS),
                };
                Level::Share(share.clamp(LEAST_SHARE, MOST_SHARE))
            }
            (level @ (Level::Rate(_) | Level::Paused), _) => level,
        }
    }
}

fn stepped(users: u32, step: Step, planned: u32) -> u32 {
    let by = ((planned + STEPS / 2) / STEPS).max(1);
    let users = match step {
        Step::Up => users.saturating_add(by),
        Step::Down => users.saturating_sub(by),
    };
    users.clamp(1, MOST_USERS)
}

impl Commands {
    /// Changes the load of the run that is under way, some 150 ms from now and for all workers at
    /// the same instant. Ends a pause. Returns what it is then.
    ///
    /// # Errors
    /// If no load is under way, or it can't be brought to this level.
    pub fn change(&self, level: Level) -> Result<Level, ChangeProblem> {
        self.steer(|steering, run| steering.change(run, level))
    }

    /// Raises or lowers the load by a twentieth of the plan. Ends a pause.
    ///
    /// # Errors
    /// If no load is under way.
    pub fn step(&self, step: Step) -> Result<Level, ChangeProblem> {
        self.steer(|steering, run| steering.change(run, steering.stepped(step)))
    }

    /// Pauses the load: requests under way finish, and nothing is planned.
    ///
    /// # Errors
    /// If no load is under way.
    pub fn pause(&self) -> Result<Level, ChangeProblem> {
        self.change(Level::Paused)
    }

    /// Ends a pause: the load is again what it was changed to last.
    ///
    /// # Errors
    /// If no load is under way.
    pub fn resume(&self) -> Result<Level, ChangeProblem> {
        self.steer(|steering, run| steering.change(run, steering.level))
    }

    /// Whether the load of the run that is under way is paused.
    pub fn is_paused(&self) -> bool {
        self.steer(|steering, _| Ok(steering.is_paused))
            .unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_plan::{Arrivals, Rate};
    use std::sync::{Arc, Mutex};

    struct Changed(Arc<Mutex<Vec<Level>>>);

    impl Control for Changed {
        fn stop(&self) {}

        fn abort(&self) {}

        fn change(&self, level: Level) -> bool {
            self.0.lock().unwrap().push(level);
            true
        }
    }

    fn run_of(load: Load) -> (Commands, Arc<Mutex<Vec<Level>>>) {
        let commands = Commands::default();
        let changed = Arc::default();
        commands.attach(Box::new(Changed(Arc::clone(&changed))), &load);
        (commands, changed)
    }

    fn of_rate() -> Load {
        Load {
            shape: Shape::Rate {
                rate: Rate::each_second(100),
                arrivals: Arrivals::Constant,
            },
            ..Load::default()
        }
    }

    #[test]
    fn steps_of_a_rate_are_shares_and_lead_back_to_the_plan() {
        let (commands, changed) = run_of(of_rate());
        for step in [Step::Up, Step::Up, Step::Down, Step::Down, Step::Down] {
            commands.step(step).unwrap();
        }
        let expected = [1_050, 1_100, 1_050, 1_000, 950].map(Level::Share);
        assert_eq!(*changed.lock().unwrap(), expected);
        for _ in 0..30 {
            commands.step(Step::Down).unwrap();
        }
        assert_eq!(changed.lock().unwrap().last(), Some(&Level::Share(1)));
    }

    #[test]
    fn steps_of_a_closed_load_are_users() {
        let users = |connections| Load {
            connections,
            ..Load::default()
        };
        let (commands, changed) = run_of(users(3));
        for step in [Step::Down, Step::Down, Step::Down, Step::Up] {
            commands.step(step).unwrap();
        }
        assert_eq!(*changed.lock().unwrap(), [2, 1, 1, 2].map(Level::Users));
        let (commands, changed) = run_of(users(200));
        commands.step(Step::Up).unwrap();
        assert_eq!(*changed.lock().unwrap(), [Level::Users(210)]);
    }

    #[test]
    fn a_pause_ends_at_the_level_before_it() {
        let (commands, changed) = run_of(of_rate());
        commands.step(Step::Up).unwrap();
        commands.pause().unwrap();
        assert!(commands.is_paused());
        commands.resume().unwrap();
        assert!(!commands.is_paused());
        let expected = [Level::Share(1_050), Level::Paused, Level::Share(1_050)];
        assert_eq!(*changed.lock().unwrap(), expected);
    }

    #[test]
    fn what_can_not_be_changed_says_why() {
        let (commands, changed) = run_of(of_rate());
        let no_users = ChangeProblem::Level(LevelProblem::NoUsers);
        assert_eq!(commands.change(Level::Users(3)), Err(no_users));
        let too_much = ChangeProblem::Level(LevelProblem::Share(200_000));
        assert_eq!(commands.change(Level::Share(200_000)), Err(too_much));
        commands.detach();
        assert_eq!(commands.pause(), Err(ChangeProblem::NoRun));
        assert!(changed.lock().unwrap().is_empty());
    }
}
