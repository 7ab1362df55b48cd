//! `GoError`: the class of k6's own errors.

use crate::vu::Vu;
use rquickjs::{Ctx, Error, Function, Object, Result, Value};

/// The class.
const CLASS: &str = "(function () {
    class GoError extends Error {
        constructor(message) {
            super(message);
            Object.defineProperty(this, 'value', { value: message });
        }
    }
    Object.defineProperty(GoError.prototype, 'name', { value: 'GoError' });
    return [GoError, (message) => new GoError(message)];
})()";

pub(super) fn install(ctx: &Ctx<'_>, vu: &Vu) -> Result<()> {
    let made: Object<'_> = ctx.eval(CLASS)?;
    ctx.globals().set("GoError", made.get::<_, Value<'_>>(0)?)?;
    let make: Function<'_> = made.get(1)?;
    vu.hidden(ctx)?.set("goError", make)
}

/// Throws one that says this.
pub(crate) fn k6_error(ctx: &Ctx<'_>, message: &str) -> Error {
    let made = Vu::of(ctx).hidden(ctx).and_then(|hidden| {
        let make: Function<'_> = hidden.get("goError")?;
        make.call::<_, Value<'_>>((message,))
    });
    match made {
        Ok(error) => ctx.throw(error),
        Err(error) => error,
    }
}
