//! The connections of HTTP/2 that the users of a worker share, including those that are being
//! dialled.

use super::connection::Http2Connection;
use super::driver::Driver;
use crate::exchange::failure::Failure;
use crate::worker::Worker;
use loadline_plan::{Connection as Settings, Windows};
use loadline_reactor::{Host, Task};
use loadline_record::ErrorKind;
use loadline_transport::{Connection, Dial, DialError, DialPhase};
use loadline_wire::h2::Config;
use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// The connections of HTTP/2 of a worker.
pub(crate) struct Http2Pool {
    config: Config,
    /// The most streams per connection.
    streams: usize,
    members: RefCell<Vec<Member>>,
    dials: RefCell<Vec<(Rc<SharedDial>, Task)>>,
    /// The number of connections per endpoint that ended or were retired and are not replaced.
    lost: RefCell<Vec<u32>>,
}

/// A connection and its driver, which ends when its task is dropped.
struct Member {
    connection: Rc<Http2Connection>,
    driver: Task,
}

/// A connection that is being dialled for several requests.
pub(super) struct SharedDial {
    endpoint: usize,
    state: RefCell<DialState>,
}

#[derive(Default)]
struct DialState {
    /// The number of requests that wait for it.
    joined: usize,
    outcome: Option<Result<(Rc<Http2Connection>, Dial), Failure>>,
    waiting: Vec<Waker>,
}

/// Returns the limits of each connection, from the plan's settings.
pub(crate) fn http2_config(settings: &Settings) -> Config {
    let default = Config::default();
    let Windows { stream, connection } = settings.windows;
    Config {
        stream_window: stream.unwrap_or(default.stream_window),
        connection_window: connection.unwrap_or(default.connection_window),
        ..default
    }
}

impl Http2Pool {
    /// Creates an empty pool; `streams` is the most streams per connection.
    pub(crate) fn new(config: Config, streams: u32) -> Self {
        Http2Pool {
            config,
            streams: streams as usize,
            members: RefCell::default(),
            dials: RefCell::default(),
            lost: RefCell::default(),
        }
    }

    /// Retires the connections without a stream, which closes them.
    pub(crate) fn close_idle(&self) {
        let members = self.members.borrow();
        let connections = members.iter().map(|member| &member.connection);
        connections
            .filter(|connection| connection.open_streams() == 0)
            .for_each(|connection| connection.retire());
    }

    /// Returns the connection to an endpoint that has room and the fewest streams.
    pub(crate) fn with_room(&self, endpoint: usize) -> Option<Rc<Http2Connection>> {
        let members = self.members.borrow();
        let fitting = members.iter().map(|member| &member.connection);
        fitting
            .filter(|connection| connection.endpoint == endpoint && connection.has_room())
            .min_by_key(|connection| connection.open_streams())
            .map(Rc::clone)
    }

    /// Counts a connection to an endpoint that has ended or was retired.
    pub(crate) fn lose(&self, endpoint: usize) {
        let mut lost = self.lost.borrow_mut();
        if lost.len() <= endpoint {
            lost.resize(endpoint + 1, 0);
        }
        lost[endpoint] += 1;
    }

    /// Counts a connection to an endpoint that was dialled. Returns true if it replaces a lost one.
    pub(crate) fn replaces(&self, endpoint: usize) -> bool {
        let mut lost = self.lost.borrow_mut();
        let slot = lost.get_mut(endpoint);
        slot.is_some_and(|count| {
            let left = count.checked_sub(1);
            left.inspect(|left| *count = *left).is_some()
        })
    }

    /// Removes a connection that is over; its driver may continue to wait for the server's close.
    pub(crate) fn remove(&self, connection: &Rc<Http2Connection>) {
        let mut members = self.members.borrow_mut();
        let found = members
            .iter()
            .position(|member| Rc::ptr_eq(&member.connection, connection));
        if let Some(index) = found {
            members.swap_remove(index).driver.detach();
        }
    }

    /// Closes all connections.
    pub(crate) fn close(&self) {
        self.members.take();
        self.dials.take();
    }
}

/// Begins HTTP/2 on a connection of the worker's own pool, like [`establish_in`].
async fn establish<H: Host>(
    worker: &Rc<Worker<H>>,
    endpoint: usize,
    carrier: Connection<H::Socket>,
    deadline_ns: u64,
) -> Result<Rc<Http2Connection>, Failure> {
    let Some(pool) = &worker.http2 else {
        return Err(Failure::new(ErrorKind::Protocol, "HTTP/2 is not set up"));
    };
    establish_in(pool, worker, endpoint, carrier, deadline_ns).await
}

