//! The protocol HTTP/1.1: a batch of requests on a connection of its user.
//!
//! A request is sent once. A request that a server leaves without a response has failed, except if
//! the server has not read it: then it is sent again, with its clock still running.
//!
//! # Sending again
//!
//! HTTP/1.1 lets a server close an idle connection at any time, so a close may cross a request on
//! its way (RFC 9112, section 9.5). The server has read nothing of such a request, and only the
//! network decides whether the client notices the close before or after its send. Both cases are
//! repaired:
//!
//! - A connection that is known to be closed before anything was sent is replaced. *Reconnects*
//!   counts one, if the connection had served; nothing is sent twice.
//! - A connection that *had served a response before* and ends *without a byte of this response* is
//!   replaced if the server had ended it before any byte of the remaining requests reached the
//!   server's host, which the kernel knows
//!   ([`Socket::came_behind_end`](loadline_reactor::Socket::came_behind_end)). *Reconnects* counts
//!   one, *resent* each request that had been sent.
//!
//! Everything else has failed. A server that reads a request and then drops its connection has
//! acknowledged the request's bytes, or resets the connection without a preceding end; either
//! request may have been processed, and a load test exists to find this. If it is unknown whether
//! bytes were read, they count as read: over Unix sockets, these are all written bytes.
//!
//! The same rule applies to the requests of a pipeline that remain after the last response. One
//! more case is known: after a response that announces the close, the server processes no request
//! that it has received on the connection (RFC 9112, section 9.6), so the remaining requests are
//! sent again. After a response that merely ends with its connection they are not, unless they
//! arrived after that end.
//!
//! The exchange keeps its start, its deadline and its single place in *sent*; dialling is part of
//! its service time. The new connection has served nothing, so a second close without a response is
//! a failure. Without keep-alive nothing is ever sent again.
//!
//! The clients that other tools use have rules of their own, some of which send again what a server
//! may have read: behaviours that imitate them set a batch's [`Resend`](crate::Resend).
//!
//! # Early responses
//!
//! Requests of more than 16 KiB are sent while their responses are read. After a response with a
//! status of 400 or more, or on a connection that the server closes, nothing more is sent and the
//! connection is closed; after any other response the rest is sent before the connection serves
//! again.

mod reading;
mod sending;

use super::in_flight::{CloseLook, InFlightBatch};
use super::{CLOSE_WAIT_NS, end, is_over, let_others_run, refuse};
use crate::account::{Account, SocketOf};
use crate::batch::{Batch, Resend};
use crate::connections::Connections;
use crate::failure::{Broken, Failure, broken_connection};
use crate::network::Network;
use crate::observer::{Carrier, Observer};
use crate::pool::OpenConnection;
use loadline_reactor::{Host, Received};
use loadline_record::{ErrorKind, Outcome};
use loadline_transport::{Connection, DialOptions};
use reading::Reading;
use sending::Sending;
use std::future::poll_fn;
use std::task::{Context, Poll, Waker};

/// The number of bytes that a socket's buffer accepts at once: the default of Linux
/// (`net.ipv4.tcp_wmem`).
const SURELY_SENT_AT_ONCE: usize = 16 * 1024;

/// Sends a batch and reads its responses, over idle connections or new ones; returns the outcome of
/// the last exchange.
// One future for the path of nearly every request; rare cases are boxed, or their state would make
// every user's task half as large again.
pub(super) async fn send<A: Account, O: Observer>(
    account: &A,
    batch: Batch<'_>,
    timeout_ns: u64,
    observer: &mut O,
) -> Outcome {
    let place = match account.connections().network.shared {
        None => None,
        Some(_) => Box::pin(account.place()).await,
    };
    if account.is_drained() {
        drop(place);
        return refuse(account).await;
    }
    let mut in_flight = InFlightBatch::begin(account, batch, timeout_ns);
    loop {
        let opened = match standing(account.connections(), batch.endpoint) {
            Some(open) => Ok(open),
            None => Box::pin(open_new(&mut in_flight, observer)).await,
        };
        let mut open = match opened {
            Ok(open) => open,
            Err(broken) => match is_over(&mut in_flight, observer, broken) {
                true => break,
                false => continue,
            },
        };
        if O::NEEDS_CARRIER {
            report_carrier(&open, observer);
        }
        let mut rest = begin_attempt(&open, &mut in_flight);
        let carried = if rest.len() + batch.tail.len() > SURELY_SENT_AT_ONCE {
            Box::pin(carry_long(&mut open, &mut in_flight, observer, rest)).await
        } else {
            match poll_fn(|cx| open.connection.poll_send_all(cx, &mut rest)).await {
                Ok(()) => {
                    sent(&mut open, &mut in_flight, O::NEEDS_SENT);
                    let mut reading = Reading {
                        network: in_flight.network(),
                        open: &mut open,
                        in_flight: &mut in_flight,
                        observer,
                    };
                    poll_fn(|cx| reading.poll(cx)).await
                }
                Err(error) => Err(broken_connection(&open, false, ErrorKind::Write, &error)),
            }
        };
        match carried {
            Ok(reusable) => {
                finish(&in_flight, open, reusable);
                break;
            }
            Err(broken) => {
                let broken = judge(&open, &mut in_flight, broken);
                if is_over(&mut in_flight, observer, broken) {
                    break;
                }
            }
        }
    }
    let last = in_flight.last;
    let wait_ns = end(&in_flight, place);
    drop(in_flight);
    if wait_ns > 0 {
        Box::pin(account.wait(wait_ns)).await;
    }
    last
}

