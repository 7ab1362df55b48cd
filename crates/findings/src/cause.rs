//! The possible findings of a run, as data: the kind of each finding, and its figures.

mod generator;
mod sentence;
mod target;

use crate::Effect;
use loadline_record::Stretch;
use std::time::Duration;

/// The cause of a finding. Shares lie between 0 and 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    // About the measurement.
    /// A check passes with the delay that Loadline added and fails without it, or the reverse.
    Decisive {
        /// The figure that the check is about.
        effect: Effect,
        /// True if the check passes with that delay.
        passed: bool,
    },
    /// The delay that Loadline added is a large part of a figure.
    Late {
        /// The figure.
        effect: Effect,
    },
    /// Requests waited for one of the connections that the plan allows, or were never sent for lack
    /// of one.
    PlanLimit {
        /// The number of connections that the plan allows.
        max_connections: u32,
        /// The figure that contains the wait as a large part.
        effect: Option<Effect>,
        /// Arrivals that were never sent.
        unsent: u64,
        /// Arrivals that fell due.
        planned: u64,
    },
    /// Responses had no timestamp of the kernel, and a worker was busy or without a core for long:
    /// the response times include the unknown time until the responses were read.
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
        /// The busy part of the run, and the worker's share of computing in it.
        stretch: Stretch,
    },
    /// A worker waited for the CPU.
    Crowded {
        /// The largest share of its time that a worker waited.
        share: f64,
        /// True if the target used the CPU then, as far as it was watched.
        by_target: bool,
    },
    /// Requests were sent in another pattern than planned, because of delay added by Loadline.
    Bunched {
        /// The share sent in another window of [`WINDOW_NS`](loadline_record::WINDOW_NS).
        share: f64,
    },
    /// A worker's loop stalled: its process was stopped, or had no core for long.
    Stalled {
        /// The share of its time in stalls longer than [`STALL_NS`](loadline_record::STALL_NS)
        /// each.
        share: f64,
        /// The length of the longest stall, in nanoseconds.
        longest_ns: u64,
    },
    /// Arrivals were never sent.
    Unsent {
        /// Arrivals that fell due.
        planned: u64,
        /// The arrivals that were never sent.
        unsent: u64,
        /// The unsent arrivals for which a connection was free or could be opened; 0 if they are
        /// too few to matter.
        by_loadline: u64,
        /// The number among them whose worker was lost.
        lost: u64,
    },
    /// Arrivals were dropped because no user was free, as the plan requires.
    Dropped {
        /// Arrivals that fell due.
        planned: u64,
        /// The arrivals that were dropped.
        dropped: u64,
    },
    /// Users of a paced load missed starts, because they still waited for a response.
    Missed {
        /// Starts that fell due.
        planned: u64,
        /// The starts that were missed.
        missed: u64,
    },
    /// Requests could not be sent because this process had no file descriptor left.
    Descriptors {
        /// The number of requests that could not be sent.
        failed: u64,
        /// The number of requests that were begun.
        sent: u64,
    },
    /// Requests could not be sent because this machine had no local port left.
    Ports {
        /// The number of requests that could not be sent.
        failed: u64,
        /// The number of requests that were begun.
        sent: u64,
    },
    /// Users of a closed load could not connect and waited before they tried again, as the engine
    /// has them wait: fewer requests failed than they would have sent.
    Unreachable {
        /// The time in which nothing was answered, in nanoseconds.
        away_ns: u64,
        /// The time of the run, in nanoseconds.
        duration_ns: u64,
    },
    /// The hypervisor gave CPU time to other machines.
    Stolen {
        /// The share of the CPU time.
        share: f64,
    },
    /// TCP segments were lost.
    Lost {
        /// The share of segments that were retransmitted.
        share: f64,
    },
    /// The load of agents did not begin at one instant.
    UnevenBegin {
        /// The agent whose begin is furthest from that of the others.
        agent: String,
        /// By how much it was late by its own clock, in nanoseconds.
        late_ns: u64,
        /// The most by which its clock is wrong, in nanoseconds.
        clock_error_ns: u64,
        /// The number of further agents whose begin is too far off.
        others: u64,
    },
    /// The run was killed: the requests in flight are unknown.
    BrokenOff,
    /// The transient was to be cut, but the run never became steady.
    NotSteady,
    /// The transient was to be cut, but the run was too short to show it.
    TooShort,
    /// In a closed load without pauses some users had no request in flight. By Little's law, the
    /// requests in flight are the rate multiplied by the response time.
    OwnQueue {
        /// The mean number of users with a request in flight.
        in_flight: f64,
        /// The number of users.
        users: u32,
        /// True if each user has a stream of HTTP/2 instead of a connection.
        have_streams: bool,
        /// True if several workers ran on the target's host.
        beside_target: bool,
    },
    /// In a closed load a worker was busy all the time: the target could have done more.
    Limit {
        /// The busiest worker's share of computing.
        share: f64,
        /// True if several workers ran on the target's host.
        beside_target: bool,
    },

    // About the target, and about what the user did.
    /// A condition of `--abort-on`, or one that the script set, failed and ended the run.
    Aborted {
        /// The condition as typed.
        check: String,
        /// True if the script set it.
        of_script: bool,
        /// The length of the measured part.
        after: Duration,
    },
    /// There are fewer samples than percentiles need.
    FewSamples {
        /// The percentiles that need more, in rising order.
        percentiles: Vec<f64>,
        /// The number of samples.
        samples: u64,
        /// The number of samples that the highest of these percentiles needs.
        needed: u64,
        /// The length of a run at this rate with as many samples; `None` if unknown.
        length: Option<Duration>,
    },
    /// The user stopped the run.
    Interrupted {
        /// The length of the measured part.
        after: Duration,
        /// The length that was planned.
        planned: Option<Duration>,
    },
    /// Addresses of the target's name did not respond, so that no request was sent to them.
    LeftOut {
        /// The addresses.
        addresses: Vec<String>,
    },
    /// More than a few requests failed, or were rejected by the script.
    ManyFailed {
        /// The number of these requests.
        failed: u64,
        /// The number of requests that ended.
        ended: u64,
    },
    /// Metrics that another program should have received while the run lasted were not delivered,
    /// or not as they were measured.
    NotDelivered {
        /// The receiver and what is missing, as a whole sentence.
        sentence: String,
    },
    /// Responses had statuses other than 2xx.
    NotSuccessful {
        /// The number of responses with such a status.
        count: u64,
        /// The number of all responses.
        answered: u64,
        /// The most frequent of these statuses.
        status: u16,
    },
    /// There was no response at all.
    NothingAnswered {
        /// The number of requests sent.
        sent: u64,
        /// The number of requests that failed; the others were still in flight at the end.
        failed: u64,
        /// True if a script decides what is sent.
        has_script: bool,
    },
    /// The response times of an agent differ from those of the others.
    OddAgent {
        /// The agent's name.
        agent: String,
        /// The percentile in which it differs most.
        percentile: f64,
        /// That percentile of its response times, in nanoseconds.
        own_ns: u64,
        /// The same of the other agents.
        rest_ns: u64,
    },
    /// An open load had fewer responses than its rate.
    RateBelowAsked {
        /// Arrivals that fell due, per second.
        asked: f64,
        /// Responses per second.
        achieved: f64,
        /// The cause of most of the difference.
        shortfall: Shortfall,
    },
    /// The server closed many kept-alive connections.
    Reconnects {
        /// The number of connections that were replaced.
        count: u64,
        /// The number of all responses.
        answered: u64,
        /// True for connections of HTTP/2.
        is_http2: bool,
    },
    /// Many requests were sent more than once.
    Resent {
        /// The number of requests that were resent.
        count: u64,
        /// The number of all requests.
        sent: u64,
        /// True for requests over HTTP/2.
        is_http2: bool,
    },
    /// The script threw an exception, which ended the run.
    ScriptThrew {
        /// The exception, with its position.
        error: String,
        /// The length of the measured part.
        after: Duration,
    },
    /// The server sent more data than the lengths of its responses announced.
    ExtraBytes {
        /// The number of connections that were closed for that.
        count: u64,
        /// The number of all responses.
        answered: u64,
    },
    /// Arrivals had no response at the end, and are older than any response in the figures, or
    /// many.
    Unanswered {
        /// The number of arrivals that were never sent.
        unsent: u64,
        /// The number of requests that were sent and had no response.
        in_flight: u64,
        /// The longest wait of these arrivals, in nanoseconds; 0 if unknown.
        oldest_ns: u64,
        /// True if percentiles include them, because the wait of each is known.
        counted: bool,
    },
    /// A worker was lost.
    WorkerFailed {
        /// The worker and the reason, as a whole sentence.
        error: String,
        /// The length of the measured part, if the loss ended the run; `None` if the others went on
        /// to its planned end.
        after: Option<Duration>,
    },
}

