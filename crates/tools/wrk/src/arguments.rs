//! The arguments of a command line, read and checked in wrk's order.

use super::options::{Flag, Word, Words};
use super::target::{self, Target};
use super::usage::{usage, version};
use super::{Tool, units};
use loadline_plan::Header;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The arguments of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// The tool that was called.
    pub tool: Tool,
    /// The connections of all threads together, at least one for each.
    pub connections: u32,
    /// The number of threads, at least one.
    pub threads: u32,
    /// The duration of the run in seconds, at least one.
    pub duration_s: u64,
    /// The timeout of an exchange.
    pub timeout: Duration,
    /// The rate of all connections together in requests per second, at least one; `None` for wrk.
    pub rate: Option<u64>,
    /// The Lua script.
    pub script: Option<PathBuf>,
    /// The headers of every request; of each name only the last.
    pub headers: Vec<Header>,
    /// True if percentiles are reported.
    pub latency: bool,
    /// True if wrk2 reports the uncorrected times as well.
    pub uncorrected: bool,
    /// The distribution of requests over time in a fork of wrk2, as typed.
    pub distribution: Option<String>,
    /// True if that fork writes each thread's latencies to a file.
    pub each_latency: bool,
    /// True if that fork writes the 99th percentile of the first thread's latencies to a file
    /// repeatedly.
    pub tail_latency: bool,
    /// True if wrk2 records one time for a batch of pipelined requests instead of one for each
    /// response.
    pub batch: bool,
    /// The URL as typed.
    pub url: String,
    /// The words after the URL, for the script.
    pub rest: Vec<String>,
    /// Text for stdout before all other output: the version, once for each `-v`.
    pub preface: String,
    /// Text for stderr: the ignored arguments.
    pub notes: String,
    pub(super) target: Target,
}

/// The output for a command line that can't be run, before the exit code 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// Text for stdout: the version if it was requested, and the usage.
    pub stdout: String,
    /// Text for stderr: the problem, if the original has a message for it.
    pub stderr: String,
}

impl Arguments {
    /// Reads the words after the tool's name.
    ///
    /// # Errors
    /// The output of the original for an invalid command line.
    pub fn parse(
        tool: Tool,
        words: impl IntoIterator<Item = OsString>,
    ) -> Result<Arguments, Refusal> {
        let mut raw = RawArguments::default();
        let read = raw.read(tool, words);
        let preface = raw.preface.clone();
        read.and_then(|()| raw.check(tool))
            .map_err(|stderr| Refusal {
                stdout: preface + &usage(tool),
                stderr,
            })
    }

    /// Returns the target's host and port (or service), as in the messages of wrk.
    pub fn place(&self) -> String {
        format!("{}:{}", self.target.host, self.target.service)
    }
}

/// The arguments as read, before the checks. Problems are texts for stderr; they are empty where
/// the usage is the only message.
struct RawArguments {
    connections: u64,
    threads: u64,
    duration_s: u64,
    timeout_s: u64,
    rate: u64,
    script: Option<PathBuf>,
    headers: Vec<Header>,
    latency: bool,
    uncorrected: bool,
    batch: bool,
    distribution: Option<String>,
    each_latency: bool,
    tail_latency: bool,
    positionals: Vec<String>,
    preface: String,
    notes: String,
}

impl Default for RawArguments {
    /// Returns wrk's defaults, with a rate of 0, which means that it is missing.
    fn default() -> Self {
        RawArguments {
            connections: 10,
            threads: 2,
            duration_s: 10,
            timeout_s: 2,
            rate: 0,
            script: None,
            headers: Vec::new(),
            latency: false,
            uncorrected: false,
            batch: false,
            distribution: None,
            each_latency: false,
            tail_latency: false,
            positionals: Vec::new(),
            preface: String::new(),
            notes: String::new(),
        }
    }
}

impl RawArguments {
    fn read(
        &mut self,
        tool: Tool,
        words: impl IntoIterator<Item = OsString>,
    ) -> Result<(), String> {
        for word in Words::new(tool, words) {
            match word {
                Word::Option(flag, value) => self.option(tool, flag, value)?,
                Word::Positional(word) => self.positionals.push(word),
                Word::Mistake(mistake) => return Err(mistake),
            }
        }
        Ok(())
    }

