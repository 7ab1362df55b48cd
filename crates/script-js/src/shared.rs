//! A runtime of QuickJS that all users of a worker share: `--vu-mode shared`.
//!
//! Each user has its fiber and its own modules, which `linking` makes. QuickJS's built-in objects
//! and the globals are there once, which is what saves the memory.
//!
//! QuickJS does not know of several stacks in a runtime. What it keeps of the one that it thinks
//! there is, is set right wherever a user leaves its stack and comes back to it (`Seat`):
//!
//! - *The frame that runs.* A function puts back the frame below it when it returns. So a user
//!   leaves its stack inside of a function of its own (`HOP`), whose return is the first thing that
//!   happens when it comes back. Below all frames of a user is one at which QuickJS stops when it
//!   collects them for an exception (`BASE`), so that nobody looks at the frames of others.
//! - *The limit of the stack*, which has to be that of the user's own.
//! - *The jobs of promises*: see `jobs`.

pub(crate) mod jobs;

use crate::api;
use crate::exception::BASE_FILE;
use crate::fiber::{Crossing, MARGIN_BYTES};
use crate::http::Responses;
use crate::program::Failure;
use crate::realm::{memory, runtime, thrown};
use crate::run::Level;
use crate::vu::Vu;
use jobs::{JobList, Jobs};
use rquickjs::context::EvalOptions;
use rquickjs::{Context, Ctx, Function, Object, Persistent, Runtime, Value, qjs};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Makes the function in which users leave their stacks.
const HOP: &str = "(leave) => () => { leave(); }";

/// What is below all frames of a user. The name is gone as soon as it is called.
const BASE: &str = "loadlineBase();";
const BASE_NAME: &str = "loadlineBase";

/// What is said where users can't share a runtime.
const NOT_SHARED: &str = "--vu-mode shared is not possible with this version of QuickJS: each \
                          virtual user gets a runtime of its own";

/// What a virtual user has for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VuMode {
    /// A runtime, as k6's have.
    #[default]
    Isolated,
    /// Its modules; the users of a worker share a runtime, and so globals and built-in objects.
    Shared,
}

impl VuMode {
    /// That of this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "isolated" => Some(VuMode::Isolated),
            "shared" => Some(VuMode::Shared),
            _ => None,
        }
    }
}

/// The runtime of a worker's users.
pub(crate) struct Shared {
    hidden: RefCell<Option<Persistent<Object<'static>>>>,
    hop: RefCell<Option<Persistent<Function<'static>>>>,
    /// What responses are made with.
    pub(crate) responses: Responses,
    jobs: JobList,
    /// Those of users that have ended.
    left: RefCell<Vec<Jobs>>,
    context: Context,
    runtime: Runtime,
}

impl Shared {
    /// That of a user's worker, made by the first that asks; `None` if it has its own. Has to be
    /// called on a user's fiber.
    pub(crate) fn of(vu: &Rc<Vu>) -> Result<Option<Rc<Self>>, Failure> {
        // What runs outside of the load is alone in any case.
        let is_wanted = vu.run.as_ref().is_some_and(|run| {
            run.options.vu_mode == VuMode::Shared && vu.id > 0 && !run.is_unshared()
        });
        if !is_wanted {
            return Ok(None);
        }
        if let Some(known) = vu.worker.shared.get() {
            return Ok(Some(Rc::clone(known)));
        }
        let made = Shared::new(vu)?;
        Ok(made.map(|made| Rc::clone(vu.worker.shared.get_or_init(|| made))))
    }

    fn new(vu: &Rc<Vu>) -> Result<Option<Rc<Self>>, Failure> {
        let runtime = runtime(vu).map_err(memory)?;
        let context = loadline_k6_modules::realm(&runtime).map_err(memory)?;
        let Some(jobs) = JobList::of(&context) else {
            if vu.run.as_ref().is_some_and(|run| run.become_unshared()) {
                vu.program.log(Level::Warning, NOT_SHARED, &[]);
            }
            return Ok(None);
        };
        Ok(Some(Rc::new(Shared {
            hidden: RefCell::default(),
            hop: RefCell::default(),
            responses: Responses::default(),
            jobs,
            left: RefCell::default(),
            context,
            runtime,
        })))
    }

