//! Commands that run on an agent's machine, for those who lead a test: they start and stop its
//! target, say. An agent runs them only where it was started with `--allow-commands`.
//!
//! What a command prints, and its end, are frames whose first byte says what follows; the other end
//! sends one to have it ended. Nothing for a second is a sign of life.

use crate::exit::{Exit, refuse};
use anyhow::{Context, Result, anyhow};
use loadline_bus::{Bus, Card};
use loadline_cluster::{Frame, Line, Remote, Source};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The kinds of frames: what the command prints, its exit code, and a sign of life.
const STDOUT: u8 = b'o';
const STDERR: u8 = b'e';
const EXIT: u8 = b'x';
const ALIVE: u8 = b'a';
/// The request to end it.
const TERMINATE: u8 = b't';

/// The time between two signs of life.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// The longest silence of a command's agent.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(5);
/// The time that a command has for its end.
const TERM_TIMEOUT: Duration = Duration::from_secs(5);
/// The time in which what a command has printed is read after its end: what it has left in the
/// background may keep its output open.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(200);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The exit code of a command that a signal has ended, less the signal.
const BY_SIGNAL: i32 = 128;

/// Starts a command in a process group of its own, in the folder of this process.
///
/// # Errors
/// The reason why it can't be started.
pub(super) fn start(words: &[String]) -> Result<Line, String> {
    let (program, arguments) = words.split_first().ok_or("it names no program")?;
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn();
    let mut child = child.map_err(|error| format!("{program} can't be run: {error}"))?;
    let (send, frames) = channel();
    let readers = [
        child.stdout.take().map(|from| pass(STDOUT, from, &send)),
        child.stderr.take().map(|from| pass(STDERR, from, &send)),
    ];
    let group = Group::of(child);
    let (waiting, ending) = (group.clone(), group.clone());
    thread::spawn(move || report_end(&waiting, readers.into_iter().flatten().collect(), &send));
    let sink = Box::new(move |frame| {
        if frame == Frame::Script(vec![TERMINATE]) {
            ending.terminate();
        }
    });
    let source = Box::new(Output {
        frames,
        is_over: false,
    });
    Ok(Line::here(String::new(), sink, source, Box::new(group)))
}

/// Passes on what a command prints, on a thread of its own.
fn pass(kind: u8, mut from: impl Read + Send + 'static, to: &Sender<Frame>) -> JoinHandle<()> {
    let to = to.clone();
    thread::spawn(move || {
        let mut bytes = vec![0; 16 * 1024];
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            let frame = Frame::Script([&[kind], &bytes[..length]].concat());
            if to.send(frame).is_err() {
                return;
            }
        }
    })
}

/// Reports the end of a command, after all that it has printed.
fn report_end(group: &Group, readers: Vec<JoinHandle<()>>, to: &Sender<Frame>) {
    let status = loop {
        if let Some(status) = group.status() {
            break status;
        }
        thread::sleep(POLL_INTERVAL);
    };
    let until = Instant::now() + DRAIN_TIMEOUT;
    while readers.iter().any(|reader| !reader.is_finished()) && Instant::now() < until {
        thread::sleep(POLL_INTERVAL);
    }
    let code = status.code();
    let code = code.unwrap_or_else(|| BY_SIGNAL + status.signal().unwrap_or_default());
    let frame = [&[EXIT], &code.to_be_bytes()[..]].concat();
    // An agent that gives the command up needs no end.
    let _ = to.send(Frame::Script(frame));
}

/// The output of a command, and its end.
struct Output {
    frames: Receiver<Frame>,
    is_over: bool,
}

impl Source for Output {
    fn next(&mut self) -> io::Result<Option<Frame>> {
        if self.is_over {
            return Ok(None);
        }
        match self.frames.recv_timeout(HEARTBEAT) {
            Ok(frame) => {
                self.is_over =
                    matches!(&frame, Frame::Script(bytes) if bytes.first() == Some(&EXIT));
                Ok(Some(frame))
            }
            Err(RecvTimeoutError::Timeout) => Ok(Some(Frame::Script(vec![ALIVE]))),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
        }
    }
}

/// A command, and what it has started.
#[derive(Clone)]
struct Group(Arc<Mutex<Process>>);

struct Process {
    child: Child,
    status: Option<ExitStatus>,
    /// True once it was to end.
    is_ending: bool,
}

impl Process {
    fn pid(&self) -> Option<Pid> {
        Pid::from_raw(self.child.id() as i32)
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.pid() {
            // A group that has ended needs no signal.
            let _ = kill_process_group(group, signal);
        }
    }

    /// True if it has ended; it is not waited for.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let Some(pid) = self.pid() else {
            return true;
        };
        !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
    }
}

impl Group {
    fn of(child: Child) -> Self {
        Group(Arc::new(Mutex::new(Process {
            child,
            status: None,
            is_ending: false,
        })))
    }

    /// Returns its exit status; `None` while it runs.
    fn status(&self) -> Option<ExitStatus> {
        let mut process = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if process.status.is_none() && process.has_ended() {
            if process.is_ending {
                // What is left of it, while nothing else can have its number.
                process.signal(Signal::KILL);
            }
            process.status = process.child.wait().ok();
        }
        process.status
    }

    fn signal(&self, signal: Signal) {
        let process = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Once it was waited for, another group may have its number.
        if process.status.is_none() {
            process.signal(signal);
        }
    }

