//! The words of oha's command line, declared once: their values, defaults and conflicts.
//!
//! oha's parser is clap, and so is this one: what it refuses, it refuses in the same words.

use clap::{ArgAction, Parser, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;
use std::time::Duration;

/// The arguments after the tool's name.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "oha",
    bin_name = "oha",
    version = concat!("1.16.0 (Loadline ", env!("CARGO_PKG_VERSION"), ")"),
    about = "Loadline in compatibility with oha: sends HTTP requests and reports response times.",
    arg_required_else_help = true
)]
pub(super) struct Arguments {
    /// The target's URL; with --urls-from-file a file of URLs, with --rand-regex-url a pattern.
    #[arg(value_name = "URL")]
    pub(super) url: Option<String>,
    /// How many requests are sent in all: a number, or one followed by k or m (2.5k, 1m).
    #[arg(short = 'n', value_name = "N_REQUESTS", default_value = "200",
          conflicts_with = "duration", value_parser = parse_count)]
    pub(super) requests: u64,
    /// How many connections are used at the same time.
    #[arg(short = 'c', value_name = "N_CONNECTIONS", default_value = "50")]
    pub(super) connections: u32,
    /// How many requests share a connection of HTTP/2 at the same time.
    #[arg(short = 'p', value_name = "N_HTTP2_PARALLEL", default_value = "1")]
    pub(super) streams: u32,
    /// How long requests are sent, instead of -n: 10s, 3m, 500ms, 1h 30m.
    #[arg(short = 'z', value_name = "DURATION", value_parser = parse_duration)]
    pub(super) duration: Option<Duration>,
    /// Waits at the end of -z for the requests that are under way.
    #[arg(
        short = 'w',
        long = "wait-ongoing-requests-after-deadline",
        requires = "duration"
    )]
    pub(super) waits: bool,
    /// Requests per second of the whole run; 0 sets no limit.
    #[arg(short = 'q', value_name = "QUERY_PER_SECOND",
          conflicts_with_all = ["burst_delay", "burst_rate"])]
    pub(super) rate: Option<String>,
    /// The time between two bursts of requests.
    #[arg(long, value_name = "BURST_DURATION", requires = "burst_rate",
          value_parser = parse_duration)]
    pub(super) burst_delay: Option<Duration>,
    /// How many requests a burst has.
    #[arg(long, value_name = "BURST_REQUESTS", requires = "burst_delay")]
    pub(super) burst_rate: Option<u64>,
    /// Reads the URL as a regular expression, of which each request takes a random match. A dot
    /// stands for itself.
    #[arg(long)]
    pub(super) rand_regex_url: bool,
    /// Reads URLs from the file that stands in place of the URL, a line each; each request takes a
    /// random one.
    #[arg(long)]
    pub(super) urls_from_file: bool,
    /// How often *, + and {n,} repeat at most beyond their least.
    #[arg(
        long,
        value_name = "MAX_REPEAT",
        default_value = "4",
        requires = "rand_regex_url"
    )]
    pub(super) max_repeat: u32,
    /// Prints so many of the URLs and ends.
    #[arg(long, value_name = "DUMP_URLS")]
    pub(super) dump_urls: Option<usize>,
    /// Prints response times from the intended start, with -q or bursts, instead of the send.
    #[arg(long)]
    pub(super) latency_correction: bool,
    /// Shows nothing while the run lasts.
    #[arg(long)]
    pub(super) no_tui: bool,
    /// Frames per second of the live view.
    #[arg(long, value_name = "FPS", default_value = "16")]
    pub(super) fps: u32,
    /// The request's method, sent as typed.
    #[arg(short, long, value_name = "METHOD", default_value = "GET", value_parser = parse_method)]
    pub(super) method: String,
    /// A header, as 'Name: value'. May be repeated; of one name the last counts.
    #[arg(short = 'H', value_name = "HEADERS", value_parser = parse_header)]
    pub(super) headers: Vec<(String, String)>,
    /// A header for the proxy. May be repeated.
    #[arg(long = "proxy-header", value_name = "PROXY_HEADERS", value_parser = parse_header)]
    pub(super) proxy_headers: Vec<(String, String)>,
    /// How long a request may take; for ever if not given.
    #[arg(short = 't', value_name = "TIMEOUT", value_parser = parse_duration)]
    pub(super) timeout: Option<Duration>,
    /// How long opening a connection may take.
    #[arg(long, value_name = "CONNECT_TIMEOUT", default_value = "5s",
          value_parser = parse_duration)]
    pub(super) connect_timeout: Duration,
    /// The Accept header.
    #[arg(short = 'A', value_name = "ACCEPT_HEADER")]
    pub(super) accept: Option<String>,
    /// The body.
    #[arg(short = 'd', value_name = "BODY_STRING",
          conflicts_with_all = ["body_file", "body_lines", "form"])]
    pub(super) body: Option<String>,
    /// A file with the body.
    #[arg(short = 'D', value_name = "BODY_PATH", conflicts_with_all = ["body_lines", "form"])]
    pub(super) body_file: Option<PathBuf>,
    /// A file of bodies, a line each; each request takes a random one.
    #[arg(short = 'Z', value_name = "BODY_PATH_LINES", conflicts_with = "form")]
    pub(super) body_lines: Option<PathBuf>,
    /// A part of a multipart form: name=value, name=@file or name=<file. May be repeated.
    #[arg(short = 'F', long, value_name = "FORM")]
    pub(super) form: Vec<String>,
    /// The Content-Type header.
    #[arg(short = 'T', value_name = "CONTENT_TYPE")]
    pub(super) content_type: Option<String>,
    /// user:password of Basic authentication, or the access key and secret of AWS.
    #[arg(short = 'a', value_name = "BASIC_AUTH")]
    pub(super) auth: Option<String>,
    /// The session token of AWS.
    #[arg(long, value_name = "AWS_SESSION")]
    pub(super) aws_session: Option<String>,
    /// Signs each request for AWS: aws:amz:REGION:SERVICE.
    #[arg(long, value_name = "AWS_SIGV4")]
    pub(super) aws_sigv4: Option<String>,
    /// The proxy's URL.
    #[arg(short = 'x', value_name = "PROXY", value_parser = parse_url)]
    pub(super) proxy: Option<url::Url>,
    /// The version of HTTP that the proxy is spoken to in: 1.0 or 1.1.
    #[arg(long, value_name = "PROXY_HTTP_VERSION")]
    pub(super) proxy_http_version: Option<String>,
    /// HTTP/2 to the proxy, which is not supported.
    #[arg(long)]
    pub(super) proxy_http2: bool,
    /// The version of HTTP: 1.0, 1.1 or 2.
    #[arg(long, value_name = "HTTP_VERSION")]
    pub(super) http_version: Option<String>,
    /// HTTP/2, as --http-version 2.
    #[arg(long)]
    pub(super) http2: bool,
    /// The Host header.
    #[arg(long, value_name = "HOST")]
    pub(super) host: Option<String>,
    /// Sends no Accept-Encoding header.
    #[arg(long)]
    pub(super) disable_compression: bool,
    /// How many redirects are followed.
    #[arg(short = 'r', long, value_name = "REDIRECT", default_value = "0")]
    pub(super) redirect: u32,
    /// Opens a connection for each request.
    #[arg(long)]
    pub(super) disable_keepalive: bool,
    /// Does not resolve the target's name before the run.
    #[arg(long)]
    pub(super) no_pre_lookup: bool,
    /// IPv6 addresses only.
    #[arg(long)]
    pub(super) ipv6: bool,
    /// IPv4 addresses only.
    #[arg(long)]
    pub(super) ipv4: bool,
    /// Certificates of authorities (PEM) that are trusted beside the system's.
    #[arg(long, value_name = "CACERT")]
    pub(super) cacert: Option<PathBuf>,
    /// The client's certificates (PEM).
    #[arg(long, value_name = "CERT", requires = "key")]
    pub(super) cert: Option<PathBuf>,
    /// The client's private key (PEM).
    #[arg(long, value_name = "KEY", requires = "cert")]
    pub(super) key: Option<PathBuf>,
    /// Accepts any certificate.
    #[arg(long)]
    pub(super) insecure: bool,
    /// Connects to another place: HOST:PORT:TARGET_HOST:TARGET_PORT. May be repeated.
    #[arg(long, value_name = "CONNECT_TO")]
    pub(super) connect_to: Vec<String>,
    /// No colours.
    #[arg(long, alias = "disable-color")]
    pub(super) no_color: bool,
    /// Connects to this Unix socket.
    #[arg(long, value_name = "UNIX_SOCKET", conflicts_with = "vsock_addr")]
    pub(super) unix_socket: Option<PathBuf>,
    /// A vsock address, which is not supported.
    #[arg(long, value_name = "VSOCK_ADDR", hide = true)]
    pub(super) vsock_addr: Option<String>,
    /// Adds the response times of 2xx responses and of all others.
    #[arg(long)]
    pub(super) stats_success_breakdown: bool,
    /// Adds a row for each success to the table oha of this SQLite file.
    #[arg(long, value_name = "DB_URL")]
    pub(super) db_url: Option<PathBuf>,
    /// Sends one request, and prints it and its response.
    #[arg(long)]
    pub(super) debug: bool,
    /// Writes the report into this file.
    #[arg(short, long, value_name = "OUTPUT")]
    pub(super) output: Option<PathBuf>,
    /// The report's format.
    #[arg(long, value_name = "OUTPUT_FORMAT", default_value = "text")]
    pub(super) output_format: Format,
    /// The unit of times; chosen by the slowest one if not given.
    #[arg(short = 'u', long, value_name = "TIME_UNIT")]
    pub(super) time_unit: Option<Unit>,
    /// Threads that send.
    #[arg(long, value_name = "WORKER_THREADS", env = "TOKIO_WORKER_THREADS",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) worker_threads: Option<u32>,
    /// Prints a script of completions for a shell.
    #[arg(long, value_name = "SHELL", hide = true, action = ArgAction::Set)]
    pub(super) completions: Option<Shell>,
}

