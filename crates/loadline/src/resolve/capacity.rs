//! From flags to a search: the plan of its trials, and where it looks.

mod locustfile;

pub(crate) use locustfile::Locust;

use super::{Error, RunEnvironment, on_agents, refuse_agents, resolve_alone, with_plan_file};
use crate::flags::capacity::{CapacityFlags, SearchFlags};
use crate::flags::run::RunFlags;
use crate::flags::run::load::Warmup;
use crate::invocation::Invocation;
use crate::output::Format;
use loadline_capacity::Settings;
use loadline_plan::{Check, Comparison, Metric, Rate, Statistic};
use std::path::PathBuf;
use std::time::Duration;

/// The limits of the first trial's rate: between them it is the rate at which the highest
/// percentile of a check has enough requests.
const FIRST_RATES: (f64, f64) = (10.0, 100.0);
/// The check on failures, whatever the user's checks are: a rate at which requests fail is no
/// capacity.
const ERRORS_CHECK: &str = "errors<1%";
/// The time of load before a trial measures, in which connections are opened and queues settle.
const SETTLING: Duration = Duration::from_millis(300);
/// The additional time of a trial: threads and connections.
const OVERHEAD: Duration = Duration::from_millis(100);
/// The time that a target has to recover, at least.
const RECOVERY: Duration = Duration::from_secs(5);
/// The most users, unless the user sets another limit.
const MOST_USERS: u32 = 10_000;
/// The default checks: the least that a service must keep to count as available.
const USUAL_CHECKS: [&str; 3] = ["p99<1s", "errors<0.1%", "non2xx<0.1%"];
/// The same for a locustfile, which itself decides which responses are failures.
const USUAL_CHECKS_OF_LOCUSTFILE: [&str; 2] = ["p99<1s", "errors<0.1%"];

/// The default duration of a whole search.
const BUDGET: Duration = Duration::from_secs(Settings::BUDGET_S as u64);
/// The same of a search for a locustfile's users, who settle for a second before each trial.
const BUDGET_OF_LOCUSTFILE: Duration = Duration::from_secs(300);
/// The additional time of a trial of a locustfile: users settle, and a whole second begins.
const OVERHEAD_OF_LOCUSTFILE: Duration = Duration::from_millis(1_500);

/// The default duration of a search on agents, whose trials take longer to begin.
const BUDGET_ON_AGENTS: Duration = Duration::from_secs(180);
/// The additional time of a trial on agents: their clocks are measured, and the message with the
/// begin of the load is sent a second ahead.
const OVERHEAD_ON_AGENTS: Duration = Duration::from_millis(1_300);

/// A search as the command line describes it, with everything read and checked.
#[derive(Debug)]
pub(crate) struct Search {
    /// The run of each trial, except its load, and the outputs.
    pub(crate) run: Invocation,
    /// The range, the time and the precision of the search.
    pub(crate) settings: Settings,
    /// True if numbers of users are searched, instead of rates.
    pub(crate) users: bool,
    /// The locustfile whose users are searched, if there is one.
    pub(crate) locust: Option<Locust>,
    /// True if the checks are the default ones.
    pub(crate) usual_checks: bool,
    /// True if the check on errors was added to the given ones.
    pub(crate) errors_added: bool,
    /// Driven before each trial is measured.
    pub(crate) settling: Duration,
    /// True if the floor of this machine is measured first.
    pub(crate) floor: bool,
    /// The file of the drawing of response times over the load.
    pub(crate) svg: Option<PathBuf>,
}

