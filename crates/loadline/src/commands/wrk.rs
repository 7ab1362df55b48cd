//! `loadline wrk` and `loadline wrk2`: their command lines, run here and reported in their words.
//!
//! Unlike our own runs these have no progress, save nothing and check nothing. An interrupt ends
//! the run at once and the report follows; whatever a run came to, it ends with exit code 0.

mod latencies;
mod refusal;
mod script;

use self::latencies::{Latencies, Reservation};
use crate::conduct;
use crate::exit::Exit;
use crate::interrupt::{Interrupts, Manner};
use crate::publish::print;
use crate::visible::visible;
use anyhow::{Context, Result};
use loadline_dialects::wrk::{Arguments, Rates, Refusal, Repetition, Tool, banner, report};
use loadline_engine::{EndReason, Event, Run, StartError};
use loadline_plan::Plan;
use loadline_record::{Ended, Environment, Header, Summary};
use loadline_script_lua::Script;
use loadline_transport::DialPhase;
use std::ffi::OsString;
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

/// How long to wait for an event at a time.
const PATIENCE: Duration = Duration::from_secs(1);
/// How the originals end if they have no report.
const FAILED: Exit = Exit::Of(1);

/// Runs what these words ask of the tool.
pub(crate) fn run(tool: Tool, words: Vec<OsString>) -> Result<Exit> {
    match Arguments::parse(tool, words) {
        Ok(arguments) => load(&arguments),
        Err(Refusal { stdout, stderr }) => {
            say(&stderr);
            print(&stdout)?;
            Ok(FAILED)
        }
    }
}

/// A run from its arguments to its report.
fn load(arguments: &Arguments) -> Result<Exit> {
    print(&arguments.preface)?;
    say(&arguments.notes);
    let ready = match Ready::of(arguments) {
        Ok(ready) => ready,
        Err(message) => {
            say(&message);
            return Ok(FAILED);
        }
    };
    ready.run(arguments)
}

/// What is to be run, everything checked that can be before a connection is made.
struct Ready {
    plan: Plan,
    script: Option<Script>,
    /// What is sent if there is no script.
    repetition: Repetition,
    latencies: Reservation,
}

impl Ready {
    /// # Errors
    /// The message for stderr.
    fn of(arguments: &Arguments) -> Result<Self, String> {
        let plan = arguments.plan()?;
        plan.validate().map_err(|problem| format!("{problem}\n"))?;
        let repetition = arguments
            .repetition()
            .map_err(|problem| format!("{problem}\n"))?;
        Ok(Ready {
            repetition,
            latencies: Reservation::of(arguments).map_err(|error| format!("{error:#}\n"))?,
            script: script::load(arguments)?,
            plan,
        })
    }

    fn run(mut self, arguments: &Arguments) -> Result<Exit> {
        let interrupts = Interrupts::watch(Manner::AtOnce).context("signals can't be watched")?;
        let run = match self.start() {
            Ok(run) => run,
            Err(error) => {
                say(&refusal::of_start(&arguments.place(), &error));
                return Ok(FAILED);
            }
        };
        interrupts.attach(run.handle());
        if let Some(script) = &self.script {
            script.flush();
        }
        print(&banner(arguments))?;
        let latencies = std::mem::take(&mut self.latencies).begin();
        let measured = self.measure(run, arguments.tool, latencies, &interrupts);
        interrupts.detach();
        self.conclude(arguments, &measured)
    }

    /// Begins the run. Where not one TLS handshake succeeds it goes on without: each is counted, as
    /// wrk counts it.
    fn start(&self) -> Result<Run, StartError> {
        match self.start_plan(self.plan.clone()) {
            Err(StartError::Unreachable { error }) if error.phase == DialPhase::Tls => {
                let mut plan = self.plan.clone();
                plan.connection.ahead = false;
                self.start_plan(plan)
            }
            started => started,
        }
    }

    fn start_plan(&self, plan: Plan) -> Result<Run, StartError> {
        if self.script.is_some() {
            return conduct::start(plan, self.script.as_ref(), self.latencies.wants_exchanges());
        }
        let repetition = self.repetition.clone();
        let log = self.latencies.wants_exchanges();
        Run::start_scenario(plan, log, move |_| repetition.clone())
    }

    fn measure(
        &self,
        mut run: Run,
        tool: Tool,
        mut latencies: Latencies,
        interrupts: &Interrupts,
    ) -> Measured {
        let header = Header::new(&self.plan, Environment::read(), SystemTime::now());
        let mut measured = Measured {
            summary: Summary::new(header),
            rates: Rates::new(tool),
            failure: None,
            unwritten: None,
        };
        loop {
            match run.next_event(PATIENCE) {
                Some(Event::Interval(interval)) => measured.summary.observe(&interval),
                Some(Event::Ticks { worker, ticks }) => {
                    for tick in ticks {
                        measured.rates.add(worker, tick.answered, tick.length_ns);
                    }
                }
                Some(Event::Ended { reason, unfinished }) => {
                    let early = interrupts.happened() || reason == EndReason::Stopped;
                    let ended = if early {
                        Ended::Interrupted
                    } else {
                        Ended::Duration
                    };
                    measured.summary.finish(ended, *unfinished);
                    measured.failure = run.failure().map(ToString::to_string);
                    let finished = latencies.finish();
                    measured.unwritten = measured.unwritten.or(finished.err());
                    return measured;
                }
                Some(Event::Log { worker, exchanges }) => {
                    let taken = latencies.take(worker, &exchanges);
                    measured.unwritten = measured.unwritten.or(taken.err());
                }
                None => {}
            }
        }
    }

    /// The report, and what the script adds to it.
    fn conclude(&self, arguments: &Arguments, measured: &Measured) -> Result<Exit> {
        if let Some(script) = &self.script {
            script.flush();
            if let Some(error) = script.failure() {
                say(&refusal::of_panic(&error));
                return Ok(FAILED);
            }
        }
        print(&report(arguments, &measured.summary, &measured.rates))?;
        if let Some(failure) = &measured.failure {
            say(&format!("{failure}\n"));
            return Ok(Exit::Failed);
        }
        if let Some(script) = &self.script
            && let Err(error) = script.done(&script::figures(measured))
        {
            say(&refusal::of_script(&arguments.place(), &error));
            return Ok(FAILED);
        }
        if let Some(error) = &measured.unwritten {
            say(&format!("the files of latencies are not whole: {error}\n"));
            return Ok(FAILED);
        }
        Ok(Exit::Good)
    }
}

/// What a run came to.
struct Measured {
    summary: Summary,
    rates: Rates,
    /// Why a worker was lost, if one was.
    failure: Option<String>,
    /// Why a file of latencies is not whole, if one is not.
    unwritten: Option<io::Error>,
}

/// Where stderr is closed nobody wants to know.
fn say(text: &str) {
    let _ = io::stderr().write_all(visible(text).as_bytes());
}
