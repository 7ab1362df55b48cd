//! The saved run of a test: a thread that writes the intervals of a run, whose workers are in this
//! process or in others, and its end.

use crate::tally::EntriesTally;
use loadline_cluster::Parts;
use loadline_engine::{Event, Handle, Inlet, Readiness, Run, TallyCodec};
use loadline_plan::Plan;
use loadline_record::{Ended, Environment, Header, RunWriter, Summary};
use loadline_watch::host_counters;
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use std::fs::File;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, SystemTime};

/// The time for which the thread waits for an event of the run.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The result of writing a record.
pub(crate) type Written = Result<(), String>;

/// A thread that takes the reports of a worker of this process.
pub(crate) struct Recorder {
    /// The inlet for the events of the worker.
    pub(crate) inlet: Inlet,
    /// The handle that stops the worker.
    pub(crate) handle: Handle,
    /// The receiver of the thread's result.
    pub(crate) ended: Receiver<Written>,
}

impl Recorder {
    /// Starts a thread that takes reports by `begin`, whose result does so until the end.
    pub(crate) fn start<Take: FnOnce() -> Written>(
        begin: impl FnOnce() -> (Inlet, Handle, Take) + Send + 'static,
    ) -> PyResult<Recorder> {
        let (sender, ended) = channel();
        let (hand_out, begun) = channel();
        let recording = thread::Builder::new().name("recording".to_owned());
        recording.spawn(move || {
            let (inlet, handle, take) = begin();
            // The receivers may be gone.
            let _ = hand_out.send((inlet, handle));
            let _ = sender.send(take());
        })?;
        let gone = |_| PyRuntimeError::new_err("the recording did not begin");
        let (inlet, handle) = begun.recv().map_err(gone)?;
        Ok(Recorder {
            inlet,
            handle,
            ended,
        })
    }
}

/// The file of a run that is about to begin.
pub(crate) struct RunOutput {
    path: PathBuf,
    file: File,
    /// The plan to write into the file.
    plan: Plan,
    /// The receiver of the reason of the run's end.
    by: Receiver<Ended>,
}

impl RunOutput {
    /// Creates the file of a run of this plan. Returns it with the sender of the reason of the
    /// run's end.
    ///
    /// # Errors
    /// If it can't be created.
    pub(crate) fn create(path: &Path, plan: Plan) -> PyResult<(RunOutput, Sender<Ended>)> {
        let unwritable = |error: io::Error| {
            PyOSError::new_err(format!("{} can't be written: {error}", path.display()))
        };
        let file = File::create(path).map_err(unwritable)?;
        let (end, by) = channel();
        let output = RunOutput {
            path: path.to_owned(),
            file,
            plan,
            by,
        };
        Ok((output, end))
    }

    /// Starts to write the run whose worker is in this process, until its end. The worker runs
    /// `plan` from `begin_ns` on.
    pub(crate) fn write(self, plan: Plan, ready: Readiness, begin_ns: u64) -> PyResult<Recorder> {
        Recorder::start(move || {
            let (mut run, inlet) = Run::elsewhere(&plan, ready, begin_ns);
            let handle = run.handle();
            // Whoever ends the run gives the reason first.
            let ended = |_: &Run, by: &Receiver<Ended>| by.try_recv().unwrap_or(Ended::Unknown);
            (inlet, handle, move || self.write_all(&mut run, ended))
        })
    }

    /// Starts to write the run of other processes, whose workers run `plan` from `begin_ns` on.
    /// Returns the receiver of the thread's result, which is there after the end of all parts and
    /// the reason of the run's end.
    pub(crate) fn write_parts(
        self,
        plan: Plan,
        inputs: Vec<(String, UnixStream)>,
        begin_ns: u64,
    ) -> PyResult<Receiver<Written>> {
        let (sender, written) = channel();
        let recording = thread::Builder::new().name("recording".to_owned());
        recording.spawn(move || {
            let tallies = TallyCodec::of::<EntriesTally>();
            let mut parts = Parts::receive(&plan, inputs, Some(&tallies), begin_ns);
            let result = self.write_all(&mut parts.run, end_of_parts);
            // The next run on the same lines begins after the last report of this one.
            drop(parts);
            // The receiver may be gone.
            let _ = sender.send(result);
        })?;
        Ok(written)
    }

    fn write_all(
        self,
        run: &mut Run,
        ended: impl FnOnce(&Run, &Receiver<Ended>) -> Ended,
    ) -> Written {
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
                    summary.finish(ended(run, &self.by), *unfinished);
                    return writer.finish(&summary).map(drop).map_err(text);
                }
                // The merged interval has the counts of its tally.
                Some(
                    Event::Tally(_)
                    | Event::Log { .. }
                    | Event::Slow(_)
                    | Event::Parts(_)
                    | Event::Changed(_),
                )
                | None => {}
            }
        }
    }
}

/// Waits for the reason of the end of a run in parts, which is known when its processes have ended.
/// Parts that were lost are the reason, if no other failure is.
fn end_of_parts(run: &Run, by: &Receiver<Ended>) -> Ended {
    let given = by.recv().unwrap_or(Ended::Unknown);
    match run.failures() {
        [failure, ..] if !matches!(given, Ended::Failed(_)) => Ended::Failed(failure.to_string()),
        _ => given,
    }
}

fn environment() -> Environment {
    Environment {
        pacing: Some(loadline_reactor::PACING.to_owned()),
        ..loadline_watch::environment()
    }
}

fn text(error: loadline_record::Error) -> String {
    error.to_string()
}