/// Sends the remaining requests of a batch on a connection, and reads their responses: one attempt
/// of [`send`], for a batch whose protocol was negotiated by its dial.
pub(super) async fn carry<A: Account, O: Observer>(
    mut open: Box<OpenConnection<A::Host>>,
    in_flight: &mut InFlightBatch<'_, A>,
    observer: &mut O,
) -> Result<(), Broken> {
    if O::NEEDS_CARRIER {
        report_carrier(&open, observer);
    }
    match carry_rest(&mut open, in_flight, observer).await {
        Ok(reusable) => {
            finish(in_flight, open, reusable);
            Ok(())
        }
        Err(broken) => Err(judge(&open, in_flight, broken)),
    }
}

/// Sends the remaining requests of a batch and reads their responses. Returns true if the
/// connection can serve another batch.
async fn carry_rest<A: Account, O: Observer>(
    open: &mut OpenConnection<A::Host>,
    in_flight: &mut InFlightBatch<'_, A>,
    observer: &mut O,
) -> Result<bool, Broken> {
    let mut rest = begin_attempt(open, in_flight);
    if rest.len() + in_flight.batch.tail.len() > SURELY_SENT_AT_ONCE {
        return Box::pin(carry_long(open, in_flight, observer, rest)).await;
    }
    poll_fn(|cx| open.connection.poll_send_all(cx, &mut rest))
        .await
        .map_err(|error| broken_connection(open, false, ErrorKind::Write, &error))?;
    sent(open, in_flight, O::NEEDS_SENT);
    let mut reading = Reading {
        network: in_flight.network(),
        open,
        in_flight,
        observer,
    };
    poll_fn(|cx| reading.poll(cx)).await
}

/// Decides whether the remaining requests of a batch are sent again after their connection broke.
#[cold]
pub(super) fn judge<A: Account>(
    open: &OpenConnection<A::Host>,
    in_flight: &mut InFlightBatch<'_, A>,
    broken: Broken,
) -> Broken {
    let connection = &open.connection;
    let from = in_flight.attempt_from();
    let went_out = connection.taken() != from;
    let failure = match broken {
        Broken::ClosedByServer => {
            in_flight.go_again(went_out);
            return broken;
        }
        Broken::Ended(failure) => failure,
        Broken::Unprocessed | Broken::Failed(_) => return broken,
    };
    let goes_again = match in_flight.batch.resend {
        Resend::Unread => connection.came_behind_end(from),
        Resend::Never | Resend::Unwritten => !went_out,
        Resend::Unanswered => true,
    };
    if !goes_again {
        return Broken::Failed(failure);
    }
    in_flight.go_again(went_out);
    Broken::ClosedByServer
}

/// Reports the connection to an observer.
pub(super) fn report_carrier<H: Host, O: Observer>(open: &OpenConnection<H>, observer: &mut O) {
    observer.carried(&Carrier {
        remote: open.connection.peer(),
        is_http2: false,
        is_reused: open.served > 0,
        tls: &|| open.connection.agreed(),
    });
}

/// Begins to send the remaining requests of a batch on a connection, and returns their bytes.
#[inline(always)]
fn begin_attempt<'a, A: Account>(
    open: &OpenConnection<A::Host>,
    in_flight: &mut InFlightBatch<'a, A>,
) -> &'a [u8] {
    open.connection.set_deadline(in_flight.progress.deadline_ns);
    in_flight.attempt(open.connection.taken());
    in_flight.served_before = Some(open.served);
    in_flight.look = match in_flight.network().looks_closely {
        true => look_closely(open, in_flight),
        false => CloseLook::default(),
    };
    &in_flight.batch.bytes[in_flight.offset()..]
}

