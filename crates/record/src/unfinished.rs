//! What had no response when a run ended.
//!
//! It is censored data: of each such request it is known exactly how long it had waited, and that
//! its response takes longer than that. So the ages are kept, as distributions like all times.

use crate::{Censored, Counts, Distribution};

/// What had no response when the run ended.
///
/// `unsent = by_target + by_plan + by_loadline + by_stop` wherever the causes are known; in the
/// record of a run that breaks off, neither causes nor ages are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unfinished {
    /// Arrivals that were planned and never sent (open loads).
    pub unsent: u64,
    /// Unsent, because all connections that the plan allows were in use, by a target that answered
    /// more slowly than at low load.
    pub by_target: u64,
    /// Unsent, because the plan allows fewer connections than the rate needs of this target at low
    /// load.
    pub by_plan: u64,
    /// Unsent, although a connection was free or could be opened: caused by the generator.
    pub by_loadline: u64,
    /// Unsent, because the script or the user ended the load of one worker before that of the
    /// others.
    pub by_stop: u64,
    /// Of `by_loadline`, those that would have been a lost worker's: it may have sent some of them,
    /// and told nobody.
    pub lost: u64,
    /// Exchanges that were sent and not answered.
    pub in_flight: u64,
    /// How long the oldest of both had waited since its intended start, in nanoseconds.
    pub oldest_ns: u64,
    /// How long each of them had waited; empty where that is not known.
    pub ages: Ages,
}

/// How long each of what was unfinished had waited when the run ended, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ages {
    /// Since the intended start: exchanges in flight and unsent arrivals.
    pub response: Distribution,
    /// Since the start: exchanges in flight.
    pub service: Distribution,
    /// `response` without the delay that Loadline added before the start. Open loads only, and
    /// empty in records that do not hold it.
    pub undelayed: Distribution,
}

impl Unfinished {
    /// What has no response after these; for how long is not known.
    pub(crate) fn after(counts: &Counts) -> Unfinished {
        Unfinished {
            unsent: counts.unsent(),
            in_flight: counts.in_flight,
            ..Unfinished::default()
        }
    }

    /// How many have no response.
    pub fn count(&self) -> u64 {
        self.unsent.saturating_add(self.in_flight)
    }

    /// Whether it is known of each how long it had waited.
    pub fn ages_are_known(&self) -> bool {
        self.ages.response.len() == self.count() && self.ages.service.len() == self.in_flight
    }

    /// These response times with the ages of what had no response.
    pub fn beside_response<'a>(&'a self, times: &'a Distribution) -> Censored<'a> {
        Censored {
            times,
            ages: &self.ages.response,
            ageless: self.count().saturating_sub(self.ages.response.len()),
        }
    }

    /// These service times with the ages of what had no response.
    pub fn beside_service<'a>(&'a self, times: &'a Distribution) -> Censored<'a> {
        Censored {
            times,
            ages: &self.ages.service,
            ageless: self.in_flight.saturating_sub(self.ages.service.len()),
        }
    }

    /// These response times without the delay that Loadline added, with the ages of what had no
    /// answer: without that delay too, where it is known.
    pub fn beside_undelayed<'a>(&'a self, times: &'a Distribution) -> Censored<'a> {
        let with_delay = self.beside_response(times);
        let ages = &self.ages.undelayed;
        if ages.len() != with_delay.ages.len() {
            return with_delay;
        }
        Censored { ages, ..with_delay }
    }

    /// Adds what had no response in another part of the same run. Saturating, because the numbers
    /// may come from a file.
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
