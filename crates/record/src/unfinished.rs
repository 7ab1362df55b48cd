//! The requests without a response when a run ended.
//!
//! They are censored data: for each such request its wait is known exactly, and its response takes
//! longer than that. So the ages are stored, as distributions like all times.

use crate::{Censored, Counts, Distribution};

/// The requests without a response when the run ended.
///
/// `unsent = by_target + by_plan + by_loadline + by_stop` if the causes are known; in the record of
/// a run that breaks off, neither causes nor ages are known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unfinished {
    /// The arrivals that were planned and never sent (open loads).
    pub unsent: u64,
    /// The unsent arrivals caused by the target: all connections that the plan allows were in use,
    /// because it responded more slowly than at low load.
    pub by_target: u64,
    /// The unsent arrivals caused by the plan: it allows fewer connections than the rate needs at
    /// the target's response time at low load and with the pauses of the script.
    pub by_plan: u64,
    /// The unsent arrivals caused by the generator: a connection was free or could be opened.
    pub by_loadline: u64,
    /// The unsent arrivals of a worker whose load the script or the user ended before that of the
    /// others.
    pub by_stop: u64,
    /// The part of `by_loadline` of a lost worker: it may have sent some of them without reporting
    /// it.
    pub lost: u64,
    /// The exchanges that were sent and not answered.
    pub in_flight: u64,
    /// The longest wait since the intended start, of both kinds, in nanoseconds.
    pub oldest_ns: u64,
    /// The ages; empty if they are not known.
    pub ages: Ages,
}

/// The time that each unfinished request had waited when the run ended, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ages {
    /// The ages since the intended start: of exchanges in flight and unsent arrivals.
    pub response: Distribution,
    /// The ages since the start: of exchanges in flight.
    pub service: Distribution,
    /// The ages of `response` without the delay that Loadline added before the start. Open loads
    /// only, and empty in records that do not contain it.
    pub undelayed: Distribution,
}

impl Unfinished {
    /// Returns the requests without a response according to these counts; their ages are not known.
    pub(crate) fn after(counts: &Counts) -> Unfinished {
        Unfinished {
            unsent: counts.unsent(),
            in_flight: counts.in_flight,
            ..Unfinished::default()
        }
    }

    /// Returns the number of requests without a response.
    pub fn count(&self) -> u64 {
        self.unsent.saturating_add(self.in_flight)
    }

    /// Returns the number of unsent arrivals whose wait is not known: those of lost workers, and of
    /// workers whose load ended before that of others. They have ages of 0.
    pub fn unreported(&self) -> u64 {
        self.lost.saturating_add(self.by_stop).min(self.unsent)
    }

    /// True if the age of each request is known.
    pub fn ages_are_known(&self) -> bool {
        self.ages.response.len() == self.count() && self.ages.service.len() == self.in_flight
    }

    /// Combines these response times with the ages of unfinished requests.
    pub fn beside_response<'a>(&'a self, times: &'a Distribution) -> Censored<'a> {
        Censored {
            times,
            ages: &self.ages.response,
            ageless: self.count().saturating_sub(self.ages.response.len()),
        }
    }

    /// Combines these service times with the ages of unfinished requests.
    pub fn beside_service<'a>(&'a self, times: &'a Distribution) -> Censored<'a> {
        Censored {
            times,
            ages: &self.ages.service,
            ageless: self.in_flight.saturating_sub(self.ages.service.len()),
        }
    }

    /// Combines these response times without the delay that Loadline added with the ages of
    /// unfinished requests, which exclude that delay too if it is known.
    pub fn beside_undelayed<'a>(&'a self, times: &'a Distribution) -> Censored<'a> {
        let with_delay = self.beside_response(times);
        let ages = &self.ages.undelayed;
        if ages.len() != with_delay.ages.len() {
            return with_delay;
        }
        Censored { ages, ..with_delay }
    }

    /// Adds the unfinished requests of another part of the same run. Saturating, because the
    /// numbers may come from a file.
    pub fn merge(&mut self, other: &Unfinished) {
        let add = |sum: &mut u64, count: u64| *sum = sum.saturating_add(count);
        add(&mut self.unsent, other.unsent);
        add(&mut self.by_target, other.by_target);
        add(&mut self.by_plan, other.by_plan);
        add(&mut self.by_loadline, other.by_loadline);
        add(&mut self.by_stop, other.by_stop);
        add(&mut self.lost, other.lost);
        add(&mut self.in_flight, other.in_flight);
        self.oldest_ns = self.oldest_ns.max(other.oldest_ns);
        self.ages.response.merge(&other.ages.response);
        self.ages.service.merge(&other.ages.service);
        self.ages.undelayed.merge(&other.ages.undelayed);
    }
}
