//! `Response`: the outcome of a request, for Python, and its count in the statistics.

use crate::client::Client;
use crate::engine::engine;
use crate::entry::Row;
use crate::failure::native_error;
use crate::fetched::Fetched;
use crate::figures::epoch;
use crate::flavour::Flavour;
use crate::stats::Stats;
use crate::tally::Sender;
use loadline_metrics::SeriesId;
use loadline_reactor::monotonic_ns;
use pyo3::exceptions::PyAttributeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyList, PyString, PyTuple, PyType};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

const NS_PER_MS: f64 = 1e6;
const NS_PER_SECOND: f64 = 1e9;

/// The function that is called for each counted request, if there is a listener.
static HOOK: Mutex<Option<Py<PyAny>>> = Mutex::new(None);
static HAS_HOOK: AtomicBool = AtomicBool::new(false);

/// Sets the function `hook(response, exception)`, which is called for each counted request; None
/// for no function.
#[pyfunction]
#[pyo3(signature = (hook))]
pub(crate) fn on_request(hook: Option<Py<PyAny>>) {
    HAS_HOOK.store(hook.is_some(), Ordering::Relaxed);
    let mut place = HOOK.lock().unwrap_or_else(PoisonError::into_inner);
    let before = std::mem::replace(&mut *place, hook);
    drop(place);
    drop(before);
}

/// The outcome of a request.
#[pyclass(frozen, subclass, module = "loadline._native")]
pub(crate) struct Response {
    made: OnceLock<Made>,
    content: PyOnceLock<Py<PyBytes>>,
    history: PyOnceLock<Py<PyList>>,
    is_reported: AtomicBool,
}

/// The data of a response.
pub(crate) struct Made {
    pub(crate) fetched: Box<Fetched>,
    /// The exception that was thrown into the request, if that ended it.
    pub(crate) cause: Option<Py<PyAny>>,
    pub(crate) client: Py<Client>,
    pub(crate) method: Py<PyString>,
    pub(crate) name: Py<PyString>,
    pub(crate) context: Option<Py<PyAny>>,
    pub(crate) is_caught: bool,
    pub(crate) flavour: Flavour,
    /// The series that counts it in Loadline's own record.
    pub(crate) series: SeriesId,
    /// The place where the request is counted, if it is.
    pub(crate) counted_as: Option<CountedAs>,
}

/// The store and the row in which a request is counted.
pub(crate) struct CountedAs {
    pub(crate) stats: Py<Stats>,
    pub(crate) row: Arc<Row>,
}

impl Made {
    /// True if the status is a success.
    fn is_success(&self) -> bool {
        self.fetched.failure.is_none() && self.flavour.is_success(self.fetched.status)
    }

    fn response_ms(&self) -> f64 {
        self.fetched.response_ns as f64 / NS_PER_MS
    }
}

impl Response {
    /// Creates a response of this class.
    pub(crate) fn make<'py>(
        py: Python<'py>,
        class: Option<&Py<PyType>>,
        mut made: Made,
    ) -> PyResult<Bound<'py, Response>> {
        let redirects = std::mem::take(&mut made.fetched.history);
        let earlier = redirects.into_iter().map(|fetched| {
            let made = Made {
                fetched: Box::new(fetched),
                cause: None,
                client: made.client.clone_ref(py),
                method: made.method.clone_ref(py),
                name: made.name.clone_ref(py),
                context: None,
                is_caught: false,
                flavour: made.flavour,
                series: made.series,
                counted_as: None,
            };
            Response::make(py, class, made)
        });
        let history: Vec<_> = earlier.collect::<PyResult<_>>()?;
        let object = match class {
            Some(class) => class.bind(py).call0()?.cast_into::<Response>()?,
            None => Bound::new(py, Response::empty())?,
        };
        if !history.is_empty() {
            let history = PyList::new(py, history)?.unbind();
            let _ = object.get().history.set(py, history);
        }
        let _ = object.get().made.set(made);
        Ok(object)
    }

    fn empty() -> Self {
        Response {
            made: OnceLock::new(),
            content: PyOnceLock::new(),
            history: PyOnceLock::new(),
            is_reported: AtomicBool::new(false),
        }
    }

    fn made(&self) -> PyResult<&Made> {
        let unmade = || PyAttributeError::new_err("only a client makes responses");
        self.made.get().ok_or_else(unmade)
    }

    fn fetched(&self) -> PyResult<&Fetched> {
        self.made().map(|made| &*made.fetched)
    }
}

