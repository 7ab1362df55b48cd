//! A tier: the options of one source.

use crate::error::OptionsError;
use crate::keys;
use crate::meaning;
use crate::spelling::spelled;
use crate::values;
use serde_json::{Map, Value};

/// The options of one source: values by key, checked and in canonical form. Options that are not
/// set are missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tier {
    pub(crate) values: Map<String, Value>,
    /// Keys that are not options.
    pub unknown: Vec<String>,
}

/// The options that define the load: all of them are taken from the same tier.
pub(crate) const EXECUTION: [&str; 4] = ["duration", "iterations", "stages", "scenarios"];

impl Tier {
    /// Parses options in JSON: of a script, of an archive or of a configuration file.
    ///
    /// # Errors
    /// If a value is not valid for its option.
    pub fn from_json(text: &str) -> Result<Tier, OptionsError> {
        let value: Value = serde_json::from_str(text)
            .map_err(|problem| OptionsError::invalid(problem.to_string()))?;
        match value {
            Value::Null => Ok(Tier::default()),
            Value::Object(fields) => Tier::from_fields(&fields),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(OptionsError::invalid(no_object(&value)))
            }
        }
    }

    fn from_fields(fields: &Map<String, Value>) -> Result<Tier, OptionsError> {
        let mut tier = Tier::default();
        let known = keys::KEYS.iter().filter(|key| key.is_in_script);
        for (name, value) in &spelled(fields, known.map(|key| key.name)) {
            match keys::of(name).filter(|key| key.is_in_script) {
                _ if value.is_null() => {}
                Some(key) => {
                    let value = values::from_script(key, value)?;
                    meaning::check(key.name, &value).map_err(OptionsError::invalid)?;
                    tier.set(key.name, value);
                }
                None => tier.unknown.push(name.clone()),
            }
        }
        Ok(tier)
    }

    /// Sets an option to a value in canonical form.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }

    /// Returns the value of an option, if it is set.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// True if options are set that define the load.
    pub(crate) fn defines_execution(&self) -> bool {
        EXECUTION.iter().any(|name| self.values.contains_key(*name))
    }

    /// Merges a tier with higher precedence into this one.
    pub(crate) fn overlay(&mut self, higher: Tier) {
        if higher.defines_execution() {
            EXECUTION
                .iter()
                .for_each(|name| drop(self.values.remove(*name)));
        }
        for (name, value) in higher.values {
            match (self.values.get_mut(&name), value) {
                // The fields of this option are merged one by one.
                (Some(Value::Object(known)), Value::Object(new)) if name == "dns" => {
                    known.extend(new.into_iter().filter(|(_, value)| !value.is_null()));
                }
                (_, value) => drop(self.values.insert(name, value)),
            }
        }
    }
}

fn no_object(value: &Value) -> String {
    let kind = match value {
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) | Value::Null | Value::Object(_) => "array",
    };
    let text = value.to_string();
    format!(
        "parsing options from script got error while parsing {text:?}: json: cannot unmarshal \
         {kind} into Go value of type lib.Options"
    )
}
