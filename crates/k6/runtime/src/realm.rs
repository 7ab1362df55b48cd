//! A runtime of QuickJS, inside of a fiber: the initialisation of a script, and the calls after it.
//!
//! The runtime is created and dropped on the fiber's own stack, because QuickJS measures the depth
//! of recursion from the place of creation. For a runtime that users share see `shared`.

use crate::api::{self, globals::go_json};
use crate::event_loop::{drain, settle};
use crate::exception::{caught, of_value};
use crate::fiber::{self, Fiber, SCRIPT_STACK_BYTES};
use crate::memory::{grow_heap, usual_limit_bytes};
use crate::modules::linking::{namespace, never_settled};
use crate::modules::loader::{Modules, Names, main_of_common_js};
use crate::native::Text;
use crate::program::{Failure, Found};
use crate::shared;
use crate::shared::runtime::Shared;
use crate::vu::Vu;
use rquickjs::{Ctx, Error, Module, Object, Promise, Runtime, Value};
use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;

/// Runs the script's main module, and reads its exports.
///
/// # Errors
/// An exception of the script.
pub(crate) fn initialise(vu: &Rc<Vu>) -> Result<Found, Failure> {
    at_once(vu, |vu| inside(vu, |ctx, _, main| found(ctx, main)))
}

/// Runs `run` for a user on a stack of its own, to its end, on this thread.
fn at_once<T: 'static>(
    vu: &Rc<Vu>,
    run: impl FnOnce(&Rc<Vu>) -> Result<T, Failure> + 'static,
) -> Result<T, Failure> {
    let result = Rc::new(RefCell::new(None));
    let (slot, inside) = (Rc::clone(&result), Rc::clone(vu));
    let body = move || drop(slot.replace(Some(run(&inside))));
    let mut fiber = Fiber::new(&vu.control, vu.clone(), body).map_err(memory)?;
    // Nothing that it awaits comes from an event loop.
    while !fiber.resume(Waker::noop()) {}
    let result = result.take();
    result.expect("the fiber has ended")
}

/// Returns the failure for a lack of memory.
pub(crate) fn memory(error: impl ToString) -> Failure {
    Failure::Memory(error.to_string())
}

/// Initialises the script in a runtime of its own or in that of its worker, and calls `run` in it.
/// Has to be called on the user's fiber.
///
/// # Errors
/// If the script throws while it is initialised, or `run` fails.
pub(crate) fn inside<T: 'static>(
    vu: &Rc<Vu>,
    run: impl for<'js> FnOnce(&Ctx<'js>, &Rc<Vu>, &Object<'js>) -> Result<T, Failure> + 'static,
) -> Result<T, Failure> {
    let Some(shared) = Shared::of(vu)? else {
        return alone(vu, run);
    };
    let user = Rc::clone(vu);
    shared::inside(vu, &shared, move |ctx| {
        let main = link(ctx, &user).map_err(|error| thrown(ctx, &user, error))?;
        run(ctx, &user, &main)
    })
}

fn alone<T>(
    vu: &Rc<Vu>,
    run: impl for<'js> FnOnce(&Ctx<'js>, &Rc<Vu>, &Object<'js>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    grow_heap();
    let runtime = runtime(vu).map_err(memory)?;
    let context = loadline_k6_modules::realm(&runtime).map_err(memory)?;
    grow_heap();
    let result = context.with(|ctx| {
        let main = load(&ctx, vu).map_err(|error| thrown(&ctx, vu, error))?;
        run(&ctx, vu, &main)
    });
    vu.leave_runtime();
    runtime.set_interrupt_handler(None);
    runtime.set_host_promise_rejection_tracker(None);
    result
}

