//! `k6/secrets`: values from sources that the caller provides.

use crate::error::go_error;
use crate::native::function;
use crate::source;
use crate::text::Text;
use rquickjs::{Ctx, Object, Result, Value};
use std::rc::Rc;

/// The source of secrets.
pub trait Secrets {
    /// Returns a secret of a named source, or of the default one; the error is the message for the
    /// script.
    fn value(&self, source: Option<&str>, name: &str) -> std::result::Result<String, String>;

    /// Returns a text without the secrets that were given so far; `None` if it has none of them.
    fn redacted(&self, _text: &str) -> Option<String> {
        None
    }
}

/// Creates the members of the default export of `k6/secrets`.
pub fn secrets<'js>(ctx: &Ctx<'js>, secrets: Rc<dyn Secrets>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    let value = move |ctx: Ctx<'js>, source: Value<'js>, Text(name): Text| {
        let source = crate::bytes::word(Some(source))?;
        let value = secrets.value(source.as_deref(), &name);
        value.map_err(|message| go_error(&ctx, message))
    };
    natives.set("value", function(ctx, value)?)?;
    let script = "(native) => ({
        get: async (name) => native.value(undefined, name),
        source: (source) => ({ get: async (name) => native.value(source, name) }),
    })";
    source::run(ctx, script, natives)?.get()
}
