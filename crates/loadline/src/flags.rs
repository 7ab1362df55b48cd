//! The command line, every flag declared once.
//!
//! Help, man page, completions and the keys of a plan file all come from these declarations: one
//! file per subcommand, and one per group of the flags of a run. Reading them is cheap and touches
//! nothing outside; [`resolve`](crate::resolve::resolve) opens the files that they name.

pub(crate) mod agent;
pub(crate) mod capacity;
mod choice;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod doctor;
mod foreign;
mod help;
pub(crate) mod history;
mod late_command;
pub(crate) mod man;
mod refusal;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod shims;
mod stray;
pub(crate) mod study;
pub(crate) mod versus;
pub(crate) mod watch;
pub(crate) mod web;

pub(crate) use late_command::quoted;
pub(crate) use refusal::{Refusal, not_text, sentence, suggestion, value_problem};

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;

/// The exit codes, for the help.
pub(crate) const EXIT_CODES: &str = "Exit codes: 0 success, 1 a check failed, 2 usage or run \
    error, 3 the result is invalid or can't decide a check, 4 a comparison can't tell, 130 \
    interrupted.";

/// The whole command line. Without a subcommand, it is a run.
#[derive(Debug, Parser)]
#[command(
    name = "loadline",
    version,
    about = "Find how much load an HTTP service carries, and whether the figure can be believed.",
    after_help = EXIT_CODES,
    args_conflicts_with_subcommands = true
)]
struct Line {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: run::RunFlags,
}

/// What is asked for.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Load a service and report how it did; the word `run` may be left out.
    Run(Box<run::RunFlags>),
    /// Find the load line: the highest rate at which all checks pass.
    Capacity(Box<capacity::CapacityFlags>),
    /// Report a saved run again, in any format.
    Report(report::ReportFlags),
    /// Compare saved runs statistically: is B slower than A?
    Compare(compare::CompareFlags),
    /// Show how a test went from run to run, and since when it is slower.
    History(history::HistoryFlags),
    /// A/B test two targets in alternating runs: is B slower than A?
    Versus(Box<versus::VersusFlags>),
    /// Run many tests, of Loadline and other load testers, from one file into one table.
    Study(study::StudyFlags),
    /// Run a test server that stalls, fails and misbehaves on demand.
    Serve(Box<serve::ServeFlags>),
    /// See coordinated omission in ten seconds, with a server that stalls once.
    Demo(demo::DemoFlags),
    /// ApacheBench-compatible mode: ab's options, ab's report.
    #[command(disable_help_flag = true)]
    Ab(Verbatim),
    /// wrk-compatible mode: wrk's options and scripts, wrk's report.
    #[command(disable_help_flag = true)]
    Wrk(Verbatim),
    /// wrk2-compatible mode: wrk2's options and scripts, wrk2's report.
    #[command(disable_help_flag = true)]
    Wrk2(Verbatim),
    /// oha-compatible mode: oha's options, oha's reports.
    #[command(disable_help_flag = true)]
    Oha(Verbatim),
    /// k6-compatible mode: k6's commands and scripts, k6's reports.
    #[command(disable_help_flag = true)]
    K6(Verbatim),
    /// Locust-compatible mode: Locust's options and locustfiles, Locust's tables.
    #[command(disable_help_flag = true)]
    Locust(Verbatim),
    /// Create symlinks wrk, wrk2, ab, oha, k6 and locust that run Loadline instead.
    Shims(shims::ShimsFlags),
    /// Serve a page from which runs are started, watched and compared, until Ctrl-C.
    Web(web::StartFlags),
    /// Wait on a bus for runs, and send a part of their load, until Ctrl-C.
    Agent(agent::AgentFlags),
    /// List the agents that wait on a bus.
    Agents(agent::AgentsFlags),
    /// Watch CPU, memory and network of a process and of this host, until Ctrl-C.
    Watch(watch::WatchFlags),
    /// Say what this machine can carry, and what to change about it first.
    #[command(after_help = doctor::EXIT_CODES)]
    Doctor(doctor::DoctorFlags),
    /// Print the manual page.
    #[command(hide = true)]
    Man(man::ManFlags),
    /// Print the completion script of a shell.
    Completions(completions::CompletionsFlags),
}

