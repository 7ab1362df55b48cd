//! Workloads: the behaviour of a run's users. The only place that knows script languages.

use crate::error::RunError;
use crate::fleet::{fleet, is_elastic, runs_elsewhere, worker_command};
use crate::observer::Interests;
use crate::script_job;
use crate::source::Source;
use loadline_cluster::{Machines, Processes, Users};
use loadline_engine::{AnyTally, Launch, Run, StartError, TallyCodec};
use loadline_plan::{Plan, Shape};
use loadline_record::{DeclaredCheck, Summary};
use loadline_script::{Language, LoadSender, Raised, Script, language_of};
use loadline_script_lua::Lua;
use std::cell::Cell;
use std::io;
use std::ops::Range;

pub use loadline_cluster::Job;
pub use loadline_script::{OnError, Prints};

/// The languages of scripts. A file whose name matches no language is assumed to be of the first.
pub(crate) const LANGUAGES: &[&dyn Language] = &[&Lua];

/// The behaviour of a run's users: the plan's requests, or a script.
pub trait Workload {
    /// Begins the load of this plan. Blocks until its connections are open.
    ///
    /// # Errors
    /// Those of [`Run::start`].
    fn start(&self, plan: Plan, interests: Interests) -> Result<Box<dyn Source>, StartError>;

    /// Sets the action for the first error that ends the load while it lasts; it is called at once
    /// if there was one already.
    fn on_error(&self, _act: OnError) {}

    /// Returns the error that ended the load while it lasted, if there was one.
    fn failure(&self) -> Option<RunError> {
        None
    }

    /// Receives what its users counted in addition to the engine's record, here or in other
    /// processes.
    fn tally(&self, _tally: &AnyTally) {}

    /// Notes that these workers are lost with their users, because the agent is that had them.
    fn lose(&self, _workers: &Range<u32>) {}

    /// Flushes its output, before something else is printed there.
    fn flush(&self) {}

    /// Runs the final step after the end of the load, once, before anything is reported.
    ///
    /// # Errors
    /// If it fails.
    fn teardown(&self) -> Result<(), RunError> {
        Ok(())
    }

    /// Returns the conditions that the workload defines itself, judged by its own rules. Called
    /// when the load has ended and all tallies are received.
    fn declared(&self) -> Vec<DeclaredCheck> {
        Vec::new()
    }

    /// Runs its conclusion, after the report of its run; not if its teardown failed.
    ///
    /// # Errors
    /// If it gave up, or its conclusion fails.
    fn conclude(&self, _summary: &Summary) -> Result<(), RunError> {
        Ok(())
    }
}

/// Creates the workload of a plan. A script is loaded here, including everything that precedes the
/// load. `prints` is the destination of its output.
///
/// # Errors
/// If the script can't be loaded, or a check is on a name that no request has.
pub fn workload(plan: &Plan, prints: Prints) -> Result<Box<dyn Workload>, RunError> {
    let place = match runs_elsewhere(plan) {
        true => LoadSender::Elsewhere,
        false => LoadSender::Here,
    };
    let parts = plan.parts().into_iter();
    let parts = parts.map(|part| load(&part, prints, place));
    let mut parts: Vec<Option<ScriptWorkload>> = parts.collect::<Result<_, _>>()?;
    let mut scripts = parts.iter().flatten();
    if !scripts.any(|script| script.script.names_requests()) {
        plan.validate_check_names()?;
    }
    if !plan.scenarios.is_empty() {
        return Ok(Box::new(Scenarios(parts)));
    }
    Ok(match parts.pop().flatten() {
        Some(script) => Box::new(script),
        None => Box::new(Requests),
    })
}

/// Several scenarios, each with its script if it has one.
struct Scenarios(Vec<Option<ScriptWorkload>>);

impl Scenarios {
    fn scripts(&self) -> impl Iterator<Item = &ScriptWorkload> {
        self.0.iter().flatten()
    }
}

