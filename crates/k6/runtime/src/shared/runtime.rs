//! A runtime that the users of a worker share, and the state that they keep in it.

use super::jobs::{JobList, Jobs};
use crate::fiber::MARGIN_BYTES;
use crate::http::lazy::Responses;
use rquickjs::{Context, Ctx, Function, Object, Persistent, Runtime, qjs};
use std::cell::RefCell;

/// The runtime that the users of a worker share.
pub(crate) struct Shared {
    pub(super) hidden: RefCell<Option<Persistent<Object<'static>>>>,
    pub(super) hop: RefCell<Option<Persistent<Function<'static>>>>,
    /// Templates for responses.
    pub(crate) responses: Responses,
    pub(super) jobs: JobList,
    /// Jobs of users that have ended.
    pub(super) left: RefCell<Vec<Jobs>>,
    pub(super) context: Context,
    pub(super) runtime: Runtime,
}

impl Shared {
    /// Returns the only realm.
    #[expect(
        unsafe_code,
        reason = "the library's own way keeps others out for as long"
    )]
    pub(super) fn ctx(&self) -> Ctx<'static> {
        // SAFETY: all users of the runtime are on one thread, so no lock is needed; its values stay
        // with those users, whose worker has the runtime until the last of them has ended.
        unsafe { Ctx::from_raw(self.context.as_raw()) }
    }

    /// Returns the object for hidden state of modules that all users share.
    pub(crate) fn hidden<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
        let hidden = self.hidden.borrow().clone();
        hidden.expect("it is there before any script").restore(ctx)
    }

    /// Leaves the stack, and returns when the fiber is resumed.
    pub(super) fn hop(&self) -> rquickjs::Result<()> {
        let ctx = self.ctx();
        let hop = self.hop.borrow().clone();
        let hop = hop.expect("it is there before any script").restore(&ctx)?;
        hop.call(())
    }

    /// Sets QuickJS's stack limit so that scripts can use this stack down to its end less the
    /// margin.
    #[expect(
        unsafe_code,
        reason = "the library calls one of both only where threads share runtimes, and takes no \
                  size that wraps"
    )]
    pub(super) fn limit(&self, stack_end: usize) {
        let here = 0_u8;
        let limit = stack_end + MARGIN_BYTES;
        // A script that waits just above its limit is below it here. QuickJS subtracts the size
        // from the current address, and a size that wraps leaves the limit where it has to be.
        let rest = (&raw const here).addr().wrapping_sub(limit);
        let runtime = self.context.get_runtime_ptr();
        // SAFETY: the runtime is alive as long as its context is.
        unsafe {
            qjs::JS_UpdateStackTop(runtime);
            // A size of 0 would mean no limit.
            qjs::JS_SetMaxStackSize(runtime, if rest == 0 { 1 } else { rest } as qjs::size_t);
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.hidden.take();
        self.hop.take();
        self.responses.forget();
        for jobs in self.left.take() {
            self.jobs.put(jobs);
        }
        self.runtime.set_interrupt_handler(None);
        self.runtime.set_host_promise_rejection_tracker(None);
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}
