//! The difference of two states of the page, as small as what changed: a number at the end of each
//! line of a chart, the cells of a table that are other ones.
//!
//! The page applies it in `web/src/live/patch.ts`. Applied to the state before, it gives exactly
//! the state after.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What changed in a value. Nothing did if it is empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Patch {
    /// The new value, instead of the old one. If it is there, nothing else is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "unknown", optional))]
    pub set: Option<Value>,
    /// What changed in members of the object, or in elements of the list, by name or index.
    #[serde(rename = "in", skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<BTreeMap<String, Patch>>"))]
    pub within: BTreeMap<String, Patch>,
    /// Elements that are appended to the list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(type = "unknown[]", optional))]
    pub add: Vec<Value>,
}

impl Patch {
    /// Returns what changed from one value to another.
    pub fn between(old: &Value, new: &Value) -> Patch {
        match (old, new) {
            (Value::Object(old), Value::Object(new)) if has_same_keys(old, new) => {
                Patch::of_members(old, new)
            }
            (Value::Array(old), Value::Array(new)) if old.len() <= new.len() => {
                Patch::of_elements(old, new)
            }
            _ if old == new => Patch::default(),
            _ => Patch::to(new),
        }
    }

    /// Returns a patch that replaces the value.
    fn to(new: &Value) -> Patch {
        Patch {
            set: Some(new.clone()),
            ..Patch::default()
        }
    }

    fn of_members(old: &Map<String, Value>, new: &Map<String, Value>) -> Patch {
        let changed = new.iter().filter_map(|(key, new)| {
            let patch = Patch::between(&old[key], new);
            (!patch.is_empty()).then(|| (key.clone(), patch))
        });
        Patch {
            within: changed.collect(),
            ..Patch::default()
        }
    }

    /// Changes of many numbers are longer than the numbers: then the list is replaced.
    fn of_elements(old: &[Value], new: &[Value]) -> Patch {
        let is_plain = |value: &Value| !value.is_object() && !value.is_array();
        let (mut within, mut plain) = (BTreeMap::new(), 0);
        for (index, (before, after)) in old.iter().zip(new).enumerate() {
            let patch = Patch::between(before, after);
            if !patch.is_empty() {
                plain += usize::from(is_plain(after));
                within.insert(index.to_string(), patch);
            }
            if plain * 4 > new.len() {
                return Patch::to(&Value::Array(new.to_vec()));
            }
        }
        Patch {
            within,
            add: new[old.len()..].to_vec(),
            set: None,
        }
    }

    /// True if nothing changed.
    pub fn is_empty(&self) -> bool {
        self.set.is_none() && self.within.is_empty() && self.add.is_empty()
    }

    /// Applies it to the value before.
    #[cfg(test)]
    pub(crate) fn apply(&self, value: &mut Value) {
        if let Some(set) = &self.set {
            value.clone_from(set);
        }
        for (key, patch) in &self.within {
            let inner = match &mut *value {
                Value::Array(list) => &mut list[key.parse::<usize>().expect("an index")],
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Object(_) => &mut value[key],
            };
            patch.apply(inner);
        }
        if let Value::Array(list) = value {
            list.extend(self.add.iter().cloned());
        }
    }
}

fn has_same_keys(old: &Map<String, Value>, new: &Map<String, Value>) -> bool {
    old.len() == new.len() && new.keys().all(|key| old.contains_key(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn written(old: &Value, new: &Value) -> Value {
        serde_json::to_value(Patch::between(old, new)).unwrap()
    }

    #[test]
    fn a_second_more_is_a_number_more() {
        let old = json!({ "title": "a", "series": [{ "name": "p99", "y": [1, 2] }] });
        let new = json!({ "title": "a", "series": [{ "name": "p99", "y": [1, 2, 3] }] });
        let patch =
            json!({ "in": { "series": { "in": { "0": { "in": { "y": { "add": [3] } } } } } } });
        assert_eq!(written(&old, &new), patch);
        assert_eq!(written(&new, &new), json!({}));
    }

    #[test]
    fn what_became_shorter_or_another_kind_is_replaced() {
        for (old, new) in [
            (json!([1, 2]), json!([1])),
            (json!({ "a": 1 }), json!({ "b": 1 })),
            (json!([1]), json!({ "a": 1 })),
            (json!([1, 2, 3, 4]), json!([5, 6, 3, 4, 5])),
        ] {
            assert_eq!(written(&old, &new), json!({ "set": new }));
        }
    }

    /// Values of few kinds, so that two of them have much in common.
    fn values() -> impl Strategy<Value = Value> {
        let leaves = prop_oneof![Just(Value::Null), (0..4).prop_map(|n| json!(n))];
        leaves.prop_recursive(3, 40, 5, |inner| {
            let lists = prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array);
            let objects = prop::collection::btree_map("[abc]", inner, 0..4);
            prop_oneof![lists, objects.prop_map(|members| json!(members))]
        })
    }

    proptest! {
        #[test]
        fn applied_to_the_state_before_it_gives_the_state_after(old in values(), new in values()) {
            let mut value = old.clone();
            Patch::between(&old, &new).apply(&mut value);
            prop_assert_eq!(value, new);
        }
    }
}
