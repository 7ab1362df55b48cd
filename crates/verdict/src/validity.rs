//! The validity of a result, as far as the generator and its machine show it.
//!
//! A result is judged by what the generator did to its figures, and not by what might have done it:
//! how much of a figure is delay that Loadline added ([`own_delay`]), and how much of the load it
//! failed to send. That a worker was busy, waited for the CPU or stalled, that the hypervisor took
//! time, that arrivals were bunched or segments lost, explains such an effect; where there is none,
//! it is a note and the result is valid. Only what is our doing, or that of our machine, is
//! compared with a result: a target that fails or is slow is what somebody came to find out.

use crate::effect::{checked, connections_in_use, decided_by_own_delay};
use crate::{CheckOutcome, is_limited_by_plan, own_delay, plan_wait};
use loadline_findings::{Cause, Finding, Findings, Grade};
use loadline_plan::{Clock, Plan, Script, Shape, Statistic};
use loadline_record::watched::{GENERATOR, mean_rate};
use loadline_record::{Counts, ErrorKind, Model, Summary, Transient, Unfinished, WorkerTimes};

/// A send that is later than this is late (the bound of fortio's pacing).
pub const LATE_NS: u64 = 1_000_000;
/// If one of these figures, or one that a check names, is affected, the result is suspect.
const HEADLINES: [Statistic; 2] = [Statistic::Percentile(99.0), Statistic::Percentile(50.0)];
/// Among fewer requests than this a single one would be the p99.
const FEW_SENDS: u64 = 20;
/// At 85 % computing requests wait in the worker for nearly six times its own time for each (M/M/1:
/// u / (1 - u)).
const SATURATED: f64 = 0.85;
/// Fewer arrivals sent than this share is another load (the bound of Nighthawk's examples).
const SENT: f64 = 0.99;
/// A rate that Loadline lowered by more than this share is no measurement (the bound of Lancet).
const RATE_OFF: f64 = 0.1;
/// A worker that waits for the CPU longer than this share of its time has neighbours.
const CROWDED: f64 = 0.2;
/// The hypervisor gave more than this share of the processor time to others.
pub(crate) const STOLEN: f64 = 0.05;
/// With this share of the requests sent in another window of time than planned the arrivals have
/// another pattern.
const DISPLACED: f64 = 0.05;
/// In a closed load with fewer users than this share in flight the rest waited for Loadline, and
/// the rate is lower than what the target can do.
const IN_FLIGHT: f64 = 0.9;
/// Shorter runs are mostly begin and end.
const LONG_NS: u64 = 1_000_000_000;
/// The shortest work of a worker that allows conclusions about the rest.
const LONG_WORK_NS: u64 = 100_000_000;
/// A worker whose loop stalled for more than this share of its time has moved the p99.9.
const STALLED: f64 = 0.001;
/// With more than this share of the requests unsent because ports or descriptors ran out it is
/// another load (as of [`SENT`]); fewer may already have shaped it.
const SHORT: f64 = 1.0 - SENT;
/// More than this share of the TCP segments was sent again, and not just a few.
const LOST: f64 = 0.01;
const FEW_LOST: u64 = 10;

/// Returns the findings about the measurement, the gravest first.
pub(crate) fn validity(summary: &Summary) -> Findings {
    let effects = match summary.model {
        Model::Open => vec![
            decisive(summary),
            late(summary),
            unsent(summary),
            dropped(summary),
            missed(summary),
            plan_limit(summary),
        ],
        Model::Closed => vec![limit(summary).or_else(|| own_queue(summary))],
    };
    let both = [
        descriptors(summary),
        ports(summary),
        unreachable(summary),
        unstamped(summary),
        stalled(summary),
        busy(summary).or_else(|| busy_at_times(summary)),
        bunched(summary),
        crowded(summary),
        stolen(summary),
        lost(summary),
        uneven_begin(summary),
        broken_off(summary),
        unsettled(summary),
    ];
    let mut list: Vec<Finding> = effects.into_iter().chain(both).flatten().collect();
    list.sort_by_key(|finding| std::cmp::Reverse(finding.grade));
    Findings { list }
}

