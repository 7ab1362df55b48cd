//! The coordinator's end of a link: the state of one part of the run.

use crate::bundle::Bundle;
use crate::frame::Frame;
use crate::group::Group;
use crate::line::{Line, Sink, Source};
use crate::loss::{Course, Handover};
use crate::merging::ToAgent;
use crate::message::{Before, Command, FromChild, PROTOCOL, Ready, ToChild};
use crate::watched::{Silence, Watched, lock};
use loadline_engine::{Inlet, ReportReader, TallyCodec, WorkerFailure};
use loadline_record::AgentBegin;
use std::io;
use std::ops::Range;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The number of a part, and its share of the plan's workers.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The part's number, from 0.
    pub(crate) index: u32,
    /// Its name, as the begin of a sentence.
    pub(crate) name: String,
    /// The name of the agent that has it, if one has.
    pub(crate) agent: Option<String>,
    pub(crate) workers: Range<u32>,
    /// The number of scenarios of the plan.
    pub(crate) scenarios: usize,
    /// The codec of its workers' tallies, if they have any.
    pub(crate) tallies: Option<TallyCodec>,
    pub(crate) handover: Handover,
    /// Its group, if another part joins its reports.
    pub(crate) group: Option<Arc<Group>>,
}

/// The result of a part's start.
pub(crate) type Started = Result<Ready, String>;

/// A part of a run and its state.
pub(crate) struct Link {
    part: Part,
    state: Arc<Mutex<State>>,
    sink: Option<Sink>,
    clock_ahead_ns: i64,
    clock_error_ns: u64,
    cores: u32,
    reader: Option<JoinHandle<()>>,
    silence: Silence,
}

struct State {
    watched: Watched,
    /// True if nothing more is expected: after `Done`, or once the part is abandoned; in a group
    /// once all its reports are counted.
    is_done: bool,
    /// True after `Done` in a group.
    has_ended: bool,
    /// The failure of its workers, once it is lost.
    lost: Option<WorkerFailure>,
    /// The instant from which others take its load over, until they are told.
    taken_from_ns: Option<u64>,
    /// The starts of closed loads that its users have taken, by scenario.
    begun: Vec<u64>,
    /// The course of the load, once it begins.
    course: Option<Course>,
    /// By how much its begin was late, in nanoseconds, once that is known.
    late_ns: Option<u64>,
}

/// The begin of a part's load, as far as that is known.
pub(crate) struct Beginning {
    agent: String,
    clock_error_ns: u64,
    state: Arc<Mutex<State>>,
}

impl Beginning {
    /// Returns how far it is from the instant that all parts have in common.
    pub(crate) fn known(&self) -> AgentBegin {
        AgentBegin {
            agent: self.agent.clone(),
            late_ns: lock(&self.state).late_ns.unwrap_or(0),
            clock_error_ns: self.clock_error_ns,
        }
    }
}

impl std::fmt::Debug for Beginning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.known().fmt(f)
    }
}

impl Link {
    /// Starts to read a part's frames. The result of its start is sent to `started`, with its
    /// index; its reports go to the inlet, which is set when the load begins.
    pub(crate) fn new(
        line: Line,
        part: Part,
        inlet: Arc<OnceLock<Inlet>>,
        started: Sender<(u32, Started)>,
    ) -> Link {
        let state = Arc::new(Mutex::new(State {
            watched: Watched::new(line.remote),
            is_done: false,
            has_ended: false,
            lost: None,
            taken_from_ns: None,
            begun: vec![0; part.scenarios],
            course: None,
            late_ns: None,
        }));
        let tallies = part.tallies.as_ref();
        let tallies = tallies.map(|tallies| tallies.of_part(&part.name));
        let listener = Listener {
            reports: ReportReader::new(part.workers.clone(), part.scenarios, tallies),
            part: part.clone(),
            state: Arc::clone(&state),
            inlet,
            started: Some(started),
            reported_ns: 0,
        };
        let source = line.source;
        Link {
            part,
            state,
            sink: Some(line.sink),
            clock_ahead_ns: line.clock_ahead_ns,
            clock_error_ns: line.clock_error_ns,
            cores: line.cores,
            reader: Some(thread::spawn(move || listener.listen(source))),
            silence: Silence::default(),
        }
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, message: &ToChild) {
        if let (Some(sink), Ok(frame)) = (&mut self.sink, Frame::of(message)) {
            sink(frame);
        }
    }

    /// Sends a message to the agent that passes on what is sent.
    pub(crate) fn send_to_agent(&mut self, message: &ToAgent) {
        if let (Some(sink), Ok(frame)) = (&mut self.sink, message.frame()) {
            sink(frame);
        }
    }

    /// Sends what all parts have in common.
    pub(crate) fn send_bundle(&mut self, bundle: Bundle) {
        if let Some(sink) = &mut self.sink {
            sink(Frame::Bundle(bundle));
        }
    }

