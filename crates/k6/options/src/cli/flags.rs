//! The list of flags, with the option that each sets.

use crate::keys::Kind;

/// A flag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flag {
    pub(crate) long: &'static str,
    pub(crate) short: Option<char>,
    pub(crate) takes: Takes,
    pub(crate) sets: Sets,
    pub(crate) of: Of,
    pub(crate) meaning: &'static str,
}

/// The values that a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// No value, or `=true` and `=false`.
    Nothing,
    /// A value, with this name in the help.
    Value(&'static str),
    /// A value after `=`, or else this one.
    Perhaps(&'static str),
}

/// The effect of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sets {
    /// Sets an option.
    Option(&'static str, Kind),
    /// Keeps its own value, which is not an option of a script.
    Itself,
}

/// The commands that have a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// Commands that load a script: the flag is one of its options.
    Scripts,
    /// Only `run`.
    Run,
    /// All commands.
    All,
    /// Only this command.
    One(&'static str),
}

const fn option(
    long: &'static str,
    short: Option<char>,
    value: &'static str,
    key: &'static str,
    kind: Kind,
    meaning: &'static str,
) -> Flag {
    Flag {
        long,
        short,
        takes: Takes::Value(value),
        sets: Sets::Option(key, kind),
        of: Of::Scripts,
        meaning,
    }
}

const fn switch(
    long: &'static str,
    short: Option<char>,
    key: &'static str,
    meaning: &'static str,
) -> Flag {
    Flag {
        long,
        short,
        takes: Takes::Nothing,
        sets: Sets::Option(key, Kind::Bool),
        of: Of::Scripts,
        meaning,
    }
}

const fn own(
    of: Of,
    long: &'static str,
    short: Option<char>,
    takes: Takes,
    meaning: &'static str,
) -> Flag {
    Flag {
        long,
        short,
        takes,
        sets: Sets::Itself,
        of,
        meaning,
    }
}

use Takes::{Nothing, Perhaps, Value};

/// All flags, in the order of the help.
pub(crate) const FLAGS: &[Flag] = &[
    option("vus", Some('u'), "int", "vus", Kind::Int, "Virtual users"),
    option(
        "duration",
        Some('d'),
        "duration",
        "duration",
        Kind::Duration,
        "The duration of the test",
    ),
    option(
        "iterations",
        Some('i'),
        "int",
        "iterations",
        Kind::Int,
        "Iterations of all users",
    ),
    option(
        "stage",
        Some('s'),
        "stage",
        "stages",
        Kind::Stages,
        "A stage, as duration:target",
    ),
    option(
        "execution-segment",
        None,
        "string",
        "executionSegment",
        Kind::Segment,
        "The share of the load to run, such as 10%, 1/3 or 0.2:2/3",
    ),
    option(
        "execution-segment-sequence",
        None,
        "string",
        "executionSegmentSequence",
        Kind::Segments,
        "All shares, such as 0,1/3,1",
    ),
    switch("paused", Some('p'), "paused", "Start the test paused"),
    switch("no-setup", None, "noSetup", "Don't call setup()"),
    switch("no-teardown", None, "noTeardown", "Don't call teardown()"),
    option(
        "max-redirects",
        None,
        "int",
        "maxRedirects",
        Kind::Int,
        "Redirects to follow",
    ),
    option(
        "batch",
        None,
        "int",
        "batch",
        Kind::Int,
        "Requests of a batch at a time",
    ),
    option(
        "batch-per-host",
        None,
        "int",
        "batchPerHost",
        Kind::Int,
        "Requests of a batch at a time to one host",
    ),
    option(
        "rps",
        None,
        "int",
        "rps",
        Kind::Int,
        "Requests per second at most",
    ),
    option(
        "user-agent",
        None,
        "string",
        "userAgent",
        Kind::Text,
        "The field User-Agent",
    ),
    Flag {
        long: "http-debug",
        short: None,
        takes: Perhaps("headers"),
        sets: Sets::Option("httpDebug", Kind::Text),
        of: Of::Scripts,
        meaning: "Log requests and responses; with =full their bodies",
    },
    switch(
        "insecure-skip-tls-verify",
        None,
        "insecureSkipTLSVerify",
        "Accept any certificate",
    ),
    switch(
        "no-connection-reuse",
        None,
        "noConnectionReuse",
        "A connection per request",
    ),
    switch(
        "no-vu-connection-reuse",
        None,
        "noVUConnectionReuse",
        "New connections for each iteration",
    ),
    option(
        "min-iteration-duration",
        None,
        "duration",
        "minIterationDuration",
        Kind::Duration,
        "The least duration of an iteration",
    ),
    switch("throw", Some('w'), "throw", "Throw if a request fails"),
    option(
        "blacklist-ip",
        None,
        "range",
        "blacklistIPs",
        Kind::Texts,
        "Addresses to block",
    ),
    option(
        "block-hostnames",
        None,
        "pattern",
        "blockHostnames",
        Kind::Texts,
        "Names to block",
    ),
    option(
        "summary-trend-stats",
        None,
        "stats",
        "summaryTrendStats",
        Kind::TrendStats,
        "Figures of trends, such as avg,p(99)",
    ),
    option(
        "summary-time-unit",
        None,
        "string",
        "summaryTimeUnit",
        Kind::Text,
        "The unit of times: s, ms or us",
    ),
    option(
        "system-tags",
        None,
        "strings",
        "systemTags",
        Kind::SystemTags,
        "Tags to set",
    ),
    option(
        "tag",
        None,
        "tag",
        "tags",
        Kind::Tags,
        "A tag of all samples, as name=value",
    ),
    option(
        "console-output",
        None,
        "string",
        "consoleOutput",
        Kind::Text,
        "A file for the output of console",
    ),
    switch(
        "discard-response-bodies",
        None,
        "discardResponseBodies",
        "Drop bodies of responses",
    ),
    option(
        "local-ips",
        None,
        "string",
        "localIPs",
        Kind::LocalIps,
        "Addresses to connect from",
    ),
    option(
        "dns",
        None,
        "string",
        "dns",
        Kind::Dns,
        "Name resolution: ttl, select and policy",
    ),
    own(
        Of::Scripts,
        "include-system-env-vars",
        None,
        Nothing,
        "Give scripts the environment",
    ),
    own(
        Of::Scripts,
        "exclude-env-vars",
        None,
        Nothing,
        "Keep the environment out of archives",
    ),
    own(
        Of::Scripts,
        "compatibility-mode",
        None,
        Value("string"),
        "extended or base",
    ),
    own(
        Of::Scripts,
        "type",
        Some('t'),
        Value("string"),
        "js or archive",
    ),
    own(
        Of::Scripts,
        "env",
        Some('e'),
        Value("VAR=value"),
        "A variable of the script",
    ),
    own(
        Of::Scripts,
        "no-thresholds",
        None,
        Nothing,
        "Don't judge thresholds",
    ),
    own(Of::Scripts, "no-summary", None, Nothing, "Print no summary"),
    own(
        Of::Scripts,
        "summary-mode",
        None,
        Value("string"),
        "compact, full, legacy or disabled",
    ),
    own(
        Of::Scripts,
        "summary-export",
        None,
        Value("string"),
        "A file for the summary as JSON",
    ),
    own(
        Of::Scripts,
        "new-machine-readable-summary",
        None,
        Nothing,
        "The newer form of the summary as JSON",
    ),
    own(
        Of::Scripts,
        "traces-output",
        None,
        Value("string"),
        "Only none",
    ),
    own(
        Of::Run,
        "out",
        Some('o'),
        Value("uri"),
        "json=FILE, csv=FILE, loadline=FILE, html=FILE",
    ),
    own(
        Of::Run,
        "linger",
        Some('l'),
        Nothing,
        "Continue to run after the test, until a signal",
    ),
    own(
        Of::Run,
        "no-usage-report",
        None,
        Nothing,
        "Accepted and ignored: nothing is ever reported",
    ),
    own(
        Of::Run,
        "late-iterations",
        None,
        Value("drop|wait"),
        "drop or wait: arrivals while no user is free",
    ),
    own(
        Of::Run,
        "vu-mode",
        None,
        Value("isolated|shared"),
        "isolated: a runtime per user; shared: one per worker, an eighth of the memory",
    ),
    own(
        Of::One("inspect"),
        "execution-requirements",
        None,
        Nothing,
        "Add the requirements of a run",
    ),
    own(
        Of::One("archive"),
        "archive-out",
        Some('O'),
        Value("string"),
        "The archive's file",
    ),
    own(
        Of::One("new"),
        "force",
        Some('f'),
        Nothing,
        "Replace an existing file",
    ),
    own(
        Of::One("new"),
        "template",
        None,
        Value("string"),
        "minimal, protocol, browser or a file",
    ),
    own(
        Of::One("new"),
        "project-id",
        None,
        Value("string"),
        "A project of the cloud",
    ),
    own(Of::One("version"), "json", None, Nothing, "Print JSON"),
    own(
        Of::One("scale"),
        "vus",
        Some('u'),
        Value("int"),
        "The number of active users",
    ),
    own(
        Of::One("scale"),
        "max",
        Some('m'),
        Value("int"),
        "The most users",
    ),
    own(
        Of::All,
        "address",
        Some('a'),
        Value("string"),
        "The address of the REST API",
    ),
    own(
        Of::All,
        "config",
        Some('c'),
        Value("string"),
        "A file with options as JSON",
    ),
    own(
        Of::All,
        "log-format",
        None,
        Value("string"),
        "text, json or raw",
    ),
    own(
        Of::All,
        "log-output",
        None,
        Value("string"),
        "stderr, stdout, none or file=PATH",
    ),
    own(Of::All, "no-color", None, Nothing, "No colours"),
    own(
        Of::All,
        "profiling-enabled",
        None,
        Nothing,
        "Accepted and ignored",
    ),
    own(Of::All, "quiet", Some('q'), Nothing, "No progress"),
    own(
        Of::All,
        "secret-source",
        None,
        Value("stringArray"),
        "A source of secrets",
    ),
    own(
        Of::All,
        "verbose",
        Some('v'),
        Nothing,
        "Log debug messages, too",
    ),
    own(Of::All, "help", Some('h'), Nothing, "Print this help"),
];

impl Flag {
    /// True if a command of this name has the flag.
    pub(crate) fn is_of(&self, command: &str) -> bool {
        let loads = matches!(command, "run" | "inspect" | "archive" | "cloud");
        match self.of {
            Of::Scripts => loads,
            Of::Run => command == "run",
            Of::One(one) => one == command,
            Of::All => true,
        }
    }

    /// Returns the name of the flag in error messages.
    pub(crate) fn named(&self) -> String {
        match self.short {
            Some(short) => format!("-{short}, --{}", self.long),
            None => format!("--{}", self.long),
        }
    }
}

/// Returns the help of a command: its usage and its flags.
pub fn help(command: &str) -> String {
    let mut text = format!("Usage:\n  loadline k6 {command} [flags]{}\n\nFlags:\n", {
        match command {
            "run" | "inspect" | "archive" => " SCRIPT",
            "new" => " [FILE]",
            _ => "",
        }
    });
    for flag in FLAGS.iter().filter(|flag| flag.is_of(command)) {
        let name = match flag.short {
            Some(short) => format!("-{short}, --{}", flag.long),
            None => format!("    --{}", flag.long),
        };
        let name = match flag.takes {
            Takes::Value(value) => format!("{name} {value}"),
            Takes::Perhaps(value) => format!("{name}[={value}]"),
            Takes::Nothing => name,
        };
        text += &format!("  {name:<44} {}\n", flag.meaning);
    }
    text
}
