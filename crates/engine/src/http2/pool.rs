//! The connections of HTTP/2 that the users of a worker share, including those that are being
//! dialled.

use super::connection::Http2Connection;
use crate::failure::Failure;
use loadline_plan::{Connection as Settings, Windows};
use loadline_reactor::Task;
use loadline_transport::Dial;
use loadline_wire::h2::Config;
use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// The connections of HTTP/2 of a worker.
pub(crate) struct Http2Pool {
    pub(crate) config: Config,
    /// The most streams per connection.
    pub(crate) streams: usize,
    pub(crate) members: RefCell<Vec<Member>>,
    pub(crate) dials: RefCell<Vec<(Rc<SharedDial>, Task)>>,
    /// The number of connections per endpoint that ended or were retired and are not replaced.
    lost: RefCell<Vec<u32>>,
}

/// A connection and its driver, which ends when its task is dropped.
pub(crate) struct Member {
    pub(crate) connection: Rc<Http2Connection>,
    pub(crate) driver: Task,
}

/// A connection that is being dialled for several requests.
pub(crate) struct SharedDial {
    pub(crate) endpoint: usize,
    pub(crate) state: RefCell<DialState>,
}

#[derive(Default)]
pub(crate) struct DialState {
    /// The number of requests that wait for it.
    pub(crate) joined: usize,
    pub(crate) outcome: Option<Result<(Rc<Http2Connection>, Dial), Failure>>,
    pub(crate) waiting: Vec<Waker>,
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

impl SharedDial {
    pub(crate) fn new(endpoint: usize) -> Rc<Self> {
        Rc::new(SharedDial {
            endpoint,
            state: RefCell::new(DialState {
                joined: 1,
                ..DialState::default()
            }),
        })
    }

    /// Waits for the connection.
    pub(crate) async fn wait(&self) -> Result<(Rc<Http2Connection>, Dial), Failure> {
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
}
