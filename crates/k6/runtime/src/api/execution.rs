//! The module `k6/execution`: information about the run for its script, and its abort.

use super::k6::not_a_tag;
use crate::counts::Count;
use crate::errors::k6_error;
use crate::exception::place;
use crate::native::{Call, function, uncatchable};
use crate::run::{Level, RunState, Scenario, Stage};
use crate::vu::Vu;
use loadline_k6_modules::evaluate;
use rquickjs::object::Accessor;
use rquickjs::{Ctx, Function, IntoJs, Object, Result, Value};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// The errors for information that does not exist where the script asks for it.
const NO_USER: &str = "getting VU information in the init context is not supported";
const NO_SCENARIO: &str = "getting scenario information outside of the VU context is not supported";
const NO_INSTANCE: &str = "getting instance information in the init context is not supported";
const NO_OPTIONS: &str = "getting test options in the init context is not supported";

pub(super) fn module<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("instance", instance(ctx)?)?;
    module.set("scenario", scenario(ctx)?)?;
    module.set("test", test(ctx)?)?;
    module.set("vu", user(ctx)?)?;
    Ok(module)
}

/// Gives an object a property that is computed on each access.
fn property<'js, T: IntoJs<'js> + 'js>(
    object: &Object<'js>,
    name: &str,
    get: impl Fn(&Ctx<'js>, &Vu) -> Result<T> + 'js,
) -> Result<()> {
    let get = move |ctx: Ctx<'js>| get(&ctx, &Vu::of(&ctx));
    object.prop(name, Accessor::from(get).enumerable())
}

fn run_of(ctx: &Ctx<'_>, vu: &Vu, otherwise: &str) -> Result<Arc<RunState>> {
    let run = vu.run.clone().filter(|_| !vu.is_init());
    run.ok_or_else(|| k6_error(ctx, otherwise))
}

/// Returns a count or time of the run.
type Figure = fn(&RunState) -> f64;

fn instance<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let figures: [(&str, Figure); 5] = [
        ("currentTestRunDuration", |run| {
            run.execution.elapsed().as_secs_f64() * 1e3
        }),
        ("iterationsCompleted", |run| {
            run.count(Count::Complete) as f64
        }),
        ("iterationsInterrupted", |run| {
            run.count(Count::Interrupted) as f64
        }),
        ("vusActive", |run| run.count(Count::Active) as f64),
        ("vusInitialized", |run| run.count(Count::Ready) as f64),
    ];
    for (name, figure) in figures {
        property(&object, name, move |ctx, vu| {
            let run = run_of(ctx, vu, NO_INSTANCE)?;
            Ok(figure(&run))
        })?;
    }
    Ok(object)
}

fn stage_of(ctx: &Ctx<'_>, vu: &Vu) -> Result<Arc<Stage>> {
    let stage = vu.activity.borrow().stage.clone();
    let stage = stage.filter(|stage| stage.scenario().is_some());
    stage.ok_or_else(|| k6_error(ctx, NO_SCENARIO))
}

fn scenario<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let of = |get: fn(&Scenario) -> String| {
        move |ctx: &Ctx<'js>, vu: &Vu| {
            let stage = stage_of(ctx, vu)?;
            Ok(stage.scenario().map(get))
        }
    };
    property(&object, "name", of(|scenario| scenario.name.clone()))?;
    property(
        &object,
        "executor",
        of(|scenario| scenario.executor.clone()),
    )?;
    property(&object, "startTime", |ctx, vu| {
        let stage = stage_of(ctx, vu)?;
        let began = stage.scenario().and_then(|scenario| scenario.began.get());
        let since = began.and_then(|(_, began)| began.duration_since(UNIX_EPOCH).ok());
        Ok(since.map(|since| since.as_millis() as f64))
    })?;
    property(&object, "progress", |ctx, vu| {
        Ok(stage_of(ctx, vu)?.scenario().map(Scenario::progress))
    })?;
    for name in ["iterationInInstance", "iterationInTest"] {
        property(&object, name, |ctx, vu| {
            stage_of(ctx, vu)?;
            Ok(vu.activity.borrow().iteration_in_test as f64)
        })?;
    }
    Ok(object)
}

fn test<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("abort", function(ctx, "abort", abort)?)?;
    object.set("fail", function(ctx, "fail", fail)?)?;
    property(&object, "options", |ctx, vu| options(ctx, vu))?;
    Ok(object)
}

/// Returns the options, parsed once for each user, and frozen.
fn options<'js>(ctx: &Ctx<'js>, vu: &Vu) -> Result<Value<'js>> {
    let run = run_of(ctx, vu, NO_OPTIONS)?;
    let hidden = vu.hidden(ctx)?;
    let known: Value<'js> = hidden.get("options")?;
    if !known.is_undefined() {
        return Ok(known);
    }
    let options = ctx.json_parse(run.options.json.as_str())?;
    let freeze: Function<'js> = evaluate(
        ctx,
        "(function freeze(value) { if (value && typeof value === 'object') \
         { Object.values(value).forEach(freeze); Object.freeze(value); } return value; })",
    )?;
    let options: Value<'js> = freeze.call((options,))?;
    hidden.set("options", options.clone())?;
    Ok(options)
}

