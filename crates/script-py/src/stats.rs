//! The statistics of a run, as Locust keeps them: counted here, read from Python.

use crate::entry::{Entry, Row};
use crate::figures::{Bucket, epoch};
use crate::tally::{Pending, Sender};
use loadline_record::{Exception, Innermost};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of times that a store was created or cleared in this process: earlier lookups are
/// stale.
static EDITIONS: AtomicU64 = AtomicU64::new(0);

/// Rows by name, for each method.
#[derive(Default)]
struct Table {
    by_method: HashMap<String, HashMap<String, Arc<Row>>>,
    /// The listed rows: those with a count, or that were read. The row of a request exists when it
    /// is sent, and is listed when the request is counted.
    rows: Vec<Arc<Row>>,
}

impl Table {
    fn row(&mut self, method: &str, name: &str, edition: u64) -> Arc<Row> {
        let known = self.by_method.get(method);
        if let Some(known) = known.and_then(|names| names.get(name)) {
            return Arc::clone(known);
        }
        let row = Arc::new(Row::new(method, name, edition));
        let names = self.by_method.entry(method.to_owned()).or_default();
        names.insert(name.to_owned(), Arc::clone(&row));
        row
    }

    fn list(&mut self, row: &Arc<Row>) {
        if row.list() {
            self.rows.push(Arc::clone(row));
        }
    }
}

/// The store of a run's statistics.
#[pyclass(frozen, module = "loadline._native")]
pub(crate) struct Stats {
    table: Mutex<Table>,
    total: Mutex<Arc<Row>>,
    edition: AtomicU64,
    bucket: Mutex<Option<Py<PyAny>>>,
    has_bucket: AtomicBool,
    on_failure: Mutex<Option<Py<PyAny>>>,
    pending: Arc<Pending>,
}

/// A row that was looked up in a store; valid as long as the store has the same edition.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) edition: u64,
    pub(crate) row: Arc<Row>,
}

fn lock<T>(cell: &Mutex<T>) -> MutexGuard<'_, T> {
    cell.lock().unwrap_or_else(PoisonError::into_inner)
}

fn new_total() -> Arc<Row> {
    Arc::new(Row::new("", "Aggregated", 0))
}

fn next_edition() -> u64 {
    EDITIONS.fetch_add(1, Ordering::Relaxed) + 1
}

impl Stats {
    /// Returns the store's edition, which is unique in this process.
    pub(crate) fn edition(&self) -> u64 {
        self.edition.load(Ordering::Relaxed)
    }

    /// Returns the row of this name.
    pub(crate) fn find(&self, method: &str, name: &str) -> Found {
        let edition = self.edition();
        let row = lock(&self.table).row(method, name, edition);
        Found { edition, row }
    }

    /// Returns the current row of this one's name, listed: itself, or another one if the store was
    /// cleared since.
    fn listed(&self, row: &Arc<Row>) -> Arc<Row> {
        let edition = self.edition();
        let is_current = row.edition == edition;
        if is_current && row.is_listed() {
            return Arc::clone(row);
        }
        let mut table = lock(&self.table);
        let listed = match is_current {
            true => Arc::clone(row),
            false => table.row(&row.method, &row.name, edition),
        };
        table.list(&listed);
        listed
    }

    /// Returns what was counted since the last tally.
    pub(crate) fn pending(&self) -> Arc<Pending> {
        Arc::clone(&self.pending)
    }

    /// Counts a request in its row and in the total.
    pub(crate) fn count(
        &self,
        py: Python<'_>,
        sender: Sender,
        row: &Arc<Row>,
        ms: Option<f64>,
        bytes: i64,
    ) -> PyResult<()> {
        let time = match ms {
            None => None,
            Some(ms) => Some((ms, self.bucket_of(py, ms)?)),
        };
        let at = epoch();
        self.listed(row).log(at, time, bytes);
        lock(&self.total).log(at, time, bytes);
        self.pending.count(sender, row, at, time, bytes);
        Ok(())
    }

    fn bucket_of(&self, py: Python<'_>, ms: f64) -> PyResult<Bucket> {
        if !self.has_bucket.load(Ordering::Relaxed) {
            return Ok(Bucket::of(ms));
        }
        let bucket = lock(&self.bucket).as_ref().map(|own| own.clone_ref(py));
        match bucket {
            None => Ok(Bucket::of(ms)),
            Some(own) => Bucket::given(own.bind(py).call1((ms,))?.as_any()),
        }
    }

