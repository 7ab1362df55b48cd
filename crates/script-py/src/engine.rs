//! The engine of this process: a worker on gevent's thread, created when it is first used.

use crate::guest::{Hosting, take_requester};
use crate::hub::Hub;
use crate::lag::Heartbeat;
use crate::tally::Pending;
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
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use url::Url;

/// The maximum rounds of responses and new requests in a turn, before other greenlets of the hub
/// have theirs.
const MOST_ROUNDS: usize = 8;
/// A duration that never elapses.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 86_400);

thread_local! {
    static ENGINE: RefCell<Option<Rc<Engine>>> = const { RefCell::new(None) };
}

/// The number of engines that this process has had; a child process continues the count.
static MADE: AtomicU32 = AtomicU32::new(0);

/// The engine of a process.
pub(crate) struct Engine {
    /// The engine's number in its process.
    pub(crate) serial: u32,
    worker: RefCell<DrivenWorker>,
    landlord: Requester<Kernel>,
    pub(crate) hub: Hub,
    waiting: Rc<Waiting>,
    sessions: RefCell<Slab<Rc<Session>>>,
    /// True while a turn runs.
    is_turning: Cell<bool>,
    /// True if a turn was requested from the hub.
    is_due: Cell<bool>,
    /// True if there is new work for the worker.
    has_begun: Cell<bool>,
    /// True if requests are counted by name, because the run is recorded.
    is_recorded: Cell<bool>,
    /// Requests without a waiting greenlet that have to stay in flight; `None` until a recorded run
    /// begins to end.
    unfinished: RefCell<Option<Vec<Task>>>,
    /// The series of requests, by method and name.
    series: RefCell<HashMap<String, SeriesId>>,
    _heartbeat: Heartbeat,
}

/// The share that a process has of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// The number of its worker, from 0.
    pub(crate) worker: u32,
    /// The number of the run's workers: each process has one.
    pub(crate) of: u32,
    /// The begin of the load in nanoseconds of `CLOCK_MONOTONIC`, if another process has determined
    /// it.
    pub(crate) begin_ns: Option<u64>,
}

impl Share {
    /// The share of the only process of a run.
    pub(crate) const WHOLE: Share = Share {
        worker: 0,
        of: 1,
        begin_ns: None,
    };
}

/// A client's part of the engine: connections and cookies of its own.
pub(crate) struct Session {
    pub(crate) requester: Requester<Kernel>,
    /// The cookies. Most clients never get one, so the jar is created for the first.
    jar: RefCell<Option<Box<CookieJar>>>,
    /// True if certificates are not verified.
    is_insecure: Cell<bool>,
}

impl Session {
    /// Returns the jar of cookies, created if there is none.
    pub(crate) fn cookies(&self) -> RefMut<'_, CookieJar> {
        let jar = self.jar.borrow_mut();
        RefMut::map(jar, |jar| &mut **jar.get_or_insert_default())
    }

    /// Returns the jar of cookies, if there is one.
    pub(crate) fn existing_cookies(&self) -> Option<RefMut<'_, CookieJar>> {
        let jar = self.jar.borrow_mut();
        RefMut::filter_map(jar, |jar| jar.as_deref_mut()).ok()
    }

    /// Turns certificate verification off or on for new connections. If that is a change, open idle
    /// connections are closed, so that they are not used again.
    pub(crate) fn trust_anyone(&self, trusts: bool) {
        if self.is_insecure.replace(trusts) != trusts {
            self.requester.trust_anyone(trusts);
            self.requester.close_idle();
        }
    }
}