/// How the report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people.
    Text,
    /// One object.
    Json,
    /// A row for each success.
    Csv,
    /// Nothing.
    Quiet,
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Unit {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
    /// Minutes.
    M,
    /// Hours.
    H,
}

fn parse_count(text: &str) -> Result<u64, String> {
    let text = text.trim().to_ascii_lowercase();
    let (digits, factor) = match text.strip_suffix(['k', 'm']) {
        None => return text.parse().map_err(|_| not_a_count()),
        Some(digits) if text.ends_with('k') => (digits, 1e3),
        Some(digits) => (digits, 1e6),
    };
    let is_decimal = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    let number: f64 = digits.parse().map_err(|_| not_a_count())?;
    if !is_decimal || number * factor > u64::MAX as f64 {
        return Err(not_a_count());
    }
    // A decimal number that binary fractions miss slightly still gives the typed value.
    Ok((number * factor * (1.0 + f64::EPSILON)) as u64)
}

fn not_a_count() -> String {
    "give a whole number, or one followed by k or m, as in 2.5k".to_owned()
}

fn parse_duration(text: &str) -> Result<Duration, humantime::DurationError> {
    humantime::parse_duration(text)
}

fn parse_header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("Parse header")?;
    Ok((name.to_owned(), value.trim_start().to_owned()))
}

