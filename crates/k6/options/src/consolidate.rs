//! Tiers merged to one set of options, and the scenarios that result from it.

use crate::error::OptionsError;
use crate::keys::KEYS;
use crate::scenario::Scenario;
use crate::scenario::checks::problems;
use crate::scenario::raw::{Raw, fields_of, time_of};
use crate::settings::{SYSTEM_TAGS, Settings, TREND_STATS};
use crate::tier::Tier;
use crate::time::GoDuration;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// The options of a run.
#[derive(Clone, Debug)]
pub struct Consolidated {
    /// The merged options by key, as they were given.
    tier: Tier,
    /// The scenarios by name, as JSON, including one derived from other options.
    raw: Map<String, Value>,
    /// The options that do not define the load.
    pub settings: Settings,
    /// The scenarios, ordered by start time and name.
    pub scenarios: Vec<Scenario>,
    /// Warnings to print.
    pub warnings: Vec<String>,
}

/// The name of a source of options, and its options.
pub type Named<'a> = (&'a str, Tier);

/// Merges tiers, the lowest first, and makes scenarios of the result. `exports` returns true if the
/// script has a function of a name.
///
/// # Errors
/// If options contradict each other, or a scenario can't be run.
pub fn consolidate(
    tiers: Vec<Named<'_>>,
    exports: impl Fn(&str) -> bool,
) -> Result<Consolidated, OptionsError> {
    let mut tier = Tier::default();
    let mut warnings = Vec::new();
    for (name, higher) in tiers {
        let had_scenarios = tier.get("scenarios").is_some();
        if had_scenarios && higher.defines_execution() && higher.get("scenarios").is_none() {
            warnings.push(format!(
                "\"{name}\" level configuration overrode scenarios configuration entirely"
            ));
        }
        tier.overlay(higher);
    }
    let raw = derived(&tier, &mut warnings)
        .and_then(|raw| refuse_problems(&tier, &raw, exports).map(|()| raw));
    let raw = raw.map_err(|error| OptionsError {
        warnings: warnings.clone(),
        ..error
    })?;
    let scenario = |(name, value): (&String, &Value)| {
        let fields = value.as_object().cloned().unwrap_or_default();
        Scenario::of(name, &Raw(&fields))
    };
    let mut scenarios: Vec<Scenario> = raw.iter().map(scenario).collect();
    scenarios.sort_by(|one, other| {
        let key = |scenario: &Scenario| (scenario.start_time, scenario.name.clone());
        key(one).cmp(&key(other))
    });
    let settings = Settings::of(&tier)?;
    let scenarios = match settings.segment.is_whole() {
        true => scenarios,
        false => scenarios
            .into_iter()
            .filter_map(|scenario| scenario.share(settings.segment))
            .collect(),
    };
    Ok(Consolidated {
        tier,
        raw,
        settings,
        scenarios,
        warnings,
    })
}

/// Returns the scenarios that follow from the options: given ones, or one that is named `default`.
fn derived(tier: &Tier, warnings: &mut Vec<String>) -> Result<Map<String, Value>, OptionsError> {
    let stages = tier.get("stages").and_then(Value::as_array);
    let scenarios = tier.get("scenarios").and_then(Value::as_object);
    let (vus, duration) = (tier.get("vus"), tier.get("duration"));
    let refuse_both = |one: &str, other: &str, has_both: bool| match has_both {
        true => Err(OptionsError::invalid(format!(
            "using `{one}` and `{other}` options simultaneously is not allowed"
        ))),
        false => Ok(()),
    };
    let has_stages = stages.is_some_and(|stages| !stages.is_empty());
    if let Some(iterations) = tier.get("iterations") {
        refuse_both("iterations", "stages", has_stages)?;
        refuse_both("iterations", "scenarios", scenarios.is_some())?;
        return Ok(alone(
            "shared-iterations",
            &[
                ("vus", vus),
                ("iterations", Some(iterations)),
                ("maxDuration", duration),
            ],
        ));
    }
    if duration.is_some() {
        refuse_both("duration", "stages", has_stages)?;
        refuse_both("duration", "scenarios", scenarios.is_some())?;
        let time = duration.and_then(time_of);
        if time.is_some_and(|time| time.0 <= 0) {
            return Err(OptionsError::invalid(
                "`duration` option should be more than 0, for infinite duration use the \
                 externally-controlled executor",
            ));
        }
        return Ok(alone(
            "constant-vus",
            &[("vus", vus), ("duration", duration)],
        ));
    }
    if has_stages {
        refuse_both("stages", "scenarios", scenarios.is_some())?;
        return Ok(alone(
            "ramping-vus",
            &[("startVUs", vus), ("stages", tier.get("stages"))],
        ));
    }
    if let Some(scenarios) = scenarios.filter(|scenarios| !scenarios.is_empty()) {
        return Ok(scenarios.clone());
    }
    for (name, is_set) in [
        ("stages", stages.is_some()),
        ("scenarios", scenarios.is_some()),
    ] {
        if is_set {
            warnings.push(format!(
                "`{name}` was explicitly set to an empty value, running the script with 1 \
                 iteration in 1 VU"
            ));
        }
    }
    if let Some(vus) = vus.and_then(Value::as_i64).filter(|vus| *vus != 1) {
        warnings.push(format!(
            "`vus={vus}` option will be ignored, it only works in conjunction with `iterations`, \
             `duration`, or `stages`"
        ));
    }
    Ok(alone("per-vu-iterations", &[]))
}