/// Returns the engine of this thread, created if there is none.
///
/// # Errors
/// On a thread that is not the program's first one, or if it can't be created.
pub(crate) fn engine(py: Python<'_>) -> PyResult<Rc<Engine>> {
    if let Some(engine) = existing() {
        return Ok(engine);
    }
    ensure_main_thread()?;
    // The run has no receiver: its events are discarded.
    let listen = |plan: &Plan, ready, begin_ns| Ok(Run::elsewhere(plan, ready, begin_ns).1);
    let engine = Engine::make(py, Shape::Closed, Share::WHOLE, None, listen)?;
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

/// Begins a new engine for this share of a run with a load of this shape, whose users count in
/// `pending`.
/// `listen` creates the inlet that receives its events, given the plan, the state of its endpoints,
/// and the beginning of its load. Clients open new connections.
///
/// # Errors
/// If a greenlet waits for a result of the existing engine.
pub(crate) fn begin_recorded(
    py: Python<'_>,
    shape: Shape,
    share: Share,
    pending: Option<Arc<Pending>>,
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
    let engine = Engine::make(py, shape, share, pending, listen)?;
    engine.is_recorded.set(true);
    settle(engine);
    Ok(())
}

/// Returns the engine of this thread, if there is one.
pub(crate) fn existing() -> Option<Rc<Engine>> {
    ENGINE
        .try_with(|engine| engine.borrow().clone())
        .ok()
        .flatten()
}

/// Makes child processes forget the engine that they inherit: it shares descriptors with the
/// parent's and would remove watches that belong to the parent.
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
    // Dropping it would close the parent's connections.
    mem::forget(engine);
    stopped
}

/// Returns the times since which requests are in flight, in nanoseconds of `CLOCK_MONOTONIC`.
#[pyfunction]
pub(crate) fn in_flight_since_ns() -> Vec<u64> {
    existing().map_or(Vec::new(), |engine| engine.in_flight_since_ns())
}

/// Runs a turn of the engine. The hub calls this whenever the engine may have work.
#[pyfunction]
fn turn(py: Python<'_>) -> PyResult<()> {
    match existing() {
        Some(engine) => engine.turn(py),
        None => Ok(()),
    }
}

impl Engine {
    /// Creates an engine that reports its events to the inlet that `listen` returns.
    fn make(
        py: Python<'_>,
        shape: Shape,
        share: Share,
        pending: Option<Arc<Pending>>,
        listen: impl FnOnce(&Plan, Readiness, u64) -> PyResult<Inlet>,
    ) -> PyResult<Engine> {
        let mut plan = plan_of_processes(share.of, shape);
        plan.connection.tls.cacert = authorities(py);
        // What is recorded shows what errors say; a test that is not has nowhere to show it.
        let detail = Detail {
            error_bodies: pending.is_some(),
            ..Detail::default()
        };
        let launches = [Launch::scenario(move |_| Hosting {
            pending: pending.clone(),
        })];
        let refused = |error: &dyn std::fmt::Display| PyRuntimeError::new_err(error.to_string());
        let mut worker = DrivenWorker::prepare(&plan, detail, &launches, share.worker)
            .map_err(|error| refused(&error))?;
        let begin_ns = share.begin_ns.unwrap_or_else(monotonic_ns);
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

    /// Returns the series that counts requests of this name, if the run is recorded.
    pub(crate) fn series(&self, method: &str, name: &str) -> SeriesId {
        if !self.is_recorded.get() {
            return SeriesId::default();
        }
        let name = [method, " ", name].concat();
        if let Some(known) = self.series.borrow().get(&name) {
            return *known;
        }
        // A text that can't be a name is counted together with names beyond the limit of series.
        let series = self.landlord.series(&name).unwrap_or_default();
        self.series.borrow_mut().insert(name, series);
        series
    }

    /// True if the run is recorded.
    pub(crate) fn is_recorded(&self) -> bool {
        self.is_recorded.get()
    }

    /// Begins the end of a recorded run: from now on a request stays in flight when its user ends.
    pub(crate) fn keep_unfinished(&self) {
        self.unfinished.borrow_mut().get_or_insert_default();
    }

    /// Ends the recording.
    pub(crate) fn stop_recording(&self) {
        self.is_recorded.set(false);
    }

    /// Cancels the requests that stayed in flight, because the record is complete.
    pub(crate) fn give_up_unfinished(&self) {
        drop(self.unfinished.take());
    }

    /// Opens a session for a client, and returns it with its number.
    pub(crate) fn open_session(&self) -> (u32, Rc<Session>) {
        let session = Rc::new(Session {
            requester: self.landlord.another_user(),
            jar: RefCell::default(),
            is_insecure: Cell::new(false),
        });
        let number = self.sessions.borrow_mut().insert(Rc::clone(&session));
        (number as u32, session)
    }

    /// Returns the session of this number.
    pub(crate) fn session(&self, number: u32) -> Option<Rc<Session>> {
        self.sessions.borrow().get(number as usize).cloned()
    }

    /// Returns the number of a URL's endpoint.
    pub(crate) fn endpoint_of(&self, url: &Url) -> usize {
        self.landlord.endpoint_of(url)
    }

    /// Closes a session with its connections.
    pub(crate) fn close_session(&self, number: u32) {
        let closed = self.sessions.borrow_mut().try_remove(number as usize);
        drop(closed);
    }

    /// Returns the engine's clock and timers.
    pub(crate) fn host(&self) -> &Kernel {
        self.landlord.host()
    }

    /// Begins a wait for the response to a request, as [`begin_wait`](Self::begin_wait).
    pub(crate) fn begin_request<F: Future<Output = ()> + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(Rc<Waiting>, Ticket) -> F,
    ) -> PyResult<Ticket> {
        self.begin_wait(py, Some(monotonic_ns()), work)
    }

