//! Why a plan can't be run: its parts contradict each other, or leave nothing to do.
//!
//! The sentences name the command's flags, which are the plan file's keys as well.

use crate::{Error, Rate};

/// Requests of a pipeline that are more than enough: they are written before the run, in memory.
pub(crate) const MOST_PIPELINED: u32 = 65_536;

/// The bytes of the longest path that a Unix socket can have: `sun_path` of unix(7), less its end.
pub(crate) const LONGEST_SOCKET_PATH: usize = 107;

/// Parts of a plan that contradict each other, or leave nothing to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    /// Arrivals are spread where there are none.
    #[error("--arrivals spreads the arrivals of a --rate; give one.")]
    ArrivalsWithoutRate,
    /// Two options that set the credentials.
    #[error("--user and the header Authorization both set the credentials; give one of them.")]
    AuthorizationTwice,
    /// A base of nothing.
    #[error(
        "--base-url is the beginning of relative URLs in a list; give --urls, or leave it out."
    )]
    BaseUrlWithoutList,
    /// A path that no socket can have.
    #[error(
        "--unix-socket has a path of {0} bytes, and sockets have at most {LONGEST_SOCKET_PATH}; \
         give a shorter one, such as one relative to the current folder."
    )]
    UnixSocketTooLong(usize),
    /// Two bodies for one request.
    #[error("--body and --form both set the body; give one of them.")]
    BodyAndForm,
    /// Two options that set when requests start.
    #[error("--burst and --rate both say when requests start; give one of them.")]
    BurstAndRate,
    /// A burst has no course.
    #[error("--stages ramps a --rate or the connections, not a --burst; give one of them.")]
    BurstAndStages,
    /// A run that waits for all responses anyway.
    #[error(
        "--drain waits after the end of a --duration, and a run of --requests waits for every \
         response anyway; leave one of them out."
    )]
    DrainWithRequests,
    /// A boundary that the form does not have.
    #[error("--form sets the Content-Type itself, with its boundary; leave that --header out.")]
    FormAndContentType,
    /// A rate that even a target that answers all at once can't have.
    #[error("{check} can never pass: --rate asks for {rate}; raise that, or lower the bound.")]
    CheckAboveRate {
        /// The condition as typed.
        check: String,
        /// What is asked for.
        rate: Rate,
    },
    /// A part of the delay in a closed loop, which has none.
    #[error(
        "{0} looks at the delay between intended start and send, and a closed loop has no such \
         delay; give a --rate, or leave the check out."
    )]
    CheckOnDelayWhenClosed(String),
    /// Arrivals that are dropped, where nothing arrives by a schedule.
    #[error(
        "Late arrivals can be dropped in an open load only, as users of a closed one wait for \
         nothing; give a rate, or let late arrivals wait."
    )]
    DropWhenClosed,
    /// A time for users that leave, where none does.
    #[error(
        "The time of a graceful ramp-down is for users that leave between stages; give stages of \
         users, or leave that time out."
    )]
    RampDownWithoutStages,
    /// A pause of users that wait for a schedule anyway.
    #[error(
        "--think pauses the users of a closed loop between two iterations, and in an open loop the \
         schedule says when the next one begins; leave out --think, or what opens the loop: \
         --rate, --burst, a search without --users."
    )]
    ThinkWhenOpen,
    /// A tag, where only scenarios have tags.
    #[error(
        "{0} looks at a tag, and only the scenarios of a plan file have tags; leave it out, or \
         look at a {{name:NAME}}."
    )]
    CheckOnTagWithoutScenarios(String),
    /// A tag that no scenario has.
    #[error("{check} looks at a tag that no scenario has; the tags are {tags}.")]
    CheckOnUnknownTag {
        /// The condition as typed.
        check: String,
        /// The first of the tags that there are.
        tags: String,
    },
    /// A metric that nothing counts.
    #[error("{0} looks at a metric of a script, and there is no script; add one with --script.")]
    CheckOnMetricWithoutScript(String),
    /// A name that is no request's.
    #[error("{check} looks at a name that no request has; the names are {names}.")]
    CheckOnUnknownName {
        /// The condition as typed.
        check: String,
        /// The first of the names that there are.
        names: String,
    },
    /// A scenario that could not be run by itself.
    #[error("scenario {name}: {problem}")]
    InScenario {
        /// Its name.
        name: String,
        /// Why.
        problem: Box<Contradiction>,
    },
    /// A number of users, where an open load or stages set it.
    #[error(
        "iterations_per_user is for a number of users that stays the same; leave it out, or leave \
         out rate, burst and stages."
    )]
    IterationsOfUsers,
    /// A key that belongs to nothing.
    #[error("--key belongs to a certificate; give that with --cert.")]
    KeyWithoutCert,
    /// HTTP/2 has streams instead.
    #[error(
        "--pipeline sends requests ahead over HTTP/1.1, and HTTP/2 has streams for that; give \
         --streams."
    )]
    PipelineAndHttp2,
    /// Users of HTTP/2 share connections by its streams.
    #[error(
        "--shared-connections is for HTTP/1.1, and over HTTP/2 users share connections by their \
         streams; give --streams."
    )]
    SharedAndHttp2,
    /// Each worker has connections of its own.
    #[error(
        "--threads {threads} needs as many connections, and --shared-connections {shared} are \
         fewer; give more of these, or fewer threads."
    )]
    ThreadsAboveShared {
        /// How many workers there are.
        threads: u32,
        /// How many connections there are for all users.
        shared: u32,
    },
    /// HTTP/2 is for connections that stay.
    #[error("--http 2 needs connections that stay open; leave out --no-keepalive.")]
    Http2WithoutKeepalive,
    /// A proxy is asked in HTTP/1.1.
    #[error(
        "--proxy forwards http URLs over HTTP/1.1 only; give https URLs, which go through a \
         tunnel, or leave out --http 2."
    )]
    Http2ThroughProxy,
    /// Scripts write HTTP/1.1.
    #[error("--script sends its requests over HTTP/1.1; leave out --http.")]
    ScriptAndHttp2,
    /// The kernel can't tell which stream a byte belongs to.
    #[error(
        "--kernel-timestamps splits requests of HTTP/1.1, which have a connection to themselves; \
         leave it out, or --http."
    )]
    KernelTimestampsAndHttp2,
    /// No streams.
    #[error("--streams 0 sends nothing; give at least 1.")]
    NoStreams,
    /// Only HTTP/2 has streams.
    #[error("--streams is for HTTP/2; give --http 2.")]
    StreamsWithoutHttp2,
    /// Only HTTP/2 has windows.
    #[error("--{0}-window is for HTTP/2; give --http 2.")]
    WindowWithoutHttp2(&'static str),
    /// A window that HTTP/2 can't have.
    #[error("--{0}-window must be at least 1 byte and less than 2 GiB.")]
    WindowOutOfRange(&'static str),
    /// The kernel is asked for what is not taken from it.
    #[error(
        "--kernel-timestamps splits requests by the kernel's clock, which --clock user turns off; \
         leave one of them out."
    )]
    KernelTimestampsAndUserClock,
    /// All local addresses are of the other kind.
    #[error(
        "--{version} and --local-address contradict each other: {address} is of the other IP \
         version."
    )]
    LocalAddressOfOtherVersion {
        /// `ipv4` or `ipv6`.
        version: &'static str,
        /// The address that does not fit.
        address: std::net::IpAddr,
    },
    /// Fewer connections at most than there are from the start.
    #[error(
        "--max-connections {most} is below --connections {connections}; raise it, or lower \
         --connections."
    )]
    MaxConnectionsBelow {
        /// The most.
        most: u32,
        /// Those from the start.
        connections: u32,
    },
    /// Only arrivals can find no connection free.
    #[error(
        "--max-connections is for an open load, which has a --rate or a --burst; a closed one \
         never needs more than --connections."
    )]
    MaxConnectionsWhenClosed,
    /// More names than may have rows of their own.
    #[error(
        "the requests have {names} different names, and reports have rows for at most {most}; \
         raise --max-series, or use fewer names."
    )]
    NamesAboveMost {
        /// Different names that were given.
        names: usize,
        /// The most that have series of their own.
        most: u32,
    },
    /// No connections.
    #[error("--connections 0 sends nothing; give at least 1.")]
    NoConnections,
    /// A script's requests are its own.
    #[error(
        "--{0} is for the requests of a list, and --script itself decides what follows on a \
         response; leave one of them out."
    )]
    ClientAndScript(&'static str),
    /// What follows on a response can't be sent before it.
    #[error(
        "--{0} looks at each response before the next request, and --pipeline sends that ahead; \
         leave one of them out."
    )]
    ClientAndPipeline(&'static str),
    /// Users that look at responses speak HTTP/1.1.
    #[error("--{0} is for HTTP/1.1; leave it out, or leave out --http.")]
    ClientAndHttp2(&'static str),
    /// Stdin can be read once.
    #[error("--body - and --urls - both read stdin; give one of them a file.")]
    StdinTwice,
    /// A digest of no password.
    #[error("--digest answers the server's challenge with a password; give --user.")]
    DigestWithoutUser,
    /// Nothing ends the run.
    #[error("nothing ends the run; give --duration or --requests.")]
    NoEnd,
    /// Pipelines that hold nothing.
    #[error("--pipeline 0 sends nothing; give at least 1.")]
    NoPipeline,
    /// A pipeline that nothing reads.
    #[error("--pipeline {0} is more than any server reads ahead; give at most {MOST_PIPELINED}.")]
    PipelineTooDeep(u32),
    /// Nothing ever arrives.
    #[error("--rate {0} sends nothing; give more.")]
    NoRate(Rate),
    /// A run of no requests.
    #[error("--requests 0 sends nothing; give at least 1.")]
    NoRequests,
    /// Stages that stay at zero.
    #[error("--stages stays at zero and sends nothing; give a target above.")]
    NoStageAboveZero,
    /// Stages that take no time together.
    #[error(
        "--stages ends at once: a stage of 0s only jumps to its target; give a further one that \
         lasts, such as 0s:{0},30s:{0}."
    )]
    NoStageWithTime(String),
    /// Nowhere to go.
    #[error("there is no URL to load; give one, such as http://127.0.0.1:8080/.")]
    NoTarget,
    /// No series.
    #[error("--max-series 0 tells no names apart; give at least 1.")]
    NoSeries,
    /// No workers.
    #[error("--threads 0 sends nothing; give at least 1.")]
    NoThreads,
    /// Users that do nothing.
    #[error("iterations_per_user = 0 sends nothing; give at least 1.")]
    NoIterations,
    /// No processes.
    #[error("--processes 0 runs nothing; give at least 1.")]
    NoProcesses,
    /// No time for what needs some.
    #[error("--{0} must be more than 0.")]
    NoTime(&'static str),
    /// A request that is never taken.
    #[error("the weight of {0} is 0, so it would never be sent; give at least 1.")]
    NoWeight(url::Url),
    /// A pipeline on a connection that closes after one request.
    #[error("--pipeline needs connections that stay open; leave out --no-keepalive.")]
    PipelineWithoutKeepalive,
    /// Two options that set where connections go.
    #[error("--proxy and --{0} both say where connections go; give one of them.")]
    ProxyAnd(&'static str),
    /// A process without a worker.
    #[error(
        "--processes {processes} needs as many threads, and --threads {threads} are fewer; give \
         more of these, or fewer processes."
    )]
    ProcessesAboveThreads {
        /// Processes.
        processes: u32,
        /// The threads that they could share.
        threads: u32,
    },
    /// A process without a connection.
    #[error("--processes {processes} is more than --connections {connections}: some would idle.")]
    ProcessesAboveConnections {
        /// Processes.
        processes: u32,
        /// The connections that they could share.
        connections: u32,
    },
    /// A script would be loaded in each process.
    #[error(
        "--processes is for the requests of a list, not for a --script; leave one of them out."
    )]
    ProcessesAndScript,
    /// A proxy that would be asked in words for a server.
    #[error(
        "--script writes requests for the server itself, so a --proxy can only forward them with \
         https; leave one of them out."
    )]
    ProxyAndScript,
    /// Words for a script that is not there.
    #[error("--script-arg is given to a script; name one with --script.")]
    ScriptArgWithoutScript,
    /// Two options that set how many requests are sent at once.
    #[error(
        "--script itself decides how many requests are sent together, as many as its request() \
         returns; leave out --pipeline."
    )]
    ScriptAndPipeline,
    /// Two scenarios that could not be told apart.
    #[error("two scenarios have the name {0}; rename one of them.")]
    ScenarioTwice(String),
    /// A script that would have to choose.
    #[error("--script goes to one URL; give one, and make the paths in the script.")]
    ScriptAndUrls,
    /// Two options that set how long the run lasts.
    #[error("--stages and --duration both say how long the run lasts; give one of them.")]
    StagesAndDuration,
    /// A target that no number of connections can have.
    #[error(transparent)]
    StageTarget(#[from] Error),
    /// Workers without a connection.
    #[error("--threads {threads} is more than --connections {connections}: some would idle.")]
    ThreadsAboveConnections {
        /// Workers.
        threads: u32,
        /// All that they could share.
        connections: u32,
    },
    /// A Unix socket has no address to choose.
    #[error("--unix-socket is one socket; leave out --{0}.")]
    UnixSocketAnd(&'static str),
}
