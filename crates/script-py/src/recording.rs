//! `Recording`: Loadline's own record of a run, in addition to Locust's statistics.
//!
//! The engine records its exchanges in any case. A thread takes the records second by second: it
//! appends them to a saved run (`saving`), which `loadline report` reads, judges and shows, or
//! sends them to the process that saves the run of several (`parts`). Requests in flight at the end
//! of a recording stay in flight, as in every run.

use crate::engine::{Engine, Share, begin_recorded, existing, plan_of};
use crate::parts::{PartsRecording, ReportLine};
use crate::pause::pause;
use crate::saving::{Recorder, RunOutput, Written};
use crate::stats::Stats;
use crate::tally::Pending;
use loadline_engine::{Handle, Inlet, Readiness};
use loadline_plan::{Body, Check, Level, Plan, Request, Script, Shape};
use loadline_record::{DeclaredCheck, Ended, LoadChange, Note};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use url::Url;

/// The interval at which the end of a run checks if the thread has ended, and the maximum number of
/// checks.
const LOOK_NS: u64 = 10_000_000;
const MOST_LOOKS: u32 = 1_000;

/// A record of the run.
#[pyclass(frozen, module = "loadline._native")]
pub(crate) struct Recording {
    output: Output,
    /// What the users count, besides the requests of the engine.
    pending: Option<Arc<Pending>>,
    running: Mutex<Option<Running>>,
}

/// The place where the record goes.
enum Output {
    /// The saved run of the test of this plan.
    Run { path: PathBuf, plan: Box<Plan> },
    /// The line of the reports of this process, which has a share of a test of this shape.
    Reports {
        line: Py<ReportLine>,
        share: Share,
        shape: Shape,
    },
}

