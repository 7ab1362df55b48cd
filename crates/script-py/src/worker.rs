//! This process as an agent that has one part of one test: Locust's `--worker`.
//!
//! The line is a pair of sockets, at one end of which a thread serves as agents do, and at the
//! other one the part has its seat.

use crate::agents::Frames;
use loadline_bus::{Bus, BusError, Card, Hire, Labels, Task};
use loadline_cluster::{ChildError, Frame, Line, Remote, Seat, end_orphaned_process};
use std::fs::File;
use std::io::{self, BufReader};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The longest time for the last messages to their receiver.
const LAST_TIMEOUT: Duration = Duration::from_secs(5);

/// The error for a bus that is gone before there is a part.
const BUS_IS_GONE: &str = "the bus of the master is gone";

/// The reason why there is no part of a test.
#[derive(Debug)]
pub(crate) enum WorkerError {
    /// The bus can't be used.
    Bus(String),
    /// The bus does not know the token of this process, or wants one.
    Refused,
    /// The master has assigned nothing.
    Master(ChildError),
}

impl std::fmt::Display for WorkerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WorkerError::Bus(error) => f.write_str(error),
            WorkerError::Refused => f.write_str("the bus refuses the token"),
            WorkerError::Master(error) => write!(f, "{error}"),
        }
    }
}

/// A part of a test, the end of its line, and the bus that carries it.
pub(crate) struct Worker {
    pub(crate) seat: Seat,
    ends: Ends,
    bus: Bus,
}

/// The end of a line, and the receiver of its end, whose channel is closed then.
struct Ends {
    stream: UnixStream,
    over: Receiver<()>,
}

impl Worker {
    /// Waits on a bus, as an agent of this name, until a master has a part for it. A process that
    /// does not live on ends with its part.
    pub(crate) fn wait(text: &str, name: &str, lives_on: bool) -> Result<Worker, WorkerError> {
        let error = |error: BusError| match matches!(error, BusError::Refused(_)) {
            true => WorkerError::Refused,
            false => WorkerError::Bus(error.to_string()),
        };
        let hire = Hire::parse(text).map_err(error)?;
        let bus = Bus::connect(&hire.bus).map_err(error)?;
        let (send, begun) = channel();
        let card = Card::new(name.to_owned(), 1, u64::MAX, Labels::new());
        let starting = Mutex::new(Some(send));
        let serving = bus.clone();
        thread::spawn(move || {
            loadline_bus::serve(&serving, &card, None, |task| start(task, &starting))
        });
        let gone = |_| WorkerError::Bus(BUS_IS_GONE.to_owned());
        let worker = begun.recv().map_err(gone);
        let worker = worker.and_then(|ends| Worker::at(ends, bus.clone(), lives_on));
        if worker.is_err() {
            bus.leave();
        }
        worker
    }

    /// Takes the seat at this end of a line.
    fn at(ends: Ends, bus: Bus, lives_on: bool) -> Result<Worker, WorkerError> {
        let file = || {
            let copied = ends.stream.try_clone();
            copied.map(|stream| File::from(OwnedFd::from(stream)))
        };
        let taken = file().and_then(|input| Ok((input, file()?)));
        let (input, output) = taken.map_err(|error| WorkerError::Bus(error.to_string()))?;
        let source = Box::new(Frames::of(BufReader::new(input)));
        let is_orphaned = move || {
            if !lives_on {
                end_orphaned_process();
            }
        };
        let seat = Seat::take(source, output, is_orphaned).map_err(WorkerError::Master)?;
        Ok(Worker { seat, ends, bus })
    }

    /// Waits until the master has received all that was sent, and leaves the bus.
    pub(crate) fn finish(mut self) {
        self.seat.finish();
        // The other end may have closed it.
        let _ = self.ends.stream.shutdown(Shutdown::Write);
        let _ = self.ends.over.recv_timeout(LAST_TIMEOUT);
        self.bus.leave();
    }
}

/// Starts the only part of this process.
fn start(task: Task<'_>, starting: &Mutex<Option<Sender<Ends>>>) -> Result<Line, String> {
    if task != Task::PartOf(crate::agents::TOOL) {
        return Err("it runs locustfiles alone".to_owned());
    }
    let waiting = starting
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    let waiting = waiting.ok_or("it had its part already")?;
    let text = |error: io::Error| error.to_string();
    let (ours, stream) = UnixStream::pair().map_err(text)?;
    let mut to = ours.try_clone().map_err(text)?;
    let from = File::from(OwnedFd::from(ours.try_clone().map_err(text)?));
    let (ended, over) = channel();
    let process = OwnProcess {
        stream: ours,
        _ended: ended,
    };
    let line = Line::here(
        String::new(),
        Box::new(move |frame: Frame| drop(frame.write(&mut to))),
        Box::new(Frames::of(BufReader::new(from))),
        Box::new(process),
    );
    let begun = waiting.send(Ends { stream, over });
    begun.map_err(|_| BUS_IS_GONE)?;
    Ok(line)
}

/// This process, from the view of the agent in it: ending it ends its messages.
struct OwnProcess {
    stream: UnixStream,
    /// Dropped once the line is over.
    _ended: Sender<()>,
}

impl Remote for OwnProcess {
    fn kill(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    fn ending(&mut self) -> Option<String> {
        Some("has ended".to_owned())
    }
}
