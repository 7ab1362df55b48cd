//! The protocol HTTP/2: requests of several users on streams of one connection.
//!
//! The connections belong to the worker ([`Http2Pool`](crate::http2::Http2Pool)). Each has a task
//! of its own that sends and receives (`driver`): requests that the users of a connection begin in
//! one turn of the loop are sent together, and one receive wakes all users whose responses are
//! complete. A user takes its last connection, if that has room for a stream, so that as many users
//! as streams are spread evenly.
//!
//! # Retired connections
//!
//! A connection is *retired* when the server sends GOAWAY, when its stream numbers are used up, and
//! when a request times out during which nothing at all has been received. Its streams continue to
//! their end, and another connection takes over: that counts as a reconnect. If the server allows
//! fewer streams than the plan has, further connections are dialled.
//!
//! # Sending again
//!
//! A request is sent again only if the server reports it as unprocessed (RFC 9113, section 8.7):
//! its stream was reset with REFUSED_STREAM, or its number is above the last one of a GOAWAY, and
//! nothing of a response had been received. The exchange continues then, as with HTTP/1.1, and
//! counts as *resent*; after a few such refusals it fails. A connection that ends without GOAWAY
//! fails all requests on it. Other clients have other rules ([`Resend`](crate::Resend)).
//!
//! # Clocks
//!
//! One receive contains many responses, and the kernel stamps its last packet. All responses of a
//! receive end at that instant: an early one may read late, by at most the time between two
//! wake-ups of the loop. On the user's clock all would read as late or later.

mod dialling;
mod driver;

pub(crate) use self::dialling::establish_ahead;
pub(super) use self::dialling::establish_in;

use super::in_flight::{self, InFlightBatch};
use super::{is_over, let_others_run, refuse};
use crate::account::Account;
use crate::batch::Batch;
use crate::error_bodies::Body;
use crate::failure::{Broken, Failure};
use crate::http2::{EndedStream, Http2Connection, Stream, StreamEnd};
use crate::observer::{Answer, Carrier, Observer};
use loadline_reactor::Host;
use loadline_record::{ErrorKind, Outcome};
use loadline_wire::h2::{self, Ended};
use std::future::poll_fn;
use std::rc::Rc;

/// The maximum number of times that a request is sent, if the server refuses each time to process
/// it.
const MOST_SENDINGS: u64 = 4;

/// Sends the only request of a batch and waits for its response; returns the outcome of the
/// exchange.
pub(super) async fn send<A: Account, O: Observer>(
    account: &A,
    batch: Batch<'_>,
    request: &h2::Request,
    timeout_ns: u64,
    observer: &mut O,
) -> Outcome {
    let place = match account.connections().network.shared {
        None => None,
        // Boxed, like dialling.
        Some(_) => Box::pin(account.place()).await,
    };
    if account.is_drained() {
        drop(place);
        return refuse(account).await;
    }
    let mut in_flight = InFlightBatch::begin(account, batch, timeout_ns);
    while let Err(broken) = attempt(&mut in_flight, request, observer).await {
        if is_over(&mut in_flight, observer, broken) {
            break;
        }
    }
    let last = in_flight.last;
    let wait_ns = super::end(&in_flight, place);
    drop(in_flight);
    if wait_ns > 0 {
        Box::pin(account.wait(wait_ns)).await;
    }
    last
}

/// Sends the request on a stream.
async fn attempt<A: Account, O: Observer>(
    in_flight: &mut InFlightBatch<'_, A>,
    request: &h2::Request,
    observer: &mut O,
) -> Result<(), Broken> {
    let stream = loop {
        let connections = in_flight.connections();
        let connection = match connections.http2_connection(in_flight.batch.endpoint) {
            Some(connection) => connection,
            // Boxed: dialling is rare.
            None => Box::pin(dial(in_flight)).await?,
        };
        if let Some(stream) = begin(&connection, in_flight, request, observer) {
            connections.keep_http2_connection(connection);
            break stream;
        }
    };
    in_flight.sendings += 1;
    let ended_stream = poll_fn(|cx| stream.poll(cx)).await;
    drop(stream);
    end(in_flight, observer, ended_stream)
}

/// Sends the request of a batch on a stream of this connection; returns `None` if there is no room
/// for one.
pub(super) async fn carry<A: Account, O: Observer>(
    connection: &Rc<Http2Connection>,
    in_flight: &mut InFlightBatch<'_, A>,
    request: &h2::Request,
    observer: &mut O,
) -> Option<Result<(), Broken>> {
    let stream = begin(connection, in_flight, request, observer)?;
    in_flight.sendings += 1;
    let ended_stream = poll_fn(|cx| stream.poll(cx)).await;
    drop(stream);
    if !in_flight.network().keepalive {
        connection.retire();
    }
    if let Some(received) = &ended_stream.received {
        received.show(observer);
    }
    Some(end(in_flight, observer, ended_stream))
}

