//! The search for agents.

use crate::connection::Bus;
use crate::error::{BusError, GatherError};
use crate::protocol::{self, AGENTS, Card};
use crate::selector::Selector;
use std::time::{Duration, Instant};

/// The most agents of a run: as many were simulated.
pub const MOST_AGENTS: usize = 1_000;
/// The time in which an agent answers a search.
const SEARCH_TIMEOUT: Duration = Duration::from_millis(500);

/// Returns the agents of a bus, in the order of their names.
///
/// # Errors
/// If the bus can't be used.
pub fn agents(bus: &Bus) -> Result<Vec<Card>, BusError> {
    look(bus, |_| false)
}

/// Returns those of these names whose agents are there and have no part of a run.
///
/// # Errors
/// If the bus can't be used.
pub fn free(bus: &Bus, names: &[String]) -> Result<Vec<String>, BusError> {
    let cards = agents(bus)?;
    let is_free = |name: &&String| {
        let mut own = cards.iter().filter(|card| card.name == **name);
        own.any(|card| card.busy_with.is_none())
    };
    Ok(names.iter().filter(is_free).cloned().collect())
}

/// Returns the agents that a run is for, free and of this version, in the order of their names.
/// Waits for agents that are not there yet, for at most `timeout`; without a number also for all
/// that are busy.
///
/// # Errors
/// If there are too few, or the bus can't be used.
pub fn find(bus: &Bus, requested: &Selector, timeout: Duration) -> Result<Vec<Card>, GatherError> {
    refuse_too_many(requested, requested.least())?;
    let until = Instant::now() + timeout;
    loop {
        let seen = candidates(bus, requested, requested.least())?;
        let are_all = requested.count.is_some() || seen.missing == 0;
        if seen.usable.len() >= requested.least() && are_all {
            let mut usable = seen.usable;
            usable.truncate(requested.count.map_or(usize::MAX, |count| count as usize));
            refuse_too_many(requested, usable.len())?;
            return Ok(usable);
        }
        if Instant::now() >= until {
            return Err(seen.too_few(requested, 0));
        }
    }
}

/// Returns the agents of a selector that watch processes, in the order of their names. Waits for
/// those that are not there yet, for at most `timeout`.
///
/// # Errors
/// If there are too few, or the bus can't be used.
pub fn find_watchers(
    bus: &Bus,
    requested: &Selector,
    timeout: Duration,
) -> Result<Vec<Card>, GatherError> {
    let until = Instant::now() + timeout;
    loop {
        let (mut watchers, others): (Vec<Card>, Vec<Card>) = agents(bus)?
            .into_iter()
            .filter(|card| requested.fits(card))
            .partition(|card| !card.watches.is_empty());
        if watchers.len() >= requested.least() {
            watchers.truncate(requested.count.map_or(usize::MAX, |count| count as usize));
            return Ok(watchers);
        }
        if Instant::now() >= until {
            return Err(GatherError::TooFewWatchers {
                requested: requested.to_string(),
                watchers: watchers.len(),
                present: watchers.len() + others.len(),
            });
        }
    }
}

fn refuse_too_many(requested: &Selector, agents: usize) -> Result<(), GatherError> {
    refuse_more_than(MOST_AGENTS, requested, agents)
}

/// Refuses more agents than a run may have.
pub(crate) fn refuse_more_than(
    most: usize,
    requested: &Selector,
    agents: usize,
) -> Result<(), GatherError> {
    match agents > most {
        true => Err(GatherError::TooMany {
            requested: requested.to_string(),
            agents,
            most,
        }),
        false => Ok(()),
    }
}

/// The agents with the labels of a run.
pub(crate) struct Candidates {
    /// Those that can take part.
    pub(crate) usable: Vec<Card>,
    /// The others: name and reason.
    pub(crate) refusals: Vec<String>,
    /// The number of those that may take part in runs: all but those that watch.
    missing: usize,
    /// The number of agents with other labels.
    strangers: usize,
}

impl Candidates {
    /// Returns the error for too few of them, in addition to those that take part already.
    pub(crate) fn too_few(self, requested: &Selector, hired: usize) -> GatherError {
        let usable = hired + self.usable.len();
        if requested.count.is_none() && usable > 0 {
            return GatherError::NotAll {
                requested: requested.to_string(),
                usable,
                present: usable + self.missing,
                refusals: self.refusals,
            };
        }
        GatherError::TooFew {
            requested: requested.to_string(),
            usable,
            present: usable + self.refusals.len(),
            refusals: self.refusals,
            strangers: self.strangers,
        }
    }
}

/// Returns the candidates for a run; at once if so many can take part.
pub(crate) fn candidates(
    bus: &Bus,
    requested: &Selector,
    enough: usize,
) -> Result<Candidates, BusError> {
    let fits = |card: &&Card| requested.fits(card) && card.refusal().is_none();
    let has_enough = |cards: &[Card]| {
        // All of them are wanted where no number is given.
        requested.count.is_some() && cards.iter().filter(fits).count() >= enough
    };
    let mut cards = look(bus, has_enough)?;
    let all = cards.len();
    cards.retain(|card| requested.fits(card));
    let strangers = all - cards.len();
    let (usable, others): (Vec<Card>, Vec<Card>) =
        cards.into_iter().partition(|card| card.refusal().is_none());
    let refusals = others.iter().filter_map(|card| {
        let reason = card.refusal()?;
        Some(format!("{} {reason}", card.name))
    });
    Ok(Candidates {
        usable,
        refusals: refusals.collect(),
        missing: others.iter().filter(|card| card.watches.is_empty()).count(),
        strangers,
    })
}

/// Returns the agents that answer, until they are enough or the time is over.
fn look(bus: &Bus, is_enough: impl Fn(&[Card]) -> bool) -> Result<Vec<Card>, BusError> {
    if let Some(error) = bus.loss() {
        return Err(error);
    }
    let answers = bus.request_many(AGENTS, &[])?;
    let until = Instant::now() + SEARCH_TIMEOUT;
    let mut found: Vec<Card> = Vec::new();
    while !is_enough(&found) {
        let left = until.saturating_duration_since(Instant::now());
        let Ok(message) = answers.messages.recv_timeout(left) else {
            break;
        };
        let card = protocol::decode::<Card>(&message.contents);
        found.extend(card.filter(|card| protocol::is_word(&card.id)));
    }
    if found.is_empty() {
        bus.permitted()?;
    }
    found.sort_by(|one, two| (&one.name, &one.id).cmp(&(&two.name, &two.id)));
    Ok(found)
}
