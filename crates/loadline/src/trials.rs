//! Trials by the engine: each is a run of its own, at the level that the search asks for.
//!
//! Trials differ in their load and their seed alone. Each begins with a moment that is driven and
//! not measured, so that its connections are up and the queues of the target as long as they get.

use crate::conduct::{Conducted, Keep, Save, conduct_one};
use crate::interrupt::Interrupts;
use crate::live::{Live, say_line};
use crate::resolve::Search;
use crate::scripting;
use anyhow::Result;
use loadline_capacity::{Descent, Measure, Observation, Part, Purpose, Trial};
use loadline_plan::{Arrivals, Load, Plan, Rate, Shape, Stage};
use loadline_record::{Ended, Floor, Role, RoleKind, Snapshot};
use loadline_report::Origin;
use loadline_runner::search::{Evaluation, Searched, length, whole};
use loadline_verdict::RunResult;
use std::cell::RefCell;
use std::thread;
use std::time::{Duration, Instant};

/// A pause from which on users may wonder what goes on, in seconds.
const LONG_S: f64 = 2.0;

/// A user who interrupts a pause does not notice that it lasts so much longer.
const GLANCE: Duration = Duration::from_millis(50);

/// The trials of a search.
pub(crate) struct Trials<'a> {
    search: &'a Search,
    interrupts: &'a Interrupts,
    floor: Option<Floor>,
    /// What was asked for, as each trial's saved run keeps it.
    searched: serde_json::Value,
    /// How many runs were begun.
    pub(crate) made: u32,
    evaluation: Evaluation,
    /// By what, when and where the first trial was made, once it was.
    pub(crate) origin: Option<Origin>,
    /// Why a trial could not be kept.
    pub(crate) trouble: Option<anyhow::Error>,
    /// Tells of each trial that has ended.
    tell: &'a dyn Fn(&Trial),
}

impl<'a> Trials<'a> {
    /// None are made yet.
    pub(crate) fn new(
        search: &'a Search,
        interrupts: &'a Interrupts,
        floor: Option<Floor>,
        searched: &Searched,
        tell: &'a dyn Fn(&Trial),
    ) -> Self {
        Trials {
            search,
            interrupts,
            floor,
            searched: serde_json::to_value(searched).expect("settings are numbers"),
            made: 0,
            evaluation: Evaluation::default(),
            origin: None,
            trouble: None,
            tell,
        }
    }

    /// Runs this plan; `None` if the user interrupted it.
    fn run(
        &mut self,
        plan: &Plan,
        purpose: Purpose,
        snapshots: Option<&RefCell<Vec<Snapshot>>>,
    ) -> Result<Option<RunResult>> {
        if self.interrupts.happened() {
            return Ok(None);
        }
        self.made += 1;
        let invocation = &self.search.run;
        let save = invocation.save.as_deref();
        let keep = Keep {
            save: save.map(if self.made == 1 {
                Save::Over
            } else {
                Save::Behind
            }),
            role: Some(Role {
                kind: RoleKind::Trial,
                number: self.made,
                of: None,
                name: Some(purpose.name().to_owned()),
                search: Some(self.searched.clone()),
            }),
            watch: Some(&invocation.watch),
            floor: self.floor,
            snapshots,
            ..Keep::default()
        };
        let live = Live::titled(invocation.progress, format!("trial {}: ", self.made));
        let script = scripting::load(plan, &invocation.outputs)?;
        let Conducted {
            result, trouble, ..
        } = conduct_one(self.interrupts, plan, script.as_ref(), keep, live)?;
        self.origin
            .get_or_insert_with(|| Origin::of(&result.summary));
        if let Some(error) = script.and_then(|script| script.failure()) {
            return Err(error.into());
        }
        if let Some(trouble) = trouble {
            self.trouble.get_or_insert(trouble);
        }
        Ok((result.summary.ended != Ended::Interrupted).then_some(result))
    }

    /// The plan of a trial with this load, which lasts so long.
    fn plan(&self, load: Load, seconds: f64) -> Plan {
        let plan = &self.search.run.plan;
        Plan {
            threads: plan.threads.min(load.connections.max(1)),
            load,
            duration: Some(length(seconds)),
            warmup: self.search.settling,
            seed: plan.seed.wrapping_add(self.made.into()),
            ..plan.clone()
        }
    }

    fn level(&self, level: f64) -> Load {
        let plan = &self.search.run.plan;
        if self.search.users {
            return users(level, Shape::Closed);
        }
        let rate = rate(level);
        let arrivals = arrivals(plan);
        Load {
            shape: Shape::Rate { rate, arrivals },
            ..plan.load.clone()
        }
    }

    /// At `over` for so many seconds, and then at `back`.
    fn steps(&self, over: (f64, Duration), back: (f64, Duration)) -> Load {
        let plan = &self.search.run.plan;
        if self.search.users {
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

impl Measure for Trials<'_> {
    type Error = anyhow::Error;

    fn trial(&mut self, purpose: Purpose, level: f64, seconds: f64) -> Result<Option<Observation>> {
        let plan = self.plan(self.level(level), seconds);
        let result = self.run(&plan, purpose, None)?;
        Ok(result.map(|result| self.evaluation.see(result, level)))
    }

    fn descend(&mut self, over: (f64, f64), back: (f64, f64)) -> Result<Option<Descent>> {
        let (over, back) = (whole(over), whole(back));
        let load = self.steps(over, back);
        let plan = self.plan(load, (over.1 + back.1).as_secs_f64());
        let snapshots = RefCell::default();
        let purpose = Purpose::Ladder(Part::Over);
        let result = self.run(&plan, purpose, Some(&snapshots))?;
        let Some(result) = result else {
            return Ok(None);
        };
        let snapshots = snapshots.into_inner();
        let descent = self
            .evaluation
            .see_descent(&result, &snapshots, over, back.0);
        Ok(Some(descent))
    }

    fn pause(&mut self, seconds: f64) {
        if seconds >= LONG_S && self.search.run.progress {
            say_line(&format!(
                "The target has {seconds:.0} s to get done with what piled up."
            ));
        }
        let end = Instant::now() + length(seconds);
        while !self.interrupts.happened() && Instant::now() < end {
            thread::sleep(GLANCE.min(end.saturating_duration_since(Instant::now())));
        }
    }

    fn ended(&mut self, trial: &Trial) {
        self.evaluation.keep(trial);
        (self.tell)(trial);
    }

    fn together(&mut self, level: f64) -> Vec<bool> {
        self.evaluation.together(level)
    }
}

/// A rate whose digits are those of this level.
fn rate(level: f64) -> Rate {
    level
        .to_string()
        .parse()
        .expect("a level is a number above zero")
}

/// So many users, each with a connection.
fn users(level: f64, shape: Shape) -> Load {
    Load {
        connections: level as u32,
        max_connections: level as u32,
        shape,
    }
}

/// At a level for so long, then at once at another.
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

/// How the arrivals of an open load are spread; evenly where none was said.
fn arrivals(plan: &Plan) -> Arrivals {
    match plan.load.shape {
        Shape::Rate { arrivals, .. } => arrivals,
        _ => Arrivals::default(),
    }
}
