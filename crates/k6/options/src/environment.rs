//! Options as variables of the environment: `K6_VUS`, and so on.

use crate::error::OptionsError;
use crate::keys::{KEYS, Key, Kind};
use crate::meaning;
use crate::tier::Tier;
use crate::values;
use std::collections::BTreeMap;

/// Returns the options that are set by these variables.
///
/// # Errors
/// If a value is not valid for its option.
pub fn from_environment(variables: &BTreeMap<String, String>) -> Result<Tier, OptionsError> {
    let mut tier = Tier::default();
    for key in KEYS.iter().filter(|key| !key.variable.is_empty()) {
        let name = format!("K6_{}", key.variable);
        let Some(text) = variables.get(&name).filter(|text| !text.is_empty()) else {
            continue;
        };
        let value = values::from_text(key.kind, text)
            .and_then(|value| meaning::check(key.name, &value).map(|()| value))
            .map_err(|problem| unassignable(&name, key, text, &problem))?;
        tier.set(key.name, value);
    }
    Ok(tier)
}

fn unassignable(name: &str, key: &Key, text: &str, problem: &str) -> OptionsError {
    let kind = match key.kind {
        Kind::Bool => "null.Bool",
        Kind::Int => "null.Int",
        Kind::Duration => "types.NullDuration",
        Kind::Stages => "[]lib.Stage",
        Kind::Dns => "types.DNSConfig",
        Kind::Texts | Kind::TrendStats => "[]string",
        Kind::SystemTags => "metrics.SystemTagSet",
        Kind::Tags => "map[string]string",
        Kind::Thresholds => "map[string]metrics.Thresholds",
        Kind::Hosts => "types.NullHosts",
        Kind::LocalIps => "types.NullIPPool",
        Kind::Text
        | Kind::Scenarios
        | Kind::Segment
        | Kind::Segments
        | Kind::TlsVersions
        | Kind::TlsAuth
        | Kind::Any => "null.String",
    };
    OptionsError::invalid(format!(
        "envconfig.Process: assigning {name} to {}: converting '{text}' to type {kind}. details: \
         {problem}",
        key.field
    ))
}
