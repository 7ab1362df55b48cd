//! Globals that belong to no module: `open`, `require`, `__ENV`; and the result of `setup()` as
//! JSON.

use crate::errors::{k6_error, only_in_init};
use crate::exception::BASE_FILE;
use crate::modules::loader::{copy, required_by};
use crate::modules::resolve::resolve_file;
use crate::native::{Call, Text, function, set};
use crate::vu::Vu;
use rquickjs::object::{Accessor, Property};
use rquickjs::{Ctx, Function, IntoJs, Object, Result, Value};
use std::collections::BTreeMap;

/// Makes a replacer for `JSON.stringify` that gives the result of Go's encoding: nothing is left
/// out, names are sorted, bytes are Base64, dates have no more digits than they need, and a value
/// without a form is an error. The replacer returns copies of objects, so it keeps a list of the
/// objects around the current value to detect cycles.
const REPLACER: &str = "(base64, cycle) => {
    const within = [];
    const copyOf = (value) => {
        if (value instanceof Map || value instanceof Set) return [...value];
        if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return [...value];
        if (Array.isArray(value)) return value;
        return Object.fromEntries(Object.keys(value).sort().map((key) => [key, value[key]]));
    };
    return function (key, value) {
        while (within.length > 0 && within.at(-1).copy !== this) within.pop();
        const kind = typeof value;
        if (kind === 'function') {
            throw new Error('json: unsupported type: func(sobek.FunctionCall) sobek.Value');
        }
        if (kind === 'number' && !Number.isFinite(value)) {
            const name = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
            throw new Error('json: unsupported value: ' + name);
        }
        if (this[key] instanceof Date && kind === 'string') return value.replace(/\\.?0*Z$/, 'Z');
        if (kind === 'bigint') return Number(value);
        if (kind === 'symbol') return value.description;
        if (value instanceof Uint8Array || value instanceof Uint8ClampedArray) return base64(value);
        if (kind !== 'object' || value === null) return kind === 'undefined' ? null : value;
        if (within.some(({ of }) => of === value)) throw new Error(cycle);
        const copy = copyOf(value);
        within.push({ of: value, copy });
        return copy;
    };
}";

/// Go's error for an object that contains itself.
const CYCLE: &str = "json: unsupported value: encountered a cycle via map[string]interface {}";

/// The maximum number of calls between a module and a native function.
const MOST_BETWEEN: isize = 8;

/// Replaces `Math.random` by a generator that can be seeded.
const SEEDED: &str = "(function (seeded, others) {
    Math.random = function random() { return seeded() ?? others(); };
})";

pub(super) fn install(ctx: &Ctx<'_>) -> Result<()> {
    set(&ctx.globals(), "open", open)?;
    set(&ctx.globals(), "require", required)?;
    property(ctx, "__ENV", env)
}

/// Installs `__ITER` and `__VU`. Where several users have the same globals, `__VU` is computed.
pub(super) fn install_numbers(ctx: &Ctx<'_>, vu: &Vu) -> Result<()> {
    match vu.shared() {
        Some(_) => property(ctx, "__VU", |ctx| Ok(Vu::of(ctx).id))?,
        None => ctx.globals().set("__VU", vu.id)?,
    }
    property(ctx, "__ITER", |ctx| {
        let vu = Vu::of(ctx);
        let activity = vu.activity.borrow();
        let stage = activity.stage.as_ref();
        // Neither the initialisation nor `setup()` nor `teardown()` is an iteration.
        let iterates = stage.is_some_and(|stage| stage.scenario().is_some());
        Ok((iterates && !vu.is_init()).then_some(activity.iteration))
    })
}

/// Defines a global that is computed on each access, and that a script may replace.
fn property<'js, T: IntoJs<'js> + 'js>(
    ctx: &Ctx<'js>,
    name: &'static str,
    get: impl Fn(&Ctx<'js>) -> Result<T> + 'js,
) -> Result<()> {
    let get = move |ctx: Ctx<'js>| get(&ctx);
    let replace = move |ctx: Ctx<'js>, value: Value<'js>| {
        ctx.globals()
            .prop(name, Property::from(value).writable().enumerable())
    };
    let property = Accessor::new(get, replace);
    ctx.globals()
        .prop(name, property.enumerable().configurable())
}

/// Returns `__ENV`: the variables of the run, replaced by those of the scenario with the same name.
/// It is created on the first access, because each user needs memory for it.
fn env<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let vu = Vu::of(ctx);
    let hidden = vu.hidden(ctx)?;
    if let Some(known) = hidden.get::<_, Option<Object<'js>>>("env")? {
        return Ok(known);
    }
    let stage = vu.activity.borrow().stage.clone();
    let scenario = stage.as_ref().and_then(|stage| stage.scenario());
    let env = match vu.shared() {
        // The copy shares the texts.
        Some(_) => copy(&env_of_run(ctx, &vu)?)?,
        None => object_of(ctx, &vu.program.env)?,
    };
    for (name, value) in scenario.iter().flat_map(|scenario| &scenario.env) {
        env.set(name.as_str(), value.as_str())?;
    }
    hidden.set("env", env.clone())?;
    Ok(env)
}

