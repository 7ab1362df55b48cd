//! The process that runs a tool's command, as the command sees it.

use crate::page::{LivePages, PageRequest};
use crate::signals::Signals;
use loadline_runner::{Commands, Observer, OnlyEnds};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// A stream to which text is written, from any thread.
pub type Stream = Box<dyn Write + Send>;

/// Creates Loadline's live view of a run with this many frames per second, if there is room for it.
pub type LiveView = Box<dyn Fn(u32) -> Option<Box<dyn Observer>>>;

/// The means that a command has of the process that runs it.
pub struct Host {
    /// The cores that may be used, at least 1.
    pub cores: u32,
    /// The processes that the threads are spread over, at least 1.
    pub processes: u32,
    /// The seed of all random choices.
    pub seed: u64,
    /// The working directory, or the reason why it is not known.
    pub directory: io::Result<PathBuf>,
    /// The variables of the environment that are text.
    pub environment: BTreeMap<String, String>,
    /// Standard output.
    pub stdout: Stream,
    /// Standard error.
    pub stderr: Stream,
    /// The kinds of the two streams.
    pub terminals: Terminals,
    /// Ends the run when the user wants it; the report is printed all the same.
    pub commands: Commands,
    /// The signals that the process receives.
    pub signals: Signals,
    /// Creates the live view.
    pub view: LiveView,
    /// Opens the live page in a browser.
    pub pages: LivePages,
}

/// The streams that are terminals.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terminals {
    /// True if standard output is a terminal.
    pub stdout: bool,
    /// True if standard error is a terminal.
    pub stderr: bool,
    /// The number of columns of standard output, if known.
    pub columns: Option<u16>,
}

impl Host {
    /// Creates a host with these streams, one core, an empty environment and no terminal.
    pub fn new(stdout: Stream, stderr: Stream) -> Host {
        Host {
            cores: 1,
            processes: 1,
            seed: 0,
            directory: std::env::current_dir(),
            environment: BTreeMap::new(),
            stdout,
            stderr,
            terminals: Terminals::default(),
            commands: Commands::default(),
            signals: Signals::default(),
            view: Box::new(|_| None),
            pages: Box::new(|_| Ok(None)),
        }
    }

    /// Opens the live page of a run whose load can only be ended, if there is to be one. Returns
    /// the observer of the run, which is dropped at its end.
    ///
    /// # Errors
    /// The sentence for a page that can't be served.
    pub fn page(&self) -> Result<Option<Box<dyn Observer>>, String> {
        let shown = (self.pages)(PageRequest {
            steer: Arc::new(OnlyEnds(self.commands.clone())),
            own: None,
            events: None,
        });
        Ok(shown?.map(|shown| shown.observer))
    }

    /// True if standard output is a terminal that can be drawn on: escapes would show on a dumb
    /// one.
    pub fn draws(&self) -> bool {
        let terminal = self.environment.get("TERM");
        self.terminals.stdout && terminal.is_none_or(|name| name != "dumb")
    }

    /// True if the environment asks for text without colours.
    pub fn refuses_colours(&self) -> bool {
        let variable = self.environment.get("NO_COLOR");
        variable.is_some_and(|value| !value.is_empty())
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host")
            .field("cores", &self.cores)
            .field("processes", &self.processes)
            .field("terminals", &self.terminals)
            .finish_non_exhaustive()
    }
}