/// Decides what is to be seen of the attempt.
#[cold]
fn look_closely<A: Account>(
    open: &OpenConnection<A::Host>,
    in_flight: &InFlightBatch<'_, A>,
) -> CloseLook {
    let network = in_flight.network();
    let splits = network.sampling.picks() && in_flight.may_be_split();
    if splits {
        open.connection.stamp_next_send();
    }
    CloseLook {
        splits,
        keeps_bodies: network.error_bodies.is_some(),
    }
}

/// Counts all bytes as sent, and prepares the parser for the responses.
#[inline(always)]
fn sent<A: Account>(
    open: &mut OpenConnection<A::Host>,
    in_flight: &mut InFlightBatch<'_, A>,
    needs_sent: bool,
) {
    let network = in_flight.network();
    if needs_sent {
        in_flight.progress.sent_ns = network.host.now_ns();
    }
    in_flight.sendings += 1;
    let counted = in_flight.counted_bytes();
    network.recorder.borrow_mut().transmitted(counted);
    expect_answers(open, in_flight, true);
}

#[inline(always)]
fn expect_answers<A: Account>(
    open: &mut OpenConnection<A::Host>,
    in_flight: &InFlightBatch<'_, A>,
    is_short: bool,
) {
    if let Some(part) = in_flight.next_part() {
        open.parser.begin(part.expect);
    }
    let is_gathered = in_flight.batch.parts.len() > 1 || open.gathering.is_some();
    if in_flight.network().gathers_batches && is_gathered {
        gather(open, in_flight, is_short);
    }
}

/// Sends more than surely fits into the socket's buffer, and reads the responses meanwhile.
async fn carry_long<A: Account, O: Observer>(
    open: &mut OpenConnection<A::Host>,
    in_flight: &mut InFlightBatch<'_, A>,
    observer: &mut O,
    rest: &[u8],
) -> Result<bool, Broken> {
    let network = in_flight.network();
    network.suspend_coalescing();
    in_flight.sendings += 1;
    let counted = in_flight.counted_bytes();
    expect_answers(open, in_flight, false);
    let mut sending = Sending::new(rest, in_flight.batch.tail);
    let mut reading = Reading {
        network,
        open,
        in_flight,
        observer,
    };
    let reusable = sending.send_and_read(&mut reading).await?;
    let sent = counted.saturating_sub(sending.unsent());
    network.recorder.borrow_mut().transmitted(sent);
    Ok(reusable)
}

/// Ends a batch after all its responses, and returns its connection.
#[inline(always)]
pub(super) fn finish<A: Account>(
    in_flight: &InFlightBatch<'_, A>,
    mut open: Box<OpenConnection<A::Host>>,
    reusable: bool,
) {
    if let Some(gathering) = &mut open.gathering {
        gathering.end(in_flight.ended_ns - in_flight.begun.at_ns);
    }
    let connections = in_flight.connections();
    put_back(connections, in_flight.batch.endpoint, open, reusable);
    connections.backoff.succeeded();
}

/// Has the loop wake up when all responses of a batch have arrived, if their length can be
/// predicted.
fn gather<A: Account>(
    open: &mut OpenConnection<A::Host>,
    in_flight: &InFlightBatch<'_, A>,
    is_short: bool,
) {
    let gathering = open.gathering.get_or_insert_default();
    let may_gather = is_short && in_flight.is_whole_pipeline();
    if let Some(bytes) = gathering.begin(may_gather) {
        open.connection.set_receive_low_water(bytes);
    }
    if let Some(until_ns) = gathering.until_ns(in_flight.begun.at_ns) {
        open.connection
            .set_deadline(until_ns.min(in_flight.progress.deadline_ns));
    }
}

/// Returns an idle connection of the user, unless the server has closed it or has sent unsolicited
/// bytes: these are no response to the next request (RFC 9112, section 9.2).
#[inline(always)]
pub(super) fn standing<H: Host>(
    connections: &Connections<H>,
    endpoint: usize,
) -> Option<Box<OpenConnection<H>>> {
    loop {
        let mut open = connections.pool().take(endpoint)?;
        let connection = &mut open.connection;
        let spoke = connection.may_receive() && speaks_unasked(connection, &connections.network);
        if !spoke && !open.connection.peer_closed() {
            return Some(open);
        }
        // The loss of a connection that was dialled ahead and never served is not repaired.
        if open.served > 0 {
            connections.pool().lose(endpoint);
        }
    }
}

