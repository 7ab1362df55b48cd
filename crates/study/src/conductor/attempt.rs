//! Makes one run: starts the tool, watches it until it ends, and reads its report.

use super::{Agenda, Error, Screen, Stop};
use crate::backends::Backends;
use crate::command::Words;
use crate::events::{Event, Events};
use crate::expand::Run;
use crate::figures::Figures;
use crate::folder::Folder;
use crate::identity::Identity;
use crate::meter::{Meter, Second};
use crate::output::{excerpt, informative_line};
use crate::peer::{Call, Captured, RunTarget, ToolKind};
use crate::process::{Launch, Process, ending};
use crate::saved::{Header, Outcome, SavedError, Writer};
use crate::study::Study;
use crate::target::{Serving, free_port};
use loadline_plan::{DurationText, mask_words};
use loadline_watch::cpu_s;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// The interval of the samples of both sides, and the times of additional ones for short runs.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);
const FIRST_SAMPLES: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(300)];
/// The time that a tool may take in addition to its configured duration.
const EXTRA_TIME: Duration = Duration::from_secs(60);
/// The time that a tool without a configured duration may take.
const WITHOUT_TIME: Duration = Duration::from_secs(600);
/// The most bytes of the tool's output that are read for its report, and that are kept.
const MOST_READ: u64 = 4 << 20;
const MOST_KEPT: u64 = 32 << 10;

/// A run that is being made.
pub(super) struct Attempt<'a> {
    pub(super) study: &'a Study,
    pub(super) folder: &'a Folder,
    pub(super) run: &'a Run,
    pub(super) kind: ToolKind,
    pub(super) tool: &'a Words,
    pub(super) target: &'a Serving<'a>,
    /// The target that this one is compared with, if any.
    pub(super) against: Option<&'a Serving<'a>>,
    pub(super) backends: &'a Backends<'a>,
    pub(super) identity: Identity,
}

/// The end of the tool's process.
enum Over {
    ByItself,
    TookTooLong(Duration),
}

