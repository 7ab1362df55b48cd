//! The `loadline` command: arguments in, plan out, run, report, exit code.

mod against;
mod closing;
mod commands;
mod dialect;
mod exit;
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
mod view;
mod visible;
mod waiting;
mod web;

use crate::exit::{Exit, refuse, sentence};
use crate::flags::{Command, Refusal};
use crate::resolve::{Surroundings, resolve, resolve_search};
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

/// Does what the command line says.
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
        Err(Refusal::Asked(text)) => print(&text).unwrap_or_else(|error| refuse(&sentence(&error))),
        Err(Refusal::Mistake(sentence)) => refuse(&sentence),
    };
    exit.into()
}

fn run(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Run(flags) => commands::run::run(resolve(
            *flags,
            Surroundings::of_this_machine(&mut io::stdin()),
        )?),
        Command::Capacity(flags) => commands::capacity::run(resolve_search(
            *flags,
            Surroundings::of_this_machine(&mut io::stdin()),
        )?),
        Command::Report(flags) => commands::report::run(&flags),
        Command::Compare(flags) => commands::compare::run(&flags),
        Command::History(flags) => commands::history::run(&flags),
        Command::Versus(flags) => commands::versus::run(*flags),
        Command::Study(flags) => commands::study::run(&flags),
        Command::Serve(flags) => commands::serve::run(&flags),
        Command::Demo(flags) => commands::demo::run(&flags),
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

/// Prints what was asked for.
fn print(text: &str) -> anyhow::Result<Exit> {
    publish::print(text).map(|()| Exit::Good)
}
