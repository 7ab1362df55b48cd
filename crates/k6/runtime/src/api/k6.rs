//! The module `k6`: checks, groups, sleep.

use crate::errors::k6_error;
use crate::fiber::Cancelled;
use crate::native::{Call, Text, set, uncatchable};
use loadline_k6_metrics::builtin;
use rquickjs::atom::PredefinedAtom;
use rquickjs::{Ctx, Error, Object, Result, Value};
use std::time::{Duration, Instant};

/// The separator between the names of groups.
const SEPARATOR: &str = "::";

pub(super) fn module<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    set(&module, "check", check)?;
    set(&module, "group", group)?;
    set(&module, "sleep", sleep)?;
    set(&module, "fail", fail)?;
    set(&module, "randomSeed", random_seed)?;
    Ok(module)
}

/// Returns a function from [`Cancelled`] to the error that ends an iteration.
pub(crate) fn cut_off(ctx: &Ctx<'_>) -> impl Fn(Cancelled) -> Error {
    let ctx = ctx.clone();
    move |_| uncatchable(&ctx, "interrupted")
}

fn sleep<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    let seconds: f64 = call.number(0)?;
    // A value that is not a time returns at once.
    if let Ok(time) = Duration::try_from_secs_f64(seconds) {
        call.vu().sleep(time).map_err(cut_off(call.ctx))?;
    }
    Ok(Value::new_undefined(call.ctx.clone()))
}

fn fail<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    let message = call
        .given(0)
        .map_or(Ok(String::new()), |value| call.text(&value));
    Err(k6_error(call.ctx, &message?))
}

fn random_seed<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    let seed = call.number(0)?;
    super::globals::seed(call.ctx, seed as i64 as u32)?;
    Ok(Value::new_undefined(call.ctx.clone()))
}

fn refuse_name(ctx: &Ctx<'_>, name: &str) -> Result<()> {
    match name.contains(SEPARATOR) {
        true => Err(k6_error(ctx, "group and check names may not contain '::'")),
        false => Ok(()),
    }
}

fn group<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    let vu = call.vu();
    if vu.is_init() {
        let sentence = "Using group() in the init context is not supported";
        return Err(k6_error(call.ctx, sentence));
    }
    let name = call.text(&call.arg(0))?;
    refuse_name(call.ctx, &name)?;
    let Some(run) = call.arg(1).into_function() else {
        return Err(k6_error(
            call.ctx,
            "group() requires a callback as a second argument",
        ));
    };
    if is_async(call.ctx, &run)? {
        let sentence = "group() does not support async functions as arguments, please see \
                        https://grafana.com/docs/k6/latest/javascript-api/k6/group/ for more info";
        return Err(k6_error(call.ctx, sentence));
    }
    vu.retag(|activity| activity.groups.push(name));
    let began = Instant::now();
    let result: Result<Value<'js>> = run.call(());
    let tags = vu.tags(&[]);
    let lasted_ms = began.elapsed().as_secs_f64() * 1e3;
    vu.worker.add(builtin::GROUP_DURATION, lasted_ms, &tags);
    vu.retag(|activity| drop(activity.groups.pop()));
    result
}

fn is_async<'js>(ctx: &Ctx<'js>, function: &rquickjs::Function<'js>) -> Result<bool> {
    let constructor: Value<'js> = function.as_value().as_object().map_or_else(
        || Ok(Value::new_undefined(ctx.clone())),
        |object| object.get(PredefinedAtom::Constructor),
    )?;
    let name = constructor
        .as_object()
        .map(|object| object.get::<_, rquickjs::String<'js>>(PredefinedAtom::Name));
    let name = name.transpose()?.map(rquickjs::String::to_cstring);
    Ok(name
        .transpose()?
        .is_some_and(|name| &*name == "AsyncFunction"))
}

fn check<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    let vu = call.vu();
    let ctx = call.ctx;
    if vu.is_init() {
        let sentence = "Using check() in the init context is not supported";
        return Err(k6_error(ctx, sentence));
    }
    let (value, sets) = (call.arg(0), call.arg(1));
    if call.len() < 2 || sets.is_undefined() {
        return Err(k6_error(ctx, "no checks provided to `check`"));
    }
    let Some(sets) = sets.as_object() else {
        let sentence = "Cannot convert undefined or null to object";
        return Err(rquickjs::Exception::throw_type(ctx, sentence));
    };
    let extra = tags_of(&call, &call.arg(2), "")?;
    let extra: Vec<(&str, &str)> = extra
        .iter()
        .map(|(k, v)| (k.as_str(), v.as_str()))
        .collect();
    let mut all_passed = true;
    for entry in sets.props::<Text, Value<'js>>() {
        let (Text(name), check) = entry?;
        refuse_name(ctx, &name)?;
        refuse_async(ctx, &check)?;
        let passed = passed(&call, check, &value);
        let is_passed = matches!(passed, Ok(true));
        let tags = vu.tags(&extra);
        vu.worker
            .record_now(|recorder, at_ns| recorder.check(&name, is_passed, at_ns, &tags));
        all_passed &= passed?;
    }
    Ok(Value::new_bool(call.ctx.clone(), all_passed))
}

/// Refuses a check that is an async function; nothing of it is counted.
fn refuse_async<'js>(ctx: &Ctx<'js>, check: &Value<'js>) -> Result<()> {
    let Some(function) = check.as_function() else {
        return Ok(());
    };
    if !is_async(ctx, function)? {
        return Ok(());
    }
    let sentence = "the built-in check() does not support async functions as arguments. Use \
                    the JavaScript utils library as a replacement. Refer to \
                    https://grafana.com/docs/k6/latest/javascript-api/jslib/utils/check/ for \
                    more info";
    Err(k6_error(ctx, sentence))
}

/// What a check says of a value.
fn passed<'js>(call: &Call<'_, 'js>, check: Value<'js>, value: &Value<'js>) -> Result<bool> {
    let Some(function) = check.as_function() else {
        return call.is_truthy(check);
    };
    let returned: Value<'js> = function.call((value.clone(),))?;
    call.is_truthy(returned)
}

/// Returns the error for a tag whose value is not a text, a number or a boolean.
pub(super) fn not_a_tag(name: &str) -> String {
    format!(
        "invalid value for metric tag '{name}': only String, Boolean and Number types are accepted \
         as a metric tag values"
    )
}

/// Reads tags that a script gives. The error of an invalid tag begins with `context`.
pub(crate) fn tags_of<'js>(
    call: &Call<'_, 'js>,
    tags: &Value<'js>,
    context: &str,
) -> Result<Vec<(String, String)>> {
    let read = read_tags(call, tags)?;
    read.map_err(|problem| k6_error(call.ctx, &format!("{context}{problem}")))
}

/// Reads tags that a script gives, or returns the reason why one is invalid.
pub(crate) fn read_tags<'js>(
    call: &Call<'_, 'js>,
    tags: &Value<'js>,
) -> Result<std::result::Result<Vec<(String, String)>, String>> {
    let Some(tags) = tags.as_object() else {
        return Ok(Ok(Vec::new()));
    };
    let mut pairs = Vec::new();
    for entry in tags.props::<Text, Value<'js>>() {
        let (Text(name), value) = entry?;
        if value.is_object() || value.is_null() || value.is_undefined() {
            return Ok(Err(not_a_tag(&name)));
        }
        pairs.push((name, call.text(&value)?));
    }
    Ok(Ok(pairs))
}
