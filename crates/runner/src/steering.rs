//! Changing the load of the current run: levels, steps and pauses.

use crate::commands::{Commands, Control};
use loadline_engine::open_files_at;
use loadline_plan::{LEAST_SHARE, Level, LevelProblem, MOST_SHARE, MOST_USERS};
use loadline_plan::{Plan, Scenario, Shape};
use loadline_record::LoadChange;
use std::collections::BTreeMap;

/// The load as planned, in thousandths.
const WHOLE: u32 = 1_000;
/// The number of steps in the planned load: a step is a twentieth of it.
const STEPS: u32 = 20;

/// The reason why a load can't be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeProblem {
    /// The requested level is invalid, or out of range.
    #[error(transparent)]
    Level(#[from] LevelProblem),
    /// The users that it needs would have more connections than this process may open.
    #[error(
        "it takes {needed} open files, and this process may have {limit}; raise the hard limit \
         (`ulimit -Hn`) before the run."
    )]
    OpenFiles {
        /// The number of files that would be open.
        needed: u64,
        /// The most files that may be open.
        limit: u64,
    },
    /// Each user has a fixed number of iterations.
    #[error(
        "each user does a fixed number of iterations, so that no users can be added; lower the \
         load, or pause it."
    )]
    FixedIterations,
    /// No load is running.
    #[error("no load is under way that could be changed; change it while a run lasts.")]
    NoRun,
}

/// The direction of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Up by a twentieth of the plan.
    Up,
    /// Down by a twentieth of the plan.
    Down,
}

/// The load of a run after the last change.
#[derive(Clone, Debug)]
pub(crate) struct Steering {
    /// The plan, without its requests.
    plan: Plan,
    /// The most files that this process may have open.
    open_files: u64,
    /// The current level, ignoring pauses.
    level: Level,
    /// The users of scenarios whose number was set separately.
    users_of: BTreeMap<usize, u32>,
    is_paused: bool,
}

impl Steering {
    /// Creates the load of this plan, in a process that may have this many files open.
    pub(crate) fn new(plan: &Plan, open_files: u64) -> Self {
        Steering {
            plan: Plan {
                requests: Vec::new(),
                ..plan.clone()
            },
            open_files,
            level: Level::Share(WHOLE),
            users_of: BTreeMap::new(),
            is_paused: false,
        }
    }

    /// Changes the load of this run.
    pub(crate) fn change(
        &mut self,
        run: &dyn Control,
        level: Level,
    ) -> Result<LoadChange, ChangeProblem> {
        level.check(&self.plan.load.shape)?;
        let (needed, limit) = (open_files_at(&self.plan, level), self.open_files);
        if needed > limit {
            return Err(ChangeProblem::OpenFiles { needed, limit });
        }
        let at_ns = run.change(level).ok_or(ChangeProblem::NoRun)?;
        self.is_paused = level == Level::Paused;
        if !self.is_paused {
            self.level = level;
            for (scenario, users) in &self.users_of {
                run.change_scenario(*scenario, Level::Users(*users));
            }
        }
        Ok(self.changed(at_ns, level, None))
    }

    /// A change that holds from this instant, in nanoseconds from the begin of the load.
    fn changed(&self, at_ns: u64, level: Level, scenario: Option<usize>) -> LoadChange {
        let warmup_ns = self.plan.warmup.as_nanos() as i64;
        LoadChange {
            at_ns: at_ns as i64 - warmup_ns,
            level,
            scenario,
        }
    }

    /// Sets the number of users of a scenario, independently of the load of the others; at the end
    /// of a pause, if there is one.
    fn set_users_of(
        &mut self,
        run: &dyn Control,
        scenario: usize,
        users: u32,
    ) -> Result<Option<LoadChange>, ChangeProblem> {
        let Some(known) = self.plan.scenarios.get(scenario) else {
            return Err(ChangeProblem::NoRun);
        };
        if users > 0 {
            Level::Users(users).check(&known.load.shape)?;
        }
        let mut plan = self.plan.clone();
        let most = &mut plan.scenarios[scenario].load.max_users;
        *most = users.max(*most);
        let (needed, limit) = (open_files_at(&plan, self.level), self.open_files);
        if needed > limit {
            return Err(ChangeProblem::OpenFiles { needed, limit });
        }
        let level = Level::Users(users);
        let changed = match self.is_paused {
            true => None,
            false => {
                let at_ns = run.change_scenario(scenario, level);
                Some(at_ns.ok_or(ChangeProblem::NoRun)?)
            }
        };
        self.users_of.insert(scenario, users);
        Ok(changed.map(|at_ns| self.changed(at_ns, level, Some(scenario))))
    }

