//! A connection of HTTP/2 from the view of its users: streams that begin and end.
//!
//! The driver's task owns the socket. Users and driver share the state of the wire: a user begins a
//! stream and wakes the driver, the driver ends streams and wakes their users.

use super::received::ReceivedResponse;
use crate::error_bodies::{MOST_BYTES, is_error};
use crate::failure::Failure;
use loadline_transport::Agreed;
use loadline_wire::h2::{self, Ended, ErrorCode, Refused};
use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// No deadline.
pub(crate) const NEVER: u64 = u64::MAX;

/// A connection of HTTP/2 that several users share.
pub(crate) struct Http2Connection {
    /// The endpoint's index in the run's list.
    pub(crate) endpoint: usize,
    /// The address that was dialled; `None` for a Unix socket.
    pub(crate) peer: Option<SocketAddr>,
    /// The agreed TLS parameters.
    pub(crate) agreed: Option<Agreed>,
    /// The responses that are kept until their user reads them.
    pub(crate) keeps: KeptResponses,
    pub(crate) state: RefCell<State>,
}

/// The responses that a connection keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeptResponses {
    /// None: only their ends are known.
    Nothing,
    /// The beginnings of those that report errors.
    Errors,
    /// All: they are passed to observers, as users of composed requests need them.
    All,
}

/// The state that users and driver share.
pub(crate) struct State {
    pub(crate) wire: h2::Connection,
    pub(crate) places: Places,
    /// The most streams per connection in the plan.
    most_streams: usize,
    /// The time of the last receive.
    pub(crate) received_ns: u64,
    /// The next deadline: never later than the first deadline of the streams; that of the server's
    /// SETTINGS before they arrive.
    pub(crate) deadline_ns: u64,
    /// True if new streams go to other connections.
    pub(crate) is_retired: bool,
    /// The failure that ended the connection, if it is over.
    pub(crate) lost: Option<Failure>,
    pub(crate) driver: Option<Waker>,
    /// The task that waits for the server's SETTINGS.
    pub(crate) opener: Option<Waker>,
}

/// The streams of a connection, by key.
#[derive(Default)]
pub(crate) struct Places {
    list: Vec<StreamSlot>,
    free: Vec<usize>,
}

/// A slot for one stream after the other.
#[derive(Default)]
struct StreamSlot {
    stream: u32,
    begun_ns: u64,
    deadline_ns: u64,
    first_byte_ns: Option<u64>,
    /// The received part of the response, if it is to be shown.
    received: Option<Box<ReceivedResponse>>,
    /// Wakes the user of the current or last stream: the next stream is mostly the same user's.
    user: Option<Waker>,
    ended_stream: Option<EndedStream>,
}

/// The end of a stream. Times are nanoseconds on the host's clock.
pub(crate) struct EndedStream {
    pub(crate) ending: StreamEnd,
    pub(crate) first_byte_ns: Option<u64>,
    /// The time at which the last bytes arrived, and at which they were read.
    pub(crate) at_ns: u64,
    pub(crate) read_ns: u64,
    /// The received response, if it is to be shown.
    pub(crate) received: Option<Box<ReceivedResponse>>,
}

/// The way in which a stream ended.
pub(crate) enum StreamEnd {
    /// The stream itself ended.
    Stream(Ended),
    /// The connection ended, for this reason.
    Connection(Box<(Ended, Failure)>),
    /// We reset the stream because its time was over.
    TimedOut,
}

/// A user's stream. Dropping it before its end resets it.
pub(crate) struct Stream {
    connection: Rc<Http2Connection>,
    key: usize,
}

impl Http2Connection {
    /// Creates a connection that waits for the server's SETTINGS until the deadline.
    pub(crate) fn new(
        endpoint: usize,
        config: h2::Config,
        most_streams: usize,
        deadline_ns: u64,
    ) -> Self {
        Http2Connection {
            endpoint,
            peer: None,
            agreed: None,
            keeps: KeptResponses::Nothing,
            state: RefCell::new(State {
                wire: h2::Connection::new(config),
                places: Places::default(),
                most_streams,
                received_ns: 0,
                deadline_ns,
                is_retired: false,
                lost: None,
                driver: None,
                opener: None,
            }),
        }
    }