/// The reason why flags don't describe a search.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SearchError {
    /// A flag sets a value that the search decides.
    #[error("the search itself decides --{0}; leave it out.")]
    Decided(&'static str),
    /// Loads that a search has no hold of.
    #[error(
        "a search changes the one load of its trials, and the plan file has several scenarios; \
         search with one of them alone."
    )]
    Scenarios,
    /// Something that only a search of a locustfile's users takes.
    #[error("{0} belongs to a locustfile; give its file with -f, or leave that out.")]
    NoLocustfile(&'static str),
    /// A locustfile's users are no rate.
    #[error("-f searches the number of a locustfile's users; add --users.")]
    LocustfileAlone,
    /// The locustfile determines the URLs of requests.
    #[error(
        "-f takes the requests from the locustfile, and a URL beside it is one too many; give the \
         locustfile's host with -H {0}, or leave out -f."
    )]
    UrlBesideLocustfile(String),
    /// The locustfile makes the requests.
    #[error("--{0} says what the locustfile does by itself; leave it out.")]
    OfLocustfile(String),
    /// Not a host.
    #[error(
        "-H {0} is not the host of a locustfile; give one such as -H http://127.0.0.1:8080 (header \
         fields are for the locustfile to say)."
    )]
    NoHost(String),
    /// A check that more load can only fulfil has no highest load.
    #[error(
        "--check {0} is a lower bound, and a search for the highest load needs upper bounds; give \
         one, such as p99<50ms."
    )]
    LowerBound(String),
    /// The numbers of connections are the users.
    #[error("--{0} contradicts --users, which searches the number of connections; leave it out.")]
    Connections(&'static str),
    /// The figures of single runs.
    #[error(
        "{0} shows single runs; take -o text, json or html here, or --save the trials and report \
         them."
    )]
    SingleRuns(&'static str),
    /// A range without anything in it.
    #[error(
        "--min-rate {lowest} is not below --max-rate {highest}; lower the one or raise the other."
    )]
    NoRange {
        /// The lowest rate.
        lowest: Rate,
        /// The highest one.
        highest: Rate,
    },
    /// A rate at which nothing is sent.
    #[error("--min-rate 0 measures nothing; give a rate above zero, such as 0.1.")]
    NoRate,
    /// A number of users where none are searched.
    #[error("--max-users limits a search with --users; add --users, or give --max-rate instead.")]
    MaxUsersAlone,
    /// No users.
    #[error("--max-users {0} leaves nothing to search; give at least 2.")]
    NoUsers(u32),
    /// Trials that are none.
    #[error("--trials 0 decides nothing; give at least 1.")]
    NoTrials,
    /// Time is too short.
    #[error(
        "--budget {budget_s:.0}s is too short: warm-up, confirmation and ladder alone take \
         {reserved_s:.0} s; give at least {least_s:.0}s, or shorten the trials (-d)."
    )]
    Budget {
        /// The given budget.
        budget_s: f64,
        /// The time that is needed after the search.
        reserved_s: f64,
        /// The least sufficient budget.
        least_s: f64,
    },
}

/// Makes a search of what was typed.
pub(crate) fn resolve_search(
    flags: CapacityFlags,
    surroundings: RunEnvironment<'_>,
) -> Result<Search, Error> {
    let CapacityFlags {
        search,
        mut run,
        locust_options,
    } = with_plan_file(flags)?;
    if !run.scenarios.is_empty() {
        return Err(SearchError::Scenarios.into());
    }
    refuse_decided(&search, &run)?;
    let locust = locustfile::resolve(&search, locust_options, &mut run)?;
    if locust.is_some() {
        refuse_agents(&run)?;
    }
    let (mut run, surroundings) = on_agents(run, surroundings)?;
    refuse_lower_bounds(&run.judgement.check)?;
    let usual_checks = run.judgement.check.is_empty();
    let errors_added = !usual_checks && !has_errors_check(&run.judgement.check);
    fill_in(&search, &mut run);
    let settings = Settings {
        users_keep_pace: search.users && usual_checks,
        ..settings(&search, &run)?
    };
    let is_on_agents = run.machines.agents.is_some();
    let mut run = resolve_alone(run, search.svg.as_deref(), surroundings)?;
    refuse_single_runs(&run)?;
    if let Some(locust) = &locust {
        run.plan.script = Some(locust.script());
    }
    Ok(Search {
        run,
        settings,
        users: search.users,
        // What agents can do at best, this machine does not show.
        floor: !search.no_floor && locust.is_none() && !is_on_agents,
        locust,
        usual_checks,
        errors_added,
        settling: SETTLING,
        svg: search.svg,
    })
}

fn refuse_decided(search: &SearchFlags, run: &RunFlags) -> Result<(), SearchError> {
    let load = &run.load;
    let decided = [
        (load.rate.is_some(), "rate"),
        (load.requests.is_some(), "requests"),
        (load.stages.is_some(), "stages"),
        (load.burst.is_some(), "burst"),
        (!run.judgement.abort_on.is_empty(), "abort-on"),
        (run.output.log.is_some(), "log"),
        (run.regressions.baseline.is_some(), "baseline"),
        (!run.regressions.fail_on.is_empty(), "fail-on"),
        (run.regressions.history.is_some(), "history"),
        (load.repeat.is_some(), "repeat"),
        (load.until.is_some(), "until"),
        (run.judgement.trust.strict, "strict"),
        (load.warmup == Warmup::Auto, "warmup auto"),
    ];
    if let Some((_, flag)) = decided.into_iter().find(|(given, _)| *given) {
        return Err(SearchError::Decided(flag));
    }
    let counted = [
        (load.connections.is_some(), "connections"),
        (load.max_connections.is_some(), "max-connections"),
        (load.arrivals.is_some(), "arrivals"),
    ];
    match counted
        .into_iter()
        .find(|(given, _)| *given && search.users)
    {
        Some((_, flag)) => Err(SearchError::Connections(flag)),
        None => Ok(()),
    }
}

fn refuse_lower_bounds(checks: &[Check]) -> Result<(), SearchError> {
    let is_lower = |check: &&Check| {
        matches!(
            check.comparison,
            Comparison::Greater | Comparison::GreaterOrEqual
        )
    };
    match checks.iter().find(is_lower) {
        Some(check) => Err(SearchError::LowerBound(check.text.clone())),
        None => Ok(()),
    }
}