struct Running {
    handle: Handle,
    ended: Receiver<Written>,
    /// The channel by which the thread of a saved run receives the reason of the run's end, before
    /// it ends.
    end: Option<Sender<Ended>>,
    is_closed: bool,
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
        let mut plan = plan_of(users, shape(paced));
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
        let plan = Box::new(plan);
        Ok(Recording::of(Output::Run { path, plan }, stats))
    }

    /// Creates the record of one of several processes of a run: of worker `worker` of `of`, whose
    /// load begins at `begin_ns` (nanoseconds of `CLOCK_MONOTONIC`). It goes to the other end of
    /// this line.
    #[staticmethod]
    #[pyo3(signature = (line, worker, of, begin_ns, paced=false, stats=None))]
    fn part(
        line: Py<ReportLine>,
        worker: u32,
        of: u32,
        begin_ns: u64,
        paced: bool,
        stats: Option<Py<Stats>>,
    ) -> PyResult<Self> {
        if worker >= of {
            let sentence = format!("a run of {of} processes has no worker {worker}");
            return Err(PyValueError::new_err(sentence));
        }
        let share = Share {
            worker,
            of,
            begin_ns: Some(begin_ns),
        };
        let shape = shape(paced);
        Ok(Recording::of(Output::Reports { line, share, shape }, stats))
    }

    /// Begins to record the run whose workers are in other processes, which have these names and
    /// report on these lines.
    fn of_parts(&self, lines: Vec<(String, Py<ReportLine>)>) -> PyResult<PartsRecording> {
        match &self.output {
            Output::Run { path, plan } => PartsRecording::begin(path, Plan::clone(plan), &lines),
            Output::Reports { .. } => {
                let sentence = "the record of one of several processes has no parts";
                Err(PyRuntimeError::new_err(sentence))
            }
        }
    }

    /// Begins the recording: from now on all requests of clients are recorded. Open connections are
    /// closed.
    fn begin(&self, py: Python<'_>) -> PyResult<()> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_some() {
            return Err(PyRuntimeError::new_err("the recording has begun already"));
        }
        *running = Some(match &self.output {
            Output::Run { path, plan } => {
                let (output, end) = RunOutput::create(path, Plan::clone(plan))?;
                let shape = plan.load.shape.clone();
                self.start(
                    py,
                    shape,
                    Share::WHOLE,
                    Some(end),
                    |plan, ready, begin_ns| output.write(plan, ready, begin_ns),
                )?
            }
            Output::Reports { line, share, shape } => {
                self.start(py, shape.clone(), *share, None, |plan, ready, begin_ns| {
                    line.get().send(plan, *share, ready, begin_ns)
                })?
            }
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
        if std::mem::replace(&mut running.is_closed, true) {
            return;
        }
        engine.keep_unfinished();
        engine.stop_recording();
        if let Some(pending) = &self.pending {
            pending.end();
        }
        let by = match interrupted {
            true => Ended::Interrupted,
            false => Ended::Duration,
        };
        if let Some(end) = &running.end {
            // If the thread has ended, it has reported the reason.
            let _ = end.send(by);
        }
        running.handle.abort();
    }

    /// Closes the recording, if it is not closed, and waits until the record is complete.
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
    fn of(output: Output, stats: Option<Py<Stats>>) -> Recording {
        Recording {
            output,
            pending: stats.map(|stats| stats.get().pending()),
            running: Mutex::default(),
        }
    }

    /// Begins a new engine for this share of the run, whose worker reports to the recorder that
    /// `record` starts.
    fn start(
        &self,
        py: Python<'_>,
        shape: Shape,
        share: Share,
        end: Option<Sender<Ended>>,
        record: impl FnOnce(Plan, Readiness, u64) -> PyResult<Recorder>,
    ) -> PyResult<Running> {
        let mut running = None;
        let listen = |plan: &Plan, ready, begin_ns| {
            let Recorder {
                inlet,
                handle,
                ended,
            } = record(plan.clone(), ready, begin_ns)?;
            running = Some(Running {
                handle,
                ended,
                end,
                is_closed: false,
            });
            PyResult::<Inlet>::Ok(inlet)
        };
        begin_recorded(py, shape, share, self.pending.clone(), listen)?;
        running.ok_or_else(|| PyRuntimeError::new_err("the recording did not begin"))
    }

    /// Returns the result of writing the record. The engine takes its turns meanwhile.
    fn written(
        &self,
        py: Python<'_>,
        engine: &Rc<Engine>,
        ended: &Receiver<Written>,
    ) -> PyResult<Written> {
        let unknown = || match &self.output {
            Output::Run { path, .. } => Err(format!("{} is not known to be whole", path.display())),
            Output::Reports { .. } => Err("the last reports may not have been sent".to_owned()),
        };
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

/// Appends notes to the saved run of a test that has ended: the instant of each, in seconds from
/// the begin of the load, and its text. Raises `OSError` if the file can't be written.
#[pyfunction]
pub(crate) fn append_notes(path: PathBuf, notes: Vec<(f64, String)>) -> PyResult<()> {
    let notes: Vec<Note> = notes
        .iter()
        .filter_map(|(at_s, text)| Note::new((at_s.max(0.0) * 1e9) as u64, text))
        .collect();
    let appended = loadline_record::append_notes(&path, &notes);
    appended.map_err(|problem| PyOSError::new_err(problem.to_string()))
}

/// Appends changes of the number of users to the saved run of a test that has ended: the instant of
/// each, in seconds from the begin of the load, and the number. Raises `OSError` if the file can't
/// be written.
#[pyfunction]
pub(crate) fn append_changes(path: PathBuf, changes: Vec<(f64, u32)>) -> PyResult<()> {
    let changes: Vec<LoadChange> = changes
        .iter()
        .map(|(at_s, users)| LoadChange {
            at_ns: (at_s * 1e9) as i64,
            level: Level::Users(*users),
            scenario: None,
        })
        .collect();
    let appended = loadline_record::append_changes(&path, &changes);
    appended.map_err(|problem| PyOSError::new_err(problem.to_string()))
}

/// Appends the exit code of the tool's own rules to the saved run of a test that has ended, as a
/// condition that has failed. Raises `OSError` if the file can't be written.
#[pyfunction]
pub(crate) fn append_exit_code(path: PathBuf, code: i32) -> PyResult<()> {
    let check = DeclaredCheck {
        text: "exit code of locust: value==0".to_owned(),
        holds: false,
        actual: Some(f64::from(code)),
        bound: 0.0,
        samples: 1,
    };
    let appended = loadline_record::append_declared(&path, &check);
    appended.map_err(|problem| PyOSError::new_err(problem.to_string()))
}

fn check(text: &str) -> PyResult<Check> {
    let parsed = text.parse::<Check>();
    parsed.map_err(|problem| PyValueError::new_err(problem.to_string()))
}

fn shape(paced: bool) -> Shape {
    if paced { Shape::Paced } else { Shape::Closed }
}
