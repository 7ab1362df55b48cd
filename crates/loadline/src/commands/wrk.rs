//! `loadline wrk` and `loadline wrk2`: their command lines, run here and reported in their words.
//!
//! Unlike our own runs, these show no progress, save nothing and check nothing. An interrupt ends
//! the run at once and the report follows; whatever a run came to, it ends with exit code 0.

mod latencies;
mod refusal;
mod script;

use self::latencies::{Latencies, Reservation};
use crate::exit::Exit;
use crate::interrupt::{Interrupts, Manner};
use crate::publish::print;
use crate::visible::visible;
use anyhow::Result;
use loadline_dialects::wrk::{
    Arguments, Rates, Refusal, Repetition, Sampled, Tool, banner, report,
};
use loadline_engine::{AnyTally, Launch, StartError, Tally};
use loadline_plan::Plan;
use loadline_record::{Exchange, Header, Summary};
use loadline_runner::{
    Command, Commands, Conducted, End, Observed, Observer, OnError, RunError, Setup, Source, Wants,
    Workload, conduct, start_counting,
};
use loadline_script_lua::Script;
use loadline_transport::DialPhase;
use std::ffi::OsString;
use std::io::{self, Write};

/// The exit of the originals if they have no report.
const FAILED: Exit = Exit::Of(1);

/// Runs what these words ask of the tool, on so many processes.
pub(crate) fn run(tool: Tool, words: Vec<OsString>, processes: u32) -> Result<Exit> {
    match Arguments::parse(tool, words) {
        Ok(arguments) => load(&arguments, processes),
        Err(Refusal { stdout, stderr }) => {
            say(&stderr);
            print(&stdout)?;
            Ok(FAILED)
        }
    }
}

/// A run from its arguments to its report.
fn load(arguments: &Arguments, processes: u32) -> Result<Exit> {
    print(&arguments.preface)?;
    say(&arguments.notes);
    let ready = match Ready::of(arguments, processes) {
        Ok(ready) => ready,
        Err(message) => {
            say(&message);
            return Ok(FAILED);
        }
    };
    ready.run(arguments)
}

/// The run, with everything checked that can be before a connection is made.
struct Ready {
    plan: Plan,
    users: Users,
    latencies: Reservation,
}

impl Ready {
    /// # Errors
    /// The message for stderr.
    fn of(arguments: &Arguments, processes: u32) -> Result<Self, String> {
        refuse_processes(arguments, processes)?;
        let plan = Plan {
            processes,
            ..arguments.plan()?
        };
        plan.validate().map_err(|problem| format!("{problem}\n"))?;
        let repetition = arguments
            .repetition()
            .map_err(|problem| format!("{problem}\n"))?;
        Ok(Ready {
            latencies: Reservation::of(arguments).map_err(|error| format!("{error:#}\n"))?,
            users: Users {
                tool: arguments.tool,
                script: script::load(arguments)?,
                repetition,
            },
            plan,
        })
    }

    fn run(self, arguments: &Arguments) -> Result<Exit> {
        let Ready {
            plan,
            users,
            latencies,
        } = self;
        let commands = Commands::default();
        let _interrupts = Interrupts::watch(Manner::AtOnce, &commands)?;
        let mut recorder = Recorder::new(arguments, &users, latencies, commands.clone());
        let conducted = conduct(&Setup::of(&plan), &users, &commands, &mut [&mut recorder]);
        let Conducted { result, trouble } = match conducted {
            Ok(conducted) => conducted,
            Err(RunError::Start(error)) => {
                say(&refusal::of_start(&arguments.place(), &error));
                return Ok(FAILED);
            }
            Err(error) => return Err(error.into()),
        };
        let Recorder {
            rates,
            unwritten,
            unprinted,
            ..
        } = recorder;
        if let Some(error) = unprinted {
            return Err(error);
        }
        let measured = Measured {
            failure: trouble.map(|trouble| trouble.to_string()),
            summary: result.summary,
            rates,
            unwritten,
        };
        users.end(arguments, &measured)
    }
}

/// Refuses the options that can't run on so many processes.
///
/// # Errors
/// The message for stderr.
fn refuse_processes(arguments: &Arguments, processes: u32) -> Result<(), String> {
    let threads = arguments.threads;
    if processes > threads {
        return Err(format!(
            "--processes {processes} needs as many threads, and -t {threads} are fewer; give more \
             of -t, or fewer processes.\n"
        ));
    }
    match processes > 1 && arguments.script.is_some() {
        true => Err("a script runs in one process; leave out -s, or --processes.\n".to_owned()),
        false => Ok(()),
    }
}

