//! The floors of agents: the best that the machine of each can do, measured by the agent itself
//! when it is requested for the first time, and known from then on.
//!
//! While it is measured, the agent has no part of a run, nor is it measured beside one. What a
//! floor contains is between who measures it and who has requested it.

use crate::agent::{Busy, lock, respond};
use crate::connection::Bus;
use crate::error::BusError;
use crate::protocol::{self, Card, FloorAnswer, MEASURING, Versions, busy_with};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The time in which agents answer: each may have to measure, on a busy machine.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Measures the floor of an agent's machine, as JSON. The error is the rest of a sentence.
pub type MeasureFloor = Box<dyn FnMut() -> Result<String, String> + Send>;

/// Answers each request for the floor. An agent that measures none refuses.
///
/// # Errors
/// If the bus can't be used.
pub(crate) fn answer_floors(
    bus: &Bus,
    card: &Card,
    busy: &Busy,
    mut measure: Option<MeasureFloor>,
) -> Result<(), BusError> {
    let requests = bus.subscribe(&protocol::floors(&card.id))?;
    let (bus, busy) = (bus.clone(), Arc::clone(busy));
    thread::spawn(move || {
        let mut known = None;
        for message in &requests.messages {
            let answer = match (&known, &mut measure) {
                (Some(floor), _) => FloorAnswer::Floor(String::clone(floor)),
                (None, Some(measure)) => measured(&busy, measure),
                (None, None) => FloorAnswer::Refused("measures no floor".to_owned()),
            };
            if let FloorAnswer::Floor(floor) = &answer {
                known.get_or_insert_with(|| floor.clone());
            }
            let _ = respond(&bus, &message, &answer);
        }
    });
    Ok(())
}

/// Measures the floor, unless the agent is busy.
fn measured(busy: &Busy, measure: &mut MeasureFloor) -> FloorAnswer {
    {
        let mut busy = lock(busy);
        if let Some(run) = &*busy {
            return FloorAnswer::Refused(busy_with(run));
        }
        *busy = Some(MEASURING.to_owned());
    }
    let floor = measure();
    *lock(busy) = None;
    match floor {
        Ok(floor) => FloorAnswer::Floor(floor),
        Err(reason) => FloorAnswer::Refused(reason),
    }
}

/// Returns the floors of agents, as those who measure them encode them; `None` for one that has not
/// measured it and is busy, watches a target, is of another version, or does not answer. Those that
/// are free measure theirs at once, so that those of one machine share it.
///
/// # Errors
/// If the bus can't be used.
pub fn floors(bus: &Bus, cards: &[Card]) -> Result<Vec<Option<String>>, BusError> {
    let may_answer = |card: &Card| card.versions == Versions::own();
    let request = |card: &Card| {
        let requests = may_answer(card).then(|| bus.request_many(&protocol::floors(&card.id), &[]));
        requests.transpose()
    };
    let requests = cards.iter().map(request).collect::<Result<Vec<_>, _>>()?;
    let until = Instant::now() + ANSWER_TIMEOUT;
    let floor = |answers: Option<crate::connection::Subscription>| {
        let left = until.saturating_duration_since(Instant::now());
        let answer = answers?.messages.recv_timeout(left).ok()?;
        match protocol::decode(&answer.contents)? {
            FloorAnswer::Floor(floor) => Some(floor),
            FloorAnswer::Refused(_) => None,
        }
    };
    Ok(requests.into_iter().map(floor).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_measured_by_an_agent_that_is_free_and_is_busy_meanwhile() {
        let busy = Busy::default();
        let seen = Arc::clone(&busy);
        let mut measure: MeasureFloor = Box::new(move || Ok(format!("{:?}", lock(&seen))));
        let floor = measured(&busy, &mut measure);
        assert_eq!(floor, FloorAnswer::Floor("Some(\"floor\")".to_owned()));
        assert_eq!(*lock(&busy), None);
        *lock(&busy) = Some("abc".to_owned());
        let refusal = measured(&busy, &mut measure);
        let reason = "is busy with run abc".to_owned();
        assert_eq!(refusal, FloorAnswer::Refused(reason));
        assert_eq!(lock(&busy).as_deref(), Some("abc"));
        *lock(&busy) = None;
        let mut failing: MeasureFloor = Box::new(|| Err("can't".to_owned()));
        let refusal = measured(&busy, &mut failing);
        assert_eq!(refusal, FloorAnswer::Refused("can't".to_owned()));
        assert_eq!(*lock(&busy), None);
    }
}
