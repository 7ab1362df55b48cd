//! Statistics of one name: a row of Locust's tables.

use crate::figures::{Bucket, Counts, Figures, epoch};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The statistics of a name, shared by all that refer to them.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) method: String,
    pub(crate) name: String,
    /// The edition of the store that it was created in.
    pub(crate) edition: u64,
    /// True if it is a row of its store: a request was counted in it, or it was read.
    is_listed: AtomicBool,
    figures: Mutex<Figures>,
}

impl Row {
    pub(crate) fn new(method: &str, name: &str, edition: u64) -> Self {
        Row {
            method: method.to_owned(),
            name: name.to_owned(),
            edition,
            is_listed: AtomicBool::new(false),
            figures: Mutex::new(Figures::new()),
        }
    }

    /// True if it is a row.
    pub(crate) fn is_listed(&self) -> bool {
        self.is_listed.load(Ordering::Relaxed)
    }

    /// Makes it a row, which begins now. Returns true if it was not a row before.
    pub(crate) fn list(&self) -> bool {
        let is_new = !self.is_listed.swap(true, Ordering::Relaxed);
        if is_new {
            self.lock().started = epoch();
        }
        is_new
    }

    /// Returns a copy that no longer changes.
    fn copy(&self) -> Row {
        Row {
            method: self.method.clone(),
            name: self.name.clone(),
            edition: self.edition,
            is_listed: AtomicBool::new(true),
            figures: Mutex::new(self.lock().clone()),
        }
    }

    pub(crate) fn log(&self, at: f64, time: Option<(f64, Bucket)>, bytes: i64) {
        self.lock().log(at, time, bytes);
    }

    pub(crate) fn log_failure(&self, at: f64) {
        self.lock().log_failure(at);
    }

    pub(crate) fn reset(&self) {
        *self.lock() = Figures::new();
    }

    // No Python code is called while it is locked: that code could call back here.
    fn lock(&self) -> MutexGuard<'_, Figures> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The statistics of one name and method.
#[pyclass(frozen, module = "loadline._native")]
pub(crate) struct Entry(pub(crate) Arc<Row>);

#[pymethods]
impl Entry {
    /// Creates statistics that belong to no store.
    #[new]
    fn new(method: &str, name: &str) -> Entry {
        Entry(Arc::new(Row::new(method, name, 0)))
    }

    #[getter]
    fn method(&self) -> &str {
        &self.0.method
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    #[getter]
    fn num_requests(&self) -> u64 {
        self.0.lock().requests
    }

    #[setter]
    fn set_num_requests(&self, count: u64) {
        self.0.lock().requests = count;
    }

    #[getter]
    fn num_none_requests(&self) -> u64 {
        self.0.lock().without_time
    }

    #[setter]
    fn set_num_none_requests(&self, count: u64) {
        self.0.lock().without_time = count;
    }

    #[getter]
    fn num_failures(&self) -> u64 {
        self.0.lock().failures
    }

    #[setter]
    fn set_num_failures(&self, count: u64) {
        self.0.lock().failures = count;
    }

    #[getter]
    fn total_response_time(&self) -> f64 {
        self.0.lock().total_ms
    }

    #[setter]
    fn set_total_response_time(&self, ms: f64) {
        self.0.lock().total_ms = ms;
    }

    #[getter]
    fn min_response_time(&self) -> Option<f64> {
        self.0.lock().least_ms
    }

    #[setter]
    fn set_min_response_time(&self, ms: Option<f64>) {
        self.0.lock().least_ms = ms;
    }

    #[getter]
    fn max_response_time(&self) -> f64 {
        self.0.lock().most_ms
    }

    #[setter]
    fn set_max_response_time(&self, ms: f64) {
        self.0.lock().most_ms = ms;
    }

    #[getter]
    fn total_content_length(&self) -> u64 {
        self.0.lock().bytes
    }

    #[setter]
    fn set_total_content_length(&self, bytes: u64) {
        self.0.lock().bytes = bytes;
    }

    #[getter]
    fn start_time(&self) -> f64 {
        self.0.lock().started
    }

    #[setter]
    fn set_start_time(&self, seconds: f64) {
        self.0.lock().started = seconds;
    }

    #[getter]
    fn last_request_timestamp(&self) -> Option<f64> {
        self.0.lock().last
    }

    #[setter]
    fn set_last_request_timestamp(&self, seconds: Option<f64>) {
        self.0.lock().last = seconds;
    }

    #[getter]
    fn response_times<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let pairs = self.0.lock().times.pairs.clone();
        let times = PyDict::new(py);
        for (bucket, count) in pairs {
            match bucket {
                Bucket::Whole(ms) => times.set_item(ms, count)?,
                Bucket::Real(bits) => times.set_item(f64::from_bits(bits), count)?,
            }
        }
        Ok(times)
    }

