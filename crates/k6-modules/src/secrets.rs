//! `k6/secrets`: values from sources that the caller hands in.

use crate::error::go_error;
use crate::native::function;
use crate::source;
use crate::text::Text;
use rquickjs::{Ctx, Object, Result, Value};
use std::rc::Rc;

/// Where secrets come from.
pub trait Secrets {
    /// A secret of a named source, or of the default one; the error is the script's sentence.
    fn value(&self, source: Option<&str>, name: &str) -> std::result::Result<String, String>;

    /// A text that is kept, without the secrets that were given so far; `None` if it has none.
    fn redacted(&self, _text: &str) -> Option<String> {
        None
    }
}

/// The module `k6/secrets`: the members of its default export.
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
