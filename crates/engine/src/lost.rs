//! Workers that do not reach the end of a run: they panicked, a system call failed, or a user's
//! function does not return, such as a script that loops.
//!
//! Such a worker is *lost*: the run ends without it, with its reports until then.

use crate::control::Handle;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::io;
use std::ops::Range;
use std::thread;
use std::time::Duration;

/// The time without a sign of life after which a worker is lost at the end of a run. A running
/// worker gives one every 100 ms.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(2);

/// The reason why a worker did not reach the end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum WorkerFailure {
    /// It panicked.
    #[error(
        "worker {worker} panicked ({message}), which is a defect of Loadline: please report it. \
         What was recorded until then is in the report."
    )]
    Panicked {
        /// The worker's number, from 0.
        worker: usize,
        /// The panic message.
        message: String,
    },
    /// It did not respond at the end of the run.
    #[error(
        "worker {worker} did not respond for {} s at the end of the run, so the report lacks its \
         last results; look for a function of the script that does not return.",
        SILENCE_TIMEOUT.as_secs()
    )]
    Stuck {
        /// The worker's number, from 0.
        worker: usize,
    },
    /// Its process ended, or had to be killed. The workers of other processes continued.
    #[error(
        "{part} {reason}: the last that it told is the interval up to {until_s} s, and {share} of \
         the load is lost from there {}.",
        extent(*taken_from_ns)
    )]
    Gone {
        /// The name of its part of the run, as the begin of a sentence.
        part: String,
        /// The cause, as the rest of a sentence.
        reason: String,
        /// The end of its last interval, in seconds from the run's zero.
        until_s: String,
        /// Its share of the load, such as `50%`.
        share: String,
        /// The instant from which others send its share, if they do: nanoseconds from the run's
        /// zero, less than 0 in the warm-up.
        taken_from_ns: Option<i64>,
    },
    /// A system call that it needs failed.
    #[error("worker {worker} failed: {reason}. What was recorded until then is in the report.")]
    System {
        /// The worker's number, from 0.
        worker: usize,
        /// The system's error text.
        reason: String,
    },
}

impl WorkerFailure {
    /// Returns the failure in a run whose last interval ended at this instant, in nanoseconds from
    /// the run's zero: what others were to send from then on, nobody has sent.
    #[must_use]
    pub fn as_of_end(mut self, end_ns: u64) -> Self {
        if let WorkerFailure::Gone { taken_from_ns, .. } = &mut self {
            *taken_from_ns = taken_from_ns.filter(|from_ns| *from_ns < end_ns as i64);
        }
        self
    }

    /// Returns the failure of a worker's thread that ended like this, if it is one.
    pub(crate) fn of(worker: usize, ended: thread::Result<io::Result<()>>) -> Option<Self> {
        match ended {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(WorkerFailure::System {
                worker,
                reason: error.to_string(),
            }),
            Err(panic) => Some(WorkerFailure::Panicked {
                worker,
                message: message(&*panic).to_owned(),
            }),
        }
    }
}

/// Returns the end of a loss: `on`, or when others took the share over.
fn extent(taken_from_ns: Option<i64>) -> String {
    match taken_from_ns {
        None => "on".to_owned(),
        Some(from_ns) => {
            let seconds = from_ns as f64 / 1e9;
            format!("to {seconds:.1} s, from when on the others send it")
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("without a message")
}

/// The same time for workers that another loop drives.
const MOST_SILENCE_ELSEWHERE: Duration = Duration::from_secs(6);

/// The workers' signs of life at the end of a run.
#[derive(Debug)]
pub(crate) struct Attendance {
    longest_silence: Duration,
    /// The number of the first worker.
    first: usize,
    last_beat: Vec<u64>,
    silent: Vec<Duration>,
}

impl Attendance {
    /// Creates the attendance of these workers.
    pub(crate) fn new(workers: Range<usize>) -> Self {
        Attendance {
            longest_silence: SILENCE_TIMEOUT,
            first: workers.start,
            last_beat: vec![0; workers.len()],
            silent: vec![Duration::ZERO; workers.len()],
        }
    }

    /// Creates the attendance of workers that another loop drives.
    pub(crate) fn elsewhere(workers: Range<usize>) -> Self {
        Attendance {
            longest_silence: MOST_SILENCE_ELSEWHERE,
            ..Attendance::new(workers)
        }
    }

    /// Resets the silence of all workers, because the run continues.
    pub(crate) fn excuse(&mut self) {
        self.silent.fill(Duration::ZERO);
    }

    /// Returns the workers that have been silent for too long, after another wait of this length.
    /// Waits are added up instead of reading the clock, because a process that was stopped as a
    /// whole receives no signs of life either.
    pub(crate) fn missing(&mut self, handle: &Handle, waited: Duration) -> Vec<usize> {
        let attended = self.last_beat.iter_mut().zip(&mut self.silent);
        for (worker, (last_beat, silent)) in (self.first..).zip(attended) {
            let beat = handle.beats(worker);
            if std::mem::replace(last_beat, beat) == beat {
                *silent += waited;
            } else {
                *silent = Duration::ZERO;
            }
        }
        let silent = (self.first..).zip(&self.silent);
        silent
            .filter(|(_, silent)| **silent >= self.longest_silence)
            .map(|(worker, _)| worker)
            .collect()
    }
}

#[cfg(test)]
mod tests;