/// Another tool's arguments. `dialect` reads them before any flag; help and completions need this.
#[derive(Debug, Args)]
pub(crate) struct Verbatim {
    /// The other tool's own arguments
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    _words: Vec<OsString>,
}

/// Reads a whole command line, the program's name first.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Command, Refusal> {
    let words: Vec<OsString> = words.into_iter().collect();
    if let Some(sentence) = stray::other_tool(&words) {
        return Err(Refusal::Mistake(sentence));
    }
    let line = read(&words).map_err(|error| Refusal::of_line(&error, &words))?;
    let (mut command, own_words) = match line.command {
        Some(command) => (command, 2),
        None => (Command::Run(Box::new(line.run)), 1),
    };
    let own = || words.iter().skip(own_words).cloned().collect();
    match &mut command {
        Command::Run(flags) => flags.typed = own(),
        Command::Capacity(flags) => flags.run.typed = own(),
        Command::Versus(flags) => flags.run.typed = own(),
        Command::Report(_)
        | Command::Compare(_)
        | Command::History(_)
        | Command::Study(_)
        | Command::Serve(_)
        | Command::Demo(_)
        | Command::Ab(_)
        | Command::Wrk(_)
        | Command::Wrk2(_)
        | Command::Oha(_)
        | Command::K6(_)
        | Command::Locust(_)
        | Command::Shims(_)
        | Command::Web(_)
        | Command::Agent(_)
        | Command::Agents(_)
        | Command::Watch(_)
        | Command::Doctor(_)
        | Command::Man(_)
        | Command::Completions(_) => {}
    }
    Ok(command)
}

fn read(words: &[OsString]) -> Result<Line, clap::Error> {
    let mut line = command();
    let matches = line.try_get_matches_from_mut(words)?;
    Line::from_arg_matches(&matches).map_err(|error| error.format(&mut line))
}

/// All declarations, for the manual and the completions.
pub(crate) fn command() -> clap::Command {
    Line::command().mut_subcommands(|command| match command.get_name() {
        "capacity" => capacity::adapt(command),
        "versus" => versus::adapt(command),
        _ => command,
    })
}

/// Flags that a plan file can give: those of a run, and what may stand with them.
pub(crate) trait Planned: Args {
    /// The flags of a run among them.
    fn run(&mut self) -> &mut run::RunFlags;

    /// Changes what is declared, where it means something else here.
    fn adapt(command: clap::Command) -> clap::Command {
        command
    }
}

impl Planned for run::RunFlags {
    fn run(&mut self) -> &mut run::RunFlags {
        self
    }
}

impl Planned for capacity::CapacityFlags {
    fn run(&mut self) -> &mut run::RunFlags {
        &mut self.run
    }

    fn adapt(command: clap::Command) -> clap::Command {
        capacity::adapt(command)
    }
}

impl Planned for versus::VersusFlags {
    fn run(&mut self) -> &mut run::RunFlags {
        &mut self.run
    }

    fn adapt(command: clap::Command) -> clap::Command {
        versus::adapt(command)
    }
}

/// The declarations of such flags alone, by which the keys of a plan file are read.
pub(crate) fn planned_command<F: Planned>() -> clap::Command {
    let command = clap::Command::new("loadline")
        .no_binary_name(true)
        .disable_help_flag(true);
    F::adapt(F::augment_args(command))
}

/// Reads such flags alone, no program's name before them.
pub(crate) fn parse_planned<F: Planned>(
    words: impl IntoIterator<Item = OsString>,
) -> Result<F, clap::Error> {
    let words: Vec<OsString> = words.into_iter().collect();
    let matches = planned_command::<F>().try_get_matches_from(&words)?;
    let mut flags = F::from_arg_matches(&matches)?;
    flags.run().typed = words;
    Ok(flags)
}

#[cfg(test)]
mod tests;
