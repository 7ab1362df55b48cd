//! The driver of a connection of HTTP/2, which sends and receives.

use crate::exchange::{CLOSE_WAIT_NS, DISCARD_AT_ONCE, WORTH_DISCARDING};
use crate::failure::Failure;
use crate::http2::{Http2Connection, Http2Pool, KeptResponses, NEVER, State, StreamEvents};
use crate::network::Network;
use loadline_reactor::{Host, Received};
use loadline_record::ErrorKind;
use loadline_transport::Connection;
use loadline_wire::h2::ConnectionError;
use std::future::poll_fn;
use std::io;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

/// Serves the streams of a connection until it is over.
pub(super) struct Driver<H: Host> {
    pub(super) connection: Rc<Http2Connection>,
    /// The connection's socket.
    pub(super) carrier: Connection<H::Socket>,
    /// The network, weakly: its pool holds this driver's task.
    pub(super) network: Weak<Network<H>>,
    pub(super) pool: Weak<Http2Pool>,
    /// The current deadline of the socket's operations.
    pub(super) armed_ns: u64,
    /// True if TLS may hold bytes that the socket has not accepted.
    pub(super) is_flushing: bool,
}

/// The reason why a connection is over.
enum Over {
    /// It was retired, and its last stream has ended.
    Retired,
    /// It broke, or the server closed it.
    Lost(Failure),
}

impl<H: Host> Driver<H> {
    /// Sends and receives until the connection is over.
    pub(super) async fn run(mut self) {
        let over = poll_fn(|cx| match self.network.upgrade() {
            Some(network) => self.poll(&network, cx),
            None => Poll::Ready(Over::Retired),
        })
        .await;
        let Some(network) = self.network.upgrade() else {
            return;
        };
        let failure = match over {
            Over::Lost(failure) => failure,
            Over::Retired => Failure::new(ErrorKind::GoAway, "the connection was retired"),
        };
        let now_ns = network.host.now_ns();
        let was_open = {
            let mut state = self.connection.state.borrow_mut();
            let was_open = state.wire.is_ready() && !state.is_retired;
            state.lose(failure, now_ns);
            was_open
        };
        if let Some(pool) = self.pool.upgrade() {
            pool.remove(&self.connection);
            if was_open {
                pool.lose(self.connection.endpoint);
            }
        }
        if !self.carrier.peer_closed() {
            self.carrier.set_deadline(now_ns + CLOSE_WAIT_NS);
            drop(network);
            self.carrier.closed_by_peer().await;
        }
    }

