//! Parts whose users are led by messages that only they and their leader read: the runners of a
//! locustfile.
//!
//! Each end of the line passes its frames on to two sockets, of which one carries those messages,
//! each behind its length, and the other one reports, as on the lines of [`Parts`](crate::Parts).
//! So the runners have the same sockets wherever the other end is. The assignment, the signs of
//! life and the reason of a failure are those of every part.

use crate::bundle::Contents;
use crate::child::{ChildError, ToCoordinator};
use crate::frame::{Frame, read_block, write_block};
use crate::line::{Line, Sink, Source};
use crate::message::{FromChild, Job, PROTOCOL, ToChild};
use crate::watched::{Silence, Watched, lock};
use loadline_engine::Detail;
use loadline_plan::Plan;
use serde_json::value::RawValue;
use std::io::{self, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The interval in which silence is detected.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The longest time that a report waits for whoever merges it: they may have given up.
const REPORT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time that a process has for its end once its coordinator is gone.
const LAST_GRACE: Duration = Duration::from_secs(10);

/// The sockets of one end of a line.
#[derive(Debug)]
pub struct Sockets {
    /// The messages.
    pub messages: UnixStream,
    /// The frames of reports.
    pub reports: UnixStream,
}

impl Sockets {
    fn close(&self) {
        for socket in [&self.messages, &self.reports] {
            // The other end may have closed it.
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    /// Passes on a frame that is no message of ours.
    fn pass(&mut self, frame: &Frame) -> io::Result<()> {
        match frame {
            Frame::Script(message) => write_block(message, &mut self.messages),
            Frame::Message(_)
            | Frame::Report(_)
            | Frame::Bundle(_)
            | Frame::Agent(_)
            | Frame::Merged(_) => {
                // Without a record, or after its end, nobody reads reports.
                let _ = frame.write(&mut self.reports);
                Ok(())
            }
        }
    }
}

/// The coordinator's end of the line to a part.
pub struct Relay(Arc<Mutex<State>>);

struct State {
    watched: Watched,
    /// True once nothing more is received.
    is_over: bool,
}

impl Relay {
    /// Assigns a part its job, with terms of its own, and begins to pass on what both ends send.
    /// The sockets are closed when the part has ended.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn begin(
        line: Line,
        job: Job,
        own: Option<Box<RawValue>>,
        sockets: Sockets,
    ) -> io::Result<Relay> {
        let Line {
            mut sink,
            source,
            remote,
            ..
        } = line;
        sockets.reports.set_write_timeout(Some(REPORT_TIMEOUT))?;
        let mut plan = Box::new(Plan::default());
        let contents = Contents::take(&mut plan, Some(job));
        sink(Frame::Bundle(contents.pack()?));
        sink(Frame::of(&assignment(plan, own))?);
        let state = Arc::new(Mutex::new(State {
            watched: Watched::new(remote),
            is_over: false,
        }));
        let messages = sockets.messages.try_clone()?;
        thread::spawn(move || pass_messages(messages, sink));
        let listening = Arc::clone(&state);
        thread::spawn(move || listen(source, sockets, &listening));
        let watched = Arc::clone(&state);
        thread::spawn(move || miss_if_silent(&watched));
        Ok(Relay(state))
    }

    /// Ends the process of the part at once.
    pub fn kill(&self) {
        lock(&self.0).watched.end_for("was ended".to_owned());
    }

    /// Returns how the part ended, as the rest of a sentence; `None` while it runs.
    pub fn ending(&self) -> Option<String> {
        let mut state = lock(&self.0);
        let reason = state.watched.reason.clone();
        match (state.is_over, reason) {
            (true, Some(reason)) => Some(reason),
            (true, None) => state.watched.remote.ending(),
            (false, _) => None,
        }
    }
}

impl std::fmt::Debug for Relay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Relay").finish_non_exhaustive()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        lock(&self.0).watched.remote.kill();
    }
}

/// Returns the assignment of a job whose plan its leader knows.
fn assignment(plan: Box<Plan>, own: Option<Box<RawValue>>) -> ToChild {
    ToChild::Assign {
        plan,
        own,
        detail: Detail::default(),
        workers: 0..1,
    }
}

/// Passes on the messages of a socket until its end.
fn pass_messages(mut from: UnixStream, mut sink: Sink) {
    while let Ok(Some(message)) = read_block(&mut from) {
        sink(Frame::Script(message));
    }
}

/// Passes on what a part sends until its end.
fn listen(mut source: Box<dyn Source>, mut sockets: Sockets, state: &Mutex<State>) {
    while let Ok(Some(frame)) = source.next() {
        lock(state).watched.received += 1;
        if let Err(reason) = take(&frame, &mut sockets) {
            lock(state).watched.end_for(reason);
            break;
        }
    }
    lock(state).is_over = true;
    sockets.close();
}

