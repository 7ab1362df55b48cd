//! JavaScript of our own, which scripts call as modules.
//!
//! A source is one arrow function: it takes the native functions that it needs and returns the
//! module's members. So it has no names in the script's global scope.

use crate::error;
use rquickjs::context::EvalOptions;
use rquickjs::{Ctx, FromJs, Function, Object, Result, Value};

/// The file name of all our own JavaScript. Stacks that users see leave its frames out.
pub const INTERNAL: &str = "loadline:internal";

/// Evaluates a source and calls it with its native functions.
pub(crate) fn run<'js>(ctx: &Ctx<'js>, source: &str, natives: Object<'js>) -> Result<Value<'js>> {
    let make: Function<'js> = evaluate(ctx, source)?;
    make.call((natives,))
}

/// Evaluates a source of our own, so that users see none of its frames.
///
/// # Errors
/// What the source throws, or that its value is of another type.
pub fn evaluate<'js, T: FromJs<'js>>(ctx: &Ctx<'js>, source: &str) -> Result<T> {
    let mut options = EvalOptions::default();
    options.filename = Some(INTERNAL.to_owned());
    ctx.eval_with_options(source, options)
}

/// What is made once in a realm. It is kept where scripts don't see it: with the class of errors.
pub(crate) fn once<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    make: impl FnOnce() -> Result<Value<'js>>,
) -> Result<Value<'js>> {
    let keeper = error::class(ctx)?;
    let key = rquickjs::Symbol::new_global(ctx.clone(), name)?;
    let known: Option<Value<'js>> = keeper.get(key.clone())?;
    if let Some(known) = known {
        return Ok(known);
    }
    let made = make()?;
    keeper.prop(key, rquickjs::object::Property::from(made.clone()))?;
    Ok(made)
}
