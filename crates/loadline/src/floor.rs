//! The floor before a run, measured against this program as its own server.

use crate::interrupt::{Interrupts, Manner};
use crate::terminal::print_line;
use anyhow::Result;
use loadline_plan::Plan;
use loadline_record::Floor;
use loadline_runner::{Commands, measure_floor, measure_floor_of_machine};
use std::io;
use std::process::Command;

/// The floor before a run, or before several. An interrupt meanwhile ends the command: nothing of
/// the run is measured yet.
///
/// # Errors
/// If signals can't be watched meanwhile.
pub(crate) fn before_run(plan: &Plan) -> Result<Option<Floor>> {
    let commands = Commands::default();
    let interrupts = Interrupts::watch(Manner::AtOnce, &commands)?;
    let floor = measured(plan, &commands);
    interrupts.end_before_load();
    Ok(floor)
}

/// Measures the floor of this plan. A failure is printed, and does not stop the run.
pub(crate) fn measured(plan: &Plan, commands: &Commands) -> Option<Floor> {
    measure_floor(plan, commands, &serve).unwrap_or_else(|error| {
        print_line(&format!(
            "The floor of this machine was not measured: {:#}.",
            anyhow::Error::from(error)
        ));
        None
    })
}

/// Measures the floor of this machine, which has so many cores, for no run in particular.
///
/// # Errors
/// The reason why it can't be measured: the rest of a sentence.
#[cfg(feature = "cluster")]
pub(crate) fn of_machine(cores: u32) -> Result<Floor, String> {
    let floor = measure_floor_of_machine(cores, &serve);
    floor.map_err(|error| format!("can't measure it: {:#}", anyhow::Error::from(error)))
}

/// The command that serves without doing anything else.
fn serve(scheme: &str, threads: u32) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["serve", "--listen", "127.0.0.1:0"])
        .args(["--ignore-options", "--until-eof"])
        .args(["--threads", &threads.to_string()]);
    if scheme == "https" {
        command.arg("--tls");
    }
    Ok(command)
}
