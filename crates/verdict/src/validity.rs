//! May this result be believed?
//!
//! A load test measures the generator along with the target. Here what the generator knows of itself
//! is held against bounds that others have found to matter; what goes beyond makes the result
//! *suspect* or *invalid*. Only what is ours counts against a result: a target that cannot keep up is
//! a finding and no fault, though a load that was not carried is not the load that was asked for.
//!
//! In a closed load a busy generator distorts nothing, because nothing has a time at which it must
//! start: there it is only said that the target could do more.

use loadline_plan::Shape;
use loadline_record::{Distribution, ErrorKind, Model, Stretch, Summary, Transient, WorkerTimes};

/// A send that is later than this is late (the bound of fortio's pacing).
pub const LATE_NS: u64 = 1_000_000;
/// This share of late sends makes a result suspect (fortio's bound).
const LATE_SHARE: f64 = 0.05;
/// With this share the pacing that was asked for did not happen.
const MOSTLY_LATE: f64 = 0.5;
/// Among fewer sends than this a single one would be more than [`LATE_SHARE`].
const FEW_SENDS: u64 = 20;
/// Lateness above this part of the response time is no detail of it.
const PART_OF_RESPONSE: f64 = 0.1;
/// A worker that computes more than this share of its time makes requests queue in itself: at 60 %
/// one and a half times its own time for a request (M/M/1: u / (1 - u)).
const BUSY: f64 = 0.6;
/// At 85 % it is nearly six times that.
const SATURATED: f64 = 0.85;
/// Fewer arrivals sent than this share is another load (the bound of Nighthawk's examples).
const SENT: f64 = 0.99;
/// A worker that waits for a core longer than this share of its time has neighbours.
const CROWDED: f64 = 0.2;
/// The hypervisor gave more than this share of the processor time to others.
const STOLEN: f64 = 0.05;
/// With this share of the requests sent in another window of time than planned the arrivals have
/// another pattern (as of [`LATE_SHARE`]).
const DISPLACED: f64 = 0.05;
/// In a closed load fewer users than this share in flight are more often with us than with the
/// target. Some of the time is ours in any case, and of a fast target's it is no small part.
const IN_FLIGHT: f64 = 0.5;
/// Shorter runs are mostly begin and end.
const LONG_NS: u64 = 1_000_000_000;
/// What a worker did in less time than this says nothing of the rest.
const LONG_WORK_NS: u64 = 100_000_000;
/// A worker whose loop stood still for more than this share of its time has moved the p99.9.
const STOOD_STILL: f64 = 0.001;
/// With more than this share of the requests unsent for want of a port or descriptor it is another
/// load (as of [`SENT`]); fewer may already have shaped it.
const SHORT: f64 = 1.0 - SENT;
/// More than this share of the TCP segments was sent again, and not just a few.
const LOST: f64 = 0.01;
const FEW_LOST: u64 = 10;

/// How far a result may be believed; a worse grade is greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Nothing speaks against it.
    #[default]
    Valid,
    /// Something may have distorted it.
    Suspect,
    /// It is not a measurement of what was asked for.
    Invalid,
}

impl Grade {
    /// Its name, as in reports.
    pub fn name(self) -> &'static str {
        match self {
            Grade::Valid => "valid",
            Grade::Suspect => "suspect",
            Grade::Invalid => "invalid",
        }
    }
}

/// Whether a result may be believed, and why not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Validity {
    /// What was found, the gravest first.
    pub findings: Vec<Finding>,
}

impl Validity {
    /// The worst grade of all findings.
    pub fn grade(&self) -> Grade {
        self.findings
            .iter()
            .map(|finding| finding.grade)
            .max()
            .unwrap_or_default()
    }
}

/// One thing that was found. One of grade valid is only worth knowing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// How far the result may still be believed.
    pub grade: Grade,
    /// Why.
    pub reason: Reason,
}

