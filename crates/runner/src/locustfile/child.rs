//! The child process of the users: it receives requests on a socket, writes its run into a pipe and
//! its errors to stderr.

use loadline_reactor::Address;
use loadline_record::{FollowedRun, Header, Snapshot};
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{self, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use url::Url;

/// The longest time for a reply of the child.
const REPLY_TIMEOUT: Duration = Duration::from_secs(2);
/// The longest time for the end of the child.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The most lines of the child's that are passed on: each failure of a task may be one.
const MOST_LINES: usize = 40;
/// The name of the run in errors.
const RUN: &str = "the run of the locustfile";

/// The reason why the users of a locustfile could not be started.
#[derive(Debug, thiserror::Error)]
pub enum LocustfileError {
    /// The child could not be started.
    #[error("the interpreter for the locustfile can't be started: {0}.")]
    Start(#[from] io::Error),
    /// It ended before it had loaded the locustfile, with this output.
    #[error("{0}")]
    Refused(String),
}

/// The child process.
pub(super) struct Child {
    process: process::Child,
    control: UnixStream,
    intervals: Receiver<Snapshot>,
    stderr_lines: Arc<StderrLines>,
    host: Url,
    addresses: Vec<Address>,
    begin_ns: u64,
}

/// The child has ended.
pub(super) struct Gone;

/// The current state of the child.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// The number of failed requests so far, as Locust counts them.
    pub(super) failures: u64,
    /// The start of each request in flight, in nanoseconds of `CLOCK_MONOTONIC`.
    pub(super) in_flight_since_ns: Vec<u64>,
}

impl Child {
    pub(super) fn start(
        mut command: Command,
        print: impl Fn(&str) + Send + 'static,
    ) -> Result<Child, LocustfileError> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(REPLY_TIMEOUT))?;
        let mut process = command
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        // The command holds the child's end of the socket until it is dropped.
        drop(command);
        let stderr_lines = Arc::new(StderrLines::default());
        let stderr = process.stderr.take().expect("it is piped");
        let listening = {
            let stderr_lines = Arc::clone(&stderr_lines);
            thread::spawn(move || stderr_lines.read_from(BufReader::new(stderr), print))
        };
        let (sender, received) = channel();
        let (header_sender, begun) = channel();
        let stdout = process.stdout.take().expect("it is piped");
        thread::spawn(move || follow(BufReader::new(stdout), &header_sender, &sender));
        let Ok(header) = begun.recv() else {
            let _ = process.wait();
            let _ = listening.join();
            return Err(LocustfileError::Refused(stderr_lines.refusal()));
        };
        stderr_lines.begin();
        let host = host_of(&header)?;
        Ok(Child {
            process,
            control: ours,
            intervals: received,
            stderr_lines,
            addresses: addresses_of(&host),
            host,
            begin_ns: header.started_monotonic_ns.unwrap_or_default(),
        })
    }

    pub(super) fn host(&self) -> &Url {
        &self.host
    }

    pub(super) fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// Returns the begin of its run, in nanoseconds of `CLOCK_MONOTONIC`.
    pub(super) fn begin_ns(&self) -> u64 {
        self.begin_ns
    }

    /// Requests this many users, new ones spread evenly over this many seconds.
    pub(super) fn have_users(&self, users: u32, seconds: f64) -> io::Result<()> {
        self.send_command(&format!("users {users} {seconds:.3}\n"))
    }

    /// Requests and returns its state.
    pub(super) fn state(&self) -> io::Result<State> {
        self.send_command("state\n")?;
        let mut line = String::new();
        BufReader::new(&self.control).read_line(&mut line)?;
        State::of(&line).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn send_command(&self, line: &str) -> io::Result<()> {
        (&self.control).write_all(line.as_bytes())
    }

    /// Returns the next interval of its run; `None` if none arrived within `timeout`.
    ///
    /// # Errors
    /// If the child has ended.
    pub(super) fn next_interval(&self, timeout: Duration) -> Result<Option<Snapshot>, Gone> {
        match self.intervals.recv_timeout(timeout) {
            Ok(interval) => Ok(Some(interval)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Gone),
        }
    }

    /// Returns the error text for its end.
    pub(super) fn end_message(&self) -> String {
        let last = self.stderr_lines.last();
        let why = last.map_or(String::new(), |line| format!(": {line}"));
        format!("the process of the locustfile has ended{why}")
    }
}

/// Closing the socket ends the child. A child that does not notice it is killed.
impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.control.shutdown(std::net::Shutdown::Both);
        let until = Instant::now() + EXIT_TIMEOUT;
        while matches!(self.process.try_wait(), Ok(None)) {
            if Instant::now() > until {
                let _ = self.process.kill();
                let _ = self.process.wait();
                return;
            }
            thread::sleep(POLL_INTERVAL);
        }
    }
}