    /// True if a request to an endpoint can be sent on it.
    pub(crate) fn takes(&self, endpoint: usize) -> bool {
        self.endpoint == endpoint && self.has_room()
    }

    /// True if another stream can begin.
    pub(crate) fn has_room(&self) -> bool {
        self.state.borrow().has_room()
    }

    /// Returns the number of open streams.
    pub(crate) fn open_streams(&self) -> usize {
        self.state.borrow().wire.open_streams()
    }

    /// Begins the stream of a request that was begun at `begun_ns`; returns `None` if there is no
    /// room for one.
    pub(crate) fn begin(
        self: &Rc<Self>,
        request: &h2::Request,
        begun_ns: u64,
        deadline_ns: u64,
    ) -> Option<Stream> {
        let state = &mut *self.state.borrow_mut();
        if !state.has_room() {
            return None;
        }
        // A driver with pending output is awake, or waits for the socket to accept it.
        let is_asleep = state.wire.output().is_empty() || deadline_ns < state.deadline_ns;
        let key = state.places.take(begun_ns, deadline_ns);
        match state.wire.begin(request, key) {
            Ok(number) => state.places.list[key].stream = number,
            Err(refused) => {
                state.places.free.push(key);
                state.is_retired |= refused != Refused::Full;
                return None;
            }
        }
        state.deadline_ns = state.deadline_ns.min(deadline_ns);
        if is_asleep {
            state.wake_driver();
        }
        Some(Stream {
            connection: Rc::clone(self),
            key,
        })
    }

    /// Begins no more streams, and closes the connection when the open ones have ended.
    pub(crate) fn retire(&self) {
        let state = &mut *self.state.borrow_mut();
        state.is_retired = true;
        state.wake_driver();
    }