/// What was found. Shares lie between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// Requests went out later than planned, by our own doing.
    Late {
        /// The share of sends later than [`LATE_NS`].
        share: f64,
        /// The 99th percentile of the lateness.
        p99_ns: u64,
        /// The 99th percentile of the response time, which contains it.
        response_p99_ns: u64,
    },
    /// A worker computed for most of its time, in an open load.
    Busy {
        /// The busiest worker's share of computing.
        share: f64,
    },
    /// A worker computed for most of a part of the run, in an open load.
    BusyAtTimes {
        /// Which part, and how much of it.
        stretch: Stretch,
    },
    /// A worker waited for a core.
    Crowded {
        /// The share of its time that the worker waited most.
        share: f64,
    },
    /// Requests went out in another pattern than planned, by our own doing.
    Bunched {
        /// The share that went out in another [`WINDOW_NS`](loadline_record::WINDOW_NS).
        share: f64,
    },
    /// A worker's loop stood still: its process was stopped, or had no core for long.
    StoodStill {
        /// The share of its time in which it did, for longer than [`STILL_NS`](loadline_record::STILL_NS) each time.
        share: f64,
        /// How long it did at most.
        longest_ns: u64,
    },
    /// Arrivals were never sent, because no connection came free.
    Unsent {
        /// Arrivals that fell due.
        planned: u64,
        /// Those that were sent.
        sent: u64,
    },
    /// Requests could not be sent because this process had no file descriptor left.
    Descriptors {
        /// How many.
        failed: u64,
        /// Of so many that were begun.
        sent: u64,
    },
    /// Requests could not be sent because this machine had no local port left.
    Ports {
        /// How many.
        failed: u64,
        /// Of so many that were begun.
        sent: u64,
    },
    /// The hypervisor gave processor time to other machines.
    Stolen {
        /// The share that it gave.
        share: f64,
    },
    /// TCP segments were lost.
    Lost {
        /// The share that was sent again.
        share: f64,
    },
    /// The run was killed: what was in flight is not known.
    BrokenOff,
    /// The transient was to be cut, and the run never settled.
    Unsettled,
    /// The transient was to be cut, and the run was too short to show it.
    TooShort,
    /// In a closed load users had no request in flight, though they never pause: by Little's law,
    /// requests in flight are rate times response time.
    OwnQueue {
        /// Users that had one, on average.
        in_flight: f64,
        /// Users.
        users: u32,
    },
    /// In a closed load a worker was busy all the time: the target could have done more.
    Limit {
        /// The busiest worker's share of computing.
        share: f64,
    },
}

impl Reason {
    /// The reason's name, as in the JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Reason::Late { .. } => "late",
            Reason::Busy { .. } => "busy",
            Reason::BusyAtTimes { .. } => "busy_at_times",
            Reason::Crowded { .. } => "crowded",
            Reason::Bunched { .. } => "bunched",
            Reason::StoodStill { .. } => "stood_still",
            Reason::Unsent { .. } => "unsent",
            Reason::Descriptors { .. } => "descriptors",
            Reason::Ports { .. } => "ports",
            Reason::Stolen { .. } => "stolen",
            Reason::Lost { .. } => "lost",
            Reason::BrokenOff => "broken_off",
            Reason::Unsettled => "unsettled",
            Reason::TooShort => "too_short",
            Reason::OwnQueue { .. } => "own_queue",
            Reason::Limit { .. } => "limit",
        }
    }
}

/// Whether this result may be believed.
pub fn validity(summary: &Summary) -> Validity {
    let found = match summary.model {
        Model::Open => vec![
            late(summary),
            busy(summary).or_else(|| busy_at_times(summary)),
            bunched(summary),
            unsent(summary),
        ],
        Model::Closed => vec![limit(summary).or_else(|| own_queue(summary))],
    };
    let both = [
        stood_still(summary),
        descriptors(summary),
        ports(summary),
        crowded(summary),
        stolen(summary),
        lost(summary),
        broken_off(summary),
        unsettled(summary),
    ];
    let mut findings: Vec<Finding> = found.into_iter().chain(both).flatten().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.grade));
    Validity { findings }
}

fn late(summary: &Summary) -> Option<Finding> {
    let times = &summary.total.times;
    if times.lateness.len() < FEW_SENDS {
        return None;
    }
    let share = share_above(&times.lateness, LATE_NS);
    let p99_ns = times.lateness.percentile_ns(99.0);
    let response_p99_ns = times.response.percentile_ns(99.0);
    let is_part = p99_ns as f64 > response_p99_ns as f64 * PART_OF_RESPONSE && p99_ns > LATE_NS;
    let grade = match share {
        _ if share > MOSTLY_LATE => Grade::Invalid,
        _ if share > LATE_SHARE || is_part => Grade::Suspect,
        _ => return None,
    };
    let reason = Reason::Late {
        share,
        p99_ns,
        response_p99_ns,
    };
    Some(Finding { grade, reason })
}

/// The share of the values above a bound.
fn share_above(times: &Distribution, bound_ns: u64) -> f64 {
    if times.is_empty() {
        return 0.0;
    }
    1.0 - times.count_up_to_ns(bound_ns) as f64 / times.len() as f64
}

fn busy(summary: &Summary) -> Option<Finding> {
    let share = most(summary, WorkerTimes::cpu_share);
    let grade = match share {
        _ if share > SATURATED => Grade::Invalid,
        _ if share > BUSY => Grade::Suspect,
        _ => return None,
    };
    let reason = Reason::Busy { share };
    Some(Finding { grade, reason })
}

/// A load that rises, or comes in waves, may saturate a worker for a part of the run. How late that made
/// its requests is in their times; here is why.
fn busy_at_times(summary: &Summary) -> Option<Finding> {
    let stretch = summary.busiest.stretch()?;
    suspect(
        stretch.cpu_share > SATURATED,
        Reason::BusyAtTimes { stretch },
    )
}