impl State {
    fn of(line: &str) -> Option<State> {
        let mut words = line.strip_prefix("state ")?.split_ascii_whitespace();
        Some(State {
            failures: words.next()?.parse().ok()?,
            in_flight_since_ns: words.map(str::parse).collect::<Result<_, _>>().ok()?,
        })
    }
}

/// Reads the run that the child writes, and sends its header and intervals.
fn follow(input: impl BufRead, begun: &Sender<Header>, sender: &Sender<Snapshot>) {
    let Ok(mut run) = FollowedRun::begin(Path::new(RUN), input) else {
        return;
    };
    let _ = begun.send(run.header().clone());
    while let Ok(Some(interval)) = run.next_interval() {
        if sender.send(interval).is_err() {
            return;
        }
    }
}

fn host_of(header: &Header) -> io::Result<Url> {
    let first = header.plan.requests.first();
    first
        .map(|request| request.url.clone())
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Returns the addresses of this host; none if they are unknown here.
fn addresses_of(host: &Url) -> Vec<Address> {
    let name = host.host_str().unwrap_or_default();
    let name = name.trim_matches(['[', ']']);
    let port = host.port_or_known_default().unwrap_or(80);
    let found = loadline_reactor::look_up(name, port);
    found.into_iter().flatten().map(Address::Ip).collect()
}

/// The child's lines on stderr.
#[derive(Default)]
struct StderrLines(Mutex<Lines>);

#[derive(Default)]
struct Lines {
    has_begun: bool,
    count: usize,
    before: Vec<String>,
    last: Option<String>,
}

impl StderrLines {
    fn with<T>(&self, act: impl FnOnce(&mut Lines) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn read_from(&self, input: impl BufRead, print: impl Fn(&str)) {
        for line in input.lines().map_while(Result::ok) {
            let count = self.with(|lines| lines.add(&line));
            match count {
                Some(count) if count < MOST_LINES => print(&line),
                Some(MOST_LINES) => print("The locustfile says more, which is left out."),
                _ => {}
            }
        }
    }

    /// Begins to pass lines on, because the locustfile is loaded.
    fn begin(&self) {
        self.with(|lines| lines.has_begun = true);
    }

    /// Returns the lines that it printed instead of loading the locustfile.
    fn refusal(&self) -> String {
        let lines = self.with(|lines| lines.before.clone());
        let text = lines.join("\n");
        match text.trim() {
            "" => "the locustfile could not be loaded.".to_owned(),
            text => text.to_owned(),
        }
    }

    fn last(&self) -> Option<String> {
        self.with(|lines| lines.last.clone())
    }
}

impl Lines {
    /// Adds a line; returns its number among the lines to pass on, if it is one.
    fn add(&mut self, line: &str) -> Option<usize> {
        let message = message(line).to_owned();
        if !message.trim().is_empty() {
            self.last = Some(message.clone());
        }
        if !self.has_begun {
            self.before.push(message);
            return None;
        }
        self.count += 1;
        Some(self.count - 1)
    }
}

/// Returns a line of the log without its time, host, level and logger.
fn message(line: &str) -> &str {
    let after_level = line.split_once("/ERROR/").filter(|_| line.starts_with('['));
    let message = after_level.and_then(|(_, rest)| rest.split_once(": "));
    message.map_or(line, |(_, message)| message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_is_its_message() {
        let logged = "[2026-11-25 01:29:23,628] host/ERROR/locust.main: No User class found!";
        assert_eq!(message(logged), "No User class found!");
        assert_eq!(message("plain: text"), "plain: text");
    }

    #[test]
    fn a_state_is_read_whole_or_not_at_all() {
        let state = State::of("state 3 17 25\n").expect("a state");
        assert_eq!(
            (state.failures, &state.in_flight_since_ns[..]),
            (3, &[17, 25][..])
        );
        assert!(State::of("state 0\n").is_some());
        for other in ["", "state\n", "state x\n", "state 1 y\n", "users 1 2\n"] {
            assert_eq!(State::of(other), None, "{other}");
        }
    }

    #[test]
    fn what_is_said_before_the_locustfile_is_loaded_is_its_refusal() {
        let stderr_lines = StderrLines::default();
        stderr_lines.read_from(&b"it has no users\n"[..], |line| panic!("{line}"));
        assert_eq!(stderr_lines.refusal(), "it has no users");
        stderr_lines.begin();
        let passed_on = Mutex::new(Vec::new());
        let lines = "one\n".repeat(100);
        stderr_lines.read_from(lines.as_bytes(), |line| {
            passed_on.lock().expect("no panic").push(line.to_owned());
        });
        let passed_on = passed_on.into_inner().expect("no panic");
        assert_eq!(passed_on.len(), MOST_LINES + 1);
        assert!(passed_on[MOST_LINES].contains("left out"));
        assert_eq!(stderr_lines.last().as_deref(), Some("one"));
    }
}