    /// Returns the level that is a step away, within the allowed range. Users of a constant number
    /// are stepped at least one by one.
    fn stepped(&self, step: Step) -> Result<Level, ChangeProblem> {
        let planned = self.plan.load.users;
        Ok(match (self.level, &self.plan.load.shape) {
            (Level::Share(WHOLE), Shape::Closed) => Level::Users(stepped(planned, step, planned)),
            (Level::Users(users), _) => Level::Users(stepped(users, step, planned)),
            (Level::Share(share), Shape::Scenarios { .. }) => self.stepped_together(share, step)?,
            (Level::Share(share), _) => Level::Share(stepped_share(share, step)),
            (level @ (Level::Rate(_) | Level::Paused), _) => level,
        })
    }

    /// Returns the next share that changes the load of one of the scenarios: a twentieth of few
    /// users may be less than one user.
    fn stepped_together(&self, from: u32, step: Step) -> Result<Level, ChangeProblem> {
        let moves = |to| self.plan.scenarios.iter().any(|one| moves(one, from, to));
        let mut share = from;
        loop {
            let next = stepped_share(share, step);
            if moves(next) {
                return Ok(Level::Share(next));
            }
            if next == share && step == Step::Up && from >= WHOLE {
                return Err(ChangeProblem::FixedIterations);
            }
            if next == share {
                return Ok(Level::Share(from));
            }
            share = next;
        }
    }
}

/// True if a scenario's load differs between two shares.
fn moves(scenario: &Scenario, from: u32, to: u32) -> bool {
    if scenario.load.shape != Shape::Closed {
        return true;
    }
    let is_fixed = scenario.part.iterations_per_user.is_some();
    let users = |share: u32| {
        let share = if is_fixed { share.min(WHOLE) } else { share };
        let users = u64::from(scenario.load.users) * u64::from(share);
        ((users + u64::from(WHOLE) / 2) / u64::from(WHOLE)).max(1)
    };
    users(from) != users(to)
}

