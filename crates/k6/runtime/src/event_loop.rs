//! The event loop of a virtual user: it runs what a call of the script has led to.

use crate::vu::Vu;
use rquickjs::{Ctx, Promise, Result};
use std::future::poll_fn;
use std::task::Poll;

/// Runs everything that a call has led to, until nothing is left: continuations of promises,
/// timers, requests. Returns early if the iteration has to end.
///
/// # Errors
/// An exception of the script after a wait.
pub(crate) fn drain(ctx: &Ctx<'_>, vu: &Vu) -> Result<()> {
    loop {
        run_jobs(ctx, vu);
        // A rejection that no code handles ends the iteration where it is.
        if vu.control.is_cancelled() || vu.has_rejection() {
            return Ok(());
        }
        if let Some(completion) = vu.operations.next() {
            completion(ctx)?;
            // Many completions in a row would leave others no turn.
            vu.take_turns();
            continue;
        }
        if vu.operations.is_idle() {
            return Ok(());
        }
        let waited = vu.wait(poll_fn(|_| match vu.operations.have_ended() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }));
        if waited.is_err() {
            return Ok(());
        }
    }
}

/// Runs the continuations of promises.
fn run_jobs(ctx: &Ctx<'_>, vu: &Vu) {
    while !vu.control.is_cancelled() && ctx.execute_pending_job() {}
}

/// Runs the event loop, and returns the value of a promise; `None` if it will never be settled.
///
/// # Errors
/// The reason of its rejection, or an exception that the script threw meanwhile.
pub(crate) fn settle<'js>(
    ctx: &Ctx<'js>,
    vu: &Vu,
    promise: &Promise<'js>,
) -> Result<Option<rquickjs::Value<'js>>> {
    drain(ctx, vu)?;
    promise.result().transpose()
}
