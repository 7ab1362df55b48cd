//! Errors: of the bus, and of the search for agents.

use std::path::PathBuf;

/// The reason why a bus can't be used.
#[derive(Debug, thiserror::Error)]
pub enum BusError {
    /// The URL is invalid.
    #[error(
        "--nats {url} is no URL of a bus ({reason}); write it as nats://host:4222 or \
         tls://host:4222."
    )]
    Url {
        /// The URL, without its password.
        url: String,
        /// The defect.
        reason: String,
    },
    /// Whoever reaches the bus could run load from its agents.
    #[error(
        "the bus at {0} is on another machine and has no credentials, so whoever reaches it could \
         use its agents; give --nats-user and --nats-password-file, or --nats-creds, or accept it \
         with --insecure-bus."
    )]
    Open(String),
    /// The password can't be read.
    #[error("--nats-password-file {}: it can't be read ({reason}).", path.display())]
    Password {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The credentials can't be read.
    #[error("--nats-creds {}: {reason}.", path.display())]
    Creds {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The bus can't be reached.
    #[error("the bus at {host} can't be used: {reason}; is nats-server running there?")]
    Unreachable {
        /// Its host and port.
        host: String,
        /// The reason.
        reason: String,
    },
    /// The bus refuses the credentials, or the lack of them.
    #[error(
        "the bus at {0} refuses its user; give --nats-user and --nats-password-file, or \
         --nats-creds, as its configuration has them."
    )]
    Refused(String),
    /// The bus does not permit its user what agents and coordinators do.
    #[error(
        "the bus does not permit its user what Loadline does there ({0}); permit it to publish and \
         to subscribe to loadline.> and _INBOX.>."
    )]
    Forbidden(String),
    /// There is no TLS with the bus.
    #[error(
        "the bus at {host} can't be used over TLS: {reason}; give the file with its authority by \
         --nats-ca if it is not one of the system's."
    )]
    Tls {
        /// Its host and port.
        host: String,
        /// The reason.
        reason: String,
    },
    /// The system refuses a thread or a socket.
    #[error("the connection to the bus can't be served: {0}.")]
    System(#[from] std::io::Error),
    /// The connection is over.
    #[error("the bus can't be used any more: {0}.")]
    Broken(String),
}

/// The reason why there are too few agents for a run.
#[derive(Debug, thiserror::Error)]
pub enum GatherError {
    /// The bus can't be used.
    #[error(transparent)]
    Bus(#[from] BusError),
    /// Fewer agents than needed can take part.
    #[error(
        "--agents {requested}: {usable} of the {present} agents on the bus can take part{}{}; \
         start more with `loadline agent`, or give a lower number.",
        listed(refusals),
        counted_strangers(*strangers)
    )]
    TooFew {
        /// The agents that are needed, as they were given.
        requested: String,
        /// The number of agents that can take part.
        usable: usize,
        /// The number of agents.
        present: usize,
        /// The others, each with its reason.
        refusals: Vec<String>,
        /// The number of those that have other labels.
        strangers: usize,
    },
    /// Some of the agents with the labels can't take part, and all of them are requested.
    #[error(
        "--agents {requested} is all that have this label, and {usable} of {present} can take \
         part{}; wait for the others, or give a number as well: --agents {usable},{requested}.",
        listed(refusals)
    )]
    NotAll {
        /// The agents that are needed, as they were given.
        requested: String,
        /// The number of agents that can take part.
        usable: usize,
        /// The number of agents with the labels that take part in runs.
        present: usize,
        /// The others, each with its reason.
        refusals: Vec<String>,
    },
    /// Fewer agents than needed watch processes.
    #[error(
        "--watch-agents {requested}: {watchers} of the {present} such agents on the bus watch \
         something; start more on the machine of the target, as with `loadline agent --watch \
         :8080`."
    )]
    TooFewWatchers {
        /// The agents that are needed, as they were given.
        requested: String,
        /// The number of agents that watch something.
        watchers: usize,
        /// The number of agents.
        present: usize,
    },
    /// More agents than a run may have.
    #[error(
        "--agents {requested} is {agents} agents, and a run has at most {most}: so many were tried \
         with one command; give a lower number, with more threads (-t) for each of them."
    )]
    TooMany {
        /// The agents that are needed, as they were given.
        requested: String,
        /// Their number.
        agents: usize,
        /// The most that a run may have.
        most: usize,
    },
}

/// Returns a list that follows a colon, if it has anything.
fn listed(refusals: &[String]) -> String {
    match refusals {
        [] => String::new(),
        some => format!(" (agent {})", some.join("; agent ")),
    }
}

/// Returns the words about agents with other labels, if there are any.
fn counted_strangers(strangers: usize) -> String {
    match strangers {
        0 => String::new(),
        1 => ", and 1 more has other labels".to_owned(),
        _ => format!(", and {strangers} more have other labels"),
    }
}