/// Begins HTTP/2 on a connection of a pool and waits until the server's SETTINGS have arrived.
pub(in crate::exchange) async fn establish_in<H: Host>(
    pool: &Rc<Http2Pool>,
    worker: &Rc<Worker<H>>,
    endpoint: usize,
    carrier: Connection<H::Socket>,
    deadline_ns: u64,
) -> Result<Rc<Http2Connection>, Failure> {
    let connection = Rc::new(Http2Connection {
        peer: carrier.peer(),
        agreed: carrier.agreed(),
        shows: worker.negotiates,
        ..Http2Connection::new(endpoint, pool.config, pool.streams, deadline_ns)
    });
    let driver = Driver {
        connection: Rc::clone(&connection),
        carrier,
        worker: Rc::downgrade(worker),
        pool: Rc::downgrade(pool),
        armed_ns: 0,
        is_flushing: false,
    };
    let driver = worker.host.spawn(driver.run());
    pool.members.borrow_mut().push(Member {
        connection: Rc::clone(&connection),
        driver,
    });
    poll_fn(|cx| connection.poll_open(cx)).await?;
    if !connection.has_room() && connection.open_streams() == 0 {
        let text = "the server allows no streams (SETTINGS_MAX_CONCURRENT_STREAMS is 0)";
        return Err(Failure::new(ErrorKind::Protocol, text));
    }
    Ok(connection)
}

/// Begins HTTP/2 like [`establish`], on a connection that is dialled before the run.
pub(crate) async fn establish_ahead<H: Host>(
    worker: &Rc<Worker<H>>,
    endpoint: usize,
    carrier: Connection<H::Socket>,
    deadline_ns: u64,
) -> Result<(), DialError> {
    let established = establish(worker, endpoint, carrier, deadline_ns).await;
    established.map(drop).map_err(|failure| DialError {
        phase: DialPhase::Http2,
        address: None,
        error: io::Error::other(failure.text),
    })
}

/// Joins a dial in progress that has room for another request, or begins a new one. Returns true
/// with a new one. `is_counted` is true if the dial belongs to the measured part of the run.
pub(super) fn join_or_dial<H: Host>(
    worker: &Rc<Worker<H>>,
    endpoint: usize,
    deadline_ns: u64,
    is_counted: bool,
) -> (Rc<SharedDial>, bool) {
    let Some(pool) = &worker.http2 else {
        return (SharedDial::new(endpoint), true);
    };
    let joinable =
        |dial: &SharedDial| dial.endpoint == endpoint && dial.state.borrow().joined < pool.streams;
    let mut dials = pool.dials.borrow_mut();
    if let Some((dial, _)) = dials.iter().find(|(dial, _)| joinable(dial)) {
        dial.state.borrow_mut().joined += 1;
        return (Rc::clone(dial), false);
    }
    let dial = SharedDial::new(endpoint);
    let run = Rc::clone(&dial).run(Rc::clone(worker), deadline_ns, is_counted);
    let task = worker.host.spawn(run);
    dials.push((Rc::clone(&dial), task));
    (dial, true)
}

impl SharedDial {
    fn new(endpoint: usize) -> Rc<Self> {
        Rc::new(SharedDial {
            endpoint,
            state: RefCell::new(DialState {
                joined: 1,
                ..DialState::default()
            }),
        })
    }

    /// Waits for the connection.
    pub(super) async fn wait(&self) -> Result<(Rc<Http2Connection>, Dial), Failure> {
        poll_fn(|cx| {
            let mut state = self.state.borrow_mut();
            if let Some(outcome) = &state.outcome {
                return Poll::Ready(outcome.clone());
            }
            state.waiting.push(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Dials, and wakes the waiting requests.
    async fn run<H: Host>(self: Rc<Self>, worker: Rc<Worker<H>>, deadline_ns: u64, counts: bool) {
        let dialled = self.dial(&worker, deadline_ns).await;
        let Some(pool) = &worker.http2 else { return };
        if let Ok((_, times)) = &dialled {
            let replaces = pool.replaces(self.endpoint);
            if counts {
                worker.dialled(times);
                if replaces {
                    worker.recorder.borrow_mut().reconnected();
                }
            }
        }
        let mut dials = pool.dials.borrow_mut();
        if let Some(index) = dials.iter().position(|(dial, _)| Rc::ptr_eq(dial, &self)) {
            dials.swap_remove(index).1.detach();
        }
        let mut state = self.state.borrow_mut();
        state.outcome = Some(dialled);
        state.waiting.drain(..).for_each(Waker::wake);
    }

    async fn dial<H: Host>(
        &self,
        worker: &Rc<Worker<H>>,
        deadline_ns: u64,
    ) -> Result<(Rc<Http2Connection>, Dial), Failure> {
        let dialled = worker.dialler.dial(self.endpoint, deadline_ns).await;
        let (carrier, dial) = dialled.map_err(|error| Failure::dial(&error))?;
        let connection = establish(worker, self.endpoint, carrier, deadline_ns).await?;
        Ok((connection, dial))
    }
}
