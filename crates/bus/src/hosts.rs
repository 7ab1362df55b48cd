//! The coordinator's side: offers agents the parts of a run, and makes lines to them.

use crate::clock::{Offset, measure_clock};
use crate::connection::{Bus, random_word};
use crate::error::{BusError, GatherError};
use crate::far_line::FarLine;
use crate::protocol::{self, Answer, Card, Offer, Versions};
use crate::search::candidates;
use crate::selector::Selector;
use loadline_cluster::Line;
use std::time::{Duration, Instant};

/// The time in which an agent answers an offer.
const OFFER_TIMEOUT: Duration = Duration::from_secs(2);
/// The time between two searches for agents that are missing.
const SEARCH_INTERVAL: Duration = Duration::from_millis(100);
/// The least time from the message with the begin of a load to the begin, in nanoseconds.
const LEAST_HEAD_START_NS: u64 = 1_000_000_000;

/// An agent that takes part in a run.
#[derive(Debug)]
pub struct Host {
    /// The agent.
    pub card: Card,
    /// The offset of its clocks.
    pub clock: Offset,
    /// The line to its part.
    pub line: Line,
}

/// Gathers agents for a new run, and makes a line to each. Waits for agents that are not there yet,
/// for at most `patience`.
///
/// # Errors
/// If there are too few that can take part, or the bus can't be used.
pub fn gather(bus: &Bus, wanted: &Selector, patience: Duration) -> Result<Vec<Host>, GatherError> {
    let (run, until) = (random_word(), Instant::now() + patience);
    let least = wanted.least();
    let mut hosts: Vec<Host> = Vec::new();
    loop {
        let mut seen = candidates(bus, wanted, least - hosts.len())?;
        for card in std::mem::take(&mut seen.usable) {
            if hosts.len() == least || hosts.iter().any(|host| host.card.id == card.id) {
                continue;
            }
            match host(bus, &run, &card)? {
                Ok(host) => hosts.push(host),
                Err(reason) => seen.refusals.push(format!("{} {reason}", card.name)),
            }
        }
        if hosts.len() == least {
            return Ok(hosts);
        }
        if Instant::now() >= until {
            // An agent with a part of this very run is none of those that refuse.
            seen.refusals.retain(|text| !text.ends_with(&run));
            return Err(seen.too_few(wanted, hosts.len()));
        }
        std::thread::sleep(SEARCH_INTERVAL);
    }
}

/// Offers an agent a part; returns the reason why it has none otherwise.
fn host(bus: &Bus, run: &str, card: &Card) -> Result<Result<Host, String>, BusError> {
    let silent = || Ok(Err("does not answer".to_owned()));
    let Some(clock) = measure_clock(bus, card)? else {
        return silent();
    };
    // Subscribe first: the part sends its first frame at once.
    let line = FarLine::new(bus, run, &card.id)?;
    let offer = Offer {
        run: run.to_owned(),
        versions: Versions::own(),
    };
    let subject = protocol::offers(&card.id);
    let answer = bus.request(&subject, &protocol::encode(&offer), OFFER_TIMEOUT)?;
    match answer.as_deref().and_then(protocol::decode) {
        Some(Answer::Accepted) => {}
        Some(Answer::Refused(reason)) => return Ok(Err(reason)),
        None => return silent(),
    }
    let ends = line.begin();
    let line = Line {
        name: format!("agent {}", card.name),
        clock_ahead_ns: clock.ahead_ns,
        head_start_ns: LEAST_HEAD_START_NS.max(4 * clock.longest_ns + clock.error_ns),
        sink: ends.sink,
        source: ends.source,
        remote: ends.remote,
    };
    Ok(Ok(Host {
        card: card.clone(),
        clock,
        line,
    }))
}
