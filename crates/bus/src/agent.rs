//! An agent: waits for parts of runs, and has each done by a process of its own.
//!
//! The agent itself has no part in a load. It starts this program's worker process, as
//! `--processes` does, and passes frames on between its pipes and the bus. However a part ends, the
//! agent is there for the next one.

use crate::connection::{Bus, Message, Subscription};
use crate::duties::{Duties, Shared};
use crate::error::BusError;
use crate::floor::{MeasureFloor, answer_floors};
use crate::intake::{Intake, Step};
use crate::line_end::LineEnd;
use crate::parcel::Parcel;
use crate::protocol::{
    self, AGENTS, Answer, Card, HEARTBEAT, Offer, Reading, SILENCE_TIMEOUT, Task, busy_with,
};
use crate::store::Store;
use loadline_cluster::{Frame, Line, Remote, Sink, Source};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The interval in which the end of a part is detected.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The time in which the bus says what it does not permit.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// The number of looks for the end of a process that sends nothing more, before it is killed.
const MOST_WAITS: u32 = 200;

/// The run of which the agent has a part, if it has one.
pub(crate) type Busy = Arc<Mutex<Option<String>>>;

/// Serves as the agent of this card, until the connection to the bus is over. `start` starts the
/// process of a task, or returns the reason why it can't: the rest of a sentence. `floor` measures
/// the floor of its machine, if it does.
///
/// # Errors
/// When the connection is over; at once if the bus does not permit what an agent does.
pub fn serve(
    bus: &Bus,
    card: &Card,
    floor: Option<MeasureFloor>,
    start: impl Fn(Task<'_>) -> Result<Line, String>,
) -> Result<(), BusError> {
    let busy = Busy::default();
    answer_searches(bus, card, &busy)?;
    answer_clock(bus, card)?;
    answer_floors(bus, card, &busy, floor)?;
    let store = Arc::default();
    let offers = bus.subscribe(&protocol::offers(&card.id))?;
    bus.flush(FLUSH_TIMEOUT);
    bus.permitted()?;
    for message in &offers.messages {
        let answer = match protocol::decode::<Offer>(&message.contents) {
            None => Answer::Refused("can't read the offer".to_owned()),
            Some(offer) => consider(bus, card, &busy, &store, &offer, &start),
        };
        respond(bus, &message, &answer)?;
    }
    Err(bus.broken())
}

/// Answers each search for agents.
fn answer_searches(bus: &Bus, card: &Card, busy: &Busy) -> Result<(), BusError> {
    let searches = bus.subscribe(AGENTS)?;
    let (bus, card, busy) = (bus.clone(), card.clone(), Arc::clone(busy));
    thread::spawn(move || {
        for message in &searches.messages {
            let card = Card {
                busy_with: lock(&busy).clone(),
                ..card.clone()
            };
            let _ = respond(&bus, &message, &card);
        }
    });
    Ok(())
}

/// Answers with the readings of the clocks.
fn answer_clock(bus: &Bus, card: &Card) -> Result<(), BusError> {
    let questions = bus.subscribe(&protocol::clock(&card.id))?;
    let bus = bus.clone();
    thread::spawn(move || {
        for message in &questions.messages {
            let _ = respond(&bus, &message, &Reading::now());
        }
    });
    Ok(())
}

pub(crate) fn respond(
    bus: &Bus,
    message: &Message,
    answer: &impl serde::Serialize,
) -> Result<(), BusError> {
    match &message.reply {
        Some(inbox) => bus.publish(inbox, &protocol::encode(answer)),
        None => Ok(()),
    }
}

pub(crate) fn lock(busy: &Busy) -> MutexGuard<'_, Option<String>> {
    busy.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Accepts an offer, unless there is a reason not to.
fn consider(
    bus: &Bus,
    card: &Card,
    busy: &Busy,
    store: &Arc<Mutex<Store>>,
    offer: &Offer,
    start: &impl Fn(Task<'_>) -> Result<Line, String>,
) -> Answer {
    if let Some(mismatch) = offer.versions.mismatch() {
        return Answer::Refused(format!("refuses a run whose coordinator {mismatch}"));
    }
    if offer.command.is_some() {
        // It is beside a part of a run, if there is one.
        let begun = begin(bus, card, &Busy::default(), store, offer, start);
        return answer(begun, "does not run it");
    }
    let mut taken = lock(busy);
    if let Some(run) = &*taken {
        return Answer::Refused(busy_with(run));
    }
    let answer = answer(
        begin(bus, card, busy, store, offer, start),
        "can't begin a part",
    );
    if answer == Answer::Accepted {
        *taken = Some(offer.run.clone());
    }
    answer
}

fn answer(begun: Result<(), String>, failure: &str) -> Answer {
    match begun {
        Ok(()) => Answer::Accepted,
        Err(reason) => Answer::Refused(format!("{failure}: {reason}")),
    }
}

/// Starts the worker process of a part, and passes on what it and the coordinator send.
fn begin(
    bus: &Bus,
    card: &Card,
    busy: &Busy,
    store: &Arc<Mutex<Store>>,
    offer: &Offer,
    start: &impl Fn(Task<'_>) -> Result<Line, String>,
) -> Result<(), String> {
    let (run, id) = (&offer.run, &card.id);
    if !protocol::is_word(run) {
        return Err("its run has no valid name".to_owned());
    }
    let down = bus.subscribe(&protocol::down(run, id)).map_err(text)?;
    let child = start(offer.task())?;
    let up = LineEnd::new(bus, protocol::up(run, id));
    let (busy, intake) = (Arc::clone(busy), Intake::new(store));
    let duties = Duties::new(bus, run);
    thread::spawn(move || {
        Passage::begin(child, up, intake, duties).pass_down(&down);
        *lock(&busy) = None;
    });
    Ok(())
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// The agent's end of a line, for the threads of both directions.
type Up = Arc<Mutex<LineEnd>>;

fn lock_end(up: &Up) -> MutexGuard<'_, LineEnd> {
    up.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A part of a run that the agent has.
struct Passage {
    intake: Intake,
    sink: Sink,
    remote: Box<dyn Remote>,
    /// The thread that passes on what the worker process sends.
    reports: JoinHandle<()>,
    up: Up,
    duties: Duties,
    /// True once the end of the worker process was sent.
    has_ended: bool,
}

impl Passage {
    /// Begins to pass on what a worker process sends.
    fn begin(child: Line, up: LineEnd, intake: Intake, duties: Duties) -> Self {
        let up = Arc::new(Mutex::new(up));
        let (source, reporting, shared) = (child.source, Arc::clone(&up), duties.shared());
        Passage {
            intake,
            sink: child.sink,
            remote: child.remote,
            reports: thread::spawn(move || pass_up(source, &reporting, &shared)),
            up,
            duties,
            has_ended: false,
        }
    }

    /// Passes on what the coordinator sends, until it has received the end of the worker process.
    /// That is ended if the coordinator requests it, or is gone.
    fn pass_down(mut self, down: &Subscription) {
        let (mut silent, mut quiet) = (Duration::ZERO, HEARTBEAT);
        while silent < SILENCE_TIMEOUT && !self.is_over() {
            if quiet >= HEARTBEAT {
                self.beat();
                quiet = Duration::ZERO;
            }
            self.duties.receive();
            let since = Instant::now();
            let received = down.messages.recv_timeout(POLL_INTERVAL);
            quiet += since.elapsed();
            match received {
                Ok(message) if self.take(&message) => silent = Duration::ZERO,
                Err(RecvTimeoutError::Timeout) => silent += POLL_INTERVAL,
                Ok(_) | Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.finish();
    }

    fn beat(&self) {
        self.duties.beat();
        let mut up = lock_end(&self.up);
        if self.reports.is_finished() && !self.has_ended {
            // The process says nothing any more, and the agent has still to do for the run.
            up.send(Parcel::Frame(Frame::alive()));
        }
        up.beat();
    }

    /// True if the coordinator has received everything, the end included.
    fn is_over(&mut self) -> bool {
        if !self.has_ended && self.reports.is_finished() && self.duties.are_over() {
            self.send_end();
        }
        self.has_ended && lock_end(&self.up).is_acknowledged()
    }

    /// Takes a message of the coordinator; returns false if it has ended the part, or sends what is
    /// no message.
    fn take(&mut self, message: &Message) -> bool {
        let taken = lock_end(&self.up).take(&message.contents);
        match taken {
            Ok(Some(Parcel::Frame(Frame::Agent(message)))) => {
                let up = Arc::clone(&self.up);
                let send = move |frame| lock_end(&up).send(Parcel::Frame(frame));
                self.duties.obey(&message, send).is_ok()
            }
            Ok(Some(parcel)) => self.obey(parcel),
            Ok(None) => true,
            Err(_) => false,
        }
    }

    /// Does what a parcel requires; returns false if the part is to end.
    fn obey(&mut self, parcel: Parcel) -> bool {
        match self.intake.take(parcel) {
            Step::Pass(frames) => frames.into_iter().for_each(&mut self.sink),
            Step::Request(hash) => lock_end(&self.up).send(Parcel::Request(hash)),
            Step::End(reason) => {
                if let Some(reason) = reason {
                    self.remote.kill();
                    self.has_ended = true;
                    lock_end(&self.up).send(Parcel::End(reason.to_owned()));
                }
                return false;
            }
        }
        true
    }

    fn send_end(&mut self) {
        self.has_ended = true;
        let ending = ending(self.remote.as_mut());
        lock_end(&self.up).send(Parcel::End(ending));
    }

    fn finish(mut self) {
        if !self.has_ended {
            self.remote.kill();
            self.send_end();
        }
        let _ = self.reports.join();
    }
}

/// Waits until a worker process that sends nothing more has ended. Returns how it did.
fn ending(remote: &mut dyn Remote) -> String {
    let mut waits = 0;
    loop {
        if let Some(ending) = remote.ending() {
            return ending;
        }
        waits += 1;
        if waits == MOST_WAITS {
            remote.kill();
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Passes on what the worker process sends, until its end.
fn pass_up(mut source: Box<dyn Source>, up: &Up, shared: &Shared) {
    while let Ok(Some(frame)) = source.next() {
        let frame = shared.take(frame);
        lock_end(up).send(Parcel::Frame(frame));
    }
}