/// The users of the tool.
struct Users {
    tool: Tool,
    script: Option<Script>,
    /// The request if there is no script.
    repetition: Repetition,
}

impl Workload for Users {
    /// Starts the load. If all TLS handshakes fail, the run continues without connections: each
    /// failure is counted, as in wrk.
    fn start(&self, plan: Plan, wants: Wants) -> Result<Box<dyn Source>, StartError> {
        match self.start_plan(plan.clone(), wants) {
            Err(StartError::Unreachable { error }) if error.phase == DialPhase::Tls => {
                let mut plan = plan;
                plan.connection.ahead = false;
                self.start_plan(plan, wants)
            }
            started => started,
        }
    }

    fn on_error(&self, act: OnError) {
        if let Some(script) = &self.script {
            script.on_error(act);
        }
    }

    fn flush(&self) {
        if let Some(script) = &self.script {
            script.flush();
        }
    }
}

impl Users {
    fn start_plan(&self, plan: Plan, wants: Wants) -> Result<Box<dyn Source>, StartError> {
        let tool = self.tool;
        let launch = match &self.script {
            Some(script) => {
                let users = script.scenarios();
                Launch::scenario(move |worker| Sampled::new(tool, users(worker)))
            }
            None => self.repetition.launch(tool),
        };
        let job = || self.repetition.job(tool);
        start_counting(plan, wants, launch, job, Rates::codec())
    }

    /// The report, and what the script adds to it.
    fn end(&self, arguments: &Arguments, measured: &Measured) -> Result<Exit> {
        if let Some(error) = self.script.as_ref().and_then(Script::failure) {
            say(&refusal::of_panic(&error));
            return Ok(FAILED);
        }
        if !measured.summary.lacks_figures() {
            print(&report(arguments, &measured.summary, &measured.rates))?;
        }
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
            say(&format!("the latency files are incomplete: {error}\n"));
            return Ok(FAILED);
        }
        Ok(Exit::Good)
    }
}

/// Prints the banner when the load begins, and records what only the tool's report needs.
struct Recorder<'a> {
    arguments: &'a Arguments,
    users: &'a Users,
    commands: Commands,
    reservation: Option<Reservation>,
    latencies: Latencies,
    rates: Rates,
    /// The reason why a file of latencies is not whole, if one is not.
    unwritten: Option<io::Error>,
    /// The reason why the banner could not be printed, if it could not.
    unprinted: Option<anyhow::Error>,
}

impl<'a> Recorder<'a> {
    fn new(
        arguments: &'a Arguments,
        users: &'a Users,
        reservation: Reservation,
        commands: Commands,
    ) -> Self {
        Recorder {
            arguments,
            users,
            commands,
            reservation: Some(reservation),
            latencies: Latencies::default(),
            rates: Rates::default(),
            unwritten: None,
            unprinted: None,
        }
    }
}

impl Observer for Recorder<'_> {
    fn wants(&self) -> Wants {
        let reservation = self.reservation.as_ref();
        Wants {
            exchanges: reservation.is_some_and(Reservation::wants_exchanges),
            ..Wants::default()
        }
    }

    fn begun(&mut self, _: &Header) -> Observed {
        self.users.flush();
        if let Err(error) = print(&banner(self.arguments)) {
            self.unprinted = Some(error);
            self.commands.send(Command::Abort);
        }
        self.latencies = self.reservation.take().unwrap_or_default().begin();
        Ok(())
    }

    fn tally(&mut self, tally: &AnyTally) -> Observed {
        if let Some(rates) = tally.get::<Rates>() {
            self.rates.merge(rates.clone());
        }
        Ok(())
    }

    fn exchanges(&mut self, worker: usize, exchanges: &[Exchange]) -> Observed {
        let taken = self.latencies.take(worker, exchanges);
        self.unwritten = self.unwritten.take().or(taken.err());
        Ok(())
    }

    fn ended(&mut self, _: &End<'_>) -> Observed {
        let finished = self.latencies.finish();
        self.unwritten = self.unwritten.take().or(finished.err());
        Ok(())
    }
}

/// The measurements of a run.
struct Measured {
    summary: Summary,
    rates: Rates,
    /// The reason why a worker was lost, if one was.
    failure: Option<String>,
    /// The reason why a file of latencies is not whole, if one is not.
    unwritten: Option<io::Error>,
}

/// Writes to stderr. Errors are ignored: if stderr is closed, nobody reads it.
fn say(text: &str) {
    let _ = io::stderr().write_all(visible(text).as_bytes());
}