    /// Begins the load at the begin of its course, on `CLOCK_MONOTONIC`; `before` is what happened
    /// until now, if it joins.
    pub(crate) fn start(&mut self, course: Course, before: Before) {
        lock(&self.state).course = Some(course);
        let begin_ns = course.begin_ns.saturating_add_signed(self.clock_ahead_ns);
        self.send(&ToChild::StartAt { begin_ns, before });
    }

    /// Sends a command, if the load of the part has begun: otherwise it comes with the begin.
    pub(crate) fn command(&mut self, command: Command) {
        if lock(&self.state).course.is_some() {
            self.send(&ToChild::Command(command));
        }
    }

    /// Returns the instant from which others take the part's load over, once: when it is lost, and
    /// all that it has reported is counted.
    pub(crate) fn taken_from_ns(&mut self) -> Option<u64> {
        // Most parts are there, and this is called often.
        lock(&self.state).taken_from_ns?;
        let index = self.part.index;
        let group = self.part.group.as_ref();
        let is_settled = group.is_none_or(|group| group.is_settled(index));
        is_settled.then(|| lock(&self.state).taken_from_ns.take())?
    }

    /// Returns the starts of closed loads that its users have taken, by scenario.
    pub(crate) fn begun(&self) -> Vec<u64> {
        match &self.part.group {
            Some(group) => group.begun(self.part.index),
            None => lock(&self.state).begun.clone(),
        }
    }

    /// True if the part is lost.
    pub(crate) fn is_lost(&self) -> bool {
        lock(&self.state).lost.is_some()
    }

    /// Expects nothing more of the part, all of whose reports are counted.
    pub(crate) fn dismiss(&self) {
        lock(&self.state).is_done = true;
    }

    /// Ends the part, whose reports can't be used.
    pub(crate) fn refuse(&self, reason: &str) {
        let reason = format!("sent what is no message of the protocol ({reason})");
        lock(&self.state).watched.end_for(reason);
    }

    /// Returns the begin of its load, if an agent has it.
    pub(crate) fn beginning(&self) -> Option<Beginning> {
        Some(Beginning {
            agent: self.part.agent.clone()?,
            clock_error_ns: self.clock_error_ns,
            state: Arc::clone(&self.state),
        })
    }

    /// Returns the number of cores of the machine that has it.
    pub(crate) fn cores(&self) -> u32 {
        self.cores
    }

    /// True if the load of the part has begun, and it is neither lost nor done.
    pub(crate) fn is_present(&self) -> bool {
        let state = lock(&self.state);
        let is_over = state.is_done || state.has_ended;
        !is_over && state.lost.is_none() && state.course.is_some()
    }

