//! `loadline locust`: its command, which Python runs with the extension below it.
//!
//! This process becomes the interpreter, so that signals, terminals and exit codes are those of
//! the command itself.

use crate::exit::{self, refuse};
use crate::interrupt::ending_signals;
use crate::web::followed::{Followed, Maker, follow, follow_log};
use crate::web::{Web, keep_open};
use anyhow::{Context, Result, anyhow};
use rustix::process::Signal;
use signal_hook::consts::SIGINT;
use signal_hook::iterator::Signals;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Names the interpreter, where it is not to be looked for.
const VARIABLE: &str = "LOADLINE_PYTHON";

/// Names this program to Python, which has it judge runs and write reports.
const PROGRAM: &str = "LOADLINE_PROGRAM";

/// Names a file that does not exist yet: the record of the test is linked there when it begins, for
/// whoever shows it.
const RECORD: &str = "LOADLINE_RECORD";
/// The variable with the file that the lines of the log are appended to, for a page.
const PAGE_LOG: &str = "LOADLINE_PAGE_LOG";
/// The variable with the agents that have the users of a test.
const AGENTS: &str = "LOADLINE_AGENTS";

/// Locust's exit code if it could not start.
const FAILED: u8 = 1;

/// The program that exits with 0 if an interpreter can run the package: Python from 3.10 on that
/// finds it.
const PROBE: &str = "\
import importlib.util, sys
old = sys.version_info < (3, 10)
sys.exit(10 if old else 0 if importlib.util.find_spec('loadline') else 11)";

const TOO_OLD: i32 = 10;
const NO_PACKAGE: i32 = 11;

/// The words of a test, and the description of the agents that have its users.
#[derive(Clone, Debug)]
pub(crate) struct Words<'a> {
    pub(crate) words: &'a [OsString],
    pub(crate) agents: Option<String>,
}

impl Words<'_> {
    /// Becomes an interpreter that runs the words; returns only if there is none that can, with
    /// the exit code.
    pub(crate) fn run(&self) -> u8 {
        let program = match interpreter() {
            Ok(program) => program,
            Err(sentence) => {
                refuse(&sentence);
                return FAILED;
            }
        };
        let error = self.python(&program).exec();
        refuse(&format!("{} can't be run: {error}", program.display()));
        FAILED
    }

    /// Runs the words in a process of its own, whose test is shown on a page; returns its exit
    /// code.
    pub(crate) fn run_shown(&self, web: &Web) -> u8 {
        self.shown(web).unwrap_or_else(|error| {
            refuse(&exit::sentence(&error));
            FAILED
        })
    }

    /// The command of an interpreter that runs these words.
    fn python(&self, program: &Path) -> Command {
        let mut python = python(program, "loadline");
        python.args(self.words);
        if let Some(agents) = &self.agents {
            python.env(AGENTS, agents);
        }
        python
    }

    /// Starts an interpreter that runs these words, in a process of its own, which signals of a
    /// terminal reach through us alone. The record of its test is linked at `record` when it
    /// begins, and the lines of its log are appended to the file `log`.
    ///
    /// # Errors
    /// The sentence for an interpreter that can't be started.
    pub(crate) fn start(&self, record: Option<&Path>, log: &Path) -> Result<Child, String> {
        let program = interpreter()?;
        let mut python = self.python(&program);
        if let Some(record) = record {
            python.env(RECORD, record);
        }
        python.env(PAGE_LOG, log);
        let child = python.stdin(Stdio::null()).process_group(0).spawn();
        child.map_err(|error| format!("{} can't be run: {error}", program.display()))
    }

    fn shown(&self, web: &Web) -> Result<u8> {
        let folder = tempfile::tempdir().context("there is no place for the record of the test")?;
        let record = folder.path().join("shown.run");
        let log = folder.path().join("log");
        let child = self
            .start(Some(&record), &log)
            .map_err(|sentence| anyhow!(sentence))?;
        let maker = Maker::of(&child);
        let is_interrupted = forward_signals(&maker)?;
        let kept = folder.path().join("saved.run");
        let opened = web.open(Arc::new(maker.clone()), Some(&kept), None);
        let followed = opened.and_then(|mut page| {
            let feed = page.feed();
            follow_log(log, maker.clone(), page.log())?;
            let files = Followed {
                record,
                kept: Some(kept),
            };
            let following = feed.map(|feed| follow(files, maker.clone(), feed));
            Ok((page, following.transpose()?))
        });
        if followed.is_err() {
            maker.send(Signal::TERM);
        }
        let status = maker
            .wait(child)
            .context("the interpreter's end is not known")?;
        let (page, following) = followed?;
        if let Some(following) = following {
            // If it panicked, that was told.
            let _ = following.join();
        }
        if !is_interrupted.load(Ordering::Relaxed) {
            keep_open(Some(page));
        }
        Ok(code(status))
    }
}

/// The command of an interpreter that runs a module of the package.
pub(crate) fn python(program: &Path, module: &str) -> Command {
    let mut python = Command::new(program);
    python.args(["-m", module]);
    if let (None, Ok(own)) = (std::env::var_os(PROGRAM), std::env::current_exe()) {
        python.env(PROGRAM, own);
    }
    python
}