    /// Waits for the server's SETTINGS; fails if the connection ends before.
    pub(crate) fn poll_open(&self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        let state = &mut *self.state.borrow_mut();
        if let Some(failure) = &state.lost {
            return Poll::Ready(Err(failure.clone()));
        }
        if state.wire.is_ready() {
            return Poll::Ready(Ok(()));
        }
        state.opener = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl State {
    fn has_room(&self) -> bool {
        let is_open = self.lost.is_none() && !self.is_retired;
        is_open && self.wire.open_streams() < self.most_streams && self.wire.capacity() > 0
    }

    fn wake_driver(&self) {
        if let Some(driver) = &self.driver {
            driver.wake_by_ref();
        }
    }

    /// Resets the streams whose time is over, and finds the next deadline. Returns true if the
    /// connection is silent: it received nothing during the time of one of these streams.
    pub(crate) fn expire(&mut self, now_ns: u64) -> bool {
        let (mut next_ns, mut is_silent) = (NEVER, false);
        for key in 0..self.places.list.len() {
            let place = &mut self.places.list[key];
            if place.stream == 0 {
                continue;
            }
            if place.deadline_ns > now_ns {
                next_ns = next_ns.min(place.deadline_ns);
                continue;
            }
            is_silent |= self.received_ns <= place.begun_ns;
            self.wire.reset(place.stream, ErrorCode::CANCEL);
            place.end(StreamEnd::TimedOut, now_ns, now_ns);
        }
        self.deadline_ns = next_ns;
        is_silent
    }

    /// Ends all streams with the connection.
    pub(crate) fn lose(&mut self, failure: Failure, now_ns: u64) {
        let mut events = StreamEvents::<false> {
            places: &mut self.places,
            keeps_all: false,
            at_ns: now_ns,
            read_ns: now_ns,
            lost: Some(&failure),
            ended: 0,
        };
        self.wire.abandon(&mut events);
        self.lost = Some(failure);
        self.opener.take().inspect(Waker::wake_by_ref);
    }
}

impl Places {
    fn take(&mut self, begun_ns: u64, deadline_ns: u64) -> usize {
        let key = self.free.pop().unwrap_or_else(|| {
            self.list.push(StreamSlot::default());
            self.list.len() - 1
        });
        let place = &mut self.list[key];
        place.begun_ns = begun_ns;
        place.deadline_ns = deadline_ns;
        place.first_byte_ns = None;
        place.received = None;
        key
    }
}

impl StreamSlot {
    fn end(&mut self, ending: StreamEnd, at_ns: u64, read_ns: u64) {
        self.stream = 0;
        self.ended_stream = Some(EndedStream {
            ending,
            first_byte_ns: self.first_byte_ns,
            at_ns,
            read_ns,
            received: self.received.take(),
        });
        self.user.iter().for_each(Waker::wake_by_ref);
    }
}

impl Stream {
    /// Returns its number on its connection, from 1.
    pub(crate) fn number(&self) -> u32 {
        self.connection.state.borrow().places.list[self.key].stream
    }

    /// Returns the end of the stream once it has ended.
    pub(crate) fn poll(&self, cx: &mut Context<'_>) -> Poll<EndedStream> {
        let place = &mut self.connection.state.borrow_mut().places.list[self.key];
        if let Some(ended_stream) = place.ended_stream.take() {
            return Poll::Ready(ended_stream);
        }
        match &mut place.user {
            Some(user) => user.clone_from(cx.waker()),
            None => place.user = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let state = &mut *self.connection.state.borrow_mut();
        let place = &mut state.places.list[self.key];
        place.ended_stream = None;
        let number = std::mem::take(&mut place.stream);
        if number > 0 && state.wire.reset(number, ErrorCode::CANCEL) {
            state.wake_driver();
        }
        state.places.free.push(self.key);
    }
}

/// Receives the events of the wire's streams, and keeps responses if it `SHOWS` them.
pub(crate) struct StreamEvents<'a, const SHOWS: bool> {
    pub(crate) places: &'a mut Places,
    /// True if it keeps every response as a whole, false if it keeps the beginnings of those that
    /// report errors.
    pub(crate) keeps_all: bool,
    /// The time at which the bytes arrived, and at which they were read.
    pub(crate) at_ns: u64,
    pub(crate) read_ns: u64,
    /// The failure that ended the connection, if it is over.
    pub(crate) lost: Option<&'a Failure>,
    /// The number of streams that have ended.
    pub(crate) ended: u32,
}

impl<const SHOWS: bool> h2::Sink for StreamEvents<'_, SHOWS> {
    const NEEDS_FIELDS: bool = SHOWS;
    const NEEDS_BODY: bool = SHOWS;

    fn head(&mut self, key: usize, status: u16) {
        let place = &mut self.places.list[key];
        place.first_byte_ns.get_or_insert(self.at_ns);
        if SHOWS && (self.keeps_all || is_error(status)) {
            place.received = Some(Box::new(ReceivedResponse::new(status)));
        }
    }

    fn field(&mut self, key: usize, name: &[u8], value: &[u8]) {
        if let Some(received) = &mut self.places.list[key].received {
            received.field(name, value);
        }
    }

    fn body(&mut self, key: usize, part: &[u8]) {
        if let Some(received) = &mut self.places.list[key].received {
            let room = match self.keeps_all {
                true => usize::MAX,
                false => MOST_BYTES.saturating_sub(received.body.len()),
            };
            received
                .body
                .extend_from_slice(&part[..part.len().min(room)]);
        }
    }

    fn end(&mut self, key: usize, ended: Ended) {
        self.ended += 1;
        let ending = match self.lost {
            None => StreamEnd::Stream(ended),
            Some(failure) => StreamEnd::Connection(Box::new((ended, failure.clone()))),
        };
        self.places.list[key].end(ending, self.at_ns, self.read_ns);
    }
}
