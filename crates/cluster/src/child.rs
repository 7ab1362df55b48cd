//! A child: some of the workers of a run, for a coordinator at the other end of its pipes.

use crate::message::{self, Command, FromChild, Job, PROTOCOL, Ready, ToChild};
use loadline_engine::{Handle, Launch, LocalWorkers, NextReport, Order};
use loadline_plan::Plan;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The time between two heartbeats.
const HEARTBEAT: Duration = Duration::from_millis(100);

/// The reason why a child could not do its part.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// No coordinator sent an assignment.
    #[error("this command is for Loadline itself, which starts it for --processes")]
    NoCoordinator,
    /// The coordinator sent another message than the one that was due.
    #[error("the coordinator sent another message than was due")]
    OutOfTurn,
    /// The coordinator is gone, or sent an invalid message.
    #[error("the coordinator can't be heard: {0}")]
    Pipe(#[from] io::Error),
}

/// Does the part of a child, and returns at the end of the run; earlier if the coordinator is gone.
/// `launches` creates the users of a job, one launch for each scenario of the plan, or returns the
/// reason why it can't; without a job users send the requests of the plan.
///
/// Signals that end a command are ignored: the coordinator handles them, and sends commands to its
/// children.
///
/// # Errors
/// If a message of the coordinator is invalid, or can't be sent to it.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    launches: impl FnOnce(&Plan, &Job) -> Result<Vec<Launch>, String>,
) -> Result<(), ChildError> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    let mut input = BufReader::new(input);
    let voice = ToCoordinator::new(output);
    voice.say(&FromChild::Hello { protocol: PROTOCOL })?;
    // A plan with large bodies takes a while to read.
    voice.beat();
    let assigned = message::read(&mut input, u64::MAX);
    let Ok(Some(ToChild::Assign {
        mut plan,
        bodies,
        lines,
        job,
        detail,
        workers,
    })) = assigned
    else {
        return Err(ChildError::NoCoordinator);
    };
    bodies.put_into(&mut plan)?;
    if let Some(list) = &mut plan.list {
        list.lines = lines.map(|lines| Arc::new(*lines));
    }
    let launches = match &job {
        None => Ok(Launch::of_plan(&plan)),
        Some(job) => launches(&plan, job),
    };
    let launched = launches.and_then(|launches| {
        let local = LocalWorkers::launch(&plan, detail, &launches, workers.clone());
        local.map_err(|error| error.to_string())
    });
    let local = match launched {
        Ok(local) => local,
        Err(reason) => return Ok(voice.say(&FromChild::Failed { reason })?),
    };
    voice.say(&FromChild::Ready(Ready::from(local.ready())))?;
    run(local, workers, input, &voice)
}

/// Runs the load when the coordinator orders it, and sends its reports.
fn run(
    mut local: LocalWorkers,
    workers: Range<u32>,
    mut input: impl BufRead + Send + 'static,
    voice: &ToCoordinator,
) -> Result<(), ChildError> {
    match message::read(&mut input, u64::MAX)? {
        Some(ToChild::StartAt { begin_ns }) => local.begin(begin_ns),
        // There is no run, because another child can't begin its part.
        None => return Ok(()),
        Some(_) => return Err(ChildError::OutOfTurn),
    }
    let handle = local.handle();
    let obeying = local.handle();
    thread::spawn(move || obey(&mut input, &obeying));
    loop {
        let told = match local.next_report(HEARTBEAT) {
            NextReport::Report(report) => voice.say(&FromChild::Report(report)),
            NextReport::Nothing => Ok(()),
            NextReport::Over => return Ok(voice.say(&FromChild::Done)?),
        };
        voice.hear_beats(workers.clone().map(|worker| local.beats(worker as usize)));
        if let Err(error) = told {
            handle.abort();
            return Err(error.into());
        }
    }
}

/// Obeys the coordinator's commands until it is gone.
fn obey(input: &mut impl BufRead, handle: &Handle) {
    loop {
        match message::read(input, u64::MAX) {
            Ok(Some(ToChild::Command(Command::Order(Order::Stop)))) => handle.stop(),
            Ok(Some(ToChild::Command(Command::Change(change)))) => {
                handle.carry_out(change);
            }
            // After anything else, there is no coordinator to report to.
            _ => return handle.abort(),
        }
    }
}

/// Sends messages to the coordinator, from several threads.
#[derive(Clone)]
struct ToCoordinator(Arc<Mutex<Channel>>);

struct Channel {
    output: Box<dyn Write + Send>,
    beats: Vec<u64>,
}

impl ToCoordinator {
    fn new(output: impl Write + Send + 'static) -> ToCoordinator {
        ToCoordinator(Arc::new(Mutex::new(Channel {
            output: Box::new(output),
            beats: Vec::new(),
        })))
    }

    fn say(&self, message: &FromChild) -> io::Result<()> {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        message::write(&mut said.output, message)
    }

    /// Stores the number of times that each worker has checked its orders, for the next heartbeat.
    fn hear_beats(&self, beats: impl Iterator<Item = u64>) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.beats = beats.collect();
    }

    /// Starts to send heartbeats. If they can't be sent, the coordinator is gone, and the process
    /// exits whatever it is doing.
    fn beat(&self) {
        let voice = self.clone();
        thread::spawn(move || {
            loop {
                let beats = {
                    let said = voice.0.lock().unwrap_or_else(PoisonError::into_inner);
                    said.beats.clone()
                };
                if voice.say(&FromChild::Heartbeat { beats }).is_err() {
                    std::process::exit(1);
                }
                thread::sleep(HEARTBEAT);
            }
        });
    }
}
