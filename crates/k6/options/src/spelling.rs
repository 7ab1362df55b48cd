//! The names of fields as Go reads them from JSON: case is ignored.

use serde_json::{Map, Value};

/// Returns the field of this name: in its exact case, or else in any case.
pub(crate) fn field<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    fields.get(name).or_else(|| {
        let mut others = fields.iter();
        let other = others.find(|(other, _)| other.eq_ignore_ascii_case(name));
        other.map(|(_, value)| value)
    })
}

/// Returns the fields with known names in their canonical case.
pub(crate) fn spelled<'k>(
    fields: &Map<String, Value>,
    known: impl Iterator<Item = &'k str> + Clone,
) -> Map<String, Value> {
    let mut spelled = Map::new();
    for (name, value) in fields {
        let own = known.clone().find(|one| one.eq_ignore_ascii_case(name));
        let own = own.unwrap_or(name);
        // A field in canonical case has precedence over others.
        if own == name || !fields.contains_key(own) {
            spelled.insert(own.to_owned(), value.clone());
        }
    }
    spelled
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_name_is_known_in_any_case_and_best_in_its_own() {
        let fields = json!({ "startvus": 1, "MAXVUS": 2, "maxVUs": 3, "other": 4 });
        let fields = fields.as_object().unwrap();
        let spelled = spelled(fields, ["startVUs", "maxVUs"].into_iter());
        let expected = json!({ "startVUs": 1, "maxVUs": 3, "other": 4 });
        assert_eq!(Value::Object(spelled), expected);
        assert_eq!(field(fields, "startVUs"), Some(&json!(1)));
        assert_eq!(field(fields, "maxVUs"), Some(&json!(3)));
        assert_eq!(field(fields, "rate"), None);
    }
}
