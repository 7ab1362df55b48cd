//! The environment of scripts: k6's modules, and the globals.

mod console;
mod execution;
pub(crate) mod globals;
pub(crate) mod k6;
mod metrics;
pub(crate) mod offline;
mod timers;

use crate::errors::not_supported;
use crate::program::Make;
use crate::vu::Vu;
use rquickjs::{Ctx, Object, Result};

/// Returns the function that creates the module of this name.
///
/// # Errors
/// The message for a module that does not exist or is not supported.
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
        // These timers became a stable module; older scripts still import them from here.
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
    let instead = match name {
        "k6/experimental/webcrypto" => {
            "has been graduated and it's now globally available as defined by standard WebAPIs. \
             You just need to remove the import."
        }
        "k6/experimental/tracing" => {
            "has been removed. All of it functionality is available as pure JavaScript module. \
             More info available at the docs: \
             https://grafana.com/docs/k6/latest/javascript-api/jslib/http-instrumentation-tempo"
        }
        "k6/experimental/grpc" => {
            "has been graduated, please use k6/net/grpc instead. See \
             https://grafana.com/docs/k6/latest/javascript-api/k6-net-grpc/ for more information."
        }
        "k6/experimental/browser" => {
            "has been graduated, please use k6/browser instead, which Loadline does not support \
             yet."
        }
        _ if name.starts_with("k6/x/") => {
            return format!("unknown modules [\"{name}\"]: extensions are not supported");
        }
        _ => return format!("unknown modules [\"{name}\"]"),
    };
    format!("{name} {instead}")
}

/// Installs the globals of a realm.
pub(crate) fn install(ctx: &Ctx<'_>, vu: &Vu) -> Result<()> {
    let globals = ctx.globals();
    globals.set("global", globals.clone())?;
    globals::install_numbers(ctx, vu)?;
    loadline_k6_modules::install_globals(ctx, not_supported)?;
    globals::install(ctx)?;
    crate::exception::install_stacks(ctx, vu)?;
    console::install(ctx)?;
    timers::install(ctx)
}
