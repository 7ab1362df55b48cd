//! The `loadline` command: arguments in, plan out, run, report, exit code.
//!
//! ## To change
//!
//! - a flag of a run: its declaration `flags/run/`, one file per group; from there to the plan
//!   `resolve.rs`, `resolve/`; help, manual, completions and the plan file's key follow by
//!   themselves
//! - a flag that is not of the plan: as above, with its field in `invocation.rs` and
//!   `resolve/outputs.rs`
//! - the flags that `-h` shows, and the groups of `--help`: `flags/help.rs`
//! - the answers to a command line with a mistake: `flags/refusal.rs`; words and flags of other
//!   tools `flags/foreign.rs`, `flags/stray.rs`, `flags/run/target_word.rs`
//! - a plan file: `plan_file.rs`, its scenarios `plan_file/scenario.rs` (`OF_WHOLE_RUN`) and
//!   `resolve/scenarios.rs` (`refuse_contradictions`, `completed`), its variables
//!   `plan_file/variables.rs`
//! - a subcommand: `Command` in `flags.rs`, a file in `flags/` and one in `commands/`, an arm in
//!   `main.rs`
//! - another tool: `Dialect` in `dialect.rs`, `Command` in `flags.rs`, an arm in `main.rs`, `NAMES`
//!   in `commands/shims.rs`; the host of its command `dialect.rs`, signals `dialect/signals.rs`,
//!   its users in other processes `commands/worker.rs`
//! - an exit code: `exit.rs`; the sentence on stderr `closing.rs`
//! - an output format: `Format` in `output.rs`, its help `flags/run/output.rs`, who prints it
//!   `publish.rs`; of a comparison `flags/compare.rs`, `commands/compare.rs`
//! - what observes a run (files, exporters): `observers` in `session.rs`, `observers.rs`,
//!   `exporting.rs`
//! - signals and keys: `interrupt.rs`, `keys.rs`
//! - what is known and set of a terminal: `terminal.rs`, `terminal/mode.rs`
//! - what a terminal shows during a run: the line `live.rs`; the view's terminal, thread and
//!   printing `view.rs`, `view/`
//! - the live page: `web.rs`; `loadline web` `commands/web.rs`, its forms `web/words.rs`, what it
//!   starts `web/starter.rs`; Loadline's words in front of another tool's `dialect/front.rs`
//! - the agents of a run, this machine as an agent: `agents.rs`, `agents/`
//! - baselines, the floor, two targets in turn: `against.rs`, `floor.rs`, `commands/versus.rs`
//! - the output for GitHub Actions: `github.rs`; a sentence while something takes long before the
//!   load: `waiting.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod against;
mod agents;
mod closing;
mod commands;
mod dialect;
mod exit;
mod exporting;
mod flags;
mod floor;
mod github;
mod interrupt;
mod invocation;
mod keys;
mod live;
mod observers;
mod output;
mod plan_file;
mod publish;
mod resolve;
mod session;
mod terminal;
mod view;
mod waiting;
mod web;

use crate::exit::{Exit, refuse, sentence};
use crate::flags::{Command, Refusal};
use crate::resolve::{RunEnvironment, resolve_on_agents, resolve_search};
use std::ffi::OsString;
use std::io;
use std::panic::catch_unwind;
use std::process::ExitCode;

fn main() -> ExitCode {
    // What panics here is a defect of ours, which the default hook has told with its place.
    catch_unwind(command).unwrap_or_else(|_| {
        refuse("it panicked, which is a defect of Loadline: please report it.").into()
    })
}

/// Executes the command line.
fn command() -> ExitCode {
    let line: Vec<OsString> = std::env::args_os().collect();
    // Where this fails, a signal ends the process when a file is full.
    let _ = interrupt::outlive_full_files();
    if commands::worker::is_meant(&line) {
        let served = commands::worker::run();
        return served
            .unwrap_or_else(|error| refuse(&sentence(&error)))
            .into();
    }
    if let Some(code) = dialect::run(&line) {
        return code;
    }
    let exit = match flags::parse(line) {
        Ok(command) => run(command).unwrap_or_else(|error| refuse(&sentence(&error))),
        Err(Refusal::Requested(text)) => {
            print(&text).unwrap_or_else(|error| refuse(&sentence(&error)))
        }
        Err(Refusal::Mistake(sentence)) => refuse(&sentence),
    };
    exit.into()
}

fn run(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Run(flags) => commands::run::run(resolve_on_agents(
            *flags,
            RunEnvironment::of_this_machine(&mut io::stdin()),
        )?),
        Command::Capacity(flags) => commands::capacity::run(resolve_search(
            *flags,
            RunEnvironment::of_this_machine(&mut io::stdin()),
        )?),
        Command::Report(flags) => commands::report::run(&flags),
        Command::Compare(flags) => commands::compare::run(&flags),
        Command::History(flags) => commands::history::run(&flags),
        Command::Versus(flags) => commands::versus::run(*flags),
        Command::Study(flags) => commands::study::run(&flags),
        Command::Serve(flags) => commands::serve::run(&flags),
        Command::Demo(flags) => commands::demo::run(&flags),
        Command::Web(flags) => commands::web::run(&flags),
        Command::Agent(flags) => agents::serve(&flags),
        Command::Agents(flags) => agents::list(&flags),
        Command::Watch(flags) => commands::watch::run(&flags),
        Command::Doctor(flags) => commands::doctor::run(&flags),
        Command::Man(flags) => print(&commands::man::page(&flags)?),
        Command::Ab(_)
        | Command::Wrk(_)
        | Command::Wrk2(_)
        | Command::Oha(_)
        | Command::K6(_)
        | Command::Locust(_) => Ok(refuse(
            "another tool takes its own arguments; write its name first, as in `loadline ab`.",
        )),
        Command::Shims(flags) => commands::shims::run(&flags),
        Command::Completions(flags) => print(&commands::completions::script(&flags)),
    }
}

/// Prints a requested text.
fn print(text: &str) -> anyhow::Result<Exit> {
    publish::print(text).map(|()| Exit::Good)
}
