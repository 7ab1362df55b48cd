//! The values of options: from values of scripts and from texts to a canonical form.

use crate::error::OptionsError;
use crate::keys::{Key, Kind};
use crate::local_ips::LocalIps;
use crate::scenario::raw;
use crate::segment::Segment;
use crate::spelling::{field, spelled};
use crate::time::GoDuration;
use serde_json::{Map, Number, Value, json};

/// The message for an invalid value.
pub(crate) type Problem = String;

/// Converts a value of a script to canonical form.
pub(crate) fn from_script(key: &Key, value: &Value) -> Result<Value, OptionsError> {
    let named = |problem| OptionsError::invalid(problem);
    let mismatch = |kind: &str| {
        let value = wrong_part(value);
        OptionsError::invalid(format!(
            "parsing options from script got error while parsing \"\\\"{0}\\\"\": json: cannot \
             unmarshal {1} into Go struct field Options.{0} of type {kind}",
            key.name,
            shape(value),
        ))
    };
    match key.kind {
        Kind::Bool => boolean(value).ok_or_else(|| no_null(value, "null.Bool")),
        Kind::Int => whole(value)
            .map_err(named)?
            .ok_or_else(|| mismatch("int64")),
        Kind::Duration => duration(value).map_err(named),
        Kind::Text | Kind::LocalIps => text(value).ok_or_else(|| no_null(value, "null.String")),
        Kind::Texts => texts(value).ok_or_else(|| mismatch("[]string")),
        Kind::Tags => tags(value).ok_or_else(|| mismatch("string")),
        Kind::Stages => stages(value).map_err(named),
        Kind::Scenarios => raw::scenarios(value),
        Kind::Segment => segment(value).map_err(named),
        Kind::Segments => segments(value).map_err(named),
        Kind::Dns => dns(value),
        Kind::TlsVersions => match (tls_versions(value), unknown_version(value)) {
            (Some(versions), _) => Ok(versions),
            (None, Some(version)) => Err(named(format!("unknown TLS version '{version}'"))),
            (None, None) => Err(mismatch("lib.tlsVersionsFields")),
        },
        Kind::TlsAuth => tls_auth(value).ok_or_else(|| mismatch("[]*lib.TLSAuth")),
        Kind::Thresholds => thresholds(value).ok_or_else(|| mismatch("[]metrics.thresholdConfig")),
        Kind::Hosts => tags(value).ok_or_else(|| mismatch("string")),
        Kind::TrendStats => texts(value).ok_or_else(|| mismatch("[]string")),
        Kind::SystemTags => sorted(texts(value)).ok_or_else(|| mismatch("[]string")),
        Kind::Any => Ok(value.clone()),
    }
}

/// Returns the error for a value of another kind than its option, which is nullable in k6.
fn no_null(value: &Value, kind: &str) -> OptionsError {
    let found = match value {
        Value::Number(_) => "float64".to_owned(),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            shape(value)
        }
    };
    OptionsError::invalid(format!(
        "json: cannot unmarshal {found} into Go value of type {kind}"
    ))
}

/// Returns the first of the bounds that is not a version of TLS.
fn unknown_version(value: &Value) -> Option<&str> {
    let bounds = value.as_object()?.values().filter_map(Value::as_str);
    let mut unknown = bounds.filter(|bound| tls_versions(&json!(bound)).is_none());
    unknown.next()
}

/// Converts a text of a variable or of the command line to canonical form.
pub(crate) fn from_text(kind: Kind, text: &str) -> Result<Value, Problem> {
    match kind {
        Kind::Bool => truth(text).ok_or_else(|| format!("invalid input:{text}")),
        Kind::Int => parse_int(text),
        Kind::Duration => GoDuration::parse(text)
            .map(|time| json!(time.to_string()))
            .map_err(|problem| problem.to_string()),
        Kind::Text | Kind::Any => Ok(json!(text)),
        Kind::LocalIps => LocalIps::parse(text).map(|_| json!(text)),
        Kind::Texts | Kind::TrendStats => Ok(split(text)),
        Kind::SystemTags => Ok(sorted(Some(split(text))).unwrap_or_default()),
        Kind::Tags => pairs(text),
        Kind::Stages => stages_of(text.split(',')),
        Kind::Segment => Segment::parse(text).map(|one| json!(one.to_string())),
        Kind::Segments => segments(&json!(text)),
        Kind::Dns => dns_of(text),
        Kind::Scenarios | Kind::TlsVersions | Kind::TlsAuth | Kind::Thresholds | Kind::Hosts => {
            serde_json::from_str(text).map_err(|problem| problem.to_string())
        }
    }
}

