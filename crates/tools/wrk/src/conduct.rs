//! A command of wrk or wrk2, from its words to its exit code.
//!
//! Unlike Loadline's own runs, these show no progress, save nothing and check nothing. An interrupt
//! ends the run at once and the report follows; a run that was made ends with exit code 0, whatever
//! it measured.

use super::latencies::{Latencies, Reservation};
use super::rate_tally::RateTally;
use super::{Arguments, Rates, Refusal, Repetition, Tool, banner, report};
use super::{refusal, script};
use loadline_engine::{AnyTally, Launch, StartError, Tally};
use loadline_plan::Plan;
use loadline_record::{Exchange, Header, Summary};
use loadline_runner::{
    Command, Commands, Conducted, End, Interests, Observed, Observer, OnError, RunError, Setup,
    Source, Watch, Workload, conduct, start_counting,
};
use loadline_script_lua::Script;
use loadline_tool_host::{Host, Stream};
use loadline_transport::DialPhase;
use loadline_units::visible;
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};

/// The exit code of the originals if they have no report.
const FAILED: u8 = 1;
/// The exit code if Loadline itself could not make a run, or lost a part of it.
const BROKEN: u8 = 2;

/// Runs the command with these words after its name; returns its exit code.
pub fn run(tool: Tool, words: &[String], host: Host) -> u8 {
    let (stdout, stderr) = (io::sink(), io::sink());
    let mut host = host;
    let mut console = Console {
        stdout: std::mem::replace(&mut host.stdout, Box::new(stdout)),
        stderr: std::mem::replace(&mut host.stderr, Box::new(stderr)),
    };
    let ran = match Arguments::parse(tool, words.iter().map(OsString::from)) {
        Ok(arguments) => load(&arguments, &host, &mut console),
        Err(Refusal { stdout, stderr }) => {
            console.print_error(&stderr);
            console.print(&stdout).map(|()| FAILED)
        }
    };
    ran.unwrap_or_else(|problem| {
        console.print_error(&format!("loadline: {problem}\n"));
        BROKEN
    })
}

/// The output of a command.
pub(super) struct Console {
    stdout: Stream,
    stderr: Stream,
}

impl Console {
    /// Prints to standard output. A reader that has gone is not an error.
    ///
    /// # Errors
    /// The sentence for an output that can't be written.
    fn print(&mut self, text: &str) -> Result<(), String> {
        let written = self.stdout.write_all(text.as_bytes());
        match written.and_then(|()| self.stdout.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(format!("stdout can't be written: {error}."))
            }
            _ => Ok(()),
        }
    }

    /// Prints to standard error. If it is closed, there is no other output for problems.
    pub(super) fn print_error(&mut self, text: &str) {
        let _ = self.stderr.write_all(visible(text).as_bytes());
    }
}

/// Returns an error with those of its causes that it does not name itself.
fn sentence(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let reason = cause.to_string();
        if !text.contains(&reason) {
            text = format!("{text}: {}.", reason.trim_end_matches('.'));
        }
        next = cause.source();
    }
    text
}

/// Makes a run, from its arguments to its report; returns the exit code.
///
/// # Errors
/// The sentence for a run that Loadline could not make, and for output that is lost.
fn load(arguments: &Arguments, host: &Host, console: &mut Console) -> Result<u8, String> {
    console.print(&arguments.preface)?;
    console.print_error(&arguments.notes);
    match Ready::of(arguments, host.processes, console) {
        Ok(ready) => ready.run(arguments, host, console),
        Err(message) => {
            console.print_error(&message);
            Ok(FAILED)
        }
    }
}

/// A run in which everything is checked that can be before a connection is made.
struct Ready {
    plan: Plan,
    users: Users,
    latencies: Reservation,
}

impl Ready {
    /// # Errors
    /// The message for stderr.
    fn of(arguments: &Arguments, processes: u32, console: &mut Console) -> Result<Self, String> {
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
            latencies: Reservation::of(arguments)
                .map_err(|error| format!("{error}: {}\n", error.source))?,
            users: Users {
                tool: arguments.tool,
                script: script::load(arguments, processes, console)?,
                repetition,
            },
            plan,
        })
    }

    fn run(self, arguments: &Arguments, host: &Host, console: &mut Console) -> Result<u8, String> {
        let commands = &host.commands;
        let mut page = host.page()?;
        let Ready {
            plan,
            users,
            latencies,
        } = self;
        let mut recorder = Recorder {
            arguments,
            users: &users,
            console,
            commands: commands.clone(),
            reservation: Some(latencies),
            latencies: Latencies::default(),
            rates: Rates::default(),
            unwritten: None,
            unprinted: None,
        };
        let watch = Watch::of_target();
        let setup = Setup {
            watch: Some(&watch).filter(|_| page.is_some()),
            ..Setup::of(&plan)
        };
        let mut observers: Vec<&mut dyn Observer> = vec![&mut recorder];
        if let Some(page) = &mut page {
            observers.push(page.as_mut());
        }
        let conducted = conduct(&setup, &users, commands, &mut observers);
        drop(page);
        let Conducted { result, trouble } = match conducted {
            Ok(conducted) => conducted,
            Err(RunError::Start(error)) => {
                console.print_error(&refusal::of_start(&arguments.place(), &error));
                return Ok(FAILED);
            }
            Err(error) => return Err(sentence(&error)),
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
        users.end(arguments, &measured, console)
    }
}