fn parse_method(text: &str) -> Result<String, String> {
    loadline_plan::parse_method(text).map_err(|problem| problem.to_string())
}

fn parse_url(text: &str) -> Result<url::Url, String> {
    text.parse()
        .map_err(|error: url::ParseError| error.to_string())
}

impl Arguments {
    /// Reads the words after the tool's name.
    ///
    /// # Errors
    /// The output that replaces a run: a refusal, the help, or the version.
    pub(super) fn read(words: &[String]) -> Result<Self, clap::Error> {
        let line = std::iter::once("oha").chain(words.iter().map(String::as_str));
        Arguments::try_parse_from(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Arguments, clap::Error> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Arguments::read(&words)
    }

    fn refusal(line: &str) -> String {
        read(line).expect_err("a refusal").to_string()
    }

    #[test]
    fn the_defaults_are_those_of_oha() {
        let arguments = read("http://a/").expect("a run");
        assert_eq!(
            (arguments.requests, arguments.connections, arguments.streams),
            (200, 50, 1)
        );
        assert_eq!(arguments.connect_timeout, Duration::from_secs(5));
        assert_eq!(
            (arguments.fps, arguments.redirect, arguments.max_repeat),
            (16, 0, 4)
        );
        assert_eq!(arguments.method, "GET");
        assert_eq!(arguments.output_format, Format::Text);
    }

    #[test]
    fn a_count_may_be_a_decimal_with_a_suffix_and_is_cut() {
        let counts = [
            ("5", 5),
            (" 7 ", 7),
            ("2.6k", 2_600),
            ("1M", 1_000_000),
            ("0.001m", 1_000),
            ("0.0001k", 0),
            ("1.001k", 1_001),
            ("0.29k", 290),
        ];
        for (text, count) in counts {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
        for text in [
            "1.5", "1e3", "", "k", "-1", "-1k", "1e3k", "nank", "infk", "1g",
        ] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_value_may_touch_its_letter_or_follow_an_equals_sign() {
        for line in ["-n10 a", "-n 10 a", "-n=10 a", "a -n 10"] {
            assert_eq!(read(line).expect("a run").requests, 10, "{line}");
        }
        assert_eq!(read("--fps=5 a").expect("a run").fps, 5);
    }

    #[test]
    fn conflicts_and_repetitions_are_refused() {
        for (line, part) in [
            ("-n 5 -z 1s a", "cannot be used with"),
            (
                "-q 5 --burst-delay 1s --burst-rate 2 a",
                "cannot be used with",
            ),
            ("--burst-delay 1s a", "required arguments were not provided"),
            ("--burst-rate 1 a", "required arguments were not provided"),
            ("-w a", "required arguments were not provided"),
            ("--cert x a", "required arguments were not provided"),
            ("--key x a", "required arguments were not provided"),
            ("--max-repeat 2 a", "required arguments were not provided"),
            ("-d x -D y a", "cannot be used with"),
            ("-d x -F a=b a", "cannot be used with"),
            ("-Z x -F a=b a", "cannot be used with"),
            ("-c 5 -c 6 a", "cannot be used multiple times"),
            ("-z 5 a", "time unit needed"),
            ("-H nocolon a", "Parse header"),
            ("--proxy-h x:y a", "unexpected argument"),
            ("-q -1 a", "unexpected argument"),
            ("--worker-threads 0 a", "0 is not in 1.."),
        ] {
            let text = refusal(line);
            assert!(text.contains(part), "{line}: {text}");
        }
    }

    #[test]
    fn headers_forms_and_places_may_repeat() {
        let arguments =
            read("-H a:1 -H b:2 -F x=1 -F y=2 --connect-to a:1:b:2 --connect-to c:1:d:2 u")
                .expect("a run");
        assert_eq!(arguments.headers.len(), 2);
        assert_eq!(arguments.form.len(), 2);
        assert_eq!(arguments.connect_to.len(), 2);
    }
}