/// Creates a runtime. Its handlers act for the user whose fiber runs.
pub(crate) fn runtime(vu: &Rc<Vu>) -> rquickjs::Result<Runtime> {
    let runtime = Runtime::new()?;
    runtime.set_max_stack_size(SCRIPT_STACK_BYTES);
    let limit = vu
        .run
        .as_ref()
        .and_then(|run| run.options.memory_limit_bytes);
    runtime.set_memory_limit(limit.unwrap_or_else(usual_limit_bytes));
    runtime.set_loader(Names, Modules(Arc::clone(&vu.program.store)));
    runtime.set_interrupt_handler(Some(Box::new(|| {
        fiber::local::<Vu>().is_some_and(|vu| vu.is_interrupted())
    })));
    runtime.set_host_promise_rejection_tracker(Some(Box::new(
        move |ctx, promise, reason, is_handled| {
            let (key, vu) = (key(&promise), Vu::of(&ctx));
            match is_handled {
                true => vu.forgive(key),
                false => vu.reject(key, of_value(&vu.program.store, reason)),
            }
        },
    )));
    Ok(runtime)
}

/// Returns a number that identifies a promise.
fn key(promise: &Value<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    promise.hash(&mut hasher);
    hasher.finish()
}

/// Runs the main module, and returns its namespace.
fn load<'js>(ctx: &Ctx<'js>, vu: &Rc<Vu>) -> rquickjs::Result<Object<'js>> {
    vu.own(ctx)?;
    api::install(ctx, vu)?;
    vu.loading.begin();
    let imported = import_main(ctx, vu);
    vu.loading.end(imported.is_ok());
    let namespace = imported?;
    let namespace = match main_of_common_js(ctx, vu.program.main.as_str())? {
        Some(exports) => Some(exports),
        None => namespace.and_then(Value::into_object),
    };
    match (namespace, vu.take_rejection()) {
        (_, Some(reason)) => Err(rquickjs::Exception::throw_message(ctx, &reason)),
        (Some(namespace), None) => Ok(namespace),
        (None, None) => Err(never_settled(ctx)),
    }
}

fn import_main<'js>(ctx: &Ctx<'js>, vu: &Vu) -> rquickjs::Result<Option<Value<'js>>> {
    let promise: Promise<'js> = Module::import(ctx, vu.program.main.as_str())?;
    settle(ctx, vu, &promise)
}

/// Instantiates the main module for this user of a shared runtime, and returns its namespace.
fn link<'js>(ctx: &Ctx<'js>, vu: &Rc<Vu>) -> rquickjs::Result<Object<'js>> {
    let name = vu.program.main.as_str();
    let main = namespace(ctx, name)?;
    let main = main_of_common_js(ctx, name)?.unwrap_or(main);
    drain(ctx, vu)?;
    match vu.take_rejection() {
        Some(reason) => Err(rquickjs::Exception::throw_message(ctx, &reason)),
        None => Ok(main),
    }
}

/// Returns the failure for an error after which a script can't continue.
pub(crate) fn thrown(ctx: &Ctx<'_>, vu: &Vu, error: Error) -> Failure {
    let text = caught(ctx, &vu.program.store, error).text();
    match (vu.aborted(), vu.refusal()) {
        (Some(message), _) => Failure::Aborted(message),
        (None, Some(sentence)) if vu.is_init() => Failure::NotLoaded(sentence),
        (None, _) => Failure::Threw(text),
    }
}

fn found<'js>(ctx: &Ctx<'js>, main: &Object<'js>) -> Result<Found, Failure> {
    let names = main
        .keys::<Text>()
        .filter_map(Result::ok)
        .map(|name| name.0);
    let is_function = |name: &String| {
        let value = main.get::<_, Value<'js>>(name.as_str());
        value.is_ok_and(|value| value.is_function())
    };
    let options = main.get::<_, Value<'js>>("options").ok();
    let json = options.map_or(Ok(None), |options| go_json(ctx, options));
    Ok(Found {
        options: json.map_err(Failure::Options)?,
        functions: names.filter(is_function).collect(),
    })
}