fn decisive(summary: &Summary) -> Option<Finding> {
    let (effect, outcome) = decided_by_own_delay(summary)?;
    Some(Finding {
        grade: Grade::Invalid,
        cause: Cause::Decisive {
            effect,
            passed: outcome == CheckOutcome::Passed,
        },
    })
}

fn late(summary: &Summary) -> Option<Finding> {
    if summary.total.times.lateness.len() < FEW_SENDS {
        return None;
    }
    let figures = HEADLINES.into_iter().chain(checked(summary));
    let mut affected = figures.filter_map(|statistic| own_delay(summary, statistic));
    affected
        .next()
        .map(|effect| suspect(Cause::Late { effect }))
}

/// Returns the finding that the plan was the limit. It is no evidence against the target, but the
/// figures are not those of a load without that limit.
fn plan_limit(summary: &Summary) -> Option<Finding> {
    if !is_limited_by_plan(summary) {
        return None;
    }
    let waits = HEADLINES
        .into_iter()
        .chain(checked(summary))
        .find_map(|statistic| plan_wait(summary, statistic));
    let unsent = summary.unfinished.by_plan;
    (waits.is_some() || unsent > 0).then(|| {
        suspect(Cause::PlanLimit {
            max_connections: summary
                .plan
                .connection
                .of_users(summary.plan.load.max_users),
            effect: waits,
            unsent,
            planned: summary.total.counts.planned,
        })
    })
}

/// Returns the finding that responses lay unread here if the kernel does not stamp them: their
/// times include that delay. Its length is not known, so the cause is judged: a worker that had no
/// time to read.
fn unstamped(summary: &Summary) -> Option<Finding> {
    let connection = &summary.plan.connection;
    let is_stamped = connection.clock == Clock::Kernel && connection.unix_socket.is_none();
    let busy = most(summary, WorkerTimes::cpu_share);
    let queued = most(summary, WorkerTimes::queued_share);
    let share = if busy > SATURATED { busy } else { queued };
    let had_no_time = busy > SATURATED || queued > CROWDED;
    (!is_stamped && had_no_time).then(|| suspect(Cause::Unstamped { share }))
}

fn busy(summary: &Summary) -> Option<Finding> {
    let share = most(summary, WorkerTimes::cpu_share);
    let is_busy = summary.model == Model::Open && share > SATURATED;
    is_busy.then(|| note(Cause::Busy { share }))
}

/// A load that rises, or comes in waves, may saturate a worker for a part of the run.
fn busy_at_times(summary: &Summary) -> Option<Finding> {
    let stretch = summary.busiest.stretch()?;
    let is_busy = summary.model == Model::Open && stretch.cpu_share > SATURATED;
    is_busy.then(|| note(Cause::BusyAtTimes { stretch }))
}

fn limit(summary: &Summary) -> Option<Finding> {
    let share = most(summary, WorkerTimes::cpu_share);
    let beside_target = runs_beside_target(summary);
    (share > SATURATED).then(|| {
        note(Cause::Limit {
            share,
            beside_target,
        })
    })
}

/// True if several workers share a host with the target.
fn runs_beside_target(summary: &Summary) -> bool {
    let is_loopback = |address: std::net::IpAddr| address.to_canonical().is_loopback();
    summary.plan.threads > 1 && summary.plan.stays_on_host(is_loopback)
}