/// Returns the first field of an object that is not an array, or else the value itself.
fn wrong_part(value: &Value) -> &Value {
    let parts = value
        .as_object()
        .into_iter()
        .flat_map(|fields| fields.values());
    parts
        .into_iter()
        .find(|part| !part.is_array())
        .unwrap_or(value)
}

/// Returns Go's name for a kind of JSON value.
fn shape(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(number) if number.is_f64() => format!("number {number}"),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
    }
}

fn boolean(value: &Value) -> Option<Value> {
    match value {
        Value::Bool(_) => Some(value.clone()),
        Value::String(text) => truth(text),
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn truth(text: &str) -> Option<Value> {
    match text {
        "true" | "TRUE" | "True" | "1" | "t" | "T" => Some(json!(true)),
        "false" | "FALSE" | "False" | "0" | "f" | "F" => Some(json!(false)),
        _ => None,
    }
}

/// Converts a whole number; `Ok(None)` if the value is not a number, or not a whole one.
pub(crate) fn whole(value: &Value) -> Result<Option<Value>, Problem> {
    match value {
        Value::Number(number) => Ok(whole_number(number).map(Value::from)),
        Value::String(text) => parse_int(text).map(Some),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => Ok(None),
    }
}

/// Returns a whole number in either form, because JavaScript writes both.
fn whole_number(number: &Number) -> Option<i64> {
    let float = number.as_f64().filter(|float| float.fract() == 0.0);
    number.as_i64().or(float.map(|float| float as i64))
}

pub(crate) fn parse_int(text: &str) -> Result<Value, Problem> {
    let parsed = text.parse::<i64>().map(Value::from);
    parsed.map_err(|_| format!("strconv.ParseInt: parsing {text:?}: invalid syntax"))
}

pub(crate) fn duration(value: &Value) -> Result<Value, Problem> {
    let time = match value {
        Value::String(text) => GoDuration::parse(text).map_err(|problem| problem.to_string())?,
        Value::Number(number) => GoDuration::milliseconds(number.as_f64().unwrap_or_default()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            return Err(format!("'{value}' is not a valid duration value"));
        }
    };
    Ok(json!(time.to_string()))
}

pub(crate) fn text(value: &Value) -> Option<Value> {
    value.is_string().then(|| value.clone())
}

fn list(value: &Value) -> Option<Value> {
    value.is_array().then(|| value.clone())
}

fn texts(value: &Value) -> Option<Value> {
    let all = value.as_array()?.iter().all(Value::is_string);
    all.then(|| value.clone())
}

pub(crate) fn tags(value: &Value) -> Option<Value> {
    let all = value.as_object()?.values().all(Value::is_string);
    all.then(|| value.clone())
}

fn sorted(value: Option<Value>) -> Option<Value> {
    let Some(Value::Array(mut names)) = value else {
        return None;
    };
    names.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
    names.dedup();
    Some(Value::Array(names))
}

fn split(text: &str) -> Value {
    let parts = text.split(',').map(str::trim);
    parts.filter(|part| !part.is_empty()).collect()
}

/// Converts thresholds: each is a text, or an object with one.
fn thresholds(value: &Value) -> Option<Value> {
    let mut of_metrics = value.as_object()?.values();
    let is_one = |one: &Value| one.is_string() || one.is_object();
    let all = of_metrics.all(|of| of.as_array().is_some_and(|of| of.iter().all(is_one)));
    let mut value = all.then(|| value.clone())?;
    let of_metrics = value.as_object_mut()?.values_mut();
    let lists = of_metrics.filter_map(Value::as_array_mut);
    lists.flatten().for_each(|one| spell(one, &THRESHOLD));
    Some(value)
}

/// The fields of a threshold, and below, of a client certificate.
const THRESHOLD: [&str; 3] = ["threshold", "abortOnFail", "delayAbortEval"];
const TLS_AUTH: [&str; 4] = ["cert", "key", "password", "domains"];

/// Renames the fields of an object to their canonical names.
fn spell(value: &mut Value, known: &[&str]) {
    if let Value::Object(fields) = value {
        *fields = spelled(fields, known.iter().copied());
    }
}

/// Converts client certificates.
fn tls_auth(value: &Value) -> Option<Value> {
    let mut value = list(value)?;
    let all = value.as_array_mut()?;
    all.iter_mut().for_each(|one| spell(one, &TLS_AUTH));
    Some(value)
}

/// Converts stages, from objects with `duration` and `target`; those without a duration are left
/// out.
pub(crate) fn stages(value: &Value) -> Result<Value, Problem> {
    let list = value.as_array().ok_or("stages should be an array")?;
    let mut stages = Vec::new();
    for stage in list {
        let fields = stage.as_object();
        let of = |key: &str| {
            let value = fields.and_then(|fields| field(fields, key));
            value.filter(|value| !value.is_null())
        };
        let Some(time) = of("duration") else {
            continue;
        };
        let target = of("target").map(whole).transpose()?.flatten();
        stages.push(json!({
            "duration": duration(time)?,
            "target": target.unwrap_or(Value::Null),
        }));
    }
    Ok(Value::Array(stages))
}

/// Converts stages, each as `10s:5`.
pub(crate) fn stages_of<'a>(texts: impl Iterator<Item = &'a str>) -> Result<Value, Problem> {
    let mut stages = Vec::new();
    for text in texts.filter(|text| !text.is_empty()) {
        let (time, target) = text.split_once(':').unwrap_or((text, ""));
        let time = GoDuration::parse_with_unit(time).map_err(|problem| problem.to_string())?;
        let target = match target {
            "" => Value::Null,
            target => parse_int(target)?,
        };
        stages.push(json!({ "duration": time.to_string(), "target": target }));
    }
    Ok(Value::Array(stages))
}

fn segment(value: &Value) -> Result<Value, Problem> {
    let text = value.as_str().ok_or("an execution segment is a text")?;
    Ok(json!(Segment::parse(text)?.to_string()))
}

fn segments(value: &Value) -> Result<Value, Problem> {
    let text = value
        .as_str()
        .ok_or("an execution segment sequence is a text")?;
    Segment::parse_sequence(text)?;
    Ok(json!(text))
}

fn pairs(text: &str) -> Result<Value, Problem> {
    if text.starts_with('{') {
        return serde_json::from_str(text).map_err(|problem| problem.to_string());
    }
    let pairs = text.split(',').filter(|pair| !pair.is_empty());
    let pair = |pair: &str| match pair.split_once(':') {
        Some((name, value)) if !name.is_empty() && !value.contains(':') => {
            Ok((name.to_owned(), json!(value)))
        }
        _ => Err(format!("invalid map item: {pair:?}")),
    };
    let pairs: Result<Map<String, Value>, Problem> = pairs.map(pair).collect();
    Ok(Value::Object(pairs?))
}

fn tls_versions(value: &Value) -> Option<Value> {
    let known = |version: &str| matches!(version, "tls1.0" | "tls1.1" | "tls1.2" | "tls1.3" | "");
    match value {
        Value::String(version) if known(version) => Some(json!({ "min": version, "max": version })),
        Value::Object(range) => {
            let mut range = spelled(range, ["min", "max"].into_iter());
            // An undefined bound, such as `http.SSL_3_0`, is not set.
            range.retain(|_, bound| !bound.is_null());
            let all = range.values().all(|one| one.as_str().is_some_and(known));
            // Whether a closure has a use depends on the features of serde_json.
            match all {
                true => Some(Value::Object(range)),
                false => None,
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            None
        }
    }
}

const DNS_SELECTS: [&str; 3] = ["first", "random", "roundRobin"];
const DNS_POLICIES: [&str; 5] = ["preferIPv4", "preferIPv6", "onlyIPv4", "onlyIPv6", "any"];

/// Converts the options of name resolution as a script has them.
fn dns(value: &Value) -> Result<Value, OptionsError> {
    let fields = value.as_object();
    let fields = fields.ok_or_else(|| OptionsError::invalid("dns should be an object"))?;
    let text = |name: &str| match field(fields, name) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    checked_dns(text("ttl"), text("select"), text("policy"))
}

fn checked_dns(
    ttl: Option<String>,
    select: Option<String>,
    policy: Option<String>,
) -> Result<Value, OptionsError> {
    let among = |value: &Option<String>, known: &[&str], what: &str| match value {
        Some(value) if !known.contains(&value.as_str()) => Err(OptionsError::invalid(format!(
            "{value} does not belong to {what} values"
        ))),
        _ => Ok(()),
    };
    among(&select, &DNS_SELECTS, "DNSSelect")?;
    among(&policy, &DNS_POLICIES, "DNSPolicy")?;
    if let Some(ttl) = ttl.as_deref().filter(|ttl| *ttl != "inf") {
        GoDuration::parse(ttl)
            .map_err(|_| OptionsError::refused(format!("invalid DNS TTL: {ttl}")))?;
    }
    Ok(json!({ "ttl": ttl, "select": select, "policy": policy }))
}

/// Parses the options of name resolution, as `ttl=5m,select=random`.
fn dns_of(text: &str) -> Result<Value, Problem> {
    let mut fields = Map::new();
    for pair in text.split(',').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair
            .split_once('=')
            .ok_or_else(|| format!("no value for key {pair}"))?;
        if !["ttl", "select", "policy"].contains(&name) {
            return Err(format!("unknown DNS configuration field: {name}"));
        }
        fields.insert(name.to_owned(), json!(value));
    }
    dns(&Value::Object(fields)).map_err(|error| error.text)
}
