//! The target's best service time, and whether the plan's connections suffice for it and for the
//! pauses of the behaviour.
//!
//! By Little's law a rate occupies as many connections as requests begin in a service time. A plan
//! that allows fewer than that, at the shortest mean service time of any interval, leaves arrivals
//! unsent whatever the target does; a plan that allows enough leaves arrivals unsent only because
//! the target became slower. A pause of the behaviour occupies a user, and so a connection, too.

use loadline_plan::{Plan, Shape};
use loadline_record::{Snapshot, Unfinished};

/// The best service time of a target, and the highest rate of arrivals.
#[derive(Debug)]
pub(crate) struct BestService {
    connections: f64,
    /// The shortest mean service time of an interval, in nanoseconds.
    service_ns: f64,
    /// The most arrivals per nanosecond in an interval.
    per_ns: f64,
    /// The requests that were sent, and the time that users paused, in nanoseconds.
    sent: u64,
    paused_ns: u64,
}

impl BestService {
    pub(crate) fn new(plan: &Plan) -> Self {
        let users = plan.load.max_users.max(plan.load.users);
        BestService {
            connections: match plan.load.shape {
                // Each user opens as many connections as it needs.
                Shape::Paced => f64::INFINITY,
                Shape::Closed
                | Shape::ClosedStages { .. }
                | Shape::Rate { .. }
                | Shape::RateStages { .. }
                | Shape::Burst { .. }
                | Shape::Scenarios { .. } => f64::from(users),
            },
            service_ns: f64::INFINITY,
            per_ns: 0.0,
            sent: 0,
            paused_ns: 0,
        }
    }

    /// Adds an interval in which this many requests fell due, pauses before them left aside, and
    /// users paused for this time.
    pub(crate) fn observe(&mut self, interval: &Snapshot, due: u64, paused_ns: u64) {
        self.sent += interval.counts.sent;
        self.paused_ns += paused_ns;
        let service = &interval.times.service;
        if !service.is_empty() {
            self.service_ns = self.service_ns.min(service.mean_ns());
        }
        let length_ns = interval.length_ns();
        if length_ns > 0 {
            let per_ns = due as f64 / length_ns as f64;
            self.per_ns = self.per_ns.max(per_ns);
        }
    }

    /// True if the rate needs more connections than the plan allows, even at the target's best
    /// service time.
    fn exceeds_limit(&self) -> bool {
        let service_ns = Some(self.service_ns).filter(|service_ns| service_ns.is_finite());
        let paused_ns = (self.paused_ns > 0).then(|| self.paused_ns as f64 / self.sent as f64);
        let occupied_ns = service_ns.into_iter().chain(paused_ns).sum::<f64>();
        self.per_ns * occupied_ns > self.connections
    }

    /// Assigns causes to this many unsent arrivals. The workers reported how many of the arrivals
    /// known to them were unsent because of Loadline; for the others all connections were in use.
    /// Arrivals unknown to all workers belonged to a lost worker, or fell due after one worker had
    /// ended its load before the others, as the script or the user requested. Their waiting time is
    /// unknown and counts as 0.
    pub(crate) fn give_causes(&self, unfinished: &mut Unfinished, unsent: u64, is_lost: bool) {
        let known = unfinished.unsent.min(unsent);
        let by_loadline = unfinished.by_loadline.min(known);
        let (in_use, unknown) = (known - by_loadline, unsent - known);
        let (by_target, by_plan) = if self.exceeds_limit() {
            (0, in_use)
        } else {
            (in_use, 0)
        };
        let (by_lost_worker, by_stop) = if is_lost { (unknown, 0) } else { (0, unknown) };
        if unknown > 0 {
            unfinished.ages.response.record_many_ns(0, unknown);
            unfinished.ages.undelayed.record_many_ns(0, unknown);
        }
        unfinished.unsent = unsent;
        unfinished.by_loadline = by_loadline + by_lost_worker;
        unfinished.lost = by_lost_worker;
        unfinished.by_target = by_target;
        unfinished.by_plan = by_plan;
        unfinished.by_stop = by_stop;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_lost_worker_did_not_send_is_loadlines_doing_and_no_limit_of_the_plan() {
        let caused = |is_lost| {
            let mut left = Unfinished {
                unsent: 3,
                by_loadline: 1,
                ..Unfinished::default()
            };
            BestService::new(&Plan::default()).give_causes(&mut left, 10, is_lost);
            let causes = [left.by_target, left.by_plan, left.by_loadline, left.by_stop];
            (causes, left.lost)
        };
        assert_eq!(caused(true), ([2, 0, 8, 0], 7));
        assert_eq!(caused(false), ([2, 0, 1, 7], 0));
    }
}
