//! Exchanges: a batch of requests is sent on a connection, and its responses are received.
//!
//! This module contains the clock, the counts and the outcome of an exchange. The transport of its
//! messages is up to a *protocol*: `http1` on a connection of the user's, `http2` on a stream of a
//! connection that users share; `conversation` lets any other [`Protocol`] talk on a connection.
//! A request is sent once, unless it is known that the server has not
//! read it or the [`Resend`](crate::Resend) of its batch allows more: then it is sent in a further
//! attempt, with the exchange's clock still running. Every other failure is the exchange's outcome.

mod conversation;
mod http1;
mod http2;
mod in_flight;
mod negotiated;

pub(crate) use conversation::converse;
pub use conversation::{Conversation, Ending, Interruption, Opening, Protocol};
pub(crate) use http2::establish_ahead;
pub(crate) use negotiated::{Forms, send as send_negotiated};

use crate::account::Account;
use crate::batch::Batch;
use crate::failure::Broken;
use crate::observer::Observer;
use crate::shared_pool::Permit;
use either::Either;
use in_flight::InFlightBatch;
use loadline_record::Outcome;
use std::future::{Future, Pending, pending, poll_fn};
use std::task::Poll;

/// The time to wait for a server to close the connection that it promised to close. If we closed
/// first, each connection would occupy one of our ports for a minute.
const CLOSE_WAIT_NS: u64 = 5_000_000;
/// From this many bytes on, a payload that nobody reads is discarded in the kernel; fewer bytes are
/// received with the next ones.
const WORTH_DISCARDING: u64 = 16 * 1024;
/// The most bytes to discard at once.
const DISCARD_AT_ONCE: u64 = 1 << 30;

/// Sends a batch and waits for all its responses; returns the outcome of the last exchange.
// Not a separate future around that of the protocol: nearly all requests pass through here.
pub(crate) fn send<A: Account, O: Observer>(
    account: &A,
    batch: Batch<'_>,
    timeout_ns: u64,
    observer: &mut O,
) -> impl Future<Output = Outcome> {
    match batch.http2 {
        None => Either::Left(http1::send(account, batch, timeout_ns, observer)),
        Some(request) => Either::Right(http2::send(account, batch, request, timeout_ns, observer)),
    }
}

/// Carries out the exchanges of a batch in as many attempts as they need, from the wait for a place
/// among shared connections to the user's wait after them; returns the outcome of the last one.
// HTTP/1.1 and HTTP/2 with prior knowledge do the same in their own futures, which box what is
// rarely needed: nearly all requests pass through those. Through this one, whose attempts are
// futures within it, a request over HTTP/1.1 takes 4 360 instructions instead of 4 250 (callgrind).
async fn carry_out<'a, A: Account, O: Observer>(
    account: &'a A,
    batch: Batch<'a>,
    timeout_ns: u64,
    observer: &mut O,
    mut attempt: impl AsyncFnMut(&mut InFlightBatch<'a, A>, &mut O) -> Result<(), Broken>,
) -> Outcome {
    let place = account.place().await;
    if account.is_drained() {
        drop(place);
        return refuse(account).await;
    }
    let mut in_flight = InFlightBatch::begin(account, batch, timeout_ns);
    while let Err(broken) = attempt(&mut in_flight, observer).await {
        if is_over(&mut in_flight, observer, broken) {
            break;
        }
    }
    let last = in_flight.last;
    let wait_ns = end(&in_flight, place);
    drop(in_flight);
    if wait_ns > 0 {
        account.wait(wait_ns).await;
    }
    last
}

/// Waits forever: the window of this user is over, and it begins nothing more.
#[cold]
fn refuse<A: Account>(account: &A) -> Pending<Outcome> {
    account.refuse();
    pending()
}

/// Handles a broken attempt. Returns true if the batch has ended because its remaining requests
/// failed, false if they are sent again.
#[cold]
fn is_over<A: Account, O: Observer>(
    in_flight: &mut InFlightBatch<'_, A>,
    observer: &mut O,
    broken: Broken,
) -> bool {
    match broken {
        Broken::ClosedByServer => {
            let connections = in_flight.connections();
            connections.pool().lose(in_flight.batch.endpoint);
        }
        Broken::Unprocessed => in_flight.go_again(true),
        Broken::Ended(failure) | Broken::Failed(failure) => {
            in_flight.fail_rest(observer, failure);
            return true;
        }
    }
    false
}

/// Ends a batch. Returns the time for which its user waits before it continues, in nanoseconds.
#[inline(always)]
fn end<A: Account>(in_flight: &InFlightBatch<'_, A>, place: Option<Permit<'_, A::Host>>) -> u64 {
    drop(place);
    in_flight.account.batch_ended(in_flight.ended_ns);
    let backoff_ns = in_flight.connections().backoff.take_ns();
    match in_flight.network().backs_off {
        true => backoff_ns,
        false => 0,
    }
}

/// Yields to the end of the loop's queue, after the pending events of the kernel.
pub(crate) async fn let_others_run() {
    let mut went = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut went, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
