//! A plan as text: what was run, and how much in which model.

use crate::layout;
use loadline_plan::{
    Arrivals, HttpVersion, Level, Load, Plan, Rate, Request, Scenario, Shape, Stage, Think, Until,
};
use loadline_record::{LoadChange, Summary};
use loadline_units as units;
use std::collections::BTreeSet;
use std::time::Duration;
use url::Position;

/// The most requests of a list that are named one by one.
const MOST_NAMED: usize = 3;

/// Returns the requests of a plan: `GET http://127.0.0.1:8080/`, `script login.lua at
/// http://127.0.0.1:8080/`, or `12 requests, 2 names (GET, POST) to http://a and http://b: /a, /b,
/// /c, …`.
pub(crate) fn target(plan: &Plan) -> String {
    let target = match (plan.requests.as_slice(), plan.scripts().next()) {
        (templates, _) if plan.list.is_some() => listed_requests(templates, plan),
        ([one], Some(script)) => format!("script {} at {}", script.path.display(), one.url),
        ([one], None) => format!("{} {}", one.method, one.url),
        ([], Some(script)) => format!("script {}", script.path.display()),
        (several, _) => several_requests(several),
    };
    match &plan.connection.unix_socket {
        Some(path) => format!("{target} through the Unix socket {}", path.display()),
        None => target,
    }
}

/// Returns what of the whole plan was lost with workers, after a semicolon, for behind the rate: a
/// run that ended with its last worker kept its rate until then.
pub(crate) fn lost_text(summary: &Summary) -> String {
    match summary.unfinished.lost {
        0 => String::new(),
        lost => format!(
            "; {} of {} planned requests were lost",
            units::count(lost),
            units::count(summary.total.counts.planned)
        ),
    }
}

/// `1 000 000 requests (GET) of urls.txt to http://127.0.0.1:8080`.
fn listed_requests(templates: &[Request], plan: &Plan) -> String {
    let file = plan.list.iter().map(|list| list.path.display());
    format!(
        "{} ({}) of {} to {}",
        units::counted(plan.request_count(), "request"),
        methods(templates),
        file.map(|file| file.to_string()).collect::<String>(),
        hosts(templates),
    )
}

fn methods(requests: &[Request]) -> String {
    let methods: BTreeSet<&str> = requests.iter().map(|r| r.method.as_str()).collect();
    methods.into_iter().collect::<Vec<_>>().join(", ")
}

fn hosts(requests: &[Request]) -> String {
    let hosts: BTreeSet<&str> = requests.iter().map(origin).collect();
    listed(&hosts.into_iter().collect::<Vec<_>>())
}

fn several_requests(requests: &[Request]) -> String {
    let named = requests.iter().take(MOST_NAMED);
    let mut paths: Vec<&str> = named
        .map(|request| &request.url[Position::BeforePath..])
        .collect();
    if requests.len() > MOST_NAMED {
        paths.push("…");
    }
    format!(
        "{}{} ({}) to {}: {}",
        units::counted(requests.len() as u64, "request"),
        names(requests).map_or_else(String::new, |names| format!(", {names}")),
        methods(requests),
        hosts(requests),
        paths.join(", ")
    )
}

/// The first hosts by name, so that nobody loads one without seeing it: `http://a and http://b`,
/// `http://a, http://b, http://c and 2 more`.
fn listed(hosts: &[&str]) -> String {
    let rest = hosts.len().saturating_sub(MOST_NAMED);
    let named = &hosts[..hosts.len() - rest];
    match (named, rest) {
        (named, 1..) => format!(
            "{} and {} more",
            named.join(", "),
            units::count(rest as u64)
        ),
        ([first @ .., last], 0) if !first.is_empty() => {
            format!("{} and {last}", first.join(", "))
        }
        (named, 0) => named.join(", "),
    }
}

/// Returns the number of names, if any request has one of its own: `2 names`.
fn names(requests: &[Request]) -> Option<String> {
    let is_named = requests.iter().any(|request| request.name.is_some());
    let names: BTreeSet<_> = requests.iter().map(Request::series_name).collect();
    is_named.then(|| units::counted(names.len() as u64, "name"))
}

/// Scheme, host and port.
fn origin(request: &Request) -> &str {
    &request.url[..Position::BeforePath]
}

