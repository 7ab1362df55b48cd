//! `loadline locust`: its command, which Python runs with the extension below it.
//!
//! This process becomes the interpreter, so that signals, terminals and exit codes are those of
//! the command itself.

pub(crate) mod interpreter;

use crate::exit::{self, refuse};
use crate::interrupt::ending_signals;
use crate::web::followed::{Followed, Maker, follow, follow_log};
use crate::web::lever::Lever;
use crate::web::{Web, keep_open};
use anyhow::{Context, Result, anyhow};
use rustix::process::Signal;
use signal_hook::consts::SIGINT;
use signal_hook::iterator::Signals;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Names a file that does not exist yet: the record of the test is linked there when it begins, for
/// whoever shows it.
const RECORD: &str = "LOADLINE_RECORD";
/// The variable with the file that the lines of the log are appended to, for a page.
const PAGE_LOG: &str = "LOADLINE_PAGE_LOG";
/// The variable that says that the number of users is changed on stdin.
const STEERED: &str = "LOADLINE_STEERED";
/// The variable with the agents that have the users of a test.
const AGENTS: &str = "LOADLINE_AGENTS";

/// The variable with the names of options that were typed on a page: no one of Locust's own may be
/// among them, as some name files.
const OPTIONS: &str = "LOADLINE_OPTIONS_OF_FILE";

/// Locust's exit code if it could not start.
const FAILED: u8 = 1;

/// The words of a test, and the description of the agents that have its users.
#[derive(Clone, Debug)]
pub(crate) struct Words<'a> {
    pub(crate) words: &'a [OsString],
    pub(crate) agents: Option<String>,
    /// The names of options that only the locustfile may have added; `None` if it may be any.
    pub(crate) options: Option<String>,
}

impl Words<'_> {
    /// Becomes an interpreter that runs the words; returns only if there is none that can, with
    /// the exit code.
    pub(crate) fn run(&self) -> u8 {
        let program = match interpreter::find() {
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
        let mut python = interpreter::command(program, "loadline");
        python.args(self.words);
        if let Some(agents) = &self.agents {
            python.env(AGENTS, agents);
        }
        if let Some(options) = &self.options {
            python.env(OPTIONS, options);
        }
        python
    }

    /// Starts an interpreter that runs these words, in a process of its own, which signals of a
    /// terminal reach through us alone. The record of its test is linked at `record` when it
    /// begins, and the lines of its log are appended to the file `log`. Returns it with what
    /// changes the number of its users.
    ///
    /// # Errors
    /// The sentence for an interpreter that can't be started.
    pub(crate) fn start(
        &self,
        record: Option<&Path>,
        log: &Path,
        stderr: Stdio,
    ) -> Result<(Child, Lever), String> {
        let program = interpreter::find()?;
        let can_not = |error: io::Error| format!("{} can't be run: {error}", program.display());
        let (lever, end) = Lever::new().map_err(can_not)?;
        let mut python = self.python(&program);
        if let Some(record) = record {
            python.env(RECORD, record);
        }
        python.env(PAGE_LOG, log).env(STEERED, "1");
        let child = python
            .stdin(end)
            .stderr(stderr)
            .process_group(0)
            .spawn()
            .map_err(can_not)?;
        Ok((child, lever))
    }

    fn shown(&self, web: &Web) -> Result<u8> {
        let folder = tempfile::tempdir().context("there is no place for the record of the test")?;
        let record = folder.path().join("shown.run");
        let log = folder.path().join("log");
        let (child, lever) = self
            .start(Some(&record), &log, Stdio::inherit())
            .map_err(|sentence| anyhow!(sentence))?;
        let maker = Maker::of(&child, Some(lever));
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
