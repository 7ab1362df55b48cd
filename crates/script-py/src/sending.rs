//! The execution of a client's call: its request, and its response from the outcome.

use crate::call::{Added, CallArguments, CallTimeout, METHODS};
use crate::client::Client;
use crate::engine::{Engine, Session, engine};
use crate::fetch::Order;
use crate::fetched::Fetched;
use crate::flavour::Flavour;
use crate::response::{CountedAs, Made, Response, count};
use crate::stats::{Found, Stats};
use crate::style::{PlainCall, Style};
use crate::template::Template;
use crate::waiting::{Arrival, Ticket};
use loadline_engine::Wait;
use loadline_metrics::SeriesId;
use loadline_reactor::monotonic_ns;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::rc::Rc;
use std::sync::Arc;

const NS_PER_SECOND: f64 = 1e9;

/// The settings for one request.
pub(crate) struct Current {
    pub(crate) style: Arc<Style>,
    pub(crate) stats: Option<Py<Stats>>,
    pub(crate) request_name: Option<Py<PyAny>>,
    pub(crate) timeout: Option<f64>,
    pub(crate) max_redirects: u32,
}

/// A request that is about to be sent.
pub(crate) struct Sending<'py> {
    pub(crate) template: Arc<Template>,
    pub(crate) name: Bound<'py, PyString>,
    pub(crate) method: Bound<'py, PyString>,
    pub(crate) found: Option<(Py<Stats>, Found)>,
    pub(crate) flavour: Flavour,
    pub(crate) context: Option<Bound<'py, PyAny>>,
    pub(crate) is_caught: bool,
    pub(crate) redirects: Option<u32>,
    pub(crate) timeout: Option<f64>,
    pub(crate) decodes: bool,
    /// True if certificates are not verified; with `None` as the client is set.
    pub(crate) insecure: Option<bool>,
}

/// Executes a call: here if it is plain, otherwise in Python. `placed` has the positional arguments
/// after the URL.
// A greenlet that waits keeps a copy of its stack from here on, and there are thousands of them. So
// work that needs stack is done in functions that have returned before, not in these frames.
pub(crate) fn call<'py, const COUNT: usize>(
    slf: &Bound<'py, Client>,
    method: &str,
    url: &Bound<'py, PyAny>,
    placed: [(&str, Option<Bound<'py, PyAny>>); COUNT],
    named: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    begin_call(slf, method, url, placed, named)?.finish(slf)
}

#[inline(never)]
fn begin_call<'py, const COUNT: usize>(
    slf: &Bound<'py, Client>,
    method: &str,
    url: &Bound<'py, PyAny>,
    placed: [(&str, Option<Bound<'py, PyAny>>); COUNT],
    named: Option<Bound<'py, PyDict>>,
) -> PyResult<Call<'py>> {
    begin_given(slf, method, url, CallArguments::of(placed, named)?)
}

/// Executes a call with these arguments.
pub(crate) fn call_given<'py>(
    slf: &Bound<'py, Client>,
    method: &str,
    url: &Bound<'py, PyAny>,
    given: CallArguments<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    begin_given(slf, method, url, given)?.finish(slf)
}

/// A call that has begun.
enum Call<'py> {
    /// The request is sent.
    Sent(Box<Begun<'py>>),
    /// Python has to compose the request; method, URL and arguments.
    Composed(Bound<'py, PyTuple>),
}

impl<'py> Call<'py> {
    fn finish(self, slf: &Bound<'py, Client>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Call::Sent(begun) => finish(slf, begun),
            Call::Composed(arguments) => slf.call_method1("_compose", arguments),
        }
    }
}

#[inline(never)]
fn begin_given<'py>(
    slf: &Bound<'py, Client>,
    method: &str,
    url: &Bound<'py, PyAny>,
    given: CallArguments<'py>,
) -> PyResult<Call<'py>> {
    if let Some((engine, sending)) = plain(slf, method, url, &given)? {
        return begin(slf, engine, sending).map(Call::Sent);
    }
    let arguments = (method, url, given.all(slf.py())?).into_pyobject(slf.py())?;
    Ok(Call::Composed(arguments))
}