/// Returns the name of a test in a history: the requests, and the load. The duration of a run and
/// the number of its threads don't make it another test.
pub fn test_name(plan: &Plan) -> String {
    let loads = match plan.scenarios.is_empty() {
        true => vec![model(&plan.load, plan)],
        false => scenarios(plan),
    };
    layout::harmless(&format!("{}; {}", target(plan), loads.join("; ")))
}

/// Returns the load and its model: `open loop: 2 000/s constant, 50 connections, 2 threads, for 10
/// s`.
pub(crate) fn load(plan: &Plan) -> String {
    let mut parts = match plan.scenarios.len() {
        0 => vec![model(&plan.load, plan)],
        count => vec![units::counted(count as u64, "scenario")],
    };
    parts.extend(plan.think.map(thinking));
    let threads = units::counted(plan.threads.into(), "thread");
    parts.push(match plan.processes {
        1 => threads,
        processes => format!("{threads} in {processes} processes"),
    });
    parts.extend(
        plan.request_limit
            .map(|limit| units::counted(limit, "request")),
    );
    parts.extend(plan.duration.map(|length| {
        let is_most = plan
            .scenarios
            .iter()
            .any(|one| !one.part.graceful_stop.is_zero());
        let length = units::duration(length);
        match is_most {
            true => format!("for at most {length}"),
            false => format!("for {length}"),
        }
    }));
    if is_endless(plan) {
        parts.push("without a planned end".to_owned());
    }
    if !plan.warmup.is_zero() {
        parts.push(format!("after {} of warm-up", units::duration(plan.warmup)));
    }
    parts.extend(plan.until.map(|until| match until {
        Until::Precise { .. } => format!("or until {until}"),
        Until::Decided => "or until the checks are decided".to_owned(),
    }));
    if plan.settle {
        parts.push("without its transient".to_owned());
    }
    if !plan.connection.keepalive {
        parts.push("a new connection for every request".to_owned());
    }
    if plan.connection.http == HttpVersion::V2 {
        parts.push("HTTP/2".to_owned());
    }
    if plan.connection.pipeline > 1 {
        parts.push(format!("pipelined by {}", plan.connection.pipeline));
    }
    parts.join(", ")
}

/// True if no condition that is known before the run ends it.
fn is_endless(plan: &Plan) -> bool {
    let has_stages = matches!(
        plan.load.shape,
        Shape::ClosedStages { .. } | Shape::RateStages { .. } | Shape::Scenarios { .. }
    );
    let has_end = plan.duration.is_some() || plan.request_limit.is_some();
    !has_stages && !has_end && plan.until.is_none()
}

fn model(load: &Load, plan: &Plan) -> String {
    let connection = &plan.connection;
    let connections = connections(load, plan);
    match &load.shape {
        Shape::Closed => format!("closed loop: {connections}"),
        Shape::ClosedStages { start, stages } => {
            let level = |n: u32| units::count(n.into());
            let users = match (connection.streams, has_users(plan)) {
                (1, false) => "connections",
                (1, true) => "users",
                _ => "streams",
            };
            format!(
                "closed loop: {users} {}",
                course(level(*start), stages, level)
            )
        }
        Shape::Rate { rate, arrivals } => {
            format!(
                "open loop: {} {}, {connections}",
                rate_text(*rate),
                spread(*arrivals)
            )
        }
        Shape::RateStages {
            start,
            stages,
            arrivals,
        } => {
            let course = course(rate_text(*start), stages, rate_text);
            format!(
                "open loop: {course}, {} arrivals, {connections}",
                spread(*arrivals)
            )
        }
        Shape::Burst { size, every } => {
            let (size, every) = (units::count(*size), units::duration(*every));
            format!("open loop: bursts of {size} every {every}, {connections}")
        }
        Shape::Paced => format!(
            "{} that pace themselves",
            units::counted(load.users.into(), "user")
        ),
        Shape::Scenarios { .. } => connections,
    }
}

