//! The coordinator's end of a child.

use crate::message::{self, Command, FromChild, PROTOCOL, Ready, ToChild};
use loadline_engine::{Inlet, TallyCodec, WorkerFailure, WorkerReport};
use std::io::{self, BufReader, Write};
use std::ops::Range;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The longest silence of a child, which sends a heartbeat ten times a second.
pub const SILENCE_TIMEOUT: Duration = Duration::from_secs(3);

/// The longest message of a child, in bytes. An interval of 2 000 names has some megabytes.
const MOST_TOLD: u64 = 256 << 20;

/// The number of a child, and its share of the plan's workers.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The child's number, from 0.
    pub(crate) index: u32,
    pub(crate) of: u32,
    pub(crate) workers: Range<u32>,
    /// The number of all workers of the plan, and of its scenarios.
    pub(crate) threads: u32,
    pub(crate) scenarios: usize,
    /// The codec of its workers' tallies, if they have any.
    pub(crate) tallies: Option<TallyCodec>,
}

/// The result of a child's start.
pub(crate) type Started = Result<Ready, String>;

/// A child and its state.
pub(crate) struct Link {
    part: Part,
    state: Arc<Mutex<State>>,
    /// The queue of messages to the child, for a thread that may have to wait for the child.
    input: Option<Sender<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
    /// The number of messages at the last check, and the silence since then.
    heard: u64,
    silent: Duration,
}

struct State {
    child: Child,
    /// The number of messages received.
    heard: u64,
    /// True after `Done`, or once the child is abandoned.
    is_done: bool,
    /// The reason why it was killed, if it was.
    reason: Option<String>,
    /// The failure of its workers, once it is lost.
    lost: Option<WorkerFailure>,
}

impl Link {
    /// Starts to read a child's messages. The result of its start is sent to `started`, with its
    /// index; its workers' reports go to the inlet, which is set when the load begins.
    pub(crate) fn new(
        mut child: Child,
        part: Part,
        inlet: Arc<OnceLock<Inlet>>,
        started: Sender<(u32, Started)>,
    ) -> Link {
        let input = child.stdin.take().map(writer);
        let output = child.stdout.take();
        let state = Arc::new(Mutex::new(State {
            child,
            heard: 0,
            is_done: false,
            reason: None,
            lost: None,
        }));
        let listener = Listener {
            part: part.clone(),
            state: Arc::clone(&state),
            inlet,
            started: Some(started),
            told_ns: vec![0; part.workers.len()],
        };
        let reader = output.map(|output| thread::spawn(move || listener.listen(output)));
        Link {
            part,
            state,
            input,
            reader,
            heard: 0,
            silent: Duration::ZERO,
        }
    }

    /// Sends the child a message. A child that is gone is detected by its silence.
    pub(crate) fn tell(&mut self, message: &ToChild) {
        let mut bytes = Vec::new();
        if let (Some(input), Ok(())) = (&self.input, message::write(&mut bytes, message)) {
            let _ = input.send(bytes);
        }
    }

    pub(crate) fn command(&mut self, command: Command) {
        self.tell(&ToChild::Command(command));
    }

    /// Reports the loss to the inlet if the child was lost before the inlet was set.
    pub(crate) fn tell_loss(&self, inlet: &Inlet) {
        if let Some(failure) = &lock(&self.state).lost {
            inlet.lose(self.part.workers.clone(), failure);
        }
    }

    pub(crate) fn workers(&self) -> Range<u32> {
        self.part.workers.clone()
    }

    /// Kills the child if it has been silent for too long, after another wait of this length. Waits
    /// are added up, because a coordinator that was stopped itself has received no messages either.
    pub(crate) fn miss_if_silent(&mut self, waited: Duration) {
        let mut state = lock(&self.state);
        if std::mem::replace(&mut self.heard, state.heard) != state.heard || state.is_done {
            self.silent = Duration::ZERO;
            return;
        }
        self.silent += waited;
        if self.silent >= SILENCE_TIMEOUT {
            let seconds = SILENCE_TIMEOUT.as_secs();
            state.end_for(format!("said nothing for {seconds} s and was ended"));
            self.silent = Duration::ZERO;
        }
    }
}

