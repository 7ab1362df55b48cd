//! JavaScript of our own, which scripts call as modules.
//!
//! A source is one arrow function: it takes the native functions that it needs and returns the
//! module's members. So it has no names in the script's global scope.

use rquickjs::{Ctx, Function, Object, Result, Value};

/// Evaluates a source and calls it with its native functions.
pub(crate) fn run<'js>(ctx: &Ctx<'js>, source: &str, natives: Object<'js>) -> Result<Value<'js>> {
    let make: Function<'js> = ctx.eval(source)?;
    make.call((natives,))
}
