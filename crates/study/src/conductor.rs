//! Makes the runs of a study, one after the other.

mod attempt;
mod stage;

use crate::backends::Backends;
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
use crate::target::{NoTarget, Prepared, Serving};
use attempt::Attempt;
use stage::Stage;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::time::Duration;

/// The receiver of a study's progress.
pub trait Screen {
    /// Receives the progress, every second.
    fn progress(&mut self, progress: &Progress);

    /// Prints a line that stays.
    fn print_line(&mut self, line: &str);
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
    /// None of its targets can be had here; the reason has been reported for each.
    #[error("none of the study's targets can be had on this machine; install what is missing.")]
    NoTarget,
    /// A file or thread can't be had.
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
    /// The targets that can't be had on this machine, each with a sentence with the reason.
    left_out: BTreeMap<String, String>,
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

    /// The tools of these runs, as far as preparing them goes: each is one to be built.
    fn tools_of_pending(&self, runs: &[&Run]) -> Vec<Target> {
        let names: BTreeSet<&str> = runs.iter().map(|run| run.settings.tool.as_str()).collect();
        let tools = self.tools.iter();
        let tools = tools.filter(|tool| names.contains(tool.name.as_str()));
        tools.map(Target::of_tool).collect()
    }

    /// The tools of these runs, each once, by name.
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
            left_out: BTreeMap::new(),
        };
        conductor.find_tools();
        if conductor.tools.is_empty() {
            return Err(Error::NoTool(conductor.missing.join(", ")));
        }
        let targets = conductor.targets(&conductor.possible());
        for target in study.backends.iter().chain(targets) {
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

    /// The targets that can't be had on this machine, each in a sentence with the reason: their
    /// runs are skipped. This is known once the runs were made.
    pub fn left_out(&self) -> Vec<String> {
        let sentence = |(name, why): (&String, &String)| format!("{name} is left out: {why}.");
        self.left_out.iter().map(sentence).collect()
    }

    /// The runs that can be made, in the order in which they are made, each with whether it is
    /// saved already.
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
        &mut self,
        redo: bool,
        screen: &mut dyn Screen,
        events: &Events,
    ) -> Result<StudyEnd, Error> {
        let made = self.folder.make(self.study)?;
        let ended = match self.build(redo, screen, events) {
            Ok(()) => self.make_pending(redo, screen, events),
            Err(stop) => Err(stop),
        };
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

    /// Prepares the backends and the targets of all runs that are to be made. One that can't be had
    /// here is left out.
    fn build(&mut self, redo: bool, screen: &mut dyn Screen, events: &Events) -> Result<(), Stop> {
        let pending = self.pending(redo)?.0;
        if pending.is_empty() {
            return Ok(());
        }
        let targets = self.targets(&pending).into_iter().cloned();
        let tools = self.study.tools_of_pending(&pending);
        let built = self.study.backends.iter().cloned().chain(targets);
        let mut left_out = BTreeMap::new();
        for built in built.chain(tools).filter(|built| built.prepare.is_some()) {
            screen.print_line(&format!("{} is being prepared.", built.name));
            let folder = self.folder.work(&format!("prepare-{}", built.name));
            match Serving::prepare(self.study, &built, &folder, events)? {
                Prepared::Ready => {}
                Prepared::LeftOut(why) => {
                    let why = why.trim_end_matches('.').to_owned();
                    left_out.insert(built.name.clone(), why);
                }
            }
        }
        self.left_out = left_out;
        self.left_out()
            .iter()
            .for_each(|sentence| screen.print_line(sentence));
        match self.pending(redo)?.0.is_empty() {
            true => Err(Stop::Failed(Error::NoTarget)),
            false => Ok(()),
        }
    }

    /// The runs that are to be made, and how many there are in all.
    fn pending(&self, redo: bool) -> Result<(Vec<&Run>, usize), Error> {
        let agenda = self.agenda()?;
        let total = agenda.len();
        let pending = agenda.into_iter().filter(|(_, saved)| redo || !saved);
        Ok((pending.map(|(run, _)| run).collect(), total))
    }

    /// Makes the runs, with the backends beside them.
    fn make_pending(
        &self,
        redo: bool,
        screen: &mut dyn Screen,
        events: &Events,
    ) -> Result<(), Stop> {
        let (pending, total) = self.pending(redo)?;
        if pending.is_empty() {
            return Ok(());
        }
        let backends = Backends::start(self.study, self.folder, events)?;
        let stage = Stage {
            conductor: self,
            backends: &backends,
            events,
        };
        stage.make(&pending, total, screen)?;
        Ok(backends.stop()?)
    }

    /// The runs whose tools and targets are there.
    fn possible(&self) -> Vec<&Run> {
        let is_there = |run: &&Run| {
            let settings = &run.settings;
            let mut needed = std::iter::once(&settings.target).chain(&settings.against);
            let backends = self.study.backends.iter();
            self.tools.contains_key(&settings.tool)
                && !needed.any(|name| self.left_out.contains_key(name))
                && backends
                    .clone()
                    .all(|backend| !self.left_out.contains_key(&backend.name))
        };
        self.runs.iter().filter(is_there).collect()
    }

    /// The targets of these runs, in the order of the file.
    fn targets(&self, runs: &[&Run]) -> Vec<&'a Target> {
        let is_used = |target: &&Target| {
            let mut runs = runs.iter();
            runs.any(|run| needs(run).contains(&target.name.as_str()))
        };
        self.study.targets.iter().filter(is_used).collect()
    }

    fn attempt<'r>(
        &'r self,
        run: &'r Run,
        targets: &'r [Serving<'a>],
        backends: &'r Backends<'a>,
    ) -> Attempt<'r> {
        let tool = &self.tools[&run.settings.tool];
        let serving = |name: &str| targets.iter().find(|target| target.name() == name);
        let against = run.settings.against.as_deref();
        Attempt {
            study: self.study,
            folder: self.folder,
            run,
            kind: tool.kind,
            tool: &tool.words,
            target: serving(&run.settings.target).expect("the target of the run serves"),
            against: against.and_then(serving),
            backends,
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

    /// Checks that the cores that the study names may be used. If the usable cores can't be read,
    /// all count as usable.
    fn find_cores(&self) -> Result<(), FileError> {
        let Ok(usable) = rustix::thread::sched_getaffinity(None) else {
            return Ok(());
        };
        let is_usable = |core| usable.is_set(core);
        let pin = &self.study.pin;
        let pinned = pin.beyond(is_usable).map(|core| (pin.line, core));
        let mut own = self.study.backends.iter().chain(&self.study.targets);
        let own = own.find_map(|target| {
            let core = target.cores.as_ref()?.beyond(is_usable)?;
            Some((target.line, core))
        });
        match pinned.or(own) {
            Some((line, core)) => Err(self.study.refuse(line, Problem::CoreNotHere(core))),
            None => Ok(()),
        }
    }

    fn find_commands(&self, target: &Target) -> Result<(), FileError> {
        let blanks = Blanks {
            port: 1,
            folder: Path::new("."),
            url: &target.url,
            backends: &[],
        };
        let later = [&target.start, &target.check, &target.stop, &target.reset];
        // What is prepared may be the very program that is started.
        let commands = match &target.prepare {
            Some(prepare) => vec![prepare],
            None => later.into_iter().flatten().collect(),
        };
        for command in commands {
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
        let expected = Identity::new(self.study, &run.settings);
        Ok(SavedRun::read(&path)?.header.identity == Some(expected))
    }
}

/// The targets of a run, by name.
fn needs(run: &Run) -> Vec<&str> {
    let settings = &run.settings;
    let against = settings.against.as_deref();
    std::iter::once(settings.target.as_str())
        .chain(against)
        .collect()
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

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Failed(error)
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
        let durations = self.pending.iter().map(|run| run.lasts);
        let name = |run: &&Run| run.name.clone();
        Progress {
            number: self.total - self.pending.len() + 1,
            total: self.total,
            name: self.pending.first().map(name).unwrap_or_default(),
            elapsed,
            expected: durations.clone().next().flatten(),
            left: self.forecast.left(elapsed, durations),
        }
    }
}
