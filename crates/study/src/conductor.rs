//! Making the runs of a study, one after the other.

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

/// Where a study tells how far it is.
pub trait Screen {
    /// It is so far; told every second.
    fn progress(&mut self, progress: &Progress);

    /// A line that stays.
    fn say(&mut self, line: &str);
}

/// How a study ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StudyEnd {
    /// Every run was made.
    Complete,
    /// The user interrupted it; it goes on where it stopped when it is started again.
    Interrupted,
}

/// Why a study can't be made, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something is wrong with its file or its targets.
    #[error(transparent)]
    File(#[from] FileError),
    /// The results have no folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Results can't be saved or read.
    #[error(transparent)]
    Saved(#[from] SavedError),
    /// None of its tools is there.
    #[error("none of the study's tools is on this machine: {0}; install one.")]
    NoTool(String),
    /// A file or thread can't be had.
    #[error("{what} can't be provided: {source}.")]
    Io {
        /// What.
        what: String,
        /// Why.
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
    /// The names of tools that are not there.
    missing: Vec<String>,
}

/// A tool that is there.
#[derive(Debug)]
struct Equipped {
    kind: ToolKind,
    words: Words,
}

/// What is made now, and what still is to be made.
struct Agenda<'a> {
    pending: &'a [&'a Run],
    /// How many runs there are in all.
    total: usize,
    forecast: Forecast,
}

impl Study {
    /// The tools of these runs that are not on this machine, by name.
    pub fn missing_tools(&self, runs: &[Run]) -> Vec<String> {
        let is_missing = |tool: &Tool| resolve(&tool.words, &self.folder()).is_none();
        let missing = self.tools_of(runs).into_iter().filter(is_missing);
        missing.map(|tool| tool.name).collect()
    }

    /// The tools of these runs, each once, by name.
    fn tools_of(&self, runs: &[Run]) -> Vec<Tool> {
        let names: BTreeSet<&str> = runs.iter().map(|run| run.settings.tool.as_str()).collect();
        let tool = |name| self.tool(name).expect("rows name tools that are known");
        names.into_iter().map(tool).collect()
    }
}

impl<'a> Conductor<'a> {
    /// Looks whether all that the runs need is there; nothing is started.
    ///
    /// # Errors
    /// If a command of a target is not there, or none of the tools, or a core.
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

    /// The tools that are not on this machine, by name: their runs are skipped.
    pub fn missing_tools(&self) -> &[String] {
        &self.missing
    }

    /// The runs that can be made, in the order in which they are made, each with whether it is
    /// saved already.
    ///
    /// # Errors
    /// If a saved run is there and can't be read.
    pub fn agenda(&self) -> Result<Vec<(&Run, bool)>, Error> {
        let with_saved = |run| Ok((run, self.is_saved(run)?));
        self.possible().into_iter().map(with_saved).collect()
    }

    /// Makes all runs that are not saved yet; `redo` makes them all.
    ///
    /// # Errors
    /// If a target does not serve, or results can't be saved. Runs that were made until then stay;
    /// a folder that was made for none does not.
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

    /// Starts each target and sees that it serves, before anything runs. The one of the first run
    /// goes on.
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

    /// The target of a run, as it is to be before one.
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

    /// The runs whose tools are there.
    fn possible(&self) -> Vec<&Run> {
        let is_there = |run: &&Run| self.tools.contains_key(&run.settings.tool);
        self.runs.iter().filter(is_there).collect()
    }

    /// The targets of these runs, in the order of the file.
    fn targets(&self, runs: &[&Run]) -> Vec<&'a Target> {
        let is_used = |target: &&Target| {
            let mut runs = runs.iter();
            runs.any(|run| run.settings.target == target.name)
        };
        self.study.targets.iter().filter(is_used).collect()
    }

    /// Where it can't be read which cores may be used, each is taken to be.
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

    /// Whether a run was made and is still the same run.
    fn is_saved(&self, run: &Run) -> Result<bool, SavedError> {
        let path = self.folder.run(run);
        if !path.exists() {
            return Ok(false);
        }
        let wanted = Identity::new(self.study, &run.settings);
        Ok(SavedRun::read(&path)?.header.identity == Some(wanted))
    }
}

/// Why nothing more is made.
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
    /// How far the study is, that long into the first pending run.
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
