//! The engine of this process: a worker on gevent's thread, made when it is first used.

use crate::guest::{Hosting, take_requester};
use crate::hub::Hub;
use crate::lag::Heartbeat;
use crate::waiting::{Arrival, Ticket, Waiting};
use loadline_client::CookieJar;
use loadline_engine::{Detail, DrivenWorker, Inlet, Launch, Readiness, Requester, Run};
use loadline_metrics::SeriesId;
use loadline_plan::{Load, Plan, Shape};
use loadline_reactor::{Host, Kernel, Task, monotonic_ns};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use slab::Slab;
use std::cell::{Cell, RefCell, RefMut};
use std::collections::HashMap;
use std::mem;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use url::Url;

/// How many rounds of responses and new requests a turn goes on for before other greenlets of the
/// hub have theirs.
const MOST_ROUNDS: usize = 8;
/// A time that does not come.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 86_400);

thread_local! {
    static ENGINE: RefCell<Option<Rc<Engine>>> = const { RefCell::new(None) };
}

/// How many engines this process has had; a child counts on.
static MADE: AtomicU32 = AtomicU32::new(0);

/// The engine.
pub(crate) struct Engine {
    /// Which one of the process it is.
    pub(crate) serial: u32,
    worker: RefCell<DrivenWorker>,
    landlord: Requester<Kernel>,
    pub(crate) hub: Hub,
    waiting: Rc<Waiting>,
    sessions: RefCell<Slab<Rc<Session>>>,
    /// Whether a turn is under way.
    is_turning: Cell<bool>,
    /// Whether the hub was told that a turn is due.
    is_due: Cell<bool>,
    /// Whether something was begun that the worker has not looked at.
    has_begun: Cell<bool>,
    /// Whether requests are counted by name: somebody records the run.
    is_recorded: Cell<bool>,
    /// What nobody waits for any more and is to stay in flight, once the end of a recorded run has
    /// come.
    unfinished: RefCell<Option<Vec<Task>>>,
    /// The series of requests, by method and name.
    series: RefCell<HashMap<String, SeriesId>>,
    _heartbeat: Heartbeat,
}

/// What a client has of the engine: connections and cookies of its own.
pub(crate) struct Session {
    pub(crate) requester: Requester<Kernel>,
    /// Its cookies. Most clients never get one, so there is no jar before the first.
    jar: RefCell<Option<Box<CookieJar>>>,
    /// Whether its connections take any certificate.
    is_insecure: Cell<bool>,
}

impl Session {
    /// Its cookies, in a jar that is made if there is none.
    pub(crate) fn cookies(&self) -> RefMut<'_, CookieJar> {
        let jar = self.jar.borrow_mut();
        RefMut::map(jar, |jar| &mut **jar.get_or_insert_default())
    }

    /// Its cookies, if there may be any.
    pub(crate) fn existing_cookies(&self) -> Option<RefMut<'_, CookieJar>> {
        let jar = self.jar.borrow_mut();
        RefMut::filter_map(jar, |jar| jar.as_deref_mut()).ok()
    }

    /// Has its connections take any certificate, or not. None that was made otherwise serves again.
    pub(crate) fn trust_anyone(&self, trusts: bool) {
        if self.is_insecure.replace(trusts) != trusts {
            self.requester.trust_anyone(trusts);
            self.requester.close_idle();
        }
    }
}

/// The engine of this thread, made if there is none yet.
///
/// # Errors
/// On a thread that is not the program's first one, or where it can't be made.
pub(crate) fn engine(py: Python<'_>) -> PyResult<Rc<Engine>> {
    if let Some(engine) = existing() {
        return Ok(engine);
    }
    ensure_main_thread()?;
    // Nobody listens to the run: what it would tell is thrown away.
    let engine = Engine::make(py, Shape::Closed, |plan, ready, begin_ns| {
        Ok(Run::elsewhere(plan, ready, begin_ns).1)
    })?;
    Ok(settle(engine))
}

