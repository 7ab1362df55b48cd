//! A command under way: its words, and its host as its parts share it.

use super::Refused;
use super::console::Console;
use super::origin::CommandContext;
use super::screen::Screen;
use super::stop::Interrupt;
use loadline_k6_options::cli::Invocation;
use loadline_runner::Commands;
use loadline_tool_host::{Host, LivePages, Terminals};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The host of a command, as its parts share it.
pub(super) struct Session {
    /// The cores that may be used, at least 1.
    pub(super) cores: u32,
    /// The number of processes of the load: the words before those of k6.
    pub(super) processes: u32,
    /// The seed of all random choices.
    pub(super) seed: u64,
    /// The working directory, and the variables of the environment.
    pub(super) place: CommandContext,
    /// The output of the command.
    pub(super) screen: Arc<Screen>,
    /// The kinds of the output streams.
    pub(super) terminals: Terminals,
    /// Ends a test early.
    pub(super) interrupt: Interrupt,
    /// Cancels the command's own requests to servers.
    pub(super) commands: Commands,
    /// Opens the live page of a test.
    pub(super) pages: LivePages,
}

impl Session {
    /// Creates the session of a command; `None` if the working directory is not known, which is
    /// printed.
    pub(super) fn of(host: Host) -> Option<Session> {
        let screen = Screen::new(host.stdout, host.stderr);
        let directory = match host.directory {
            Ok(directory) => directory,
            Err(error) => {
                let text = format!("loadline: the working directory is not known: {error}\n");
                screen.print_error(&text);
                return None;
            }
        };
        Some(Session {
            cores: host.cores,
            processes: host.processes,
            seed: host.seed,
            place: CommandContext {
                directory,
                environment: host.environment,
            },
            screen: Arc::new(screen),
            terminals: host.terminals,
            interrupt: Interrupt::new(host.signals),
            commands: host.commands,
            pages: host.pages,
        })
    }
}

/// A parsed command with its environment.
pub(super) struct ParsedCommand<'a> {
    pub(super) invocation: &'a Invocation,
    pub(super) session: &'a Session,
    pub(super) console: &'a Arc<Console>,
    pub(super) has_colours: bool,
}

impl ParsedCommand<'_> {
    /// Prints to standard output.
    pub(super) fn print(&self, text: &str) -> Result<(), Refused> {
        self.session.screen.print(text);
        Ok(())
    }

    /// Returns the variables of the environment.
    pub(super) fn environment(&self) -> &BTreeMap<String, String> {
        &self.session.place.environment
    }

    /// Returns the last value of a flag, or the value of its variable.
    pub(super) fn flag(&self, name: &str) -> Option<String> {
        self.invocation.flag(name, self.environment())
    }

    /// True if a switch is on.
    pub(super) fn is_on(&self, name: &str) -> bool {
        self.invocation.is_on(name, self.environment())
    }
}