/// Each scenario with its load and its time: `browse: closed loop: 10 connections, from 5 s on, for
/// 1 min`.
pub(crate) fn scenarios(plan: &Plan) -> Vec<String> {
    let one = |scenario: &Scenario| {
        let part = &scenario.part;
        let mut text = vec![format!("{}: {}", part.name, model(&scenario.load, plan))];
        text.extend(scenario.think.map(thinking));
        let limit = scenario.request_limit;
        text.extend(limit.map(|limit| units::counted(limit, "iteration")));
        let each = part
            .iterations_per_user
            .map(|n| units::counted(n, "iteration"));
        text.extend(each.map(|each| format!("{each} each")));
        if !part.start.is_zero() {
            text.push(format!("from {} on", units::duration(part.start)));
        }
        let length = scenario.duration.map(units::duration);
        text.extend(length.map(|length| format!("for {length}")));
        if !part.graceful_stop.is_zero() {
            text.push(format!(
                "finishing within {}",
                units::duration(part.graceful_stop)
            ));
        }
        text.join(", ")
    };
    plan.scenarios.iter().map(one).collect()
}

/// Returns the think time: `1 s of think time`, `1 s of think time on average`.
fn thinking(think: Think) -> String {
    let time = units::duration(think.mean());
    match think {
        Think::Constant(_) => format!("{time} of think time"),
        Think::Exponential(_) => format!("{time} of think time on average"),
    }
}

/// Returns the new level of a load: `105 % of the plan`, `400/s`, `12 users`, `paused`.
pub fn level_text(level: Level) -> String {
    match level {
        Level::Share(share) => match share % 10 {
            0 => format!("{} % of the plan", units::count((share / 10).into())),
            tenths => format!("{}.{tenths} % of the plan", share / 10),
        },
        Level::Rate(rate) => rate_text(rate),
        Level::Users(users) => units::counted(users.into(), "user"),
        Level::Paused => "paused".to_owned(),
    }
}

/// Returns the new load after a change, and the scenario that it concerns: `12 users`, `5 users of
/// browsers`.
pub(crate) fn change_text(change: &LoadChange, plan: &Plan) -> String {
    let level = level_text(change.level);
    match change.scenario_of(plan) {
        Some(scenario) => format!("{level} of {}", layout::harmless(scenario)),
        None => level,
    }
}

/// True if a user is not the same as a connection: several users share them, or its script opens
/// those that it needs.
fn has_users(plan: &Plan) -> bool {
    let connection = &plan.connection;
    let opens_its_own = !connection.ahead && plan.scripts().next().is_some();
    connection.shared.is_some() || opens_its_own
}

/// `10 to 1 000 connections`, `10 connections of 10 streams`, `50 users on 10 shared connections`.
fn connections(load: &Load, plan: &Plan) -> String {
    let (streams, shared) = (plan.connection.streams, plan.connection.shared);
    let noun = match has_users(plan) {
        true => "user",
        false => "connection",
    };
    let (least, most) = (
        load.users.div_ceil(streams),
        load.max_users.div_ceil(streams),
    );
    let counted = if load.shape.is_open() && most > least {
        let most = units::count(most.into());
        format!("{} to {most} {noun}s", units::count(least.into()))
    } else {
        units::counted(least.into(), noun)
    };
    if let Some(shared) = shared {
        let shared = units::counted(shared.get().into(), "shared connection");
        return format!("{counted} on {shared}");
    }
    if streams > 1 {
        return format!("{counted} of {} streams", units::count(streams.into()));
    }
    counted
}

/// `from 0/s, to 100/s in 10 s, held for 1 min, at once to 0/s`.
fn course<T: Copy>(start: String, stages: &[Stage<T>], level: impl Fn(T) -> String) -> String {
    let mut course = format!("from {start}");
    let mut last = start;
    for stage in stages {
        let target = level(stage.target);
        course.push_str(", ");
        course.push_str(&step(stage.duration, &last, &target));
        last = target;
    }
    course
}

fn step(duration: Duration, from: &str, to: &str) -> String {
    let length = units::duration(duration);
    match duration {
        Duration::ZERO => format!("at once to {to}"),
        _ if from == to => format!("held for {length}"),
        _ => format!("to {to} in {length}"),
    }
}

fn rate_text(rate: Rate) -> String {
    units::planned_rate(rate.per_second())
}

fn spread(arrivals: Arrivals) -> &'static str {
    match arrivals {
        Arrivals::Constant => "constant",
        Arrivals::Poisson => "Poisson",
    }
}

#[cfg(test)]
mod tests;
