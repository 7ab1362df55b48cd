//! The metrics of Locust's `--otel`: times of requests, counted here, and an exporter on a thread
//! of its own, which never attaches to Python.

use loadline_exporters::{
    Batch, Histogram, Labels, Measured, PrintLine, RunningExporters, SeriesKey, Unit, Value,
    locust, now_ns,
};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The part of a bucket's bound that keeps it in its bucket when it is counted again.
const WITHIN: f64 = 1.0 - 1e-9;

/// The times of one name and error: the sum, and values with how often each was counted.
type Counted = (String, Option<String>, f64, Vec<(f64, u64)>);

/// Times of requests by name and error, until they are taken.
#[pyclass(frozen, module = "loadline._native")]
#[derive(Default)]
pub(crate) struct Durations(Mutex<HashMap<(String, Option<String>), Histogram>>);

#[pymethods]
impl Durations {
    /// Creates an empty one.
    #[new]
    fn new() -> Durations {
        Durations::default()
    }

    /// Counts the time of a request, and the class of its error.
    #[pyo3(signature = (name, error, seconds))]
    fn add(&self, name: String, error: Option<String>, seconds: f64) {
        let mut all = locked(&self.0);
        all.entry((name, error)).or_default().add(seconds, 1);
    }

    /// Returns all that was counted as plain values, and forgets it.
    fn take(&self) -> Vec<Counted> {
        let all = mem::take(&mut *locked(&self.0));
        let plain = all.into_iter().map(|((name, error), times)| {
            let values = times.ascending();
            let values = values.map(|(value, count)| (value * WITHIN, count));
            (name, error, times.sum(), values.collect())
        });
        plain.collect()
    }

    /// Adds what another process has taken.
    fn merge(&self, taken: Vec<Counted>) {
        let mut all = locked(&self.0);
        for (name, error, sum, values) in taken {
            let mut times = Histogram::default();
            for (value, count) in values {
                times.add(value, count);
            }
            let times = times.with_sum(sum);
            all.entry((name, error)).or_default().merge(&times);
        }
    }
}

/// The exporter of a test, which lasts until its end.
#[pyclass(frozen, module = "loadline._native")]
pub(crate) struct Telemetry {
    running: Mutex<RunningExporters>,
    /// What is to be logged.
    lines: Arc<Mutex<Vec<String>>>,
    print: PrintLine,
}

#[pymethods]
impl Telemetry {
    /// Starts an exporter to where the variables of OpenTelemetry say. The resource has these
    /// attributes. Raises `ValueError` if a variable can't be used.
    #[new]
    fn new(about: Vec<(String, String)>) -> PyResult<Telemetry> {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let exporter = locust(&variables.collect(), &about);
        let exporter = exporter.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let shared = Arc::clone(&lines);
        let print: PrintLine = Arc::new(move |text| locked(&shared).push(text.to_owned()));
        let running = RunningExporters::start(vec![exporter], &print);
        let running = running.map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(Telemetry {
            running: Mutex::new(running),
            lines,
            print,
        })
    }

    /// Hands over the times that were counted since the last call, and the number of users of each
    /// class. Returns what is to be logged.
    fn put(&self, durations: &Durations, users: BTreeMap<String, u64>) -> Vec<String> {
        let times = mem::take(&mut *locked(&durations.0));
        let batch = Arc::new(batch(times, users));
        locked(&self.running).put(|_| Arc::clone(&batch));
        mem::take(&mut *locked(&self.lines))
    }

    /// Waits until all is delivered, for at most some seconds. Returns what is to be logged.
    fn end(&self, py: Python<'_>) -> Vec<String> {
        let running = mem::take(&mut *locked(&self.running));
        py.detach(|| running.end(&self.print));
        mem::take(&mut *locked(&self.lines))
    }
}

fn batch(
    times: HashMap<(String, Option<String>), Histogram>,
    users: BTreeMap<String, u64>,
) -> Batch {
    let at_ns = now_ns();
    let mut measured = Measured::default();
    for ((name, error), times) in times {
        let error = error.map(|error| ("error.type".to_owned(), error));
        let name = ("name".to_owned(), name);
        let labels = error.into_iter().chain([name]).collect();
        let key = key("client.duration", Unit::Seconds, labels);
        measured.add(key, Value::Histogram(Box::new(times)));
    }
    for (class, count) in users {
        let labels = [("user_class".to_owned(), class)].into();
        let value = Value::Gauge(count as f64, at_ns);
        measured.add(key("users.count", Unit::None, labels), value);
    }
    Batch {
        at_ns,
        measured,
        ..Batch::default()
    }
}

fn key(metric: &str, unit: Unit, labels: Labels) -> SeriesKey {
    SeriesKey {
        metric: metric.into(),
        unit,
        labels,
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
