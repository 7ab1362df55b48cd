//! The module `k6/metrics`: metrics that a script defines.

use super::k6::tags_of;
use crate::errors::k6_error;
use crate::native::{Call, function};
use crate::run::Level;
use loadline_k6_metrics::{Contains, MetricId, MetricType};
use loadline_k6_modules::evaluate;
use rquickjs::{Ctx, Function, Object, Result, Value};

/// Makes a class of this name, as a member of an object has it. Instances have a name and `add`.
const CLASS: &str = "(function (name, define) {
    const classes = {
        [name]: class {
            constructor(name, isTime) {
                const add = define(name, isTime);
                Object.defineProperty(this, 'name', { value: String(name), enumerable: true });
                Object.defineProperty(this, 'add', { value: add, enumerable: true });
            }
        },
    };
    return classes[name];
})";

pub(super) fn module<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let kinds = [
        ("Counter", MetricType::Counter),
        ("Gauge", MetricType::Gauge),
        ("Rate", MetricType::Rate),
        ("Trend", MetricType::Trend),
    ];
    for (name, kind) in kinds {
        module.set(name, class(ctx, name, kind)?)?;
    }
    Ok(module)
}

/// Creates a class whose instances have a name and `add()`.
fn class<'js>(ctx: &Ctx<'js>, name: &str, kind: MetricType) -> Result<Value<'js>> {
    let define = function(ctx, "define", move |call| define(call, kind))?;
    let make: Function<'js> = evaluate(ctx, CLASS)?;
    make.call((name, define))
}

/// Registers a metric, and returns its `add`.
fn define<'js>(call: Call<'_, 'js>, kind: MetricType) -> Result<Value<'js>> {
    let vu = call.vu();
    if !vu.is_init() {
        return Err(k6_error(
            call.ctx,
            "metrics must be declared in the init context",
        ));
    }
    let name = match call.arg(0) {
        name if name.is_undefined() => String::new(),
        name => call.text(&name)?,
    };
    let contains = match call.is_truthy(call.arg(1))? {
        true => Contains::Time,
        false => Contains::Default,
    };
    let registry = &vu.program.registry;
    let id = registry
        .register(&name, kind, contains)
        .map_err(|error| k6_error(call.ctx, &error.to_string()))?;
    let add = function(call.ctx, "add", move |call| add(call, id, &name))?;
    Ok(add.into_value())
}

fn add<'js>(call: Call<'_, 'js>, id: MetricId, name: &str) -> Result<Value<'js>> {
    let vu = call.vu();
    if vu.is_init() {
        let sentence = "Adding to metrics in the init context is not supported";
        return Err(k6_error(call.ctx, sentence));
    }
    let value = call.number(0).unwrap_or(f64::NAN);
    if !value.is_finite() || call.arg(0).is_null() {
        return refuse(&call, name);
    }
    let context = format!("cannot add tags for the '{name}' custom metric: ");
    let tags = tags_of(&call, &call.arg(1), &context)?;
    let tags: Vec<(&str, &str)> = tags.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    vu.worker.add(id, value, &vu.tags(&tags));
    Ok(Value::new_bool(call.ctx.clone(), true))
}

/// Handles a value that is not a number: logs it, or throws if the options require it.
fn refuse<'js>(call: &Call<'_, 'js>, name: &str) -> Result<Value<'js>> {
    let vu = call.vu();
    let value = call.arg(0);
    let given = match value.is_undefined() {
        true => "no value was provided".to_owned(),
        false => format!("'{}' is an invalid value", call.text(&value)?),
    };
    let sentence = format!("{given} for metric '{name}', a number or a boolean value is expected");
    if vu.run.as_ref().is_some_and(|run| run.options.http.throws) {
        return Err(k6_error(call.ctx, &sentence));
    }
    vu.program.log(Level::Warning, &sentence, &[]);
    Ok(Value::new_bool(call.ctx.clone(), false))
}
