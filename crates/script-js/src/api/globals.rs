//! Globals that are no module's: `open`, `require`, `__ENV`, what `setup()` gives as JSON.

use super::k6_error;
use crate::modules::loader::require;
use crate::modules::resolve::resolve_file;
use crate::native::{Call, set};
use crate::vu::Vu;
use rquickjs::{ArrayBuffer, Ctx, Function, Object, Result, Value};
use std::collections::BTreeMap;

/// Gives what a replacer of `JSON.stringify` makes of a value, as Go's encoding has it: nothing
/// is left out, and what has no form is an error.
const REPLACER: &str = "(function (key, value) {
    const kind = typeof value;
    if (kind === 'function') {
        throw new Error('json: unsupported type: func(sobek.FunctionCall) sobek.Value');
    }
    if (kind === 'number' && !Number.isFinite(value)) {
        const name = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
        throw new Error('json: unsupported value: ' + name);
    }
    return kind === 'undefined' ? null : value;
})";

/// How many calls may stand between a module and a native function.
const MOST_BETWEEN: isize = 8;

/// A generator that can be seeded, in place of `Math.random` (mulberry32).
const SEEDED: &str = "(function (seed) {
    let state = seed >>> 0;
    Math.random = function random() {
        state = (state + 0x6d2b79f5) >>> 0;
        let t = Math.imul(state ^ (state >>> 15), state | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
})";

pub(super) fn install(ctx: &Ctx<'_>, vu: &Vu) -> Result<()> {
    set(&ctx.globals(), "open", open)?;
    set(&ctx.globals(), "require", required)?;
    set_env(ctx, vu, None)
}

/// Makes `__ENV` anew: the variables of the run, and those of a scenario over them.
pub(crate) fn set_env(
    ctx: &Ctx<'_>,
    vu: &Vu,
    others: Option<&BTreeMap<String, String>>,
) -> Result<()> {
    let env = Object::new(ctx.clone())?;
    for (name, value) in vu.program.env.iter().chain(others.into_iter().flatten()) {
        env.set(name.as_str(), value.as_str())?;
    }
    ctx.globals().set("__ENV", env)
}

/// Seeds `Math.random`.
pub(super) fn seed(ctx: &Ctx<'_>, seed: u64) -> Result<()> {
    let seeded: Function<'_> = loadline_k6_modules::evaluate(ctx, SEEDED)?;
    seeded.call((seed as u32,))
}

/// The module that calls a native function.
pub(super) fn caller(ctx: &Ctx<'_>, vu: &Vu) -> String {
    // What k6's own modules have in JavaScript stands between.
    let name = |level| ctx.script_or_module_name(level)?.to_string().ok();
    let mut names = (1..=MOST_BETWEEN).filter_map(name);
    let name = names.find(|name: &String| name.contains("://"));
    name.unwrap_or_else(|| vu.program.main.to_string())
}

fn only_in_init(call: &Call<'_>, name: &str) -> Result<()> {
    match call.vu().is_init() {
        true => Ok(()),
        false => Err(k6_error(
            &call.ctx,
            &format!(
                "the \"{name}\" function is only available in the init stage (i.e. the global \
                 scope), see https://grafana.com/docs/k6/latest/using-k6/test-lifecycle/ for \
                 more information"
            ),
        )),
    }
}

fn open<'js>(call: Call<'js>) -> Result<Value<'js>> {
    only_in_init(&call, "open")?;
    let path = call.text(&call.arg(0))?;
    if path.is_empty() {
        return Err(k6_error(
            &call.ctx,
            "open() can't be used with an empty filename",
        ));
    }
    let vu = call.vu();
    let url = resolve_file(&caller(&call.ctx, &vu), &path);
    let bytes = match url {
        Some(url) => vu.program.store.open(&url),
        None => Err(format!("\"{path}\" is no path")),
    };
    let bytes = bytes.map_err(|sentence| k6_error(&call.ctx, &sentence))?;
    let is_binary = call
        .args
        .get(1)
        .map_or(Ok(String::new()), |mode| call.text(mode))?;
    if is_binary == "b" {
        return Ok(ArrayBuffer::new(call.ctx.clone(), &bytes[..])?.into_value());
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(rquickjs::String::from_str(call.ctx.clone(), &text)?.into_value())
}

fn required<'js>(call: Call<'js>) -> Result<Value<'js>> {
    only_in_init(&call, "require")?;
    let specifier = call.text(&call.arg(0))?;
    let base = caller(&call.ctx, &call.vu());
    require(&call.ctx, &base, &specifier)
}

/// What `setup()` gives, as JSON; `None` for nothing.
///
/// # Errors
/// Why it has no such form.
pub(crate) fn setup_json<'js>(
    ctx: &Ctx<'js>,
    given: Value<'js>,
) -> std::result::Result<Option<String>, String> {
    if given.is_undefined() {
        return Ok(None);
    }
    let json = ctx
        .eval::<Function<'js>, _>(REPLACER)
        .and_then(|replacer| ctx.json_stringify_replacer(given, replacer));
    match json {
        Ok(json) => Ok(json.and_then(|json| json.to_string().ok())),
        Err(_) => {
            let thrown = ctx.catch();
            let message = thrown
                .as_object()
                .map(|error| error.get::<_, String>("message"));
            Err(message.and_then(Result::ok).unwrap_or_default())
        }
    }
}
