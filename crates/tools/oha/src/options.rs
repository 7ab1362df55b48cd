//! The options of a command line, read and checked: no connection is opened yet.

use super::arguments::Arguments;
use super::form;
use super::outcome::Output;
use super::signature::Signer;
use super::urls::Urls;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use loadline_plan::{Content, Header, Rate};
use rand::RngCore;
use std::fs;
use std::path::Path;
use std::time::Duration;
use url::{Position, Url};

/// The `User-Agent` header of oha.
const USER_AGENT: &str = "oha/1.16.0";

/// The version of HTTP that requests are sent in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Http10,
    Http11,
    Http2,
}

/// The bodies of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bodies {
    /// The same body for each request; empty if there is none.
    One(Content),
    /// A random one of these bodies; never empty.
    Lines(Vec<Content>),
}

impl Bodies {
    /// Returns the body of this line; the only one, if all requests have the same.
    ///
    /// # Panics
    /// If there are fewer lines.
    pub(super) fn get(&self, line: usize) -> &Content {
        match self {
            Bodies::One(body) => body,
            Bodies::Lines(lines) => &lines[line],
        }
    }
}

/// The rate of requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pace {
    /// No limit: each request follows a response.
    Unlimited,
    /// This many requests per second.
    Rate(Rate),
    /// Bursts of this many requests, one burst per interval.
    Bursts { size: u64, every: Duration },
}

/// The options of a command line.
#[derive(Clone, Debug)]
pub(super) struct Options {
    /// The arguments as typed; used where they need no conversion.
    pub(super) arguments: Arguments,
    pub(super) urls: Urls,
    pub(super) method: String,
    /// The headers of each request except Host and Content-Length, names in lower case.
    pub(super) headers: Vec<(String, String)>,
    /// The headers for the proxy.
    pub(super) proxy_headers: Vec<(String, String)>,
    pub(super) bodies: Bodies,
    pub(super) signer: Option<Signer>,
    pub(super) version: Version,
    /// The version of HTTP in requests that the proxy itself handles.
    pub(super) proxy_version: Version,
    pub(super) pace: Pace,
}

impl Options {
    /// Reads the files and values that the arguments name.
    ///
    /// # Errors
    /// The output that replaces a run.
    pub(super) fn of(arguments: Arguments, random: &mut impl RngCore) -> Result<Self, Output> {
        refuse_what_is_missing(&arguments)?;
        refuse_burst_without_end(&arguments)?;
        let urls = Urls::of(&arguments)?;
        let version = version(arguments.http_version.as_deref(), arguments.http2)?;
        let proxy_version = proxy_version(&arguments)?;
        let pace = pace(&arguments)?;
        let mut headers = default_headers(&arguments, version)?;
        let signer = arguments.aws_sigv4.as_deref().map(|parameters| {
            let token = arguments.aws_session.as_deref();
            Signer::of(parameters, arguments.auth.as_deref(), token)
        });
        let signer = signer.transpose()?;
        let mut method = arguments.method.clone();
        let bodies = bodies(&arguments, &mut headers, &mut method, random)?;
        let token = arguments.aws_session.iter();
        let token = token.map(|token| ("x-amz-security-token", token.as_str()));
        let fields = headers.iter();
        let fields = fields.map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in fields.chain(token) {
            check_field(name, value)?;
        }
        for (name, value) in &arguments.headers {
            check_field(name, value)?;
            set(&mut headers, name, value);
        }
        let mut proxy_headers = Vec::new();
        for (name, value) in &arguments.proxy_headers {
            check_field(name, value)?;
            set(&mut proxy_headers, name, value);
        }
        Ok(Options {
            urls,
            method,
            headers,
            proxy_headers,
            bodies,
            signer,
            version,
            proxy_version,
            pace,
            arguments,
        })
    }

    /// Returns the headers of requests to the proxy for a tunnel. Requests over plain HTTP go to
    /// the proxy itself, without a tunnel.
    pub(super) fn tunnel_headers(&self) -> Vec<Header> {
        let header = |(name, value): &(String, String)| Header {
            name: name.clone(),
            value: value.clone(),
        };
        self.proxy_headers.iter().map(header).collect()
    }

    /// True if the command sends no request.
    pub(super) fn sends_nothing(&self) -> bool {
        let no_request = self.arguments.duration.is_none() && self.arguments.requests == 0;
        let no_time = self.duration().is_some_and(|duration| duration.is_zero());
        self.arguments.connections == 0 || no_request || no_time
    }

