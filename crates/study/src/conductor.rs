//! Makes the runs of a study, one after the other.

mod attempt;

use crate::command::{Blanks, Words, resolve};
use crate::events::Events;
use crate::expand::Run;
use crate::folder::{Folder, FolderError};
use crate::identity::Identity;
use crate::peer::ToolKind;
use crate::problem::{FileError, Problem};
use crate::progress::{Forecast, Progress};
use crate::saved::{SavedError, SavedRun};
use crate::study::{Study, Target, Tool};
use crate::target::{NoTarget, Serving};
use attempt::Attempt;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// The receiver of a study's progress.
pub trait Screen {
    /// Receives the progress, every second.
    fn progress(&mut self, progress: &Progress);

    /// Prints a line that stays.
    fn say(&mut self, line: &str);
}

/// The end of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StudyEnd {
    /// Every run was made.
    Complete,
    /// The user interrupted the study; it continues there when it is started again.
    Interrupted,
}

/// The reason why a study cannot be made, or not completed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The study file or a target is wrong.
    #[error(transparent)]
    File(#[from] FileError),
    /// The folder of the results cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Results cannot be written or read.
    #[error(transparent)]
    Saved(#[from] SavedError),
    /// No tool of the study is installed.
    #[error("none of the study's tools is on this machine: {0}; install one.")]
    NoTool(String),
    /// A file, a folder or a port cannot be provided.
    #[error("{what} can't be provided: {source}.")]
    Io {
        /// The thing that cannot be provided.
        what: String,
        /// The error of the system.
        source: io::Error,
    },
}

/// Makes the runs of a study.
#[derive(Debug)]
pub struct Conductor<'a> {
    study: &'a Study,
    folder: &'a Folder,
    runs: Vec<Run>,
    tools: BTreeMap<String, Equipped>,
    /// The names of the tools that are not installed.
    missing: Vec<String>,
}

/// A tool that is installed.
#[derive(Debug)]
struct Equipped {
    kind: ToolKind,
    words: Words,
}

/// The current run and the pending ones.
struct Agenda<'a> {
    pending: &'a [&'a Run],
    /// The number of all runs.
    total: usize,
    forecast: Forecast,
}

impl Study {
    /// Returns the names of the tools of these runs that are not installed on this machine.
    pub fn missing_tools(&self, runs: &[Run]) -> Vec<String> {
        let is_missing = |tool: &Tool| resolve(&tool.words, &self.folder()).is_none();
        let missing = self.tools_of(runs).into_iter().filter(is_missing);
        missing.map(|tool| tool.name).collect()
    }

    /// Returns the tools of these runs, each once, by name.
    fn tools_of(&self, runs: &[Run]) -> Vec<Tool> {
        let names: BTreeSet<&str> = runs.iter().map(|run| run.settings.tool.as_str()).collect();
        let tool = |name| self.tool(name).expect("rows name tools that are known");
        names.into_iter().map(tool).collect()
    }
}

impl<'a> Conductor<'a> {
    /// Checks that everything the runs need is available, without starting anything.
    ///
    /// # Errors
    /// If a command of a target or a core is missing, or if no tool is installed.
    pub fn prepare(study: &'a Study, runs: Vec<Run>, folder: &'a Folder) -> Result<Self, Error> {
        let mut conductor = Conductor {
            study,
            folder,
            runs,
            tools: BTreeMap::new(),
            missing: Vec::new(),
        };
        conductor.find_tools();
        if conductor.tools.is_empty() {
            return Err(Error::NoTool(conductor.missing.join(", ")));
        }
        for target in conductor.targets(&conductor.possible()) {
            conductor.find_commands(target)?;
        }
        conductor.find_cores()?;
        Ok(conductor)
    }

    /// Returns the names of the tools that are not installed on this machine: their runs are
    /// skipped.
    pub fn missing_tools(&self) -> &[String] {
        &self.missing
    }

    /// Returns the runs that can be made, in the order in which they are made, each with true if it
    /// is saved already.
    ///
    /// # Errors
    /// If the file of a saved run exists and cannot be read.
    pub fn agenda(&self) -> Result<Vec<(&Run, bool)>, Error> {
        let with_saved = |run| Ok((run, self.is_saved(run)?));
        self.possible().into_iter().map(with_saved).collect()
    }

    /// Makes all runs that are not saved yet; with `redo` all runs.
    ///
    /// # Errors
    /// If a target does not serve, or results cannot be saved. Runs made until then are kept; a new
    /// folder without a run is removed.
    pub fn conduct(
        &self,
        redo: bool,
        screen: &mut dyn Screen,
        events: &Events,
    ) -> Result<StudyEnd, Error> {
        let made = self.folder.make(self.study)?;
        let agenda = self.agenda()?;
        let total = agenda.len();
        let pending = agenda.into_iter().filter(|(_, saved)| redo || !saved);
        let pending: Vec<&Run> = pending.map(|(run, _)| run).collect();
        let ended = self.make(&pending, total, screen, events);
        self.folder.clear_work();
        match ended {
            Ok(()) => Ok(StudyEnd::Complete),
            Err(Stop::Interrupted) => Ok(StudyEnd::Interrupted),
            Err(Stop::Failed(error)) => {
                self.folder.unmake(&made);
                Err(error)
            }
        }
    }

