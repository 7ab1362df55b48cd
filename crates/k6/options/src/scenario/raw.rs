//! Scenarios as they are written: their fields, checked and in canonical form.

use crate::error::OptionsError;
use crate::keys::Kind;
use crate::spelling;
use crate::time::GoDuration;
use crate::values;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Fields of every scenario, in the order in which they are printed.
const COMMON: &[(&str, Kind)] = &[
    ("startTime", Kind::Duration),
    ("gracefulStop", Kind::Duration),
    ("env", Kind::Tags),
    ("exec", Kind::Text),
    ("tags", Kind::Tags),
];

/// The executors, with their own fields in the order in which they are printed.
const EXECUTORS: &[(&str, &[(&str, Kind)])] = &[
    (
        "shared-iterations",
        &[
            ("vus", Kind::Int),
            ("iterations", Kind::Int),
            ("maxDuration", Kind::Duration),
        ],
    ),
    (
        "per-vu-iterations",
        &[
            ("vus", Kind::Int),
            ("iterations", Kind::Int),
            ("maxDuration", Kind::Duration),
        ],
    ),
    (
        "constant-vus",
        &[("vus", Kind::Int), ("duration", Kind::Duration)],
    ),
    (
        "ramping-vus",
        &[
            ("startVUs", Kind::Int),
            ("stages", Kind::Stages),
            ("gracefulRampDown", Kind::Duration),
        ],
    ),
    (
        "constant-arrival-rate",
        &[
            ("rate", Kind::Int),
            ("timeUnit", Kind::Duration),
            ("duration", Kind::Duration),
            ("preAllocatedVUs", Kind::Int),
            ("maxVUs", Kind::Int),
        ],
    ),
    (
        "ramping-arrival-rate",
        &[
            ("startRate", Kind::Int),
            ("timeUnit", Kind::Duration),
            ("stages", Kind::Stages),
            ("preAllocatedVUs", Kind::Int),
            ("maxVUs", Kind::Int),
        ],
    ),
    (
        "externally-controlled",
        &[
            ("vus", Kind::Int),
            ("duration", Kind::Duration),
            ("maxVUs", Kind::Int),
        ],
    ),
];

/// Checks scenarios by name, as a script has them, and returns their canonical form.
pub(crate) fn scenarios(value: &Value) -> Result<Value, OptionsError> {
    let fields = value
        .as_object()
        .ok_or_else(|| mismatch("", value, "map"))?;
    let mut scenarios = Map::new();
    for (name, scenario) in fields {
        scenarios.insert(name.clone(), one(name, scenario)?);
    }
    Ok(Value::Object(scenarios))
}

fn one(name: &str, value: &Value) -> Result<Value, OptionsError> {
    let given = value
        .as_object()
        .ok_or_else(|| mismatch("", value, "map"))?;
    let executor = spelling::field(given, "executor").and_then(Value::as_str);
    let executor = executor
        .filter(|executor| !executor.is_empty())
        .ok_or_else(|| {
            OptionsError::invalid(format!(
                "scenario '{name}' doesn't have a specified executor type"
            ))
        })?;
    let own = EXECUTORS.iter().find(|(known, _)| *known == executor);
    let (_, own) =
        own.ok_or_else(|| OptionsError::invalid(format!("unknown executor type '{executor}'")))?;
    let known: Vec<&(&str, Kind)> = COMMON.iter().chain(*own).collect();
    let names = known.iter().map(|(name, _)| *name);
    let names = names.chain(["executor", "options"]);
    let given = &spelling::spelled(given, names.clone());
    let is_known = |key: &str| names.clone().any(|name| name == key);
    if let Some(unknown) = given.keys().find(|key| !is_known(key)) {
        return Err(OptionsError::invalid(format!(
            "json: unknown field {unknown:?}"
        )));
    }
    let mut fields = Map::from_iter([("executor".to_owned(), json!(executor))]);
    for (key, kind) in known {
        let value = given.get(*key).filter(|value| !value.is_null());
        if let Some(value) = value {
            fields.insert((*key).to_owned(), field(key, *kind, value)?);
        }
    }
    if let Some(options) = given.get("options") {
        fields.insert("options".to_owned(), options.clone());
    }
    Ok(Value::Object(fields))
}

