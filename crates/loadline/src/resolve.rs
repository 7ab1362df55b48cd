//! From flags to a run: opens what they name, fills in what they leave out, checks that it all
//! fits together. Nothing is started before this has succeeded.

mod capacity;
mod outputs;
mod requests;
mod scenarios;

pub(crate) use capacity::{Locust, Search, SearchError, resolve_search};

use crate::agents::hire;
use crate::flags;
use crate::flags::Planned;
use crate::flags::run::RunFlags;
use crate::flags::run::load::Warmup;
use crate::flags::run::output::OutputFlags;
use crate::flags::run::request::TargetWord;
use crate::invocation::Invocation;
use crate::plan_file::{PlanFile, PlanFileError};
use crate::publish::{Reports, Style};
use crate::session::Session;
use crate::view::{ViewChoice, ViewOptions};
use crate::web::Web;
use loadline_cluster::Grouping;
use loadline_engine::OTHER_FILES;
use loadline_plan::{Bound, Check, Client, Contradiction, Load, Plan};
use loadline_reactor::raise_open_files;
use loadline_runner::preflight::{Overwriting, refuse_overwriting};
use loadline_runner::{Watch, may_be_joined, no_joins};
use loadline_verdict::{Goal, Impossible};
use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use std::time::Duration;

/// The parts of its environment that a run uses.
pub(crate) struct RunEnvironment<'a> {
    /// Cores that may be used, at least 1.
    pub(crate) cores: u32,
    /// Files that this process may have open.
    pub(crate) open_files: u64,
    /// A seed that was never used before.
    pub(crate) seed: u64,
    /// The source of a body of `-`.
    pub(crate) stdin: &'a mut dyn Read,
}

impl<'a> RunEnvironment<'a> {
    /// This machine, and chance. The seed is short enough to be typed again.
    pub(crate) fn of_this_machine(stdin: &'a mut dyn Read) -> Self {
        let cores = available_parallelism().map_or(1, |cores| cores.get() as u32);
        Self {
            cores,
            open_files: raise_open_files().unwrap_or(u64::MAX),
            seed: rand::random::<u32>().into(),
            stdin,
        }
    }
}

