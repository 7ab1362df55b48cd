//! Reasons why a plan can't be run: its parts contradict each other, or leave nothing to do.
//!
//! The messages name the command's flags, which are also the keys of the plan file.

use crate::{Error, Rate};

/// The most requests of a pipeline. They are written before the run, in memory, and no server reads
/// so many ahead.
pub(crate) const MOST_PIPELINED: u32 = 65_536;

/// The most bytes in the path of a Unix socket: the size of `sun_path` (unix(7)) without its final
/// zero.
pub(crate) const LONGEST_SOCKET_PATH: usize = 107;

/// Parts of a plan that contradict each other, or leave nothing to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    /// A spread of arrivals in a load without a rate.
    #[error("--arrivals spreads the arrivals of a --rate; give one.")]
    ArrivalsWithoutRate,
    /// Two options that both set the credentials.
    #[error("--user and the header Authorization both set the credentials; give one of them.")]
    AuthorizationTwice,
    /// A base URL without a list of relative URLs.
    #[error(
        "--base-url is the beginning of relative URLs in a list; give --urls, or leave it out."
    )]
    BaseUrlWithoutList,
    /// A path that is too long for a Unix socket.
    #[error(
        "--unix-socket has a path of {0} bytes, and sockets have at most {LONGEST_SOCKET_PATH}; \
         give a shorter one, such as one relative to the current folder."
    )]
    UnixSocketTooLong(usize),
    /// Two bodies for one request.
    #[error("--body and --form both set the body; give one of them.")]
    BodyAndForm,
    /// Two options that both set the start times of requests.
    #[error("--burst and --rate both say when requests start; give one of them.")]
    BurstAndRate,
    /// Stages of a burst.
    #[error("--stages ramps a --rate or the connections, not a --burst; give one of them.")]
    BurstAndStages,
    /// A drain in a run that awaits all responses anyway.
    #[error(
        "--drain waits after the end of a --duration, and a run of --requests waits for every \
         response anyway; leave one of them out."
    )]
    DrainWithRequests,
    /// A content type that lacks the boundary of the form.
    #[error("--form sets the Content-Type itself, with its boundary; leave that --header out.")]
    FormAndContentType,
    /// A bound above the rate of arrivals, which no target can reach.
    #[error("{check} can never pass: --rate asks for {rate}; raise that, or lower the bound.")]
    CheckAboveRate {
        /// The condition as typed.
        check: String,
        /// The rate of arrivals.
        rate: Rate,
    },
    /// A check on the delay in a closed loop, which has no delay.
    #[error(
        "{0} looks at the delay between intended start and send, and a closed loop has no such \
         delay; give a --rate, or leave the check out."
    )]
    CheckOnDelayWhenClosed(String),
    /// Dropped arrivals in a load without a schedule.
    #[error(
        "Late arrivals can be dropped in an open load only, as users of a closed one wait for \
         nothing; give a rate, or let late arrivals wait."
    )]
    DropWhenClosed,
    /// A graceful ramp-down in a load whose users don't leave.
    #[error(
        "The time of a graceful ramp-down is for users that leave between stages; give stages of \
         users, or leave that time out."
    )]
    RampDownWithoutStages,
    /// A think time for users that wait for a schedule anyway.
    #[error(
        "--think pauses the users of a closed loop between two iterations, and in an open loop the \
         schedule says when the next one begins; leave out --think, or what opens the loop: \
         --rate, --burst, a search without --users."
    )]
    ThinkWhenOpen,
    /// A check on a tag, in a plan without scenarios.
    #[error(
        "{0} looks at a tag, and only the scenarios of a plan file have tags; leave it out, or \
         look at a {{name:NAME}}."
    )]
    CheckOnTagWithoutScenarios(String),
    /// A check on a tag that no scenario has.
    #[error("{check} looks at a tag that no scenario has; the tags are {tags}.")]
    CheckOnUnknownTag {
        /// The condition as typed.
        check: String,
        /// The first of the known tags.
        tags: String,
    },
    /// A check on a custom metric, without a script.
    #[error("{0} looks at a metric of a script, and there is no script; add one with --script.")]
    CheckOnMetricWithoutScript(String),
    /// A check on a name that no request has.
    #[error("{check} looks at a name that no request has; the names are {names}.")]
    CheckOnUnknownName {
        /// The condition as typed.
        check: String,
        /// The first of the known names.
        names: String,
    },
    /// A scenario that could not be run on its own.
    #[error("scenario {name}: {problem}")]
    InScenario {
        /// The scenario's name.
        name: String,
        /// The contradiction in it.
        problem: Box<Contradiction>,
    },
    /// A number of iterations for each user, in a load whose number of users is not fixed.
    #[error(
        "iterations_per_user is for a number of users that stays the same; leave it out, or leave \
         out rate, burst and stages."
    )]
    IterationsOfUsers,
    /// A key without a certificate.
    #[error("--key belongs to a certificate; give that with --cert.")]
    KeyWithoutCert,
    /// A pipeline with HTTP/2, which has streams instead.
    #[error(
        "--pipeline sends requests ahead over HTTP/1.1, and HTTP/2 has streams for that; give \
         --streams."
    )]
    PipelineAndHttp2,
    /// Shared connections with HTTP/2, which has streams instead.
    #[error(
        "--shared-connections is for HTTP/1.1, and over HTTP/2 users share connections by their \
         streams; give --streams."
    )]
    SharedAndHttp2,
    /// Fewer shared connections than workers, each of which needs one.
    #[error(
        "--threads {threads} needs as many connections, and --shared-connections {shared} are \
         fewer; give more of these, or fewer threads."
    )]
    ThreadsAboveShared {
        /// The number of workers.
        threads: u32,
        /// The number of shared connections.
        shared: u32,
    },
    /// HTTP/2 with connections that close after each request.
    #[error("--http 2 needs connections that stay open; leave out --no-keepalive.")]
    Http2WithoutKeepalive,
    /// HTTP/2 through a proxy, which forwards requests over HTTP/1.1.
    #[error(
        "--proxy forwards http URLs over HTTP/1.1 only; give https URLs, which go through a \
         tunnel, or leave out --http 2."
    )]
    Http2ThroughProxy,
    /// HTTP/2 with a script, which writes HTTP/1.1.
    #[error("--script sends its requests over HTTP/1.1; leave out --http.")]
    ScriptAndHttp2,
    /// Kernel timestamps with HTTP/2: the kernel does not know which stream a byte belongs to.
    #[error(
        "--kernel-timestamps splits requests of HTTP/1.1, which have a connection to themselves; \
         leave it out, or --http."
    )]
    KernelTimestampsAndHttp2,
    /// Connections without streams.
    #[error("--streams 0 sends nothing; give at least 1.")]
    NoStreams,
    /// Streams without HTTP/2.
    #[error("--streams is for HTTP/2; give --http 2.")]
    StreamsWithoutHttp2,
    /// A flow-control window without HTTP/2.
    #[error("--{0}-window is for HTTP/2; give --http 2.")]
    WindowWithoutHttp2(&'static str),
    /// A flow-control window that HTTP/2 does not allow.
    #[error("--{0}-window must be at least 1 byte and less than 2 GiB.")]
    WindowOutOfRange(&'static str),
    /// Kernel timestamps in a run that does not use the kernel's clock.
    #[error(
        "--kernel-timestamps splits requests by the kernel's clock, which --clock user turns off; \
         leave one of them out."
    )]
    KernelTimestampsAndUserClock,
    /// A local address of the IP version that is ruled out.
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
    /// A maximum number of connections below the initial number.
    #[error(
        "--max-connections {most} is below --connections {connections}; raise it, or lower \
         --connections."
    )]
    MaxConnectionsBelow {
        /// The maximum number.
        most: u32,
        /// The initial number.
        connections: u32,
    },
    /// A maximum number of connections in a closed load, whose number of connections is fixed.
    #[error(
        "--max-connections is for an open load, which has a --rate or a --burst; a closed one \
         never needs more than --connections."
    )]
    MaxConnectionsWhenClosed,
    /// More names than there may be series.
    #[error(
        "the requests have {names} different names, and reports have rows for at most {most}; \
         raise --max-series, or use fewer names."
    )]
    NamesAboveMost {
        /// The number of different names that were given.
        names: usize,
        /// The most series.
        most: u32,
    },
    /// A load without connections.
    #[error("--connections 0 sends nothing; give at least 1.")]
    NoConnections,
    /// An option for the handling of responses, with a script, which handles them itself.
    #[error(
        "--{0} is for the requests of a list, and --script itself decides what follows on a \
         response; leave one of them out."
    )]
    ClientAndScript(&'static str),
    /// An option for the handling of responses, with a pipeline, which sends requests before the
    /// responses are read.
    #[error(
        "--{0} looks at each response before the next request, and --pipeline sends that ahead; \
         leave one of them out."
    )]
    ClientAndPipeline(&'static str),
    /// An option for the handling of responses, with HTTP/2: it needs HTTP/1.1.
    #[error("--{0} is for HTTP/1.1; leave it out, or leave out --http.")]
    ClientAndHttp2(&'static str),
    /// Traces for requests of a script, which writes them itself.
    #[error(
        "--traceparent adds a header to the requests that Loadline writes, and a script writes its \
         own; leave it out, and set the header traceparent in the script."
    )]
    TraceparentAndScript,
    /// Two sources of the field that carries a trace.
    #[error("--traceparent and the header traceparent both set the trace; give one of them.")]
    TraceparentTwice,
    /// Two options that both read stdin.
    #[error("--body - and --urls - both read stdin; give one of them a file.")]
    StdinTwice,
    /// Digest authentication without a password.
    #[error("--digest answers the server's challenge with a password; give --user.")]
    DigestWithoutUser,
    /// A run without an end.
    #[error("nothing ends the run; give --duration or --requests.")]
    NoEnd,
    /// A pipeline of no requests.
    #[error("--pipeline 0 sends nothing; give at least 1.")]
    NoPipeline,
    /// A pipeline that is longer than any server reads.
    #[error("--pipeline {0} is more than any server reads ahead; give at most {MOST_PIPELINED}.")]
    PipelineTooDeep(u32),
    /// A rate of zero.
    #[error("--rate {0} sends nothing; give more.")]
    NoRate(Rate),
    /// A run of no requests.
    #[error("--requests 0 sends nothing; give at least 1.")]
    NoRequests,
    /// Stages that stay at zero.
    #[error("--stages stays at zero and sends nothing; give a target above.")]
    NoStageAboveZero,
    /// Stages whose durations are all zero.
    #[error(
        "--stages ends at once: a stage of 0s only jumps to its target; give a further one that \
         lasts, such as 0s:{0},30s:{0}."
    )]
    NoStageWithTime(String),
    /// A plan without a URL.
    #[error("there is no URL to load; give one, such as http://127.0.0.1:8080/.")]
    NoTarget,
    /// A maximum of no series.
    #[error("--max-series 0 tells no names apart; give at least 1.")]
    NoSeries,
    /// A run without workers.
    #[error("--threads 0 sends nothing; give at least 1.")]
    NoThreads,
    /// Users without iterations.
    #[error("iterations_per_user = 0 sends nothing; give at least 1.")]
    NoIterations,
    /// A run without processes.
    #[error("--processes 0 runs nothing; give at least 1.")]
    NoProcesses,
    /// A time of zero that has to be longer.
    #[error("--{0} must be more than 0.")]
    NoTime(&'static str),
    /// A request whose weight is zero.
    #[error("the weight of {0} is 0, so it would never be sent; give at least 1.")]
    NoWeight(url::Url),
    /// A pipeline on a connection that closes after one request.
    #[error("--pipeline needs connections that stay open; leave out --no-keepalive.")]
    PipelineWithoutKeepalive,
    /// Two options that both set the destination of connections.
    #[error("--proxy and --{0} both say where connections go; give one of them.")]
    ProxyAnd(&'static str),
    /// More processes than threads.
    #[error(
        "--processes {processes} needs as many threads, and --threads {threads} are fewer; give \
         more of these, or fewer processes."
    )]
    ProcessesAboveThreads {
        /// The number of processes.
        processes: u32,
        /// The number of threads.
        threads: u32,
    },
    /// More processes than connections.
    #[error("--processes {processes} is more than --connections {connections}: some would idle.")]
    ProcessesAboveConnections {
        /// The number of processes.
        processes: u32,
        /// The number of connections.
        connections: u32,
    },
    /// A script with a proxy that forwards plain requests: a script writes requests in the form for
    /// the server.
    #[error(
        "--script writes requests for the server itself, so a --proxy can only forward them with \
         https; leave one of them out."
    )]
    ProxyAndScript,
    /// Arguments for a script, without a script.
    #[error("--script-arg is given to a script; name one with --script.")]
    ScriptArgWithoutScript,
    /// Two options that both set the number of requests sent at once.
    #[error(
        "--script itself decides how many requests are sent together, as many as its request() \
         returns; leave out --pipeline."
    )]
    ScriptAndPipeline,
    /// Two scenarios of one name.
    #[error("two scenarios have the name {0}; rename one of them.")]
    ScenarioTwice(String),
    /// A script with several URLs.
    #[error("--script goes to one URL; give one, and make the paths in the script.")]
    ScriptAndUrls,
    /// Two options that both set the length of the run.
    #[error("--stages and --duration both say how long the run lasts; give one of them.")]
    StagesAndDuration,
    /// A stage's target that is not a number of connections.
    #[error(transparent)]
    StageTarget(#[from] Error),
    /// More workers than connections.
    #[error("--threads {threads} is more than --connections {connections}: some would idle.")]
    ThreadsAboveConnections {
        /// The number of workers.
        threads: u32,
        /// The number of connections.
        connections: u32,
    },
    /// An address or a port for a Unix socket, which has none.
    #[error("--unix-socket is one socket; leave out --{0}.")]
    UnixSocketAnd(&'static str),
}