/// Returns the request of a call; `None` if Python has to compose it.
fn plain<'py>(
    slf: &Bound<'py, Client>,
    method: &str,
    url: &Bound<'py, PyAny>,
    given: &CallArguments<'py>,
) -> PyResult<Option<(Rc<Engine>, Sending<'py>)>> {
    let (py, client) = (slf.py(), slf.as_super().get());
    let number = METHODS.iter().position(|known| *known == method);
    let path = url.cast_exact::<PyString>().ok();
    let (Some(number), Some(path)) = (number, path) else {
        return Ok(None);
    };
    if !client.is_plain() || !given.is_known() {
        return Ok(None);
    }
    let engine = engine(py)?;
    let current = client.current(py);
    let Some(known) = current.style.find(&engine, (number, method), path) else {
        return Ok(None);
    };
    let Some(template) = with_added(&engine, &current.style, &known, given)? else {
        return Ok(None);
    };
    let timeout = match given.call_timeout() {
        CallTimeout::Usual => current.timeout,
        CallTimeout::Seconds(seconds) => Some(seconds),
        CallTimeout::Unknown => return Ok(None),
    };
    let follows = given.follows()?;
    let follows = follows.unwrap_or_else(|| current.style.flavour.follows(method));
    let (name, found) = counted_as(py, &current, &known, given)?;
    let sending = Sending {
        template,
        name,
        method: PyString::intern(py, method),
        found,
        flavour: current.style.flavour,
        context: given.context.clone(),
        is_caught: given.is_caught()?,
        redirects: follows.then_some(current.max_redirects),
        timeout,
        decodes: true,
        insecure: None,
    };
    Ok(Some((engine, sending)))
}

/// Returns the request of a path with the additions of a call; `None` if Python has to compose it.
fn with_added(
    engine: &Engine,
    style: &Style,
    known: &PlainCall,
    given: &CallArguments<'_>,
) -> PyResult<Option<Arc<Template>>> {
    let plain = &known.template;
    match given.added(style)? {
        Added::Nothing => Ok(Some(Arc::clone(plain))),
        Added::Unknown => Ok(None),
        Added::This(fields, body) => {
            let body = body.or_else(|| plain.body.clone());
            let url = plain.url.clone();
            let written = Template::write(engine, &plain.method, url, fields, body);
            // Python reports the error with the message of its client.
            Ok(written.ok().map(Arc::new))
        }
    }
}

/// A store of statistics, and the row in it that counts a call.
type Counter = (Py<Stats>, Found);

/// Returns the name of a call in the statistics, and the row that counts it.
fn counted_as<'py>(
    py: Python<'py>,
    current: &Current,
    known: &PlainCall,
    given: &CallArguments<'py>,
) -> PyResult<(Bound<'py, PyString>, Option<Counter>)> {
    let own = match &given.name {
        Some(name) if name.is_truthy()? => Some(name.str()?),
        _ => current.own_name(py)?,
    };
    let stats = current.stats.as_ref();
    let find = |name: &Bound<'_, PyString>, is_own: bool| {
        let Some(stats) = stats else {
            return PyResult::Ok(None);
        };
        let (store, name) = (stats.get(), name.to_str()?);
        let found = match is_own {
            true => store.find(&known.template.method, name),
            false => known.find_in(store, name),
        };
        Ok(Some((stats.clone_ref(py), found)))
    };
    let is_own = own.is_some();
    let name = own.unwrap_or_else(|| known.name.bind(py).clone());
    let found = find(&name, is_own)?;
    Ok((name, found))
}

impl Current {
    /// Returns the name that the client currently gives to all its requests.
    fn own_name<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyString>>> {
        match self.request_name.as_ref().map(|name| name.bind(py)) {
            Some(name) if name.is_truthy()? => name.str().map(Some),
            _ => Ok(None),
        }
    }
}

/// Sends a request, waits for its outcome, and counts it.
pub(crate) fn send<'py>(
    slf: &Bound<'py, Client>,
    engine: Rc<Engine>,
    sending: Sending<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let begun = begin(slf, engine, sending)?;
    finish(slf, begun)
}

/// A request that was sent.
struct Begun<'py> {
    engine: Rc<Engine>,
    session: Rc<Session>,
    sending: Sending<'py>,
    series: SeriesId,
    started_ns: u64,
    ticket: Ticket,
}