    /// Limits the run to one request, whatever other options say: for `--debug`.
    pub(super) fn be_one_request(&mut self) {
        self.arguments.duration = None;
        self.arguments.requests = 1;
        self.arguments.connections = 1;
        self.arguments.timeout = None;
        self.pace = Pace::Unlimited;
    }

    /// True if times count from the intended start. Without a rate or bursts there is none.
    pub(super) fn is_corrected(&self) -> bool {
        self.arguments.latency_correction && self.pace != Pace::Unlimited
    }

    /// Returns the wait before the first burst.
    pub(super) fn wait(&self) -> Duration {
        match self.pace {
            Pace::Bursts { every, .. } => every,
            Pace::Unlimited | Pace::Rate(_) => Duration::ZERO,
        }
    }

    /// Returns the duration of the run after that wait; `None` if the duration does not end the
    /// run.
    pub(super) fn duration(&self) -> Option<Duration> {
        let duration = self.arguments.duration?;
        Some(duration.saturating_sub(self.wait()))
    }

    /// Returns the target of a request as sent: the path, or the whole URL if the request goes to a
    /// proxy. Over HTTP/2 it is always the whole URL, as in oha.
    pub(super) fn target_of<'a>(&self, url: &'a Url) -> &'a str {
        let is_forwarded = self.arguments.proxy.is_some() && url.scheme() == "http";
        match is_forwarded || self.version == Version::Http2 {
            true => &url[Position::BeforeScheme..Position::AfterQuery],
            false => &url[Position::BeforePath..Position::AfterQuery],
        }
    }
}

/// Refuses options that Loadline does not support, and those at which oha panics.
fn refuse_what_is_missing(arguments: &Arguments) -> Result<(), Output> {
    let problem = if arguments.streams == 0 {
        "-p 0 would send nothing; give at least 1."
    } else if arguments.fps == 0 {
        "--fps 0 would show nothing; give at least 1, or --no-tui."
    } else if arguments.vsock_addr.is_some() {
        "--vsock-addr is not supported; connect over TCP or with --unix-socket."
    } else if arguments.proxy_http2 {
        "--proxy-http2 is not supported; leave it out to speak HTTP/1.1 to the proxy."
    } else if arguments
        .proxy
        .as_ref()
        .is_some_and(|proxy| proxy.scheme() != "http")
    {
        "only proxies that are reached over plain HTTP are supported; give -x http://HOST:PORT."
    } else {
        return Ok(());
    };
    Err(Output::refusal(problem))
}

/// Refuses a wait that is longer than a clock can represent.
fn refuse_burst_without_end(arguments: &Arguments) -> Result<(), Output> {
    const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);
    match arguments.burst_delay.is_some_and(|every| every > LONGEST) {
        true => Err(Output::refusal(
            "--burst-delay is longer than a year; give a shorter one.",
        )),
        false => Ok(()),
    }
}

fn version(given: Option<&str>, http2: bool) -> Result<Version, Output> {
    match given.map(str::trim) {
        Some(_) if http2 => Err(Output::error("--http2 and --http-version are exclusive")),
        None if http2 => Ok(Version::Http2),
        None | Some("1.1") => Ok(Version::Http11),
        Some("1.0") => Ok(Version::Http10),
        Some("2" | "2.0") => Ok(Version::Http2),
        Some("0.9") => Err(Output::refusal(
            "HTTP/0.9 is not supported; give --http-version 1.0, 1.1 or 2.",
        )),
        Some("3" | "3.0") => Err(Output::error(
            "Loadline has not been built with HTTP/3 support; give --http-version 1.1 or 2",
        )),
        Some(other) => Err(Output::error(format!(
            "Unknown HTTP version: {other}. Valid versions are 1.0, 1.1 and 2"
        ))),
    }
}

fn proxy_version(arguments: &Arguments) -> Result<Version, Output> {
    match version(
        arguments.proxy_http_version.as_deref(),
        arguments.proxy_http2,
    )? {
        Version::Http2 => Err(Output::refusal(
            "HTTP/2 to a proxy is not supported; give --proxy-http-version 1.1.",
        )),
        version @ (Version::Http10 | Version::Http11) => Ok(version),
    }
}

