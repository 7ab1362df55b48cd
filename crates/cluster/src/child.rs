//! A child: some of the workers of a run, for a coordinator on the other end of its pipes.

use crate::message::{self, Command, FromChild, Job, PROTOCOL, Ready, ToChild};
use loadline_engine::{Crew, Handle, Launch, Order, Told};
use loadline_plan::Plan;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// From one heartbeat to the next.
const HEARTBEAT: Duration = Duration::from_millis(100);

/// Why a child could not do its part.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// Nobody told it what to do.
    #[error("this command is for Loadline itself, which starts it for --processes")]
    NoCoordinator,
    /// The coordinator said something else than was due.
    #[error("the coordinator sent another message than was due")]
    OutOfTurn,
    /// The coordinator is gone, or sends what is no message.
    #[error("the coordinator can't be heard: {0}")]
    Pipe(#[from] io::Error),
}

/// Does the part of a child, and returns at the end of the run; earlier if the coordinator is gone.
/// `launches` makes the users of a job, one launch for each scenario of the plan, or says why it
/// can't; without a job users send the requests of the plan.
///
/// Signals that end a command are the coordinator's to take, which tells its children.
///
/// # Errors
/// If the coordinator can't be understood, or can't be told.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    launches: impl FnOnce(&Plan, &Job) -> Result<Vec<Launch>, String>,
) -> Result<(), ChildError> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    let mut input = BufReader::new(input);
    let voice = Voice::new(output);
    voice.say(&FromChild::Hello { protocol: PROTOCOL })?;
    // A plan with large bodies takes its time to be read.
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
        let crew = Crew::launch(&plan, detail, &launches, workers.clone());
        crew.map_err(|error| error.to_string())
    });
    let crew = match launched {
        Ok(crew) => crew,
        Err(reason) => return Ok(voice.say(&FromChild::Failed { reason })?),
    };
    voice.say(&FromChild::Ready(Ready::from(crew.ready())))?;
    run(crew, workers, input, &voice)
}

/// Runs the load when the coordinator says so, and tells what comes of it.
fn run(
    mut crew: Crew,
    workers: Range<u32>,
    mut input: impl BufRead + Send + 'static,
    voice: &Voice,
) -> Result<(), ChildError> {
    match message::read(&mut input, u64::MAX)? {
        Some(ToChild::StartAt { begin_ns }) => crew.begin(begin_ns),
        // There is no run, as another child can't begin its part.
        None => return Ok(()),
        Some(_) => return Err(ChildError::OutOfTurn),
    }
    let handle = crew.handle();
    let obeying = crew.handle();
    thread::spawn(move || obey(&mut input, &obeying));
    loop {
        let told = match crew.next_report(HEARTBEAT) {
            Told::Report(report) => voice.say(&FromChild::Report(report)),
            Told::Nothing => Ok(()),
            Told::Over => return Ok(voice.say(&FromChild::Done)?),
        };
        voice.hear_beats(workers.clone().map(|worker| crew.beats(worker as usize)));
        if let Err(error) = told {
            handle.abort();
            return Err(error.into());
        }
    }
}

/// Does what the coordinator says until it is gone.
fn obey(input: &mut impl BufRead, handle: &Handle) {
    loop {
        match message::read(input, u64::MAX) {
            Ok(Some(ToChild::Command(Command::Order(Order::Stop)))) => handle.stop(),
            Ok(Some(ToChild::Command(Command::Change(change)))) => {
                handle.carry_out(change);
            }
            // Whatever else comes, there is nobody to report to.
            _ => return handle.abort(),
        }
    }
}

/// Tells the coordinator, from several threads.
#[derive(Clone)]
struct Voice(Arc<Mutex<Said>>);

struct Said {
    output: Box<dyn Write + Send>,
    beats: Vec<u64>,
}

impl Voice {
    fn new(output: impl Write + Send + 'static) -> Voice {
        Voice(Arc::new(Mutex::new(Said {
            output: Box::new(output),
            beats: Vec::new(),
        })))
    }

    fn say(&self, message: &FromChild) -> io::Result<()> {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        message::write(&mut said.output, message)
    }

    /// How often each worker has looked, for the next heartbeat.
    fn hear_beats(&self, beats: impl Iterator<Item = u64>) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.beats = beats.collect();
    }

    /// Says from now on that the process is there. If nobody hears that, the coordinator is gone,
    /// and the process ends whatever it is doing.
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