    #[setter]
    fn set_response_times(&self, counts: &Bound<'_, PyDict>) -> PyResult<()> {
        let counts = times_in(counts)?;
        self.0.lock().times = counts;
        Ok(())
    }

    #[getter]
    fn num_reqs_per_sec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let pairs = self.0.lock().each_second.pairs.clone();
        by_second(py, pairs)
    }

    #[setter]
    fn set_num_reqs_per_sec(&self, counts: &Bound<'_, PyDict>) -> PyResult<()> {
        let counts = seconds_in(counts)?;
        self.0.lock().each_second = counts;
        Ok(())
    }

    #[getter]
    fn num_fail_per_sec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let pairs = self.0.lock().failures_each_second.pairs.clone();
        by_second(py, pairs)
    }

    #[setter]
    fn set_num_fail_per_sec(&self, counts: &Bound<'_, PyDict>) -> PyResult<()> {
        let counts = seconds_in(counts)?;
        self.0.lock().failures_each_second = counts;
        Ok(())
    }

    /// Counts a request in this row only. `bucket` rounds its time; None: Locust's own rounding.
    #[pyo3(signature = (response_time_ms, length, bucket=None))]
    fn log(
        &self,
        response_time_ms: Option<f64>,
        length: i64,
        bucket: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let bucketed = |ms| match bucket {
            None => Ok((ms, Bucket::of(ms))),
            Some(own) => PyResult::Ok((ms, Bucket::given(&own.call1((ms,))?)?)),
        };
        let time = response_time_ms.map(bucketed).transpose()?;
        self.0.log(epoch(), time, length);
        Ok(())
    }

    /// Counts a failure in this row only.
    fn log_error(&self) {
        self.0.log_failure(epoch());
    }

    /// Returns a copy of the current statistics.
    fn copy(&self) -> Entry {
        Entry(Arc::new(self.0.copy()))
    }

    /// Adds the counts of another process: a dictionary of the fields of this class.
    fn add(&self, report: &Bound<'_, PyDict>) -> PyResult<()> {
        let report = read(report)?;
        self.0.lock().add(&report);
        Ok(())
    }

    /// Resets all counts.
    fn reset(&self) {
        self.0.reset();
    }

    fn __repr__(&self) -> String {
        let requests = self.0.lock().requests;
        format!("<Entry {} {}: {requests}>", self.0.method, self.0.name)
    }
}

/// Reads statistics from a dictionary, before anything is locked.
fn read(report: &Bound<'_, PyDict>) -> PyResult<Figures> {
    let field = |name: &str| report.as_any().get_item(name);
    let counts = |name: &str| PyResult::Ok(field(name)?.cast_into::<PyDict>()?);
    Ok(Figures {
        requests: field("num_requests")?.extract()?,
        without_time: field("num_none_requests")?.extract()?,
        failures: field("num_failures")?.extract()?,
        total_ms: field("total_response_time")?.extract()?,
        least_ms: field("min_response_time")?.extract()?,
        most_ms: field("max_response_time")?.extract()?,
        bytes: field("total_content_length")?.extract()?,
        times: times_in(&counts("response_times")?)?,
        each_second: seconds_in(&counts("num_reqs_per_sec")?)?,
        failures_each_second: seconds_in(&counts("num_fail_per_sec")?)?,
        started: field("start_time")?.extract()?,
        last: field("last_request_timestamp")?.extract()?,
    })
}

/// Reads counts of response times from a dictionary.
fn times_in(pairs: &Bound<'_, PyDict>) -> PyResult<Counts<Bucket>> {
    let mut counts = Counts::default();
    for (key, count) in pairs.iter() {
        counts.count(Bucket::given(&key)?, count.extract()?);
    }
    Ok(counts)
}

/// Reads counts of seconds from a dictionary, whose keys may be texts, as JSON has them.
fn seconds_in(pairs: &Bound<'_, PyDict>) -> PyResult<Counts<i64>> {
    let mut counts = Counts::default();
    for (key, count) in pairs.iter() {
        let second = key
            .extract::<i64>()
            .or_else(|_| key.str()?.to_str()?.parse().map_err(PyErr::from))?;
        counts.count(second, count.extract()?);
    }
    Ok(counts)
}

fn by_second(py: Python<'_>, pairs: Vec<(i64, u64)>) -> PyResult<Bound<'_, PyDict>> {
    let counts = PyDict::new(py);
    for (second, count) in pairs {
        counts.set_item(second, count)?;
    }
    Ok(counts)
}
