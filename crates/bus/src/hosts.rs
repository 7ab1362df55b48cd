//! The coordinator's side: offers agents the parts of a run, and makes lines to them.

use crate::clock::{Offset, measure_clock};
use crate::connection::{Bus, random_part_of, random_word};
use crate::error::{BusError, GatherError};
use crate::far_line::{Ends, FarLine};
use crate::protocol::{self, Answer, Card, Offer, Versions};
use crate::search::{Candidates, candidates, refuse_more_than};
use crate::selector::Selector;
use loadline_cluster::Line;
use std::thread;
use std::time::{Duration, Instant};

/// The time in which an agent answers an offer: it may have to look for the program of a tool.
const OFFER_TIMEOUT: Duration = Duration::from_secs(10);
/// The reason for an agent that is gone.
const SILENT: &str = "does not answer";
/// The time between two searches for agents that are missing.
const SEARCH_INTERVAL: Duration = Duration::from_millis(100);
/// The longest time before agents are offered their parts once more.
const OFFER_INTERVAL: Duration = Duration::from_secs(1);
/// The agents that are offered a part at once: each starts a process before it answers.
const AT_ONCE: usize = 8;
/// The most agents whose parts are led by the program of a tool, which reads all of them itself.
const MOST_OF_TOOL: usize = 64;
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
/// for at most `timeout`. The parts are for this program, or for that of `tool`.
///
/// # Errors
/// If there are too few that can take part, or the bus can't be used.
pub fn gather(
    bus: &Bus,
    requested: &Selector,
    tool: Option<&str>,
    timeout: Duration,
) -> Result<Vec<Host>, GatherError> {
    Invitation::new(requested, tool).gather(bus, requested.least(), timeout)
}

/// An invitation to the agents of a bus to take part in a new run.
#[derive(Debug)]
pub struct Invitation {
    run: String,
    requested: Selector,
    tool: Option<String>,
}

/// The agents that have accepted an invitation, and the others.
struct Invitees {
    hosts: Vec<Host>,
    candidates: Candidates,
}

impl Invitees {
    /// Returns candidates none of whom was offered a part.
    fn without(candidates: Candidates) -> Self {
        Invitees {
            hosts: Vec::new(),
            candidates,
        }
    }
}

impl Invitation {
    /// Creates the invitation for the agents of a selector, to parts for this program or for that
    /// of `tool`.
    pub fn new(requested: &Selector, tool: Option<&str>) -> Self {
        Invitation {
            run: random_word(),
            requested: requested.clone(),
            tool: tool.map(str::to_owned),
        }
    }

    /// Gathers so many agents like [`gather`]: all of them at once, or none. Two coordinators that
    /// keep some while they wait for more would wait for each other.
    ///
    /// # Errors
    /// The errors of [`gather`].
    pub fn gather(
        &self,
        bus: &Bus,
        count: usize,
        timeout: Duration,
    ) -> Result<Vec<Host>, GatherError> {
        let until = Instant::now() + timeout;
        if self.tool.is_some() {
            refuse_more_than(MOST_OF_TOOL, &self.requested, count)?;
        }
        loop {
            let candidates = candidates(bus, &self.requested, count)?;
            let are_enough = candidates.usable.len() >= count;
            let seen = match are_enough {
                true => self.offer(bus, candidates, count)?,
                false => Invitees::without(candidates),
            };
            if seen.hosts.len() == count {
                return Ok(seen.hosts);
            }
            if Instant::now() >= until {
                let accepted = seen.hosts.len();
                return Err(seen.candidates.too_few(&self.requested, accepted));
            }
            drop(seen);
            // Whoever wants the same agents tries again at another time.
            thread::sleep(match are_enough {
                true => random_part_of(OFFER_INTERVAL),
                false => SEARCH_INTERVAL,
            });
        }
    }

    /// Invites the agents that are there now and take no part yet. Returns those that accept, and
    /// for each of the others its name and the reason.
    ///
    /// # Errors
    /// If the bus can't be used.
    pub fn invite(&self, bus: &Bus) -> Result<(Vec<Host>, Vec<String>), BusError> {
        let candidates = candidates(bus, &self.requested, usize::MAX)?;
        let seen = self.offer(bus, candidates, usize::MAX)?;
        Ok((seen.hosts, seen.candidates.refusals))
    }

