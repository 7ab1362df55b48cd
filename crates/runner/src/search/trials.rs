//! Trials by the engine: each is a separate run, at the level that the search requests.
//!
//! Trials differ only in their load and their seed. Each begins with a short time that is driven
//! and not measured, so that its connections are open and the queues of the target have reached
//! their length.

use super::evaluation::unreached;
use super::saved::store;
use super::{Evaluation, length, whole};
use crate::commands::Commands;
use crate::error::{RunError, Trouble};
use crate::fleet::{Fleet, fleet};
use crate::locustfile::Locustfile;
use crate::observer::{Interval, Observed, Observer};
use crate::run::{Setup, conduct};
use crate::series::Common;
use crate::workload::{Workload, workload};
use loadline_capacity::{
    Descent, Measure, Observation, Part, Purpose, SearchEnd, SearchOutcome, Trial, find,
};
use loadline_engine::StartError;
use loadline_plan::{Arrivals, Load, Plan, Rate, Shape, Stage};
use loadline_record::{Ended, Role, RoleKind, Searched, Snapshot};
use loadline_verdict::RunResult;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The interval of checks for an interrupt during a pause: short enough not to be noticed.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The number of void trials in a row that ends a search.
const MOST_VOID: u32 = 3;

/// A search to be conducted.
#[derive(Debug)]
pub struct Search<'a> {
    /// The plan of each trial, except its load.
    pub plan: &'a Plan,
    /// The settings of the search, as recorded in the role of each trial.
    pub searched: Searched,
    /// The time that is driven before each trial is measured.
    pub settling: Duration,
    /// The locustfile whose users are searched, if there is one.
    pub locustfile: Option<&'a Locustfile>,
    /// The settings that all trials have in common.
    pub common: Common<'a>,
    /// The file in which an observer saves the trials: the outcome is appended to it.
    pub save: Option<&'a Path>,
}

/// An event between the trials of a search.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// A trial has ended.
    Trial(&'a Trial),
    /// The target is left idle for this many seconds.
    Pause(f64),
    /// A part of the load was lost or the target not reached, for this reason, and the trial is
    /// made again.
    Void(&'a str),
    /// Fewer agents than before are left, so many.
    Left(u32),
}

/// A search that has ended.
#[derive(Debug)]
pub struct SearchResult {
    /// The outcome of the search.
    pub outcome: SearchOutcome,
    /// The way in which the search ended.
    pub ended: SearchEnd<RunError>,
    /// The error because of which a trial or the outcome could not be saved.
    pub trouble: Option<Trouble>,
}

/// Conducts a search until it ends, by itself or by a command. Its findings until then are the
/// result.
pub fn conduct_search(
    search: &Search<'_>,
    commands: &Commands,
    observers: &mut [&mut dyn Observer],
    report: &mut dyn FnMut(Progress<'_>),
) -> SearchResult {
    let mut trials = Trials {
        search,
        commands,
        observers,
        report,
        made: 0,
        fleet: fleet(),
        parts: search.plan.processes,
        void: 0,
        begun: Instant::now(),
        spent_s: search.searched.settings.spent_s,
        evaluation: Evaluation::default(),
        trouble: None,
    };
    let (outcome, ended) = find(&search.searched.settings, &mut trials);
    let (made, mut trouble) = (trials.made as usize, trials.trouble);
    if let (Some(path), None) = (search.save, &trouble)
        && made > 0
    {
        let is_whole = matches!(ended, SearchEnd::Complete);
        let stored = store(path, &outcome, !is_whole, made);
        trouble = stored.err().map(Trouble::of);
    }
    SearchResult {
        outcome,
        ended,
        trouble,
    }
}

/// The trials of a search.
struct Trials<'a, 'b, 'c> {
    search: &'a Search<'a>,
    commands: &'a Commands,
    observers: &'b mut [&'c mut dyn Observer],
    report: &'a mut dyn FnMut(Progress<'_>),
    made: u32,
    /// The agents that trials are made on, if they are.
    fleet: Option<&'a dyn Fleet>,
    /// The processes of the next trial.
    parts: u32,
    /// The number of void trials since the last other one.
    void: u32,
    begun: Instant,
    /// The time spent, as last reported to the search.
    spent_s: f64,
    evaluation: Evaluation,
    trouble: Option<Trouble>,
}

