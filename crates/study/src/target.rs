//! A running target: started, checked, reset, stopped.

use crate::command::{BackendLocation, Blanks, Words};
use crate::events::{Event, Events};
use crate::output::{excerpt, informative_line};
use crate::problem::{FileError, Problem};
use crate::process::{Launch, Process, ending};
use crate::saved::Warmed;
use crate::study::{Command, Cores, Study, Target};
use loadline_reactor::look_up;
use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// The interval of the checks whether a target serves.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The longest time for the preparation of a target: compilers need time.
const PREPARATION_TIMEOUT: Duration = Duration::from_secs(3_600);
/// The exit code by which a command that prepares a target reports that this machine can't have it;
/// as in Automake, which skips tests that return it.
const LEFT_OUT: i32 = 77;
/// The most of a command's output that is looked at for a message.
const MOST_OUTPUT: u64 = 64 << 10;

/// The reason why a target is not available.
#[derive(Debug)]
pub(crate) enum NoTarget {
    /// The user interrupted the study.
    Interrupted,
    /// The target is wrong, or one of its commands failed.
    Refused(FileError),
}

impl From<FileError> for NoTarget {
    fn from(error: FileError) -> Self {
        NoTarget::Refused(error)
    }
}

/// The result of preparing a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Prepared {
    /// It can be started.
    Ready,
    /// It can't be had on this machine, for this reason.
    LeftOut(String),
}

/// The reason why a command did not succeed.
enum Failure {
    TookTooLong,
    Ended(ExitStatus),
    Unknown(std::io::Error),
}

/// A target that serves.
#[derive(Debug)]
pub(crate) struct Serving<'a> {
    study: &'a Study,
    target: &'a Target,
    port: u16,
    folder: PathBuf,
    url: String,
    /// The locations of the backends.
    backends: Vec<BackendLocation>,
    /// Its process, unless it ran before or went to the background.
    process: Option<Process>,
    /// True between its start and its stop.
    is_up: bool,
    /// The warm-up of the target, if there was one.
    pub(crate) warmed: Option<Warmed>,
}

