//! A runtime of QuickJS that all users of a worker share: `--vu-mode shared`.
//!
//! Each user has its fiber and its own modules, which `linking` makes. QuickJS's built-in objects
//! and the globals exist once, which saves the memory.
//!
//! QuickJS assumes one stack for a runtime. Its state of that stack is corrected whenever a user
//! leaves its stack and returns to it (`Seat`):
//!
//! - *The current frame.* A function restores the frame below it when it returns. So a user leaves
//!   its stack inside of a function of its own (`HOP`), whose return is the first thing that
//!   happens when the user continues. Below all frames of a user is one at which QuickJS stops when
//!   it collects frames for an exception (`BASE`), so that the frames of other users are not read.
//! - *The limit of the stack*, which has to be that of the user's own stack.
//! - *The jobs of promises*: see `jobs`.

pub(crate) mod jobs;
pub(crate) mod runtime;

use crate::api;
use crate::exception::BASE_FILE;
use crate::fiber::Crossing;
use crate::http::lazy::Responses;
use crate::program::Failure;
use crate::realm::{memory, thrown};
use crate::run::Level;
use crate::vu::Vu;
use crate::vu_mode::VuMode;
use jobs::{JobList, Jobs};
use rquickjs::context::EvalOptions;
use rquickjs::{Ctx, Function, Object, Persistent, Value};
use runtime::Shared;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Makes the function in which users leave their stacks.
const HOP: &str = "(leave) => () => { leave(); }";

/// The code below all frames of a user. Its global name is removed by the call.
const BASE: &str = "loadlineBase();";
const BASE_NAME: &str = "loadlineBase";

/// The warning where users can't share a runtime.
const NOT_SHARED: &str = "--vu-mode shared is not possible with this version of QuickJS: each \
                          virtual user gets a runtime of its own";

impl Shared {
    /// Returns the shared runtime of a user's worker, created by the first call; `None` if the user
    /// has its own. Has to be called on the user's fiber.
    pub(crate) fn of(vu: &Rc<Vu>) -> Result<Option<Rc<Self>>, Failure> {
        // Setup, teardown and the init context always have a runtime of their own.
        let is_needed = vu.run.as_ref().is_some_and(|run| {
            run.options.vu_mode == VuMode::Shared && vu.id > 0 && !run.is_unshared()
        });
        if !is_needed {
            return Ok(None);
        }
        if let Some(known) = vu.worker.shared.get() {
            return Ok(Some(Rc::clone(known)));
        }
        let made = Shared::new(vu)?;
        Ok(made.map(|made| Rc::clone(vu.worker.shared.get_or_init(|| made))))
    }

    fn new(vu: &Rc<Vu>) -> Result<Option<Rc<Self>>, Failure> {
        let runtime = crate::realm::runtime(vu).map_err(memory)?;
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
}

/// A user's state in a shared runtime.
struct Seat {
    shared: Rc<Shared>,
    stack_end: usize,
    /// The user's jobs while it is suspended.
    jobs: Cell<Jobs>,
}

impl Crossing for Seat {
    fn cross(&self) -> bool {
        self.jobs.set(self.shared.jobs.take());
        // The wait must not fail, however deep the script's stack is.
        self.shared.runtime.set_max_stack_size(0);
        let crossed = self.shared.hop();
        self.shared.limit(self.stack_end);
        self.shared.jobs.put(self.jobs.take());
        crossed.is_ok()
    }
}

/// Runs `run` in a shared runtime, above a base frame of the user's own. Has to be called on the
/// user's fiber.
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

/// Runs `run` above a frame at which QuickJS stops when it collects a stack trace.
fn based<T: 'static>(
    ctx: &Ctx<'static>,
    run: impl FnOnce(&Ctx<'static>) -> T + 'static,
) -> rquickjs::Result<T> {
    let result = Rc::new(Cell::new(None));
    let run = Rc::new(Cell::new(Some(run)));
    let (slot, once) = (Rc::clone(&result), Rc::clone(&run));
    let native = crate::native::function(ctx, BASE_NAME, move |call| {
        call.ctx.globals().remove(BASE_NAME)?;
        if let Some(run) = once.take() {
            slot.set(Some(run(call.ctx)));
        }
        Ok(Value::new_undefined(call.ctx.clone()))
    })?;
    ctx.globals().set(BASE_NAME, native)?;
    let mut options = EvalOptions::default();
    options.backtrace_barrier = true;
    options.filename = Some(BASE_FILE.to_owned());
    let ran = ctx.eval_with_options::<Value<'static>, _>(BASE, options);
    // The runtime must not keep what has not run: it holds the user, which holds the runtime.
    run.take();
    match result.take() {
        Some(result) => Ok(result),
        None => Err(ran.err().unwrap_or(rquickjs::Error::Unknown)),
    }
}
