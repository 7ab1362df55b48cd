//! What may be found of a run, as data: the kind of each finding, and its figures.

mod generator;
mod sentence;
mod target;

use crate::Effect;
use loadline_record::Stretch;
use std::time::Duration;

/// What was found. Shares lie between 0 and 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    // About the measurement.
    /// A check passes with the delay that Loadline added and fails without it, or the reverse.
    Decisive {
        /// The figure that the check names.
        effect: Effect,
        /// Whether it passes with that delay.
        passed: bool,
    },
    /// The delay that Loadline added is a large part of a figure.
    Late {
        /// This one.
        effect: Effect,
    },
    /// Requests waited for one of the connections that the plan allows, or were never sent for
    /// that.
    PlanLimit {
        /// How many it allows.
        max_connections: u32,
        /// Of this figure the wait is a large part.
        effect: Option<Effect>,
        /// Arrivals that were never sent.
        unsent: u64,
        /// Arrivals that fell due.
        planned: u64,
    },
    /// Responses were not stamped by the kernel, and a worker was busy or without a core for long:
    /// the time until they were read is in their times, and not known.
    Unstamped {
        /// The largest share of its time that a worker used the CPU or waited for it.
        share: f64,
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
    /// A worker waited for the CPU.
    Crowded {
        /// The share of its time that the worker waited most.
        share: f64,
        /// Whether it was the target that had it, as far as was watched.
        by_target: bool,
    },
    /// Requests went out in another pattern than planned, because of delay added by Loadline.
    Bunched {
        /// The share that went out in another [`WINDOW_NS`](loadline_record::WINDOW_NS).
        share: f64,
    },
    /// A worker's loop stalled: its process was stopped, or had no core for long.
    Stalled {
        /// The share of its time in which it did, for longer than
        /// [`STALL_NS`](loadline_record::STALL_NS) each time.
        share: f64,
        /// How long it did at most.
        longest_ns: u64,
    },
    /// Arrivals were never sent.
    Unsent {
        /// Arrivals that fell due.
        planned: u64,
        /// Those that were never sent.
        unsent: u64,
        /// Of those, the ones for which a connection was free or could be opened; 0 if they are too
        /// few to matter.
        by_loadline: u64,
    },
    /// Arrivals were dropped because no user was free, as the plan asks for.
    Dropped {
        /// Arrivals that fell due.
        planned: u64,
        /// Those that were dropped.
        dropped: u64,
    },
    /// Users who pace themselves missed starts, as they still waited for a response.
    Missed {
        /// Starts that fell due.
        planned: u64,
        /// Those that were missed.
        missed: u64,
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
    NotSteady,
    /// The transient was to be cut, and the run was too short to show it.
    TooShort,
    /// In a closed load users had no request in flight, though they never pause: by Little's law,
    /// requests in flight are rate times response time.
    OwnQueue {
        /// Users that had one, on average.
        in_flight: f64,
        /// Users.
        users: u32,
        /// Whether each has a stream of HTTP/2, and not a connection of its own.
        have_streams: bool,
        /// Whether several workers ran beside the target, on its host.
        beside_target: bool,
    },
    /// In a closed load a worker was busy all the time: the target could have done more.
    Limit {
        /// The busiest worker's share of computing.
        share: f64,
        /// Whether several workers ran beside the target, on its host.
        beside_target: bool,
    },

    // About the target, and about what the user did.
    /// A condition of `--abort-on` broke and ended the run.
    Aborted {
        /// The condition as typed.
        check: String,
        /// The length of the measured part.
        after: Duration,
    },
    /// Fewer samples than percentiles need.
    FewSamples {
        /// The percentiles that need more, rising.
        percentiles: Vec<f64>,
        /// The samples there are.
        samples: u64,
        /// The samples that the highest of them needs.
        needed: u64,
        /// How long a run at this rate takes for that; `None` if it is not known.
        length: Option<Duration>,
    },
    /// The user stopped the run.
    Interrupted {
        /// The length of the measured part.
        after: Duration,
        /// The length that was planned.
        planned: Option<Duration>,
    },
    /// Addresses of the target's name do not answer, and nothing was sent there.
    LeftOut {
        /// These.
        addresses: Vec<String>,
    },
    /// Statuses other than 2xx.
    NotSuccessful {
        /// Answers with such a status.
        count: u64,
        /// All responses.
        answered: u64,
        /// The most frequent of these statuses.
        status: u16,
    },
    /// No response at all.
    NothingAnswered {
        /// Requests sent.
        sent: u64,
        /// Those that failed; the others were still in flight at the end.
        failed: u64,
    },
    /// An open load was answered at less than its rate.
    RateBelowAsked {
        /// Arrivals that fell due, per second.
        asked: f64,
        /// Answers per second.
        achieved: f64,
        /// Where most of the difference is.
        shortfall: Shortfall,
    },
    /// The server closes many kept-alive connections.
    Reconnects {
        /// Connections replaced.
        count: u64,
        /// All responses.
        answered: u64,
        /// Whether they are connections of HTTP/2.
        is_http2: bool,
    },
    /// Many requests went out more than once.
    Resent {
        /// How many did.
        count: u64,
        /// All requests.
        sent: u64,
        /// Whether over HTTP/2.
        is_http2: bool,
    },
    /// The script threw, which ended the run.
    ScriptThrew {
        /// What it threw, and where.
        error: String,
        /// The length of the measured part.
        after: Duration,
    },
    /// The server sends more data than the lengths of its responses say.
    ExtraBytes {
        /// Connections given up for that.
        count: u64,
        /// All responses.
        answered: u64,
    },
    /// Arrivals without a response at the end, older than any response in the figures or many.
    Unanswered {
        /// Arrivals never sent.
        unsent: u64,
        /// Requests sent and not answered.
        in_flight: u64,
        /// How long the oldest had waited, in nanoseconds; 0 if that is not known.
        oldest_ns: u64,
        /// Whether percentiles count them: for how long each had waited is known.
        counted: bool,
    },
    /// A worker was lost, which ended the run.
    WorkerFailed {
        /// Which, and why: a whole sentence.
        error: String,
        /// The length of the measured part.
        after: Duration,
    },
}

/// Where the responses are that an open load is short of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortfall {
    /// Most of them failed.
    Failed,
    /// Most of them were still in flight at the end.
    InFlight,
    /// Most of them were never sent: no connection came free.
    Unsent,
}