/// Refuses more processes than can run these arguments.
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
    Ok(())
}

/// The users of a run.
struct Users {
    tool: Tool,
    script: Option<Script>,
    /// The request if there is no script.
    repetition: Repetition,
}

impl Workload for Users {
    /// Starts the load. If all TLS handshakes fail, the run continues without connections: each
    /// failure is counted, as in wrk.
    fn start(&self, plan: Plan, interests: Interests) -> Result<Box<dyn Source>, StartError> {
        match self.start_plan(plan.clone(), interests) {
            Err(StartError::Unreachable { error }) if error.phase == DialPhase::Tls => {
                let mut plan = plan;
                plan.connection.ahead = false;
                self.start_plan(plan, interests)
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
    fn start_plan(&self, plan: Plan, interests: Interests) -> Result<Box<dyn Source>, StartError> {
        let tool = self.tool;
        let launch = match &self.script {
            Some(script) => {
                let users = script.scenarios();
                Launch::scenario(move |worker| RateTally::users(tool, users(worker)))
            }
            None => self.repetition.launch(tool),
        };
        let job = || {
            let script = self.script.as_ref().map(Script::pack).transpose();
            self.repetition.job(tool, script.map_err(io::Error::other)?)
        };
        start_counting(plan, interests, launch, job, Rates::codec())
    }

    /// Takes the error that the script raised in another process, if these rates have one.
    fn raise(&self, rates: &Rates) {
        if let (Some(script), Some(error)) = (&self.script, &rates.raised) {
            script.raise(error.clone());
        }
    }

    /// Prints the report, and the script's additions to it; returns the exit code.
    fn end(
        &self,
        arguments: &Arguments,
        measured: &Measured,
        console: &mut Console,
    ) -> Result<u8, String> {
        if let Some(error) = self.script.as_ref().and_then(Script::failure) {
            console.print_error(&refusal::of_panic(&error));
            return Ok(FAILED);
        }
        if !measured.summary.lacks_figures() {
            console.print(&report(arguments, &measured.summary, &measured.rates))?;
        }
        if let Some(failure) = &measured.failure {
            console.print_error(&format!("{failure}\n"));
            return Ok(BROKEN);
        }
        if let Some(script) = &self.script
            && let Err(error) = script.done(&script::figures(measured))
        {
            console.print_error(&refusal::of_script(&arguments.place(), &error));
            return Ok(FAILED);
        }
        if let Some(error) = &measured.unwritten {
            console.print_error(&format!("the latency files are incomplete: {error}\n"));
            return Ok(FAILED);
        }
        Ok(0)
    }
}

/// Prints the banner when the load begins, and records what only the tool's report needs.
struct Recorder<'a> {
    arguments: &'a Arguments,
    users: &'a Users,
    console: &'a mut Console,
    commands: Commands,
    reservation: Option<Reservation>,
    latencies: Latencies,
    rates: Rates,
    /// The reason why a file of latencies is not whole, if one is not.
    unwritten: Option<io::Error>,
    /// Why the banner could not be printed, if it could not.
    unprinted: Option<String>,
}

impl Observer for Recorder<'_> {
    fn interests(&self) -> Interests {
        let reservation = self.reservation.as_ref();
        Interests {
            exchanges: reservation.is_some_and(Reservation::needs_exchanges),
            ..Interests::default()
        }
    }

    fn begun(&mut self, _: &Header) -> Observed {
        self.users.flush();
        if let Err(error) = self.console.print(&banner(self.arguments)) {
            self.unprinted = Some(error);
            self.commands.send(Command::Abort);
        }
        self.latencies = self.reservation.take().unwrap_or_default().begin();
        Ok(())
    }

    fn tally(&mut self, tally: &AnyTally) -> Observed {
        if let Some(rates) = tally.get::<Rates>() {
            self.users.raise(rates);
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

/// The results of a run.
pub(super) struct Measured {
    pub(super) summary: Summary,
    pub(super) rates: Rates,
    /// Why a worker was lost, if one was.
    failure: Option<String>,
    /// The reason why a file of latencies is not whole, if one is not.
    unwritten: Option<io::Error>,
}