/// The cause of most of the missing responses of an open load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortfall {
    /// Most of them failed.
    Failed,
    /// Most of them were still in flight at the end.
    InFlight,
    /// Most of them were never sent: no connection came free.
    Unsent,
    /// The script paused before most of them until after the end, sent none, or had ended.
    NotDue,
}

/// The section of a report that lists a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Under *Validity*: findings about the measurement, caused by Loadline and its machine.
    Validity,
    /// Under *Warnings*: findings about the target, or about the user's actions.
    Warnings,
}

impl Cause {
    /// Returns the name of the cause in the JSON.
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
            Cause::Unreachable { .. } => "unreachable",
            Cause::Stolen { .. } => "stolen",
            Cause::Lost { .. } => "lost",
            Cause::UnevenBegin { .. } => "uneven_begin",
            Cause::BrokenOff => "broken_off",
            Cause::NotSteady => "unsettled",
            Cause::TooShort => "too_short",
            Cause::OwnQueue { .. } => "own_queue",
            Cause::Limit { .. } => "limit",
            Cause::Aborted { .. } => "aborted",
            Cause::FewSamples { .. } => "few_samples",
            Cause::Interrupted { .. } => "interrupted",
            Cause::LeftOut { .. } => "left_out",
            Cause::ManyFailed { .. } => "many_failed",
            Cause::NotDelivered { .. } => "not_delivered",
            Cause::NotSuccessful { .. } => "not_successful",
            Cause::NothingAnswered { .. } => "nothing_answered",
            Cause::OddAgent { .. } => "odd_agent",
            Cause::RateBelowAsked { .. } => "rate_below_asked",
            Cause::Reconnects { .. } => "reconnects",
            Cause::Resent { .. } => "resent",
            Cause::ScriptThrew { .. } => "script_threw",
            Cause::ExtraBytes { .. } => "surplus",
            Cause::Unanswered { .. } => "unanswered",
            Cause::WorkerFailed { .. } => "worker_failed",
        }
    }

    /// Returns the section of reports that lists the cause.
    pub fn section(&self) -> Section {
        match self {
            Cause::Aborted { .. }
            | Cause::FewSamples { .. }
            | Cause::Interrupted { .. }
            | Cause::LeftOut { .. }
            | Cause::ManyFailed { .. }
            | Cause::NotDelivered { .. }
            | Cause::NotSuccessful { .. }
            | Cause::NothingAnswered { .. }
            | Cause::OddAgent { .. }
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
            | Cause::Unreachable { .. }
            | Cause::Stolen { .. }
            | Cause::Lost { .. }
            | Cause::UnevenBegin { .. }
            | Cause::BrokenOff
            | Cause::NotSteady
            | Cause::TooShort
            | Cause::OwnQueue { .. }
            | Cause::Limit { .. } => Section::Validity,
        }
    }

    /// True for the state of the machine during the run: it explains an effect, and without an
    /// effect it only shows that the machine was busy.
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