impl Workload for Scenarios {
    fn start(&self, plan: Plan, interests: Interests) -> Result<Box<dyn Source>, StartError> {
        let launch = |(script, part): (&Option<ScriptWorkload>, &Plan)| match script {
            Some(script) => script.script.launch(),
            None => Launch::requests(part),
        };
        if runs_elsewhere(&plan) {
            let scripts = self
                .0
                .iter()
                .map(|one| one.as_ref().map(ScriptWorkload::named));
            return on_processes(&plan, interests, &script_users(scripts)?);
        }
        let parts = plan.parts();
        let launches: Vec<Launch> = self.0.iter().zip(&parts).map(launch).collect();
        Ok(Box::new(Run::launch(plan, interests.detail(), &launches)?))
    }

    fn on_error(&self, act: OnError) {
        self.scripts()
            .for_each(|script| script.on_error(OnError::clone(&act)));
    }

    fn failure(&self) -> Option<RunError> {
        self.scripts().find_map(Workload::failure)
    }

    fn tally(&self, tally: &AnyTally) {
        // The error has the name of its file, whichever of them takes it.
        if let Some(script) = self.scripts().next() {
            script.tally(tally);
        }
    }

    fn flush(&self) {
        self.scripts().for_each(Workload::flush);
    }

    /// Tears down each of its scripts, even if one before it failed.
    fn teardown(&self) -> Result<(), RunError> {
        let torn_down: Vec<_> = self.scripts().map(Workload::teardown).collect();
        torn_down.into_iter().collect()
    }

    fn conclude(&self, summary: &Summary) -> Result<(), RunError> {
        self.scripts()
            .try_for_each(|script| script.conclude(summary))
    }
}

/// The requests of the plan.
struct Requests;

impl Workload for Requests {
    fn start(&self, plan: Plan, interests: Interests) -> Result<Box<dyn Source>, StartError> {
        if runs_elsewhere(&plan) {
            return on_processes(&plan, interests, &Users::default());
        }
        Ok(Box::new(Run::start(plan, interests.detail())?))
    }
}

/// Starts the load of a plan on several processes of this program, as many as the plan has: those
/// of a fleet, or children of this one.
fn on_processes(
    plan: &Plan,
    interests: Interests,
    users: &Users,
) -> Result<Box<dyn Source>, StartError> {
    let (parts, detail) = (plan.processes, interests.detail());
    let processes = match fleet() {
        Some(fleet) => {
            let lines = fleet.lines(parts).map_err(StartError::Remote)?;
            let recruiter = fleet.recruiter().filter(|_| may_be_joined(plan));
            let machines = Machines {
                on_loss: fleet.on_loss(),
                ..Machines::default()
            };
            let takes_in = recruiter.is_some();
            let processes = Processes::start_on(plan, lines, detail, users, &machines, recruiter)?;
            if !takes_in {
                processes.look_for_lost(plan, fleet.scout());
            }
            processes
        }
        None => {
            let program = std::env::current_exe()?;
            Processes::start(plan, parts, detail, users, || worker_command(&program))?
        }
    };
    Ok(Box::new(processes))
}

/// True if further processes may join a run of a plan while it lasts: all of its load are arrivals,
/// or users without a number of requests.
pub fn may_be_joined(plan: &Plan) -> bool {
    let has_shares = |part: &Plan| match &part.load.shape {
        Shape::Rate { .. } | Shape::RateStages { .. } | Shape::Burst { .. } => true,
        Shape::Closed | Shape::ClosedStages { .. } => {
            let own = part.part.as_ref();
            let each = own.and_then(|own| own.iterations_per_user);
            part.request_limit.is_none() && each.is_none()
        }
        Shape::Paced | Shape::Scenarios { .. } => false,
    };
    plan.parts().iter().all(has_shares)
}

/// Returns the sentence about a plan whose load nobody can join, where processes may join the runs
/// of this one. `instead` is what has a load that they can, as the rest of a sentence.
pub fn refusal_of_joins(plan: &Plan, instead: &str) -> Option<String> {
    (is_elastic() && !may_be_joined(plan)).then(|| no_joins(instead))
}

