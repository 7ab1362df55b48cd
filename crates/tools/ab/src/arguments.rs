//! Words to [`Options`], in ab's order: each flag in turn, then the URL, then the checks of
//! combinations.

use super::getopt::{Letter, Letters};
use super::number::atoi;
use super::options::{Html, Options, Protocol};
use super::target::Target;
use super::usage::Output;
use std::io;
use std::time::Duration;

/// The number of requests with a time limit.
const TIMED_REQUESTS: u32 = 50_000;
/// The maximum concurrency.
const MOST_AT_ONCE: i64 = 200_000;

/// Reads all words after the command's name. `read` reads the body's file.
pub(super) fn parse(
    words: &[String],
    read: impl Fn(&str) -> io::Result<Vec<u8>>,
) -> Result<Options, Output> {
    let mut draft = Draft::new(&read);
    let mut letters = Letters::new(words);
    for letter in letters.by_ref() {
        match letter {
            Letter::Alone(letter) => draft.flag(letter)?,
            Letter::With(letter, value) => draft.value(letter, value)?,
            Letter::Illegal(letter) => {
                draft.complain(format!("illegal option -- {letter}"));
                break;
            }
            Letter::NoValue(letter) => {
                draft.complain(format!("option requires an argument -- {letter}"));
                break;
            }
        }
    }
    draft.finish(letters.rest())
}

/// Options that are being read.
struct Draft<'a> {
    options: Options,
    /// The concurrency as given; it is checked at the end.
    concurrency: i64,
    /// True if a flag has set the method.
    has_method: bool,
    read: &'a dyn Fn(&str) -> io::Result<Vec<u8>>,
}

impl<'a> Draft<'a> {
    fn new(read: &'a dyn Fn(&str) -> io::Result<Vec<u8>>) -> Self {
        Draft {
            options: defaults(),
            concurrency: 1,
            has_method: false,
            read,
        }
    }

    fn complain(&mut self, problem: String) {
        self.options.complaint = format!("ab: {problem}\n");
    }

    fn flag(&mut self, letter: char) -> Result<(), Output> {
        let options = &mut self.options;
        match letter {
            'k' => options.keepalive = true,
            'q' => options.progress = false,
            'd' => options.percentiles = false,
            'S' => options.confidence = false,
            'l' => options.variable_length = true,
            'r' => options.goes_on = true,
            'I' => options.sni = false,
            'w' => drop(self.html()),
            'i' => self.method("HEAD")?,
            'h' => return Err(Output::usage(None)),
            _ => return Err(Output::version()),
        }
        Ok(())
    }

    fn value(&mut self, letter: char, value: &str) -> Result<(), Output> {
        let owned = value.to_owned();
        let options = &mut self.options;
        match letter {
            'n' => options.requests = requests(value)?,
            'c' => self.concurrency = atoi(value),
            't' => self.limit_time(atoi(value)),
            's' => options.timeout = seconds(atoi(value)),
            'b' => options.socket_buffer = u32::try_from(atoi(value)).ok().filter(|&b| b > 0),
            'B' => options.bind = Some(owned),
            'T' => options.content_type = owned,
            'v' => options.verbosity = atoi(value),
            'm' => {
                options.method = owned;
                self.has_method = true;
            }
            'p' => self.body("POST", value)?,
            'u' => self.body("PUT", value)?,
            'x' => self.html().table = owned,
            'y' => self.html().row = owned,
            'z' => self.html().cell = owned,
            'C' => options.cookie = Some(owned),
            'H' => options.headers.push(owned),
            'A' => options.users.push(value.trim_start().to_owned()),
            'P' => options.proxy_users.push(value.trim_start().to_owned()),
            'X' => options.proxy = Some(proxy(value)),
            'g' => options.gnuplot = Some(owned),
            'e' => options.csv = Some(owned),
            'Z' => options.ciphers = Some(owned),
            'f' => options.protocol = Protocol::named(value, options.protocol),
            _ => options.certificate = Some(owned),
        }
        Ok(())
    }

    fn html(&mut self) -> &mut Html {
        self.options.html.get_or_insert_default()
    }

    fn limit_time(&mut self, limit: i64) {
        // A limit below zero ends the run before the first send.
        let over = (limit < 0).then_some(Duration::from_nanos(1));
        self.options.time_limit = over.or(seconds(limit));
        self.options.requests = TIMED_REQUESTS;
    }

    /// Sets the method, which may be set only once.
    fn method(&mut self, method: &str) -> Result<(), Output> {
        if self.has_method {
            let problem = format!("Cannot mix {method} with other methods");
            return Err(Output::problem(&problem));
        }
        self.has_method = true;
        self.options.method = method.to_owned();
        Ok(())
    }

