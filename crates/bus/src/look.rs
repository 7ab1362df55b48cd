//! Readings of what processes use on an agent's machine, for coordinators whose target is there.
//!
//! A coordinator requests one reading after the other, under a word of its own: each has the usage
//! since its last one. What a reading contains is between who takes it and who has requested it.

use crate::agent::respond;
use crate::connection::{Bus, random_word};
use crate::error::BusError;
use crate::protocol::{self, Card, LookAnswer, LookRequest};
use std::thread;
use std::time::Duration;

/// Takes the readings of an agent's machine.
pub trait Eye: Send {
    /// Takes the next reading under this word, as JSON; the first one begins.
    ///
    /// # Errors
    /// The rest of a sentence about what can't be watched.
    fn look(&mut self, word: &str) -> Result<String, String>;
}

/// Answers all requests for readings, beside what else the agent does.
///
/// # Errors
/// If the bus can't be used.
pub fn serve_looks(bus: &Bus, card: &Card, mut eye: impl Eye + 'static) -> Result<(), BusError> {
    let requests = bus.subscribe(&protocol::looks(&card.id))?;
    let bus = bus.clone();
    thread::spawn(move || {
        for message in &requests.messages {
            let answer = match protocol::decode::<LookRequest>(&message.contents) {
                Some(look) if protocol::is_word(&look.word) => eye.look(&look.word).into(),
                _ => LookAnswer::Refused("can't read the request".to_owned()),
            };
            let _ = respond(&bus, &message, &answer);
        }
    });
    Ok(())
}

impl From<Result<String, String>> for LookAnswer {
    fn from(looked: Result<String, String>) -> Self {
        match looked {
            Ok(reading) => LookAnswer::Reading(reading),
            Err(reason) => LookAnswer::Refused(reason),
        }
    }
}

/// The readings of one agent's machine, from the coordinator's view.
#[derive(Clone, Debug)]
pub struct View {
    bus: Bus,
    card: Card,
    word: String,
}

impl View {
    /// Creates a view that begins with its first reading.
    pub fn new(bus: &Bus, card: &Card) -> Self {
        View {
            bus: bus.clone(),
            card: card.clone(),
            word: random_word(),
        }
    }

    /// Returns the agent's name.
    pub fn name(&self) -> &str {
        &self.card.name
    }

    /// Returns the next reading; waits for it for at most `timeout`.
    ///
    /// # Errors
    /// The rest of a sentence about why there is none.
    pub fn look(&self, timeout: Duration) -> Result<String, String> {
        let look = LookRequest {
            word: self.word.clone(),
        };
        let subject = protocol::looks(&self.card.id);
        let answer = self
            .bus
            .request(&subject, &protocol::encode(&look), timeout);
        let answer = answer.map_err(|error| error.to_string())?;
        match answer.as_deref().and_then(protocol::decode) {
            Some(LookAnswer::Reading(reading)) => Ok(reading),
            Some(LookAnswer::Refused(reason)) => Err(reason),
            None => Err("does not answer".to_owned()),
        }
    }
}