    /// Requests its end, and ends it if it takes too long.
    fn terminate(&self) {
        {
            let mut process = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if std::mem::replace(&mut process.is_ending, true) {
                return;
            }
        }
        self.signal(Signal::TERM);
        let group = self.clone();
        thread::spawn(move || {
            let until = Instant::now() + TERM_TIMEOUT;
            while group.status().is_none() && Instant::now() < until {
                thread::sleep(POLL_INTERVAL);
            }
            group.signal(Signal::KILL);
        });
    }
}

impl Remote for Group {
    fn kill(&mut self) {
        self.terminate();
    }

    fn ending(&mut self) -> Option<String> {
        self.status().map(|status| status.to_string())
    }
}

/// Runs a command on an agent to its end, with its output here. A signal here ends it there.
///
/// # Errors
/// If the agent refuses, or is lost.
pub(super) fn run(bus: &Bus, card: &Card, words: &[String]) -> Result<Exit> {
    let line = loadline_bus::command(bus, card, words)?;
    let line = line.map_err(|reason| anyhow!("agent {} {reason}.", card.name))?;
    let Line {
        mut sink,
        source,
        remote: _remote,
        ..
    } = line;
    let mut signals =
        Signals::new([SIGINT, SIGTERM, SIGHUP]).context("signals can't be watched")?;
    thread::spawn(move || {
        for _ in signals.forever() {
            sink(Frame::Script(vec![TERMINATE]));
        }
    });
    let frames = received(source);
    loop {
        match frames.recv_timeout(SILENCE_TIMEOUT) {
            Ok(Frame::Script(bytes)) => {
                if let Some(code) = show(&bytes)? {
                    // It is the command's own, and none of ours.
                    std::process::exit(i32::from(code));
                }
            }
            Ok(
                Frame::Message(_)
                | Frame::Report(_)
                | Frame::Bundle(_)
                | Frame::Agent(_)
                | Frame::Merged(_),
            ) => {}
            Err(RecvTimeoutError::Timeout) => {
                let seconds = SILENCE_TIMEOUT.as_secs();
                let name = &card.name;
                return Ok(refuse(&format!(
                    "agent {name} said nothing for {seconds} s."
                )));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Ok(refuse(&format!("agent {} has ended it.", card.name)));
            }
        }
    }
}

fn received(mut source: Box<dyn Source>) -> Receiver<Frame> {
    let (send, frames) = channel();
    thread::spawn(move || {
        while let Ok(Some(frame)) = source.next() {
            if send.send(frame).is_err() {
                return;
            }
        }
    });
    frames
}

/// Prints what a command has printed; returns its exit code if it has ended.
fn show(bytes: &[u8]) -> io::Result<Option<u8>> {
    match bytes.split_first() {
        Some((&STDOUT, printed)) => {
            let mut stdout = io::stdout().lock();
            stdout.write_all(printed)?;
            stdout.flush()?;
        }
        Some((&STDERR, printed)) => io::stderr().lock().write_all(printed)?,
        Some((&EXIT, code)) => {
            let code = code.try_into().map(i32::from_be_bytes).unwrap_or(1);
            return Ok(Some(u8::try_from(code).unwrap_or(u8::MAX)));
        }
        _ => {}
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Line {
        let words = ["sh", "-c", script].map(str::to_owned);
        start(&words).expect("a shell")
    }

    /// All that a command prints on each stream, and its exit code.
    fn result(line: &mut Line) -> (Vec<u8>, Vec<u8>, i32) {
        let (mut out, mut err, mut code) = (Vec::new(), Vec::new(), -1);
        while let Some(Frame::Script(bytes)) = line.source.next().expect("frames") {
            match bytes[0] {
                STDOUT => out.extend_from_slice(&bytes[1..]),
                STDERR => err.extend_from_slice(&bytes[1..]),
                EXIT => code = i32::from_be_bytes(bytes[1..].try_into().expect("a code")),
                _ => {}
            }
        }
        (out, err, code)
    }

    #[test]
    fn what_a_command_prints_and_its_code_arrive() {
        let found = result(&mut shell("echo out; echo err >&2; exit 7"));
        assert_eq!(found, (b"out\n".to_vec(), b"err\n".to_vec(), 7));
        let refusal = start(&["/no/such/program".to_owned()]).map(|_| ());
        let refusal = refusal.expect_err("a refusal");
        assert!(
            refusal.contains("/no/such/program can't be run"),
            "{refusal}"
        );
        assert!(start(&[]).is_err());
    }

    #[test]
    fn a_command_is_ended_with_all_that_it_has_started() {
        // The group has a shell and its child; the shell would wait for it.
        let mut line = shell("sleep 600 & wait");
        (line.sink)(Frame::Script(vec![TERMINATE]));
        let (_, _, code) = result(&mut line);
        assert_eq!(code, BY_SIGNAL + SIGTERM);
        assert!(line.remote.ending().is_some());
        let mut line = shell("sleep 600");
        line.remote.kill();
        assert_eq!(result(&mut line).2, BY_SIGNAL + SIGTERM);
    }

    #[test]
    fn what_stays_in_the_background_does_not_keep_a_command_alive() {
        let mut line = shell("sleep 3 & echo up");
        assert_eq!(result(&mut line), (b"up\n".to_vec(), Vec::new(), 0));
    }
}