impl Drop for Link {
    /// Abandons and kills the child.
    fn drop(&mut self) {
        self.input = None;
        {
            let mut state = lock(&self.state);
            state.is_done = true;
            let _ = state.child.kill();
        }
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// Kills the child for this reason, or an earlier one.
    fn end_for(&mut self, reason: String) {
        self.reason.get_or_insert(reason);
        let _ = self.child.kill();
    }
}

/// Writes to a child on a separate thread, until the queue is closed or the child is gone.
fn writer(mut input: ChildStdin) -> Sender<Vec<u8>> {
    let (send, messages) = channel::<Vec<u8>>();
    thread::spawn(move || {
        for message in messages {
            if input.write_all(&message).is_err() {
                return;
            }
        }
    });
    send
}

/// Receives a child's messages, on a separate thread.
struct Listener {
    part: Part,
    state: Arc<Mutex<State>>,
    inlet: Arc<OnceLock<Inlet>>,
    /// The receiver of its start's result, until that is sent.
    started: Option<Sender<(u32, Started)>>,
    /// The end of the last interval that each of its workers has reported.
    told_ns: Vec<u64>,
}

impl Listener {
    fn listen(mut self, output: ChildStdout) {
        let mut output = BufReader::new(output);
        loop {
            match message::read(&mut output, MOST_TOLD) {
                Ok(Some(FromChild::Done)) => return self.ends_well(),
                Ok(Some(message)) => self.take(message),
                Ok(None) => return self.ends_early(),
                Err(error) => {
                    self.end_for(wrong_message(&error));
                    return self.ends_early();
                }
            }
        }
    }

    fn take(&mut self, message: FromChild) {
        lock(&self.state).heard += 1;
        match message {
            FromChild::Hello { protocol } if protocol != PROTOCOL => {
                let said = format!("speaks version {protocol} of the protocol, not {PROTOCOL}");
                self.end_for(said);
            }
            FromChild::Hello { .. } | FromChild::Done => {}
            FromChild::Ready(ready) => self.has_started(Ok(ready)),
            FromChild::Failed { reason } => {
                self.has_started(Err(reason));
                lock(&self.state).is_done = true;
            }
            FromChild::Heartbeat { beats } => {
                for (worker, count) in self.part.workers.clone().zip(beats) {
                    self.with_inlet(|inlet| inlet.beat(worker as usize, count));
                }
            }
            FromChild::Report(report) => self.report(*report),
        }
    }

    fn report(&mut self, mut report: WorkerReport) {
        let worker = report.worker() as u32;
        if !self.part.workers.contains(&worker) {
            return self.end_for(format!("told of worker {worker}, which is not its own"));
        }
        if report.scenario() >= self.part.scenarios {
            return self.end_for(format!("told of scenario {}", report.scenario()));
        }
        if let Err(error) = report.decode_tally(self.part.tallies) {
            return self.end_for(wrong_message(&error.into()));
        }
        let own = (worker - self.part.workers.start) as usize;
        if let Some(end_ns) = report.interval_end_ns() {
            self.told_ns[own] = self.told_ns[own].max(end_ns);
        }
        self.with_inlet(|inlet| inlet.tell(report));
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
        lock(&self.state).end_for(reason);
    }

    /// Handles the end of the child after `Done`.
    fn ends_well(mut self) {
        self.has_started(Err("ended before its connections were up".to_owned()));
        lock(&self.state).is_done = true;
        let _ = self.wait();
    }

    /// Handles the end of the child's output without `Done`.
    fn ends_early(mut self) {
        let ended = self.wait();
        let (reason, is_expected) = {
            let state = lock(&self.state);
            (state.reason.clone(), state.is_done)
        };
        if is_expected {
            return;
        }
        let reason = reason.unwrap_or_else(|| how_it_ended(ended));
        self.has_started(Err(reason.clone()));
        let failure = self.failure(&reason);
        // Set this before the inlet is used: the creator of the inlet reads it after setting the
        // inlet.
        lock(&self.state).lost = Some(failure.clone());
        self.with_inlet(|inlet| inlet.lose(self.part.workers.clone(), &failure));
    }

    /// Waits until the process, which has closed its output, has ended.
    fn wait(&self) -> Option<ExitStatus> {
        loop {
            if let Ok(ended) = lock(&self.state).child.try_wait()
                && let Some(ended) = ended
            {
                return Some(ended);
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn failure(&self, reason: &str) -> WorkerFailure {
        let until_ns = self.told_ns.iter().min().copied().unwrap_or(0);
        let (own, all) = (self.part.workers.len() as f64, f64::from(self.part.threads));
        WorkerFailure::Gone {
            process: self.part.index + 1,
            processes: self.part.of,
            reason: reason.to_owned(),
            until_s: format!("{:.1}", until_ns as f64 / 1e9),
            share: format!("{:.0}%", 100.0 * own / all),
        }
    }
}

fn wrong_message(error: &io::Error) -> String {
    format!("sent what is no message of the protocol ({error}) and was ended")
}

fn how_it_ended(ended: Option<ExitStatus>) -> String {
    match ended.map(|ended| (ended.signal(), ended.code())) {
        Some((Some(signal), _)) => format!("was killed by signal {signal}"),
        Some((None, Some(code))) => format!("ended with exit code {code}"),
        _ => "ended".to_owned(),
    }
}