    /// Counts a failure in its row and in the total.
    pub(crate) fn count_failure(&self, sender: Sender, row: &Arc<Row>) {
        let at = epoch();
        self.listed(row).log_failure(at);
        lock(&self.total).log_failure(at);
        self.pending.count_failure(sender, row, at);
    }

    /// Calls the listener to failures for one that was counted.
    pub(crate) fn report_failure(
        &self,
        py: Python<'_>,
        row: &Row,
        failure: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let listener = lock(&self.on_failure).as_ref().map(|own| own.clone_ref(py));
        let Some(listener) = listener else {
            return Ok(());
        };
        let arguments = (row.method.as_str(), row.name.as_str(), failure);
        listener.call1(py, arguments).map(drop)
    }
}

#[pymethods]
impl Stats {
    #[new]
    fn new() -> Self {
        Stats {
            table: Mutex::default(),
            total: Mutex::new(new_total()),
            edition: AtomicU64::new(next_edition()),
            bucket: Mutex::default(),
            has_bucket: AtomicBool::new(false),
            on_failure: Mutex::default(),
            pending: Arc::default(),
        }
    }

    /// Counts a request that the engine did not send.
    #[pyo3(signature = (method, name, response_time_ms, length))]
    fn log(
        &self,
        py: Python<'_>,
        method: &str,
        name: &str,
        response_time_ms: Option<f64>,
        length: i64,
    ) -> PyResult<()> {
        let found = self.find(method, name);
        let time = response_time_ms;
        self.count(py, Sender::Other, &found.row, time, length)
    }

    /// Counts a failure of such a request.
    #[pyo3(signature = (method, name, error_key=None))]
    fn log_error(&self, method: &str, name: &str, error_key: Option<&Bound<'_, PyAny>>) {
        let _ = error_key;
        self.count_failure(Sender::Other, &self.find(method, name).row);
    }

    /// Counts an exception of a task for the record of the test: the name of its class, its
    /// message, and its traceback.
    fn log_exception(&self, kind: &str, message: &str, trace: &str) {
        let exception = Exception::new(kind, message, trace.trim_end(), Innermost::Last);
        self.pending.count_exception(exception);
    }

    /// Returns the statistics of a name and method, created if they are missing.
    fn entry(&self, method: &str, name: &str) -> Entry {
        Entry(self.listed(&self.find(method, name).row))
    }

    /// Returns the statistics of all requests together.
    fn total(&self) -> Entry {
        Entry(Arc::clone(&lock(&self.total)))
    }

    /// Returns the statistics of each name, in the order of first occurrence, without the `first`
    /// ones.
    #[pyo3(signature = (first=0))]
    fn entries(&self, first: usize) -> Vec<Entry> {
        let rows = lock(&self.table).rows.get(first..).map(<[_]>::to_vec);
        rows.unwrap_or_default().into_iter().map(Entry).collect()
    }

    /// Resets all counts.
    fn reset(&self) {
        lock(&self.total).reset();
        let rows = lock(&self.table).rows.clone();
        rows.iter().for_each(|row| row.reset());
    }

    /// Forgets all names.
    fn clear(&self) {
        *lock(&self.table) = Table::default();
        *lock(&self.total) = new_total();
        self.edition.store(next_edition(), Ordering::Relaxed);
    }

    /// The function that rounds response times; None for Locust's own rounding.
    #[getter]
    fn bucket(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        lock(&self.bucket).as_ref().map(|own| own.clone_ref(py))
    }

    #[setter]
    fn set_bucket(&self, bucket: Option<Py<PyAny>>) {
        self.has_bucket.store(bucket.is_some(), Ordering::Relaxed);
        let before = std::mem::replace(&mut *lock(&self.bucket), bucket);
        drop(before);
    }

    /// The function that is called with method, name and exception after a failure was counted.
    #[getter]
    fn on_failure(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        lock(&self.on_failure).as_ref().map(|own| own.clone_ref(py))
    }

    #[setter]
    fn set_on_failure(&self, listener: Option<Py<PyAny>>) {
        let before = std::mem::replace(&mut *lock(&self.on_failure), listener);
        drop(before);
    }
}