/// Completes the load so that a trial's plan is whole; each trial has its own level.
fn fill_in(search: &SearchFlags, run: &mut RunFlags) {
    let load = &mut run.load;
    load.duration = Some(
        load.duration
            .unwrap_or(Duration::from_secs_f64(Settings::TRIAL_S)),
    );
    if !search.users {
        load.rate = Some(Rate::each_second(FIRST_RATES.0 as u64));
    }
    let check = |text: &str| -> Check { text.parse().expect("our own checks can be read") };
    let checks = &mut run.judgement.check;
    if checks.is_empty() {
        *checks = match search.locustfile {
            Some(_) => USUAL_CHECKS_OF_LOCUSTFILE.map(check).to_vec(),
            None => USUAL_CHECKS.map(check).to_vec(),
        };
    } else if !has_errors_check(checks) {
        checks.push(check(ERRORS_CHECK));
    }
}

fn refuse_single_runs(run: &Invocation) -> Result<(), SearchError> {
    let mut formats = run.reports.outputs.iter().map(|output| output.format);
    let refused = formats.find_map(|format| match format {
        Format::Csv => Some("csv"),
        Format::Sqlite => Some("sqlite"),
        Format::Junit => Some("junit"),
        Format::Markdown => Some("markdown"),
        Format::Github => Some("github"),
        Format::Text | Format::Json | Format::Html => None,
    });
    match refused {
        Some(format) => Err(SearchError::SingleRuns(format)),
        None => Ok(()),
    }
}

fn has_errors_check(checks: &[Check]) -> bool {
    let counts_all = |check: &Check| check.metric == Metric::Errors && check.name.is_none();
    checks.iter().any(counts_all)
}

/// So many requests the highest percentile of these checks needs, so that one of them may lie
/// beyond it.
fn samples(checks: &[Check]) -> f64 {
    let samples = |check: &Check| match check.metric {
        Metric::Time(_, Statistic::Percentile(percentile)) => (100.0 / (100.0 - percentile)).ceil(),
        Metric::Time(_, Statistic::Mean | Statistic::Min | Statistic::Max | Statistic::Stdev)
        | Metric::Errors
        | Metric::Non2xx
        | Metric::Statuses(_)
        | Metric::Rate
        | Metric::Custom(_) => 1.0,
    };
    checks.iter().map(samples).fold(1.0, f64::max)
}

fn settings(search: &SearchFlags, run: &RunFlags) -> Result<Settings, SearchError> {
    let trial_s = run.load.duration.unwrap_or_default().as_secs_f64();
    let samples = samples(&run.judgement.check);
    let (lowest, highest, first) = range(search, samples / Settings::short_s(trial_s.max(0.001)))?;
    if search.trials == 0 {
        return Err(SearchError::NoTrials);
    }
    let (overhead, usual_budget) = match (&search.locustfile, &run.machines.agents) {
        (Some(_), _) => (OVERHEAD_OF_LOCUSTFILE, BUDGET_OF_LOCUSTFILE),
        (None, Some(_)) => (SETTLING + OVERHEAD_ON_AGENTS, BUDGET_ON_AGENTS),
        (None, None) => (SETTLING + OVERHEAD, BUDGET),
    };
    let settings = Settings {
        lowest,
        highest,
        first: first.clamp(lowest, highest),
        whole: search.users,
        users_keep_pace: false,
        checks: run.judgement.check.len(),
        samples,
        trial_s,
        overhead_s: overhead.as_secs_f64(),
        warm_up_s: run.load.warmup_time().as_secs_f64(),
        spent_s: 0.0,
        recovery_s: trial_s.max(RECOVERY.as_secs_f64()),
        width: search.precision,
        trials: search.trials,
        budget_s: search.budget.unwrap_or(usual_budget).as_secs_f64(),
        floor_per_s: None,
    };
    let least_s = settings.least_budget_s().ceil();
    if settings.budget_s < least_s {
        return Err(SearchError::Budget {
            budget_s: settings.budget_s,
            reserved_s: settings.reserved_s(),
            least_s,
        });
    }
    Ok(settings)
}

/// The lowest, the highest and the first level.
fn range(search: &SearchFlags, first: f64) -> Result<(f64, f64, f64), SearchError> {
    if search.users {
        return match search.max_users.unwrap_or(MOST_USERS) {
            most @ (0 | 1) => Err(SearchError::NoUsers(most)),
            most => Ok((1.0, f64::from(most), 1.0)),
        };
    }
    if search.max_users.is_some() {
        return Err(SearchError::MaxUsersAlone);
    }
    let (lowest, highest) = (search.min_rate, search.max_rate);
    let (least, most) = (lowest.per_second(), highest.per_second());
    if lowest.is_zero() {
        return Err(SearchError::NoRate);
    }
    if least >= most {
        return Err(SearchError::NoRange { lowest, highest });
    }
    let first = first.clamp(FIRST_RATES.0, FIRST_RATES.1);
    Ok((least, most, first))
}

#[cfg(test)]
mod tests;