    /// Returns the times since which requests are in flight, on `CLOCK_MONOTONIC`.
    pub(crate) fn in_flight_since_ns(&self) -> Vec<u64> {
        self.waiting.in_flight_since_ns()
    }

    /// Begins the work for which this greenlet will wait. Its result arrives under the ticket, for
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

    /// Waits until the result of this ticket has arrived, whichever greenlet switches here
    /// meanwhile, or until an exception is thrown into the greenlet, which is returned. Call
    /// [`arrival`](Self::arrival) after it in both cases.
    // The frames of this function and of its callers are copied for each greenlet that waits: so
    // they are small, and work that needs stack is done in other functions.
    pub(crate) fn wait(&self, py: Python<'_>, ticket: Ticket) -> Option<Box<PyErr>> {
        loop {
            let thrown = self.hub.switch(py);
            if thrown.is_some() || self.waiting.has_arrival(ticket) {
                return thrown;
            }
        }
    }

    /// Returns the result of the wait with this ticket.
    ///
    /// # Errors
    /// The exception that was thrown into the greenlet meanwhile; the work is cancelled then.
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
        // The event loop drops cancelled work in its next turn.
        self.turn_soon(py)?;
        let lost = || PyRuntimeError::new_err("a wait ended without an end");
        Err(thrown.map_or_else(lost, |thrown| *thrown))
    }

    /// Schedules the new work of the worker: in the current turn, or in another one.
    fn turn_soon(&self, py: Python<'_>) -> PyResult<()> {
        self.has_begun.set(true);
        if self.is_turning.get() || self.is_due.replace(true) {
            return Ok(());
        }
        self.hub.call_soon(py)
    }

    /// Receives from the kernel, switches to the greenlets whose responses are complete, sends
    /// their next requests, and so on until no work is left or others have to get their turn.
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

/// Returns the plan of the load of so many processes, each of which has one worker with one user.
pub(crate) fn plan_of_processes(count: u32, shape: Shape) -> Plan {
    Plan {
        threads: count,
        ..plan_of(count, shape)
    }
}

/// Returns the plan of a load of users without requests of their own, without an end.
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
    // Each request has its own timeout.
    plan.connection.timeout = FOREVER;
    plan.connection.connect_timeout = FOREVER;
    plan
}

/// Returns the file of certificate authorities that Python's clients trust, if it is known.
fn authorities(py: Python<'_>) -> Option<std::path::PathBuf> {
    let certifi = py.import("certifi").ok()?;
    let path: String = certifi.call_method0("where").ok()?.extract().ok()?;
    Some(path.into())
}