fn ensure_main_thread() -> PyResult<()> {
    if rustix::thread::gettid() == rustix::process::getpid() {
        return Ok(());
    }
    let sentence = "requests are sent by the thread that runs the test, and this call came from \
                    another one: start the work with gevent.spawn instead, or give the thread a \
                    requests.Session of its own";
    Err(PyRuntimeError::new_err(sentence))
}

/// Makes an engine the one of this thread.
fn settle(engine: Engine) -> Rc<Engine> {
    let engine = Rc::new(engine);
    ENGINE.with(|place| *place.borrow_mut() = Some(Rc::clone(&engine)));
    engine
}

/// Begins a new engine, whose run has a load of this shape and is listened to: by what `listen`
/// begins, given the plan, what is known of its connections and when its load begins. Clients open
/// new connections.
///
/// # Errors
/// If somebody waits for something of the engine that there is.
pub(crate) fn begin_recorded(
    py: Python<'_>,
    shape: Shape,
    listen: impl FnOnce(&Plan, Readiness, u64) -> PyResult<Inlet>,
) -> PyResult<()> {
    ensure_main_thread()?;
    if let Some(before) = existing() {
        if !before.waiting.is_empty() {
            let sentence = "a recording begins before the requests that it records, and some are \
                            in flight already";
            return Err(PyRuntimeError::new_err(sentence));
        }
        before.hub.stop(py)?;
        ENGINE.with(|place| place.borrow_mut().take());
    }
    let engine = Engine::make(py, shape, listen)?;
    engine.is_recorded.set(true);
    settle(engine);
    Ok(())
}

/// The engine of this thread, if there is one.
pub(crate) fn existing() -> Option<Rc<Engine>> {
    ENGINE
        .try_with(|engine| engine.borrow().clone())
        .ok()
        .flatten()
}

/// Has child processes forget the engine that they inherit: it shares descriptors with its parent's
/// and would take away what is not its own.
pub(crate) fn forget_in_children(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let forget = wrap_pyfunction!(forget, module)?;
    let arguments = pyo3::types::PyDict::new(module.py());
    arguments.set_item("after_in_child", forget)?;
    let os = module.py().import("os")?;
    os.call_method("register_at_fork", (), Some(&arguments))?;
    Ok(())
}

#[pyfunction]
fn forget(py: Python<'_>) -> PyResult<()> {
    crate::lag::forget();
    let inherited = ENGINE.with(|engine| engine.borrow_mut().take());
    let Some(engine) = inherited else {
        return Ok(());
    };
    let stopped = engine.hub.stop(py);
    // Its end would be the end of the parent's connections.
    mem::forget(engine);
    stopped
}

/// Since when the requests in flight are so, in nanoseconds of `CLOCK_MONOTONIC`.
#[pyfunction]
pub(crate) fn in_flight_since_ns() -> Vec<u64> {
    existing().map_or(Vec::new(), |engine| engine.in_flight_since_ns())
}

/// What the hub calls whenever the engine may have something to do.
#[pyfunction]
fn turn(py: Python<'_>) -> PyResult<()> {
    match existing() {
        Some(engine) => engine.turn(py),
        None => Ok(()),
    }
}

impl Engine {
    /// A new engine, which tells the run of this inlet.
    fn make(
        py: Python<'_>,
        shape: Shape,
        listen: impl FnOnce(&Plan, Readiness, u64) -> PyResult<Inlet>,
    ) -> PyResult<Engine> {
        let mut plan = plan_of(1, shape);
        plan.connection.tls.cacert = authorities(py);
        let launches = [Launch::scenario(|_| Hosting)];
        let refused = |error: &dyn std::fmt::Display| PyRuntimeError::new_err(error.to_string());
        let mut worker = DrivenWorker::prepare(&plan, Detail::default(), &launches, 0)
            .map_err(|error| refused(&error))?;
        let begin_ns = monotonic_ns();
        let inlet = listen(&plan, worker.ready().clone(), begin_ns)?;
        worker.begin(begin_ns, inlet);
        // The first turn begins the load, the second one its user.
        let mut landlord = None;
        while landlord.is_none() {
            worker.turn()?;
            landlord = take_requester();
        }
        let landlord = landlord.ok_or_else(|| refused(&"the engine did not begin"))?;
        let turn = wrap_pyfunction!(turn, py)?.into_any();
        let hub = Hub::watch(py, worker.as_fd(), turn)?;
        Ok(Engine {
            serial: MADE.fetch_add(1, Ordering::Relaxed) + 1,
            worker: RefCell::new(worker),
            landlord,
            _heartbeat: Heartbeat::begin(py, &hub)?,
            hub,
            waiting: Rc::default(),
            sessions: RefCell::default(),
            is_turning: Cell::new(false),
            is_due: Cell::new(false),
            has_begun: Cell::new(false),
            is_recorded: Cell::new(false),
            unfinished: RefCell::default(),
            series: RefCell::default(),
        })
    }

