//! Native functions that scripts call.
//!
//! QuickJS calls them through C, which must not be unwound, and a script may catch every ordinary
//! error. So each function is wrapped: a panic ends the script's iteration, and the script can't
//! catch it. The closures hold no values of JavaScript, because QuickJS could not free those.

use rquickjs::function::{IntoJsFunc, ParamRequirement, Params};
use rquickjs::{Ctx, Error, Exception, Function, Result, Value, qjs};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A native function whose panics end the script's iteration.
struct Guarded<F>(F);

impl<'js, P, F: IntoJsFunc<'js, P>> IntoJsFunc<'js, P> for Guarded<F> {
    fn param_requirements() -> ParamRequirement {
        F::param_requirements()
    }

    fn call<'a>(&self, params: Params<'a, 'js>) -> Result<Value<'js>> {
        let ctx = params.ctx().clone();
        guarded(&ctx, || self.0.call(params))
    }
}

/// Creates a function for scripts.
pub(crate) fn function<'js, P, F>(ctx: &Ctx<'js>, run: F) -> Result<Function<'js>>
where
    F: IntoJsFunc<'js, P> + 'js,
{
    Function::new(ctx.clone(), Guarded(run))
}

/// Runs a native function: a panic becomes an error that the script can't catch.
///
/// # Errors
/// The error of `run`, or the panic.
pub fn guarded<T>(ctx: &Ctx<'_>, run: impl FnOnce() -> Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result,
        Err(panic) => Err(panicked(ctx, &*panic)),
    }
}

/// Ends the script's iteration by an error that the script can't catch. Return the error from the
/// native function.
#[expect(unsafe_code, reason = "the library has no safe name for it")]
pub fn uncatchable(ctx: &Ctx<'_>, message: &str) -> Error {
    let exception = match Exception::from_message(ctx.clone(), message) {
        Ok(exception) => exception.into_value(),
        Err(error) => return error,
    };
    // SAFETY: both are of this runtime, and alive.
    unsafe { qjs::JS_SetUncatchableError(ctx.as_raw().as_ptr(), exception.as_raw()) };
    ctx.throw(exception)
}

/// Returns the error for a panic of a native function, which is a fault of Loadline.
fn panicked(ctx: &Ctx<'_>, panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    let message = format!("internal error: {}", text.unwrap_or("a panic"));
    uncatchable(ctx, &message)
}