    /// Reports the loss to the inlet if the part was lost before the inlet was set.
    pub(crate) fn report_loss(&self, inlet: &Inlet) {
        let lost = lock(&self.state).lost.clone();
        match (lost, &self.part.group) {
            (Some(failure), Some(group)) => group.report_loss(inlet, &failure),
            (Some(failure), None) => inlet.lose_part(self.part.index as usize, failure),
            (None, _) => {}
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.part.name
    }

    pub(crate) fn workers(&self) -> Range<u32> {
        self.part.workers.clone()
    }

    /// Kills the process if it has been silent for too long, after another wait of this length.
    pub(crate) fn miss_if_silent(&mut self, waited: Duration) {
        let mut state = lock(&self.state);
        match state.is_done {
            true => self.silence = Silence::default(),
            false => self.silence.miss(&mut state.watched, waited),
        }
    }
}

impl Drop for Link {
    /// Abandons the part and kills its process.
    fn drop(&mut self) {
        self.sink = None;
        {
            let mut state = lock(&self.state);
            state.is_done = true;
            state.watched.remote.kill();
        }
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

/// Receives a part's frames, on a separate thread.
struct Listener {
    part: Part,
    reports: ReportReader,
    state: Arc<Mutex<State>>,
    inlet: Arc<OnceLock<Inlet>>,
    /// The receiver of its start's result, until that is sent.
    started: Option<Sender<(u32, Started)>>,
    /// The end of the last interval that it has reported.
    reported_ns: u64,
}

impl Listener {
    fn listen(mut self, mut source: Box<dyn Source>) {
        loop {
            let taken = match source.next() {
                Ok(Some(frame)) => self.take(&frame),
                Ok(None) => return self.ends_early(),
                Err(error) => Err(error),
            };
            match taken {
                Ok(false) => {}
                Ok(true) => return self.ends_well(),
                Err(error) => {
                    self.end_for(wrong_message(&error));
                    return self.ends_early();
                }
            }
        }
    }

    /// Takes a frame. Returns true if it is the last one.
    fn take(&mut self, frame: &Frame) -> io::Result<bool> {
        lock(&self.state).watched.received += 1;
        if let Frame::Report(bytes) = frame {
            return self.report(bytes).map(|()| false);
        }
        if let Frame::Merged(contents) = frame {
            let joined = self.part.group.as_ref();
            let joined = joined.map(|group| group.take(self.part.index, contents));
            return joined.transpose().map(|_| false);
        }
        match frame.message()? {
            FromChild::Hello { protocol } if protocol != PROTOCOL => {
                let reason = format!("speaks version {protocol} of the protocol, not {PROTOCOL}");
                self.end_for(reason);
            }
            FromChild::Hello { .. } | FromChild::Alive => {}
            FromChild::Unstamped => {
                if let Some(agent) = &self.part.agent {
                    self.part.handover.ledger().miss_stamps(agent);
                }
            }
            FromChild::Ready(ready) => self.has_started(Ok(ready)),
            FromChild::Begun { late_ns } => lock(&self.state).late_ns = Some(late_ns),
            FromChild::Failed { reason } => {
                self.has_started(Err(reason));
                lock(&self.state).is_done = true;
                // It may have been about to join.
                self.part.handover.end();
            }
            FromChild::Done if self.part.group.is_some() => {
                // Its reports are on the way, and it may join those of others.
                lock(&self.state).has_ended = true;
                self.part.handover.end();
            }
            FromChild::Done => return Ok(true),
        }
        Ok(false)
    }

    fn report(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.part.group.is_some() {
            return Err(io::Error::other("a report that is joined elsewhere"));
        }
        let report = self.reports.read(bytes).map_err(io::Error::other)?;
        if let Some(end_ns) = report.interval_end_ns() {
            self.reported_ns = self.reported_ns.max(end_ns);
        }
        for (scenario, begun) in report.begun() {
            if let Some(sum) = lock(&self.state).begun.get_mut(scenario) {
                *sum += begun;
            }
        }
        let part = self.part.index as usize;
        self.with_inlet(|inlet| inlet.report_part(part, report));
        Ok(())
    }

    fn with_inlet(&self, act: impl FnOnce(&Inlet)) {
        if let Some(inlet) = self.inlet.get() {
            act(inlet);
        }
    }

    fn has_started(&mut self, started: Started) {
        if let Some(waiting) = self.started.take() {
            let _ = waiting.send((self.part.index, started));
        }
    }

    fn end_for(&self, reason: String) {
        lock(&self.state).watched.end_for(reason);
    }

    /// Handles the end of the part after `Done`.
    fn ends_well(mut self) {
        self.has_started(Err("ended before its connections were up".to_owned()));
        lock(&self.state).is_done = true;
        self.part.handover.end();
        self.wait();
    }

    /// Handles the end of the line without `Done`.
    fn ends_early(mut self) {
        let ending = self.wait();
        let (reason, is_expected, has_ended) = {
            let state = lock(&self.state);
            (state.watched.reason.clone(), state.is_done, state.has_ended)
        };
        if is_expected {
            return;
        }
        let reason = reason.unwrap_or(ending);
        self.has_started(Err(reason.clone()));
        let course = lock(&self.state).course;
        let workers = self.part.workers.len() as u32;
        let taken_from_ns = match has_ended {
            true => None,
            false => self.part.handover.lose(workers, course),
        };
        let failure = self.failure(&reason, taken_from_ns);
        if let (Some(agent), Some(_)) = (&self.part.agent, course) {
            let handover = &self.part.handover;
            let lost = (agent.as_str(), self.part.workers.clone());
            handover.note(lost, self.until_ns(), taken_from_ns);
        }
        // Set this before the inlet is used: the creator of the inlet reads it after setting the
        // inlet.
        {
            let mut state = lock(&self.state);
            state.lost = Some(failure.clone());
            state.taken_from_ns = taken_from_ns;
        }
        let part = self.part.index;
        match &self.part.group {
            Some(group) => group.lose(part, &failure),
            None => self.with_inlet(|inlet| inlet.lose_part(part as usize, failure)),
        }
    }

    /// Waits until the process, which sends nothing more, has ended. Returns how.
    fn wait(&self) -> String {
        loop {
            if let Some(ending) = lock(&self.state).watched.remote.ending() {
                return ending;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Returns the end of the last interval that counts, in nanoseconds from the run's zero.
    fn until_ns(&self) -> u64 {
        let group = self.part.group.as_ref();
        group.map_or(self.reported_ns, |group| group.until_ns(self.part.index))
    }

    fn failure(&self, reason: &str, taken_from_ns: Option<u64>) -> WorkerFailure {
        let reported_ns = self.until_ns();
        let handover = &self.part.handover;
        let share_percent = handover.share_percent(self.part.workers.len() as u32, reported_ns);
        WorkerFailure::Gone {
            part: self.part.name.clone(),
            reason: reason.to_owned(),
            until_s: format!("{:.1}", reported_ns as f64 / 1e9),
            share: format!("{share_percent:.0}%"),
            taken_from_ns: taken_from_ns.map(|from_ns| handover.since_zero_ns(from_ns)),
        }
    }
}

fn wrong_message(error: &io::Error) -> String {
    format!("sent what is no message of the protocol ({error}) and was ended")
}
