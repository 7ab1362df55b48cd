//! The list of options: their keys in k6's order, their kinds, and their variables.

/// The kind of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Int,
    /// A duration.
    Duration,
    /// A text.
    Text,
    /// Texts; in a variable separated by commas.
    Texts,
    /// Texts by name; in a variable as JSON, or as `name:value` separated by commas.
    Tags,
    /// Stages of users.
    Stages,
    /// Scenarios by name.
    Scenarios,
    /// A share of the execution.
    Segment,
    /// Shares of the execution.
    Segments,
    /// The options of name resolution.
    Dns,
    /// One version of TLS, or the first and the last.
    TlsVersions,
    /// Client certificates.
    TlsAuth,
    /// Thresholds by metric.
    Thresholds,
    /// Addresses by host.
    Hosts,
    /// Statistics of trends.
    TrendStats,
    /// Names of system tags.
    SystemTags,
    /// Addresses that users connect from.
    LocalIps,
    /// Any value.
    Any,
}

/// An option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    /// The key in JSON.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// The variable without `K6_`; empty if there is no variable.
    pub(crate) variable: &'static str,
    /// The name of the field in k6, for error messages.
    pub(crate) field: &'static str,
    /// True if a script can set the option, and it is printed.
    pub(crate) is_in_script: bool,
}

const fn key(name: &'static str, kind: Kind, variable: &'static str, field: &'static str) -> Key {
    Key {
        name,
        kind,
        variable,
        field,
        is_in_script: true,
    }
}

const fn hidden(name: &'static str, kind: Kind, variable: &'static str) -> Key {
    Key {
        name,
        kind,
        variable,
        field: name,
        is_in_script: false,
    }
}

/// All options, in the order in which they are printed.
pub(crate) const KEYS: &[Key] = &[
    key("paused", Kind::Bool, "PAUSED", "Paused"),
    key("vus", Kind::Int, "VUS", "VUs"),
    key("duration", Kind::Duration, "DURATION", "Duration"),
    key("iterations", Kind::Int, "ITERATIONS", "Iterations"),
    key("stages", Kind::Stages, "STAGES", "Stages"),
    key("scenarios", Kind::Scenarios, "", "Scenarios"),
    key("executionSegment", Kind::Segment, "", "ExecutionSegment"),
    key(
        "executionSegmentSequence",
        Kind::Segments,
        "",
        "ExecutionSegmentSequence",
    ),
    key("noSetup", Kind::Bool, "NO_SETUP", "NoSetup"),
    key(
        "setupTimeout",
        Kind::Duration,
        "SETUP_TIMEOUT",
        "SetupTimeout",
    ),
    key("noTeardown", Kind::Bool, "NO_TEARDOWN", "NoTeardown"),
    key(
        "teardownTimeout",
        Kind::Duration,
        "TEARDOWN_TIMEOUT",
        "TeardownTimeout",
    ),
    key("rps", Kind::Int, "RPS", "RPS"),
    key("dns", Kind::Dns, "DNS", "DNS"),
    key("maxRedirects", Kind::Int, "MAX_REDIRECTS", "MaxRedirects"),
    key("userAgent", Kind::Text, "USER_AGENT", "UserAgent"),
    key("batch", Kind::Int, "BATCH", "Batch"),
    key("batchPerHost", Kind::Int, "BATCH_PER_HOST", "BatchPerHost"),
    key("httpDebug", Kind::Text, "HTTP_DEBUG", "HTTPDebug"),
    key(
        "insecureSkipTLSVerify",
        Kind::Bool,
        "INSECURE_SKIP_TLS_VERIFY",
        "InsecureSkipTLSVerify",
    ),
    key(
        "tlsCipherSuites",
        Kind::Texts,
        "TLS_CIPHER_SUITES",
        "TLSCipherSuites",
    ),
    key("tlsVersion", Kind::TlsVersions, "", "TLSVersion"),
    key("tlsAuth", Kind::TlsAuth, "TLSAUTH", "TLSAuth"),
    key("throw", Kind::Bool, "THROW", "Throw"),
    key("thresholds", Kind::Thresholds, "THRESHOLDS", "Thresholds"),
    key("blacklistIPs", Kind::Texts, "BLACKLIST_IPS", "BlacklistIPs"),
    key(
        "blockHostnames",
        Kind::Texts,
        "BLOCK_HOSTNAMES",
        "BlockedHostnames",
    ),
    key("hosts", Kind::Hosts, "HOSTS", "Hosts"),
    key(
        "noConnectionReuse",
        Kind::Bool,
        "NO_CONNECTION_REUSE",
        "NoConnectionReuse",
    ),
    key(
        "noVUConnectionReuse",
        Kind::Bool,
        "NO_VU_CONNECTION_REUSE",
        "NoVUConnectionReuse",
    ),
    key(
        "minIterationDuration",
        Kind::Duration,
        "MIN_ITERATION_DURATION",
        "MinIterationDuration",
    ),
    key("ext", Kind::Any, "", "External"),
    key("cloud", Kind::Any, "", "Cloud"),
    key(
        "summaryTrendStats",
        Kind::TrendStats,
        "SUMMARY_TREND_STATS",
        "SummaryTrendStats",
    ),
    key(
        "summaryTimeUnit",
        Kind::Text,
        "SUMMARY_TIME_UNIT",
        "SummaryTimeUnit",
    ),
    key("systemTags", Kind::SystemTags, "SYSTEM_TAGS", "SystemTags"),
    key("tags", Kind::Tags, "TAGS", "RunTags"),
    key(
        "metricSamplesBufferSize",
        Kind::Int,
        "METRIC_SAMPLES_BUFFER_SIZE",
        "MetricSamplesBufferSize",
    ),
    key(
        "noCookiesReset",
        Kind::Bool,
        "NO_COOKIES_RESET",
        "NoCookiesReset",
    ),
    key(
        "discardResponseBodies",
        Kind::Bool,
        "DISCARD_RESPONSE_BODIES",
        "DiscardResponseBodies",
    ),
    hidden("consoleOutput", Kind::Text, "CONSOLE_OUTPUT"),
    Key {
        field: "LocalIPs",
        ..hidden("localIPs", Kind::LocalIps, "LOCAL_IPS")
    },
];

/// Returns the option with this key.
pub(crate) fn of(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}
