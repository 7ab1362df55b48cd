//! The first difference of two values of one type, by the keys of their JSON.
//!
//! Two plans are compared directly. Only the message that refuses different plans needs the key of
//! the difference in a plan file, which is the key in the JSON.

use serde::Serialize;
use serde_json::{Map, Value};

/// A difference of two values.
pub(super) struct Difference {
    /// The path, such as `plan.load.connections` or `plan.requests[0].url`.
    pub(super) key: String,
    /// The first value there, as JSON, shortened.
    pub(super) in_first: String,
    /// The other value there, as JSON, shortened.
    pub(super) in_other: String,
}

/// Returns the first difference; `None` for values with the same JSON.
pub(super) fn first_difference<T: Serialize>(first: &T, other: &T) -> Option<Difference> {
    let (first, other) = (
        serde_json::to_value(first).ok()?,
        serde_json::to_value(other).ok()?,
    );
    difference("", &first, &other)
}

fn difference(key: &str, first: &Value, other: &Value) -> Option<Difference> {
    match (first, other) {
        _ if first == other => None,
        (Value::Object(first), Value::Object(other)) => difference_in_maps(key, first, other),
        (Value::Array(first), Value::Array(other)) if first.len() == other.len() => first
            .iter()
            .zip(other)
            .enumerate()
            .find_map(|(index, (one, two))| difference(&format!("{key}[{index}]"), one, two)),
        _ => Some(Difference {
            key: key.to_owned(),
            in_first: shortened(first),
            in_other: shortened(other),
        }),
    }
}

fn difference_in_maps(
    key: &str,
    first: &Map<String, Value>,
    other: &Map<String, Value>,
) -> Option<Difference> {
    first.keys().chain(other.keys()).find_map(|name| {
        let inner = match key {
            "" => name.clone(),
            _ => format!("{key}.{name}"),
        };
        let value = |map: &Map<String, Value>| map.get(name).cloned().unwrap_or_default();
        difference(&inner, &value(first), &value(other))
    })
}

/// Formats a value as JSON, cut if it is too long for a message.
fn shortened(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_difference_has_its_path_and_both_values() {
        let one = json!({"plan": {"load": {"connections": 50}, "list": [1, {"a": 2}]}});
        let two = json!({"plan": {"load": {"connections": 50}, "list": [1, {"a": 3}]}});
        let found = first_difference(&one, &two).expect("a difference");
        assert_eq!(found.key, "plan.list[1].a");
        assert_eq!(
            (found.in_first, found.in_other),
            ("2".to_owned(), "3".to_owned())
        );
    }

    #[test]
    fn a_key_that_only_one_has_is_null_in_the_other() {
        let found = first_difference(&json!({}), &json!({"limit": 7})).expect("a difference");
        assert_eq!(
            (found.key.as_str(), found.in_first.as_str()),
            ("limit", "null")
        );
        assert!(first_difference(&json!([1]), &json!([1])).is_none());
    }

    #[test]
    fn a_long_value_is_cut() {
        let found = first_difference(&json!("x".repeat(100)), &json!("y")).expect("a difference");
        assert_eq!(found.in_first.chars().count(), 61);
        assert!(found.in_first.ends_with('…'));
    }
}