/// Little's law in a closed load whose users never pause: N = X · R (P. Denning, J. Buzen, "The
/// operational analysis of queueing network models", *ACM Computing Surveys* 10 (1978)). Responses
/// are stamped by the kernel, so what is missing are users whose response was there and not yet
/// read, or read and not yet followed by the next request.
fn own_queue(summary: &Summary) -> Option<Finding> {
    let plan = &summary.plan;
    let is_scripted = plan.script.is_some() || plan.think.is_some();
    let never_pause = plan.load.shape == Shape::Closed && !is_scripted;
    let is_plain = summary.plan.connection.pipeline == 1 && summary.total.failures() == 0;
    if !never_pause || !is_plain || summary.duration_ns < LONG_NS {
        return None;
    }
    // What a target that hangs has not answered is under way as well.
    if !summary.unfinished.ages_are_known() {
        return None;
    }
    let in_flight = connections_in_use(summary);
    let users = summary.plan.load.users;
    // A single connection has none to wait behind.
    (users > 1 && in_flight + at_rest(summary) < f64::from(users) * IN_FLIGHT).then(|| {
        note(Cause::OwnQueue {
            in_flight,
            users,
            have_streams: summary.plan.connection.streams > 1,
            beside_target: runs_beside_target(summary),
        })
    })
}

/// The most users that had no request left to send, on average: once a number of requests is given
/// out, each rests until the last response is there, which takes as long as the slowest at most.
fn at_rest(summary: &Summary) -> f64 {
    if summary.plan.request_limit.is_none() {
        return 0.0;
    }
    let times = &summary.total.times.service;
    let slowest_ns = times.max_ns().max(summary.unfinished.ages.service.max_ns());
    let share = slowest_ns as f64 / summary.duration_ns.max(1) as f64;
    f64::from(summary.plan.load.users) * share.min(1.0)
}

fn bunched(summary: &Summary) -> Option<Finding> {
    let share = summary.arrivals.displaced_share();
    let is_open = summary.model == Model::Open;
    (is_open && share > DISPLACED).then(|| note(Cause::Bunched { share }))
}

fn crowded(summary: &Summary) -> Option<Finding> {
    let share = most(summary, WorkerTimes::queued_share);
    (share > CROWDED).then(|| {
        note(Cause::Crowded {
            share,
            by_target: target_had_most(summary),
        })
    })
}

/// True if the target used more of the machine than all unwatched processes.
fn target_had_most(summary: &Summary) -> bool {
    let watch = &summary.watch;
    let cores = |tree: usize| {
        let looks = watch.usage_of(tree);
        mean_rate(looks.map(|(usage, length_ns)| (usage.cpu_ns, length_ns))).unwrap_or(0.0)
    };
    let looks = watch.usage_of_host();
    let host = mean_rate(looks.map(|(usage, length_ns)| (usage.cpu_ns, length_ns)));
    let (mut target, mut watched) = (0.0, 0.0);
    for (tree, history) in watch.trees.iter().enumerate() {
        if history.machine.is_some() {
            continue;
        }
        let cores = cores(tree);
        watched += cores;
        if history.name != GENERATOR {
            target += cores;
        }
    }
    host.is_some_and(|host| target > 0.0 && target > host - watched)
}

/// Returns the finding that Loadline stalled. In an open load the times show the effect of a pause.
/// In a closed one nothing was sent meanwhile, so the rate is lower by as much.
fn stalled(summary: &Summary) -> Option<Finding> {
    let share = most(summary, WorkerTimes::stalled_share);
    let workers = summary.total.workers.values();
    let longest_ns = workers
        .map(|times| times.loop_iterations.max_ns())
        .max()
        .unwrap_or(0);
    let cause = Cause::Stalled { share, longest_ns };
    let is_rate_off = summary.model == Model::Closed && mean_stalled_share(summary) > RATE_OFF;
    (share > STALLED).then_some(Finding {
        grade: if is_rate_off {
            Grade::Invalid
        } else {
            Grade::Valid
        },
        cause,
    })
}

fn mean_stalled_share(summary: &Summary) -> f64 {
    let workers = summary.total.workers.values();
    let (stalled_ns, wall_ns) = workers.fold((0.0, 0.0), |(stalled_ns, wall_ns), times| {
        (
            stalled_ns + times.stalled_ns as f64,
            wall_ns + times.wall_ns as f64,
        )
    });
    if wall_ns > 0.0 {
        stalled_ns / wall_ns
    } else {
        0.0
    }
}