/// Returns the sentence about a load that nobody can join.
pub fn no_joins(instead: &str) -> String {
    format!(
        "--elastic gives agents that come later a share of the arrivals, or of the users; a fixed \
         number of requests or iterations without a rate has none to give: {instead}, or leave \
         --elastic out."
    )
}

/// Returns the users of a plan with these scripts, one for each of its scenarios, in other
/// processes.
fn script_users<'a>(
    scripts: impl Iterator<Item = Option<(&'a str, &'a dyn Script)>>,
) -> Result<Users, StartError> {
    let scripts: Vec<_> = scripts.collect();
    match scripts.iter().any(Option::is_some) {
        true => Ok(script_job::users(&scripts)?),
        false => Ok(Users::default()),
    }
}

/// Begins the load of a plan whose users count: on threads with this launch, or on processes that
/// create the users from a job.
///
/// # Errors
/// Those of [`Run::start`]; if a process can't be started, or can't begin its part.
pub fn start_counting(
    plan: Plan,
    interests: Interests,
    launch: Launch,
    job: impl FnOnce() -> io::Result<Job>,
    tallies: TallyCodec,
) -> Result<Box<dyn Source>, StartError> {
    start_scenarios(plan, interests, &[launch], job, tallies)
}

/// Begins the load of a plan whose users count, with one launch for each of its scenarios: on
/// threads, or on processes that create the users from a job.
///
/// # Errors
/// Those of [`start_counting`].
pub fn start_scenarios(
    plan: Plan,
    interests: Interests,
    launches: &[Launch],
    job: impl FnOnce() -> io::Result<Job>,
    tallies: TallyCodec,
) -> Result<Box<dyn Source>, StartError> {
    if runs_elsewhere(&plan) {
        let users = Users {
            job: Some(job()?),
            tallies: Some(tallies),
        };
        return on_processes(&plan, interests, &users);
    }
    Ok(Box::new(Run::launch(plan, interests.detail(), launches)?))
}

/// The behaviour that a script defines.
struct ScriptWorkload {
    /// The name of its language.
    language: &'static str,
    script: Box<dyn Script>,
    /// True if its teardown failed.
    is_broken: Cell<bool>,
}

impl ScriptWorkload {
    /// Returns the script with the name of its language.
    fn named(&self) -> (&str, &dyn Script) {
        (self.language, &*self.script)
    }
}

impl Workload for ScriptWorkload {
    fn start(&self, plan: Plan, interests: Interests) -> Result<Box<dyn Source>, StartError> {
        if runs_elsewhere(&plan) {
            let users = script_users(std::iter::once(Some(self.named())))?;
            return on_processes(&plan, interests, &users);
        }
        Ok(Box::new(self.script.start(plan, interests.detail())?))
    }

    fn on_error(&self, act: OnError) {
        self.script.on_error(act);
    }

    fn failure(&self) -> Option<RunError> {
        self.script.failure().map(Into::into)
    }

    fn tally(&self, tally: &AnyTally) {
        if let Some(Raised(error)) = tally.get() {
            self.script.raise(error.clone());
        }
    }

    fn flush(&self) {
        self.script.flush();
    }

    fn teardown(&self) -> Result<(), RunError> {
        let torn_down = self.script.teardown();
        self.is_broken.set(torn_down.is_err());
        Ok(torn_down?)
    }

    fn conclude(&self, summary: &Summary) -> Result<(), RunError> {
        match self.failure() {
            Some(error) => Err(error),
            None if self.is_broken.get() => Ok(()),
            None => Ok(self.script.conclude(summary)?),
        }
    }
}

/// Loads and sets up the script of a plan, if it has one.
fn load(
    plan: &Plan,
    prints: Prints,
    place: LoadSender,
) -> Result<Option<ScriptWorkload>, RunError> {
    let Some(language) = plan
        .script
        .as_ref()
        .and_then(|script| language_of(&script.path, LANGUAGES))
    else {
        return Ok(None);
    };
    let script = language.load(plan, prints, place)?;
    script.setup()?;
    Ok(Some(ScriptWorkload {
        language: language.name(),
        script,
        is_broken: Cell::new(false),
    }))
}