impl Attempt<'_> {
    /// Makes the run and saves its result, also if it failed.
    pub(super) fn make(
        self,
        agenda: &Agenda<'_>,
        screen: &mut dyn Screen,
        events: &Events,
    ) -> Result<(), Stop> {
        let work = self.folder.work(&self.run.file_stem());
        let words = self.prepare(&work)?;
        // The search for the target's processes may take its time, which is not the tool's.
        let (target, backends) = (self.target, self.backends.pids());
        let meter = Meter::prepare(target.pid(), target.address(), &backends);
        let path = self.folder.run(self.run);
        let mut writer = Writer::begin(&path, self.header(&words))?;
        let mut meter = meter.begin();
        let outcome = match self.start(&words, &work, events) {
            Ok(process) => {
                meter.follow(process.pid());
                let seen = (process, meter);
                self.see_through(seen, &work, &mut writer, agenda, screen, events)
            }
            Err(error) => Ok(Outcome {
                failure: Some(format!("it can't be started: {error}")),
                ..Outcome::default()
            }),
        };
        // The files were only needed during the run.
        let _ = fs::remove_dir_all(&work);
        match outcome {
            Ok(outcome) => {
                self.print_failure(&outcome, screen);
                Ok(writer.end(outcome)?)
            }
            Err(stop) => {
                writer.discard();
                Err(stop)
            }
        }
    }

    /// Writes the files that the tool needs. Returns its arguments.
    fn prepare(&self, work: &Path) -> Result<Vec<String>, Stop> {
        let io = |source| {
            Stop::Failed(Error::Io {
                what: work.display().to_string(),
                source,
            })
        };
        fs::create_dir_all(work).map_err(io)?;
        let script = self.run.settings.script.as_ref();
        let script = script.map(|path| self.study.resolve_path(path));
        let script = script.map(|path| std::path::absolute(&path).unwrap_or(path));
        let place = RunTarget {
            url: self.target.url(),
            against: self.against.map(Serving::url),
            folder: work,
            script: script.as_deref(),
            port: free_port().map_err(io)?,
        };
        let call = self.kind.peer().call(&self.run.settings, &place);
        let Call { words, files } = call
            .map_err(|unfit| Stop::Failed(self.study.refuse(self.run.line, unfit.into()).into()))?;
        for (path, text) in files {
            fs::write(path, text).map_err(io)?;
        }
        Ok([self.tool.arguments.clone(), words].concat())
    }

    fn header(&self, arguments: &[String]) -> Header {
        let program = self.tool.program.display().to_string();
        let header = Header::new(
            (self.run.name.clone(), self.run.repeat),
            self.run.settings.masked(),
            Some(self.identity.clone()),
            mask_words(&[&[program], arguments].concat()),
        );
        Header {
            warm_up: self.target.warmed,
            ..header
        }
    }

    fn start(&self, arguments: &[String], work: &Path, events: &Events) -> io::Result<Process> {
        let launch = Launch {
            program: &self.tool.program,
            arguments,
            folder: &self.study.folder(),
            cores: self.study.pin.tools.as_ref(),
            stdout: File::create(stdout(work))?,
            stderr: File::create(stderr(work))?,
        };
        Process::start(launch, events.sender())
    }

    /// Watches the tool until it has ended, and reads its report.
    fn see_through(
        &self,
        (mut process, mut meter): (Process, Meter),
        work: &Path,
        writer: &mut Writer,
        agenda: &Agenda<'_>,
        screen: &mut dyn Screen,
        events: &Events,
    ) -> Result<Outcome, Stop> {
        let over = self.watch(
            &process,
            &mut meter,
            |second, elapsed| {
                screen.progress(&agenda.progress(elapsed));
                writer.second(second)
            },
            events,
        )?;
        // The total CPU time can be read until the process is reaped.
        let mut averages = meter.averages(cpu_s(process.pid()));
        let result = self.result(over, process.end(), work);
        let (figures, failure) = match result {
            Ok(figures) => {
                let failure = self.flaw(&figures);
                // Of a target that an agent has started, only its front is in the meter's sight.
                averages.target = figures.target.or(averages.target);
                (Some(figures), failure)
            }
            Err(failure) => (None, Some(failure)),
        };
        Ok(Outcome {
            failure,
            figures,
            averages,
            stdout: excerpt(&stdout(work), MOST_KEPT),
            stderr: excerpt(&stderr(work), MOST_KEPT),
        })
    }

    /// Samples until the tool has ended or taken too long, and passes each sample to `each`.
    fn watch(
        &self,
        process: &Process,
        meter: &mut Meter,
        mut each: impl FnMut(Second, Duration) -> Result<(), SavedError>,
        events: &Events,
    ) -> Result<Over, Stop> {
        let begun = Instant::now();
        let limit = self.limit();
        let mut looks = looks();
        loop {
            // The times of samples are fixed: a slow sample does not delay the others.
            let due = begun + looks.next().unwrap_or(limit).min(limit);
            let runs = sleep(process, due, events)?;
            each(meter.look(), begun.elapsed())?;
            if !runs {
                return Ok(Over::ByItself);
            }
            if begun.elapsed() >= limit {
                return Ok(Over::TookTooLong(limit));
            }
        }
    }

    /// Returns the figures of the tool, or a sentence that says why there are none.
    fn result(
        &self,
        over: Over,
        status: io::Result<ExitStatus>,
        work: &Path,
    ) -> Result<Figures, String> {
        if let Over::TookTooLong(limit) = over {
            return Err(format!("it took longer than {}", DurationText(limit)));
        }
        let status = status.map_err(|error| error.to_string())?;
        match status.code() {
            Some(code) if self.kind.is_success(code) => self.read(work),
            _ => Err(format!("{}{}", ending(status), last_message(work))),
        }
    }

    /// Reads the figures from the tool's report.
    fn read(&self, work: &Path) -> Result<Figures, String> {
        let captured = Captured {
            stdout: &excerpt(&stdout(work), MOST_READ),
            folder: work,
        };
        let figures = self.kind.peer().read(&captured);
        figures.map_err(|error| error.to_string())
    }

    /// Returns the reason why the figures mean nothing, if there is one.
    fn flaw(&self, figures: &Figures) -> Option<String> {
        let mut targets = std::iter::once(self.target).chain(self.against);
        if let Some(gone) = targets.find(|target| target.is_gone()) {
            return Some(format!("the target {} ended meanwhile", gone.name()));
        }
        let nothing = figures.answers == Some(0);
        nothing.then(|| "not one request was answered".to_owned())
    }

    /// Returns the time that the tool may take.
    fn limit(&self) -> Duration {
        let planned = self.run.lasts;
        let usual = planned.map_or(WITHOUT_TIME, |planned| planned + planned / 2 + EXTRA_TIME);
        self.study.time_limit.unwrap_or(usual)
    }

    fn print_failure(&self, outcome: &Outcome, screen: &mut dyn Screen) {
        if let Some(failure) = &outcome.failure {
            screen.print_line(&format!("{}: {failure}", self.run.name));
        }
    }
}

/// Returns the times of the samples, from the start on.
fn looks() -> impl Iterator<Item = Duration> {
    let each = (1..).map(|count| SAMPLE_INTERVAL * count);
    FIRST_SAMPLES.into_iter().chain(each)
}

/// Sleeps until an instant, unless the process ends before; true if the process still runs.
fn sleep(process: &Process, until: Instant, events: &Events) -> Result<bool, Stop> {
    loop {
        if events.is_interrupted() {
            return Err(Stop::Interrupted);
        }
        if process.has_ended() {
            return Ok(false);
        }
        if events.wait(until) == Event::TimeOver {
            return Ok(!process.has_ended());
        }
    }
}

fn stdout(work: &Path) -> PathBuf {
    work.join("stdout")
}

fn stderr(work: &Path) -> PathBuf {
    work.join("stderr")
}

/// Returns the tool's last message after a colon: its error, if it printed one.
fn last_message(work: &Path) -> String {
    let texts = [stderr(work), stdout(work)].map(|path| excerpt(&path, MOST_KEPT));
    let line = texts.iter().find_map(|text| informative_line(text));
    line.map(|line| format!(": {line}")).unwrap_or_default()
}
