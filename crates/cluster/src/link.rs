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

/// How long a child may say nothing. It says that it is there ten times a second.
pub const MOST_SILENCE: Duration = Duration::from_secs(3);

/// The longest message of a child. An interval of 2 000 names has some megabytes.
const MOST_TOLD: u64 = 256 << 20;

/// Which child it is, and which of the plan's workers are its own.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// From 0.
    pub(crate) index: u32,
    pub(crate) of: u32,
    pub(crate) workers: Range<u32>,
    /// All workers of the plan, and its scenarios.
    pub(crate) threads: u32,
    pub(crate) scenarios: usize,
    /// Reads the tallies of its workers, if they have any.
    pub(crate) tallies: Option<TallyCodec>,
}

/// What came of a child's start.
pub(crate) type Started = Result<Ready, String>;

/// A child and what is known of it.
pub(crate) struct Link {
    part: Part,
    state: Arc<Mutex<State>>,
    /// What is to be written to it, by a thread that may have to wait for it.
    input: Option<Sender<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
    /// How often it had been heard when that was last looked at, and for how long not since.
    heard: u64,
    silent: Duration,
}

struct State {
    child: Child,
    /// How many messages came.
    heard: u64,
    /// Whether it has said its last word, or nothing more is wanted of it.
    is_done: bool,
    /// Why it was ended, if it was.
    reason: Option<String>,
    /// What is lost with it, once it is gone.
    lost: Option<WorkerFailure>,
}

impl Link {
    /// Starts to listen to a child. What comes of its start goes to `started`, with its index; what
    /// its workers tell goes to the inlet, which is there when the load begins.
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

    /// Tells the child something. One that is gone is found by its own silence.
    pub(crate) fn tell(&mut self, message: &ToChild) {
        let mut bytes = Vec::new();
        if let (Some(input), Ok(())) = (&self.input, message::write(&mut bytes, message)) {
            let _ = input.send(bytes);
        }
    }

    pub(crate) fn command(&mut self, command: Command) {
        self.tell(&ToChild::Command(command));
    }

    /// Tells the inlet if the child was lost before that was there.
    pub(crate) fn tell_loss(&self, inlet: &Inlet) {
        if let Some(failure) = &lock(&self.state).lost {
            inlet.lose(self.part.workers.clone(), failure);
        }
    }

    pub(crate) fn workers(&self) -> Range<u32> {
        self.part.workers.clone()
    }

    /// Ends the child if it has been silent for too long, after another wait of this length. Waits
    /// are added up, as a coordinator that was stopped itself has heard nobody either.
    pub(crate) fn miss_if_silent(&mut self, waited: Duration) {
        let mut state = lock(&self.state);
        if std::mem::replace(&mut self.heard, state.heard) != state.heard || state.is_done {
            self.silent = Duration::ZERO;
            return;
        }
        self.silent += waited;
        if self.silent >= MOST_SILENCE {
            let seconds = MOST_SILENCE.as_secs();
            state.end_for(format!("said nothing for {seconds} s and was ended"));
            self.silent = Duration::ZERO;
        }
    }
}

impl Drop for Link {
    /// Nothing more is wanted of the child.
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
    /// Ends the child for this reason, unless it was ended before.
    fn end_for(&mut self, reason: String) {
        self.reason.get_or_insert(reason);
        let _ = self.child.kill();
    }
}

/// Writes to a child on a thread of its own, until nothing more is to be written or it is gone.
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

/// Hears what a child says, on a thread of its own.
struct Listener {
    part: Part,
    state: Arc<Mutex<State>>,
    inlet: Arc<OnceLock<Inlet>>,
    /// Who waits for its start.
    started: Option<Sender<(u32, Started)>>,
    /// Up to when each of its workers has told of its load.
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

    /// It has said its last word.
    fn ends_well(mut self) {
        self.has_started(Err("ended before its connections were up".to_owned()));
        lock(&self.state).is_done = true;
        let _ = self.wait();
    }

    /// It has closed its output without a last word.
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
        // Whoever makes the inlet looks for this behind that.
        lock(&self.state).lost = Some(failure.clone());
        self.with_inlet(|inlet| inlet.lose(self.part.workers.clone(), &failure));
    }

    /// Waits until the process has ended: it has closed its output.
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
