//! Exchanges: a batch of requests goes out on a connection, its answers come back.
//!
//! An exchange has its clock, its place in the counts and its outcome here. How its messages are
//! carried is up to a *protocol*: `http1` on a connection of the user's, `http2` on a stream of a
//! connection that users share. What a protocol may send again goes out in a further attempt, the
//! exchange's clock running on; every other failure is the exchange's outcome.

mod failure;
mod http1;
mod http2;
mod in_flight;

pub(crate) use http2::{Http2Connection, Http2Pool, establish_ahead, http2_config};

use crate::behaviour::{Batch, Observer};
use crate::user::User;
use failure::Broken;
use in_flight::InFlightBatch;
use loadline_reactor::Host;
use loadline_record::Outcome;
use std::future::poll_fn;
use std::task::Poll;

/// How long we wait for a server to close the connection it promised to close. If we closed first,
/// each connection would hold one of our ports for a minute.
const CLOSE_WAIT_NS: u64 = 5_000_000;
/// From here on bytes that nobody wants are dropped in the kernel; fewer are read with the next.
const WORTH_DISCARDING: u64 = 16 * 1024;
/// The most that is dropped at once.
const DISCARD_AT_ONCE: u64 = 1 << 30;

/// Sends a batch and waits for all its answers; returns how the last exchange ended.
pub(crate) async fn send<H: Host, O: Observer>(
    user: &User<H>,
    batch: Batch<'_>,
    timeout_ns: u64,
    observer: &mut O,
) -> Outcome {
    let place = match user.worker.shared {
        None => None,
        // Boxed, as dialling is.
        Some(_) => Box::pin(user.place()).await,
    };
    if user.is_drained() {
        drop(place);
        user.refuse();
        return std::future::pending().await;
    }
    let mut in_flight = InFlightBatch::begin(user, batch, timeout_ns);
    loop {
        let attempted = match batch.http2 {
            None => http1::attempt(&mut in_flight, observer).await,
            Some(request) => http2::attempt(&mut in_flight, request, observer).await,
        };
        match attempted {
            Ok(()) => {
                user.backoff.succeeded();
                break;
            }
            Err(Broken::ClosedByServer) => user.pool().lose(batch.endpoint),
            Err(Broken::Unprocessed) => {}
            Err(Broken::Failed(failure)) => {
                in_flight.fail_rest(observer, failure);
                break;
            }
        }
    }
    let last = in_flight.last;
    drop(place);
    user.set_free_since(in_flight.ended_ns);
    user.end_if_refused();
    let backoff_ns = user.backoff.take_ns();
    if backoff_ns > 0 && user.worker.backs_off {
        // Boxed, as dialling is.
        Box::pin(user.pause(backoff_ns)).await;
    }
    last
}

/// Goes to the end of the loop's queue, behind what the kernel has to tell.
async fn let_others_run() {
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
