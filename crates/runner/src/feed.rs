//! Handing a run on to consumers on threads of their own: a live page, an exporter.
//!
//! An [`Observer`] is called on the thread that merges the workers' intervals, with borrowed data.
//! It must not wait there for a network, a disk or a lock: the intervals of all workers would wait
//! with it. A consumer that may take its time reads an [`Inbox`] instead:
//!
//! ```text
//!  merging thread                                  consumer's thread
//!  conduct ── News (Arc) ──▶ Feed ── queue of 4 ──▶ Inbox::wait ──▶ page, exporter, …
//! ```
//!
//! [`feed`] makes both ends. The [`Feed`] is one more observer of the run; it never waits. While
//! the consumer is late, the two oldest intervals of the queue are merged into one [`Stretch`]: it
//! is coarser, and nothing in it is lost. How many intervals came that way is
//! [counted](Inbox::merged).
//!
//! An interval is moved into an `Arc` once, whatever the number of feeds. While nobody wants news,
//! nothing is copied, allocated or sent.

mod queue;
mod stretch;

pub use queue::{Feed, Inbox, QUEUE, feed};
pub use stretch::{AgentRecord, Stretch};

use crate::observer::End;
use loadline_engine::AnyTally;
use loadline_record::watched::Watched;
use loadline_record::{Header, LoadChange, Note, SlowRequest, Snapshot, Summary};
use loadline_verdict::RunResult;
use std::sync::Arc;

/// What happened in a run, as data of its own. Cloning it is cheap.
#[derive(Clone, Debug)]
pub enum News {
    /// The load of a run has begun. The runs of a series follow each other.
    Begun(Arc<Header>),
    /// An interval has ended, or several that were merged.
    Interval(Arc<Stretch>),
    /// The run has ended, and was judged.
    Ended(Arc<RunEnd>),
}

/// A run that has ended, as data of its own; see [`End`].
#[derive(Clone, Debug)]
pub struct RunEnd {
    /// The whole measurement, if more was measured than the part that counts.
    pub whole: Option<Summary>,
    /// The part that counts, judged.
    pub result: RunResult,
}

impl RunEnd {
    pub(crate) fn of(end: &End<'_>) -> RunEnd {
        let has_more = !std::ptr::eq(end.whole, &raw const end.result.summary);
        RunEnd {
            whole: has_more.then(|| end.whole.clone()),
            result: end.result.clone(),
        }
    }
}

/// What happened in an interval beside its record.
#[derive(Debug, Default)]
pub(crate) struct Happened {
    pub(crate) changes: Vec<LoadChange>,
    pub(crate) notes: Vec<Note>,
    pub(crate) slow: Vec<SlowRequest>,
    pub(crate) agents: Vec<AgentRecord>,
}

/// Makes the news of one run.
pub(crate) struct Newsroom {
    run: Arc<Header>,
    /// The tallies since the last interval.
    tally: Option<AnyTally>,
    /// The number of the next interval.
    next: u64,
}

impl Newsroom {
    pub(crate) fn new(header: &Header) -> Self {
        Newsroom {
            run: Arc::new(header.clone()),
            tally: None,
            next: 0,
        }
    }

    pub(crate) fn begun(&self) -> News {
        News::Begun(Arc::clone(&self.run))
    }

    /// Keeps a tally for the next interval.
    pub(crate) fn tally(&mut self, tally: AnyTally) {
        AnyTally::add(&mut self.tally, Some(tally));
    }

    pub(crate) fn interval(
        &mut self,
        snapshot: Snapshot,
        watched: Option<Watched>,
        happened: Happened,
    ) -> News {
        let Happened {
            changes,
            notes,
            slow,
            agents,
        } = happened;
        let number = self.next;
        self.next += 1;
        News::Interval(Arc::new(Stretch {
            run: Arc::clone(&self.run),
            first: number,
            last: number,
            snapshot,
            tally: self.tally.take(),
            watched,
            changes,
            notes,
            slow,
            agents,
        }))
    }

    pub(crate) fn ended(self, end: RunEnd) -> News {
        News::Ended(Arc::new(end))
    }
}
