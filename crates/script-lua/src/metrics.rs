//! The metrics that a script records, by the table `loadline`.

use loadline_metrics::{CustomRecorder, Key, MetricKind, MetricUnit};
use loadline_record::SharedMetrics;
use mlua::{Function, Lua, LuaString, Table, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Creates a recorder for at most `most` metrics.
pub(crate) fn recorder(most: u32) -> SharedMetrics {
    Arc::new(Mutex::new(CustomRecorder::new(most)))
}

/// Creates the function by which the prelude defines a metric. It takes kind, name, unit and tags,
/// and returns a function that adds a value, or nil and the error.
pub(crate) fn define(
    lua: &Lua,
    metrics: &SharedMetrics,
    tags: &BTreeMap<String, String>,
) -> mlua::Result<Function> {
    let (metrics, common) = (Arc::clone(metrics), tags.clone());
    type Arguments = (String, LuaString, Option<LuaString>, Option<Table>);
    lua.create_function(move |lua, (kind, name, unit, own): Arguments| {
        let tags = all_tags(&common, own)?;
        match defined(&metrics, &kind, &name, unit.as_ref(), tags) {
            Ok(id) => {
                let metrics = Arc::clone(&metrics);
                let add = move |_: &Lua, value: f64| {
                    let mut metrics = metrics.lock().unwrap_or_else(PoisonError::into_inner);
                    metrics.add(id, value, epoch_ns());
                    Ok(())
                };
                Ok((Value::Function(lua.create_function(add)?), None))
            }
            Err(problem) => Ok((Value::Nil, Some(problem))),
        }
    })
}

fn all_tags(
    common: &BTreeMap<String, String>,
    own: Option<Table>,
) -> mlua::Result<BTreeMap<String, String>> {
    let mut tags = common.clone();
    for pair in own.iter().flat_map(|own| own.pairs::<String, String>()) {
        let (tag, value) = pair?;
        tags.insert(tag, value);
    }
    Ok(tags)
}

fn defined(
    metrics: &SharedMetrics,
    kind: &str,
    name: &LuaString,
    unit: Option<&LuaString>,
    tags: BTreeMap<String, String>,
) -> Result<loadline_metrics::MetricId, String> {
    let kind = MetricKind::named(kind).ok_or("the kind is not known")?;
    let name = name.to_str().map_err(|_| "a name is UTF-8")?;
    if !loadline_metrics::is_metric_name(&name) {
        return Err(format!(
            "`{name}` is not the name of a metric; begin with a letter, and use letters, digits \
             and _, at most 128"
        ));
    }
    let unit = unit.map(|unit| unit.to_string_lossy()).unwrap_or_default();
    let known = MetricUnit::named(&unit);
    let known =
        known.ok_or_else(|| format!("`{unit}` is not a unit; write \"ms\" or \"bytes\""))?;
    let key = Key::tagged(&name, tags).map_err(|problem| problem.to_string())?;
    let mut metrics = metrics.lock().unwrap_or_else(PoisonError::into_inner);
    let defined = metrics.define(&key, kind, known);
    defined.map_err(|other| format!("`{name}` is a {} already", other.0.name()))
}

/// Returns the time in nanoseconds since 1970.
fn epoch_ns() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(now.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}
