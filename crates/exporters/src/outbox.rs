//! The way of batches from the thread that conducts a run to that of an exporter.
//!
//! Putting a batch in never waits for the exporter: when [`ROOM`] batches wait, the two oldest are
//! merged, which loses nothing but the instant between them.

use crate::Batch;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The most batches that wait.
const ROOM: usize = 16;

/// Batches that wait for an exporter.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Arc<Batch>>,
    /// When no more batches come, the instant until which they may be delivered.
    closed: Option<Instant>,
}

impl Outbox {
    /// Puts a batch in.
    pub(crate) fn put(&self, batch: Arc<Batch>) {
        let mut state = self.state();
        if state.waiting.len() >= ROOM
            && let Some(mut oldest) = state.waiting.pop_front()
        {
            if let Some(next) = state.waiting.pop_front() {
                Arc::make_mut(&mut oldest).append(&next);
            }
            state.waiting.push_front(oldest);
        }
        state.waiting.push_back(batch);
    }

    /// Says that no more batches come, and until when the last ones may be delivered.
    pub(crate) fn close(&self, until: Instant) {
        self.state().closed = Some(until);
        self.changed.notify_all();
    }

    /// Waits until this instant, or until the outbox is closed; returns the instant until which
    /// batches may be delivered if it is.
    pub(crate) fn wait_until(&self, due: Instant) -> Option<Instant> {
        let mut state = self.state();
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if state.closed.is_some() || left.is_zero() {
                return state.closed;
            }
            let waited = self.changed.wait_timeout(state, left);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the instant until which batches may be delivered, if the outbox is closed.
    pub(crate) fn closed(&self) -> Option<Instant> {
        self.state().closed
    }

    /// Takes all batches that wait, the oldest first.
    pub(crate) fn take(&self) -> Vec<Arc<Batch>> {
        self.state().waiting.drain(..).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Measured, SeriesKey, Unit, Value};
    use std::time::Duration;

    fn counted(at_ns: u64) -> Batch {
        let key = SeriesKey {
            metric: "requests".into(),
            unit: Unit::None,
            labels: [].into(),
        };
        let mut measured = Measured::default();
        measured.add(key, Value::Counter(1.0));
        Batch {
            at_ns,
            measured,
            ..Batch::default()
        }
    }

    #[test]
    fn a_full_feed_merges_its_oldest_batches_and_loses_nothing() {
        let outbox = Outbox::default();
        (1..=40).for_each(|at_ns| outbox.put(Arc::new(counted(at_ns))));
        let taken = outbox.take();
        assert_eq!(taken.len(), ROOM);
        let ends: Vec<u64> = taken.iter().map(|batch| batch.at_ns).collect();
        assert_eq!(ends, (25..=40).collect::<Vec<_>>());
        let values = taken.iter().flat_map(|batch| batch.measured.iter());
        let sum: f64 = values
            .map(|(_, value)| match value {
                Value::Counter(count) => *count,
                _ => panic!("a counter"),
            })
            .sum();
        assert_eq!(sum, 40.0);
        assert!(outbox.take().is_empty());
    }

    #[test]
    fn closing_ends_a_wait() {
        let outbox = Outbox::default();
        let until = Instant::now() + Duration::from_secs(5);
        outbox.close(until);
        let far = Instant::now() + Duration::from_secs(3_600);
        assert_eq!(outbox.wait_until(far), Some(until));
    }
}
