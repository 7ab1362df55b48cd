//! Errors of values as typed: each error has the text and explains what is accepted instead.

use crate::check::CheckProblem;
use crate::request::HeaderProblem;
use crate::target::TargetProblem;
use crate::url_list::LineProblem;

/// A text that could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A text that is not a burst.
    #[error(
        "`{0}` is not a burst. Write how many at once and how often, such as 20/500ms or 1k/s."
    )]
    Burst(String),
    /// A check that can't be read or makes no sense.
    #[error("`{text}` is not a check: {problem}")]
    Check {
        /// The condition as typed.
        text: String,
        /// The problem.
        problem: CheckProblem,
    },
    /// A text that is not a rule of where to connect.
    #[error(
        "`{0}` does not say where to connect. Write HOST:PORT:ADDR:PORT, such as \
         example.com:443:127.0.0.1:8443; IPv6 addresses in brackets; an empty HOST or PORT means \
         any, an empty ADDR or second PORT the same."
    )]
    ConnectTo(String),
    /// A form field without a name.
    #[error("`{0}` is not a form field. Write name=value, or name=@path to send a file.")]
    FormField(String),
    /// A header line that can't be sent.
    #[error("`{text}` is not a header: {problem}")]
    Header {
        /// The line as typed.
        text: String,
        /// The problem.
        problem: HeaderProblem,
    },
    /// A local address that is not an IP address.
    #[error("`{0}` is not an IP address. Write one such as 192.0.2.1 or 2001:db8::1.")]
    IpAddress(String),
    /// A text that is not a share of the requests.
    #[error("`{0}` is not a share of the requests. Write 1/ and a whole number, such as 1/100.")]
    Part(String),
    /// A method that HTTP does not allow.
    #[error("`{0}` is not a method. Write one word such as GET, POST or PURGE.")]
    Method(String),
    /// A name that is too long for reports, is empty, or has control characters.
    #[error("`{name:?}` is not a name; write 1 to 2048 bytes without control characters.")]
    Name {
        /// The name as typed.
        name: String,
    },
    /// A relative URL without a base.
    #[error(
        "`{0}` is relative, and nothing says to what: give the server with --base-url, such as \
         --base-url http://127.0.0.1:8080."
    )]
    RelativeUrl(String),
    /// A proxy that can't be used.
    #[error("`{text}` is not a proxy: {problem} Write one such as http://127.0.0.1:3128.")]
    Proxy {
        /// The proxy as typed.
        text: String,
        /// The problem.
        problem: String,
    },
    /// Stages that can't be read.
    #[error(
        "`{0}` is not a list of stages. Write duration:target, separated by commas, such as \
         10s:100,1m:100,10s:0."
    )]
    Stages(String),
    /// A stage's target that is not a number of connections.
    #[error(
        "`{0}` is not a number of connections. Without --rate the targets of --stages are whole \
         numbers."
    )]
    StageConnections(String),
    /// A stage's length that can't be read.
    #[error(
        "`{duration}` is not a duration, in the stage `{stage}`. Write duration:target, such as \
         10s:100, 1m30s:2k or 500ms:0."
    )]
    StageDuration {
        /// The text before the colon.
        duration: String,
        /// The stage as typed.
        stage: String,
    },
    /// A stage's target that is neither a number of connections nor a rate.
    #[error(
        "`{target}` is not a target, in the stage `{stage}`. Write duration:target, such as \
         10s:100; the target is a number of connections, or with --rate a rate such as 2.5k or \
         90/m."
    )]
    StageTarget {
        /// The text after the colon.
        target: String,
        /// The stage as typed.
        stage: String,
    },
    /// A text that is not a duration, count, rate or percentile.
    #[error(transparent)]
    Unit(#[from] loadline_units::Error),
    /// A URL that can't be loaded.
    #[error("`{text}` is not a URL to load: {problem}")]
    Target {
        /// The URL as typed.
        text: String,
        /// The problem.
        problem: TargetProblem,
    },
    /// A text that is not a condition to stop at.
    #[error(
        "`{0}` is not a condition to stop at. Write a percentile with a precision of 0.2% or \
         more, such as 'p99±2%' or 'p99+-2%'; or decided, to stop when the checks are."
    )]
    Until(String),
    /// A text that is not a think time.
    #[error(
        "`{0}` is not a think time. Write a time such as 1s or 500ms, or exp:1s for times drawn \
         from an exponential distribution with this mean."
    )]
    Think(String),
    /// A list of URLs without one.
    #[error(
        "there is no URL in it. Write one per line, or JSON Lines such as {{\"url\": \
         \"http://…\"}}."
    )]
    UrlListEmpty,
    /// A line of a list of URLs that can't be read.
    #[error("line {line}: {problem}")]
    UrlListLine {
        /// The line, counted from 1.
        line: usize,
        /// The problem.
        problem: LineProblem,
    },
}