/// Creates one scenario with this executor, named `default`.
fn alone(executor: &str, fields: &[(&str, Option<&Value>)]) -> Map<String, Value> {
    let mut scenario = Map::from_iter([("executor".to_owned(), json!(executor))]);
    for (name, value) in fields {
        if let Some(value) = value {
            scenario.insert((*name).to_owned(), (*value).clone());
        }
    }
    Map::from_iter([("default".to_owned(), Value::Object(scenario))])
}

/// Reports all problems of all scenarios in one error, then missing functions, and a timeout that
/// allows no `setup()`.
fn refuse_problems(
    tier: &Tier,
    raw: &Map<String, Value>,
    exports: impl Fn(&str) -> bool,
) -> Result<(), OptionsError> {
    let mut lines = String::new();
    for (name, value) in raw {
        let Some(fields) = value.as_object() else {
            continue;
        };
        let found = problems(name, &Raw(fields));
        if !found.is_empty() {
            // Writing to a string can't fail.
            let _ = write!(
                lines,
                "\n\t- scenario {name} has configuration errors: {}",
                found.join(", ")
            );
        }
    }
    for (name, value) in raw {
        let exec = value["exec"].as_str().unwrap_or("default");
        if !exec.is_empty() && !exports(exec) {
            let _ = write!(
                lines,
                "\n\t- executor {name}: function '{exec}' not found in exports"
            );
        }
    }
    let timeout = tier.get("setupTimeout").and_then(Value::as_str);
    let timeout = timeout.and_then(|text| GoDuration::parse(text).ok());
    if timeout.is_some_and(|timeout| timeout <= GoDuration(0)) {
        lines.push_str("\n\t- setupTimeout must be positive");
    }
    match lines.is_empty() {
        true => Ok(()),
        false => Err(OptionsError::invalid(format!(
            "There were problems with the specified script configuration:{lines}"
        ))),
    }
}

/// Default lists that are shown to scripts.
const DEFAULTS: [(&str, &[&str]); 2] = [
    ("summaryTrendStats", &TREND_STATS),
    ("systemTags", &SYSTEM_TAGS),
];

fn texts(all: &[&str]) -> Vec<Value> {
    all.iter().map(|text| Value::from(*text)).collect()
}

impl Consolidated {
    /// Returns the options as `inspect` prints them: each key in k6's order, with `null` for
    /// options that are not set.
    pub fn printed(&self) -> Vec<(&'static str, Value)> {
        let keys = KEYS.iter().filter(|key| key.is_in_script);
        let values = keys.filter_map(|key| match key.name {
            "scenarios" => Some((key.name, with_all_fields(&self.raw))),
            "cloud" | "localIPs" => self.tier.get(key.name).map(|one| (key.name, one.clone())),
            "dns" => Some((key.name, self.dns_json())),
            name => Some((name, self.value(name))),
        });
        values.collect()
    }

    /// Returns the options without scenarios that were derived from other options. With
    /// `has_requirements`, it includes them, and the default lists for the summary and the tags.
    pub fn inspected(&self, has_requirements: bool) -> Vec<(&'static str, Value)> {
        let mut fields = self.printed();
        for (name, value) in &mut fields {
            let default = DEFAULTS.iter().find(|(known, _)| known == name);
            match default {
                Some((_, usual)) if has_requirements && value.is_null() => {
                    let mut usual = texts(usual);
                    if *name == "systemTags" {
                        usual.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
                    }
                    *value = usual.into();
                }
                None if *name == "scenarios" && !has_requirements => {
                    let given = self.value(name);
                    *value = given.as_object().map_or(Value::Null, with_all_fields);
                }
                _ => {}
            }
        }
        fields
    }

    /// Returns the options for scripts: the load is in scenarios only, and the default lists for
    /// the summary and the tags are included.
    pub fn of_script(&self) -> Value {
        let mut fields = Map::new();
        for (name, value) in self.printed() {
            if !matches!(name, "vus" | "duration" | "iterations" | "stages") {
                fields.insert(name.to_owned(), value);
            }
        }
        for (name, default) in DEFAULTS {
            let given = self.value(name);
            let mut value = given
                .as_array()
                .map_or_else(|| texts(default), Clone::clone);
            if name == "systemTags" {
                value.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
            }
            fields.insert(name.to_owned(), value.into());
        }
        for hidden in ["consoleOutput", "localIPs"] {
            fields.insert(hidden.to_owned(), self.value(hidden));
        }
        Value::Object(fields)
    }

    /// Returns the value of an option; `null` if it is not set.
    fn value(&self, name: &str) -> Value {
        self.tier.get(name).cloned().unwrap_or_default()
    }

    /// Returns the options of name resolution, with all their fields.
    fn dns_json(&self) -> Value {
        let given = self.value("dns");
        let fields = ["ttl", "select", "policy"].map(|field| {
            let value = given.get(field).cloned().unwrap_or_default();
            (field.to_owned(), value)
        });
        Value::Object(fields.into_iter().collect())
    }

    /// The fields of a scenario in k6's order.
    pub fn fields_of(executor: &str) -> Vec<&'static str> {
        fields_of(executor).collect()
    }
}

/// Scenarios with all their fields; JSON's objects have no order here.
fn with_all_fields(scenarios: &Map<String, Value>) -> Value {
    let whole = |(name, value): (&String, &Value)| {
        let executor = value["executor"].as_str().unwrap_or_default();
        let fields = fields_of(executor).map(|field| {
            (
                field.to_owned(),
                value.get(field).cloned().unwrap_or_default(),
            )
        });
        (name.clone(), Value::Object(fields.collect()))
    };
    Value::Object(scenarios.iter().map(whole).collect())
}

#[cfg(test)]
mod tests;
