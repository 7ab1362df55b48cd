//! `GoError`: the class of errors that k6's own functions throw.
//!
//! A realm has one such class: a global that scripts can't replace, so that it is found again
//! without another place to store it.

use crate::source;
use rquickjs::function::Constructor;
use rquickjs::{Ctx, Error, Result, Value};

const CLASS: &str = "(() => {
    class GoError extends Error {
        constructor(message) {
            super(message);
            const value = Object.create(null, { toString: { value: () => this.message } });
            Object.defineProperty(this, 'value', { value });
        }
    }
    Object.defineProperty(GoError.prototype, 'name', { value: 'GoError', writable: true });
    Object.defineProperty(globalThis, 'GoError',
        { value: GoError, writable: false, configurable: false });
    return GoError;
})()";

/// Returns the class. It becomes a constant global on the first access.
pub(crate) fn class<'js>(ctx: &Ctx<'js>) -> Result<Constructor<'js>> {
    let known: Option<Constructor<'js>> = ctx.globals().get("GoError")?;
    match known {
        Some(class) => Ok(class),
        None => source::evaluate(ctx, CLASS),
    }
}

/// Creates the class and its constant global.
pub(crate) fn define<'js>(ctx: &Ctx<'js>) -> Result<Value<'js>> {
    source::evaluate(ctx, CLASS)
}

/// Throws a `GoError` with this message. Return the error from the native function.
pub fn go_error(ctx: &Ctx<'_>, message: impl AsRef<str>) -> Error {
    let made = class(ctx).and_then(|class| class.construct::<_, Value<'_>>((message.as_ref(),)));
    match made {
        Ok(error) => ctx.throw(error),
        Err(error) => error,
    }
}
