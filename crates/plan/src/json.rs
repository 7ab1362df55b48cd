//! Plans as JSON, compiled once.
//!
//! Code that serde derives is generic: each crate that stores a [`Plan`] inside a type of its own
//! would compile all types of the plan again, which took longer than the rest of such a crate.
//! Therefore a field of that type names this module, `#[serde(with = "loadline_plan::json")]`, and
//! the plan is passed as text. The field can be read from JSON only, and not within an `untagged`
//! or `flatten`ed value, whose contents serde buffers in a form of its own.

use crate::Plan;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// Writes a plan as the JSON object that the plan's own `Serialize` writes.
///
/// # Errors
///
/// As the serializer's.
pub fn serialize<S: Serializer>(plan: &Plan, serializer: S) -> Result<S::Ok, S::Error> {
    let raw = to_raw(plan).map_err(S::Error::custom)?;
    raw.serialize(serializer)
}

/// Reads a plan from the JSON object that [`serialize`] writes.
///
/// # Errors
///
/// If the text is not a plan, or the input is not JSON.
pub fn deserialize<'de, D, P>(deserializer: D) -> Result<P, D::Error>
where
    D: Deserializer<'de>,
    P: From<Plan>,
{
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    from_raw(&raw).map(P::from).map_err(D::Error::custom)
}

// These two are not generic, so that the types of the plan are compiled here only.

fn to_raw(plan: &Plan) -> serde_json::Result<Box<RawValue>> {
    serde_json::value::to_raw_value(plan)
}

fn from_raw(raw: &RawValue) -> serde_json::Result<Plan> {
    serde_json::from_str(raw.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Stored {
        before: u32,
        #[serde(with = "crate::json")]
        plan: Plan,
        #[serde(with = "crate::json")]
        boxed: Box<Plan>,
    }

    #[test]
    fn a_plan_inside_of_another_value_is_written_as_it_writes_itself() {
        let plan = Plan {
            seed: 7,
            ..Plan::default()
        };
        let stored = Stored {
            before: 1,
            boxed: Box::new(plan.clone()),
            plan,
        };
        let text = serde_json::to_string(&stored).expect("JSON");
        let alone = serde_json::to_string(&stored.plan).expect("JSON");
        let expected = format!(r#"{{"before":1,"plan":{alone},"boxed":{alone}}}"#);
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Stored>(&text).expect("read"), stored);
    }

    #[test]
    fn an_error_names_the_key_that_is_wrong() {
        let text = r#"{"before":1,"plan":{"requests":5},"boxed":{}}"#;
        let error = serde_json::from_str::<Stored>(text).expect_err("no list");
        assert!(error.to_string().contains("integer `5`"), "{error}");
    }
}
