//! Composed requests whose protocol their server chooses by ALPN, when a connection is dialled.
//!
//! A user has its own connections, as a browser has: over HTTP/2 all its concurrent requests to a
//! server share one connection. The version of a server is known from the first dial on. Until then
//! the requests of a user wait for one dial (its *gate*), so that several at once do not each dial
//! a connection although one of HTTP/2 would carry them all; to a server of HTTP/1.1 each dials by
//! itself afterwards.
//!
//! A request is written in both forms, because a server's choice may differ from dial to dial.

use super::http2::establish_in;
use super::in_flight::InFlightBatch;
use super::{carry_out, http1, http2};
use crate::account::Account;
use crate::batch::Batch;
use crate::failure::{Broken, Failure};
use crate::http2::{Gate, Http2Connection};
use crate::observer::Observer;
use crate::pool::OpenConnection;
use loadline_reactor::Host;
use loadline_record::Outcome;
use loadline_wire::h2;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

/// One request in the forms of both versions of HTTP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forms<'a> {
    pub(crate) http1: Batch<'a>,
    /// The same batch without its bytes.
    pub(crate) http2: Batch<'a>,
    /// The request that is sent over HTTP/2.
    pub(crate) request: &'a h2::Request,
}

/// A connection on which a request can be sent.
enum Way<H: Host> {
    Http1(Box<OpenConnection<H>>),
    Http2(Rc<Http2Connection>),
}

/// Waits until the dial of a gate has ended, up to the deadline; fails if the dial failed.
async fn pass<A: Account>(gate: &Gate, in_flight: &mut InFlightBatch<'_, A>) -> Result<(), Broken> {
    let host = &in_flight.network().host;
    let from_ns = host.now_ns();
    let timer = host.timer();
    timer.set(Some(in_flight.progress.deadline_ns));
    let passed = poll_fn(|cx| match gate.poll_pass(cx) {
        Poll::Ready(passed) => Poll::Ready(passed),
        Poll::Pending => timer.poll(cx).map(|()| Err(Failure::timeout())),
    })
    .await;
    in_flight.dial_ns += host.now_ns() - from_ns;
    passed.map_err(Broken::Failed)
}

/// Sends a request and waits for its response; returns the outcome of the exchange.
pub(crate) async fn send<'a, A: Account, O: Observer>(
    account: &'a A,
    forms: Forms<'a>,
    timeout_ns: u64,
    observer: &mut O,
) -> Outcome {
    carry_out(
        account,
        forms.http1,
        timeout_ns,
        observer,
        async |in_flight, observer| attempt(in_flight, &forms, observer).await,
    )
    .await
}

/// Sends the request on an idle connection or a new one.
async fn attempt<'a, A: Account, O: Observer>(
    in_flight: &mut InFlightBatch<'a, A>,
    forms: &Forms<'a>,
    observer: &mut O,
) -> Result<(), Broken> {
    loop {
        match find(in_flight, observer).await? {
            Way::Http1(open) => {
                in_flight.batch = forms.http1;
                return http1::carry(open, in_flight, observer).await;
            }
            Way::Http2(connection) => {
                in_flight.batch = forms.http2;
                let carried = http2::carry(&connection, in_flight, forms.request, observer);
                if let Some(ended) = carried.await {
                    return ended;
                }
            }
        }
    }
}

/// Finds a connection: an idle one, that of a dial in progress, or a new one.
async fn find<A: Account, O: Observer>(
    in_flight: &mut InFlightBatch<'_, A>,
    observer: &mut O,
) -> Result<Way<A::Host>, Broken> {
    let (connections, endpoint) = (in_flight.connections(), in_flight.batch.endpoint);
    loop {
        if let Some(connection) = connections.negotiation().pool.with_room(endpoint) {
            return Ok(Way::Http2(connection));
        }
        if let Some(open) = http1::standing(connections, endpoint) {
            return Ok(Way::Http1(open));
        }
        match connections.negotiation().gate(endpoint) {
            Some(gate) => pass(&gate, in_flight).await?,
            None => return dial_gated(in_flight, observer).await,
        }
    }
}

/// Dials; other requests wait for the dial unless the server is known to use HTTP/1.1.
async fn dial_gated<A: Account, O: Observer>(
    in_flight: &mut InFlightBatch<'_, A>,
    observer: &mut O,
) -> Result<Way<A::Host>, Broken> {
    let (connections, endpoint) = (in_flight.connections(), in_flight.batch.endpoint);
    let is_http1 = connections
        .network
        .http1_endpoints
        .borrow()
        .contains(&endpoint);
    if is_http1 {
        return dial(in_flight, observer).await;
    }
    let dialling = connections.negotiation().dialling(endpoint);
    let dialled = dial(in_flight, observer).await;
    if let Err(Broken::Failed(failure)) = &dialled {
        dialling.gate.fail(failure);
    }
    dialled
}

/// Dials, and begins the version of HTTP that the server chooses.
async fn dial<A: Account, O: Observer>(
    in_flight: &mut InFlightBatch<'_, A>,
    observer: &mut O,
) -> Result<Way<A::Host>, Broken> {
    let (connections, endpoint) = (in_flight.connections(), in_flight.batch.endpoint);
    let network = &connections.network;
    let connection = http1::dial(in_flight, observer, true).await?;
    let known = &network.http1_endpoints;
    if !connection.chose_http2() {
        known.borrow_mut().insert(endpoint);
        return Ok(Way::Http1(OpenConnection::new(connection)));
    }
    known.borrow_mut().remove(&endpoint);
    let from_ns = network.host.now_ns();
    let pool = &connections.negotiation().pool;
    let deadline_ns = in_flight.progress.deadline_ns;
    let established = establish_in(pool, network, endpoint, connection, deadline_ns).await;
    in_flight.dial_ns += network.host.now_ns() - from_ns;
    established.map(Way::Http2).map_err(Broken::Failed)
}

#[cfg(test)]
mod tests;