/// The reason why flags don't describe a run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// It would not fit beside the run.
    #[error("--body is longer than 1 GiB, and a body is held in memory; give a shorter one.")]
    BodyTooLong,
    /// They contradict each other.
    #[error(transparent)]
    Contradiction(#[from] Contradiction),
    /// Something would be lost.
    #[error(transparent)]
    Overwriting(#[from] Overwriting),
    /// A plan file and the flags together don't describe a plan.
    #[error("{}: {error}", path.display())]
    Plan {
        /// The plan file.
        path: PathBuf,
        /// The reason.
        error: Box<Error>,
    },
    /// The flags and the plan file don't fit together.
    #[error("{0}")]
    Flags(String),
    /// The plan file can't be understood.
    #[error(transparent)]
    PlanFile(#[from] PlanFileError),
    /// A file can't be read.
    #[error("{what} {} can't be read: {error}.", path.display())]
    Read {
        /// The flag that names it.
        what: &'static str,
        /// Its path.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// A scenario of the plan file is none.
    #[error("scenario {name}: {error}")]
    Scenario {
        /// Its name.
        name: String,
        /// The reason.
        error: Box<Error>,
    },
    /// They make no search.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The standard input can't be read.
    #[error("--body - can't be read: {0}.")]
    Stdin(io::Error),
    /// Two reports would be mixed.
    #[error("two outputs go to stdout; give one of them a file, such as --output json=FILE.")]
    StdoutTwice,
    /// More than one file describes the whole run.
    #[error("{} and {} are two plan files; give one.", .0.display(), .1.display())]
    TwoPlans(PathBuf, PathBuf),
    /// The run can't reach the condition of its end.
    #[error(transparent)]
    Until(#[from] Impossible),
    /// A list of URLs can't be understood.
    #[error("--urls {}: {error}", path.display())]
    UrlList {
        /// Its path.
        path: PathBuf,
        /// The reason.
        error: loadline_plan::Error,
    },
}

/// Makes a run of what was typed.
pub(crate) fn resolve(
    flags: RunFlags,
    surroundings: RunEnvironment<'_>,
) -> Result<Invocation, Error> {
    let flags = with_plan_file(flags)?;
    refuse_agents(&flags)?;
    resolve_alone(flags, None, surroundings)
}

/// As [`resolve`], of a run that may be on agents. Blocks until there are as many as it needs.
pub(crate) fn resolve_on_agents(
    flags: RunFlags,
    surroundings: RunEnvironment<'_>,
) -> Result<Invocation, Error> {
    let (flags, surroundings) = on_agents(with_plan_file(flags)?, surroundings)?;
    resolve_alone(flags, None, surroundings)
}

/// Returns the flags and the surroundings of a run that may be on agents: each of them has a
/// process of it.
fn on_agents(
    mut flags: RunFlags,
    mut surroundings: RunEnvironment<'_>,
) -> Result<(RunFlags, RunEnvironment<'_>), Error> {
    refuse_no_series(&flags)?;
    // They need not be awaited for this.
    refuse_too_many_series(&flags, flags.machines.count().unwrap_or(0))?;
    let prints_wait = !flags.output.quiet && !flags.output.no_progress;
    let hired = hire(&flags.machines, flags.load.processes, prints_wait).map_err(Error::Flags)?;
    if let Some(hired) = hired {
        if flags.watching.floor {
            return Err(Error::Flags(
                "--floor is what this machine can do at best, and agents send the load; leave \
                 it out."
                    .to_owned(),
            ));
        }
        refuse_too_many_series(&flags, hired.parts)?;
        flags.load.processes = hired.parts;
        surroundings.cores = hired.cores;
        surroundings.open_files = hired.open_files;
    }
    Ok((flags, surroundings))
}

/// Refuses agents that join where there is nothing that they could take over.
fn refuse_elastic(flags: &RunFlags, plan: &Plan) -> Result<(), Error> {
    match flags.machines.elastic && !may_be_joined(plan) {
        true => Err(Error::Flags(no_joins(
            "give a rate (-r), or a duration (-d) instead of -n",
        ))),
        false => Ok(()),
    }
}

/// Refuses series of single agents where some agents join the reports of others.
fn refuse_too_many_series(flags: &RunFlags, agents: u32) -> Result<(), Error> {
    let most = Grouping::default().most_alone;
    match flags.machines.per_agent && agents as usize > most {
        true => Err(Error::Flags(format!(
            "--per-agent is for at most {most} agents, and there are {agents}: beyond, some of \
             them merge the figures of others; leave it out, or take fewer agents."
        ))),
        false => Ok(()),
    }
}

/// Refuses series of single agents where no output has series.
fn refuse_no_series(flags: &RunFlags) -> Result<(), Error> {
    let exporters = flags.output.report.exporters();
    let has_labels = exporters.iter().any(|one| one.format().has_labels());
    match flags.machines.per_agent && !has_labels {
        true => Err(Error::Flags(
            "--per-agent gives series of exporters the label agent, and no output here has any; \
             add one, such as -o scrape=HOST:PORT, or leave it out."
                .to_owned(),
        )),
        false => Ok(()),
    }
}

/// Refuses agents where the load is of this machine alone.
fn refuse_agents(flags: &RunFlags) -> Result<(), Error> {
    let machines = &flags.machines;
    match machines.agents.is_some() || machines.bus.nats.is_some() {
        true => Err(Error::Flags(
            "agents send the load of runs, of versus and of capacity without a locustfile, and not \
             this one; leave out --agents and --nats."
                .to_owned(),
        )),
        false => Ok(()),
    }
}

/// Returns the same contradiction in the words of the flags.
fn in_words_of(flags: &RunFlags, error: Contradiction) -> Error {
    match flags.machines.agents {
        Some(_) => {
            let sentence = error.to_string().replace("--processes", "--agents");
            Error::Flags(sentence.replace("processes", "agents"))
        }
        None => error.into(),
    }
}

/// As [`resolve`], where the plan file is already under the flags, and this file may be written
/// too.
fn resolve_alone(
    flags: RunFlags,
    also_written: Option<&Path>,
    surroundings: RunEnvironment<'_>,
) -> Result<Invocation, Error> {
    let outputs = outputs::outputs(&flags.output)?;
    let plan = plan(&flags, surroundings).map_err(|error| error.in_plan_of(&flags))?;
    refuse_unreadable(&plan)?;
    let repeat = flags.load.repeat;
    refuse_repeat(repeat, &flags.output)?;
    let choice = choice(&flags.output)?;
    refuse_overwriting(
        outputs::written(&flags.output, &outputs).chain(also_written),
        outputs::read(&flags.request, &plan),
    )?;
    let output = flags.output;
    let (extent, saved) = (output.extent(), output.save.clone());
    Ok(Invocation {
        plan,
        repeat,
        session: Session {
            watch: Some(Watch {
                targets: flags.watching.watch,
                find_target: !flags.watching.no_watch,
            }),
            floor: flags.watching.floor,
            save: output.save,
            log: output.log,
            exporters: output.report.exporters(),
            per_agent: flags.machines.per_agent,
            progress: !output.quiet && !output.no_progress,
            view: ViewOptions {
                choice,
                color: output.report.color,
            },
            web: Web::of(flags.web),
            baseline: None,
            seat: None,
        },
        reports: Reports {
            tables: None,
            worst_accepted: flags.judgement.trust.worst_accepted(),
            outputs,
            style: Style {
                color: output.report.color,
                percentiles: output.report.percentiles,
                extent,
                saved,
            },
        },
        regressions: flags.regressions,
        trust: flags.judgement.trust,
    })
}

/// Returns the choice of the live view.
fn choice(output: &OutputFlags) -> Result<ViewChoice, Error> {
    let other = match output {
        OutputFlags { live: false, .. } if output.no_live => return Ok(ViewChoice::Never),
        OutputFlags { live: false, .. } => return Ok(ViewChoice::Automatic),
        OutputFlags { no_live: true, .. } => "--no-live",
        OutputFlags { quiet: true, .. } => "--quiet",
        OutputFlags {
            no_progress: true, ..
        } => "--no-progress",
        _ => return Ok(ViewChoice::Always),
    };
    Err(Error::Flags(format!(
        "--live shows the live view, and {other} does not; give one of them."
    )))
}

fn refuse_repeat(repeat: Option<u32>, output: &OutputFlags) -> Result<(), Error> {
    let refused = match repeat {
        Some(0) => "--repeat 0 runs nothing; give at least 1.",
        Some(2..) if output.log.is_some() => {
            "--log keeps the requests of one run; leave it out, or --repeat."
        }
        _ => return Ok(()),
    };
    Err(Error::Flags(refused.to_owned()))
}

impl Error {
    /// The same, with the plan file named if there is one.
    fn in_plan_of(self, flags: &RunFlags) -> Error {
        match plan_files(flags).pop() {
            Some(path) => Error::Plan {
                path,
                error: Box::new(self),
            },
            None => self,
        }
    }
}

fn plan_files(flags: &RunFlags) -> Vec<PathBuf> {
    let places = flags.request.places.iter();
    let files = places.filter_map(|place| match place {
        TargetWord::Plan(path) => Some(path.clone()),
        TargetWord::Url(_) => None,
    });
    files.collect()
}

/// Puts the plan file, if there is one, under the flags.
pub(crate) fn with_plan_file<F: Planned>(mut flags: F) -> Result<F, Error> {
    let paths = plan_files(flags.run());
    let path = match &paths[..] {
        [] => return Ok(flags),
        [path] => path,
        [path, other, ..] => return Err(Error::TwoPlans(path.clone(), other.clone())),
    };
    let file: PlanFile<F> = PlanFile::parse(path, &read_text("plan file", path)?)?;
    file.under(flags)
        .map_err(|error| Error::Flags(flags::sentence(&error)))
}

fn plan(flags: &RunFlags, mut surroundings: RunEnvironment<'_>) -> Result<Plan, Error> {
    scenarios::refuse_contradictions(flags)?;
    let (mut load, duration) = flags.load.options().resolve()?;
    if flags.load.max_connections.is_none() {
        limit_connections(&mut load, surroundings.open_files, flags.load.processes);
    }
    let connection = flags.connection.options();
    let load = load.with_streams(connection.streams);
    let seed = flags.load.seed.unwrap_or(surroundings.seed);
    let requests = match flags.scenarios.is_empty() {
        true => requests::of_run(&flags.request, seed, surroundings.stdin)?,
        false => Plan::default(),
    };
    let mut plan = Plan {
        script: requests::script(&flags.request)?,
        order: flags.request.urls_order,
        think: flags.load.think,
        client: requests::client(&flags.request)?,
        load,
        duration,
        request_limit: flags.load.requests,
        warmup: flags.load.warmup_time(),
        settle: flags.load.warmup == Warmup::Auto,
        until: flags.load.until,
        max_series: flags.request.max_series,
        traceparent: flags.request.traceparent,
        seed,
        connection,
        checks: flags.judgement.check.clone(),
        abort_on: flags.judgement.abort_on.clone(),
        secrets: flags.secrets.clone(),
        ..requests
    };
    if !flags.scenarios.is_empty() {
        plan.script = None;
        plan.client = Client::default();
        plan = plan.with_scenarios(scenarios::scenarios(flags, seed, &mut surroundings)?);
    }
    plan.name_secret_urls();
    plan.connection.drain = drain(flags.load.drain, &plan)?;
    plan.connection.drains_to_age = flags.load.drain.is_none() && !plan.connection.drain.is_zero();
    let given = flags.load.threads;
    plan.processes = flags.load.processes;
    plan.threads = given.unwrap_or_else(|| threads(&plan, surroundings.cores));
    plan.validate().map_err(|error| in_words_of(flags, error))?;
    Goal::of(&plan)?;
    refuse_elastic(flags, &plan)?;
    Ok(plan)
}

/// Returns the time to wait for unfinished requests: with checks until they are answered, or break
/// any check. Whether they fail is not known before the timeout.
fn drain(given: Option<Duration>, plan: &Plan) -> Result<Duration, Contradiction> {
    if plan.request_limit.is_some() {
        return match given {
            // The duration may end the run before its last request.
            Some(given) if plan.duration.is_some() => Ok(given),
            Some(_) => Err(Contradiction::DrainWithRequests),
            None => Ok(Duration::ZERO),
        };
    }
    let largest = plan.checks.iter().filter_map(|check| match check.bound {
        Bound::TimeNs(ns) => Some(Duration::from_nanos(ns)),
        Bound::Share(_) | Bound::Count(_) | Bound::PerSecond(_) | Bound::Number(_) => None,
    });
    let is_share = |check: &Check| matches!(check.bound, Bound::Share(_) | Bound::Count(_));
    let default = match largest.max() {
        Some(largest) => largest,
        None if plan.checks.iter().any(is_share) => plan.connection.timeout,
        None => Duration::ZERO,
    };
    Ok(given.unwrap_or(default.min(plan.connection.timeout)))
}

/// Lowers the default limit of connections to what the limit of open files of so many processes
/// allows.
fn limit_connections(load: &mut Load, open_files: u64, processes: u32) {
    let room = open_files.saturating_sub(OTHER_FILES);
    let room = room.saturating_mul(processes.max(1).into());
    let room = u32::try_from(room).unwrap_or(u32::MAX);
    load.max_users = load.max_users.min(room).max(load.users);
}

/// A worker for each core; where the target runs on this host it gets a core too.
fn threads(plan: &Plan, cores: u32) -> u32 {
    let spared = u32::from(plan.stays_on_host(loadline_watch::is_local));
    let cores = cores.saturating_sub(spared).max(1);
    let streams = plan.connection.streams.max(1);
    let connections = (plan.load.users / streams).max(1);
    let shared = plan.connection.shared.map_or(u32::MAX, NonZeroU32::get);
    let most = cores.max(plan.processes).min(connections).min(shared);
    // Each worker has its share of the arrivals of a scenario, and needs a user for them.
    let open = plan.scenarios.iter().map(|scenario| &scenario.load);
    let open = open.filter(|load| load.shape.is_open());
    let most = open.map(|load| load.max_users).fold(most, u32::min);
    // Workers share no connection: each has whole ones, with all of their streams.
    let divides = |threads: &u32| streams == 1 || connections.is_multiple_of(*threads);
    (1..=most).rev().find(divides).unwrap_or(1)
}

/// Checks only that these files can be opened; the transport reads them.
fn refuse_unreadable(plan: &Plan) -> Result<(), Error> {
    let tls = &plan.connection.tls;
    let files = [
        ("--cacert", tls.cacert.as_ref()),
        ("--cert", tls.cert.as_ref()),
        ("--key", tls.key.as_ref()),
    ];
    let files = files
        .into_iter()
        .filter_map(|(what, path)| Some((what, path?)));
    let scripts = plan.scripts().map(|script| ("--script", &script.path));
    for (what, path) in scripts.chain(files) {
        File::open(path).map_err(unreadable(what, path))?;
    }
    Ok(())
}

fn read_text(what: &'static str, path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(unreadable(what, path))
}

fn read_bytes(what: &'static str, path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(unreadable(what, path))
}

fn unreadable(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |error| Error::Read { what, path, error }
}

#[cfg(test)]
mod tests;