fn abort<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    let reason = match call.given(0) {
        Some(value) if !value.is_undefined() => format!(": {}", call.text(&value)?),
        _ => String::new(),
    };
    let vu = call.vu();
    let stage = vu.activity.borrow().stage.clone();
    let is_of_load = stage.is_none_or(|stage| stage.scenario().is_some());
    let place = place(call.ctx, &vu.program.store).filter(|_| is_of_load);
    let place = place.map_or_else(String::new, |place| format!(" at {place}"));
    vu.abort(format!("test aborted{reason}{place}"));
    Err(uncatchable(call.ctx, "test aborted"))
}

fn fail<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    let vu = call.vu();
    if vu.is_init() {
        let sentence = "execution.test.fail() called outside of VU context";
        return Err(k6_error(call.ctx, sentence));
    }
    let reason = match call.given(0) {
        Some(value) if !value.is_undefined() => format!(": {}", call.text(&value)?),
        _ => String::new(),
    };
    vu.program
        .log(Level::Error, &format!("test marked as failed{reason}"), &[]);
    if let Some(run) = &vu.run {
        run.mark_failed();
    }
    Ok(Value::new_undefined(call.ctx.clone()))
}

fn user<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for name in ["idInInstance", "idInTest"] {
        property(&object, name, |ctx, vu| {
            run_of(ctx, vu, NO_USER)?;
            Ok(vu.id)
        })?;
    }
    property(&object, "iterationInInstance", |ctx, vu| {
        run_of(ctx, vu, NO_USER)?;
        Ok(vu.activity.borrow().iteration as f64)
    })?;
    property(&object, "iterationInScenario", |ctx, vu| {
        run_of(ctx, vu, NO_USER)?;
        Ok(vu.activity.borrow().iteration_in_scenario as f64)
    })?;
    let tags = pairs(ctx, false)?;
    let metrics = Object::new(ctx.clone())?;
    metrics.set("tags", tags.clone())?;
    metrics.set("metadata", pairs(ctx, true)?)?;
    object.set("tags", tags)?;
    object.set("metrics", metrics)?;
    Ok(object)
}

/// Creates an object whose members are the user's tags, or its metadata.
fn pairs<'js>(ctx: &Ctx<'js>, is_metadata: bool) -> Result<Value<'js>> {
    let get = function(ctx, "get", move |call| get_pair(call, is_metadata))?;
    let put = function(ctx, "set", move |call| set_pair(call, is_metadata))?;
    let remove = function(ctx, "delete", move |call| remove_pair(call, is_metadata))?;
    let names = function(ctx, "names", move |call| names_of_pairs(call, is_metadata))?;
    let make: Function<'js> = evaluate(
        ctx,
        "(function (get, set, remove, names) {\n\
         const own = (name) => typeof name === 'string' ? get(name) : undefined;\n\
         return new Proxy({}, {\n\
         get: (target, name) => own(name) ?? target[name],\n\
         has: (target, name) => own(name) !== undefined || name in target,\n\
         set: (_, name, value) => { set(name, value); return true; },\n\
         deleteProperty: (_, name) => { remove(name); return true; },\n\
         ownKeys: () => names(),\n\
         getOwnPropertyDescriptor: (_, name) => {\n\
           const value = own(name);\n\
           return value === undefined ? undefined :\n\
             { value, writable: true, enumerable: true, configurable: true };\n\
         } }); })",
    )?;
    make.call((get, put, remove, names))
}

fn get_pair<'js>(call: Call<'_, 'js>, is_metadata: bool) -> Result<Value<'js>> {
    let vu = call.vu();
    run_of(call.ctx, &vu, NO_USER)?;
    let name = call.text(&call.arg(0))?;
    let value = match is_metadata {
        true => vu.activity.borrow().metadata.get(&name).cloned(),
        false => loadline_k6_metrics::Tags::get(&vu.tags(&[]), &name).map(|value| value.into()),
    };
    match value {
        Some(value) => String::into_js(value, call.ctx),
        None => Ok(Value::new_undefined(call.ctx.clone())),
    }
}

fn set_pair<'js>(call: Call<'_, 'js>, is_metadata: bool) -> Result<Value<'js>> {
    let vu = call.vu();
    run_of(call.ctx, &vu, NO_USER)?;
    let (name, value) = (call.text(&call.arg(0))?, call.arg(1));
    if value.is_object() || value.is_null() || value.is_undefined() {
        let sentence = not_a_tag(&name);
        return Err(rquickjs::Exception::throw_type(call.ctx, &sentence));
    }
    let value = call.text(&value)?;
    vu.retag(|activity| {
        match is_metadata {
            true => activity.metadata.insert(name, value),
            false => activity.tags.insert(name, value),
        };
    });
    Ok(Value::new_undefined(call.ctx.clone()))
}

fn remove_pair<'js>(call: Call<'_, 'js>, is_metadata: bool) -> Result<Value<'js>> {
    let vu = call.vu();
    let name = call.text(&call.arg(0))?;
    vu.retag(|activity| {
        match is_metadata {
            true => activity.metadata.remove(&name),
            false => activity.tags.remove(&name),
        };
    });
    Ok(Value::new_undefined(call.ctx.clone()))
}

fn names_of_pairs<'js>(call: Call<'_, 'js>, is_metadata: bool) -> Result<Value<'js>> {
    let vu = call.vu();
    let mut names: Vec<String> = Vec::new();
    match is_metadata {
        true => names.extend(vu.activity.borrow().metadata.keys().cloned()),
        false => loadline_k6_metrics::Tags::for_each(&vu.tags(&[]), &mut |name, _| {
            names.push(name.to_owned());
        }),
    }
    Vec::<String>::into_js(names, call.ctx)
}