    fn make(
        &self,
        pending: &[&Run],
        total: usize,
        screen: &mut dyn Screen,
        events: &Events,
    ) -> Result<(), Stop> {
        let mut serving = self.try_targets(pending, events)?;
        let mut forecast = Forecast::new(self.study.pause);
        for (index, run) in pending.iter().enumerate() {
            let agenda = Agenda {
                pending: &pending[index..],
                total,
                forecast: forecast.clone(),
            };
            let begun = Instant::now();
            let target = self.serve(run, serving.take(), index > 0, events)?;
            self.attempt(run, &target).make(&agenda, screen, events)?;
            serving = Some(target);
            forecast.learn(run.settings.duration, begun.elapsed());
            if index + 1 < pending.len() && !events.pause(self.study.pause) {
                return Err(Stop::Interrupted);
            }
        }
        match serving {
            Some(serving) => Ok(serving.stop()?),
            None => Ok(()),
        }
    }

    /// Starts each target and checks that it serves, before any run. The target of the first run is
    /// kept running.
    fn try_targets(&self, pending: &[&Run], events: &Events) -> Result<Option<Serving<'a>>, Stop> {
        let mut first = None;
        for target in self.targets(pending).into_iter().rev() {
            let serving = self.start(target, events)?;
            match pending.first() {
                Some(run) if run.settings.target == target.name => first = Some(serving),
                _ => serving.stop()?,
            }
        }
        Ok(first)
    }

    /// Returns the target of a run, started or reset for it.
    fn serve(
        &self,
        run: &Run,
        serving: Option<Serving<'a>>,
        was_used: bool,
        events: &Events,
    ) -> Result<Serving<'a>, Stop> {
        match serving {
            Some(serving) if serving.name() == run.settings.target && !serving.is_gone() => {
                if was_used {
                    serving.reset(events)?;
                }
                return Ok(serving);
            }
            Some(other) => other.stop()?,
            None => {}
        }
        let target = self.study.target(&run.settings.target);
        let target = target.expect("rows name targets that are known");
        Ok(self.start(target, events)?)
    }

    fn start(&self, target: &'a Target, events: &Events) -> Result<Serving<'a>, NoTarget> {
        let folder = self.folder.work(&format!("target-{}", target.name));
        Serving::start(self.study, target, &folder, events)
    }

    fn attempt<'r>(&'r self, run: &'r Run, target: &'r Serving<'a>) -> Attempt<'r> {
        let tool = &self.tools[&run.settings.tool];
        Attempt {
            study: self.study,
            folder: self.folder,
            run,
            kind: tool.kind,
            tool: &tool.words,
            target,
            identity: Identity::new(self.study, &run.settings),
        }
    }

    fn find_tools(&mut self) {
        for tool in self.study.tools_of(&self.runs) {
            match resolve(&tool.words, &self.study.folder()) {
                Some(words) => {
                    let kind = tool.kind;
                    self.tools.insert(tool.name, Equipped { kind, words });
                }
                None => self.missing.push(tool.name),
            }
        }
    }

    /// Returns the runs whose tools are installed.
    fn possible(&self) -> Vec<&Run> {
        let is_there = |run: &&Run| self.tools.contains_key(&run.settings.tool);
        self.runs.iter().filter(is_there).collect()
    }

    /// Returns the targets of these runs, in the order of the file.
    fn targets(&self, runs: &[&Run]) -> Vec<&'a Target> {
        let is_used = |target: &&Target| {
            let mut runs = runs.iter();
            runs.any(|run| run.settings.target == target.name)
        };
        self.study.targets.iter().filter(is_used).collect()
    }

    /// Checks that the pinned cores may be used. If the usable cores cannot be read, all are
    /// accepted.
    fn find_cores(&self) -> Result<(), FileError> {
        let pin = &self.study.pin;
        match rustix::thread::sched_getaffinity(None) {
            Ok(usable) => pin
                .beyond(|core| usable.is_set(core))
                .map_or(Ok(()), |core| {
                    Err(self.study.refuse(pin.line, Problem::CoreNotHere(core)))
                }),
            Err(_) => Ok(()),
        }
    }

    fn find_commands(&self, target: &Target) -> Result<(), FileError> {
        let blanks = Blanks {
            port: 1,
            folder: Path::new("."),
            url: &target.url,
        };
        let commands = [&target.start, &target.check, &target.stop, &target.reset];
        for command in commands.into_iter().flatten() {
            self.study.command(command, &blanks)?;
        }
        Ok(())
    }

    /// True if the run is saved, with the same identity.
    fn is_saved(&self, run: &Run) -> Result<bool, SavedError> {
        let path = self.folder.run(run);
        if !path.exists() {
            return Ok(false);
        }
        let wanted = Identity::new(self.study, &run.settings);
        Ok(SavedRun::read(&path)?.header.identity == Some(wanted))
    }
}

/// The reason why no more runs are made.
enum Stop {
    Interrupted,
    Failed(Error),
}

impl From<NoTarget> for Stop {
    fn from(reason: NoTarget) -> Self {
        match reason {
            NoTarget::Interrupted => Stop::Interrupted,
            NoTarget::Refused(error) => Stop::Failed(error.into()),
        }
    }
}

impl From<SavedError> for Stop {
    fn from(error: SavedError) -> Self {
        Stop::Failed(error.into())
    }
}

impl Agenda<'_> {
    /// Returns the progress of the study, this long after the start of the first pending run.
    fn progress(&self, elapsed: Duration) -> Progress {
        let told = self.pending.iter().map(|run| run.settings.duration);
        let name = |run: &&Run| run.name.clone();
        Progress {
            number: self.total - self.pending.len() + 1,
            total: self.total,
            name: self.pending.first().map(name).unwrap_or_default(),
            elapsed,
            expected: told.clone().next().flatten(),
            left: self.forecast.left(elapsed, told),
        }
    }
}
