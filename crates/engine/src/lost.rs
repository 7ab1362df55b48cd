//! Workers that do not come to the end of a run: they panicked, the system refused them something,
//! or what their users do no longer returns, as a script that loops.
//!
//! Such a worker is *lost*: the run ends without it, with what it had told until then.

use crate::control::Handle;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::io;
use std::thread;
use std::time::Duration;

/// How long a worker may be silent when the run is to end. A worker that runs says a word every
/// 100 ms.
const MOST_SILENCE: Duration = Duration::from_secs(2);

/// Why a worker did not come to the end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum WorkerFailure {
    /// It panicked.
    #[error(
        "worker {worker} panicked ({message}), which is a defect of Loadline: please report it. \
         What was recorded until then is in the report."
    )]
    Panicked {
        /// Its number, from 0.
        worker: usize,
        /// What the panic says.
        message: String,
    },
    /// It did not answer when the run was to end.
    #[error(
        "worker {worker} did not respond for {} s at the end of the run, so the report lacks its \
         last results; look for a function of the script that does not return.",
        MOST_SILENCE.as_secs()
    )]
    Stuck {
        /// Its number, from 0.
        worker: usize,
    },
    /// The process that it was part of came to an end, or had to be ended. The workers of other
    /// processes went on.
    #[error(
        "process {process} of {processes} {reason}: the last that it told is the interval up to \
         {until_s} s, and {share} of the load is lost from there on."
    )]
    Gone {
        /// Which process, from 1.
        process: u32,
        /// How many there were.
        processes: u32,
        /// What happened to it, as the rest of a sentence.
        reason: String,
        /// When its last interval ended, in seconds from the run's zero.
        until_s: String,
        /// Its share of the load, such as `50%`.
        share: String,
    },
    /// The system refused it what it can't do without.
    #[error("worker {worker} failed: {reason}. What was recorded until then is in the report.")]
    System {
        /// Its number, from 0.
        worker: usize,
        /// What the system says.
        reason: String,
    },
}

impl WorkerFailure {
    /// What a worker's thread came to, if that is a failure.
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

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("without a message")
}

/// As long as this where a worker is in another process, which is ended itself if it is silent.
const MOST_SILENCE_ELSEWHERE: Duration = Duration::from_secs(6);

/// Who of the workers still says a word when the run is to end.
#[derive(Debug)]
pub(crate) struct Attendance {
    patience: Duration,
    heard: Vec<u64>,
    silent: Vec<Duration>,
}

impl Attendance {
    pub(crate) fn new(workers: usize) -> Self {
        Attendance {
            patience: MOST_SILENCE,
            heard: vec![0; workers],
            silent: vec![Duration::ZERO; workers],
        }
    }

    /// That of workers in other processes.
    pub(crate) fn elsewhere(workers: usize) -> Self {
        Attendance {
            patience: MOST_SILENCE_ELSEWHERE,
            ..Attendance::new(workers)
        }
    }

    /// The run goes on: nobody has to say anything.
    pub(crate) fn excuse(&mut self) {
        self.silent.fill(Duration::ZERO);
    }

    /// The workers that have been silent for too long, after another wait of this length. Waits are
    /// added up instead of looking at the clock, as a process that was stopped as a whole hears
    /// nobody either.
    pub(crate) fn missing(&mut self, handle: &Handle, waited: Duration) -> Vec<usize> {
        for worker in 0..self.heard.len() {
            let beat = handle.beats(worker);
            if std::mem::replace(&mut self.heard[worker], beat) == beat {
                self.silent[worker] += waited;
            } else {
                self.silent[worker] = Duration::ZERO;
            }
        }
        let silent = self.silent.iter().enumerate();
        silent
            .filter(|(_, silent)| **silent >= self.patience)
            .map(|(worker, _)| worker)
            .collect()
    }
}

#[cfg(test)]
mod tests;