/// Returns the variables of the run, created once for all users of a runtime.
fn env_of_run<'js>(ctx: &Ctx<'js>, vu: &Vu) -> Result<Object<'js>> {
    let common = vu.common(ctx)?;
    if let Some(known) = common.get::<_, Option<Object<'js>>>("env")? {
        return Ok(known);
    }
    let env = object_of(ctx, &vu.program.env)?;
    common.set("env", env.clone())?;
    Ok(env)
}

fn object_of<'js>(ctx: &Ctx<'js>, pairs: &BTreeMap<String, String>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, value) in pairs {
        object.set(name.as_str(), value.as_str())?;
    }
    Ok(object)
}

/// Forgets the object of `__ENV`, which is created anew on the next access.
pub(crate) fn forget_env(ctx: &Ctx<'_>, vu: &Vu) -> Result<()> {
    vu.hidden(ctx)?.remove("env")
}

/// Seeds `Math.random` of the user that runs.
pub(super) fn seed(ctx: &Ctx<'_>, seed: u32) -> Result<()> {
    let vu = Vu::of(ctx);
    vu.random.set(Some(seed));
    let common = vu.common(ctx)?;
    if common.contains_key("random")? {
        return Ok(());
    }
    common.set("random", true)?;
    let math: Object<'_> = ctx.globals().get("Math")?;
    let others: Value<'_> = math.get("random")?;
    let seeded = function(ctx, "seeded", |call| {
        let next = call.vu().next_random();
        next.into_js(call.ctx)
    })?;
    let install: Function<'_> = loadline_k6_modules::evaluate(ctx, SEEDED)?;
    install.call((seeded, others))
}

/// Returns the name of the module that calls a native function.
pub(super) fn caller(ctx: &Ctx<'_>, vu: &Vu) -> String {
    // Functions of k6's own modules in JavaScript may be between the two.
    let name = |level| ctx.script_or_module_name(level)?.to_string().ok();
    let names = (0..=MOST_BETWEEN).map(name);
    // Frames below the base belong to other users.
    let names = names.take_while(|name| name.as_deref() != Some(BASE_FILE));
    let name = names.flatten().find(|name| name.contains("://"));
    name.unwrap_or_else(|| vu.program.main.to_string())
}

fn open<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    only_in_init(&call, "open")?;
    let given = call.arg(0);
    let path = match given.is_undefined() || given.is_null() {
        true => String::new(),
        false => call.text(&given)?,
    };
    if path.is_empty() {
        return Err(k6_error(
            call.ctx,
            "open() can't be used with an empty filename",
        ));
    }
    let vu = call.vu();
    let url = resolve_file(&caller(call.ctx, &vu), &path);
    let bytes = match &url {
        Some(url) => vu.program.store.open(url),
        None => Err(format!("\"{path}\" is no path")),
    };
    let bytes = bytes.map_err(|sentence| match sentence.ends_with(": is a directory") {
        true => {
            let path = url.map(|url| url.path().trim_end_matches('/').to_owned());
            let path = path.unwrap_or_default();
            let text = format!("open() can't be used with directories, path: {path:?}");
            k6_error(call.ctx, &text)
        }
        false => k6_error(call.ctx, &sentence),
    })?;
    let is_binary = call
        .given(1)
        .map_or(Ok(String::new()), |mode| call.text(&mode))?;
    if is_binary == "b" {
        return loadline_k6_modules::buffer(call.ctx, bytes.to_vec());
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(rquickjs::String::from_str(call.ctx.clone(), &text)?.into_value())
}

fn required<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    let base = caller(call.ctx, &call.vu());
    required_by(&call, &base)
}

fn replacer<'js>(ctx: &Ctx<'js>) -> Result<Function<'js>> {
    let base64 = function(ctx, "base64", |call| {
        let bytes = loadline_k6_modules::bytes_of_buffer(&call.arg(0));
        loadline_k6_modules::base64(&bytes.unwrap_or_default()).into_js(call.ctx)
    })?;
    let make: Function<'js> = ctx.eval(REPLACER)?;
    make.call((base64, CYCLE))
}

/// Returns the result of `setup()`, or options, as JSON; `None` for `undefined`.
///
/// # Errors
/// The reason why the value has no form as JSON.
pub(crate) fn go_json<'js>(
    ctx: &Ctx<'js>,
    given: Value<'js>,
) -> std::result::Result<Option<String>, String> {
    if given.is_undefined() {
        return Ok(None);
    }
    let json = replacer(ctx).and_then(|replacer| ctx.json_stringify_replacer(given, replacer));
    match json {
        Ok(json) => Ok(json.and_then(|json| json.to_string().ok())),
        Err(_) => {
            let thrown = ctx.catch();
            let message = thrown
                .as_object()
                .map(|error| error.get::<_, Text>("message"));
            Err(message
                .and_then(Result::ok)
                .map_or_else(String::new, |text| text.0))
        }
    }
}
