//! Statistics of one name, as Locust keeps them.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// A key of the response times: a whole number if Locust's own rounding produced it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Bucket {
    /// Milliseconds.
    Whole(i64),
    /// The bits of a number that a user's function returned.
    Real(u64),
}

impl Bucket {
    /// Rounds a time in milliseconds as Locust does: to 1 ms below 100 ms, to 10 ms below 1 s, to
    /// 100 ms below 10 s, and to 1 s from there on. Ties are rounded to even, as in Python.
    pub(crate) fn of(ms: f64) -> Bucket {
        let step = match ms {
            ms if ms < 100.0 => 1.0,
            ms if ms < 1_000.0 => 10.0,
            ms if ms < 10_000.0 => 100.0,
            _ => 1_000.0,
        };
        Bucket::Whole((round_to_even(ms, step) * step) as i64)
    }

    /// Returns the bucket for a value that a user's function returned.
    pub(crate) fn given(value: &Bound<'_, PyAny>) -> PyResult<Bucket> {
        match value.extract::<i64>() {
            Ok(whole) => Ok(Bucket::Whole(whole)),
            Err(_) => Ok(Bucket::Real(value.extract::<f64>()?.to_bits())),
        }
    }
}

/// Returns a number divided by `step`, rounded to a whole number, ties to even. The comparison with
/// half a step is exact, because the remainder after whole steps is a floating-point number; a
/// quotient such as a tenth is not.
fn round_to_even(number: f64, step: f64) -> f64 {
    let mut whole = (number / step).floor();
    let mut left = number - whole * step;
    if left < 0.0 {
        whole -= 1.0;
        left += step;
    }
    let half = step / 2.0;
    let is_odd = whole % 2.0 != 0.0;
    if left > half || (left == half && is_odd) {
        return whole + 1.0;
    }
    whole
}

/// Counts by key, in the order of first occurrence.
#[derive(Clone, Debug)]
struct Counts<K> {
    pairs: Vec<(K, u64)>,
    places: HashMap<K, usize>,
}

impl<K> Default for Counts<K> {
    fn default() -> Self {
        Counts {
            pairs: Vec::new(),
            places: HashMap::new(),
        }
    }
}

impl<K: Copy + Eq + std::hash::Hash> Counts<K> {
    fn add(&mut self, other: &Counts<K>) {
        let pairs = other.pairs.iter();
        pairs.for_each(|(key, count)| self.count(*key, *count));
    }

    fn count(&mut self, key: K, count: u64) {
        if let Some((last, counted)) = self.pairs.last_mut()
            && *last == key
        {
            *counted += count;
            return;
        }
        let place = *self.places.entry(key).or_insert(self.pairs.len());
        match self.pairs.get_mut(place) {
            Some((_, counted)) => *counted += count,
            None => self.pairs.push((key, count)),
        }
    }
}

/// The statistics of one name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    requests: u64,
    without_time: u64,
    failures: u64,
    total_ms: f64,
    least_ms: Option<f64>,
    most_ms: f64,
    bytes: u64,
    times: Counts<Bucket>,
    each_second: Counts<i64>,
    failures_each_second: Counts<i64>,
    started: f64,
    last: Option<f64>,
}

impl Figures {
    fn new() -> Self {
        Figures {
            started: epoch(),
            ..Figures::default()
        }
    }

    fn log(&mut self, at: f64, time: Option<(f64, Bucket)>, bytes: i64) {
        self.requests += 1;
        self.last = Some(at);
        self.each_second.count(at as i64, 1);
        match time {
            None => self.without_time += 1,
            Some((ms, bucket)) => {
                self.total_ms += ms;
                self.least_ms = Some(self.least_ms.map_or(ms, |least| least.min(ms)));
                self.most_ms = self.most_ms.max(ms);
                self.times.count(bucket, 1);
            }
        }
        self.bytes = self.bytes.saturating_add_signed(bytes);
    }

    fn add(&mut self, other: &Figures) {
        self.requests += other.requests;
        self.without_time += other.without_time;
        self.failures += other.failures;
        self.total_ms += other.total_ms;
        let least_ms = [self.least_ms, other.least_ms].into_iter().flatten();
        self.least_ms = least_ms.reduce(f64::min);
        self.most_ms = self.most_ms.max(other.most_ms);
        self.bytes += other.bytes;
        self.times.add(&other.times);
        self.each_second.add(&other.each_second);
        self.failures_each_second.add(&other.failures_each_second);
        self.started = self.started.min(other.started);
        let last = [self.last, other.last].into_iter().flatten();
        self.last = last.reduce(f64::max);
    }

    fn log_failure(&mut self, at: f64) {
        self.failures += 1;
        self.failures_each_second.count(at as i64, 1);
    }
}

/// Returns the time in seconds since 1970.
pub(crate) fn epoch() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

/// The statistics of a name, shared by all that refer to them.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) method: String,
    pub(crate) name: String,
    /// The edition of the store that it was created in.
    pub(crate) edition: u64,
    /// True if it is a row of its store: a request was counted in it, or it was read.
    is_listed: AtomicBool,
    figures: Mutex<Figures>,
}

impl Tally {
    pub(crate) fn new(method: &str, name: &str, edition: u64) -> Self {
        Tally {
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
    fn copy(&self) -> Tally {
        Tally {
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
pub(crate) struct Entry(pub(crate) Arc<Tally>);

#[pymethods]
impl Entry {
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
