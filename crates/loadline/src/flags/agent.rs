//! The flags of `loadline agent` and `loadline agents`.

use super::doctor::text_or_json;
use crate::output::Output;
use clap::{Args, ValueHint};
use loadline_watch::Target;
use std::path::PathBuf;

/// A bus, and its user.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Machines")]
#[cfg_attr(
    not(feature = "cluster"),
    allow(dead_code, reason = "a build without the bus refuses them")
)]
pub(crate) struct BusFlags {
    /// The bus on which agents wait: a NATS server, such as nats://10.0.0.1:4222
    #[arg(long, value_name = "URL")]
    pub(crate) nats: Option<String>,

    /// The user of the bus
    #[arg(long, value_name = "NAME", requires = "nats")]
    pub(crate) nats_user: Option<String>,

    /// The file with that user's password in its first line
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "nats_user")]
    pub(crate) nats_password_file: Option<PathBuf>,

    /// A file with the user's NKey instead, and the token (JWT) for it if there is one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "nats",
        conflicts_with = "nats_user")]
    pub(crate) nats_creds: Option<PathBuf>,

    /// A file of authorities that the bus's certificate is trusted by, instead of the system's
    ///
    /// TLS is used if the bus requires it, or the URL begins with tls://.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "nats")]
    pub(crate) nats_ca: Option<PathBuf>,

    /// Accept a bus on another machine that has no credentials
    #[arg(long, requires = "nats")]
    pub(crate) insecure_bus: bool,
}

/// The bus of an agent, and the description by which it is found.
#[derive(Debug, Args)]
#[cfg_attr(
    not(feature = "cluster"),
    allow(dead_code, reason = "a build without the bus refuses them")
)]
pub(crate) struct AgentFlags {
    #[command(flatten)]
    pub(crate) bus: BusFlags,

    /// A label by which runs choose agents, such as region=eu; may be given again
    #[arg(long = "label", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<String>,

    /// Watch a process of this machine, by pid, program name or :port it listens on, for runs with
    /// --watch-agents (repeatable)
    ///
    /// For the machine of the target: such an agent sends no load.
    #[arg(long, value_name = "PID|NAME|:PORT")]
    pub(crate) watch: Vec<Target>,

    /// Run commands that coordinators send, as this user (`loadline agents --on`)
    ///
    /// Whoever may use the bus can then do here what this user can.
    #[arg(long)]
    pub(crate) allow_commands: bool,

    /// The name in reports [default: the machine's, with the number of the process]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// The bus whose agents are listed.
#[derive(Debug, Args)]
#[cfg_attr(
    not(feature = "cluster"),
    allow(dead_code, reason = "a build without the bus refuses them")
)]
pub(crate) struct AgentsFlags {
    #[command(flatten)]
    pub(crate) bus: BusFlags,

    /// List only agents with this label, such as region=eu; may be given again
    #[arg(long = "label", value_name = "KEY=VALUE", conflicts_with = "on")]
    pub(crate) labels: Vec<String>,

    /// List them as text or json, to stdout or a file (repeatable) [default: text]
    #[arg(short, long, value_name = "FORMAT[=FILE]", conflicts_with = "on",
        value_parser = |text: &str| text_or_json(text, "agents are listed"))]
    pub(crate) output: Vec<Output>,

    /// Run a command on the agent of this name, or the only one with this label, instead
    ///
    /// Its output and its exit code are those of this command, whose end by a signal ends it there
    /// as well. The agent must have been started with --allow-commands.
    #[arg(long, value_name = "NAME|KEY=VALUE", requires = "command")]
    pub(crate) on: Option<String>,

    /// The command and its arguments
    #[arg(last = true, requires = "on", value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