fn stepped_share(share: u32, step: Step) -> u32 {
    let share = match step {
        Step::Up => share.saturating_add(WHOLE / STEPS),
        Step::Down => share.saturating_sub(WHOLE / STEPS),
    };
    share.clamp(LEAST_SHARE, MOST_SHARE)
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
    /// Changes the load of the current run, some 150 ms from now and for all workers at the same
    /// instant. Ends a pause. Returns what holds from when.
    ///
    /// # Errors
    /// If no load is running, or it can't be brought to this level, or that needs more open files
    /// than the limit.
    pub fn change(&self, level: Level) -> Result<LoadChange, ChangeProblem> {
        self.steer(|steering, run| steering.change(run, level))
    }

    /// Raises or lowers the load by a twentieth of the plan, several scenarios by as many
    /// twentieths as change one of them. Ends a pause. Returns what holds from when.
    ///
    /// # Errors
    /// If no load is running, or it can't be raised any further.
    pub fn step(&self, step: Step) -> Result<LoadChange, ChangeProblem> {
        self.steer(|steering, run| steering.change(run, steering.stepped(step)?))
    }

    /// Sets the number of users of one of the closed scenarios, which may be 0, some 150 ms from
    /// now; the others continue unchanged. Scenarios have numbers from 0. Returns what holds from
    /// when; `None` if that is when the load is resumed.
    ///
    /// # Errors
    /// The errors of [`change`](Self::change).
    pub fn set_users_of(
        &self,
        scenario: usize,
        users: u32,
    ) -> Result<Option<LoadChange>, ChangeProblem> {
        self.steer(|steering, run| steering.set_users_of(run, scenario, users))
    }

    /// Pauses the load: requests in flight finish, and nothing is planned.
    ///
    /// # Errors
    /// If no load is running.
    pub fn pause(&self) -> Result<LoadChange, ChangeProblem> {
        self.change(Level::Paused)
    }

    /// Ends a pause: the load returns to the level before it. Returns what holds from when.
    ///
    /// # Errors
    /// If no load is running.
    pub fn resume(&self) -> Result<LoadChange, ChangeProblem> {
        self.steer(|steering, run| steering.change(run, steering.level))
    }

    /// True if the load of the current run is paused.
    pub fn is_paused(&self) -> bool {
        self.steer(|steering, _| Ok(steering.is_paused))
            .unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_plan::{Arrivals, Client, Load, Part, Rate};
    use std::sync::{Arc, Mutex};

    struct Changed(Arc<Mutex<Vec<Level>>>);

    impl Control for Changed {
        fn stop(&self) {}

        fn abort(&self) {}

        fn change(&self, level: Level) -> Option<u64> {
            self.0.lock().unwrap().push(level);
            Some(2_000_000_000)
        }

        fn change_scenario(&self, _scenario: usize, level: Level) -> Option<u64> {
            self.change(level)
        }
    }

    fn run_of(load: Load) -> (Commands, Arc<Mutex<Vec<Level>>>) {
        let plan = Plan {
            load,
            ..Plan::default()
        };
        run_of_plan(&plan, u64::MAX)
    }

    fn run_of_plan(plan: &Plan, open_files: u64) -> (Commands, Arc<Mutex<Vec<Level>>>) {
        let commands = Commands::default();
        let changed = Arc::default();
        let steering = Steering::new(plan, open_files);
        commands.attach(Box::new(Changed(Arc::clone(&changed))), steering);
        (commands, changed)
    }

    fn scenario(load: Load, iterations_per_user: Option<u64>) -> Scenario {
        Scenario {
            think: None,
            client: Client::default(),
            part: Part {
                iterations_per_user,
                ..Part::default()
            },
            requests: Vec::new(),
            script: None,
            order: loadline_plan::Order::default(),
            load,
            duration: None,
            request_limit: None,
        }
    }

    fn users(connections: u32) -> Load {
        Load {
            users: connections,
            max_users: connections,
            ..Load::default()
        }
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
    fn a_change_says_from_when_it_holds() {
        let plan = Plan {
            warmup: std::time::Duration::from_secs(3),
            ..Plan::default()
        };
        let (commands, _) = run_of_plan(&plan, u64::MAX);
        let paused = commands.pause().unwrap();
        assert_eq!(
            (paused.at_ns, paused.level),
            (-1_000_000_000, Level::Paused)
        );
        assert_eq!(commands.resume().unwrap().level, Level::Share(WHOLE));
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

    #[test]
    fn scenarios_are_stepped_together_as_far_as_one_of_them_moves() {
        let steps = |scenarios: Vec<Scenario>, step| {
            let plan = Plan::default().with_scenarios(scenarios);
            let stepped = run_of_plan(&plan, u64::MAX).0.step(step);
            stepped.map(|change| change.level)
        };
        let open = || vec![scenario(users(3), None), scenario(of_rate(), None)];
        assert_eq!(steps(open(), Step::Up), Ok(Level::Share(1_050)));
        // Three users become four from 7/6 on, and two below 5/6.
        let closed = || vec![scenario(users(3), None)];
        assert_eq!(steps(closed(), Step::Up), Ok(Level::Share(1_200)));
        assert_eq!(steps(closed(), Step::Down), Ok(Level::Share(800)));
        let fixed = || vec![scenario(users(20), Some(5))];
        let no_more = Err(ChangeProblem::FixedIterations);
        assert_eq!(steps(fixed(), Step::Up), no_more);
        assert_eq!(steps(fixed(), Step::Down), Ok(Level::Share(950)));
    }

    #[test]
    fn the_users_of_a_scenario_are_kept_over_a_pause() {
        let plan = Plan::default().with_scenarios(vec![scenario(users(3), None)]);
        let (commands, changed) = run_of_plan(&plan, 100);
        commands.set_users_of(0, 5).unwrap();
        commands.pause().unwrap();
        commands.set_users_of(0, 0).unwrap();
        commands.resume().unwrap();
        let expected = [
            Level::Users(5),
            Level::Paused,
            Level::Share(1_000),
            Level::Users(0),
        ];
        assert_eq!(*changed.lock().unwrap(), expected);
        assert_eq!(commands.set_users_of(1, 5), Err(ChangeProblem::NoRun));
        let too_many = commands.set_users_of(0, 200).unwrap_err();
        assert!(matches!(too_many, ChangeProblem::OpenFiles { .. }));
    }

    #[test]
    fn users_are_bounded_by_the_open_files() {
        let plan = Plan {
            load: users(100),
            ..Plan::default()
        };
        let (commands, changed) = run_of_plan(&plan, 120);
        let refused = commands.step(Step::Up).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "it takes 121 open files, and this process may have 120; raise the hard limit (`ulimit \
             -Hn`) before the run."
        );
        commands.step(Step::Down).unwrap();
        assert_eq!(*changed.lock().unwrap(), [Level::Users(95)]);
    }
}