/// Passes signals that request the end on to a process. Returns a flag that is true once there was
/// one.
fn forward_signals(maker: &Maker) -> Result<Arc<AtomicBool>> {
    let mut signals = Signals::new(ending_signals()).context("signals can't be watched")?;
    let happened = Arc::new(AtomicBool::new(false));
    let (maker, noted) = (maker.clone(), Arc::clone(&happened));
    let forward = move || {
        for signal in signals.forever() {
            noted.store(true, Ordering::Relaxed);
            maker.send(match signal {
                SIGINT => Signal::INT,
                _ => Signal::TERM,
            });
        }
    };
    let thread = thread::Builder::new().name("interrupts".to_owned());
    thread.spawn(forward).context("signals can't be watched")?;
    Ok(happened)
}

/// The exit code of a process, as a shell returns it.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok())
        .unwrap_or(FAILED)
}

/// An interpreter that can run the package.
///
/// # Errors
/// Why there is none, and what to do.
pub(crate) fn interpreter() -> Result<PathBuf, String> {
    let tried: Vec<Tried> = candidates().into_iter().map(Tried::of).collect();
    let found = tried.iter().find(|tried| tried.fitness == Fitness::Fit);
    found
        .map(|found| found.program.clone())
        .ok_or_else(|| sentence(&tried))
}

/// An interpreter, and whether it will do.
#[derive(Debug)]
struct Tried {
    program: PathBuf,
    fitness: Fitness,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fitness {
    Fit,
    /// There is none of this name.
    Missing,
    /// It is of a version before 3.10.
    Old,
    /// The package is not installed for it.
    Bare,
}

impl Tried {
    fn of(program: PathBuf) -> Self {
        let fitness = fitness(&program);
        Tried { program, fitness }
    }
}

fn fitness(program: &Path) -> Fitness {
    let asked = Command::new(program)
        .args(["-c", PROBE])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match asked.map(|status| status.code()) {
        Ok(Some(0)) => Fitness::Fit,
        Ok(Some(NO_PACKAGE)) => Fitness::Bare,
        Ok(Some(TOO_OLD) | None) => Fitness::Old,
        // One that does not even read the question is not of this decade.
        Ok(Some(_)) => Fitness::Old,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Fitness::Missing,
        Err(_) => Fitness::Missing,
    }
}

/// The interpreters in which the package may be: the one that is named, the one beside this program
/// (of a wheel, or of a clone), the one of the environment that is active, and the system's.
fn candidates() -> Vec<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return vec![named.into()];
    }
    let beside = std::env::current_exe()
        .and_then(std::fs::canonicalize)
        .ok()
        .and_then(|program| Some(program.parent()?.to_owned()));
    let active = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    candidates_of(beside.as_deref(), active.as_deref())
}

fn candidates_of(beside: Option<&Path>, active: Option<&Path>) -> Vec<PathBuf> {
    let mut all = Vec::new();
    if let Some(folder) = beside {
        // A wheel puts this program beside its interpreter; `make build` makes an environment in
        // the folder above.
        all.push(folder.join("python3"));
        all.extend(
            folder
                .parent()
                .map(|target| target.join("python/bin/python3")),
        );
    }
    all.extend(active.map(|folder| folder.join("bin/python3")));
    all.push("python3".into());
    let is_there = |program: &PathBuf| program == OsStr::new("python3") || program.exists();
    all.retain(is_there);
    all
}

/// Returns the reason why none of them is usable, and advice.
fn sentence(tried: &[Tried]) -> String {
    let has = |fitness| tried.iter().find(|tried| tried.fitness == fitness);
    if let Some(bare) = has(Fitness::Bare) {
        return format!(
            "locustfiles need Loadline's package for Python, and {} has none: pip install \
             'loadline[locust]', or run `make build` in a clone",
            bare.program.display()
        );
    }
    if let Some(old) = has(Fitness::Old) {
        return format!(
            "locustfiles need Python 3.10 or newer, and {} is older; install a newer one, or name \
             it in {VARIABLE}",
            old.program.display()
        );
    }
    format!(
        "locustfiles need Python 3.10 or newer, and there is no python3 here; install it, and with \
         its pip: pip install 'loadline[locust]' ({VARIABLE} names another interpreter)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(fitnesses: &[Fitness]) -> String {
        let tried = |fitness: &Fitness| Tried {
            program: "python3".into(),
            fitness: *fitness,
        };
        sentence(&fitnesses.iter().map(tried).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_missing_is_said_in_one_sentence() {
        let none = said(&[Fitness::Missing]);
        assert!(none.contains("no python3 here; install it"), "{none}");
        let old = said(&[Fitness::Missing, Fitness::Old]);
        assert!(old.contains("python3 is older"), "{old}");
        let bare = said(&[Fitness::Old, Fitness::Bare]);
        assert!(bare.contains("pip install 'loadline[locust]'"), "{bare}");
    }

    #[test]
    fn interpreters_are_looked_for_beside_the_program_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let (release, python) = (
            folder.path().join("release"),
            folder.path().join("python/bin"),
        );
        for made in [&release, &python] {
            std::fs::create_dir_all(made).expect("a folder");
        }
        std::fs::write(python.join("python3"), "").expect("a file");
        let found = candidates_of(Some(&release), None);
        assert_eq!(found, [python.join("python3"), "python3".into()]);
        assert_eq!(candidates_of(None, None), [PathBuf::from("python3")]);
    }

    #[test]
    fn an_interpreter_that_is_not_there_is_missing() {
        assert_eq!(fitness(Path::new("/nowhere/python3")), Fitness::Missing);
    }
}
