//! `setTimeout` and similar functions: the module `k6/timers`, and the same functions as globals.

use crate::native::{Call, set};
use crate::operations::Completion;
use crate::vu::Vu;
use rquickjs::{Ctx, Function, Object, Persistent, Result, Value};
use std::rc::Rc;
use std::time::Duration;

pub(super) fn module<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    fill(&module)?;
    Ok(module)
}

pub(super) fn install(ctx: &Ctx<'_>) -> Result<()> {
    fill(&ctx.globals())
}

fn fill(object: &Object<'_>) -> Result<()> {
    set(object, "setTimeout", |call| begin(call, false))?;
    set(object, "setInterval", |call| begin(call, true))?;
    set(object, "clearTimeout", clear)?;
    set(object, "clearInterval", clear)
}

/// A timer of a script.
struct Timer {
    callback: Persistent<Function<'static>>,
    args: Vec<Persistent<Value<'static>>>,
    /// The time from one call to the next, if there is more than one.
    every: Option<Duration>,
}

fn begin<'js>(call: Call<'_, 'js>, repeats: bool) -> Result<Value<'js>> {
    let name = if repeats { "setInterval" } else { "setTimeout" };
    let Some(callback) = call.arg(0).into_function() else {
        let sentence = format!("{name}'s callback isn't a callable function");
        return Err(rquickjs::Exception::throw_type(call.ctx, &sentence));
    };
    let delay_ms = call.number(1).unwrap_or(0.0);
    let delay = Duration::try_from_secs_f64(delay_ms / 1e3).unwrap_or_default();
    let args = call.args().skip(2);
    let timer = Timer {
        callback: Persistent::save(call.ctx, callback),
        args: args.map(|arg| Persistent::save(call.ctx, arg)).collect(),
        every: repeats.then_some(delay),
    };
    let vu = call.vu();
    let number = wait(&vu, timer, delay);
    vu.operations.name(number, name);
    Ok(Value::new_float(call.ctx.clone(), number as f64))
}

fn wait(vu: &Rc<Vu>, timer: Timer, delay: Duration) -> u64 {
    let due = vu.timer(delay);
    vu.operations.begin(async move {
        due.await;
        Box::new(move |ctx: &Ctx<'_>| fire(ctx, timer)) as Completion
    })
}

fn fire(ctx: &Ctx<'_>, timer: Timer) -> Result<()> {
    let callback = timer.callback.clone().restore(ctx)?;
    let args = timer.args.iter().cloned();
    let args: Result<Vec<_>> = args.map(|arg| arg.restore(ctx)).collect();
    if let Some(every) = timer.every {
        again(&Vu::of(ctx), timer, every);
    }
    callback.call::<_, Value<'_>>((rquickjs::function::Rest(args?),))?;
    Ok(())
}

/// Begins a repeated timer again under its number, so that it can be cleared.
fn again(vu: &Rc<Vu>, timer: Timer, every: Duration) {
    let due = vu.timer(every);
    vu.operations.begin_again(async move {
        due.await;
        Box::new(move |ctx: &Ctx<'_>| fire(ctx, timer)) as Completion
    });
}

fn clear<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    if let Ok(number) = call.number(0) {
        call.vu().operations.give_up(number as u64);
    }
    Ok(Value::new_undefined(call.ctx.clone()))
}