impl Trials<'_, '_, '_> {
    /// Runs this plan, with an additional observer; `None` if a command ended it.
    fn run(
        &mut self,
        plan: &Plan,
        purpose: Purpose,
        also: &mut dyn Observer,
    ) -> Result<Option<RunResult>, RunError> {
        if self.commands.is_ending() {
            return Ok(None);
        }
        let number = self.made + 1;
        let common = &self.search.common;
        let setup = Setup {
            plan,
            role: Some(Role {
                kind: RoleKind::Trial,
                number,
                of: None,
                name: Some(purpose.name().to_owned()),
                search: Some(self.search.searched.clone()),
                spent_s: Some(self.spent_s),
            }),
            watch: common.watch,
            floor: common.floor,
        };
        let made;
        let workload: &dyn Workload = match self.search.locustfile {
            Some(locustfile) => locustfile,
            None => {
                made = workload(plan, common.prints)?;
                &*made
            }
        };
        let mut observers: Vec<&mut dyn Observer> = vec![also];
        for observer in self.observers.iter_mut() {
            observers.push(&mut **observer);
        }
        let conducted = conduct(&setup, workload, self.commands, &mut observers)?;
        self.made = number;
        if let Some(error) = workload.failure() {
            return Err(error);
        }
        let (result, trouble) = (conducted.result, conducted.trouble);
        if result.summary.ended == Ended::Interrupted {
            self.keep_trouble(trouble);
            return Ok(None);
        }
        if let Ended::Failed(reason) = &result.summary.ended {
            self.void(reason, trouble)?;
        } else if let Some(reason) = unreached(&result.summary) {
            self.void(&reason, trouble)?;
        } else {
            self.keep_trouble(trouble);
        }
        Ok(Some(result))
    }

    fn keep_trouble(&mut self, trouble: Option<Trouble>) {
        self.void = 0;
        if let Some(trouble) = trouble {
            self.trouble.get_or_insert(trouble);
        }
    }

    /// Accounts for a trial that says nothing about the load of the target, for this reason.
    ///
    /// # Errors
    /// If too many trials in a row were void.
    fn void(&mut self, reason: &str, trouble: Option<Trouble>) -> Result<(), RunError> {
        let void = self.void + 1;
        self.keep_trouble(trouble.and_then(|trouble| trouble.without(reason)));
        if void == MOST_VOID {
            return Err(RunError::Void(reason.to_owned()));
        }
        self.void = void;
        (self.report)(Progress::Void(reason));
        Ok(())
    }

    /// Makes a trial on the agents that are left. One that goes just before the load begins keeps
    /// it from beginning: the trial is then made on the others.
    ///
    /// # Errors
    /// Those of the trial, also if it could not begin and all agents are there.
    fn on_agents_left<T>(
        &mut self,
        make: impl Fn(&mut Self) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        self.count_agents();
        loop {
            match make(self) {
                Err(RunError::Start(StartError::Remote(_))) if self.count_agents() => {}
                made => return made,
            }
        }
    }

    /// Counts the agents that are left for the next trial; true if these are fewer than before. If
    /// there are none, it awaits them as every run does.
    fn count_agents(&mut self) -> bool {
        let Some(fleet) = self.fleet else {
            return false;
        };
        let left = fleet.available(self.parts).max(1);
        let are_fewer = left < self.parts;
        if are_fewer {
            self.parts = left;
            (self.report)(Progress::Left(left));
        }
        are_fewer
    }

    /// Returns the plan of a trial with this load and duration.
    fn plan(&self, load: Load, seconds: f64) -> Plan {
        let plan = self.search.plan;
        let threads = plan.threads.min(load.users.max(1));
        let plan = Plan {
            threads,
            processes: self.parts.min(threads),
            load,
            duration: Some(length(seconds)),
            warmup: self.search.settling,
            seed: plan.seed.wrapping_add(self.made.into()),
            ..plan.clone()
        };
        match self.search.locustfile {
            Some(locustfile) => locustfile.fit(plan),
            None => plan,
        }
    }

    fn level(&self, level: f64) -> Load {
        let plan = self.search.plan;
        if self.search.searched.users {
            return users(level, Shape::Closed);
        }
        let rate = rate(level);
        let arrivals = arrivals(plan);
        Load {
            shape: Shape::Rate { rate, arrivals },
            ..plan.load.clone()
        }
    }

    /// Returns a load at `over` for its duration, and then at `back`.
    fn steps(&self, over: (f64, Duration), back: (f64, Duration)) -> Load {
        let plan = self.search.plan;
        if self.search.searched.users {
            let stages = stages(over, back, |level| level as u32);
            let start = over.0 as u32;
            return users(over.0, Shape::ClosedStages { start, stages });
        }
        let shape = Shape::RateStages {
            start: rate(over.0),
            stages: stages(over, back, rate),
            arrivals: arrivals(plan),
        };
        Load {
            shape,
            ..plan.load.clone()
        }
    }
}