/// Counts a response by its status, once.
pub(crate) fn count(response: &Bound<'_, Response>) -> PyResult<()> {
    let own = response.get();
    let made = own.made()?;
    let Some(counted_as) = &made.counted_as else {
        return Ok(());
    };
    if made.is_success() {
        return count_success(response, made, counted_as);
    }
    let py = response.py();
    let client = made.client.bind(py);
    let failure = client.call_method1(intern!(py, "_failure"), (response,))?;
    count_failure(response, made, counted_as, &failure)
}

fn count_success(
    response: &Bound<'_, Response>,
    made: &Made,
    counted_as: &CountedAs,
) -> PyResult<()> {
    if response.get().is_reported.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    count_request(response.py(), made, counted_as)?;
    call_hook(response, None)
}

fn count_failure(
    response: &Bound<'_, Response>,
    made: &Made,
    counted_as: &CountedAs,
    failure: &Bound<'_, PyAny>,
) -> PyResult<()> {
    if response.get().is_reported.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let py = response.py();
    count_request(py, made, counted_as)?;
    reject(py, made)?;
    let stats = counted_as.stats.get();
    stats.count_failure(Sender::Engine, &counted_as.row);
    stats.report_failure(py, &counted_as.row, failure)?;
    call_hook(response, Some(failure))
}

/// Counts the response as rejected in Loadline's own record, if there is one: its request has
/// failed although it was answered.
fn reject(py: Python<'_>, made: &Made) -> PyResult<()> {
    let Some(status) = made.fetched.answered else {
        return Ok(());
    };
    let engine = engine(py)?;
    if engine.is_recorded() {
        let client = made.client.bind(py);
        let session = client.as_super().get().session(&engine);
        session
            .requester
            .reject(made.series, status, &made.fetched.body);
    }
    Ok(())
}

fn count_request(py: Python<'_>, made: &Made, counted_as: &CountedAs) -> PyResult<()> {
    let length = made.fetched.body.len() as i64;
    let ms = Some(made.response_ms());
    let stats = counted_as.stats.get();
    stats.count(py, Sender::Engine, &counted_as.row, ms, length)
}

/// Calls the listener to requests.
fn call_hook(response: &Bound<'_, Response>, failure: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    if !HAS_HOOK.load(Ordering::Relaxed) {
        return Ok(());
    }
    let py = response.py();
    let hook = {
        let place = HOOK.lock().unwrap_or_else(PoisonError::into_inner);
        place.as_ref().map(|hook| hook.clone_ref(py))
    };
    match hook {
        None => Ok(()),
        Some(hook) => hook.call1(py, (response, failure)).map(drop),
    }
}

