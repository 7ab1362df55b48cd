//! Made-up seconds of a run, for the tests; the one in a browser has this file as a module, too.

use loadline_record::{Header, Snapshot};
use loadline_runner::Stretch;
use std::sync::Arc;

pub(crate) const SECOND_NS: u64 = 1_000_000_000;

/// Returns the interval of this second, with a response for each of these times, in nanoseconds.
pub(crate) fn second(number: u64, times_ns: impl IntoIterator<Item = u64>) -> Snapshot {
    let mut snapshot = Snapshot::empty(number * SECOND_NS);
    snapshot.end_ns = (number + 1) * SECOND_NS;
    let mut count = 0;
    for time_ns in times_ns {
        snapshot.times.response.record_ns(time_ns);
        snapshot.times.service.record_ns(time_ns);
        count += 1;
    }
    let counts = &mut snapshot.counts;
    (counts.planned, counts.sent) = (count, count);
    (counts.answered, counts.completed) = (count, count);
    snapshot.statuses.insert(200, count);
    snapshot
}

/// Returns an interval as the news of a run have it.
pub(crate) fn stretch(run: &Arc<Header>, number: u64, snapshot: Snapshot) -> Stretch {
    Stretch {
        run: Arc::clone(run),
        first: number,
        last: number,
        snapshot,
        tally: None,
        watched: None,
        changes: Vec::new(),
        notes: Vec::new(),
        slow: Vec::new(),
        agents: Vec::new(),
    }
}