fn pace(arguments: &Arguments) -> Result<Pace, Output> {
    if let (Some(every), Some(size)) = (arguments.burst_delay, arguments.burst_rate) {
        if every.is_zero() || size == 0 {
            return Err(Output::refusal(
                "--burst-delay and --burst-rate must be more than zero.",
            ));
        }
        return Ok(Pace::Bursts { size, every });
    }
    let Some(text) = &arguments.rate else {
        return Ok(Pace::Unlimited);
    };
    let rate: f64 = text.trim().parse().map_err(|_| {
        Output::refusal(format!(
            "-q {text} is not a number; give requests per second, as 100 or 5.5."
        ))
    })?;
    if rate == 0.0 {
        return Ok(Pace::Unlimited);
    }
    // A number is printed without an exponent; one with many digits is rounded.
    let exact = rate.to_string().parse();
    let rounded = || format!("{rate:.6}").parse();
    exact.or_else(|_| rounded()).map(Pace::Rate).map_err(|_| {
        Output::refusal(format!(
            "-q {text} is no rate; give more than 0 and at most a thousand million requests per \
             second."
        ))
    })
}

fn default_headers(
    arguments: &Arguments,
    version: Version,
) -> Result<Vec<(String, String)>, Output> {
    let mut headers = Vec::new();
    let mut add = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
    add("accept", arguments.accept.as_deref().unwrap_or("*/*"));
    if !arguments.disable_compression {
        add("accept-encoding", "gzip, compress, deflate, br");
    }
    add("user-agent", USER_AGENT);
    if let Some(content_type) = &arguments.content_type {
        add("content-type", content_type);
    }
    if let Some(auth) = arguments
        .auth
        .as_deref()
        .filter(|_| arguments.aws_sigv4.is_none())
    {
        if !auth.contains(':') {
            return Err(Output::error("Parse auth"));
        }
        add(
            "authorization",
            &format!("Basic {}", BASE64_STANDARD.encode(auth)),
        );
    }
    if let Some(host) = &arguments.host {
        add("host", host);
    }
    if arguments.disable_keepalive && version == Version::Http11 {
        add("connection", "close");
    }
    Ok(headers)
}

/// Checks that this can be a header; its value may be empty, as in oha.
fn check_field(name: &str, value: &str) -> Result<(), Output> {
    Header::new(name, value).map(drop).map_err(Output::error)
}

/// Sets a header: the last value of a name is used, in the position of the first.
fn set(headers: &mut Vec<(String, String)>, name: &str, value: &str) {
    let name = name.trim().to_ascii_lowercase();
    match headers.iter_mut().find(|(other, _)| *other == name) {
        Some((_, old)) => value.clone_into(old),
        None => headers.push((name, value.to_owned())),
    }
}

fn bodies(
    arguments: &Arguments,
    headers: &mut Vec<(String, String)>,
    method: &mut String,
    random: &mut impl RngCore,
) -> Result<Bodies, Output> {
    if let Some(path) = &arguments.body_lines {
        return lines(path);
    }
    if let Some(path) = &arguments.body_file {
        return Ok(Bodies::One(read(path)?.into()));
    }
    if arguments.form.is_empty() {
        let body = arguments.body.clone().unwrap_or_default();
        return Ok(Bodies::One(body.into()));
    }
    let form = form::build(&arguments.form, random)?;
    if arguments.content_type.is_none() {
        set(headers, "content-type", &form.content_type);
    }
    if method == "GET" {
        "POST".clone_into(method);
    }
    Ok(Bodies::One(form.body.into()))
}

/// Reads a body from each line; blank lines count. Bytes that are not UTF-8 are sent unchanged.
fn lines(path: &Path) -> Result<Bodies, Output> {
    let content = read(path)?;
    let mut lines: Vec<Content> = content
        .split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec().into())
        .collect();
    // There is no line after the last line's end.
    if lines.len() > 1 && lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    Ok(Bodies::Lines(lines))
}