/// Sends a request.
// Separate from the wait for its response: a greenlet that waits keeps a copy of its stack, which
// would contain the request several times, as it is composed here.
#[inline(never)]
fn begin<'py>(
    slf: &Bound<'py, Client>,
    engine: Rc<Engine>,
    sending: Sending<'py>,
) -> PyResult<Box<Begun<'py>>> {
    let started_ns = monotonic_ns();
    let connections = slf.as_super().get();
    let session = connections.session(&engine);
    let usually_insecure = connections.takes_any_certificate();
    let insecure = sending.insecure.unwrap_or(usually_insecure);
    session.trust_anyone(insecure);
    let name = sending.name.to_str()?;
    let series = engine.series(sending.method.to_str()?, name);
    let mut order = Order {
        engine: Rc::downgrade(&engine),
        session: Rc::clone(&session),
        template: Arc::clone(&sending.template),
        flavour: sending.flavour,
        series,
        timeout_ns: sending.timeout.map_or(u64::MAX, |seconds| {
            (seconds.max(0.0) * NS_PER_SECOND) as u64
        }),
        redirects: sending.redirects,
        decodes: sending.decodes,
    };
    let ticket = engine.begin_request(slf.py(), |waiting, ticket| async move {
        let fetched = order.fetch().await;
        waiting.arrive(ticket, Arrival::Fetched(Box::new(fetched)));
    })?;
    Ok(Box::new(Begun {
        engine,
        session,
        sending,
        series,
        started_ns,
        ticket,
    }))
}

/// Waits for the outcome of a request, and counts it.
fn finish<'py>(slf: &Bound<'py, Client>, begun: Box<Begun<'py>>) -> PyResult<Bound<'py, PyAny>> {
    let thrown = begun.engine.wait(slf.py(), begun.ticket);
    respond(slf, begun, thrown)
}

/// Creates a response from the outcome of a request, and counts it.
#[inline(never)]
#[expect(
    clippy::boxed_local,
    reason = "unboxed it would lie on the stack of whoever waits"
)]
fn respond<'py>(
    slf: &Bound<'py, Client>,
    begun: Box<Begun<'py>>,
    thrown: Option<Box<PyErr>>,
) -> PyResult<Bound<'py, PyAny>> {
    let arrival = begun.engine.arrival(slf.py(), begun.ticket, thrown);
    let (py, started_ns) = (slf.py(), begun.started_ns);
    if begun.engine.is_recorded() {
        let arrived = arrival.as_ref().ok();
        report_wait(&begun.session, started_ns, arrived, begun.series);
    }
    let (sending, series) = (begun.sending, begun.series);
    let (fetched, cause) = match arrival {
        Ok(Arrival::Fetched(fetched)) => (fetched, None),
        Ok(Arrival::Over) => {
            return Err(PyRuntimeError::new_err("a request ended without an end"));
        }
        Err(thrown) if sending.flavour == Flavour::Fast && is_timeout(py, &thrown)? => {
            let cause = thrown.value(py).clone();
            let text = cause.str()?.to_string();
            let fetched = Fetched::interrupted(sending.template, started_ns, text);
            (Box::new(fetched), Some(cause.into_any().unbind()))
        }
        Err(thrown) => return Err(thrown),
    };
    let made = Made {
        fetched,
        cause,
        client: slf.clone().unbind(),
        method: sending.method.unbind(),
        name: sending.name.unbind(),
        context: sending.context.map(Bound::unbind),
        is_caught: sending.is_caught,
        flavour: sending.flavour,
        series,
        counted_as: sending.found.map(|(stats, found)| CountedAs {
            stats,
            row: found.row,
        }),
    };
    let class = slf.as_super().get().response_class(py);
    let response = Response::make(py, class.as_ref(), made)?;
    if !sending.is_caught {
        count(&response)?;
    }
    Ok(response.into_any())
}

/// Reports the time that a user waited to its requester, which computes the starts: until the
/// response, or until the user gave up.
fn report_wait(session: &Session, begun_ns: u64, arrival: Option<&Arrival>, series: SeriesId) {
    let resumed_ns = monotonic_ns();
    let ended_ns = match arrival {
        Some(Arrival::Fetched(fetched)) => begun_ns.saturating_add(fetched.response_ns),
        Some(Arrival::Over) | None => resumed_ns,
    };
    session.requester.waited(Wait {
        begun_ns,
        ended_ns: ended_ns.min(resumed_ns),
        resumed_ns,
        series,
    });
}

/// True for gevent's timeout, which a FastHttpUser treats as a failure of its request.
fn is_timeout(py: Python<'_>, thrown: &PyErr) -> PyResult<bool> {
    let timeout = py.import("gevent")?.getattr("Timeout")?;
    Ok(thrown.matches(py, timeout)?)
}
