//! A tier: what one place says of options.

use crate::error::OptionsError;
use crate::keys;
use crate::meaning;
use crate::spelling::spelled;
use crate::values;
use serde_json::{Map, Value};

/// What one place says of options: their values by key, checked and in one form. Those that are
/// not said are missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tier {
    pub(crate) values: Map<String, Value>,
    /// Keys that are no options.
    pub unknown: Vec<String>,
}

/// The options that say what the load is: they come from one tier together.
pub(crate) const EXECUTION: [&str; 4] = ["duration", "iterations", "stages", "scenarios"];

impl Tier {
    /// Options as JSON: those of a script, of an archive or of a configuration file.
    ///
    /// # Errors
    /// If a value is none that its option takes.
    pub fn from_json(text: &str) -> Result<Tier, OptionsError> {
        let value: Value = serde_json::from_str(text)
            .map_err(|problem| OptionsError::invalid(problem.to_string()))?;
        match value {
            Value::Null => Ok(Tier::default()),
            Value::Object(fields) => Tier::from_fields(&fields),
            other => Err(OptionsError::invalid(no_object(&other))),
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

    /// Sets an option to a value in its one form.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }

    /// The value of an option, if it is said.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// Whether it says what the load is.
    pub(crate) fn says_execution(&self) -> bool {
        EXECUTION.iter().any(|name| self.values.contains_key(*name))
    }

    /// Lays another tier over this one.
    pub(crate) fn overlay(&mut self, higher: Tier) {
        if higher.says_execution() {
            EXECUTION
                .iter()
                .for_each(|name| drop(self.values.remove(*name)));
        }
        for (name, value) in higher.values {
            match (self.values.get_mut(&name), value) {
                // Fields of these are options of their own.
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
        _ => "array",
    };
    let text = value.to_string();
    format!(
        "parsing options from script got error while parsing {text:?}: json: cannot unmarshal \
         {kind} into Go value of type lib.Options"
    )
}