/// Begins the stream of a request; returns `None` if there is no room for one.
#[inline(always)]
fn begin<A: Account, O: Observer>(
    connection: &Rc<Http2Connection>,
    in_flight: &mut InFlightBatch<'_, A>,
    request: &h2::Request,
    observer: &mut O,
) -> Option<Stream> {
    let stream = connection.begin(
        request,
        in_flight.begun.at_ns,
        in_flight.progress.deadline_ns,
    )?;
    if in_flight.goes_again {
        in_flight.count_resent();
    }
    if O::NEEDS_CARRIER {
        report_carrier(connection, stream.number(), observer);
    }
    Some(stream)
}

/// Reports the connection to an observer; `stream` is the number of the stream on it.
fn report_carrier<O: Observer>(connection: &Http2Connection, stream: u32, observer: &mut O) {
    observer.carried(&Carrier {
        remote: connection.peer,
        is_http2: true,
        is_reused: stream > 1,
        tls: &|| connection.agreed.clone(),
    });
}

/// Ends the exchange with the end of its stream.
fn end<A: Account, O: Observer>(
    in_flight: &mut InFlightBatch<'_, A>,
    observer: &mut O,
    ended_stream: EndedStream,
) -> Result<(), Broken> {
    in_flight.progress.first_byte_ns = ended_stream
        .first_byte_ns
        .map(|ns| ns.max(in_flight.begun.at_ns));
    let ended = match ended_stream.ending {
        StreamEnd::TimedOut => return Err(Broken::Failed(Failure::timeout())),
        StreamEnd::Stream(ended) => ended,
        StreamEnd::Connection(lost) => {
            let (ended, failure) = *lost;
            in_flight.progress.bytes_in += ended.head_len + ended.body_len;
            return Err(Broken::Failed(failure));
        }
    };
    in_flight.progress.bytes_in += ended.head_len + ended.body_len;
    if ended.outcome != h2::Outcome::Whole {
        return Err(broken_stream(&ended, in_flight));
    }
    let outcome = outcome(in_flight, observer, ended.status);
    if matches!(outcome, Outcome::Answered { .. }) {
        observer.answered(&Answer {
            head_bytes: ended.head_len,
            body_bytes: ended.body_len,
            keeps_connection: true,
        });
    }
    let end_ns = ended_stream.at_ns.max(in_flight.begun.at_ns);
    let bodies = &in_flight.network().error_bodies;
    if let (Some(received), Some(_)) = (&ended_stream.received, bodies) {
        in_flight.keep_error_body(ended.status, end_ns, ended.body_len, |_| {
            let mut body = Body::default();
            received.show(&mut body);
            body
        });
    }
    let ending = in_flight::ExchangeEnd {
        end_ns,
        wakeup_ns: ended_stream.read_ns.saturating_sub(end_ns),
        outcome,
        other_bytes_out: 0,
    };
    in_flight.end(observer, ending);
    Ok(())
}

/// Returns the outcome of an exchange whose response is complete.
fn outcome<A: Account, O: Observer>(
    in_flight: &InFlightBatch<'_, A>,
    observer: &mut O,
    status: u16,
) -> Outcome {
    if O::MAY_REFUSE
        && let Some(refusal) = observer.refusal(true)
    {
        return in_flight.refuse(observer, &refusal);
    }
    Outcome::Answered { status }
}

/// Classifies a stream that ended without a complete response while its connection continues.
fn broken_stream<A: Account>(ended: &Ended, in_flight: &InFlightBatch<'_, A>) -> Broken {
    if in_flight.sendings < MOST_SENDINGS && in_flight.batch.resend.goes_again(ended) {
        return Broken::Unprocessed;
    }
    Broken::Failed(match &ended.outcome {
        h2::Outcome::Reset(code) => Failure::given_up(
            ErrorKind::StreamReset,
            format!("the server reset the stream with {code}"),
            *code,
        ),
        h2::Outcome::GoneAway(code) => Failure::given_up(
            ErrorKind::GoAway,
            format!("the server gave up the connection with GOAWAY and {code}"),
            *code,
        ),
        h2::Outcome::Malformed(error) => Failure::new(ErrorKind::Protocol, error),
        h2::Outcome::Whole | h2::Outcome::ConnectionLost => {
            Failure::new(ErrorKind::Read, "the connection ended")
        }
    })
}

/// Waits for a connection that is dialled for this request, or for another one and has room for it.
async fn dial<A: Account>(
    in_flight: &mut InFlightBatch<'_, A>,
) -> Result<Rc<Http2Connection>, Broken> {
    let connections = in_flight.connections();
    let network = &connections.network;
    let start_ns = network.host.now_ns();
    network.suspend_coalescing();
    let (dial, is_own) = dialling::join_or_dial(
        network,
        in_flight.batch.endpoint,
        in_flight.progress.deadline_ns,
        in_flight.is_counted(),
    );
    let dialled = dial.wait().await;
    in_flight.dial_ns += network.host.now_ns() - start_ns;
    match dialled {
        Ok((connection, times)) => {
            if is_own {
                in_flight.resolve_ns += times.resolve_ns.unwrap_or(0);
                in_flight.tls_ns += times.tls_ns.unwrap_or(0);
            }
            connections.backoff.succeeded();
            Ok(connection)
        }
        Err(failure) => {
            connections.backoff.failed();
            let_others_run().await;
            Err(Broken::Failed(failure))
        }
    }
}
