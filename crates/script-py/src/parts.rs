//! The parts of a test on several processes: each child sends the reports of its worker to its
//! parent, which merges them into one run and saves it.
//!
//! The children are copies of the parent, made by `fork`. The parent supervises them from Python,
//! by messages of their own; the reports are those that every process of a run sends
//! (`loadline_cluster`), on a line beside.

use crate::engine::{Share, plan_of_processes};
use crate::saving::{Recorder, RunOutput, Written};
use loadline_cluster::send_reports;
use loadline_engine::{Readiness, RunPart};
use loadline_plan::Plan;
use loadline_reactor::monotonic_ns;
use loadline_record::Ended;
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The interval at which the end of a recording checks if its thread has ended, in seconds, and the
/// maximum number of checks.
const LOOK_S: f64 = 0.01;
const MOST_LOOKS: u32 = 1_000;

/// The line of a child's reports to its parent. It is created before the child, and each of the two
/// keeps its own end.
#[pyclass(frozen, module = "loadline._native")]
pub(crate) struct ReportLine {
    receiving: Mutex<Option<UnixStream>>,
    sending: Mutex<Option<UnixStream>>,
}

#[pymethods]
impl ReportLine {
    #[new]
    fn new() -> PyResult<Self> {
        let (receiving, sending) = UnixStream::pair()?;
        Ok(ReportLine {
            receiving: Mutex::new(Some(receiving)),
            sending: Mutex::new(Some(sending)),
        })
    }

    /// Makes this the end of the parent.
    fn keep_receiving(&self) {
        drop(lock(&self.sending).take());
    }

    /// Makes this the end of the child.
    fn keep_sending(&self) {
        drop(lock(&self.receiving).take());
    }

    /// Closes both ends in this process.
    fn close(&self) {
        self.keep_receiving();
        self.keep_sending();
    }

    /// Receives what was sent, and nothing more: the child is lost.
    fn cut(&self) {
        if let Some(receiving) = &*lock(&self.receiving) {
            // An end that is closed already receives nothing more either.
            let _ = receiving.shutdown(Shutdown::Read);
        }
    }
}

impl ReportLine {
    /// Returns the line of a part on another machine, from its coordinator's end, and the socket
    /// that its reports are passed on to.
    pub(crate) fn from_elsewhere() -> PyResult<(ReportLine, UnixStream)> {
        let (receiving, passing) = UnixStream::pair()?;
        let line = ReportLine {
            receiving: Mutex::new(Some(receiving)),
            sending: Mutex::default(),
        };
        Ok((line, passing))
    }

    /// Returns the line of this process to a coordinator on another machine, and the socket from
    /// which its reports are passed on.
    pub(crate) fn to_elsewhere() -> PyResult<(ReportLine, UnixStream)> {
        let (passing, sending) = UnixStream::pair()?;
        let line = ReportLine {
            receiving: Mutex::default(),
            sending: Mutex::new(Some(sending)),
        };
        Ok((line, passing))
    }

    /// Starts to send the reports of this process's share of a run, whose worker runs `plan` from
    /// `begin_ns` on.
    pub(crate) fn send(
        &self,
        plan: Plan,
        share: Share,
        ready: Readiness,
        begin_ns: u64,
    ) -> PyResult<Recorder> {
        let output = own_end(&self.sending)?;
        let workers = share.worker..share.worker + 1;
        Recorder::start(move || {
            let (part, inlet) = RunPart::elsewhere(&plan, workers, ready, begin_ns);
            let handle = part.handle();
            let send = move || send_reports(part, output).map_err(|error| error.to_string());
            (inlet, handle, send)
        })
    }
}

/// A record of a test of several processes in a file.
#[pyclass(frozen, module = "loadline._native")]
pub(crate) struct PartsRecording {
    begin_ns: u64,
    running: Mutex<Option<Running>>,
}

struct Running {
    end: Sender<Ended>,
    written: Receiver<Written>,
}

impl PartsRecording {
    /// Begins the record of a run of this plan, whose parts have these names, and send their
    /// reports on these lines.
    pub(crate) fn begin(
        path: &Path,
        mut plan: Plan,
        lines: &[(String, Py<ReportLine>)],
    ) -> PyResult<PartsRecording> {
        let input = |(name, line): &(String, Py<ReportLine>)| {
            PyResult::Ok((name.clone(), own_end(&line.get().receiving)?))
        };
        let inputs: Vec<(String, UnixStream)> = lines.iter().map(input).collect::<PyResult<_>>()?;
        plan.threads = inputs.len() as u32;
        let of_processes = plan_of_processes(plan.threads, plan.load.shape.clone());
        let (output, end) = RunOutput::create(path, plan)?;
        let begin_ns = monotonic_ns();
        let written = output.write_parts(of_processes, inputs, begin_ns)?;
        Ok(PartsRecording {
            begin_ns,
            running: Mutex::new(Some(Running { end, written })),
        })
    }
}

#[pymethods]
impl PartsRecording {
    /// The begin of the load in all processes, in nanoseconds of `CLOCK_MONOTONIC`.
    #[getter]
    fn begin_ns(&self) -> u64 {
        self.begin_ns
    }

    /// Waits until the file is complete, once all parts have sent their last reports or are lost.
    /// The run ended as planned, by an interrupt, or with the message `failure`.
    #[pyo3(signature = (interrupted=false, failure=None))]
    fn end(&self, py: Python<'_>, interrupted: bool, failure: Option<String>) -> PyResult<()> {
        let running = lock(&self.running).take();
        let Some(Running { end, written }) = running else {
            return Ok(());
        };
        let ended = match failure {
            Some(sentence) => Ended::Failed(sentence),
            None if interrupted => Ended::Interrupted,
            None => Ended::Duration,
        };
        // If the thread has ended, it has reported the reason.
        let _ = end.send(ended);
        let gevent = py.import("gevent")?;
        for _ in 0..MOST_LOOKS {
            match written.try_recv() {
                Ok(result) => return result.map_err(PyOSError::new_err),
                Err(TryRecvError::Disconnected) => break,
                Err(TryRecvError::Empty) => drop(gevent.call_method1("sleep", (LOOK_S,))?),
            }
        }
        Err(PyOSError::new_err("the end of its thread is not known"))
    }
}

/// Returns this process's end of a line.
fn own_end(end: &Mutex<Option<UnixStream>>) -> PyResult<UnixStream> {
    let closed = || PyRuntimeError::new_err("this end of the line is closed");
    let end = lock(end);
    Ok(end.as_ref().ok_or_else(closed)?.try_clone()?)
}

fn lock<T>(cell: &Mutex<T>) -> MutexGuard<'_, T> {
    cell.lock().unwrap_or_else(PoisonError::into_inner)
}