/// Takes a frame of a part.
///
/// # Errors
/// The reason why the part is to be ended.
fn take(frame: &Frame, sockets: &mut Sockets) -> Result<(), String> {
    let unreadable = |error: io::Error| format!("sent what can't be used ({error})");
    if let Frame::Message(_) = frame {
        match frame.message().map_err(unreadable)? {
            FromChild::Hello { protocol } if protocol != PROTOCOL => {
                return Err(format!(
                    "speaks version {protocol} of the protocol, not {PROTOCOL}"
                ));
            }
            FromChild::Failed { reason } => return Err(reason),
            FromChild::Hello { .. }
            | FromChild::Alive
            | FromChild::Unstamped
            | FromChild::Ready(_)
            | FromChild::Begun { .. } => return Ok(()),
            FromChild::Done => {}
        }
    }
    sockets.pass(frame).map_err(unreadable)
}

/// Ends a part that is silent for too long.
fn miss_if_silent(state: &Mutex<State>) {
    let mut silence = Silence::default();
    loop {
        thread::sleep(POLL_INTERVAL);
        let mut state = lock(state);
        if state.is_over || state.watched.reason.is_some() {
            return;
        }
        silence.miss(&mut state.watched, POLL_INTERVAL);
    }
}

/// A part's own end of its line.
pub struct Seat {
    source: Option<Box<dyn Source>>,
    voice: ToCoordinator,
    job: Job,
    own: Option<Box<RawValue>>,
    /// The threads that pass on what this process sends.
    passing: Vec<JoinHandle<()>>,
}

impl Seat {
    /// Waits for the job that a coordinator assigns. Once that is gone, `is_orphaned` is called on
    /// a thread of its own; the messages have ended as well.
    ///
    /// # Errors
    /// If there is no coordinator, or none that assigns a job.
    pub fn take(
        mut source: Box<dyn Source>,
        output: impl Write + Send + 'static,
        is_orphaned: impl FnOnce() + Send + 'static,
    ) -> Result<Seat, ChildError> {
        let voice = ToCoordinator::new(output);
        voice.report(&FromChild::Hello { protocol: PROTOCOL })?;
        voice.beat(is_orphaned);
        let Some(Frame::Bundle(bundle)) = source.next()? else {
            return Err(ChildError::NoCoordinator);
        };
        let job = Contents::unpack(&bundle)?.into_job();
        let assigned = source.next()?.map(|frame| frame.message()).transpose()?;
        match (job, assigned) {
            (Some(job), Some(ToChild::Assign { own, .. })) => Ok(Seat {
                source: Some(source),
                voice,
                job,
                own,
                passing: Vec::new(),
            }),
            _ => Err(ChildError::NoCoordinator),
        }
    }

    /// Returns the job.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// Returns what the job is for this part alone, as the tool encoded it; `None` if it is
    /// nothing.
    pub fn own(&self) -> Option<&RawValue> {
        self.own.as_deref()
    }

    /// Begins to pass on what both ends send. Afterwards, it does nothing.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn begin(&mut self, sockets: Sockets) -> io::Result<()> {
        let Some(mut source) = self.source.take() else {
            return Ok(());
        };
        let (mut messages, mut reports) =
            (sockets.messages.try_clone()?, sockets.reports.try_clone()?);
        let voice = self.voice.clone();
        self.passing.push(thread::spawn(move || {
            while let Ok(Some(message)) = read_block(&mut messages) {
                if voice.send(&Frame::Script(message)).is_err() {
                    return;
                }
            }
        }));
        let voice = self.voice.clone();
        self.passing.push(thread::spawn(move || {
            while let Ok(Some(frame)) = Frame::read(&mut reports) {
                if voice.send(&frame).is_err() {
                    return;
                }
            }
        }));
        let mut sockets = sockets;
        thread::spawn(move || {
            while let Ok(Some(frame)) = source.next() {
                if sockets.pass(&frame).is_err() {
                    break;
                }
            }
            // What this process has sent last is still passed on.
            let _ = sockets.messages.shutdown(Shutdown::Write);
        });
        Ok(())
    }

    /// Reports the reason why this part can't begin: a sentence without its full stop.
    pub fn fail(&self, reason: &str) {
        let reason = reason.to_owned();
        // A coordinator that is gone needs no reason.
        let _ = self.voice.report(&FromChild::Failed { reason });
    }

    /// Waits until all that was sent before the other ends of the sockets were closed is passed on.
    pub fn finish(&mut self) {
        for thread in self.passing.drain(..) {
            // If it panicked, that was told.
            let _ = thread.join();
        }
    }
}

/// Ends this process, which has nothing but the part of a coordinator that is gone, where it has
/// not ended by itself in time.
pub fn end_orphaned_process() {
    thread::sleep(LAST_GRACE);
    signal_hook::low_level::exit(1)
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seat").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