    fn option(&mut self, tool: Tool, flag: Flag, value: String) -> Result<(), String> {
        let count = || units::count(&value).ok_or_else(String::new);
        let seconds = || units::seconds(&value).ok_or_else(String::new);
        match flag {
            Flag::Connections => self.connections = count()?,
            Flag::Threads => self.threads = count()?,
            Flag::Rate => self.rate = count()?,
            Flag::Duration => self.duration_s = seconds()?,
            Flag::Timeout => self.timeout_s = seconds()?,
            Flag::Script => self.script = Some(value.into()),
            Flag::Header => self.header(&value),
            Flag::Latency => self.latency = true,
            Flag::Uncorrected => (self.latency, self.uncorrected) = (true, true),
            Flag::Batch => self.batch = true,
            Flag::Distribution => self.distribution = Some(value),
            Flag::EachLatency => self.each_latency = true,
            Flag::TailLatency => self.tail_latency = true,
            Flag::Version => self.preface.push_str(&version(tool)),
            Flag::Help => return Err(String::new()),
        }
        Ok(())
    }

    /// Adds a header; it replaces earlier ones of the same name.
    fn header(&mut self, line: &str) {
        let field = line
            .split_once(':')
            .and_then(|(name, value)| Header::new(name.trim(), value).ok());
        match field {
            Some(mut field) => {
                // Scripts look this name up in this case only.
                if field.is("Host") {
                    field.name = "Host".to_owned();
                }
                self.headers.retain(|earlier| !earlier.is(&field.name));
                self.headers.push(field);
            }
            None => self.notes.push_str(&format!(
                "`{line}` is not a header and is not sent; write one such as `Accept: text/html`.\n"
            )),
        }
    }

    fn check(mut self, tool: Tool) -> Result<Arguments, String> {
        if self.positionals.is_empty() || self.threads == 0 || self.duration_s == 0 {
            return Err(String::new());
        }
        let url = self.positionals.remove(0);
        let target = target::parse(&url).ok_or_else(|| format!("invalid URL: {url}\n"))?;
        if self.connections < self.threads.max(1) {
            return Err("number of connections must be >= threads\n".to_owned());
        }
        if tool == Tool::Wrk2 && self.rate == 0 {
            return Err("Throughput MUST be specified with the --rate or -R option\n".to_owned());
        }
        self.refuse_what_is_beyond()?;
        Ok(self.checked(tool, url, target))
    }

    /// Refuses values that the original accepts, but then crashes with or misinterprets.
    fn refuse_what_is_beyond(&self) -> Result<(), String> {
        const MOST_CONNECTIONS: u64 = u32::MAX as u64;
        const MOST_A_SECOND: u64 = 1_000_000_000;
        if self.connections > MOST_CONNECTIONS {
            return Err(format!("the most connections are {MOST_CONNECTIONS}\n"));
        }
        if self.rate > MOST_A_SECOND {
            return Err("the highest rate is 1G, one request every nanosecond\n".to_owned());
        }
        if self.timeout_s == 0 {
            return Err("a timeout of 0 leaves no time for any response\n".to_owned());
        }
        Ok(())
    }