fn limit(summary: &Summary) -> Option<Finding> {
    let share = most(summary, WorkerTimes::cpu_share);
    (share > SATURATED).then_some(Finding {
        grade: Grade::Valid,
        reason: Reason::Limit { share },
    })
}

/// Little's law in a closed load whose users never pause: N = X · R (P. Denning, J. Buzen, "The
/// operational analysis of queueing network models", *ACM Computing Surveys* 10 (1978)). Answers are
/// stamped by the kernel, so what is missing are users whose answer was there and not yet read, or
/// read and not yet followed by the next request.
fn own_queue(summary: &Summary) -> Option<Finding> {
    let never_pause = summary.plan.load.shape == Shape::Closed && summary.plan.script.is_none();
    let is_plain = summary.plan.connection.pipeline == 1 && summary.total.failures() == 0;
    if !never_pause || !is_plain || summary.duration_ns < LONG_NS {
        return None;
    }
    let service = &summary.total.times.service;
    let in_flight = service.mean_ns() * service.len() as f64 / summary.duration_ns as f64;
    let users = summary.plan.load.connections;
    // One alone has nobody to wait behind.
    (users > 1 && in_flight < f64::from(users) * IN_FLIGHT).then_some(Finding {
        grade: Grade::Valid,
        reason: Reason::OwnQueue { in_flight, users },
    })
}

fn bunched(summary: &Summary) -> Option<Finding> {
    let share = summary.arrivals.displaced_share();
    suspect(share > DISPLACED, Reason::Bunched { share })
}

fn crowded(summary: &Summary) -> Option<Finding> {
    let share = most(summary, WorkerTimes::queued_share);
    suspect(share > CROWDED, Reason::Crowded { share })
}

fn stood_still(summary: &Summary) -> Option<Finding> {
    let share = most(summary, WorkerTimes::still_share);
    let workers = summary.total.workers.values();
    let longest_ns = workers.map(|times| times.turns.max_ns()).max().unwrap_or(0);
    suspect(
        share > STOOD_STILL,
        Reason::StoodStill { share, longest_ns },
    )
}

/// The largest share among the workers that were at work for long enough.
fn most(summary: &Summary, share: impl Fn(&WorkerTimes) -> f64) -> f64 {
    let workers = summary.total.workers.values();
    let long = workers.filter(|times| times.wall_ns >= LONG_WORK_NS);
    long.map(share).fold(0.0, f64::max)
}

fn unsent(summary: &Summary) -> Option<Finding> {
    let (planned, sent) = (summary.total.counts.planned, summary.total.counts.sent);
    let is_short = (sent as f64) < planned as f64 * SENT && summary.unfinished.unsent > 0;
    suspect(is_short, Reason::Unsent { planned, sent })
}

fn descriptors(summary: &Summary) -> Option<Finding> {
    short(summary, ErrorKind::Descriptors, |failed, sent| {
        Reason::Descriptors { failed, sent }
    })
}

fn ports(summary: &Summary) -> Option<Finding> {
    short(summary, ErrorKind::Ports, |failed, sent| Reason::Ports {
        failed,
        sent,
    })
}

/// What could not be sent because something ran out here.
fn short(
    summary: &Summary,
    kind: ErrorKind,
    reason: impl Fn(u64, u64) -> Reason,
) -> Option<Finding> {
    let failed = summary.total.errors.get(&kind)?.count;
    let sent = summary.total.counts.sent;
    let grade = if failed as f64 > sent as f64 * SHORT {
        Grade::Invalid
    } else {
        Grade::Suspect
    };
    let reason = reason(failed, sent);
    (failed > 0).then_some(Finding { grade, reason })
}

fn stolen(summary: &Summary) -> Option<Finding> {
    let share = summary.host.steal_share();
    suspect(share > STOLEN, Reason::Stolen { share })
}

fn lost(summary: &Summary) -> Option<Finding> {
    let share = summary.host.retransmitted_share();
    let many = share > LOST && summary.host.retransmitted > FEW_LOST;
    suspect(many, Reason::Lost { share })
}

fn broken_off(summary: &Summary) -> Option<Finding> {
    suspect(!summary.complete, Reason::BrokenOff)
}

fn unsettled(summary: &Summary) -> Option<Finding> {
    match summary.transient? {
        Transient::Never => suspect(true, Reason::Unsettled),
        Transient::TooShort => suspect(true, Reason::TooShort),
        Transient::Cut { .. } => None,
    }
}

fn suspect(found: bool, reason: Reason) -> Option<Finding> {
    found.then_some(Finding {
        grade: Grade::Suspect,
        reason,
    })
}

#[cfg(test)]
mod tests;
