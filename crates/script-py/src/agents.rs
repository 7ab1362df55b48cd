//! Parts of a test on agents: their lines for the process that leads the test, and the end of such
//! a line in the process that has a part.
//!
//! Either end has the two sockets that a process and its child have: one for the messages of
//! Python's runners, one for the reports of the engine (`parts`). Threads pass on what is on them.

use crate::parts::ReportLine;
use crate::worker::{Worker, WorkerError};
use loadline_bus::{AGENTS_VARIABLE, Bus, GatherError, Hire, Host, Invitation, Selector};
use loadline_cluster::{
    Frame, Job, Line, Relay, Seat, Sockets, Source, end_orphaned_process, end_with_stopped_parent,
};
use pyo3::exceptions::{PyConnectionError, PyPermissionError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::value::RawValue;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::{AsFd, IntoRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The tool of parts of a locustfile, as offers and assignments name it.
pub(crate) const TOOL: &str = "locust";

fn lock<T>(cell: &Mutex<T>) -> MutexGuard<'_, T> {
    cell.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unusable(error: impl std::fmt::Display) -> PyErr {
    PyConnectionError::new_err(error.to_string())
}

/// The agents of a test.
#[pyclass(frozen, module = "loadline._native")]
pub(crate) struct Agents {
    hire: Hire,
    requested: Selector,
    bus: Bus,
    invitation: Invitation,
}

#[pymethods]
impl Agents {
    /// The name of the variable with the agents of a locustfile's process.
    #[classattr]
    const VARIABLE: &'static str = AGENTS_VARIABLE;

    /// Connects to the bus of the agents that this text describes. Raises `ConnectionError` if it
    /// can't be used.
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        let hire = Hire::parse(text).map_err(unusable)?;
        let requested = match hire.agents.as_str() {
            "" => Selector::default(),
            some => some.parse().map_err(PyValueError::new_err)?,
        };
        let bus = py.detach(|| Bus::connect(&hire.bus)).map_err(unusable)?;
        let invitation = Invitation::new(&requested, Some(TOOL));
        Ok(Agents {
            hire,
            requested,
            bus,
            invitation,
        })
    }

    /// True if the users of a lost agent are not started anew on the others.
    #[getter]
    fn keeps_losses(&self) -> bool {
        self.hire.keeps_losses
    }

    /// True if agents that come while the test lasts take part in it.
    #[getter]
    fn is_elastic(&self) -> bool {
        self.hire.is_elastic
    }

    /// Gathers all agents of the test, and waits for those that are missing. Raises
    /// `ConnectionError` if there are too few in time.
    fn gather(&self, py: Python<'_>) -> PyResult<Vec<FarPart>> {
        let hosts = py.detach(|| self.hosts()).map_err(unusable)?;
        Ok(hosts.into_iter().map(FarPart::new).collect())
    }

    /// Returns the agents that are there now and have no part of the test yet, and why others can't
    /// have one.
    fn invite(&self, py: Python<'_>) -> PyResult<(Vec<FarPart>, Vec<String>)> {
        let invited = py.detach(|| self.invitation.invite(&self.bus));
        let (hosts, refusals) = invited.map_err(unusable)?;
        Ok((hosts.into_iter().map(FarPart::new).collect(), refusals))
    }

    /// Returns those of these names whose agents are there and have no part of a test.
    fn free(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Vec<String>> {
        let free = py.detach(|| loadline_bus::free(&self.bus, &names));
        free.map_err(unusable)
    }
}

impl Agents {
    fn hosts(&self) -> Result<Vec<Host>, GatherError> {
        let timeout = self.hire.timeout;
        let count = match self.requested.count {
            Some(count) => count as usize,
            None => loadline_bus::find(&self.bus, &self.requested, timeout)?.len(),
        };
        self.invitation.gather(&self.bus, count, timeout)
    }
}

/// A part of a test that an agent has, from the view of the process that leads the test.
#[pyclass(frozen, module = "loadline._native")]
pub(crate) struct FarPart {
    /// The agent's name.
    #[pyo3(get)]
    name: String,
    /// Its `CLOCK_MONOTONIC` less that of this process, in nanoseconds.
    #[pyo3(get)]
    clock_ahead_ns: i64,
    line: Mutex<Option<Line>>,
    relay: Mutex<Option<Relay>>,
}

impl FarPart {
    fn new(host: Host) -> Self {
        FarPart {
            name: host.card.name,
            clock_ahead_ns: host.clock.ahead_ns,
            line: Mutex::new(Some(host.line)),
            relay: Mutex::default(),
        }
    }
}

#[pymethods]
impl FarPart {
    /// Assigns the part this job, with what it is for this part alone; both are JSON. Returns the
    /// descriptor of a socket for messages, which belongs to the caller, and the line of its
    /// reports.
    fn begin(&self, job: &str, own: &str) -> PyResult<(RawFd, ReportLine)> {
        let begun = || PyRuntimeError::new_err("the part has begun already");
        let line = lock(&self.line).take().ok_or_else(begun)?;
        let terms = RawValue::from_string(job.to_owned()).map_err(unusable)?;
        let job = Job::new(TOOL, &terms)?;
        let own = RawValue::from_string(own.to_owned()).map_err(unusable)?;
        let (end, messages) = UnixStream::pair()?;
        let (line_of_reports, reports) = ReportLine::from_elsewhere()?;
        let relay = Relay::begin(line, job, Some(own), Sockets { messages, reports })?;
        *lock(&self.relay) = Some(relay);
        Ok((end.into_raw_fd(), line_of_reports))
    }

    /// Ends its process at once.
    fn kill(&self) {
        if let Some(relay) = &*lock(&self.relay) {
            relay.kill();
        }
    }

    /// Returns how it ended, as the rest of a sentence; `None` while it runs.
    fn ending(&self) -> Option<String> {
        lock(&self.relay).as_ref().and_then(Relay::ending)
    }
}

/// The end of a line in the process that has a part.
#[pyclass(frozen, module = "loadline._native")]
pub(crate) struct PartSeat(Mutex<Option<Seating>>);

/// The seat of a process that an agent has started, or that is one itself.
enum Seating {
    OfAgent(Seat),
    Own(Worker),
}

impl Seating {
    fn seat(&mut self) -> &mut Seat {
        match self {
            Seating::OfAgent(seat) => seat,
            Seating::Own(worker) => &mut worker.seat,
        }
    }
}

/// The frames of a descriptor.
pub(crate) struct Frames(BufReader<File>);

impl Frames {
    pub(crate) fn of(file: BufReader<File>) -> Self {
        Frames(file)
    }
}

impl Source for Frames {
    fn next(&mut self) -> io::Result<Option<Frame>> {
        Frame::read(&mut self.0)
    }
}

#[pymethods]
impl PartSeat {
    /// Takes the seat of a process that an agent has started, with the agent at its standard input
    /// and output. Waits for the job.
    #[staticmethod]
    fn of_agent(py: Python<'_>) -> PyResult<Self> {
        end_with_stopped_parent();
        let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let source = Box::new(Frames(BufReader::new(input)));
        let taken = py.detach(|| Seat::take(source, output, end_orphaned_process));
        let seat = taken.map_err(unusable)?;
        Ok(PartSeat(Mutex::new(Some(Seating::OfAgent(seat)))))
    }

    /// Waits on the bus that this text describes until a master has a part for this process, which
    /// has this name. Raises `ConnectionError` if the bus can't be used, `PermissionError` if it
    /// refuses the token. A process that does not live on is ended where it has not ended by itself
    /// once its part is over.
    #[staticmethod]
    fn of_master(py: Python<'_>, text: &str, name: &str, lives_on: bool) -> PyResult<Self> {
        let worker =
            py.detach(|| Worker::wait(text, name, lives_on))
                .map_err(|error| match error {
                    WorkerError::Refused => PyPermissionError::new_err(error.to_string()),
                    other @ (WorkerError::Bus(_) | WorkerError::Master(_)) => unusable(other),
                })?;
        Ok(PartSeat(Mutex::new(Some(Seating::Own(worker)))))
    }

    /// Returns the job as JSON.
    fn job(&self) -> PyResult<String> {
        self.with(|seat| {
            let terms: Box<RawValue> = seat.job().terms()?;
            Ok(terms.get().to_owned())
        })
    }

    /// Returns what the job is for this part alone, as JSON.
    fn own(&self) -> PyResult<String> {
        self.with(|seat| Ok(seat.own().map_or("null", RawValue::get).to_owned()))
    }

    /// Begins the part. Returns the descriptor of a socket for messages, which belongs to the
    /// caller, and the line of its reports.
    fn begin(&self) -> PyResult<(RawFd, ReportLine)> {
        let (own, messages) = UnixStream::pair()?;
        let (line, reports) = ReportLine::to_elsewhere()?;
        self.with(|seat| Ok(seat.begin(Sockets { messages, reports })?))?;
        Ok((own.into_raw_fd(), line))
    }

    /// Reports the reason why the part can't begin; nothing once it is over.
    fn fail(&self, reason: &str) {
        if let Some(seating) = &mut *lock(&self.0) {
            seating.seat().fail(reason);
        }
    }

    /// Waits until all is passed on that was sent before the socket and the line were closed. The
    /// part is over then. Does nothing more when it is called again.
    fn finish(&self, py: Python<'_>) {
        py.detach(|| {
            let seating = lock(&self.0).take();
            match seating {
                Some(Seating::OfAgent(mut seat)) => seat.finish(),
                Some(Seating::Own(worker)) => worker.finish(),
                None => {}
            }
        });
    }
}

impl PartSeat {
    /// Uses the seat, until the part is over.
    fn with<T>(&self, act: impl FnOnce(&mut Seat) -> PyResult<T>) -> PyResult<T> {
        let mut seating = lock(&self.0);
        let seating = seating.as_mut();
        let over = || PyRuntimeError::new_err("the part is over");
        act(seating.ok_or_else(over)?.seat())
    }
}