    fn checked(self, tool: Tool, url: String, target: Target) -> Arguments {
        let fits = "more than u32::MAX connections were refused, and there are no more threads";
        Arguments {
            tool,
            connections: u32::try_from(self.connections).expect(fits),
            threads: u32::try_from(self.threads).expect(fits),
            duration_s: self.duration_s,
            timeout: Duration::from_secs(self.timeout_s),
            rate: (tool == Tool::Wrk2).then_some(self.rate),
            script: self.script,
            headers: self.headers,
            latency: self.latency,
            uncorrected: self.uncorrected,
            batch: self.batch,
            distribution: self.distribution,
            each_latency: self.each_latency,
            tail_latency: self.tail_latency,
            url,
            rest: self.positionals,
            preface: self.preface,
            notes: self.notes,
            target,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(tool: Tool, line: &[&str]) -> Result<Arguments, Refusal> {
        Arguments::parse(tool, line.iter().map(OsString::from))
    }

    fn taken(tool: Tool, line: &[&str]) -> Arguments {
        parse(tool, line).unwrap_or_else(|refusal| panic!("{line:?}: {refusal:?}"))
    }

    /// Returns the text on stderr for a line that is refused with the usage.
    fn refused(tool: Tool, line: &[&str]) -> String {
        let refusal = parse(tool, line).expect_err("a refusal");
        assert!(refusal.stdout.ends_with(&usage(tool)), "{line:?}");
        refusal.stderr
    }

    const URL: &str = "http://h/";

    #[test]
    fn defaults_are_those_of_wrk() {
        let arguments = taken(Tool::Wrk, &[URL]);
        let Arguments {
            connections,
            threads,
            duration_s,
            timeout,
            rate,
            ..
        } = arguments;
        assert_eq!((connections, threads, duration_s), (10, 2, 10));
        assert_eq!((timeout, rate), (Duration::from_secs(2), None));
        assert!(!arguments.latency && arguments.headers.is_empty());
    }

    #[test]
    fn every_option_is_taken() {
        let line = [
            "-c1k", "-t", "8", "-d2m", "-T", "3s", "-s", "a.lua", "-U", "-B", "-R", "2k", URL, "x",
            "y",
        ];
        let arguments = taken(Tool::Wrk2, &line);
        assert_eq!((arguments.connections, arguments.threads), (1_000, 8));
        assert_eq!((arguments.duration_s, arguments.rate), (120, Some(2_000)));
        assert_eq!(arguments.timeout, Duration::from_secs(3));
        assert_eq!(arguments.script, Some("a.lua".into()));
        assert!(arguments.latency && arguments.uncorrected && arguments.batch);
        assert_eq!(arguments.rest, ["x", "y"]);
        assert_eq!(arguments.place(), "h:http");
    }

    #[test]
    fn of_headers_of_one_name_the_last_is_sent() {
        let line = [
            "-H", "A: 1", "-H", "b:2", "-H", "a: 3", "-H", "Empty:", "-H", "nothing", URL,
        ];
        let arguments = taken(Tool::Wrk, &line);
        let sent: Vec<_> = arguments
            .headers
            .iter()
            .map(|field| (field.name.as_str(), field.value.as_str()))
            .collect();
        assert_eq!(sent, [("b", "2"), ("a", "3"), ("Empty", "")]);
        assert!(
            arguments.notes.starts_with("`nothing` is not a header"),
            "{}",
            arguments.notes
        );
    }

    #[test]
    fn what_comes_first_is_said_first() {
        let threads = "number of connections must be >= threads\n";
        let rate = "Throughput MUST be specified with the --rate or -R option\n";
        for (line, mistake) in [
            (&[][..], ""),
            (&["-t0", "nonsense"], ""),
            (&["-d0", URL], ""),
            (&["-c", "1.5k", "nonsense"], ""),
            (&["-d", "1ms", URL], ""),
            (&["--help", URL], ""),
            (&["-c1", "nonsense"], "invalid URL: nonsense\n"),
            (&["-c1", URL], threads),
            (&["-c0", "-t1", URL], threads),
            (&[URL], rate),
            (&["-R0", URL], rate),
            (&["-R", "5", "-c-5", URL], ""),
        ] {
            assert_eq!(refused(Tool::Wrk2, line), mistake, "{line:?}");
        }
    }

    #[test]
    fn what_can_t_be_is_refused_in_a_sentence() {
        for (line, begin) in [
            (["-c5G", "-t1"], "the most connections"),
            (["-R2G", "-t1"], "the highest rate"),
            (["-T0", "-R1"], "a timeout of 0"),
        ] {
            let mistake = refused(
                Tool::Wrk2,
                &[line[0], line[1], URL, "-R3"][..if begin.contains("rate") { 3 } else { 4 }],
            );
            assert!(mistake.starts_with(begin), "{mistake}");
        }
    }

    #[test]
    fn the_version_is_printed_and_reading_goes_on() {
        let arguments = taken(Tool::Wrk, &["-v", URL]);
        assert!(arguments.preface.starts_with("wrk 4.1.0 [epoll] "));
        let refusal = parse(Tool::Wrk2, &["-v"]).expect_err("no URL");
        assert!(refusal.stdout.starts_with("wrk 4.0.0 [epoll] "));
        assert!(refusal.stdout.contains("\nUsage: wrk <options> <url>"));
    }
}
