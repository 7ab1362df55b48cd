//! Observers of runs: a saved run, a log, a terminal, a page. Each receives the events and stores
//! or displays some of them; the run knows none of them.

use crate::error::{ObserverError, RunError};
use crate::feed::News;
use loadline_engine::{AnyTally, Detail};
use loadline_record::watched::Watched;
use loadline_record::{Exchange, Header, LoadChange, Note, Snapshot, Summary};
use loadline_verdict::RunResult;
use std::time::Duration;

/// The result of an observer's method. An observer that fails receives no more events of the run,
/// and its error is reported when the run has ended: the measurement is worth more than the place
/// where it is stored.
pub type Observed = Result<(), ObserverError>;

/// Receives the events of a run, and of each of several. Every method has an empty default.
pub trait Observer {
    /// Returns the events that it needs in addition to the intervals.
    fn interests(&self) -> Interests {
        Interests::default()
    }

    /// Prepares for a run that is about to open its connections.
    ///
    /// # Errors
    /// If the observer is not ready: the run is not made then.
    fn prepare(&mut self) -> Observed {
        Ok(())
    }

    /// Receives the begin of a run's load.
    ///
    /// # Errors
    /// See [`Observed`].
    fn begun(&mut self, _header: &Header) -> Observed {
        Ok(())
    }

    /// Receives the tally of the scenarios since the last call, if they count. Called before
    /// [`interval`](Observer::interval), and in between if a user requested it.
    ///
    /// # Errors
    /// See [`Observed`].
    fn tally(&mut self, _tally: &AnyTally) -> Observed {
        Ok(())
    }

    /// Receives an interval of about a second that has ended.
    ///
    /// # Errors
    /// See [`Observed`].
    fn interval(&mut self, _interval: &Interval<'_>) -> Observed {
        Ok(())
    }

    /// Receives exchanges of one worker that have ended, in this order. Called if
    /// [`Interests::exchanges`].
    ///
    /// # Errors
    /// See [`Observed`].
    fn exchanges(&mut self, _worker: usize, _exchanges: &[Exchange]) -> Observed {
        Ok(())
    }

    /// Called after some time without events. `summary` is that of the run so far.
    ///
    /// # Errors
    /// See [`Observed`].
    fn idle(&mut self, _summary: &Summary) -> Observed {
        Ok(())
    }

    /// Receives the same begin, intervals and end as data that may be kept and sent to another
    /// thread, each after the call with borrowed data. Called if [`Interests::news`].
    ///
    /// # Errors
    /// See [`Observed`].
    fn news(&mut self, _news: &News) -> Observed {
        Ok(())
    }

    /// Receives the end of the run.
    ///
    /// # Errors
    /// See [`Observed`].
    fn ended(&mut self, _end: &End<'_>) -> Observed {
        Ok(())
    }
}

/// The events that an observer needs in addition to the intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interests {
    /// True for each exchange that ends.
    pub exchanges: bool,
    /// True for evidence of what went wrong: the slowest requests of each interval in the
    /// [`News`], and the bodies of error responses in its record.
    pub evidence: bool,
    /// True for the record of each agent in the [`News`]. Of more than 64 agents it has the number
    /// of responses alone.
    pub agents: bool,
    /// True for [`News`]. Nothing is copied for them while no observer wants them.
    pub news: bool,
    /// The time without events after which [`idle`](Observer::idle) is called; `None` leaves it to
    /// the run.
    pub idle_after: Option<Duration>,
}

impl Interests {
    /// Returns the events that a run has to report for this.
    pub fn detail(self) -> Detail {
        Detail {
            exchanges: self.exchanges,
            slow: self.evidence,
            error_bodies: self.evidence,
            parts: self.agents,
        }
    }

    fn and(self, other: Interests) -> Interests {
        Interests {
            exchanges: self.exchanges || other.exchanges,
            evidence: self.evidence || other.evidence,
            agents: self.agents || other.agents,
            news: self.news || other.news,
            idle_after: match (self.idle_after, other.idle_after) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            },
        }
    }
}

/// An interval that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Interval<'a> {
    /// The record of the interval. Intervals after the window are marked as of the drain.
    pub snapshot: &'a Snapshot,
    /// The resources used in the interval, if anything is watched.
    pub watched: Option<&'a Watched>,
    /// The changes of the load since the previous interval, in order.
    pub changes: &'a [LoadChange],
    /// The notes since the previous interval, in the order of writing.
    pub notes: &'a [Note],
    /// The run so far, this interval included.
    pub summary: &'a Summary,
}

/// A run that has ended.
#[derive(Clone, Copy, Debug)]
pub struct End<'a> {
    /// The whole measurement.
    pub whole: &'a Summary,
    /// The part that counts, judged: the whole, or the part after the transient at its beginning.
    pub result: &'a RunResult,
}

/// The observers of one run, and the errors of those that failed.
pub(crate) struct Observers<'a> {
    all: Vec<&'a mut (dyn Observer + 'a)>,
    errors: ObserverErrors,
}

/// The errors of a run's observers.
#[derive(Debug)]
pub(crate) struct ObserverErrors {
    /// Whether each observer has failed.
    failed: Vec<bool>,
    /// The errors, in the order in which they occurred.
    pub(crate) all: Vec<ObserverError>,
}

impl ObserverErrors {
    /// True if no observer has failed.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

impl<'a> Observers<'a> {
    /// Prepares these observers, and one of the run's own, which receives events after them.
    ///
    /// # Errors
    /// If one is not ready.
    pub(crate) fn prepare(
        observers: &'a mut [&mut dyn Observer],
        own: &'a mut dyn Observer,
    ) -> Result<Self, RunError> {
        let mut all: Vec<&'a mut (dyn Observer + 'a)> = Vec::new();
        for observer in observers {
            observer.prepare().map_err(RunError::Observer)?;
            all.push(&mut **observer);
        }
        all.push(own);
        Ok(Observers {
            errors: ObserverErrors {
                failed: vec![false; all.len()],
                all: Vec::new(),
            },
            all,
        })
    }

    /// Returns the same observers at the end of a run, without the run's own.
    pub(crate) fn resume(
        observers: &'a mut [&mut dyn Observer],
        errors: ObserverErrors,
    ) -> Observers<'a> {
        let mut all: Vec<&'a mut (dyn Observer + 'a)> = Vec::new();
        for observer in observers {
            all.push(&mut **observer);
        }
        Observers { all, errors }
    }

    /// Returns the events that at least one of them needs.
    pub(crate) fn interests(&self) -> Interests {
        let interests = self.all.iter().map(|observer| observer.interests());
        interests.fold(Interests::default(), Interests::and)
    }

    /// Calls `notify` with each observer that has not failed.
    pub(crate) fn notify(&mut self, notify: impl Fn(&mut dyn Observer) -> Observed) {
        let ObserverErrors { failed, all } = &mut self.errors;
        let each = self.all.iter_mut().zip(failed);
        for (observer, failed) in each.filter(|(_, failed)| !**failed) {
            if let Err(error) = notify(&mut **observer) {
                *failed = true;
                all.push(error);
            }
        }
    }

    /// Returns the errors of those that failed.
    pub(crate) fn into_errors(self) -> ObserverErrors {
        self.errors
    }
}