    /// The series that counts requests of this name, where anybody records them.
    pub(crate) fn series(&self, method: &str, name: &str) -> SeriesId {
        if !self.is_recorded.get() {
            return SeriesId::default();
        }
        let name = [method, " ", name].concat();
        if let Some(known) = self.series.borrow().get(&name) {
            return *known;
        }
        // What can't be a name is counted with what had no series left.
        let series = self.landlord.series(&name).unwrap_or_default();
        self.series.borrow_mut().insert(name, series);
        series
    }

    /// Whether somebody records the run.
    pub(crate) fn is_recorded(&self) -> bool {
        self.is_recorded.get()
    }

    /// The recorded run is about to end: a request whose user ends stays in flight.
    pub(crate) fn keep_unfinished(&self) {
        self.unfinished.borrow_mut().get_or_insert_default();
    }

    /// Nobody records any more.
    pub(crate) fn stop_recording(&self) {
        self.is_recorded.set(false);
    }

    /// The record is whole: what stayed in flight is given up.
    pub(crate) fn give_up_unfinished(&self) {
        drop(self.unfinished.take());
    }

    /// A session for a client, and its number.
    pub(crate) fn open_session(&self) -> (u32, Rc<Session>) {
        let session = Rc::new(Session {
            requester: self.landlord.another_user(),
            jar: RefCell::default(),
            is_insecure: Cell::new(false),
        });
        let number = self.sessions.borrow_mut().insert(Rc::clone(&session));
        (number as u32, session)
    }

    /// The session of this number.
    pub(crate) fn session(&self, number: u32) -> Option<Rc<Session>> {
        self.sessions.borrow().get(number as usize).cloned()
    }

    /// The number of the endpoint that a URL is of.
    pub(crate) fn endpoint_of(&self, url: &Url) -> usize {
        self.landlord.endpoint_of(url)
    }

    /// A client is gone: its connections are closed.
    pub(crate) fn close_session(&self, number: u32) {
        let closed = self.sessions.borrow_mut().try_remove(number as usize);
        drop(closed);
    }

    /// Its clock and timers.
    pub(crate) fn host(&self) -> &Kernel {
        self.landlord.host()
    }