impl Measure for Trials<'_, '_, '_> {
    type Error = RunError;

    fn trial(
        &mut self,
        purpose: Purpose,
        level: f64,
        seconds: f64,
    ) -> Result<Option<Observation>, RunError> {
        let result = self.on_agents_left(|trials| {
            let plan = trials.plan(trials.level(level), seconds);
            trials.run(&plan, purpose, &mut Unobserved)
        })?;
        Ok(result.map(|result| self.evaluation.observe(result, level)))
    }

    fn descend(&mut self, over: (f64, f64), back: (f64, f64)) -> Result<Option<Descent>, RunError> {
        let (over, back) = (whole(over), whole(back));
        let measured = self.on_agents_left(|trials| {
            let load = trials.steps(over, back);
            let plan = trials.plan(load, (over.1 + back.1).as_secs_f64());
            let mut snapshots = Snapshots::default();
            let purpose = Purpose::Ladder(Part::Over);
            let result = trials.run(&plan, purpose, &mut snapshots)?;
            Ok(result.map(|result| (result, snapshots)))
        })?;
        let Some((result, snapshots)) = measured else {
            return Ok(None);
        };
        let descent = self
            .evaluation
            .observe_descent(&result, &snapshots.0, over, back.0);
        Ok(Some(descent))
    }

    fn pause(&mut self, seconds: f64) {
        (self.report)(Progress::Pause(seconds));
        let end = Instant::now() + length(seconds);
        while !self.commands.is_ending() && Instant::now() < end {
            thread::sleep(POLL_INTERVAL.min(end.saturating_duration_since(Instant::now())));
        }
    }

    fn spent_s(&mut self) -> Option<f64> {
        let before_s = self.search.searched.settings.spent_s;
        self.spent_s = before_s + self.begun.elapsed().as_secs_f64();
        Some(self.spent_s)
    }

    fn ended(&mut self, trial: &Trial) {
        self.evaluation.keep(trial);
        (self.report)(Progress::Trial(trial));
    }

    fn together(&mut self, level: f64) -> Vec<bool> {
        self.evaluation.together(level)
    }
}

/// Keeps the snapshot of each interval of the window.
#[derive(Default)]
struct Snapshots(Vec<Snapshot>);

impl Observer for Snapshots {
    fn interval(&mut self, interval: &Interval<'_>) -> Observed {
        if !interval.snapshot.drain {
            self.0.push(interval.snapshot.clone());
        }
        Ok(())
    }
}

/// Ignores all events.
struct Unobserved;

impl Observer for Unobserved {}

/// Returns the rate with the digits of this level.
fn rate(level: f64) -> Rate {
    level
        .to_string()
        .parse()
        .expect("a level is a number above zero")
}