/// True if an idle connection has more to read than line ends, which some servers send after a
/// response.
#[cold]
fn speaks_unasked<H: Host>(connection: &mut Connection<H::Socket>, network: &Network<H>) -> bool {
    connection.set_deadline(u64::MAX);
    let mut scratch = network.dialler.scratch.borrow_mut();
    let cx = &mut Context::from_waker(Waker::noop());
    let mut received = connection.poll_recv(cx, &mut scratch);
    if received.is_pending() && connection.may_receive() {
        // The connection had reached its limit of consecutive receives, and can receive again.
        received = connection.poll_recv(cx, &mut scratch);
    }
    match received {
        Poll::Pending => false,
        Poll::Ready(Err(_)) => true,
        Poll::Ready(Ok(Received { bytes, .. })) => {
            let behind = scratch.received(bytes);
            if are_extra_bytes(behind) {
                network.extra_bytes();
            }
            bytes == 0 || !are_line_ends(behind)
        }
    }
}

/// True if bytes after a response are extra bytes of its body, beyond its declared length: they are
/// neither line ends nor an unsolicited response, as some servers send before they close.
fn are_extra_bytes(behind: &[u8]) -> bool {
    !are_line_ends(behind) && !behind.starts_with(b"HTTP/")
}

fn are_line_ends(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b'\r' | b'\n'))
}

/// Dials a connection for a batch.
pub(super) async fn open_new<A: Account, O: Observer>(
    in_flight: &mut InFlightBatch<'_, A>,
    observer: &mut O,
) -> Result<Box<OpenConnection<A::Host>>, Broken> {
    let connection = dial(in_flight, observer, false).await?;
    Ok(OpenConnection::new(connection))
}

/// Dials a connection. The server may choose HTTP/2 if `offers_http2`.
pub(super) async fn dial<A: Account, O: Observer>(
    in_flight: &mut InFlightBatch<'_, A>,
    observer: &mut O,
    offers_http2: bool,
) -> Result<Connection<SocketOf<A>>, Broken> {
    let (connections, network) = (in_flight.connections(), in_flight.network());
    let endpoint = in_flight.batch.endpoint;
    let start_ns = network.host.now_ns();
    network.suspend_coalescing();
    connections.make_room();
    let wish = DialOptions {
        local: connections.local.get(),
        offers_http2,
        trusts_anyone: connections.trusts_anyone.get(),
    };
    let deadline_ns = in_flight.progress.deadline_ns;
    let dialled = network.dialler.dial_as(wish, endpoint, deadline_ns).await;
    in_flight.dial_ns += network.host.now_ns() - start_ns;
    if dialled.is_err() {
        connections.backoff.failed();
        // A dial may fail without waiting. Yield to all others, or a user that keeps dialling would
        // occupy the whole worker.
        let_others_run().await;
    }
    let (mut connection, dial) = dialled.map_err(|error| Broken::Failed(Failure::dial(&error)))?;
    if let Some(traffic) = connections.encrypted.get() {
        connection.count_encrypted_in(traffic);
    }
    in_flight.resolve_ns += dial.resolve_ns.unwrap_or(0);
    in_flight.tls_ns += dial.tls_ns.unwrap_or(0);
    connections.backoff.succeeded();
    let reconnected = connections.replaces(endpoint);
    if in_flight.is_counted() {
        network.dialled(&dial);
        if reconnected {
            network.recorder.borrow_mut().reconnected();
        }
    }
    if O::NEEDS_TLS
        && let Some(agreed) = connection.agreed()
    {
        observer.secured(&agreed);
    }
    Ok(connection)
}

/// Keeps a connection for the next exchange, or lets the server close it while the user continues.
#[inline(always)]
fn put_back<H: Host>(
    connections: &Connections<H>,
    endpoint: usize,
    open: Box<OpenConnection<H>>,
    reusable: bool,
) {
    if reusable && connections.network.keepalive {
        connections.pool().put(endpoint, open);
    } else {
        let_close(connections, endpoint, open);
    }
}

/// Releases a connection that serves nothing more. The server may close it first, as long as there
/// are descriptors for it.
#[inline(never)]
fn let_close<H: Host>(connections: &Connections<H>, endpoint: usize, open: Box<OpenConnection<H>>) {
    if connections.network.keepalive {
        connections.pool().lose(endpoint);
    }
    if open.connection.peer_closed() {
        return;
    }
    if let Some(lingers) = connections.network.lingering.begin() {
        let host = &connections.network.host;
        open.connection.set_deadline(host.now_ns() + CLOSE_WAIT_NS);
        let left = async move {
            open.connection.closed_by_peer().await;
            drop(open);
            drop(lingers);
        };
        host.spawn(left).detach();
    }
}