/// Where reports list a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Under *Validity*: it is about the measurement, done by Loadline and its machine.
    Validity,
    /// Under *Warnings*: it is about the target, or what the user did.
    Warnings,
}

impl Cause {
    /// Its name, as in the JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Cause::Decisive { .. } => "decisive",
            Cause::Late { .. } => "late",
            Cause::PlanLimit { .. } => "plan_limit",
            Cause::Unstamped { .. } => "unstamped",
            Cause::Busy { .. } => "busy",
            Cause::BusyAtTimes { .. } => "busy_at_times",
            Cause::Crowded { .. } => "crowded",
            Cause::Bunched { .. } => "bunched",
            Cause::Stalled { .. } => "stood_still",
            Cause::Unsent { .. } => "unsent",
            Cause::Dropped { .. } => "dropped",
            Cause::Missed { .. } => "missed",
            Cause::Descriptors { .. } => "descriptors",
            Cause::Ports { .. } => "ports",
            Cause::Stolen { .. } => "stolen",
            Cause::Lost { .. } => "lost",
            Cause::BrokenOff => "broken_off",
            Cause::NotSteady => "unsettled",
            Cause::TooShort => "too_short",
            Cause::OwnQueue { .. } => "own_queue",
            Cause::Limit { .. } => "limit",
            Cause::Aborted { .. } => "aborted",
            Cause::FewSamples { .. } => "few_samples",
            Cause::Interrupted { .. } => "interrupted",
            Cause::LeftOut { .. } => "left_out",
            Cause::NotSuccessful { .. } => "not_successful",
            Cause::NothingAnswered { .. } => "nothing_answered",
            Cause::RateBelowAsked { .. } => "rate_below_asked",
            Cause::Reconnects { .. } => "reconnects",
            Cause::Resent { .. } => "resent",
            Cause::ScriptThrew { .. } => "script_threw",
            Cause::ExtraBytes { .. } => "surplus",
            Cause::Unanswered { .. } => "unanswered",
            Cause::WorkerFailed { .. } => "worker_failed",
        }
    }

    /// Where reports list it.
    pub fn section(&self) -> Section {
        match self {
            Cause::Aborted { .. }
            | Cause::FewSamples { .. }
            | Cause::Interrupted { .. }
            | Cause::LeftOut { .. }
            | Cause::NotSuccessful { .. }
            | Cause::NothingAnswered { .. }
            | Cause::RateBelowAsked { .. }
            | Cause::Reconnects { .. }
            | Cause::Resent { .. }
            | Cause::ScriptThrew { .. }
            | Cause::ExtraBytes { .. }
            | Cause::Unanswered { .. }
            | Cause::WorkerFailed { .. } => Section::Warnings,
            Cause::Decisive { .. }
            | Cause::Late { .. }
            | Cause::PlanLimit { .. }
            | Cause::Unstamped { .. }
            | Cause::Busy { .. }
            | Cause::BusyAtTimes { .. }
            | Cause::Crowded { .. }
            | Cause::Bunched { .. }
            | Cause::Stalled { .. }
            | Cause::Unsent { .. }
            | Cause::Dropped { .. }
            | Cause::Missed { .. }
            | Cause::Descriptors { .. }
            | Cause::Ports { .. }
            | Cause::Stolen { .. }
            | Cause::Lost { .. }
            | Cause::BrokenOff
            | Cause::NotSteady
            | Cause::TooShort
            | Cause::OwnQueue { .. }
            | Cause::Limit { .. } => Section::Validity,
        }
    }

    /// Whether it is what the machine did meanwhile: it explains an effect, and without one it only
    /// says that the machine was busy.
    pub fn is_circumstance(&self) -> bool {
        matches!(
            self,
            Cause::Busy { .. }
                | Cause::BusyAtTimes { .. }
                | Cause::Crowded { .. }
                | Cause::Bunched { .. }
                | Cause::Stalled { .. }
                | Cause::Stolen { .. }
                | Cause::Lost { .. }
        )
    }
}

#[cfg(test)]
mod tests;