/// The largest share among the workers that were at work for long enough.
fn most(summary: &Summary, share: impl Fn(&WorkerTimes) -> f64) -> f64 {
    let workers = summary.total.workers.values();
    let long = workers.filter(|times| times.wall_ns >= LONG_WORK_NS);
    long.map(share).fold(0.0, f64::max)
}

/// Requests that the target, or the plan, kept from being sent are a finding about those; what was
/// not sent though a connection was free makes it another load.
fn unsent(summary: &Summary) -> Option<Finding> {
    let planned = summary.total.counts.planned;
    let Unfinished {
        unsent,
        by_loadline,
        by_stop,
        lost,
        ..
    } = summary.unfinished;
    let by_stop = by_stop.min(unsent);
    let is_many = |count: u64| count as f64 > planned as f64 * SHORT;
    let (grade, by_loadline) = match () {
        () if is_many(by_loadline) => (Grade::Invalid, by_loadline),
        // The plan's limit says so itself.
        () if is_many(unsent - by_stop) && !is_limited_by_plan(summary) => (Grade::Suspect, 0),
        () => return None,
    };
    Some(Finding {
        grade,
        cause: Cause::Unsent {
            planned,
            unsent,
            by_loadline,
            lost: lost.min(by_loadline),
        },
    })
}

/// Arrivals that were dropped have no time at all, so that figures look the better the more there
/// are of them.
fn dropped(summary: &Summary) -> Option<Finding> {
    let counts = &summary.total.counts;
    let dropped = counts.dropped;
    // Of iterations of several requests there are fewer than requests.
    let begun = match summary.total.times.iteration.len() {
        0 => counts.planned.saturating_sub(dropped),
        iterations => iterations,
    };
    let planned = begun + dropped;
    let is_many = dropped as f64 > planned as f64 * SHORT;
    // Of iterations that send nothing it is not known how many were begun.
    let is_known = begun > 0 || counts.sent > 0;
    (is_many && is_known).then(|| suspect(Cause::Dropped { planned, dropped }))
}

/// Returns the finding about missed starts. These have their times, so they are no evidence against
/// the figures.
fn missed(summary: &Summary) -> Option<Finding> {
    let Counts {
        planned, missed, ..
    } = summary.total.counts;
    let is_many = missed as f64 > planned as f64 * SHORT;
    is_many.then(|| note(Cause::Missed { planned, missed }))
}

fn descriptors(summary: &Summary) -> Option<Finding> {
    short(summary, ErrorKind::Descriptors, |failed, sent| {
        Cause::Descriptors { failed, sent }
    })
}

fn ports(summary: &Summary) -> Option<Finding> {
    short(summary, ErrorKind::Ports, |failed, sent| Cause::Ports {
        failed,
        sent,
    })
}

/// Returns the finding that requests could not be sent because a resource of this machine ran out.
fn short(summary: &Summary, kind: ErrorKind, cause: impl Fn(u64, u64) -> Cause) -> Option<Finding> {
    let failed = summary.total.errors.get(&kind)?.count;
    let sent = summary.total.counts.sent;
    let grade = if failed as f64 > sent as f64 * SHORT {
        Grade::Invalid
    } else {
        Grade::Suspect
    };
    let cause = cause(failed, sent);
    (failed > 0).then_some(Finding { grade, cause })
}

/// Returns the finding that users could not connect and, as the engine has them do where a load is
/// closed, waited before each further dial. Fewer requests fail meanwhile than were sent before, so
/// that a check of rate or failures may pass only because of the wait. Where as many fail, as of
/// users that pause anyway or of a target that was slow, nothing is missing.
fn unreachable(summary: &Summary) -> Option<Finding> {
    let waits = waits_before_dials(&summary.plan);
    let outage = Outage::of(summary);
    let share = outage.away_ns as f64 / summary.duration_ns.max(1) as f64;
    let is_short = share <= SHORT;
    let was_reached = summary.total.counts.answered > 0;
    if !waits || is_short || !was_reached {
        return None;
    }
    if !outage.is_of_dials(summary) || !outage.lacks_requests(summary) {
        return None;
    }
    let grade = match share > RATE_OFF {
        true => Grade::Invalid,
        false => Grade::Suspect,
    };
    let cause = Cause::Unreachable {
        away_ns: outage.away_ns,
        duration_ns: summary.duration_ns,
    };
    Some(Finding { grade, cause })
}

