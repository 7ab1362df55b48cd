//! What a command line asks for, read and checked: nothing is connected to yet.

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

/// What oha says of itself to servers.
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
    /// The same each time; empty if there is none.
    One(Content),
    /// A random one of these, never none of them.
    Lines(Vec<Content>),
}

impl Bodies {
    /// The one of this line; the only one, if it is the same each time.
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

/// How fast requests are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pace {
    /// As fast as responses come.
    Unlimited,
    /// So many a second.
    Rate(Rate),
    /// So many at once, again and again after so long.
    Bursts { size: u64, every: Duration },
}

/// What a command line asks for.
#[derive(Clone, Debug)]
pub(super) struct Options {
    /// As they were typed, where nothing has to be made of them.
    pub(super) arguments: Arguments,
    pub(super) urls: Urls,
    pub(super) method: String,
    /// The fields of each request but Host and Content-Length, names in lower case.
    pub(super) headers: Vec<(String, String)>,
    /// Those for the proxy.
    pub(super) proxy_headers: Vec<(String, String)>,
    pub(super) bodies: Bodies,
    pub(super) signer: Option<Signer>,
    pub(super) version: Version,
    /// The version in requests that the proxy answers itself.
    pub(super) proxy_version: Version,
    pub(super) pace: Pace,
}

impl Options {
    /// Reads what the arguments name.
    ///
    /// # Errors
    /// What is printed in place of a run.
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

    /// The fields of requests that ask the proxy for a tunnel. It is asked for plain HTTP itself.
    pub(super) fn tunnel_headers(&self) -> Vec<Header> {
        let header = |(name, value): &(String, String)| Header {
            name: name.clone(),
            value: value.clone(),
        };
        self.proxy_headers.iter().map(header).collect()
    }

    /// Whether nothing at all is asked for.
    pub(super) fn sends_nothing(&self) -> bool {
        let no_request = self.arguments.duration.is_none() && self.arguments.requests == 0;
        let no_time = self.duration().is_some_and(|duration| duration.is_zero());
        self.arguments.connections == 0 || no_request || no_time
    }

    /// `--debug` sends one request, whatever else is asked for.
    pub(super) fn be_one_request(&mut self) {
        self.arguments.duration = None;
        self.arguments.requests = 1;
        self.arguments.connections = 1;
        self.arguments.timeout = None;
        self.pace = Pace::Unlimited;
    }

    /// Whether times count from the intended start: only where there is one.
    pub(super) fn is_corrected(&self) -> bool {
        self.arguments.latency_correction && self.pace != Pace::Unlimited
    }

    /// The wait before the first burst.
    pub(super) fn wait(&self) -> Duration {
        match self.pace {
            Pace::Bursts { every, .. } => every,
            _ => Duration::ZERO,
        }
    }

    /// How long requests are sent behind that wait, where that ends the run.
    pub(super) fn duration(&self) -> Option<Duration> {
        let duration = self.arguments.duration?;
        Some(duration.saturating_sub(self.wait()))
    }

    /// What a request asks for, as sent: the path, or the whole URL where a proxy is asked. Over
    /// HTTP/2 the whole URL as well, as oha has it there.
    pub(super) fn target_of<'a>(&self, url: &'a Url) -> &'a str {
        let is_asked_of_proxy = self.arguments.proxy.is_some() && url.scheme() == "http";
        match is_asked_of_proxy || self.version == Version::Http2 {
            true => &url[Position::BeforeScheme..Position::AfterQuery],
            false => &url[Position::BeforePath..Position::AfterQuery],
        }
    }
}

/// What Loadline does not do, and what oha panics at.
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

/// A wait that no clock can hold.
fn refuse_burst_without_end(arguments: &Arguments) -> Result<(), Output> {
    const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);
    match arguments.burst_delay.is_some_and(|every| every > LONGEST) {
        true => Err(Output::refusal(
            "--burst-delay is longer than a year; give a shorter one.",
        )),
        false => Ok(()),
    }
}

fn version(asked: Option<&str>, http2: bool) -> Result<Version, Output> {
    match asked.map(str::trim) {
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
        version => Ok(version),
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
    // A number is printed without an exponent. One of many digits is rounded.
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

/// Whether it can be a header; its value may be empty, as in oha.
fn check_field(name: &str, value: &str) -> Result<(), Output> {
    Header::new(name, value).map(drop).map_err(Output::error)
}

/// The last of a name counts, at the place of the first.
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

/// A body for each line; blank lines count. What is not UTF-8 is sent as it is.
fn lines(path: &Path) -> Result<Bodies, Output> {
    let content = read(path)?;
    let mut lines: Vec<Content> = content
        .split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec().into())
        .collect();
    // Behind the last line's end there is no line.
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