    fn body(&mut self, method: &str, path: &str) -> Result<(), Output> {
        self.method(method)?;
        let body = (self.read)(path).map_err(|error| no_body(path, &error))?;
        self.options.body = Some(body);
        Ok(())
    }

    fn finish(mut self, operands: &[String]) -> Result<Options, Output> {
        let complaint = self.options.complaint.clone();
        let refused = |problem: &str| {
            let usage = Output::usage(Some(problem));
            Output {
                stderr: complaint.clone() + &usage.stderr,
                ..usage
            }
        };
        let [url] = operands else {
            return Err(refused("wrong number of arguments"));
        };
        let Some(target) = Target::parse(url) else {
            return Err(refused("invalid URL"));
        };
        self.options.target = target;
        let most = i64::from(self.options.requests);
        match self.concurrency {
            0 => return Err(no_concurrency(&complaint)),
            1..=MOST_AT_ONCE if self.concurrency <= most => {}
            1..=MOST_AT_ONCE => {
                let problem = "Cannot use concurrency level greater than total number of requests";
                return Err(refused(problem));
            }
            _ => return Err(refused("Invalid Concurrency [Range 0..200000]")),
        }
        self.options.concurrency = self.concurrency as u32;
        Ok(self.options)
    }
}

/// Returns the message for a body that can't be read. A folder can be opened, so ab fails with it
/// later than with other paths.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the library has dozens, and may add more"
)]
fn no_body(path: &str, error: &io::Error) -> Output {
    let reason = reason(error);
    Output::sentence(&match error.kind() {
        io::ErrorKind::IsADirectory => format!("ab: Could not read POST data file: {reason}"),
        _ => format!("ab: Could not open POST data file ({path}): {reason}"),
    })
}

/// Returns the message for a concurrency of 0. ab accepts it, and fails when the run begins.
fn no_concurrency(complaint: &str) -> Output {
    Output {
        stderr: complaint.to_owned() + "apr_pollset_poll: Invalid argument (22)\n",
        code: 22,
        ..Output::default()
    }
}

fn defaults() -> Options {
    Options {
        complaint: String::new(),
        requests: 1,
        concurrency: 1,
        time_limit: None,
        timeout: seconds(30),
        socket_buffer: None,
        bind: None,
        method: "GET".to_owned(),
        body: None,
        content_type: "text/plain".to_owned(),
        verbosity: 0,
        html: None,
        cookie: None,
        users: Vec::new(),
        proxy_users: Vec::new(),
        headers: Vec::new(),
        proxy: None,
        keepalive: false,
        percentiles: true,
        confidence: true,
        progress: true,
        variable_length: false,
        goes_on: false,
        gnuplot: None,
        csv: None,
        sni: true,
        ciphers: None,
        protocol: Protocol::All,
        certificate: None,
        target: Target {
            tls: false,
            host: String::new(),
            port: 80,
            path: String::new(),
        },
    }
}

fn requests(value: &str) -> Result<u32, Output> {
    match u32::try_from(atoi(value)) {
        Ok(requests) if requests > 0 => Ok(requests),
        _ => Err(Output::problem("Invalid number of requests")),
    }
}

/// Returns a number of seconds; `None` for 0 or less.
fn seconds(number: i64) -> Option<Duration> {
    let seconds = u64::try_from(number).ok().filter(|&seconds| seconds > 0);
    seconds.map(Duration::from_secs)
}

/// Parses `host[:port]`; the port is 0 if there is none.
fn proxy(value: &str) -> (String, u16) {
    match value.split_once(':') {
        Some((host, port)) => (host.to_owned(), u16::try_from(atoi(port)).unwrap_or(0)),
        None => (value.to_owned(), 0),
    }
}