/// True if the engine has users wait after a dial that failed: those of a closed load, unless they
/// have a script in JavaScript or Python, which alone says when they wait. The name of its file
/// tells a script in Lua.
fn waits_before_dials(plan: &Plan) -> bool {
    let is_lua = |script: &Script| script.path.extension().is_some_and(|name| name == "lua");
    plan.load.shape == Shape::Closed && plan.script.as_ref().is_none_or(is_lua)
}

/// The intervals in which requests failed and none was answered.
#[derive(Clone, Copy, Debug, Default)]
struct Outage {
    /// Their time, in nanoseconds.
    away_ns: u64,
    /// The requests that failed in them.
    failed: u64,
}

impl Outage {
    fn of(summary: &Summary) -> Self {
        let rows = summary.rows.iter();
        let away = rows.filter(|row| row.counts.answered == 0 && row.counts.failed > 0);
        away.fold(Outage::default(), |sum, row| Outage {
            away_ns: sum.away_ns + (row.end_ns - row.start_ns),
            failed: sum.failed + row.counts.failed,
        })
    }

    /// True if its failures are mostly connections that could not be opened.
    fn is_of_dials(self, summary: &Summary) -> bool {
        let (dials, _) = summary.total.failed_dials();
        2 * dials > self.failed
    }

    /// True if fewer requests a second ended in it than otherwise.
    fn lacks_requests(self, summary: &Summary) -> bool {
        let other_ns = summary.duration_ns.saturating_sub(self.away_ns);
        let other = summary.total.counts.ended().saturating_sub(self.failed);
        let as_before = other as f64 * self.away_ns as f64 / other_ns.max(1) as f64;
        (self.failed as f64) < as_before * (1.0 - RATE_OFF)
    }
}

fn stolen(summary: &Summary) -> Option<Finding> {
    let share = summary.host.steal_share();
    (share > STOLEN).then(|| note(Cause::Stolen { share }))
}

/// Counted for the whole machine, so it may have been others' segments.
fn lost(summary: &Summary) -> Option<Finding> {
    let share = summary.host.retransmitted_share();
    let many = share > LOST && summary.host.retransmitted > FEW_LOST;
    many.then(|| note(Cause::Lost { share }))
}

/// Returns the finding about agents that did not begin together. What they sent late is counted as
/// late; what is left is that their seconds are not those of the others.
fn uneven_begin(summary: &Summary) -> Option<Finding> {
    let off = &summary.begins_off;
    let worst = off.iter().max_by_key(|begin| begin.off_ns())?;
    Some(note(Cause::UnevenBegin {
        agent: worst.agent.clone(),
        late_ns: worst.late_ns,
        clock_error_ns: worst.clock_error_ns,
        others: off.len() as u64 - 1,
    }))
}

fn broken_off(summary: &Summary) -> Option<Finding> {
    (!summary.complete).then(|| suspect(Cause::BrokenOff))
}

fn unsettled(summary: &Summary) -> Option<Finding> {
    match summary.transient? {
        Transient::Never => Some(suspect(Cause::NotSteady)),
        Transient::TooShort => Some(suspect(Cause::TooShort)),
        Transient::Cut { .. } => None,
    }
}

fn suspect(cause: Cause) -> Finding {
    Finding {
        grade: Grade::Suspect,
        cause,
    }
}

fn note(cause: Cause) -> Finding {
    Finding {
        grade: Grade::Valid,
        cause,
    }
}

#[cfg(test)]
mod chance;
#[cfg(test)]
mod situations;
#[cfg(test)]
mod tests;