/// Returns a load of this many users, each with a connection.
fn users(level: f64, shape: Shape) -> Load {
    Load {
        users: level as u32,
        max_users: level as u32,
        shape,
    }
}

/// Returns stages at one level for a time, then at another without a ramp.
fn stages<T>(
    over: (f64, Duration),
    back: (f64, Duration),
    target: impl Fn(f64) -> T,
) -> Vec<Stage<T>> {
    let stage = |duration, level| Stage {
        duration,
        target: target(level),
    };
    vec![
        stage(over.1, over.0),
        stage(Duration::ZERO, back.0),
        stage(back.1, back.0),
    ]
}

/// Returns the law of the arrivals of an open load; even if none was given.
fn arrivals(plan: &Plan) -> Arrivals {
    match plan.load.shape {
        Shape::Rate { arrivals, .. } => arrivals,
        Shape::Closed
        | Shape::ClosedStages { .. }
        | Shape::RateStages { .. }
        | Shape::Burst { .. }
        | Shape::Paced
        | Shape::Scenarios { .. } => Arrivals::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use loadline_cluster::{Line, OnLoss, Recruiter, Scout};
    use loadline_script::Prints;
    use std::cell::RefCell;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Agents one of which goes each time they are counted, down to one.
    struct Leaving(AtomicU32);

    impl Fleet for Leaving {
        fn lines(&self, _: u32) -> Result<Vec<Line>, String> {
            unreachable!("no trial is run")
        }

        fn available(&self, _: u32) -> u32 {
            let left = self.0.load(Ordering::Relaxed);
            self.0
                .store(left.saturating_sub(1).max(1), Ordering::Relaxed);
            left
        }

        fn recruiter(&self) -> Option<Recruiter> {
            unreachable!("no trial is run")
        }

        fn scout(&self) -> Scout {
            unreachable!("no trial is run")
        }

        fn on_loss(&self) -> OnLoss {
            unreachable!("no trial is run")
        }
    }

    /// Returns how many agents each attempt at a trial had, and what was said of them. A search on
    /// three agents, of which so many begin a load.
    fn attempts(begins: u32) -> (Vec<u32>, Vec<u32>, Result<(), String>) {
        let plan = Plan {
            processes: 3,
            ..samples::plan()
        };
        let search = Search {
            plan: &plan,
            searched: samples::searched(),
            settling: Duration::ZERO,
            locustfile: None,
            common: Common {
                watch: None,
                floor: None,
                prints: Prints::default(),
            },
            save: None,
        };
        let fleet = Leaving(AtomicU32::new(3));
        let had = RefCell::<Vec<u32>>::default();
        let said = RefCell::<Vec<u32>>::default();
        let mut trials = Trials {
            search: &search,
            commands: &Commands::default(),
            observers: &mut [],
            report: &mut |progress| match progress {
                Progress::Left(agents) => said.borrow_mut().push(agents),
                other => panic!("{other:?}"),
            },
            made: 0,
            fleet: Some(&fleet),
            parts: plan.processes,
            void: 0,
            begun: Instant::now(),
            spent_s: 0.0,
            evaluation: Evaluation::default(),
            trouble: None,
        };
        let ended = trials.on_agents_left(|trials| {
            had.borrow_mut().push(trials.parts);
            match trials.parts <= begins {
                true => Ok(()),
                false => Err(StartError::Remote("too few agents".to_owned()).into()),
            }
        });
        let ended = ended.map_err(|error| error.to_string());
        (had.take(), said.take(), ended)
    }

    #[test]
    fn a_trial_that_an_agent_left_before_its_begin_is_made_by_the_others() {
        assert_eq!(attempts(3), (vec![3], vec![], Ok(())));
        assert_eq!(attempts(2), (vec![3, 2], vec![2], Ok(())));
        let error = Err("too few agents".to_owned());
        assert_eq!(attempts(0), (vec![3, 2, 1], vec![2, 1], error));
    }
}