/// Returns the system's message for an error, without the number that Rust adds to it.
pub(super) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options, Output> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words, |path| match path {
            "body" => Ok(b"hello\n".to_vec()),
            "folder" => Err(io::Error::from_raw_os_error(21)),
            _ => Err(io::Error::from_raw_os_error(2)),
        })
    }

    fn options(line: &str) -> Options {
        parsed(line).expect("a run")
    }

    fn refusal(line: &str) -> Output {
        parsed(line).expect_err("no run")
    }

    /// Returns the first line on stderr, and the exit code.
    fn problem(line: &str) -> (String, u8) {
        let output = refusal(line);
        let first = output.stderr.lines().next().unwrap_or_default();
        (first.to_owned(), output.code)
    }

    #[test]
    fn a_url_alone_is_one_request() {
        let options = options("http://a/");
        assert_eq!((options.requests, options.concurrency), (1, 1));
        assert_eq!(options.method, "GET");
        assert_eq!(options.timeout, Some(Duration::from_secs(30)));
        assert!(!options.keepalive && options.percentiles && options.confidence);
    }

    #[test]
    fn flags_may_be_bundled_with_each_other_and_with_values() {
        let options = options("-kdn10 -c 2 -H a:b -Hc:d http://a/");
        assert!(options.keepalive && !options.percentiles);
        assert_eq!((options.requests, options.concurrency), (10, 2));
        assert_eq!(options.headers, ["a:b", "c:d"]);
    }

    #[test]
    fn a_time_limit_below_zero_is_over_at_once() {
        let limit = |word| options(&format!("-t {word} http://a/")).time_limit;
        assert_eq!(limit("-1"), Some(Duration::from_nanos(1)));
        assert_eq!(limit("0"), None);
    }

    #[test]
    fn a_time_limit_says_how_many_requests_until_that_is_said() {
        let timed = |line| {
            let options = options(line);
            (
                options.time_limit.map(|time| time.as_secs()),
                options.requests,
            )
        };
        assert_eq!(timed("-t 2 http://a/"), (Some(2), 50_000));
        assert_eq!(timed("-t 2 -n 7 http://a/"), (Some(2), 7));
        assert_eq!(timed("-n 7 -t 2 http://a/"), (Some(2), 50_000));
        assert_eq!(timed("-t 0 http://a/"), (None, 50_000));
    }

    #[test]
    fn methods_do_not_mix_but_for_a_last_word() {
        assert_eq!(options("-p body http://a/").method, "POST");
        assert_eq!(options("-u body http://a/").method, "PUT");
        let patch = options("-p body -m PATCH http://a/");
        assert_eq!(patch.method, "PATCH");
        assert_eq!(patch.body.as_deref(), Some(&b"hello\n"[..]));
        for (line, text) in [
            ("-p body -i http://a/", "Cannot mix HEAD with other methods"),
            ("-i -p body http://a/", "Cannot mix POST with other methods"),
            (
                "-m X -u body http://a/",
                "Cannot mix PUT with other methods",
            ),
        ] {
            assert_eq!(problem(line), (text.to_owned(), 1), "{line}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_as_ab_says_it() {
        for (line, text, code) in [
            ("", "ab: wrong number of arguments", 22),
            ("http://a/ b", "ab: wrong number of arguments", 22),
            ("http://a", "ab: invalid URL", 22),
            ("-n 0 http://a/", "Invalid number of requests", 1),
            (
                "-c 2 http://a/",
                "ab: Cannot use concurrency level greater than total number of requests",
                22,
            ),
            (
                "-c -1 http://a/",
                "ab: Invalid Concurrency [Range 0..200000]",
                22,
            ),
            (
                "-c 200001 http://a/",
                "ab: Invalid Concurrency [Range 0..200000]",
                22,
            ),
            (
                "-c 0 http://a/",
                "apr_pollset_poll: Invalid argument (22)",
                22,
            ),
            ("-Q", "ab: illegal option -- Q", 22),
            ("-n", "ab: option requires an argument -- n", 22),
            (
                "-p none http://a/",
                "ab: Could not open POST data file (none): No such file or directory",
                1,
            ),
            (
                "-u folder http://a/",
                "ab: Could not read POST data file: Is a directory",
                1,
            ),
        ] {
            assert_eq!(problem(line), (text.to_owned(), code), "{line}");
        }
    }

    #[test]
    fn an_unknown_flag_ends_the_options_and_the_run_goes_on() {
        let options = options("-k -Q http://a/");
        assert_eq!(options.complaint, "ab: illegal option -- Q\n");
        assert!(options.keepalive);
        let output = refusal("-Q -k http://a/");
        assert!(
            output
                .stderr
                .starts_with("ab: illegal option -- Q\nab: wrong number of arguments\n")
        );
    }

    #[test]
    fn the_usage_and_the_version_are_asked_for() {
        let usage = refusal("-h");
        assert_eq!((usage.code, usage.stdout.as_str()), (22, ""));
        assert!(usage.stderr.starts_with("Usage: ab [options]"));
        let version = refusal("-kV http://a/");
        assert_eq!((version.code, version.stderr.as_str()), (0, ""));
        assert!(
            version
                .stdout
                .starts_with("This is ApacheBench, Version 2.3 ")
        );
    }

    #[test]
    fn attributes_ask_for_html() {
        assert_eq!(options("http://a/").html, None);
        assert_eq!(options("-w http://a/").html, Some(Html::default()));
        let html = options("-x a -y b -z c http://a/").html.expect("HTML");
        assert_eq!((&*html.table, &*html.row, &*html.cell), ("a", "b", "c"));
    }

    #[test]
    fn a_proxy_is_host_and_maybe_port() {
        assert_eq!(
            options("-X p:3128 http://a/").proxy,
            Some(("p".to_owned(), 3128))
        );
        assert_eq!(options("-X p http://a/").proxy, Some(("p".to_owned(), 0)));
    }
}
