//! What scripts find: k6's modules, and the globals.

mod console;
mod execution;
pub(crate) mod globals;
pub(crate) mod go_error;
pub(crate) mod k6;
mod metrics;
mod timers;

use crate::vu::Vu;
use rquickjs::{Ctx, Object, Result};

/// Makes the object of a module.
pub(crate) type Make = for<'js> fn(&Ctx<'js>) -> Result<Object<'js>>;

/// What makes the module of this name.
///
/// # Errors
/// What is said of one that there is not.
pub(crate) fn module(name: &str) -> std::result::Result<Make, String> {
    let make: Make = match name {
        "k6" => k6::module,
        "k6/execution" => execution::module,
        "k6/http" => crate::http::module,
        "k6/metrics" => metrics::module,
        "k6/timers" => timers::module,
        "k6/options" => |ctx| Object::new(ctx.clone()),
        other => return Err(missing(other)),
    };
    Ok(make)
}

fn missing(name: &str) -> String {
    let later = [
        "k6/ws",
        "k6/websockets",
        "k6/experimental/websockets",
        "k6/net/grpc",
        "k6/browser",
        "k6/experimental/redis",
    ];
    if later.contains(&name) {
        return format!("the module \"{name}\" is not supported yet: remove its import");
    }
    match name.starts_with("k6/x/") {
        true => format!("unknown modules [\"{name}\"]: extensions are not supported"),
        false => format!("unknown modules [\"{name}\"]"),
    }
}

/// Gives a realm its globals.
pub(crate) fn install(ctx: &Ctx<'_>, vu: &Vu) -> Result<()> {
    let globals = ctx.globals();
    globals.set("global", globals.clone())?;
    globals.set("__VU", vu.id)?;
    go_error::install(ctx, vu)?;
    globals::install(ctx, vu)?;
    console::install(ctx)?;
    timers::install(ctx)
}