#[pymethods]
impl Response {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Response::empty()
    }

    /// Counts a response whose count was left to the user, once. None: by its status; True: as a
    /// success; any other value: as a failure for that reason.
    #[pyo3(signature = (outcome=None))]
    fn _report(slf: &Bound<'_, Self>, outcome: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let made = slf.get().made()?;
        let (Some(outcome), Some(counted_as)) = (outcome, &made.counted_as) else {
            return count(slf);
        };
        match outcome.cast_exact::<PyBool>() {
            Ok(is_success) if is_success.is_true() => count_success(slf, made, counted_as),
            _ => count_failure(slf, made, counted_as, outcome),
        }
    }

    #[getter]
    fn status_code(&self) -> PyResult<u16> {
        Ok(self.fetched()?.status)
    }

    /// The body; None if there is no response.
    #[getter]
    fn content(&self, py: Python<'_>) -> PyResult<Option<Py<PyBytes>>> {
        let fetched = self.fetched()?;
        if fetched.failure.is_some() {
            return Ok(None);
        }
        let made = || PyBytes::new(py, &fetched.body).unbind();
        Ok(Some(self.content.get_or_init(py, made).clone_ref(py)))
    }

    #[getter]
    fn reason(&self) -> PyResult<Option<String>> {
        let fetched = self.fetched()?;
        Ok(fetched.failure.is_none().then(|| fetched.reason()))
    }

    #[getter]
    fn url(&self) -> PyResult<Option<&str>> {
        let made = self.made()?;
        let is_none = made.fetched.failure.is_some() && made.flavour == Flavour::Requests;
        Ok((!is_none).then(|| made.fetched.sent.url.as_str()))
    }

    #[getter]
    fn headers_list(&self) -> PyResult<Vec<(String, String)>> {
        Ok(self.fetched()?.headers())
    }

    /// The first value of a header, whatever its case.
    fn header(&self, name: &str) -> PyResult<Option<String>> {
        Ok(self.fetched()?.header(name))
    }

    /// The time from the last request's start to the first byte of its response, in milliseconds.
    #[getter]
    fn elapsed_ms(&self) -> PyResult<f64> {
        Ok(self.fetched()?.first_byte_ns as f64 / NS_PER_MS)
    }

    /// The responses that redirected here.
    #[getter]
    fn history(&self, py: Python<'_>) -> Py<PyList> {
        let none = || PyList::empty(py).unbind();
        self.history.get_or_init(py, none).clone_ref(py)
    }

    /// The reason why there is no response; None if there is one.
    #[getter]
    fn native_error<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let made = self.made()?;
        let Some(failure) = &made.fetched.failure else {
            return Ok(None);
        };
        let error = native_error(py, failure)?;
        let cause = made.cause.as_ref().map(|cause| cause.clone_ref(py));
        error.setattr("cause", cause)?;
        Ok(Some(error))
    }

    #[getter]
    fn _request_method(&self) -> PyResult<&str> {
        Ok(&self.fetched()?.sent.method)
    }

    #[getter]
    fn _request_url(&self) -> PyResult<&str> {
        Ok(self.fetched()?.sent.url.as_str())
    }

    #[getter]
    fn _request_headers(&self) -> PyResult<Vec<(String, String)>> {
        Ok(self.fetched()?.sent.fields.to_vec())
    }

    #[getter]
    fn _request_body<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let body = self.fetched()?.sent.body.as_ref();
        let body = body.filter(|body| !body.is_empty());
        Ok(body.map(|body| PyBytes::new(py, body)))
    }

    #[getter]
    fn _client(&self, py: Python<'_>) -> PyResult<Py<Client>> {
        Ok(self.made()?.client.clone_ref(py))
    }

    #[getter]
    fn _name(&self, py: Python<'_>) -> PyResult<Py<PyString>> {
        Ok(self.made()?.name.clone_ref(py))
    }

    #[getter]
    fn _method(&self, py: Python<'_>) -> PyResult<Py<PyString>> {
        Ok(self.made()?.method.clone_ref(py))
    }

    #[getter]
    fn _context(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let context = self.made()?.context.as_ref();
        Ok(context.map(|context| context.clone_ref(py)))
    }

    #[getter]
    fn _caught(&self) -> PyResult<bool> {
        Ok(self.made()?.is_caught)
    }

    /// The start of the call, in seconds since 1970.
    #[getter]
    fn _started(&self) -> PyResult<f64> {
        let since_ns = monotonic_ns().saturating_sub(self.fetched()?.started_ns);
        Ok(epoch() - since_ns as f64 / NS_PER_SECOND)
    }

    /// The start of the call, in nanoseconds of `CLOCK_MONOTONIC`.
    #[getter]
    fn started_ns(&self) -> PyResult<u64> {
        Ok(self.fetched()?.started_ns)
    }

    #[getter]
    fn response_time_ms(&self) -> PyResult<f64> {
        Ok(self.made()?.response_ms())
    }

    /// The length of the body in bytes, without its content coding.
    #[getter]
    fn length(&self) -> PyResult<usize> {
        Ok(self.fetched()?.body.len())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Some(made) = self.made.get() {
            visit.call(&made.client)?;
            if let Some(context) = &made.context {
                visit.call(context)?;
            }
        }
        Ok(())
    }
}
