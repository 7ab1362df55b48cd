//! `k6/experimental/streams`: readable streams of the Streams standard.

use crate::error::go_error;
use crate::native::function;
use crate::source;
use rquickjs::{Ctx, Object, Result};

/// Creates the module `k6/experimental/streams`.
pub fn experimental_streams<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    let fail = |ctx: Ctx<'js>, message: String| -> Result<()> { Err(go_error(&ctx, message)) };
    natives.set("fail", function(ctx, fail)?)?;
    source::run(ctx, include_str!("js/streams.js"), natives)?.get()
}
