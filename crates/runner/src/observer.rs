//! Observers of runs: a saved run, a log, a terminal, a page. Each is told what happens and keeps
//! or shows what it likes; the run knows none of them.

use crate::error::{ObserverError, RunError};
use loadline_engine::{AnyTally, Detail};
use loadline_record::watched::Watched;
use loadline_record::{Exchange, Header, LoadChange, Snapshot, Summary};
use loadline_verdict::RunResult;
use std::time::Duration;

/// What an observer's method comes to. An observer that fails receives no more events of the run,
/// and its error is reported when the run has ended: what was measured is worth more than where it
/// was to be kept.
pub type Observed = Result<(), ObserverError>;

/// Receives the events of a run, and of each of several. Every method has an empty default.
pub trait Observer {
    /// What it wants to be told beside the intervals.
    fn wants(&self) -> Wants {
        Wants::default()
    }

    /// A run is about to bring up its connections.
    ///
    /// # Errors
    /// If the observer is not ready: the run is not made then.
    fn prepare(&mut self) -> Observed {
        Ok(())
    }

    /// The load of a run has begun.
    ///
    /// # Errors
    /// See [`Observed`].
    fn begun(&mut self, _header: &Header) -> Observed {
        Ok(())
    }

    /// What the scenarios counted since the last call, where they count. Called before
    /// [`interval`](Observer::interval), and in between where a user asked for that.
    ///
    /// # Errors
    /// See [`Observed`].
    fn tally(&mut self, _tally: &AnyTally) -> Observed {
        Ok(())
    }

    /// An interval of about a second has ended.
    ///
    /// # Errors
    /// See [`Observed`].
    fn interval(&mut self, _interval: &Interval<'_>) -> Observed {
        Ok(())
    }

    /// Exchanges of one worker have ended, in this order. Told if [`Wants::exchanges`].
    ///
    /// # Errors
    /// See [`Observed`].
    fn exchanges(&mut self, _worker: usize, _exchanges: &[Exchange]) -> Observed {
        Ok(())
    }

    /// Time has passed in which nothing else happened. `summary` is that of the run so far.
    ///
    /// # Errors
    /// See [`Observed`].
    fn idle(&mut self, _summary: &Summary) -> Observed {
        Ok(())
    }

    /// The run has ended.
    ///
    /// # Errors
    /// See [`Observed`].
    fn ended(&mut self, _end: &End<'_>) -> Observed {
        Ok(())
    }
}

/// What an observer wants to be told beside the intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Each exchange that ends.
    pub exchanges: bool,
    /// That nothing happened for so long; `None` leaves it to the run.
    pub idle_after: Option<Duration>,
}

impl Wants {
    /// The events that a run has to tell for this.
    pub fn detail(self) -> Detail {
        Detail {
            exchanges: self.exchanges,
        }
    }

    fn and(self, other: Wants) -> Wants {
        Wants {
            exchanges: self.exchanges || other.exchanges,
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
    /// What was recorded in it. Intervals behind the window are marked as of the drain.
    pub snapshot: &'a Snapshot,
    /// What was watched in it, if anything is.
    pub watched: Option<&'a Watched>,
    /// Changes of the load that were told since the interval before, in order.
    pub changes: &'a [LoadChange],
    /// The run so far, this interval included.
    pub summary: &'a Summary,
}

/// A run that has ended.
#[derive(Clone, Copy, Debug)]
pub struct End<'a> {
    /// All that was measured.
    pub whole: &'a Summary,
    /// What counts, which is all of it or what follows the transient at its beginning; judged.
    pub result: &'a RunResult,
}

/// The observers of one run, with those that failed.
pub(crate) struct Observers<'a> {
    all: Vec<&'a mut (dyn Observer + 'a)>,
    failed: Vec<bool>,
    errors: Vec<ObserverError>,
}

impl<'a> Observers<'a> {
    /// These observers, and one of the run's own, which receives events after them.
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
            failed: vec![false; all.len()],
            errors: Vec::new(),
            all,
        })
    }

    /// What at least one of them wants.
    pub(crate) fn wants(&self) -> Wants {
        let wants = self.all.iter().map(|observer| observer.wants());
        wants.fold(Wants::default(), Wants::and)
    }

    /// Tells all that have not failed.
    pub(crate) fn tell(&mut self, tell: impl Fn(&mut dyn Observer) -> Observed) {
        let each = self.all.iter_mut().zip(&mut self.failed);
        for (observer, failed) in each.filter(|(_, failed)| !**failed) {
            if let Err(error) = tell(&mut **observer) {
                *failed = true;
                self.errors.push(error);
            }
        }
    }

    /// Why some failed, in order.
    pub(crate) fn into_errors(self) -> Vec<ObserverError> {
        self.errors
    }
}
