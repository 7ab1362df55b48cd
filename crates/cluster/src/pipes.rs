//! The line to a child: its standard input and output.

use crate::frame::Frame;
use crate::line::{Line, Remote, Source};
use std::io::{self, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// The time that a message may take to a child, in nanoseconds.
const HEAD_START_NS: u64 = 20_000_000;

/// Starts a child for the part with this name, and returns the line to it.
///
/// # Errors
/// If it can't be started.
pub fn start(name: String, mut command: Command) -> io::Result<Line> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let input = child.stdin.take().map(writer);
    let output = child.stdout.take().map(BufReader::new);
    let sink = Box::new(move |frame| {
        if let Some(input) = &input {
            // A child that is gone is detected by its silence.
            let _ = input.send(frame);
        }
    });
    let source = Box::new(Output(output));
    Ok(Line {
        head_start_ns: HEAD_START_NS,
        ..Line::here(name, sink, source, Box::new(Process(child)))
    })
}

/// Writes to a child on a separate thread, which may have to wait for the child, until the queue is
/// closed or the child is gone.
fn writer(mut input: ChildStdin) -> Sender<Frame> {
    let (send, frames) = channel::<Frame>();
    thread::spawn(move || {
        for frame in frames {
            if frame.write(&mut input).is_err() {
                return;
            }
        }
    });
    send
}

/// The standard output of a child.
struct Output(Option<BufReader<ChildStdout>>);

impl Source for Output {
    fn next(&mut self) -> io::Result<Option<Frame>> {
        match &mut self.0 {
            Some(output) => Frame::read(output),
            None => Ok(None),
        }
    }
}

/// A child.
struct Process(Child);

impl Remote for Process {
    fn kill(&mut self) {
        let _ = self.0.kill();
    }

    fn ending(&mut self) -> Option<String> {
        let ended = self.0.try_wait().ok().flatten();
        ended.map(how_it_ended)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn how_it_ended(ended: ExitStatus) -> String {
    match (ended.signal(), ended.code()) {
        (Some(signal), _) => format!("was killed by signal {signal}"),
        (None, Some(code)) => format!("ended with exit code {code}"),
        (None, None) => "ended".to_owned(),
    }
}