    /// As [`begin_wait`](Self::begin_wait), for the response to a request.
    pub(crate) fn begin_request<F: Future<Output = ()> + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(Rc<Waiting>, Ticket) -> F,
    ) -> PyResult<Ticket> {
        self.begin_wait(py, Some(monotonic_ns()), work)
    }

    /// Since when the requests in flight are so, on `CLOCK_MONOTONIC`.
    pub(crate) fn in_flight_since_ns(&self) -> Vec<u64> {
        self.waiting.in_flight_since_ns()
    }

    /// Begins what this greenlet waits for: what comes of it is to arrive under the ticket, for
    /// [`wait`](Self::wait) and [`arrival`](Self::arrival).
    pub(crate) fn begin_wait<F: Future<Output = ()> + 'static>(
        &self,
        py: Python<'_>,
        since_ns: Option<u64>,
        work: impl FnOnce(Rc<Waiting>, Ticket) -> F,
    ) -> PyResult<Ticket> {
        let greenlet = self.hub.waiter(py)?;
        let ticket = self.waiting.enter(greenlet, since_ns);
        let task = self.host().spawn(work(Rc::clone(&self.waiting), ticket));
        self.waiting.keep(ticket, task);
        let begun = self.hub.hold(py, true).and_then(|()| self.turn_soon(py));
        if begun.is_err() {
            drop(self.waiting.leave(ticket));
        }
        begun.map(|()| ticket)
    }

    /// Waits until what this ticket stands for has come, whoever else may switch here, or until
    /// something is thrown into the greenlet, which is returned. Either is for
    /// [`arrival`](Self::arrival).
    // Its frame, and those of who calls it, are copied for each greenlet that waits: so they are
    // small, and nothing that needs room is done in them.
    pub(crate) fn wait(&self, py: Python<'_>, ticket: Ticket) -> Option<Box<PyErr>> {
        loop {
            let thrown = self.hub.switch(py);
            if thrown.is_some() || self.waiting.has_arrival(ticket) {
                return thrown;
            }
        }
    }

    /// What was waited for with this ticket.
    ///
    /// # Errors
    /// What was thrown into the greenlet meanwhile: what it waited for is given up then.
    pub(crate) fn arrival(
        &self,
        py: Python<'_>,
        ticket: Ticket,
        thrown: Option<Box<PyErr>>,
    ) -> PyResult<Arrival> {
        let arrival = self.waiting.take(ticket);
        if let (None, Some(arrival)) = (&thrown, arrival) {
            return Ok(arrival);
        }
        let task = self.waiting.leave(ticket);
        if let Some(unfinished) = self.unfinished.borrow_mut().as_mut() {
            unfinished.extend(task);
        }
        // The loop drops what was given up when it next looks at it.
        self.turn_soon(py)?;
        let lost = || PyRuntimeError::new_err("a wait ended without an end");
        Err(thrown.map_or_else(lost, |thrown| *thrown))
    }

    /// Has the worker look at what was begun: in the turn that is under way, or in one of its own.
    fn turn_soon(&self, py: Python<'_>) -> PyResult<()> {
        self.has_begun.set(true);
        if self.is_turning.get() || self.is_due.replace(true) {
            return Ok(());
        }
        self.hub.call_soon(py)
    }

    /// Takes what the kernel has, switches to the greenlets whose responses are whole, sends what
    /// they ask for next, and so on until nothing is left or others are to have their turn.
    fn turn(&self, py: Python<'_>) -> PyResult<()> {
        self.is_due.set(false);
        if self.is_turning.replace(true) {
            return Ok(());
        }
        let went = self.go_round(py);
        self.is_turning.set(false);
        went?;
        if self.has_begun.get() || self.waiting.has_arrived() {
            self.turn_soon(py)?;
        }
        self.hub.hold(py, !self.waiting.is_empty())
    }

    fn go_round(&self, py: Python<'_>) -> PyResult<()> {
        let mut arrived = Vec::new();
        for _ in 0..MOST_ROUNDS {
            self.has_begun.set(false);
            self.worker.borrow_mut().turn()?;
            self.waiting.take_arrived(&mut arrived);
            for ticket in arrived.drain(..) {
                if let Some(greenlet) = self.waiting.greenlet(py, ticket) {
                    self.hub.switch_to(py, &greenlet);
                }
            }
            if !self.has_begun.get() {
                break;
            }
        }
        Ok(())
    }
}

/// The load of a process: users without requests of their own, for ever.
pub(crate) fn plan_of(users: u32, shape: Shape) -> Plan {
    let mut plan = Plan {
        load: Load {
            users,
            max_users: users,
            shape,
        },
        duration: Some(FOREVER),
        ..Plan::default()
    };
    plan.connection.ahead = false;
    // Each request says how long it may take.
    plan.connection.timeout = FOREVER;
    plan.connection.connect_timeout = FOREVER;
    plan
}

/// The authorities that Python's clients trust, where they are known.
fn authorities(py: Python<'_>) -> Option<std::path::PathBuf> {
    let certifi = py.import("certifi").ok()?;
    let path: String = certifi.call_method0("where").ok()?.extract().ok()?;
    Some(path.into())
}
