//! `Recording`: Loadline's own record of a run, in a saved run in addition to Locust's statistics.
//!
//! The engine records its exchanges in any case. A thread here takes the records second by second
//! and appends them to a file, which `loadline report` reads, judges and shows. Requests in flight
//! at the end of a recording stay in flight, as in every run.

use crate::engine::{Engine, begin_recorded, existing, plan_of};
use crate::pause::pause;
use crate::stats::Stats;
use crate::tally::Pending;
use loadline_engine::{Event, Handle, Inlet, Readiness, Run};
use loadline_plan::{Body, Check, Plan, Request, Script, Shape};
use loadline_record::{Ended, Environment, Header, RunWriter, Summary, Unfinished};
use loadline_watch::host_counters;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::fs::File;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};
use url::Url;

/// The time for which the thread waits for an event of the run.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// The interval at which the end of a run checks if the thread has ended, and the maximum number of
/// checks.
const LOOK_NS: u64 = 10_000_000;
const MOST_LOOKS: u32 = 1_000;

/// The result of writing the file.
type Written = Result<(), String>;

/// A record of the run in a file.
#[pyclass(frozen, module = "loadline._native")]
pub(crate) struct Recording {
    path: PathBuf,
    plan: Plan,
    /// What the users count, besides the requests of the engine.
    pending: Option<Arc<Pending>>,
    running: Mutex<Option<Running>>,
}

struct Running {
    handle: Handle,
    ended: Receiver<Written>,
    /// The channel by which the thread receives the reason of the run's end, before it ends; empty
    /// once used.
    end: Option<Sender<Ended>>,
}

#[pymethods]
impl Recording {
    /// Creates the record of a run against `host` with this number of users, which lasts `duration`
    /// seconds if that is known. `paced` is true if users may pace themselves. The run is judged by
    /// these checks; the users follow a script, and count in `stats`.
    #[new]
    #[pyo3(signature = (
        path, host, users, duration=None, paced=false, checks=Vec::new(), script=None, stats=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn new(
        path: PathBuf,
        host: &str,
        users: u32,
        duration: Option<f64>,
        paced: bool,
        checks: Vec<String>,
        script: Option<PathBuf>,
        stats: Option<Py<Stats>>,
    ) -> PyResult<Self> {
        let url: Url = host.parse().map_err(|problem| {
            PyValueError::new_err(format!("the host {host:?} is no URL: {problem}"))
        })?;
        let shape = if paced { Shape::Paced } else { Shape::Closed };
        let mut plan = plan_of(users, shape);
        plan.requests.push(Request {
            method: "GET".to_owned(),
            url,
            headers: Vec::new(),
            body: Body::None,
            weight: 1,
            name: None,
        });
        plan.checks = checks
            .iter()
            .map(|text| check(text))
            .collect::<PyResult<_>>()?;
        plan.script = script.map(|path| Script {
            path,
            args: Vec::new(),
            crc32: None,
            names_urls: false,
        });
        // Without a duration, the caller ends the run.
        let seconds = duration.filter(|seconds| *seconds > 0.0);
        plan.duration = seconds.map(Duration::from_secs_f64);
        Ok(Recording {
            path,
            plan,
            pending: stats.map(|stats| stats.get().pending()),
            running: Mutex::default(),
        })
    }

    /// Begins the recording: from now on all requests of clients are recorded. Open connections are
    /// closed.
    fn begin(&self, py: Python<'_>) -> PyResult<()> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_some() {
            return Err(PyRuntimeError::new_err("the recording has begun already"));
        }
        let file = File::create(&self.path).map_err(|error| unwritable(&self.path, &error))?;
        let (end, by) = channel();
        let file = Output {
            path: self.path.clone(),
            file,
            plan: self.plan.clone(),
            by,
        };
        let mut listening = None;
        let shape = self.plan.load.shape.clone();
        let pending = self.pending.clone();
        begin_recorded(py, shape, pending, |plan, ready, begin_ns| {
            let (inlet, handle, ended) = file.write(plan.clone(), ready, begin_ns)?;
            listening = Some((handle, ended));
            Ok(inlet)
        })?;
        *running = listening.map(|(handle, ended)| Running {
            handle,
            ended,
            end: Some(end),
        });
        if let Some(pending) = &self.pending {
            pending.begin();
        }
        Ok(())
    }

    /// Begins the end of the users: from now on a request stays in flight when its user ends.
    fn wind_down(&self) {
        if let Some(engine) = existing() {
            engine.keep_unfinished();
        }
    }

    /// Ends the run, as planned or by an interrupt: requests that begin after this are not
    /// recorded.
    #[pyo3(signature = (interrupted=false))]
    fn close(&self, interrupted: bool) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(running), Some(engine)) = (running.as_mut(), existing()) else {
            return;
        };
        let Some(end) = running.end.take() else {
            return;
        };
        engine.keep_unfinished();
        engine.stop_recording();
        if let Some(pending) = &self.pending {
            pending.end();
        }
        let by = match interrupted {
            true => Ended::Interrupted,
            false => Ended::Duration,
        };
        // If the thread has ended, it has reported the reason.
        let _ = end.send(by);
        running.handle.abort();
    }

    /// Closes the recording, if it is not closed, and waits until the file is complete.
    #[pyo3(signature = (interrupted=false))]
    fn end(&self, py: Python<'_>, interrupted: bool) -> PyResult<()> {
        self.close(interrupted);
        let running = {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            running.take()
        };
        let (Some(running), Some(engine)) = (running, existing()) else {
            return Ok(());
        };
        let written = self.written(py, &engine, &running.ended);
        engine.give_up_unfinished();
        written?.map_err(PyOSError::new_err)
    }
}

