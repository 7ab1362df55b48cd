//! What scripts find: k6's modules, and the globals.

mod console;
mod execution;
pub(crate) mod globals;
pub(crate) mod k6;
mod metrics;
pub(crate) mod offline;
mod timers;

use crate::vu::Vu;
use rquickjs::{Ctx, Error, Object, Result};

/// Makes the object of a module.
pub(crate) type Make = for<'js> fn(&Ctx<'js>) -> Result<Object<'js>>;

/// What makes the module of this name.
///
/// # Errors
/// What is said of one that there is not.
pub(crate) fn module(name: &str) -> std::result::Result<Make, String> {
    let make: Make = match name {
        "k6" => k6::module,
        "k6/crypto" => loadline_k6_modules::crypto,
        "k6/data" => offline::data,
        "k6/encoding" => loadline_k6_modules::encoding,
        "k6/execution" => execution::module,
        "k6/experimental/csv" => offline::csv,
        "k6/experimental/fs" => offline::fs,
        "k6/experimental/streams" => loadline_k6_modules::experimental_streams,
        "k6/html" => loadline_k6_modules::html,
        "k6/http" => crate::http::module,
        "k6/metrics" => metrics::module,
        "k6/secrets" => offline::secrets,
        "k6/timers" => timers::module,
        // Timers went into k6 itself; scripts of before still import them from here.
        "k6/experimental/timers" => timers::module,
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

/// Throws one of k6's own errors that says this: return it from the native function.
pub(crate) fn k6_error(ctx: &Ctx<'_>, message: &str) -> Error {
    loadline_k6_modules::go_error(ctx, message)
}

/// Gives a realm its globals.
pub(crate) fn install(ctx: &Ctx<'_>, vu: &Vu) -> Result<()> {
    let globals = ctx.globals();
    globals.set("global", globals.clone())?;
    globals::install_numbers(ctx, vu)?;
    loadline_k6_modules::install_globals(ctx)?;
    globals::install(ctx)?;
    console::install(ctx)?;
    timers::install(ctx)
}