    fn poll(&mut self, network: &Network<H>, cx: &mut Context<'_>) -> Poll<Over> {
        let connection = Rc::clone(&self.connection);
        let state = &mut *connection.state.borrow_mut();
        if !state
            .driver
            .as_ref()
            .is_some_and(|old| old.will_wake(cx.waker()))
        {
            state.driver = Some(cx.waker().clone());
        }
        loop {
            if self.armed_ns != state.deadline_ns {
                self.armed_ns = state.deadline_ns;
                self.carrier.set_deadline(self.armed_ns);
            }
            let step = match self.poll_send(state, network, cx) {
                Ok(()) => self.poll_receive(state, network, cx),
                Err(error) => Poll::Ready(Err(Failure::io(ErrorKind::Write, &error))),
            };
            match step {
                Poll::Pending if state.is_retired && state.wire.open_streams() == 0 => {
                    return Poll::Ready(Over::Retired);
                }
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(failure)) if failure.kind == ErrorKind::Timeout => {
                    let now_ns = network.host.now_ns();
                    if !state.wire.is_ready() {
                        return Poll::Ready(Over::Lost(Failure::new(ErrorKind::Protocol, SILENT)));
                    }
                    if state.expire(now_ns) {
                        self.retire(state);
                    }
                }
                Poll::Ready(Err(failure)) => return Poll::Ready(Over::Lost(failure)),
            }
        }
    }

    /// Sends as much of the output as the socket accepts.
    fn poll_send(
        &mut self,
        state: &mut State,
        network: &Network<H>,
        cx: &mut Context<'_>,
    ) -> io::Result<()> {
        loop {
            let output = state.wire.output();
            if output.is_empty() && !self.is_flushing {
                return Ok(());
            }
            let mut rest = output;
            let polled = self.carrier.poll_send_all(cx, &mut rest);
            let sent = output.len() - rest.len();
            state.wire.sent(sent);
            if network.counts_bytes() {
                network.recorder.borrow_mut().transmitted(sent as u64);
            }
            self.is_flushing = polled.is_pending();
            match polled {
                Poll::Pending => return Ok(()),
                Poll::Ready(sent) => sent?,
            }
        }
    }

    /// Handles the bytes of one receive.
    fn poll_receive(
        &mut self,
        state: &mut State,
        network: &Network<H>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Failure>> {
        let discardable = match state.wire.discardable() {
            _ if self.connection.keeps != KeptResponses::Nothing => 0,
            bytes if bytes >= WORTH_DISCARDING && self.carrier.can_discard() => {
                bytes.min(DISCARD_AT_ONCE)
            }
            _ => 0,
        };
        let received = if discardable > 0 {
            self.carrier.poll_discard(cx, discardable as usize)
        } else {
            let mut scratch = network.dialler.scratch.borrow_mut();
            self.carrier.poll_recv(cx, &mut scratch)
        };
        let received = std::task::ready!(received);
        Poll::Ready(match received {
            Err(error) => Err(Failure::io(ErrorKind::Read, &error)),
            Ok(Received { bytes: 0, .. }) => Err(closed(state)),
            Ok(received) => self.take(state, network, received, discardable > 0, cx),
        })
    }

    fn take(
        &mut self,
        state: &mut State,
        network: &Network<H>,
        received: Received,
        is_discarded: bool,
        cx: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let read_ns = network.host.now_ns();
        state.received_ns = read_ns;
        if network.counts_bytes() {
            let mut recorder = network.recorder.borrow_mut();
            recorder.received(received.bytes as u64);
        }
        let at_ns = received.at_ns.map_or(read_ns, |at_ns| at_ns.min(read_ns));
        let (bytes, instants) = (received.bytes, (at_ns, read_ns));
        let fed = match self.connection.keeps {
            KeptResponses::Nothing => {
                let part = (bytes, is_discarded);
                feed::<H, false>(state, network, part, KeptResponses::Nothing, instants)
            }
            kept @ (KeptResponses::Errors | KeptResponses::All) => {
                feed::<H, true>(state, network, (bytes, false), kept, instants)
            }
        };
        if let Err(error) = fed {
            // Report the error to the server, if it still receives.
            let _ = self.carrier.poll_send_all(cx, &mut state.wire.output());
            return Err(protocol(&error));
        }
        if state.opener.is_some() && state.wire.is_ready() {
            state.deadline_ns = NEVER;
            state.opener.take().inspect(std::task::Waker::wake_by_ref);
        }
        if state.wire.takes_no_more() {
            self.retire(state);
        }
        Ok(())
    }

    /// Retires the connection, so that another one takes over.
    fn retire(&self, state: &mut State) {
        if !std::mem::replace(&mut state.is_retired, true)
            && let Some(pool) = self.pool.upgrade()
        {
            pool.lose(self.connection.endpoint);
        }
    }
}

/// Feeds the wire with the bytes of a receive, with the instants at which they arrived and were
/// read; keeps their responses if it `SHOWS` them.
fn feed<H: Host, const SHOWS: bool>(
    state: &mut State,
    network: &Network<H>,
    (bytes, is_discarded): (usize, bool),
    kept: KeptResponses,
    (at_ns, read_ns): (u64, u64),
) -> Result<(), ConnectionError> {
    let mut events = StreamEvents::<SHOWS> {
        places: &mut state.places,
        keeps_all: kept == KeptResponses::All,
        at_ns,
        read_ns,
        lost: None,
        ended: 0,
    };
    let fed = if is_discarded {
        state.wire.discarded(bytes as u64, &mut events);
        Ok(())
    } else {
        let scratch = network.dialler.scratch.borrow();
        state.wire.feed(scratch.received(bytes), &mut events)
    };
    if events.ended == 0 {
        network.suspend_coalescing();
    }
    fed
}

const SILENT: &str = "the server did not begin HTTP/2 within the timeout (it sent no SETTINGS)";

/// Returns the failure for a connection whose server has closed its side.
fn closed(state: &State) -> Failure {
    if !state.wire.is_ready() {
        let text = "the server closed the connection instead of beginning HTTP/2";
        return Failure::new(ErrorKind::Protocol, text);
    }
    match state.wire.going_away() {
        Some(gone) => Failure::given_up(
            ErrorKind::GoAway,
            format!(
                "the server gave up the connection with GOAWAY and {} before the response was \
                 complete",
                gone.code
            ),
            gone.code,
        ),
        None => Failure::new(
            ErrorKind::Read,
            "the server closed the connection before the response was complete",
        ),
    }
}

fn protocol(error: &ConnectionError) -> Failure {
    Failure::new(ErrorKind::Protocol, error)
}