impl Recording {
    /// Returns the result of writing the file. The engine takes its turns meanwhile.
    fn written(
        &self,
        py: Python<'_>,
        engine: &Rc<Engine>,
        ended: &Receiver<Written>,
    ) -> PyResult<Written> {
        let unknown = || Err(format!("{} is not known to be whole", self.path.display()));
        for _ in 0..MOST_LOOKS {
            match ended.try_recv() {
                Ok(written) => return Ok(written),
                Err(TryRecvError::Disconnected) => return Ok(unknown()),
                Err(TryRecvError::Empty) => {}
            }
            pause(py, engine, LOOK_NS)?;
        }
        Ok(unknown())
    }
}

/// Raises `ValueError` if the text is not a valid check.
#[pyfunction]
pub(crate) fn ensure_check(text: &str) -> PyResult<()> {
    check(text).map(drop)
}

fn check(text: &str) -> PyResult<Check> {
    let parsed = text.parse::<Check>();
    parsed.map_err(|problem| PyValueError::new_err(problem.to_string()))
}

fn environment() -> Environment {
    Environment {
        pacing: Some(loadline_reactor::PACING.to_owned()),
        ..loadline_watch::environment()
    }
}

fn unwritable(path: &std::path::Path, error: &std::io::Error) -> PyErr {
    PyOSError::new_err(format!("{} can't be written: {error}", path.display()))
}

/// The file of a run that is about to begin.
struct Output {
    path: PathBuf,
    file: File,
    /// The plan to write into the file.
    plan: Plan,
    /// The receiver of the reason of the run's end.
    by: Receiver<Ended>,
}

impl Output {
    /// Starts a thread that writes the events of a run until its end. Returns the inlet for the
    /// events of the worker, the handle that stops the run, and the receiver of the thread's
    /// result.
    fn write(
        self,
        plan: Plan,
        ready: Readiness,
        begin_ns: u64,
    ) -> PyResult<(Inlet, Handle, Receiver<Written>)> {
        let (tell, ended) = channel();
        let (hand_out, begun) = channel();
        let writing = thread::Builder::new().name("recording".to_owned());
        writing.spawn(move || {
            let (run, inlet) = Run::elsewhere(&plan, ready, begin_ns);
            // The receivers may be gone.
            let _ = hand_out.send((inlet, run.handle()));
            let _ = tell.send(self.write_all(run));
        })?;
        let gone = |_| PyRuntimeError::new_err("the recording did not begin");
        let (inlet, handle) = begun.recv().map_err(gone)?;
        Ok((inlet, handle, ended))
    }

    fn write_all(self, mut run: Run) -> Written {
        let header = Header {
            started_monotonic_ns: Some(run.begin_ns()),
            ..Header::new(&self.plan, environment(), SystemTime::now())
        };
        let before = host_counters();
        let mut writer = RunWriter::new(&self.path, self.file, &header).map_err(text)?;
        let mut summary = Summary::new(header);
        loop {
            match run.next_event(POLL_INTERVAL) {
                Some(Event::Interval(interval)) => {
                    summary.observe(&interval);
                    writer.interval(&interval).map_err(text)?;
                }
                Some(Event::Ended { unfinished, .. }) => {
                    summary.host = host_counters().since(&before);
                    finish(&mut summary, &self.by, *unfinished);
                    return writer.finish(&summary).map(drop).map_err(text);
                }
                // The merged interval has the counts of its tally.
                Some(Event::Tally(_) | Event::Log { .. } | Event::Slow(_) | Event::Changed(_))
                | None => {}
            }
        }
    }
}

fn text(error: loadline_record::Error) -> String {
    error.to_string()
}

fn finish(summary: &mut Summary, by: &Receiver<Ended>, unfinished: Unfinished) {
    let ended = by.try_recv().unwrap_or(Ended::Unknown);
    summary.finish(ended, unfinished);
}