    /// Its only realm.
    #[expect(
        unsafe_code,
        reason = "the library's own way keeps others out for as long"
    )]
    fn ctx(&self) -> Ctx<'static> {
        // SAFETY: all users of the runtime are on one thread, so no lock is needed; its values stay
        // with those users, whose worker has the runtime until the last of them has ended.
        unsafe { Ctx::from_raw(self.context.as_raw()) }
    }

    /// Gives the realm its globals, if it has none yet.
    fn furnish(&self, ctx: &Ctx<'static>, vu: &Rc<Vu>) -> rquickjs::Result<()> {
        if self.hidden.borrow().is_some() {
            return Ok(());
        }
        let hidden = Object::new(ctx.clone())?;
        for name in ["modules", "factories", "wrappers"] {
            hidden.set(name, Object::new(ctx.clone())?)?;
        }
        self.hidden.replace(Some(Persistent::save(ctx, hidden)));
        let leave = Function::new(ctx.clone(), || {
            if let Some(vu) = crate::fiber::local::<Vu>() {
                vu.control.leave();
            }
        })?;
        let make: Function<'static> = ctx.eval(HOP)?;
        let hop: Function<'static> = make.call((leave,))?;
        self.hop.replace(Some(Persistent::save(ctx, hop)));
        api::install(ctx, vu)?;
        // It would call the functions of one user while another one runs.
        ctx.globals().remove("FinalizationRegistry")
    }

    /// What modules keep out of scripts' sight, for all users.
    pub(crate) fn hidden<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
        let hidden = self.hidden.borrow().clone();
        hidden.expect("it is there before any script").restore(ctx)
    }

    /// Leaves the stack, and comes back.
    fn hop(&self) -> rquickjs::Result<()> {
        let ctx = self.ctx();
        let hop = self.hop.borrow().clone();
        let hop = hop.expect("it is there before any script").restore(&ctx)?;
        hop.call(())
    }

    /// Lets scripts use the rest of this stack, all but what is below the limit.
    #[expect(
        unsafe_code,
        reason = "the library calls one of both only where threads share runtimes, and takes no \
                  size that wraps"
    )]
    fn limit(&self, stack_end: usize) {
        let here = 0_u8;
        let limit = stack_end + MARGIN_BYTES;
        // A script that waits just above its limit is below it here. QuickJS subtracts the size
        // from where it is, and a size that wraps leaves the limit where it has to be.
        let rest = (&raw const here).addr().wrapping_sub(limit);
        let runtime = self.context.get_runtime_ptr();
        // SAFETY: the runtime is alive as long as its context is.
        unsafe {
            qjs::JS_UpdateStackTop(runtime);
            // None at all would be no limit.
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

/// A user's place in a runtime.
struct Seat {
    shared: Rc<Shared>,
    stack_end: usize,
    /// Its jobs while it is away.
    jobs: Cell<Jobs>,
}

impl Crossing for Seat {
    fn cross(&self) -> bool {
        self.jobs.set(self.shared.jobs.take());
        // However deep the script is: its wait must not fail.
        self.shared.runtime.set_max_stack_size(0);
        let crossed = self.shared.hop();
        self.shared.limit(self.stack_end);
        self.shared.jobs.put(self.jobs.take());
        crossed.is_ok()
    }
}

/// Runs something in the runtime that a user shares, below all of whose frames is one of its own.
/// Has to be called on the user's fiber.
pub(crate) fn inside<T: 'static>(
    vu: &Rc<Vu>,
    shared: &Rc<Shared>,
    run: impl FnOnce(&Ctx<'static>) -> Result<T, Failure> + 'static,
) -> Result<T, Failure> {
    let stack_end = vu.control.stack_end();
    shared.limit(stack_end);
    vu.control.set_crossing(Rc::new(Seat {
        shared: Rc::clone(shared),
        stack_end,
        jobs: Cell::default(),
    }));
    vu.share(shared);
    let ctx = shared.ctx();
    let furnished = shared.furnish(&ctx, vu).and_then(|()| vu.own(&ctx));
    let result = match furnished {
        Ok(()) => based(&ctx, run).unwrap_or_else(|error| Err(thrown(&ctx, vu, error))),
        Err(error) => Err(thrown(&ctx, vu, error)),
    };
    vu.leave_runtime();
    shared.left.borrow_mut().push(shared.jobs.take());
    result
}

/// Runs something above a frame at which QuickJS stops looking.
fn based<T: 'static>(
    ctx: &Ctx<'static>,
    run: impl FnOnce(&Ctx<'static>) -> T + 'static,
) -> rquickjs::Result<T> {
    let result = Rc::new(Cell::new(None));
    let run = Rc::new(Cell::new(Some(run)));
    let (told, once) = (Rc::clone(&result), Rc::clone(&run));
    let native = crate::native::function(ctx, BASE_NAME, move |call| {
        call.ctx.globals().remove(BASE_NAME)?;
        if let Some(run) = once.take() {
            told.set(Some(run(&call.ctx)));
        }
        Ok(Value::new_undefined(call.ctx))
    })?;
    ctx.globals().set(BASE_NAME, native)?;
    let mut options = EvalOptions::default();
    options.backtrace_barrier = true;
    options.filename = Some(BASE_FILE.to_owned());
    let ran = ctx.eval_with_options::<Value<'static>, _>(BASE, options);
    // The runtime must not keep what has not run: that has the user, who has the runtime.
    run.take();
    match result.take() {
        Some(result) => Ok(result),
        None => Err(ran.err().unwrap_or(rquickjs::Error::Unknown)),
    }
}
