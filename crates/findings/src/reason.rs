//! Why a result may not be believed, as data.

mod text;

use crate::Effect;
use loadline_record::Stretch;

/// What was found. Shares lie between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// A check holds with the delay that Loadline added and breaks without it, or the reverse.
    Decisive {
        /// The figure that the check names.
        effect: Effect,
        /// Whether it holds with that delay.
        is_kept: bool,
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
    StoodStill {
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
}

impl Reason {
    /// The reason's name, as in the JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Reason::Decisive { .. } => "decisive",
            Reason::Late { .. } => "late",
            Reason::PlanLimit { .. } => "plan_limit",
            Reason::Unstamped { .. } => "unstamped",
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
            Reason::NotSteady => "unsettled",
            Reason::TooShort => "too_short",
            Reason::OwnQueue { .. } => "own_queue",
            Reason::Limit { .. } => "limit",
        }
    }
}

impl Reason {
    /// Whether it is what the machine did meanwhile: it explains an effect, and without one it only
    /// says that the machine was busy.
    pub fn is_circumstance(&self) -> bool {
        matches!(
            self,
            Reason::Busy { .. }
                | Reason::BusyAtTimes { .. }
                | Reason::Crowded { .. }
                | Reason::Bunched { .. }
                | Reason::StoodStill { .. }
                | Reason::Stolen { .. }
                | Reason::Lost { .. }
        )
    }
}
