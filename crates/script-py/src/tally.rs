//! The tally of a locustfile: what its users counted in an interval, by method and name.
//!
//! It is taken with the interval's snapshot and merged where snapshots are, as the tallies of all
//! scenarios. The snapshot has the requests that the engine sent; what other clients report by an
//! event is added to it, as metrics of the script.

use crate::entry::Row;
use crate::figures::{Bucket, Figures};
use loadline_engine::Tally;
use loadline_metrics::{CustomMetric, CustomMetrics, Key, MetricUnit, Rate, Trend, Values};
use loadline_record::{Exception, Exceptions, Snapshot};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The metric of the response times of samples.
const RESPONSE_TIME: &str = "event_response_time";
/// The metric of the share of samples that failed.
const FAILED: &str = "event_failed";

/// The sender of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// The engine.
    Engine,
    /// Another client: the request is a sample that was reported by an event.
    Other,
}

/// What was counted in an interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct EntriesTally {
    /// The entries by method and by name.
    entries: BTreeMap<String, BTreeMap<String, EntryTally>>,
    /// The exceptions of tasks.
    exceptions: Exceptions,
}

/// What was counted of one method and name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct EntryTally {
    figures: Figures,
    samples: Samples,
}

/// The requests among them that the engine did not send.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Samples {
    count: u64,
    failures: u64,
    times_ms: Vec<f64>,
}

impl EntriesTally {
    fn entry(&mut self, row: &Row) -> &mut EntryTally {
        let names = found(&mut self.entries, &row.method, BTreeMap::new);
        found(names, &row.name, || EntryTally {
            figures: Figures::new(),
            samples: Samples::default(),
        })
    }
}

/// Returns the value of a key. The key is copied only if it is new.
fn found<'a, V>(
    map: &'a mut BTreeMap<String, V>,
    key: &str,
    make: impl FnOnce() -> V,
) -> &'a mut V {
    if !map.contains_key(key) {
        map.insert(key.to_owned(), make());
    }
    map.get_mut(key).expect("it is there now")
}

impl Tally for EntriesTally {
    fn merge(&mut self, other: Self) {
        for (method, names) in other.entries {
            let own = self.entries.entry(method).or_default();
            for (name, entry) in names {
                match own.get_mut(&name) {
                    Some(own) => own.merge(entry),
                    None => drop(own.insert(name, entry)),
                }
            }
        }
        self.exceptions.merge(&other.exceptions);
    }

    fn add_to(&self, snapshot: &mut Snapshot) {
        for (method, names) in &self.entries {
            for (name, entry) in names {
                entry.samples.add_to(method, name, &mut snapshot.metrics);
            }
        }
        let exceptions = self.exceptions.begun_at(snapshot.start_ns);
        snapshot.exceptions.merge(&exceptions);
    }

    fn note_part(&mut self, part: &str) {
        self.exceptions.note_part(part);
    }
}

impl EntryTally {
    fn merge(&mut self, other: EntryTally) {
        self.figures.add(&other.figures);
        self.samples.count += other.samples.count;
        self.samples.failures += other.samples.failures;
        self.samples.times_ms.extend(other.samples.times_ms);
    }
}

impl Samples {
    fn add_to(&self, method: &str, name: &str, metrics: &mut CustomMetrics) {
        let times = self.times_ms.iter().map(|ms| (*ms, 1));
        let times = Trend::of_values(times);
        if times.count() > 0 {
            let times = Values::Trend(times);
            put(
                RESPONSE_TIME,
                method,
                name,
                MetricUnit::Milliseconds,
                times,
                metrics,
            );
        }
        // A locustfile may count a failure without a request.
        let count = self.count.max(self.failures);
        if count > 0 {
            let failed = Values::Rate(Rate {
                nonzero: self.failures,
                count,
            });
            put(FAILED, method, name, MetricUnit::None, failed, metrics);
        }
    }
}

fn put(
    metric: &str,
    method: &str,
    name: &str,
    unit: MetricUnit,
    values: Values,
    metrics: &mut CustomMetrics,
) {
    let tags = [("method", method), ("request", name)].into_iter();
    let tags = tags.filter(|(_, value)| !value.is_empty());
    let tags = tags.map(|(tag, value)| (tag.to_owned(), value.to_owned()));
    let values = CustomMetric { unit, values };
    match Key::tagged(metric, tags.collect()) {
        Ok(key) => metrics.add(&key, &values),
        // A text that no report could show.
        Err(_) => metrics.leave_out(values.count()),
    }
}

/// What was counted since the last tally, while a recording takes it.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    is_taken: AtomicBool,
    tally: Mutex<EntriesTally>,
}

impl Pending {
    /// Begins: from now on everything is counted.
    pub(crate) fn begin(&self) {
        *self.lock() = EntriesTally::default();
        self.is_taken.store(true, Ordering::Relaxed);
    }

    /// Ends: what was counted so far is the last tally.
    pub(crate) fn end(&self) {
        self.is_taken.store(false, Ordering::Relaxed);
    }

    /// Counts a request of a row.
    pub(crate) fn count(
        &self,
        sender: Sender,
        row: &Row,
        at: f64,
        time: Option<(f64, Bucket)>,
        bytes: i64,
    ) {
        self.change(row, |entry| {
            entry.figures.log(at, time, bytes);
            if sender == Sender::Other {
                entry.samples.count += 1;
                entry.samples.times_ms.extend(time.map(|(ms, _)| ms));
            }
        });
    }

    /// Counts a failure of a row.
    pub(crate) fn count_failure(&self, sender: Sender, row: &Row, at: f64) {
        self.change(row, |entry| {
            entry.figures.log_failure(at);
            entry.samples.failures += u64::from(sender == Sender::Other);
        });
    }

    /// Counts an exception of a task.
    pub(crate) fn count_exception(&self, exception: Exception) {
        if self.is_taken.load(Ordering::Relaxed) {
            self.lock().exceptions.record(exception);
        }
    }

    /// Returns what was counted since the last call, if anything.
    pub(crate) fn take(&self) -> Option<EntriesTally> {
        let tally = mem::take(&mut *self.lock());
        let is_empty = tally.entries.is_empty() && tally.exceptions.is_empty();
        (!is_empty).then_some(tally)
    }

    fn change(&self, row: &Row, change: impl FnOnce(&mut EntryTally)) {
        if self.is_taken.load(Ordering::Relaxed) {
            change(self.lock().entry(row));
        }
    }

    fn lock(&self) -> MutexGuard<'_, EntriesTally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