impl<'a> Serving<'a> {
    /// Starts a target and waits until it serves. Its files are written to `folder`.
    pub(crate) fn start(
        study: &'a Study,
        target: &'a Target,
        folder: &Path,
        backends: Vec<BackendLocation>,
        events: &Events,
    ) -> Result<Serving<'a>, NoTarget> {
        let mut serving = Serving::new(study, target, folder, backends)?;
        serving.write_files()?;
        if let Some(start) = &target.start {
            serving.process = Some(serving.launch(start, events)?);
        }
        serving.is_up = true;
        serving.wait(events)?;
        Ok(serving)
    }

    /// Runs the command of a target that builds what is to be served, if it has one.
    pub(crate) fn prepare(
        study: &'a Study,
        target: &'a Target,
        folder: &Path,
        events: &Events,
    ) -> Result<Prepared, NoTarget> {
        let Some(prepare) = &target.prepare else {
            return Ok(Prepared::Ready);
        };
        let serving = Serving::new(study, target, folder, Vec::new())?;
        serving.write_files()?;
        // Nothing is measured yet: all cores may build.
        let process = serving.launch_on(prepare, None, events)?;
        match serving.see_through(process, PREPARATION_TIMEOUT, events)? {
            Ok(()) => Ok(Prepared::Ready),
            Err(Failure::Ended(status)) if status.code() == Some(LEFT_OUT) => {
                Ok(Prepared::LeftOut(serving.last_line()))
            }
            Err(failure) => {
                let failed = Problem::CommandFailed(serving.phrase(failure));
                Err(study.refuse(prepare.line, failed).into())
            }
        }
    }

    /// One that does not run yet, with a port of its own.
    fn new(
        study: &'a Study,
        target: &'a Target,
        folder: &Path,
        backends: Vec<BackendLocation>,
    ) -> Result<Serving<'a>, FileError> {
        let refuse = |problem| study.refuse(target.line, problem);
        let port = free_port().map_err(|error| refuse(Problem::Value(error.to_string())))?;
        Ok(Serving {
            study,
            target,
            port,
            folder: folder.to_owned(),
            url: target.url.replace("{port}", &port.to_string()),
            backends,
            process: None,
            is_up: false,
            warmed: None,
        })
    }

    /// Returns its location, for the commands of others.
    pub(crate) fn place(&self) -> BackendLocation {
        BackendLocation {
            name: self.target.name.clone(),
            port: self.port,
            folder: self.folder.clone(),
        }
    }

    /// Returns the name of the target.
    pub(crate) fn name(&self) -> &'a str {
        &self.target.name
    }

    /// The line of the file where it stands.
    pub(crate) fn line(&self) -> usize {
        self.target.line
    }

    /// Returns the folder with its files.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the URL of the requests.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the process identifier of the target, if it was started here and still runs.
    pub(crate) fn pid(&self) -> Option<u32> {
        let running = self.process.as_ref().filter(|process| !process.has_ended());
        running.map(Process::pid)
    }

    /// True if it was started here and has ended, without a stop command that could explain it.
    pub(crate) fn is_gone(&self) -> bool {
        let ended = self.process.as_ref().is_some_and(Process::has_ended);
        ended && self.target.stop.is_none()
    }

    /// Returns the address that it listens at.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        let url = self.url.parse::<loadline_plan::Target>().ok()?.url;
        let port = url.port_or_known_default()?;
        let found = look_up(url.host_str()?.trim_matches(['[', ']']), port);
        found.ok()?.into_iter().next()
    }

    /// Runs the command between two runs.
    pub(crate) fn reset(&self, events: &Events) -> Result<(), NoTarget> {
        match &self.target.reset {
            Some(reset) => self.succeed(reset, events),
            None => Ok(()),
        }
    }

    /// Stops the target. A process that its own command does not stop is ended.
    pub(crate) fn stop(mut self) -> Result<(), NoTarget> {
        self.end()
    }

    fn end(&mut self) -> Result<(), NoTarget> {
        if !std::mem::take(&mut self.is_up) {
            return Ok(());
        }
        // An interrupt must not leave it running.
        let unheard = Events::default();
        let stopped = match &self.target.stop {
            Some(stop) => self.succeed(stop, &unheard),
            None => Ok(()),
        };
        if let Some(process) = &mut self.process {
            // It has ended; its exit status does not matter.
            let _ = process.end();
        }
        stopped
    }

    fn write_files(&self) -> Result<(), FileError> {
        let refuse = |error: std::io::Error| {
            let problem = format!("{} can't be written: {error}", self.folder.display());
            self.study.refuse(self.target.line, Problem::Value(problem))
        };
        fs::create_dir_all(&self.folder).map_err(refuse)?;
        for (name, text) in &self.target.files {
            fs::write(self.folder.join(name), self.blanks().fill(text)).map_err(refuse)?;
        }
        Ok(())
    }

    fn blanks(&self) -> Blanks<'_> {
        Blanks {
            port: self.port,
            folder: &self.folder,
            url: &self.url,
            backends: &self.backends,
        }
    }

    fn launch(&self, command: &Command, events: &Events) -> Result<Process, FileError> {
        let cores = self.target.cores.as_ref();
        self.launch_on(command, cores.or(self.study.pin.targets.as_ref()), events)
    }

    fn launch_on(
        &self,
        command: &Command,
        cores: Option<&Cores>,
        events: &Events,
    ) -> Result<Process, FileError> {
        let Words { program, arguments } = self.study.command(command, &self.blanks())?;
        let start = || {
            let launch = Launch {
                program: &program,
                arguments: &arguments,
                folder: &self.study.folder(),
                cores,
                stdout: File::create(self.log())?,
                stderr: File::options().append(true).open(self.log())?,
            };
            Process::start(launch, events.sender())
        };
        start().map_err(|error| {
            let problem = format!("{} can't be started: {error}", program.display());
            self.study.refuse(command.line, Problem::Value(problem))
        })
    }

    /// Returns the file with the output of its last command.
    fn log(&self) -> PathBuf {
        self.folder.join("output.log")
    }

    /// Waits until the target serves.
    fn wait(&self, events: &Events) -> Result<(), NoTarget> {
        let until = Instant::now() + self.target.start_timeout;
        loop {
            if self.is_gone() {
                return Err(self
                    .refuse(Problem::TargetEnded(self.last_output_line()))
                    .into());
            }
            if self.serves(events)? {
                return Ok(());
            }
            if Instant::now() >= until {
                return Err(self.refuse(self.no_answer()).into());
            }
            if !events.pause(POLL_INTERVAL) {
                return Err(NoTarget::Interrupted);
            }
        }
    }

    fn serves(&self, events: &Events) -> Result<bool, NoTarget> {
        if let Some(check) = &self.target.check {
            return Ok(self.run(check, events)?.is_ok());
        }
        let connects = |address| TcpStream::connect_timeout(&address, Duration::from_secs(1));
        Ok(self
            .address()
            .is_some_and(|address| connects(address).is_ok()))
    }

    fn no_answer(&self) -> Problem {
        Problem::NoAnswer {
            name: self.target.name.clone(),
            url: self.url.clone(),
            timeout: loadline_plan::DurationText(self.target.start_timeout).to_string(),
        }
    }

    /// Runs a command that must succeed.
    fn succeed(&self, command: &Command, events: &Events) -> Result<(), NoTarget> {
        let failed = |why| self.study.refuse(command.line, Problem::CommandFailed(why));
        Ok(self.run(command, events)?.map_err(failed)?)
    }

    /// Runs a command to its end. The inner error is a phrase.
    fn run(&self, command: &Command, events: &Events) -> Result<Result<(), String>, NoTarget> {
        let process = self.launch(command, events)?;
        let ended = self.see_through(process, self.target.start_timeout, events)?;
        Ok(ended.map_err(|failure| self.phrase(failure)))
    }

    /// Waits until a command has ended.
    fn see_through(
        &self,
        mut process: Process,
        start_timeout: Duration,
        events: &Events,
    ) -> Result<Result<(), Failure>, NoTarget> {
        let until = Instant::now() + start_timeout;
        while !process.has_ended() {
            match events.wait(until) {
                Event::Interrupted => return Err(NoTarget::Interrupted),
                Event::TimeOver => return Ok(Err(Failure::TookTooLong)),
                Event::Ended(_) => {}
            }
        }
        Ok(match process.end() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Failure::Ended(status)),
            Err(error) => Err(Failure::Unknown(error)),
        })
    }

    /// Returns the failure of the last command as a phrase.
    fn phrase(&self, failure: Failure) -> String {
        match failure {
            Failure::TookTooLong => "it took too long".to_owned(),
            Failure::Ended(status) => format!("{}{}", ending(status), self.last_output_line()),
            Failure::Unknown(error) => error.to_string(),
        }
    }

    /// Returns the last line that its last command printed.
    fn last_line(&self) -> String {
        let output = excerpt(&self.log(), MOST_OUTPUT);
        let lines = output.lines().rev().map(str::trim);
        let mut printed = lines.filter(|line| !line.is_empty());
        printed.next().unwrap_or("it does not say why").to_owned()
    }

    /// Returns the last line that its last command printed, after a colon.
    fn last_output_line(&self) -> String {
        let output = excerpt(&self.log(), MOST_OUTPUT);
        informative_line(&output)
            .map(|line| format!(": {line}"))
            .unwrap_or_default()
    }

    fn refuse(&self, problem: Problem) -> FileError {
        self.study.refuse(self.target.line, problem)
    }
}

/// A target does not outlive its study, whether the user or an error ends the study.
impl Drop for Serving<'_> {
    fn drop(&mut self) {
        // The reason of the end is reported; an error of the stop would hide it.
        let _ = self.end();
    }
}

/// Returns a port without a listener.
pub(crate) fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