fn read(path: &Path) -> Result<Vec<u8>, Output> {
    fs::read(path)
        .map_err(|error| Output::error(format!("{} can't be read: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    fn options(words: &[&str]) -> Result<Options, Output> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let arguments = Arguments::read(&words).expect("arguments");
        Options::of(arguments, &mut ChaCha8Rng::seed_from_u64(1))
    }

    fn headers(words: &[&str]) -> Vec<String> {
        let options = options(&[words, &["http://a/"]].concat()).expect("options");
        let fields = options.headers.iter();
        fields
            .map(|(name, value)| format!("{name}: {value}"))
            .collect()
    }

    #[test]
    fn headers_have_ohas_order_and_the_last_of_a_name_counts() {
        assert_eq!(
            headers(&[]),
            [
                "accept: */*",
                "accept-encoding: gzip, compress, deflate, br",
                "user-agent: oha/1.16.0"
            ]
        );
        assert_eq!(
            headers(&[
                "-T",
                "text/x",
                "-a",
                "u:p",
                "--disable-keepalive",
                "--disable-compression",
                "-A",
                "x/y",
                "-H",
                "X-A: 1",
                "-H",
                "User-Agent:  me",
                "-H",
                "x-a:2",
                "--host",
                "b"
            ]),
            [
                "accept: x/y",
                "user-agent: me",
                "content-type: text/x",
                "authorization: Basic dTpw",
                "host: b",
                "connection: close",
                "x-a: 2"
            ]
        );
    }

    #[test]
    fn a_rate_is_a_number_and_zero_is_none() {
        let pace = |words: &[&str]| options(&[words, &["http://a/"]].concat()).map(|o| o.pace);
        assert_eq!(pace(&["-q", "0"]), Ok(Pace::Unlimited));
        assert_eq!(
            pace(&["-q", "5.5"]),
            Ok(Pace::Rate("5.5".parse().expect("a rate")))
        );
        assert_eq!(
            pace(&["-q", "1e3"]),
            Ok(Pace::Rate("1000".parse().expect("a rate")))
        );
        let burst = pace(&["--burst-delay", "300ms", "--burst-rate", "4"]);
        let every = Duration::from_millis(300);
        assert_eq!(burst, Ok(Pace::Bursts { size: 4, every }));
        for refused in ["-q=-1", "-q=nan", "-q=inf", "-q=x", "-q=1e300"] {
            assert_eq!(
                pace(&[refused]).map_err(|output| output.code),
                Err(2),
                "{refused}"
            );
        }
    }

    #[test]
    fn a_form_is_posted_unless_a_method_is_given() {
        let method = |words: &[&str]| options(words).expect("options").method;
        assert_eq!(method(&["-F", "a=1", "http://a/"]), "POST");
        assert_eq!(method(&["-F", "a=1", "-m", "PUT", "http://a/"]), "PUT");
        assert_eq!(method(&["-d", "a=1", "http://a/"]), "GET");
        assert_eq!(
            headers(&["-F", "a=1", "-T", "x/y"]).last().expect("one"),
            "content-type: x/y"
        );
    }

    #[test]
    fn what_can_not_be_done_is_a_sentence() {
        for (words, code, start) in [
            (&["-p", "0"][..], 2, "oha: -p 0 would send nothing"),
            (&["--fps", "0"], 2, "oha: --fps 0"),
            (&["--http-version", "0.9"], 2, "oha: HTTP/0.9"),
            (
                &["--http-version", "3"],
                1,
                "Error: Loadline has not been built with HTTP/3 support",
            ),
            (
                &["--http-version", "7"],
                1,
                "Error: Unknown HTTP version: 7",
            ),
            (
                &["--http2", "--http-version", "2"],
                1,
                "Error: --http2 and --http-version are",
            ),
            (&["--proxy-http2"], 2, "oha: --proxy-http2"),
            (&["--vsock-addr", "1:2"], 2, "oha: --vsock-addr"),
            (&["-x", "https://p/"], 2, "oha: only proxies"),
            (&["-a", "nobody"], 1, "Error: Parse auth"),
            (&["-D", "/no/such"], 1, "Error: /no/such can't be read"),
        ] {
            let output = options(&[words, &["http://a/"]].concat()).expect_err("a refusal");
            assert_eq!(output.code, code, "{words:?}");
            assert!(output.stderr.starts_with(start), "{}", output.stderr);
        }
    }

    #[test]
    fn bodies_by_line_keep_blank_lines() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lines");
        let body = |content: &str| {
            fs::write(&path, content).expect("a file");
            let bodies = lines(&path).expect("bodies");
            let Bodies::Lines(lines) = bodies else {
                panic!("one body")
            };
            lines
                .into_iter()
                .map(|line| String::from_utf8(line.to_vec()).expect("text"))
                .collect::<Vec<_>>()
        };
        assert_eq!(body("a\r\n\nb\n"), ["a", "", "b"]);
        assert_eq!(body("a"), ["a"]);
        assert_eq!(body(""), [""]);
    }
}