fn field(key: &str, kind: Kind, value: &Value) -> Result<Value, OptionsError> {
    match kind {
        Kind::Int => values::whole(value)
            .map_err(OptionsError::invalid)?
            .ok_or_else(|| mismatch(key, value, "int64")),
        Kind::Duration => values::duration(value).map_err(OptionsError::invalid),
        Kind::Stages => values::stages(value).map_err(OptionsError::invalid),
        Kind::Tags => values::tags(value)
            .ok_or_else(|| mismatch(&format!("BaseConfig.{key}"), value, "string")),
        Kind::Text
        | Kind::Bool
        | Kind::Texts
        | Kind::Scenarios
        | Kind::Segment
        | Kind::Segments
        | Kind::Dns
        | Kind::TlsVersions
        | Kind::TlsAuth
        | Kind::Thresholds
        | Kind::Hosts
        | Kind::TrendStats
        | Kind::SystemTags
        | Kind::LocalIps
        | Kind::Any => values::text(value).ok_or_else(|| mismatch(key, value, "string")),
    }
}

fn mismatch(key: &str, value: &Value, kind: &str) -> OptionsError {
    let found = match value {
        Value::Object(fields) => fields
            .values()
            .find(|one| !one.is_string())
            .unwrap_or(value),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            value
        }
    };
    let found = match found {
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(number) if number.is_f64() => format!("number {number}"),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) | Value::Null => "object".to_owned(),
    };
    let path = if key.is_empty() {
        String::new()
    } else {
        format!(".{key}")
    };
    OptionsError::invalid(format!(
        "parsing options from script got error while parsing \"\\\"scenarios\\\"\": json: cannot \
         unmarshal {found} into Go struct field Options.scenarios{path} of type {kind}"
    ))
}

/// Returns all fields of scenarios with this executor, in the order in which they are printed.
pub(crate) fn fields_of(executor: &str) -> impl Iterator<Item = &'static str> {
    let own = EXECUTORS.iter().find(|(known, _)| *known == executor);
    let own = own.map_or(&[][..], |(_, own)| *own);
    let fields = COMMON.iter().chain(own).map(|(name, _)| *name);
    std::iter::once("executor").chain(fields)
}

/// A scenario as it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw<'a>(pub(crate) &'a Map<String, Value>);

impl<'a> Raw<'a> {
    pub(crate) fn get(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn executor(&self) -> &'a str {
        self.text("executor").unwrap_or_default()
    }

    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        self.get(name).and_then(Value::as_str)
    }

    pub(crate) fn count(&self, name: &str) -> Option<i64> {
        self.get(name).and_then(Value::as_i64)
    }

    /// Returns a time, if it is given.
    pub(crate) fn given_time(&self, name: &str) -> Option<GoDuration> {
        self.get(name).and_then(time_of)
    }

    pub(crate) fn time(&self, name: &str, default: GoDuration) -> GoDuration {
        self.given_time(name).unwrap_or(default)
    }

    pub(crate) fn texts(&self, name: &str) -> BTreeMap<String, String> {
        let fields = self.get(name).and_then(Value::as_object);
        let texts = fields.into_iter().flatten();
        let texts = texts.filter_map(|(name, value)| Some((name, value.as_str()?)));
        texts
            .map(|(name, value)| (name.clone(), value.to_owned()))
            .collect()
    }
}

/// Converts a time that has been checked.
pub(crate) fn time_of(value: &Value) -> Option<GoDuration> {
    value.as_str().and_then(|text| GoDuration::parse(text).ok())
}