    /// Offers candidates a part until so many have accepted.
    fn offer(
        &self,
        bus: &Bus,
        mut candidates: Candidates,
        most: usize,
    ) -> Result<Invitees, BusError> {
        let usable = std::mem::take(&mut candidates.usable);
        let (mut hosts, mut cards) = (Vec::new(), usable.as_slice());
        while hosts.len() < most && !cards.is_empty() {
            let (next, rest) = cards.split_at(cards.len().min(most - hosts.len()).min(AT_ONCE));
            cards = rest;
            for (card, answer) in next.iter().zip(self.hosts(bus, next)) {
                match answer? {
                    Ok(host) => hosts.push(host),
                    Err(reason) => candidates.refusals.push(format!("{} {reason}", card.name)),
                }
            }
        }
        // An agent with a part of this very run is none of those that refuse.
        let run = &self.run;
        candidates.refusals.retain(|text| !text.ends_with(run));
        Ok(Invitees { hosts, candidates })
    }

    /// Offers some agents a part at once. Returns their answers.
    fn hosts(&self, bus: &Bus, cards: &[Card]) -> Vec<Result<Result<Host, String>, BusError>> {
        thread::scope(|scope| {
            let start = |card| scope.spawn(move || self.host(bus, card));
            let threads: Vec<_> = cards.iter().map(start).collect();
            let answer = |thread: thread::ScopedJoinHandle<'_, _>| match thread.join() {
                Ok(answer) => answer,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            threads.into_iter().map(answer).collect()
        })
    }

    /// Offers an agent a part; returns the reason why it has none otherwise.
    fn host(&self, bus: &Bus, card: &Card) -> Result<Result<Host, String>, BusError> {
        let Some(clock) = measure_clock(bus, card)? else {
            return Ok(Err(SILENT.to_owned()));
        };
        let offer = Offer {
            run: self.run.clone(),
            versions: Versions::own(),
            tool: self.tool.clone(),
            command: None,
        };
        let ends = match accept(bus, card, &offer)? {
            Ok(ends) => ends,
            Err(reason) => return Ok(Err(reason)),
        };
        let line = Line {
            clock_ahead_ns: clock.ahead_ns,
            clock_error_ns: clock.error_ns,
            head_start_ns: LEAST_HEAD_START_NS.max(4 * clock.longest_ns + clock.error_ns),
            ..line(card, ends)
        };
        Ok(Ok(Host {
            card: card.clone(),
            clock,
            line,
        }))
    }
}

/// Runs a command on an agent, and returns the line to it: what it sends is between who starts it
/// there and the caller. The inner error is the rest of a sentence: the agent refuses.
///
/// # Errors
/// If the bus can't be used.
pub fn command(bus: &Bus, card: &Card, words: &[String]) -> Result<Result<Line, String>, BusError> {
    let offer = Offer {
        run: random_word(),
        versions: Versions::own(),
        tool: None,
        command: Some(words.to_vec()),
    };
    let ends = accept(bus, card, &offer)?;
    Ok(ends.map(|ends| line(card, ends)))
}

/// Creates the line to an agent whose clocks are not known.
fn line(card: &Card, ends: Ends) -> Line {
    let name = format!("agent {}", card.name);
    Line {
        agent: Some(card.name.clone()),
        cores: card.cores,
        ..Line::here(name, ends.sink, ends.source, ends.remote)
    }
}

/// Offers an agent what it is to do; returns the reason if it does not.
fn accept(bus: &Bus, card: &Card, offer: &Offer) -> Result<Result<Ends, String>, BusError> {
    // Subscribe first: the first frame is sent at once.
    let line = FarLine::new(bus, &offer.run, &card.id)?;
    let subject = protocol::offers(&card.id);
    let answer = bus.request(&subject, &protocol::encode(offer), OFFER_TIMEOUT)?;
    Ok(match answer.as_deref().and_then(protocol::decode) {
        Some(Answer::Accepted) => Ok(line.begin()),
        Some(Answer::Refused(reason)) => Err(reason),
        None => Err(SILENT.to_owned()),
    })
}
