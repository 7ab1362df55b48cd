//! A target while it runs: started, asked whether it serves, reset, stopped.

use crate::command::{Blanks, Words};
use crate::events::{Event, Events};
use crate::output::{excerpt, telling_line};
use crate::problem::{FileError, Problem};
use crate::process::{Launch, Process, ending};
use crate::study::{Command, Study, Target};
use loadline_reactor::look_up;
use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a target is asked whether it serves.
const ASK_EVERY: Duration = Duration::from_millis(50);
/// The most of a command's output that is looked at for a message.
const MOST_OUTPUT: u64 = 64 << 10;

/// Why there is no target.
#[derive(Debug)]
pub(crate) enum NoTarget {
    /// The user interrupted.
    Interrupted,
    /// Something is wrong with it.
    Refused(FileError),
}

impl From<FileError> for NoTarget {
    fn from(error: FileError) -> Self {
        NoTarget::Refused(error)
    }
}

/// A target that serves.
#[derive(Debug)]
pub(crate) struct Serving<'a> {
    study: &'a Study,
    target: &'a Target,
    port: u16,
    folder: PathBuf,
    url: String,
    /// Its process, unless it ran before or went to the background.
    process: Option<Process>,
    /// Whether it was started and not stopped yet.
    is_up: bool,
}

impl<'a> Serving<'a> {
    /// Starts a target and waits until it serves. Its files go to a folder, which is emptied.
    pub(crate) fn start(
        study: &'a Study,
        target: &'a Target,
        folder: &Path,
        events: &Events,
    ) -> Result<Serving<'a>, NoTarget> {
        let refuse = |problem| study.refuse(target.line, problem);
        let port = free_port().map_err(|error| refuse(Problem::Value(error.to_string())))?;
        let mut serving = Serving {
            study,
            target,
            port,
            folder: folder.to_owned(),
            url: target.url.replace("{port}", &port.to_string()),
            process: None,
            is_up: false,
        };
        serving.write_files()?;
        if let Some(start) = &target.start {
            serving.process = Some(serving.launch(start, events)?);
        }
        serving.is_up = true;
        serving.wait(events)?;
        Ok(serving)
    }

    /// What it is called.
    pub(crate) fn name(&self) -> &'a str {
        &self.target.name
    }

    /// Where requests go.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Its process, where it was started here.
    pub(crate) fn pid(&self) -> Option<u32> {
        let running = self.process.as_ref().filter(|process| !process.has_ended());
        running.map(Process::pid)
    }

    /// Whether it was started here and runs no more, though nobody stopped it.
    pub(crate) fn is_gone(&self) -> bool {
        let ended = self.process.as_ref().is_some_and(Process::has_ended);
        ended && self.target.stop.is_none()
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        let url = self.url.parse::<loadline_plan::Target>().ok()?.url;
        let port = url.port_or_known_default()?;
        let found = look_up(url.host_str()?.trim_matches(['[', ']']), port);
        found.ok()?.into_iter().next()
    }

    /// Runs its command for between two runs.
    pub(crate) fn reset(&self, events: &Events) -> Result<(), NoTarget> {
        match &self.target.reset {
            Some(reset) => self.succeed(reset, events),
            None => Ok(()),
        }
    }

    /// Stops it. What can't be stopped by its own command is ended.
    pub(crate) fn stop(mut self) -> Result<(), NoTarget> {
        self.end()
    }

    fn end(&mut self) -> Result<(), NoTarget> {
        if !std::mem::take(&mut self.is_up) {
            return Ok(());
        }
        // An interrupt is no reason to leave it running.
        let unheard = Events::default();
        let stopped = match &self.target.stop {
            Some(stop) => self.succeed(stop, &unheard),
            None => Ok(()),
        };
        if let Some(process) = &mut self.process {
            // It is gone, and nobody waits for how.
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
        }
    }

    fn launch(&self, command: &Command, events: &Events) -> Result<Process, FileError> {
        let Words { program, arguments } = self.study.command(command, &self.blanks())?;
        let start = || {
            let launch = Launch {
                program: &program,
                arguments: &arguments,
                folder: &self.study.folder(),
                cores: self.study.pin.targets.as_ref(),
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

    /// Where the output of its last command stands.
    fn log(&self) -> PathBuf {
        self.folder.join("output.log")
    }

    /// Waits until it serves.
    fn wait(&self, events: &Events) -> Result<(), NoTarget> {
        let until = Instant::now() + self.target.patience;
        loop {
            if self.is_gone() {
                return Err(self.refuse(Problem::TargetEnded(self.said())).into());
            }
            if self.serves(events)? {
                return Ok(());
            }
            if Instant::now() >= until {
                return Err(self.refuse(self.no_answer()).into());
            }
            if !events.pause(ASK_EVERY) {
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
            patience: loadline_plan::DurationText(self.target.patience).to_string(),
        }
    }

    /// Runs a command that has to succeed.
    fn succeed(&self, command: &Command, events: &Events) -> Result<(), NoTarget> {
        let failed = |why| self.study.refuse(command.line, Problem::CommandFailed(why));
        Ok(self.run(command, events)?.map_err(failed)?)
    }

    /// Runs a command to its end. The error is a phrase.
    fn run(&self, command: &Command, events: &Events) -> Result<Result<(), String>, NoTarget> {
        let mut process = self.launch(command, events)?;
        let until = Instant::now() + self.target.patience;
        while !process.has_ended() {
            match events.wait(until) {
                Event::Interrupted => return Err(NoTarget::Interrupted),
                Event::TimeOver => return Ok(Err("it took too long".to_owned())),
                Event::Ended(_) => {}
            }
        }
        Ok(match process.end() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{}{}", ending(status), self.said())),
            Err(error) => Err(error.to_string()),
        })
    }

    /// What its last command said last, behind a colon.
    fn said(&self) -> String {
        let output = excerpt(&self.log(), MOST_OUTPUT);
        telling_line(&output)
            .map(|line| format!(": {line}"))
            .unwrap_or_default()
    }

    fn refuse(&self, problem: Problem) -> FileError {
        self.study.refuse(self.target.line, problem)
    }
}

/// Whatever ends a study, the user or an error, its targets don't outlive it.
impl Drop for Serving<'_> {
    fn drop(&mut self) {
        // What ends it is told; that it can't be stopped besides would hide that.
        let _ = self.end();
    }
}

/// A port without a listener.
pub(crate) fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
